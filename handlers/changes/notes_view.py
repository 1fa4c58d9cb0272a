"""Notifications in the thread of a card or to its requester, and the form that asks for a reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from bot.changes.model import Change, Held, State
from bot.changes.rights import Decision
from handlers.blocks import inputs, messages
from handlers.blocks.messages import Message
from handlers.blocks.modals import OPENED_BY, View, done, frame, metadata, section
from handlers.changes.sentences import (
    STATES,
    approved_by,
    decision_reason,
    held_line,
    mark_of,
    mention,
    phrases,
    plain_title,
    revert_failure_line,
    review_line,
    sentence,
    title_of,
    when,
    words,
)
from handlers.grammar.fields import parse_expiry, parse_start


def note(change: Change, purpose: str) -> Message | None:
    """The message of that *purpose*; None where it has become pointless since."""
    name, _, number = purpose.partition("-")
    if name not in NOTES:
        return None
    plain, text_of = NOTES[name]
    text = text_of(change, number)
    return messages.message(f"{plain_title(change)}: {plain}", [messages.section(text)]) if text else None


def _remind(change: Change, _: str) -> str:
    if change.state is not State.PROPOSED:
        return ""
    who = " ".join(map(mention, change.decision.summoned))
    by = when(change.decision.expires)
    return f":bell: {who} *{plain_title(change)}?* <@{change.request.requester}> needs approval by {by}."


def _starts(change: Change, _: str) -> str:
    if change.state is not State.PLANNED or change.run.held:
        return ""
    return (
        f":alarm_clock: <@{change.request.requester}> *{plain_title(change)}*: starts {when(change.request.starts_at)}."
    )


def _started(change: Change, _: str) -> str:
    if change.state is not State.APPLIED or change.run.undone_by:
        return ""
    return f":white_check_mark: <@{change.request.requester}> *{_end_of(change)}*"


def _held(change: Change, _: str) -> str:
    if not change.run.held or change.state is not State.PLANNED:
        return ""
    who = " ".join(
        dict.fromkeys([f"<@{change.request.requester}>", *(mention(one.by) for one in change.decision.approvals)])
    )
    return f":warning: {who} *{plain_title(change)}: not started*\n{held_line(change)}"


def _offer(change: Change, _: str) -> str:
    if not change.temporary:
        return ""
    ends = (
        f"{plain_title(change)}: reverts at {when(change.request.reverts_at)}" if change.is_bulk else title_of(change)
    )
    return f":bell: <@{change.request.requester}> *{ends}*\nExtend or keep it on the card."


def _review(change: Change, _: str) -> str:
    who = " ".join(map(mention, change.decision.summoned))
    head = f":eyes: *{plain_title(change)}: review due*"
    return f"{head}\n{review_line(change)} {who}".strip() if change.review_due else ""


def _break_glass(change: Change, _: str) -> str:
    who = " ".join(map(mention, change.decision.summoned))
    reason = decision_reason(change) or "."
    lead = f":rotating_light: *Emergency override: {plain_title(change)}*"
    return f"{lead}\n<@{change.decision.decided_by}> went ahead without an approval{reason} {who}".strip()


def _left(change: Change, _: str) -> str:
    return (
        f":warning: <@{change.request.requester}> *{plain_title(change)}: not reverted*\n{revert_failure_line(change)}"
        if change.run.revert_failure
        else ""
    )


def _late(change: Change, _: str) -> str:
    if not change.temporary or change.request.reverts_at is None:
        return ""
    late = f"It was to be reverted at {when(change.request.reverts_at)}, which hasn’t worked so far."
    head = f":warning: <@{change.request.requester}> *{plain_title(change)}: not reverted yet*"
    return f"{head}\n{late} Gatehouse keeps trying."


def _ask(change: Change, number: str) -> str:
    index = int(number) - 1 if number.isdigit() else -1
    if not 0 <= index < len(change.decision.questions):
        return ""
    asked = change.decision.questions[index]
    return f":speech_balloon: <@{asked.by}> asks <@{change.request.requester}>: “{words(asked.text, 1000)}”"


NOTES: Final[dict[str, tuple[str, Callable[[Change, str], str]]]] = {
    "remind": ("needs approval", _remind),
    "starts": ("starts soon", _starts),
    "started": ("done", _started),
    "held": ("not started", _held),
    "offer": ("reverts soon", _offer),
    "review": ("review due", _review),
    "break_glass": ("emergency override", _break_glass),
    "late": ("not reverted yet", _late),
    "left": ("not reverted", _left),
    "ask": ("a question", _ask),
}
"""Purpose -> what notifications say of it, and what makes its text."""


ENDED: Final = frozenset({State.FAILED, State.STALE, State.UNSETTLED})
"""States whose own notice says more than that somebody approved."""


def notice(change: Change, kind: str, *, link: str, undone_by: str = "") -> Message | None:
    """What the requester is told of *change* in a direct message; None where it has become pointless since.

    *link*: of its card. *undone_by*: who asked for its undo.
    """
    text = NOTICES[kind](change, undone_by) if kind in NOTICES else ""
    if not text:
        return None
    card = f" <{link}|Open the card>" if link else ""
    plain = text.partition("*")[2].partition("*")[0]
    return messages.message(plain, [messages.section(f"{text}{card}")])


def _end_of(change: Change) -> str:
    """Return what became of *change*, for its requester."""
    return (
        f"{plain_title(change)}: {STATES[change.state].word}" if change.is_bulk else title_of(change).replace("`", "")
    )


def decided(change: Change, link: str = "") -> Message:
    """What has become of *change*, for the one who just decided about it elsewhere than on its card. *link*: of the card."""
    head = f"{mark_of(change)} *{_end_of(change)}*\n{sentence(change)}"
    card = messages.context(f"<{link}|Open the card>" if link else f"See its card in <#{change.request.channel}>.")
    return messages.message(plain_title(change), [messages.section(head), card])


def _approved(change: Change, _: str) -> str:
    if change.state in ENDED:
        return ""
    decision = change.decision
    alone = f"Emergency override by <@{decision.decided_by}>."
    how = alone if decision.glass_broken else f"A{approved_by(change)[1:]}."
    then = f"\n{held_line(change)}" if change.run.held is Held.WORD and change.state is State.PLANNED else ""
    return f":white_check_mark: *{_end_of(change)}*\n{how}{then}"


def _denied(change: Change, _: str) -> str:
    by = f"<@{change.decision.decided_by}>"
    return f":no_entry_sign: *{_end_of(change)}*\nDenied by {by}{decision_reason(change) or '.'}"


def _expired(change: Change, _: str) -> str:
    return f":zzz: *{_end_of(change)}*\nNobody approved your request in time."


def _failed(change: Change, _undone_by: str) -> str:
    if change.state not in ENDED:
        return ""
    why, _, _ = sentence(change).partition("\n")
    return f"{mark_of(change)} *{_end_of(change)}*\n{why}"


def _reverted(change: Change, undone_by: str) -> str:
    by = f" by <@{undone_by}>" if undone_by else ""
    said = f"{plain_title(change)}: reverted" if change.is_bulk else phrases(change).undone.replace("`", "")
    return f":leftwards_arrow_with_hook: *{said}*\nYour temporary change was reverted early{by}."


NOTICES: Final[dict[str, Callable[[Change, str], str]]] = {
    "approved": _approved,
    "denied": _denied,
    "expired": _expired,
    "failed": _failed,
    "reverted": _reverted,
}


@dataclass(frozen=True, slots=True)
class ReasonForm:
    """A form that asks for a reason, or for a time, before a *decision* about a change that is in *state*.

    *least*: characters that it takes; *missing*: said where it has fewer, or is no time. *time*: what reads it as one.
    """

    decision: Decision
    title: str
    label: str
    submit: str
    hint: str
    intro: str
    missing: str
    end: str
    least: int = 1
    state: State = State.PROPOSED
    time: Callable[[str], object] | None = None


REASON_FORMS: Final[Mapping[str, ReasonForm]] = {
    "deny": ReasonForm(
        Decision.DENY,
        title="Deny",
        label="Reason",
        submit="Deny",
        hint="Shown on the card, in the channel.",
        intro="Nothing will be changed.",
        missing="Enter a reason.",
        end=":no_entry_sign: *Denied.* The card shows your reason.",
    ),
    "ask": ReasonForm(
        Decision.ASK,
        title="Ask",
        label="Your question",
        submit="Ask",
        hint="Posted in the thread of the card.",
        intro="The request stays open.",
        missing="Write your question.",
        end=":speech_balloon: *Your question is in the thread of the card.*",
    ),
    "replan": ReasonForm(
        Decision.REPLAN,
        state=State.PLANNED,
        time=parse_start,
        title="Other time",
        label="When?",
        submit="Move",
        hint="A time such as tomorrow 9:00 or Friday 18:00.",
        intro="What somebody approved for a time has to be approved again for another one.",
        missing="Enter a time such as tomorrow 9:00 or Friday 18:00.",
        end=":alarm_clock: *Moved.* See its card.",
    ),
    "until": ReasonForm(
        Decision.EXTEND,
        state=State.APPLIED,
        time=parse_expiry,
        title="Other time",
        label="Until when?",
        submit="Move",
        hint="A time such as 18:00 or Friday 9:00, or how long from now, such as 3h.",
        intro="It reverts at that time instead, sooner or later than now.",
        missing="Enter a time such as 18:00 or Friday 9:00, or a duration such as 3h.",
        end=":alarm_clock: *Moved.* See its card.",
    ),
    "break_glass": ReasonForm(
        Decision.BREAK_GLASS,
        title="Emergency override",
        label="Why can’t this wait for an approval?",
        submit="Override now",
        hint="At least ten characters. Shown in the channel, and kept in the audit log.",
        intro=":rotating_light: *It takes effect at once, without an approval.* Those who could have approved are "
        "notified, and someone else has to review it afterwards.",
        missing="Give a reason of at least ten characters.",
        end=":rotating_light: *Emergency override recorded.* Someone else has to review it: see the card.",
        least=10,
    ),
}
MAX_REASON: Final = 1000
BLOCK: Final = "words"


def callback(name: str) -> str:
    return f"v1.decision.{name}"


def reason_form(name: str, change: Change, *, title: str, channel: str, opened_by: str = "") -> View:
    """The form about *change*; *title* (mrkdwn) says what it is about. *opened_by*: what the full view has as that."""
    form = REASON_FORMS[name]
    blocks = [
        section(f"*{title}?*\nRequested by <@{change.request.requester}>"),
        section(form.intro),
        inputs.text(BLOCK, form.label, None, multiline=form.time is None, hint=form.hint),
    ]
    about = {"name": name, "change": change.id, "channel": channel, OPENED_BY: opened_by}
    return frame(form.title, blocks, callback_id=callback(name), submit=form.submit, metadata=about)


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
    length, form = len(sent.words), REASON_FORMS.get(sent.name)
    if form is not None and (length < form.least or (form.time is not None and form.time(sent.words) is None)):
        return {BLOCK: form.missing}
    return {BLOCK: f"Shorten it to {MAX_REASON:,} characters; it has {length:,}."} if length > MAX_REASON else {}


def end(name: str, _: Change) -> View:
    """What the form says in the end that is still open."""
    return done("Gatehouse", REASON_FORMS[name].end)
