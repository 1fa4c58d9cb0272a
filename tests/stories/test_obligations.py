"""What only a time limit gave is gone once that is over, whatever was done in between."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import combinations, product
from typing import Any, Final

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from bot.changes.model.change import Change
from bot.changes.model.documents import NOT_CONTENT
from bot.changes.model.states import HOLDING, State
from sandbox.demo import Sandbox
from sandbox.services.faults import Faults
from tests.conftest import Clock
from tests.harness.channels import buttons
from tests.harness.colleague import Colleague
from tests.harness.looking import open_details
from tests.harness.truth import all_changes, wait_until_settled
from tests.stories.test_cost import idle
from tests.stories.test_import import shown

OLD, OTHER, ANNA = "Redirect_x1old", "Redirect_imgs2", "anna.berg@example.com"
NAME: Final = "Old shop to new shop"

FOR_AN_HOUR: Final = {
    "rules": (
        f"/rules off {OLD} for 1h",
        f"/rules off {OLD} {OTHER} for 1h",
        f"/rules set {OLD} destination=https://shop.example.com/sale for 1h",
        "/rules redirect https://shop.example.com/only https://shop.example.com/now for 1h",
        "/rules import",
    ),
    "members": (
        f"/members grant {ANNA} vip for 1h",
        f"/members grant {ANNA} vip beta for 1h",
        f"/members revoke {ANNA} free for 1h",
    ),
}
"""What Alice does for an hour, by the service."""
MEANWHILE: Final = {
    "rules": (
        f"/rules on {OLD}",
        f"/rules on {OLD} {OTHER}",
        f"/rules on {OLD} for 2h",
        f"/rules off {OLD} for 2h",
        f"/rules set {OLD} destination=https://shop.example.com/newer",
        f"/rules set {OLD} description=“Theirs”",
        f"/rules set {OLD} name=“{NAME} again”",
        f"/rules delete {OLD}",
        "/rules set /only description=Theirs",
        "/rules off /only",
        "/rules off /only for 2h",
        "/rules delete /only",
    ),
    "members": (
        f"/members revoke {ANNA} vip",
        f"/members revoke {ANNA} vip for 2h",
        f"/members grant {ANNA} free",
        f"/members grant {ANNA} beta",
        f"/members remove {ANNA}",
    ),
}
"""What Bob does half an hour later."""
TABLE: Final = b"from,to,until\nhttps://shop.example.com/only,https://shop.example.com/now,1h\n"
"""What Alice imports."""
MIXED: Final = "Mixed.Case@example.com"
THEN: Final = ("", "undo before the end", "undo after the end", "undo, and request again")
MADE_UP: Final = {"createdAt", "priority"}
"""Fields that only a service sets."""
Facts = dict[tuple[str, str], object]
"""What is so: the field of a rule or member by its name, or whether it has a segment."""


def facts_of(document: dict[str, Any] | None) -> Facts:
    """What *document* says of the thing, without what a service adds itself; ``exists`` is a fact, too."""
    if document is None:
        return {}
    thing = str(document.get("email") or document["name"]).strip().removesuffix(" again")
    facts: Facts = {(thing, "exists"): True}
    for name, value in document.items():
        if name == "allowedSegments":
            facts |= {(thing, f"segment {each}"): True for each in value}
        elif name == "pairs":
            facts[thing, name] = str([{key: each[key] for key in sorted(each) if key != "id"} for each in value])
        elif name not in NOT_CONTENT | MADE_UP and (text := str(value or "").strip()):
            facts[thing, name] = text
    return facts


def facts_now(workspace: Sandbox) -> Facts:
    found: Facts = {}
    for document in (*workspace.services.rules.all(), *workspace.services.members.all("site_1")):
        found |= facts_of(document)
    return found


def outlived(before: Facts, now: Facts, done: Sequence[Change]) -> list[str]:
    """What is so *now*, wasn't *before*, and no change that somebody asked for without an end made so."""
    allowed = {fact: {value} for fact, value in before.items()}
    asked = [each for each in done if each.state is State.APPLIED and not each.is_bulk and each.request.undoes is None]
    wholes = {each.id: each for each in done}
    for change in asked:
        if wholes.get(change.set_id or "", change).request.reverts_at is None and change.run.undone is None:
            was, made = facts_of(change.edit.before), facts_of(change.edit.after)
            for fact in was.keys() | made.keys():
                if was.get(fact) != made.get(fact):
                    allowed.setdefault(fact, {before.get(fact)}).add(made.get(fact))
    things = {thing for thing, _ in now}
    return [
        f"{thing}: {field} is {now.get((thing, field))}"
        for thing, field in now.keys() | {fact for fact in before if fact[0] in things}
        if now.get((thing, field)) not in allowed.get((thing, field), {None})
    ]


