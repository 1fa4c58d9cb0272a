"""What a look at the rules service costs, in requests."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.changes.adapters import MAX_SINGLE_READS, MemberAdapter, RuleAdapter
from bot.changes.model.change import Change
from bot.changes.model.documents import Document
from bot.changes.model.edits import Kind, Target
from bot.changes.targets import MAX_LOOK_SECONDS, Look, read_live
from bot.changes.verify import Sent, Verification, read_back
from bot.clients.errors import NotFound
from bot.clients.lists import Listing
from bot.clients.rules import RulesClient
from bot.rules.model import Rule, RuleDraft
from tests.changes.world import EMAILS, RULE_IDS, SITE, World, proposal, rule
from tests.harness.proposing import with_fields

NEW = Target(service="rules")


def paths(world: World) -> list[str]:
    return [call.path.rpartition("/")[2] for call in world.services.rules.calls()]


async def test_one_rule_is_read_alone_and_many_as_a_list(world: World) -> None:
    known = Target(service="rules", key=RULE_IDS[0])

    assert await read_live(RuleAdapter(world.rules), known) == world.live(known)
    update = replace(_creation(world, rule("New")).edit, kind=Kind.RULE_UPDATE, target=known)
    await read_back(RuleAdapter(world.rules), [Sent(replace(_creation(world, rule("New")), edit=update))])
    assert paths(world) == [RULE_IDS[0]] * 2

    await RuleAdapter(world.rules).snapshot([known] * (MAX_SINGLE_READS + 1))
    assert paths(world) == [RULE_IDS[0], RULE_IDS[0], "rules"]


class HalfAList(RulesClient):
    """The list ends before its last rule."""

    async def fresh(self) -> Listing[Rule]:
        listing = await super().fresh()
        return replace(listing, known=listing.known[:-1], truncated=True)


async def test_what_is_not_in_the_part_of_a_list_that_came_is_read_alone(world: World) -> None:
    targets = [Target(service="rules", key=key) for key in RULE_IDS]

    found = await RuleAdapter(HalfAList(world.rules._service)).snapshot(targets * MAX_SINGLE_READS)
    assert [found.live(target) for target in targets] == [world.live(target) for target in targets]


async def test_a_rule_to_be_created_is_not_looked_for_and_what_it_must_not_look_like_is_read_anew(world: World) -> None:
    adapter = RuleAdapter(world.rules)

    assert await read_live(adapter, NEW) is None
    assert paths(world) == []

    await world.rules.recent()
    await adapter.snapshot([NEW])
    assert paths(world) == ["rules", "rules"]


class Lagging(RulesClient):
    """Its list shows no new rule yet."""

    async def fresh(self) -> Listing[Rule]:
        listing = await super().fresh()
        return replace(listing, known=[rule for rule in listing.known if rule.id in RULE_IDS])


class AnswersAnother(RulesClient):
    """A gateway gives it the answer that another request got: of a rule that looks just like the new one."""

    async def create(self, draft: RuleDraft) -> Rule:
        await super().create(draft)
        return await self.get(RULE_IDS[0])


@pytest.mark.parametrize("in_bulk", [False, True])
async def test_a_rule_that_was_there_before_is_not_taken_for_the_one_that_was_created(
    world: World, in_bulk: bool
) -> None:
    change = with_fields(_creation(world, rule("As it was")), set_id="2" * 32 if in_bulk else None)
    made = await RuleAdapter(AnswersAnother(world.rules._service)).write(change)
    assert made is not None
    named = with_fields(change, target=replace(NEW, key=made["id"]))

    ((sent, reading),) = await read_back(RuleAdapter(world.rules), [Sent(named, accepted=True, made=made)])

    assert made["id"] in RULE_IDS
    assert (sent.change.edit.target.key, sent.accepted) == (None, False)
    assert "another rule" in str(sent.error)
    assert reading.is_done
    assert (reading.live or {})["id"] not in RULE_IDS


async def test_a_rule_that_its_service_made_otherwise_is_the_one_that_was_created(world: World) -> None:
    world.services.rules.stage.alter = lambda record: record | {"name": "Theirs"}
    adapter, change = RuleAdapter(world.rules), _creation(world, rule("New"))
    made = await adapter.write(change)
    assert made is not None
    sent = Sent(with_fields(change, target=replace(NEW, key=made["id"])), accepted=True, made=made)

    ((same, reading),) = await read_back(adapter, [sent])
    assert (same, (reading.live or {})["name"]) == (sent, "Theirs")


async def test_a_rule_that_the_list_does_not_show_yet_is_read_alone(world: World) -> None:
    lagging = RuleAdapter(Lagging(world.rules._service))
    changes = [
        with_fields(_creation(world, rule(f"New {number}")), set_id="2" * 32) for number in range(MAX_SINGLE_READS + 1)
    ]
    sent = []
    for change in changes:
        made = await lagging.write(change)
        assert made is not None
        sent.append(Sent(with_fields(change, target=replace(NEW, key=made["id"])), accepted=True, made=made))

    found = await read_back(lagging, sent)

    assert [(each.made, reading.is_done) for each, reading in found] == [(each.made, True) for each in sent]


def _creation(world: World, wanted: Document) -> Change:
    made = proposal(world, Kind.RULE_CREATE, NEW, wanted).change("1" * 32, world.clock())
    return with_fields(made, lookalikes=RULE_IDS)


@pytest.mark.parametrize(("times", "found"), [(1, Verification.DONE), (2, Verification.DIVERGED)])
async def test_a_creation_that_a_gateway_sent_twice_is_not_simply_done(
    world: World, times: int, found: Verification
) -> None:
    wanted = rule("New")
    made = [await world.rules.create(RuleDraft.model_validate(wanted)) for _ in range(times)]

    for target in (NEW, NEW.with_key(made[0].id)):
        change = with_fields(_creation(world, wanted), target=target)
        ((_, reading),) = await read_back(RuleAdapter(world.rules), [Sent(change)])
        assert reading.verification is found


async def test_members_are_read_once_for_all_whose_writes_replace_nothing(world: World) -> None:
    ann, ben = (Target(service="members", site=SITE, key=email) for email in EMAILS)
    live = world.live(ann) or {}
    edits = [
        (Kind.MEMBER_GRANT, ann, live | {"allowedSegments": ["free", "vip"]}),
        (Kind.MEMBER_REMOVE, ann, None),
        (Kind.MEMBER_ADD, ben, {"name": "Ben", "email": EMAILS[1], "allowedSegments": []}),
        (Kind.MEMBER_UPDATE, ann, live | {"allowedSegments": []}),
        (Kind.MEMBER_UPDATE, ann, live | {"name": "Anna"}),
    ]
    look, reads = Look(lambda _: MemberAdapter(world.members), [ann, ben], world.clock), []
    for number, (kind, target, after) in enumerate([*edits, edits[0]]):
        if number == len(edits):
            world.clock.moment += timedelta(seconds=MAX_LOOK_SECONDS)
        change = proposal(world, kind, target, after).change(f"{number:032x}", world.clock())
        assert await look.live(change) == world.live(target)
        reads.append(len(world.services.members.calls()))

    assert reads == [1, 1, 1, 1, 2, 3], (
        "a new name replaces the whole of a member, so that is looked at right before; and none counts for long"
    )


@pytest.mark.parametrize(
    ("segments", "sent"),
    [(["free"], []), (["free", "vip"], ["POST"]), ([], ["DELETE"]), (["vip"], ["POST", "DELETE"])],
)
async def test_of_the_segments_only_what_comes_or_goes_is_sent(
    world: World, segments: list[str], sent: list[str]
) -> None:
    live = {"name": "Ann", "email": EMAILS[0], "allowedSegments": ["free"]}
    world.services.members.put(SITE, live)
    ann = Target(service="members", site=SITE, key=EMAILS[0])
    update = proposal(world, Kind.MEMBER_UPDATE, ann, live | {"allowedSegments": segments})

    await MemberAdapter(world.members).write(update.change("1" * 32, world.clock()))

    assert [call.method for call in world.services.members.calls() if call.method != "GET"] == sent


async def test_what_is_gone_already_is_deleted_and_not_edited(world: World) -> None:
    gone = Target(service="members", site=SITE, key=EMAILS[1])
    live: Document = {"name": "Ben", "email": EMAILS[1], "allowedSegments": []}
    deletion = replace(_creation(world, live).edit, kind=Kind.MEMBER_REMOVE, target=gone, before=live, after=None)
    grant = replace(deletion, kind=Kind.MEMBER_GRANT, after=live | {"allowedSegments": ["vip"]})
    adapter = MemberAdapter(world.members)

    await adapter.write(replace(_creation(world, live), edit=deletion))
    with pytest.raises(NotFound):
        await adapter.write(replace(_creation(world, live), edit=grant))
