"""Whatever Slack refuses, by whatever way somebody came: they are told something, and decide nothing that they weren't shown.

The ways come from the registries, so that a new command, button, form or shortcut is played as soon as there is one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import zip_longest
from typing import Final

import pytest

from handlers.blocks import messages, modals
from handlers.grammar.parser import ALL
from handlers.slack.registry import CLICKS, FORMS, SHORTCUTS
from sandbox.demo import Sandbox
from sandbox.slack.message import Message
from sandbox.slack.state import View
from tests.conftest import OPS, Clock
from tests.harness.colleague import Colleague
from tests.harness.looking import BUTTON as FULL
from tests.harness.payloads import Forger
from tests.harness.policies import BREAK_GLASS
from tests.stories.test_cost import idle

OLD, ANNA = "Redirect_x1old", "anna.berg@example.com"
APPROVE, OVERRIDE = "v1.decide.approve", "v1.decide.break_glass"
POST, UPDATE, WHISPER = "chat.postMessage", "chat.update", "chat.postEphemeral"
CONTENT: Final = "msg_too_long msg_blocks_too_long invalid_blocks invalid_blocks_format no_text"
PLACE: Final = "not_in_channel channel_not_found is_archived restricted_action"
TRIGGER: Final = "expired_trigger_id exchanged_trigger_id invalid_trigger_id"
VIEW: Final = "invalid_arguments view_too_large"
REFUSALS: Final = {
    POST: f"{PLACE} {CONTENT}",
    UPDATE: f"message_not_found cant_update_message edit_window_closed {PLACE} {CONTENT}",
    WHISPER: f"user_not_in_channel {PLACE} {CONTENT}",
    "chat.getPermalink": "message_not_found channel_not_found",
    "views.open": f"{TRIGGER} {VIEW}",
    "views.push": f"{TRIGGER} {VIEW} push_limit_reached",
    "views.update": VIEW,
    "views.publish": f"not_enabled {VIEW}",
    "files.getUploadURLExternal": "file_uploads_disabled missing_scope",
    "files.completeUploadExternal": "file_uploads_disabled channel_not_found",
    "files.info": "file_not_found missing_scope",
    "conversations.open": "user_disabled missing_scope",
    "conversations.info": "channel_not_found missing_scope",
    "conversations.members": "channel_not_found missing_scope",
    "users.info": "user_not_found missing_scope",
    "usergroups.users.list": "no_such_subteam plan_upgrade_required",
}
"""What each method that Gatehouse calls may be refused for, for good; the trouble that passes is the same for all."""
PASSES: Final = ("internal_error",)
OF_METHODS: Final = [[(method, code) for code in (*codes.split(), *PASSES)] for method, codes in REFUSALS.items()]
CASES: Final = [case for turn in zip_longest(*OF_METHODS) for case in turn if case is not None]
"""Of each method one, then of each another one."""
YET: Final = "Nothing yet"
PROMISES: Final = ("Loading…", "Saving…", YET)
"""What is no answer."""

Act = Callable[[Forger], Awaitable[object]]


def place_of(by: Forger, name: str) -> Message | View:
    """A message in the channel, the person's home, or a modal in which nothing is typed, that is there when they click."""
    state = by.sandbox.slack.state
    if name == "message":
        return state.add(Message(state.new_ts(), OPS, state.workspace.bot.id, "Buttons", []))
    if name == "home":
        state.homes[by.user] = state.make_view(modals.home([messages.section(YET)], OPS), by.user)
        return state.homes[by.user]
    state.stacks[by.user] = [
        state.make_view(modals.notice(messages.message(YET, [messages.section(YET)]), OPS), by.user)
    ]
    return state.stacks[by.user][0]


def clicking(place: str, action: str, value: str) -> Act:
    return lambda by: by.clicks(place_of(by, place), f"v1.{action}", value)


def typing(text: str) -> Act:
    return lambda by: by.types(text)


def saying(text: str, *, direct: bool) -> Act:
    def say(by: Forger) -> Awaitable[object]:
        slack = by.sandbox.slack
        return slack.acting.say(by.user, slack.state.open_direct(by.user).id if direct else OPS, text)

    return say


def using(shortcut: str) -> Act:
    def use(by: Forger) -> Awaitable[object]:
        state, said = by.sandbox.slack.state, f"https://shop.example.com/old {ANNA}"
        return by.uses(shortcut, state.add(Message(state.new_ts(), OPS, by.user, said, [])))

    return use


def submitting(callback_id: str) -> Act:
    async def submit(by: Forger) -> None:
        view, slack = place_of(by, "panel"), by.sandbox.slack
        assert not isinstance(view, Message)
        view["callback_id"] = callback_id
        answer = await slack.acting.submit(by.user, view["id"], {})
        # Its inputs aren't there, so Slack has no place for the errors about them.
        if "errors" in answer or answer.get("error") == "invalid_response_action":
            view["blocks"] = [answer]

    return submit


PLACES: Final = ("message", "home", "panel")


