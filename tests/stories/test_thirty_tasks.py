"""Thirty everyday tasks by clicks alone: each is done, and at most four clicks after the slash command are the usual case.

Pressing a button, choosing an option, ticking and sending a form are a click each; typing is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any, Final

import pytest

from sandbox.demo import Sandbox
from sandbox.slack.message import Message
from sandbox.slack.state import View
from tests.harness.colleague import Colleague

SEND: Final = "send"
NEW, OLD = "https://shop.example.com/new", "https://shop.example.com/old"


@dataclass(frozen=True)
class Task:
    """What somebody does after *start*, step by step, and the words that they see in the end.

    A step is the label of a button; what is chosen or typed, by the label of its field; or that the form is sent.
    """

    start: str
    steps: tuple[str | dict[str, str], ...]
    sees: str
    before: tuple[str, ...] = ()
    """What was typed before, by the same person."""


RULE, WHO = {"Which rule?": "old shop"}, {"Whose email?": "anna.berg"}
FREEZE: Final = ("Freeze…", {"Freeze what?": "everything", "Until": "2h"}, SEND, "Do it")
TASKS: Final = {
    "where a URL goes": Task("/rules", ("Check a URL…", {"Which URL?": OLD}, SEND), "redirects to"),
    "find a rule": Task("/rules", ({"v1.pick.rule.menu": "old shop"},), "Redirect_x1old"),
    "list rules": Task("/rules", ("List rules",), "Page 1"),
    "list what redirects": Task("/rules", ("Search rules…", {"Type": "redirect"}, SEND), "type “redirect”"),
    "check all rules": Task("/rules", ("Check all rules",), "Checked"),
    "who changed it": Task("/rules", ("Show history…", RULE, SEND), "No history"),
    "switch off for two hours": Task(
        "/rules", ("Switch off…", RULE, {"How long?": "For 2 hours"}, SEND), "is off until"
    ),
    "switch off tomorrow": Task("/rules", ("Switch off…", RULE, {"Start": "tomorrow 9:00"}, SEND), "Planned"),
    "switch on": Task("/rules", ("Switch on…", {"Which rule?": "black friday"}, SEND), "is on"),
    "redirect a URL": Task(
        "/rules", ("Create redirect…", {"Name": "Moved", "From": OLD + "er", "To": NEW}, SEND), "“Moved” created"
    ),
    "block a URL": Task("/rules", ("Block a URL…", {"Name": "Shut", "URL": OLD + "est"}, SEND), "“Shut” created"),
    "another destination": Task(
        "/rules", ({"v1.pick.rule.menu": "old shop"}, "Edit…", {"To": NEW + "er"}, SEND), "changed"
    ),
    "describe several": Task(
        "/rules",
        ("Set fields…", {"Which rule?": "old"}, {"Which field gets which value?": "description=x"}, SEND),
        "changed",
    ),
    "copy a rule": Task("/rules", ("Copy rule…", RULE, SEND, {"From": OLD + "er"}, SEND), "created"),
    "delete a rule": Task("/rules", ("Delete rule…", RULE, {"Why": "it loops"}, SEND), "Approve deletion"),
    "switch a group off": Task(
        "/rules", ("Switch group…", {"On or off?": "off"}, {"Which group?": "sales"}, SEND), "Sales campaigns"
    ),
    "export": Task("/rules", ("Export rules…", {"Type": "redirect"}, SEND), "Sent"),
    "why she can't get in": Task("/members", ("Check access…", WHO, SEND), "is a member"),
    "who has a segment": Task("/members", ("List segments", "Show"), "segment “"),
    "add a member": Task("/members", ("Add member…", {"Email": "zoe@example.com"}, SEND), "zoe"),
    "grant for a week": Task(
        "/members", ("Grant access…", WHO, {"Which segment?": "vip"}, {"How long?": "For 7 days"}, SEND), "has access"
    ),
    "revoke": Task("/members", ("Revoke access…", WHO, {"Which segment?": "free"}, SEND), "free"),
    "rename a member": Task("/members", ("Edit member…", WHO, SEND, {"Name": "Anna B"}, SEND), "Anna B"),
    "change an email": Task("/members", ("Change email…", WHO, {"To which email?": "a@example.com"}, SEND), "Request"),
    "remove from a site": Task("/members", ("Remove member…", WHO, SEND), "Remove"),
    "offboard": Task("/members", ("Offboard…", WHO, SEND), "every site"),
    "undo the last change": Task(
        "/gatehouse", ("Undo my last change…", "Do it"), "is back on", before=("/rules off Redirect_x1old",)
    ),
    "freeze": Task("/gatehouse", FREEZE, "is frozen"),
    "lift a freeze": Task("/gatehouse", (*FREEZE, "Lift"), "was lifted"),
    "what waits, is planned, changed": Task("/gatehouse", ("What changed",), "on record"),
}


def clicks(task: Task) -> int:
    return sum(1 if isinstance(step, str) else sum(_is_chosen(label) for label in step) for step in task.steps)


def _is_chosen(label: str) -> bool:
    return label.startswith("v1.") or label in {
        *("Which rule?", "Whose email?", "Which segment?", "Which group?", "On or off?", "How long?"),
        "Freeze what?",
    }


def test_four_clicks_are_the_usual_case() -> None:
    counted = {name: clicks(task) for name, task in TASKS.items()}
    assert len(counted) == 30
    assert median(counted.values()) <= 3, counted
    assert max(counted.values()) <= 5, counted


@pytest.mark.parametrize("name", TASKS)
async def test_an_everyday_task_is_done_by_clicks(workspace: Sandbox, alice: Colleague, name: str) -> None:
    task = TASKS[name]
    for text in task.before:
        await alice.says(text)
        await alice.sees_change()
    await alice.says(task.start)
    known = {one.ts for one in alice._bot_messages()}
    for step in task.steps:
        if step == SEND:
            assert await alice.submits() == {}
        elif isinstance(step, str):
            await alice.clicks(await find(alice, step), step)
        else:
            for label, text in step.items():
                await choose(alice, label, text)

    def seen() -> bool:
        """Whether what came of it says so; a form that waits to be filled in says nothing."""
        texts = [alice.slack_text(one) for one in alice._bot_messages() if one.ts not in known]
        return any(task.sees in text for text in [*texts, "" if "submit" in (alice.modal or {}) else alice.form])

    await alice._waits(seen, task.sees)


async def find(person: Colleague, label: str) -> Message | View:
    """What is in front of *person* and has that button; waits for it."""

    def look() -> Message | View | None:
        places: list[Message | View] = [*([person.modal] if person.modal else []), *reversed(person._bot_messages())]
        return next((where for where in places if has(person, where, label)), None)

    found: Message | View = await person._waits(look, label)
    return found


def has(person: Colleague, where: Message | View, label: str) -> bool:
    try:
        person._button(where, label)
    except AssertionError:
        return False
    return True


async def choose(person: Colleague, label: str, text: str) -> None:
    """Choose or type *text* in the field of that *label*; or in the menu of a message, by its action."""
    if label.startswith("v1."):
        where = await find(person, label)
        await person.chooses(where, label, next(iter((await person.offered(where, label, text)).values())))
        return

    def there() -> dict[str, Any] | None:
        try:
            return person._input(label)
        except AssertionError:
            return None

    block = await person._waits(there, label)
    if block["element"]["type"].endswith("external_select"):
        await person.finds(label, text)
    else:
        person.fills(**{label: text})
