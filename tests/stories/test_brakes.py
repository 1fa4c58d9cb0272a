"""What takes over a whole host, or freezes, is shown with its count before it is done; ``off HOST`` is everything on it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest

from bot.changes.model.states import State
from bot.rules.matching import judge_all
from bot.rules.model import Group, Groups, Rule
from bot.rules.outcomes import Match
from bot.rules.url import Url
from sandbox.demo import Sandbox
from sandbox.services.seed import GROUPS, SHOP
from sandbox.slack.message import Message
from tests.conftest import until
from tests.harness.channels import buttons
from tests.harness.colleague import Colleague, undone
from tests.stories.test_planned import OLD

WIDE: Final = "Cancel_wide01"
NAME: Final = "Wide block"


def wide(status: str = "Inactive", **more: Any) -> dict[str, Any]:
    source = {"key": "Url", "operator": "Wildcard_Matches", "value": f"{SHOP}/*"}
    rule = {"id": WIDE, "name": NAME, "description": "", "status": status, "ruleType": "Cancel"}
    return {**rule, "pairs": [{"source": source}], **more}


def is_taken(workspace: Sandbox) -> bool:
    """Whether a rule that is on blocks or redirects any URL of the shop."""
    rules = workspace.services.rules
    groups = Groups.of(Group.model_validate(rules.group(group)) for group, *_ in GROUPS)
    verdicts = judge_all(map(Rule.model_validate, rules.all()), Url.of(f"{SHOP}/nobody/knows?it=1"), groups)
    return any(each.decides and not each.off for each in verdicts if isinstance(each, Match))


Shown = tuple[str, Callable[[], Awaitable[Any]]]
"""What somebody sees before it is done, and how they go on."""
Door = Callable[[Sandbox, Colleague], Awaitable[Shown]]
DOORS: Final[dict[str, Door]] = {}


def door(act: Door) -> Door:
    DOORS[act.__name__] = act
    return act


def shows(alice: Colleague, message: Message) -> Shown:
    return alice.slack_text(message), lambda: alice.clicks(message, "Do it")


async def asks_back(alice: Colleague) -> Shown:
    card = await alice.sees_change(of=WIDE, state=State.PROPOSED)
    return alice.slack_text(card), lambda: alice.clicks(card, "v1.decide.confirm")


def typed(name: str, text: str, rule: dict[str, Any] | None = None) -> None:
    async def act(workspace: Sandbox, alice: Colleague) -> Shown:
        if rule is not None:
            workspace.services.rules.put(rule)
        return shows(alice, await alice.says(text))

    DOORS[name] = act


BELOW: Final = f"{SHOP} match:below"
typed("make block", f"/rules make block {BELOW}")
typed("make redirect", f"/rules make redirect {SHOP} to https://new.example.com match:below")
typed("make, planned", f"/rules make block {BELOW} tomorrow 9:00")
typed("set", "/rules set Redirect_x1old operator=Wildcard_Matches source=https://shop.example.com/*")
typed("on", f"/rules on {WIDE}", wide())
typed("on, for a while", f"/rules on {WIDE} for 2h", wide())
typed("on, several", f"/rules on {WIDE} Redirect_bfri1 Redirect_test1", wide())
typed("on, a group", "/rules group on Experiments", wide("Active", groupId="Group_trial"))


@door
async def mention(workspace: Sandbox, alice: Colleague) -> Shown:
    await alice.clicks(await alice.says(f"@Gatehouse rules make block {BELOW}"), "Do it")
    return shows(alice, await alice.sees("all of"))


@door
async def sentence_button(workspace: Sandbox, alice: Colleague) -> Shown:
    await alice.clicks(await alice.says(f"/rules block {SHOP}"), "All below")
    return shows(alice, await alice.sees("all of"))


@door
async def switch_on_button(workspace: Sandbox, alice: Colleague) -> Shown:
    workspace.services.rules.put(wide())
    await alice.clicks(await alice.says(f"/rules show {WIDE}"), "Switch on")
    return shows(alice, await alice.sees("all of"))


async def sends_form(alice: Colleague) -> Shown:
    assert await alice.submits() == {}
    await alice.sees_form("Not saved yet")
    return alice.form, alice.submits


@door
async def new_form(workspace: Sandbox, alice: Colleague) -> Shown:
    await alice.opens(f"/rules new block {SHOP}/*")
    await alice.clicks(alice.modal or {}, "More options", opens="How")
    alice.fills(How="matches, with * for anything")
    return await sends_form(alice)


@door
async def edit_form(workspace: Sandbox, alice: Colleague) -> Shown:
    workspace.services.rules.put(wide())
    await alice.opens(f"/rules edit {WIDE}")
    alice.fills(Status="On")
    return await sends_form(alice)


@door
async def imported(workspace: Sandbox, alice: Colleague) -> Shown:
    await alice.opens("/rules import")
    alice.attaches("File", **{"rules.json": json.dumps([wide("Active")]).encode()})
    assert await alice.submits() == {}
    await alice.sees_form("Nothing has changed yet")
    return alice.form, alice.submits


async def switched_off(workspace: Sandbox, alice: Colleague) -> Message:
    workspace.services.rules.put(wide("Active"))
    await alice.types(f"/rules off {WIDE}")
    return await alice.sees_change(of=WIDE)


@door
async def undo(workspace: Sandbox, alice: Colleague) -> Shown:
    await switched_off(workspace, alice)
    await alice.types("/gatehouse undo")
    return await asks_back(alice)


@door
async def undo_button(workspace: Sandbox, alice: Colleague) -> Shown:
    await alice.clicks(await switched_off(workspace, alice), "v1.decide.undo")
    return await asks_back(alice)


@door
async def request_again(workspace: Sandbox, alice: Colleague) -> Shown:
    _, go_on = await DOORS["on"](workspace, alice)
    await go_on()
    await alice.clicks(await alice.sees_change(of=WIDE), "v1.decide.undo")
    await alice.clicks(await alice.sees_change(of=WIDE, where=undone), "v1.decide.again")
    return await asks_back(alice)


@pytest.mark.parametrize("way", DOORS)
async def test_nothing_takes_a_whole_host_before_its_count_was_shown(
    workspace: Sandbox, alice: Colleague, way: str
) -> None:
    shown, go_on = await DOORS[way](workspace, alice)

    assert not is_taken(workspace)
    assert "all of shop.example.com" in shown
    assert "other rules" in shown
    await go_on()
    if "planned" in way:
        await alice.sees_change(state=State.PLANNED)
    else:
        await until(lambda: is_taken(workspace))


@pytest.mark.parametrize("what", ["everything", "shop.example.com", "site:blog", "segment:vip", "group:Experiments"])
async def test_a_freeze_holds_only_after_a_click_on_what_it_covers(
    workspace: Sandbox, alice: Colleague, what: str
) -> None:
    await alice.types(f"/rules off {OLD} in 1h")
    await alice.sees_change(state=State.PLANNED)
    preview = await alice.says(f"/gatehouse freeze {what} until tomorrow 9:00 because cutover")

    freezes = workspace.bot.gatehouse.changes.freezes
    assert await freezes.all() == []
    shown = alice.slack_text(preview)
    assert "It holds for you, too. You can lift it alone; anyone else needs a second person." in shown
    covers = {"everything": "29 rules, 2 sites and 1 planned", "site:blog": "1 site", "group:Experiments": "1 rule"}
    assert f"It covers {covers.get(what, '23 rules and 1 planned')}" in shown or what == "segment:vip"
    await alice.clicks(preview, "Do it")
    await alice.sees("Nobody can change it")
    await until(lambda: not list(buttons(preview.blocks)))
    assert len(await freezes.all()) == 1
    await alice.says(f"/gatehouse unfreeze {what}")
    assert await freezes.all() == []


@pytest.mark.parametrize(
    "text",
    [
        "/rules off promo.example.com for 2h because x",
        "/rules off everything on promo.example.com for 2h because x",
        "@Gatehouse rules off promo.example.com for 2h because x",
    ],
)
async def test_off_with_a_host_is_everything_on_it_by_name(workspace: Sandbox, alice: Colleague, text: str) -> None:
    rules = workspace.services.rules
    for number in range(7):
        source = {"key": "Url", "operator": "Equals", "value": f"https://promo.example.com/{number}"}
        own = {"id": f"Cancel_promo{number}", "name": f"Promo {number}", "pairs": [{"source": source}]}
        rules.put(wide("Inactive" if number == 6 else "Active") | own)
    preview = await alice.says(text)

    shown = alice.slack_text(preview)
    assert all(f"“Promo {number}”" in shown for number in range(6))
    assert "“Promo 6”" not in shown
    assert "for 2 h.\nReason: x" in shown
    assert rules.calls("PUT") == []
    await alice.clicks(preview, "Do it")
    card = await alice.sees_set(applied=6, where=lambda change: change.request.revert_after == 7200)
    assert "“x”" in alice.slack_text(card)


async def test_a_rule_that_is_called_like_a_host_is_itself(workspace: Sandbox, alice: Colleague) -> None:
    workspace.services.rules.put({**(workspace.services.rules.get(OLD) or {}), "name": "shop.example.com"})
    await alice.says("/rules off shop.example.com")
    await alice.sees_change(of=OLD)