async def does(person: Colleague, text: str) -> None:
    """*person* does what *text* says, and confirms it where somebody has to."""
    if text == "/rules import":
        await shown(person, text, "File", "rules.csv", TABLE)
        await person.submits()
        await person.sees_set(applied=1)
        assert facts_now(person.workspace)["shop.example.com/only", "status"] == "Active"
    elif "[Do it]" in person.slack_text(offered := await person.says(text)):
        await person.clicks(offered, "Do it")


async def find_unfinished(workspace: Sandbox) -> str:
    """What is still to be done at this time; empty where nothing is."""
    store = workspace.bot.gatehouse.store
    await idle(store)
    open_ = [each.id for each in await all_changes(store) if each.state in HOLDING]
    due = (await store.outbox.backlogs())["timer"][0]
    await idle(store)  # what was due may have been told of just now
    return f"not done: {open_}" if open_ or due else ""


async def later(workspace: Sandbox, clock: Clock, *, minutes: int) -> None:
    """Let so much time pass, once all is done; return once all is done then."""
    await wait_until_settled(partial(find_unfinished, workspace))
    clock.ahead += timedelta(minutes=minutes)
    await wait_until_settled(partial(find_unfinished, workspace))


@pytest.mark.threat("B14")
@pytest.mark.policy('[[guards]]\noperation = "*"\nguard = "none"')
@pytest.mark.parametrize("then", THEN)
@pytest.mark.parametrize(
    ("for_an_hour", "meanwhile"),
    [
        (first, second)
        for service, texts in FOR_AN_HOUR.items()
        for first, second in product(texts, MEANWHILE[service])
        if ("/only" in second) is (first in texts[3:] and service == "rules")
    ],
)
async def test_nothing_that_a_time_limit_gave_is_there_a_day_later(
    workspace: Sandbox, alice: Colleague, bob: Colleague, clock: Clock, for_an_hour: str, meanwhile: str, then: str
) -> None:
    store = workspace.bot.gatehouse.store
    before = facts_now(workspace)
    await does(alice, for_an_hour)
    await later(workspace, clock, minutes=30)
    await bob.types(meanwhile)
    await later(workspace, clock, minutes=5 if then == "undo before the end" else 40)
    if then:
        await bob.types("/gatehouse undo")
        await wait_until_settled(partial(find_unfinished, workspace))
    if then.endswith("again"):
        for card in [each for each in bob.cards if "Request again" in str(each.blocks)][:1]:
            await bob.clicks(card, "Request again")
    for _ in range(3):
        await later(workspace, clock, minutes=8 * 60)

    assert outlived(before, facts_now(workspace), await all_changes(store)) == []


Fields = dict[str, str]
WAS: Final[Fields] = {"name": "As it was", "description": "As it was"}
KEPT, BACK, THIRD, GONE = "For an hour", "As it was", "Theirs", ""
"""What somebody leaves of a field in the dashboard."""
LEFT: Final = [*(dict(zip(WAS, values, strict=True)) for values in product((KEPT, THIRD, BACK), repeat=2)), {}]
"""What may be there of a rule at its end; without fields it is gone."""


@pytest.mark.threat("B14")
@pytest.mark.parametrize("fields", [*zip(LEFT), *combinations([{}, *LEFT[:3]], 2)])
async def test_each_part_of_what_ends_is_looked_at_alone(
    workspace: Sandbox, alice: Colleague, clock: Clock, fields: tuple[Fields, ...]
) -> None:
    rules, left = workspace.services.rules, dict(zip((OLD, OTHER), fields, strict=False))
    for key in left:
        rules.put((rules.get(key) or {}) | WAS)
    offered = await alice.says(f"/rules set {' '.join(left)} name=“For an hour” description=“For an hour” for 1h")
    await later(workspace, clock, minutes=30)
    for key, theirs in left.items():
        if theirs:
            rules.put((rules.get(key) or {}) | theirs)
        else:
            rules.remove(key)
    await later(workspace, clock, minutes=40)
    await later(workspace, clock, minutes=60)

    now = {key: {name: (rules.get(key) or {}).get(name, GONE) for name in WAS} for key in left}
    assert now == {
        key: {name: BACK if theirs.get(name) == KEPT else theirs.get(name, GONE) for name in WAS}
        for key, theirs in left.items()
    }
    is_asked = any(THIRD in theirs.values() for theirs in fields)
    (ended,) = [each for each in await all_changes(workspace.bot.gatehouse.store) if each.request.reverts_at]
    assert (ended.run.revert_failure in {"changed", "partly"}) is is_asked
    assert bool([each for each in alice.thread(offered) if "everted" in str(each.blocks)]) is is_asked, (
        "nobody has to act"
    )
    if is_asked and len(fields) == 1:
        await alice.clicks(await alice.sees_change(where=lambda each: each.id == ended.id), "Undo")
        await alice.clicks(await alice.sees_change(state=State.STALE), "Request again")
        await alice.clicks(await alice.sees_change(state=State.PROPOSED), "v1.decide.confirm")
        await alice.sees_change(where=lambda each: each.id == ended.id and each.run.undone is not None)
        assert WAS.items() <= (rules.get(OLD) or {}).items()


