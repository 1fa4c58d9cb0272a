"""What an undo proposes, and where it is refused."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import pytest
import sqlalchemy as sa

from bot.changes.followups import _find_since, _is_same_undo
from bot.changes.model.change import Change
from bot.changes.model.documents import Document
from bot.changes.model.edits import Kind, Target
from bot.changes.model.items import Item
from bot.changes.model.obligation import EXISTENCE, Standing, parts_of, with_parts
from bot.changes.model.parts import CauseKind, Guard
from bot.changes.model.states import HOLDING, State
from bot.changes.proposals import Undoing, inverse, request_again, undo_cause
from bot.store.tables import former_ids
from tests.changes.test_consequences import REQUEST
from tests.changes.world import ALICE, BOB, OPS, RULE, RULE_IDS, Replica, World, proposal, rename
from tests.harness.proposing import with_fields

MEMBER: Final = Target(service="members", site="site_1", key="ann@example.com")
ANN: Final = {"email": "ann@example.com", "name": "Ann", "allowedSegments": ["free"]}
RENAMED: Final = ANN | {"name": "Anna"}
GIVEN_MORE: Final = {"allowedSegments": ["free", "vip"]}


def change_of(target: Target, before: Document | None, after: Document | None) -> Change:
    return with_fields(REQUEST, target=target, before=before, after=after, guard=Guard.NONE)


@pytest.mark.parametrize(
    ("target", "before", "made", "live", "shown"),
    [
        (RULE, {"name": "Old"}, {"name": "New"}, {"name": "New", "description": "Theirs"}, Standing.THERE),
        (RULE, {"name": "Old"}, {"name": "New"}, {"name": "Old", "description": "Theirs"}, Standing.BACK),
        (RULE, {"name": "Old"}, {"name": "New"}, {"name": "Theirs"}, Standing.OTHER),
        (RULE, {"name": "Old"}, {"name": "New"}, None, Standing.GONE),
        (RULE, {"name": "Old"}, None, None, Standing.THERE),
        (RULE, {"name": "Old"}, None, {"name": "Theirs"}, Standing.BACK),
        (RULE, None, {"name": "New"}, {"name": "Theirs"}, Standing.THERE),
        (MEMBER, ANN, RENAMED, RENAMED | GIVEN_MORE, Standing.THERE),
        (MEMBER, ANN, RENAMED, ANN | GIVEN_MORE, Standing.BACK),
        (MEMBER, ANN, ANN | GIVEN_MORE, ANN, Standing.BACK),
        (MEMBER, ANN, ANN | GIVEN_MORE, RENAMED | {"allowedSegments": ["vip"]}, Standing.THERE),
    ],
)
def test_only_the_parts_that_a_change_changed_say_whether_it_is_there(
    target: Target, before: Document | None, made: Document | None, live: Document | None, shown: Standing
) -> None:
    assert {*change_of(target, before, made).shown_by(live).values()} == {shown}


@pytest.mark.parametrize(
    ("before", "after", "live", "then"),
    [
        pytest.param(["free"], ["free", "vip"], ["free"], ["free", "vip"], id="given"),
        pytest.param(["free"], ["free", "vip"], ["free", "vip"], ["free", "vip"], id="given already, by somebody else"),
        pytest.param(["free"], ["free", "vip"], [], ["vip"], id="given, and another one was taken since"),
        pytest.param(["free", "vip"], ["free"], ["free", "vip", "new"], ["free", "new"], id="taken, and given another"),
        pytest.param(["free", "vip"], ["free"], ["new"], ["new"], id="taken, and gone already"),
        pytest.param(None, ["vip"], None, ["vip"], id="given to somebody who had none"),
    ],
)
def test_segments_come_and_go_one_by_one_and_leave_what_others_did(
    before: list[str] | None, after: list[str], live: list[str] | None, then: list[str]
) -> None:
    had, has, now = ({"allowedSegments": segments} for segments in (before, after, live))
    edit = change_of(MEMBER, had, has).edit

    assert with_parts(parts_of(edit), has, edit, now) == {"allowedSegments": then}


@pytest.mark.parametrize(("target", "sent"), [(RULE, {"name": "Old"}), (MEMBER, {"id": "7", "name": "Old"})])
def test_what_is_sent_of_a_rule_has_nothing_that_only_its_service_sets(target: Target, sent: Document) -> None:
    edit = change_of(target, {"name": "Old"}, {"name": "New"}).edit

    assert with_parts(parts_of(edit), {"name": "Old"}, edit, {"id": "7", "name": "New"}) == sent


@pytest.mark.parametrize(("made", "live", "then"), [(None, None, ANN), (RENAMED, {"name": "Theirs"}, ANN | {"at": 1})])
def test_a_member_comes_back_without_the_fields_that_the_service_made_up_and_an_edited_one_keeps_them(
    made: Document | None, live: Document | None, then: Document
) -> None:
    change = change_of(MEMBER, ANN | {"at": 1}, made)
    change = with_fields(change, kind=Kind.MEMBER_REMOVE if made is None else Kind.MEMBER_UPDATE)

    assert inverse(change, [Undoing(change, live)], by=ALICE, channel=OPS).edit.after == then


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("size", [0, 2])
def test_an_undo_that_is_under_way_or_done_is_the_answer_to_the_next(state: State, size: int) -> None:
    done = with_fields(change_of(RULE, {}, {}), size=size)
    undo = with_fields(done, state=state, requester=BOB)
    answers = HOLDING if size else HOLDING | {State.APPLIED}

    assert _is_same_undo(undo, done, ALICE, OPS, is_own=False) is (state in answers)
    asked, confirmed = (with_fields(undo, state=State.PROPOSED, guard=each) for each in (Guard.APPROVE, Guard.CONFIRM))
    assert [_is_same_undo(asked, done, ALICE, OPS, is_own=own) for own in (False, True)] == [True, False]
    assert not _is_same_undo(asked, done, ALICE, "C0OTHER", is_own=False)
    assert not _is_same_undo(confirmed, done, ALICE, OPS, is_own=False)
    assert _is_same_undo(with_fields(confirmed, requester=ALICE), done, ALICE, OPS, is_own=True)


def test_of_what_is_past_its_end_an_undo_leaves_out_what_its_own_change_took_away() -> None:
    change = change_of(RULE, {"name": "Old"}, {"name": "New"})
    owed = with_fields(change_of(RULE, None, {"name": "For now"}), closed={EXISTENCE: "another"})

    undo = inverse(change, [Undoing(change, {"name": "New"}, [owed])], by=ALICE, channel=OPS)
    assert (undo.edit.after or {})["name"] == "Old"


def test_what_others_edited_is_left_at_an_end_and_no_undo_starts_from_it() -> None:
    before, made = {"name": "A", "status": "on"}, {"name": "B", "status": "off"}
    change, live = with_fields(change_of(RULE, before, made), result=made), made | {"name": "C"}
    end, undo = (
        inverse(change, [Undoing(change, live)], by=ALICE, channel=OPS, cause=undo_cause(change, kind)).edit
        for kind in (CauseKind.END, CauseKind.UNDO)
    )
    assert (end.before, end.after) == (live, live | {"status": "on"})
    assert undo.before == made
    automatic = with_fields(change, cause=undo_cause(change, CauseKind.END))
    again = request_again(automatic, [(Item.of(1, change.edit), before | {"id": "r"})], by=ALICE, channel=OPS)
    assert again.request.cause == undo_cause(change)


def test_what_its_service_made_of_it_is_there() -> None:
    change = with_fields(change_of(RULE, {"name": "Old"}, {"name": "new"}), result={"name": "New"})
    assert change.shown_by({"name": "New"}) == {"name": Standing.THERE}


def test_the_answer_to_a_request_is_what_its_requester_made_since_it_came_in() -> None:
    done = change_of(RULE, {}, {})
    came = done.created
    before = with_fields(done, id="before", created=came - timedelta(microseconds=1))
    theirs, mine, later = (with_fields(done, id=name) for name in ("theirs", "mine", "later"))
    made = [before, with_fields(theirs, requester=BOB), mine, later]

    assert _find_since(made, ALICE, came) is mine
    assert _find_since(made[:2], ALICE, came) is _find_since(made, ALICE, None) is None


async def former_ids_of(world: World) -> dict[str, str]:
    async with world.store.session.reading() as connection:
        return {row.old: row.new for row in await connection.execute(sa.select(former_ids))}


async def test_a_deleted_rule_comes_back_under_another_id_though_the_answer_was_lost(
    world: World, mine: Replica
) -> None:
    deletion = proposal(world, Kind.RULE_DELETE, RULE, None)
    deleted = await mine.pipeline.proposer.submit(deletion, idempotency_key="request")
    world.services.rules.stage.faults.add("cut_after", method="POST")

    undo = await mine.pipeline.followups.undo(deleted, by=ALICE, channel=OPS)

    assert undo.state is State.APPLIED
    assert undo.edit.target.key not in {None, *RULE_IDS}
    assert await former_ids_of(world) == {RULE_IDS[0]: undo.edit.target.key}


async def test_what_was_only_edited_keeps_its_id(world: World, mine: Replica) -> None:
    change = await mine.pipeline.proposer.submit(rename(world), idempotency_key="request")

    await mine.pipeline.followups.undo(change, by=ALICE, channel=OPS)

    assert await former_ids_of(world) == {}
