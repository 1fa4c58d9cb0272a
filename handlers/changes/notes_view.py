"""Notifications in the thread of a card or to its requester, and the form that asks for a reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bot.changes.model import Change, State
from handlers.blocks import inputs, messages
from handlers.blocks.messages import Message
from handlers.blocks.modals import View, frame, metadata, section
from handlers.changes.sentences import ending_line, glass_line, mention, plain_title, sentence, when, words


def note(change: Change, purpose: str) -> Message | None:
    """The message of that *purpose*; None where it has become pointless since."""
    name, _, number = purpose.partition("-")
    text = NOTES[name](change, number) if name in NOTES else ""
    return messages.message(f"{plain_title(change)}: {PLAIN[name]}", [messages.section(text)]) if text else None


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


ENDED: Final = frozenset({State.FAILED, State.STALE, State.UNSETTLED})
"""States whose own notice says more than that somebody approved."""


def notice(change: Change, kind: str, *, link: str, undone_by: str = "") -> Message | None:
    """What the requester is told of *change* in a direct message; None where it has become pointless since.

    *link*: of its card. *undone_by*: who asked for its undo.
    """
    text = NOTICES[kind](change, undone_by) if kind in NOTICES else ""
    card = f" <{link}|Open the card>" if link else ""
    return messages.message(f"{plain_title(change)}: {kind}", [messages.section(f"{text}{card}")]) if text else None


def _approved(change: Change, _: str) -> str:
    if change.state in ENDED:
        return ""
    done = " It is done." if change.state is State.APPLIED else ""
    alone = f"<@{change.decided_by}> went ahead with your request alone."
    by = " ".join(mention(one.by) for one in change.approvals) or mention(change.decided_by or "")
    how = alone if change.glass_broken else f"Approved by {by}."
    return f":white_check_mark: *Approved: {plain_title(change)}.* {how}{done}"


def _denied(change: Change, _: str) -> str:
    why = f": {words(change.decision_reason, 500)}" if change.decision_reason else "."
    return f":no_entry_sign: *Denied: {plain_title(change)}.* Denied by <@{change.decided_by}>{why}"


def _expired(change: Change, _: str) -> str:
    return f":zzz: *Expired: {plain_title(change)}.* Nobody approved your request in time. Nothing was changed."


def _failed(change: Change, _: str) -> str:
    if change.state not in ENDED:
        return ""
    outcome = "Outcome unknown" if change.state is State.UNSETTLED else "Not done"
    return f":x: *{outcome}: {plain_title(change)}.* {sentence(change)}"


def _reverted(change: Change, undone_by: str) -> str:
    by = f" by <@{undone_by}>" if undone_by else ""
    return (
        f":leftwards_arrow_with_hook: *Reverted early: {plain_title(change)}.* Your temporary change was reverted{by}."
    )


NOTICES: Final[dict[str, Callable[[Change, str], str]]] = {
    "approved": _approved,
    "denied": _denied,
    "expired": _expired,
    "failed": _failed,
    "reverted": _reverted,
}


@dataclass(frozen=True, slots=True)
class _Words:
    title: str
    label: str
    submit: str
    hint: str
    intro: str


WORDS: Final = {
    "deny": _Words(
        "Deny", "Why not?", "Deny", "Everybody in the channel reads it.", ":no_entry_sign: Nothing will be changed."
    ),
    "ask": _Words(
        "Ask",
        "Your question",
        "Ask",
        "It goes into the thread of the card.",
        ":speech_balloon: The request stays open.",
    ),
    "glass": _Words(
        "Break the glass",
        "Why can nobody be asked?",
        "Do it now",
        "At least ten characters. Everybody in the channel reads it, and it is on record.",
        ":rotating_light: *You act alone.* It is done at once, those who could have approved are told, and somebody "
        "else has to sign it afterwards.",
    ),
}
LEAST: Final = {"deny": 1, "ask": 1, "glass": 10}
MOST: Final = 1000
BLOCK: Final = "words"


def callback(name: str) -> str:
    return f"v1.decision.{name}"


def reason_form(name: str, change: Change, *, title: str, channel: str) -> View:
    """The form about *change*; *title* (mrkdwn) says what it is about."""
    words = WORDS[name]
    blocks = [
        section(f"*{title}*\nasked by <@{change.requester}>"),
        section(words.intro),
        inputs.text(BLOCK, words.label, None, multiline=True, hint=words.hint),
    ]
    about = {"name": name, "change": change.id, "channel": channel}
    return frame(words.title, blocks, callback_id=callback(name), submit=words.submit, metadata=about)


@dataclass(frozen=True, slots=True)
class Reasoned:
    """A form that was sent: its *name*, the id of the *change*, and the *words*."""

    name: str
    change: str
    words: str


def read(view: View) -> Reasoned:
    """The form as a person left it."""
    about = metadata(view)
    words = inputs.typed(inputs.values_of(view), BLOCK) or ""
    return Reasoned(str(about.get("name") or ""), str(about.get("change") or ""), words.strip())


def errors(sent: Reasoned) -> dict[str, str]:
    """What is wrong with the words, under their input."""
    name, text = sent.name, sent.words
    if len(text) < LEAST.get(name, 1):
        return {BLOCK: "A reason of at least ten characters, please." if name == "glass" else "Some words, please."}
    return {BLOCK: f"At most {MOST:,} characters, please."} if len(text) > MOST else {}