def lower(document: dict[str, Any]) -> dict[str, Any]:
    return document | {"email": document["email"].lower()} if "email" in document else document


def trimmed(document: dict[str, Any]) -> dict[str, Any]:
    return {name: f"{value} " if name in {"name", "description"} else value for name, value in document.items()}


def reordered(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value[::-1] if isinstance(value, list) else value for name, value in reversed(document.items())}


def with_defaults(document: dict[str, Any]) -> dict[str, Any]:
    return {"priority": 1, "notes": None} | document


def without_empty(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if value not in ("", [], None)}


@dataclass
class Normalises(Faults):
    """From the first write on, the service answers with each thing as *spelled*."""

    spelled: Callable[[dict[str, Any]], dict[str, Any]] = lower
    is_on: bool = False

    async def respond(self, request: Request, body: bytes, answer: Callable[[bytes], Awaitable[Response]]) -> Response:
        self.is_on = self.is_on or request.method != "GET"
        given = await answer(body)
        if not self.is_on or not (content := json.loads(bytes(given.body))):
            return given
        return JSONResponse(self._normal(content), given.status_code)

    def _normal(self, content: Any) -> Any:
        if isinstance(content, list):
            return [self._normal(each) for each in content]
        if isinstance(content, dict) and "data" in content:
            return content | {"data": self._normal(content["data"])}
        return self.spelled(content) if {"name", "email"} & content.keys() else content


@pytest.mark.parametrize("spelled", [lower, trimmed, reordered, with_defaults, without_empty])
@pytest.mark.parametrize("for_an_hour", [*FOR_AN_HOUR["rules"], *FOR_AN_HOUR["members"]])
async def test_what_a_service_spells_otherwise_ends_as_well(
    workspace: Sandbox,
    alice: Colleague,
    clock: Clock,
    for_an_hour: str,
    spelled: Callable[[dict[str, Any]], dict[str, Any]],
) -> None:
    """Also where the change itself is never confirmed."""
    store, members = workspace.bot.gatehouse.store, workspace.services.members
    members.put("site_1", {"email": MIXED, "name": "Mixed Case", "allowedSegments": ["free"]})
    before = facts_now(workspace)
    workspace.services.rules.stage.faults = members.stage.faults = Normalises(spelled=spelled)

    async def no_timers() -> str:
        await idle(store)
        return "something is due" if (await store.outbox.backlogs())["timer"][0] else ""

    await alice.types(for_an_hour.replace(ANNA, MIXED))
    # Until a change that is never confirmed is given up, its service is asked for an hour.
    for _ in range(100):
        await wait_until_settled(no_timers)
        clock.ahead += timedelta(minutes=2)
    clock.ahead += timedelta(hours=8)
    await wait_until_settled(no_timers)

    changes = await all_changes(store)
    assert outlived(before, facts_now(workspace), changes) == []
    assert not [each for each in changes if each.state in HOLDING]


@pytest.mark.policy('[[guards]]\noperation = "member.*"\nguard = "approve"')
@pytest.mark.parametrize("then", [(), ("Remove the old one",), ("Remove the old one", "Undo"), ("Request again",)])
@pytest.mark.parametrize("is_first", [True, False])
async def test_a_new_email_takes_nothing_along_that_has_an_end(
    workspace: Sandbox,
    alice: Colleague,
    cara: Colleague,
    clock: Clock,
    then: tuple[str, ...],
    is_first: bool,
) -> None:
    """Whether the new email is requested before or after what ends, both approved, and whatever is done to it *then*."""
    new = "anna@new.example"
    texts = [f"/members move {ANNA} to {new} because she wrote from there", f"/members grant {ANNA} vip for 1h"]
    for text in texts if is_first else reversed(texts):
        await alice.says(text)

    async def clicks(person: Colleague, label: str) -> None:
        for card in [each for each in person.cards if f"[{label}]" in person.slack_text(each)]:
            if label == "Approve":
                await open_details(person, card)
            asks = any("confirm" in one for one in buttons(card.blocks) if one["text"]["text"] == label)
            await person.clicks(card, label, confirm=asks)
            await later(workspace, clock, minutes=1)

    await clicks(cara, "Approve")
    held = [workspace.services.members.get("site_1", each) for each in (ANNA, new)]
    assert "vip" in str(held), "it is there for an hour"
    for label in then:
        await clicks(alice, label)
        await clicks(cara, "Approve")
    await later(workspace, clock, minutes=90)

    held = [workspace.services.members.get("site_1", each) for each in (ANNA, new)]
    assert "vip" not in str(held)
    assert any(held)
