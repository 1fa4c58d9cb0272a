"""What changes something is done at once only as a slash command spelled as in the help; ``#1`` is row 1 of the screen."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Final

import pytest

from bot.changes.model.states import State
from handlers.gatehouse.commands import GatehouseToken
from handlers.grammar.parser import ALL, VERBS
from sandbox.slack import rendering
from sandbox.slack.message import Message
from tests.conftest import OPS, Clock
from tests.harness.channels import buttons
from tests.harness.colleague import Colleague, undone
from tests.harness.looking import approve_card
from tests.stories.test_last_act import settled

OLD: Final = "Old shop to new shop"
ANNA: Final = "anna.berg@example.com"
FREEZE: Final = "gatehouse freeze shop.example.com for 2h"
SPELLED: Final = (
    'rules make redirect https://shop.example.com/a to https://shop.example.com/b named "A to B"',
    f"rules set {OLD} destination=https://shop.example.com/c",
    "rules on Black Friday landing page",
    f"rules off {OLD} because it loops",
    "rules group off Sales campaigns for 2h",
    f"rules delete {OLD}",
    f"members grant {ANNA} vip",
    f"members revoke {ANNA} free",
    f"members remove {ANNA}",
    f"members move {ANNA} to anna@example.com",
    f"members offboard {ANNA}",
    "gatehouse undo",
    FREEZE,
    "gatehouse unfreeze shop.example.com",
)


def _ways() -> list[tuple[str, str, bool]]:
    """Each change in each way to ask for it, and whether that way acts at once."""
    ways = []
    for spelled in SPELLED:
        service, verb, rest = f"{spelled} ".split(" ", 2)
        ways += [(spelled, f"/{spelled}", spelled != FREEZE), (spelled, f"@gatehouse {spelled}", False)]
        ways += [(spelled, f"/{service} please {verb} {rest}", False)] if service != "gatehouse" else []
        ways += [(spelled, f"/{service} {each} {rest}", False) for each in VERBS[service][verb].synonyms]
    return ways


def _do_it(shown: Message) -> str:
    """The label of the button of a preview."""
    return next(
        str(each["text"]["text"]) for each in buttons(shown.blocks) if each.get("style") in {"primary", "danger"}
    )


def test_each_change_is_asked_for() -> None:
    asked = {VERBS[service][verb] for service, verb, *_ in map(str.split, SPELLED)}
    # A token is shown to its maker alone, and changes nothing.
    assert asked == {kind for kind in ALL if kind.writes} - {GatehouseToken}


@pytest.mark.parametrize(("spelled", "typed", "at_once"), [pytest.param(*way, id=way[1]) for way in _ways()])
async def test_only_a_spelled_slash_command_acts_at_once(
    alice: Colleague, spelled: str, typed: str, at_once: bool
) -> None:
    before = {
        "gatehouse undo": "/rules off Images from the new CDN",
        "gatehouse unfreeze shop.example.com": f"/{FREEZE}",
    }
    if spelled in before:
        shown = await alice.says(before[spelled])
        if FREEZE in before[spelled]:  # which covers more than one sees, and is shown first however it is asked for
            await alice.clicks(shown, _do_it(shown))
    await settled(alice)
    last = await alice.store.audit.last_act(alice.id, OPS)

    answer = await alice.says(typed.strip())
    await settled(alice)

    acted = await alice.store.audit.last_act(alice.id, OPS) != last
    assert acted == at_once, rendering.message(answer.text, answer.blocks)
    if not at_once and " please " not in typed:
        assert answer.visible_to == alice.id
        await alice.clicks(answer, _do_it(answer))
        await settled(alice)
        if spelled == FREEZE and not typed.startswith("/"):
            counted = await alice.sees("It covers")
            await alice.clicks(counted, _do_it(counted))
            await settled(alice)
        assert await alice.store.audit.last_act(alice.id, OPS) != last


@pytest.mark.parametrize(
    ("typed", "name"), [('/rules "Old shop"', OLD), ('@gatehouse "Old shop"', OLD), ('/members "Anna"', "Anna Berg")]
)
async def test_a_name_in_quotes_is_a_name(alice: Colleague, typed: str, name: str) -> None:
    shown = alice.slack_text(await alice.says(typed))

    assert name in shown
    assert "not sure" not in shown


LISTS: Final = {
    "typed": "/rules list off",
    "a sentence": "/rules show me the rules that are off",
    "all in a sentence": "/rules show me all the rules",
    "a button": "/rules",
    "a mention": "@gatehouse rules list off",
    "a direct message": "rules list off",
    "members": "/members list beta",
    "members in a sentence": "/members who has vip",
    "members in a mention": "@gatehouse members list segment:vip",
}


def _row_1(shown: Message) -> list[str]:
    """The name of the rule in the first row of a list; the name and the email of the member."""
    row = str(shown.blocks[2 if "Read as" in str(shown.blocks[0]) else 1]["text"]["text"])
    return re.findall(r"(?<=[*`])[^*`\n·]{5,}(?=[*`])", row.partition("\n")[0])


@pytest.mark.parametrize("way", LISTS)
async def test_a_number_is_a_row_of_the_list_on_the_screen(alice: Colleague, way: str) -> None:
    service, asked = "members" if "members" in way else "rules", LISTS[way]
    await alice.says("/rules list login")
    await alice.says("/members list chloe")
    shown = await alice.says(asked, alice.dm if way == "a direct message" else None)
    if way == "a button":
        await alice.clicks(shown, "List rules")
        shown = await alice.sees("29 rules")
    row = _row_1(shown)

    answer = await alice.says("/rules off #1" if service == "rules" else "/members revoke #1 vip")

    text = rendering.message(answer.text, answer.blocks)
    is_numbered = not way.endswith("mention")  # a list in a thread has no numbers, and the one before it isn't meant
    assert any(name in text for name in row) == is_numbered, f"{row}:\n{text}"
    assert ("#1" in rendering.message(shown.text, shown.blocks)) == (
        shown.visible_to is not None or shown.channel != OPS
    )


@pytest.mark.parametrize(
    ("after", "at_once"),
    [
        ((), True),
        (("/rules show #1",), True),
        ((601,), False),
        (("/rules which https://shop.example.com/old",), False),
        (("/rules off Nothing of the kind",), False),
        (("/members list",), True),
    ],
)
async def test_a_list_that_is_not_in_sight_any_more_is_asked_about(
    alice: Colleague, clock: Clock, after: tuple[str | int, ...], at_once: bool
) -> None:
    row = _row_1(await alice.says("/rules list off"))
    for each in after:
        if isinstance(each, int):
            clock.ahead += timedelta(seconds=each)
        else:
            await alice.says(each)

    answer = await alice.says("/rules on #1")
    await settled(alice)

    assert (await alice.store.audit.last_act(alice.id, OPS) is not None) == at_once
    assert row[0] in rendering.message(answer.text, answer.blocks)


NOT_FOUND: Final = {
    "/rules Old shop": f"“{OLD}” was deleted by <@U0ALICE01>",
    f'/rules "{OLD}"': f"“{OLD}” was deleted by <@U0ALICE01>",
    "/rules off Old shop": f"“{OLD}” was deleted by <@U0ALICE01>",
    "@gatehouse rules show Old shop": f"“{OLD}” was deleted by <@U0ALICE01>",
    "/rules off Nothing of the kind": "No rule matches",
    "/members grant elif.fischer@example.com vip": "`elif.fischer@example.com` was removed by <@U0ALICE01>",
    "/members why elif.fischer@example.com": "`elif.fischer@example.com` was removed by <@U0ALICE01>",
    f"/members why {ANNA}": "They have the email `anna@example.com` now.",
}


async def test_what_was_removed_is_said_to_be(alice: Colleague, cara: Colleague) -> None:
    await alice.clicks(await alice.says(f"/members move {ANNA} to anna@example.com"), "Remove the old one")
    removals = [await alice.sees_change(of=ANNA, state=State.PROPOSED)]
    removals += [
        await alice.says(text) for text in (f"/rules delete {OLD}", "/members remove elif.fischer@example.com")
    ]
    for card in removals:
        await approve_card(cara, card)
    await settled(alice)

    for text, said in NOT_FOUND.items():
        answer = await alice.says(text)
        assert said in str(answer.blocks), text
    await alice.clicks(await alice.says("/rules Old shop"), "Undo")
    await alice.sees_change(of=OLD, where=undone)