def ways(turn: int) -> Iterator[tuple[str, Act]]:
    """Every way to come to Gatehouse; *turn*: which of its places each command and each button has this time."""
    for number, kind in enumerate(ALL, turn):
        text = kind.example.replace("#1", OLD).replace("anna@example.com", ANNA)
        text = f"{kind.service} {text}"
        said = {
            "typed": typing(f"/{text}"),
            "mention": saying(f"@gatehouse {text}", direct=False),
            "direct": saying(text, direct=True),
        }
        name, act = [*(said | {name: clicking(name, "run.0", text) for name in PLACES}).items()][number % 6]
        yield f"{name}: {text}", act
    for number, action in enumerate(sorted(CLICKS), turn):
        name = "panel" if action.startswith("form.") else PLACES[number % 3]
        yield f"{name}: {action}", clicking(name, action, "a" * 32)
    for name in SHORTCUTS:
        yield f"shortcut: {name}", using(name)
    yield "home", lambda by: by.sandbox.slack.acting.open_home(by.user, "home")
    for callback_id in FORMS:
        yield f"form: {callback_id}", submitting(callback_id)


def screen(person: Colleague) -> list[str]:
    """What *person* has before them that is for them, without what only promises an answer."""
    state, bot = person.slack.state, person.slack.state.workspace.bot.id
    mine = [one.ts for one in state.messages if one.user == person.id]
    said = [
        person.slack_text(one)
        for one in person._bot_messages()
        if one.user == bot
        and (person.id in str(one.blocks) or one.visible_to or one in person.dms or one.thread_ts in mine)
    ]
    views = [*state.stack(person.id), *([person.home] if person.home else [])]
    shown = [*said, *(str(block) for view in views for block in view["blocks"])]
    return [text for text in shown if not any(promise in text for promise in PROMISES)]


async def tells(clock: Clock, look: Callable[[], object]) -> None:
    """Wait until *look* finds something, while the time of the bot goes by; it may take several tries."""
    for _ in range(800):
        if look():
            return
        clock.ahead += timedelta(seconds=5)
        await asyncio.sleep(0.05)


@pytest.mark.first(1)
@pytest.mark.threat("C2")
@pytest.mark.parametrize(("method", "code"), CASES)
async def test_whoever_comes_by_whatever_way_is_told_something(
    workspace: Sandbox, alice: Colleague, clock: Clock, method: str, code: str
) -> None:
    state, coming = workspace.slack.state, list[tuple[Colleague, str]]()
    refuse(workspace, method, code)
    at_once = asyncio.Semaphore(8)

    async def come(name: str, act: Act) -> None:
        """Somebody of their own comes, so that it is known for whom an answer is."""
        who = Colleague(workspace, f"U0WAY{len(coming):04}", OPS)
        coming.append((who, name))
        state.users[who.id] = replace(state.users[alice.id], id=who.id, name=who.id.lower())
        state.channels[OPS] = replace(state.channels[OPS], members=(*state.channels[OPS].members, who.id))
        async with at_once:
            await act(Forger(workspace, who.id, OPS))

    await asyncio.gather(*(come(*way) for way in ways(CASES.index((method, code)))))

    def silent() -> list[str]:
        coming[:] = [(who, name) for who, name in coming if not screen(who)]
        return [name for _, name in coming]

    await tells(clock, lambda: not silent())
    assert silent() == []


async def clicks_and_hears(person: Colleague, clock: Clock, card: Message, button: str) -> None:
    def shown() -> str:
        return "\n".join([*map(person.slack_text, person._bot_messages()), person.form])

    before = shown()
    await person.clicks(card, button, confirm=button == APPROVE)
    await tells(clock, lambda: shown() != before)
    assert shown() != before


def refuse(workspace: Sandbox, method: str, code: str) -> None:
    # A channel that takes nothing is not the direct message; and what passes is over after some calls.
    channel, times = OPS if method.startswith("chat.") else "", 20 if code in PASSES else 100_000
    workspace.slack.faults.add(code, method=method, channel=channel, times=times)


FOUR_EYES: Final = BREAK_GLASS.replace("member.grant", "*").replace('groups = ["S0ONCALL"]', 'users = ["U0CARA001"]')


@pytest.mark.first(1)
@pytest.mark.threat("A14")
@pytest.mark.policy(FOUR_EYES)
@pytest.mark.parametrize(("method", "code"), CASES)
async def test_nobody_lets_through_what_slack_did_not_show_them(
    workspace: Sandbox, alice: Colleague, cara: Colleague, clock: Clock, method: str, code: str
) -> None:
    """A member whose email no channel sees, approved; and a rule that comes as a file, overridden."""
    state, shown = workspace.slack.state, asyncio.Queue[dict[str, object]]()
    workspace.services.rules.put((workspace.services.rules.get(OLD) or {}) | {"description": "x" * 45_000})
    cards = [await alice.says(text) for text in (f"/members remove {ANNA}", f"/rules delete {OLD}")]
    asked = [(await alice.change_of(card)).id for card in cards]
    state.watchers.append((cara.id, shown))
    refuse(workspace, method, code)

    for card, button in zip(cards, (APPROVE, OVERRIDE), strict=True):
        await clicks_and_hears(cara, clock, card, FULL)
        await clicks_and_hears(cara, clock, card, button)
        if cara.modal and "submit" in cara.modal:
            cara.fills(**{"Why can’t this wait for an approval?": "It burns"})
            await cara.submits()
    state.stacks.clear()
    workspace.slack.faults.clear()
    await idle(cara.store)

    events = [shown.get_nowait() for _ in range(shown.qsize())]
    told = [str(event) for event in events if event["type"] != "traffic"]
    for change_id, mark in zip(asked, (ANNA, f"gatehouse-change-{asked[1][:8]}"), strict=True):
        decision = (await workspace.bot.gatehouse.changes.journal.get(change_id)).decision
        if cara.id in {decision.decided_by, *(one.by for one in decision.approvals)}:
            assert any(mark in text for text in told), f"{mark} was never shown"
