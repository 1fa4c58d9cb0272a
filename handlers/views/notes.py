"""What must ring somebody: short messages in the thread of a card, each posted once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from bot.domain.change import Change, State
from handlers.views import parts
from handlers.views.parts import Message
from handlers.views.sentences import ending_line, glass_line, mention, when, words
from handlers.views.titles import plain_title


def note(change: Change, purpose: str) -> Message | None:
    """The message of that *purpose*; None where it has become pointless since."""
    name, _, number = purpose.partition("-")
    text = NOTES[name](change, number) if name in NOTES else ""
    return parts.message(f"{plain_title(change)}: {PLAIN[name]}", [parts.section(text)]) if text else None


def _remind(change: Change, _: str) -> str:
    if change.state is not State.PROPOSED:
        return ""
    who = " ".join(map(mention, change.summoned))
    asked = f"{who} " if who else ""
    return f":bell: {asked}<@{change.requester}> still waits for an approval, open until {when(change.expires)}."


def _offer(change: Change, _: str) -> str:
    return f":bell: <@{change.requester}> {ending_line(change)} The card has the buttons." if change.temporary else ""


def _review(change: Change, _: str) -> str:
    who = " ".join(map(mention, change.summoned))
    return f"{glass_line(change)} {who}".strip() if change.review_owed else ""


def _glass(change: Change, _: str) -> str:
    who = " ".join(map(mention, change.summoned)) or "For all who could have approved"
    return f":rotating_light: {who}: <@{change.decided_by}> goes ahead alone. {words(change.decision_reason, 500)}"


def _left(change: Change, _: str) -> str:
    return f"<@{change.requester}> {ending_line(change)}" if change.ending else ""


def _ask(change: Change, number: str) -> str:
    index = int(number) - 1 if number.isdigit() else -1
    if not 0 <= index < len(change.questions):
        return ""
    asked = change.questions[index]
    return f":speech_balloon: <@{asked.by}> asks <@{change.requester}>: {words(asked.text, 1000)}"


NOTES: Final[dict[str, Callable[[Change, str], str]]] = {
    "remind": _remind,
    "offer": _offer,
    "review": _review,
    "glass": _glass,
    "left": _left,
    "ask": _ask,
}
PLAIN: Final = {
    "remind": "still waits for an approval",
    "offer": "ends soon",
    "review": "review due",
    "glass": "somebody goes ahead alone",
    "left": "was left as it is",
    "ask": "somebody asks",
}
