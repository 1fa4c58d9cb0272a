"""Notifications in the thread of a card or to its requester, and the form that asks for a reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.changes.model.change import Change
from bot.changes.model.items import Tally
from bot.changes.model.parts import Guard
from bot.changes.model.states import State
from bot.changes.rights import Decision
from handlers.blocks import inputs, messages
from handlers.blocks.buttons import decide_button
from handlers.blocks.messages import Message, section
from handlers.blocks.modals import View, done_view, frame, metadata
from handlers.changes.people import approval_words, decision_reason, mention
from handlers.changes.phrases import phrases
from handlers.changes.sentences import end_line, expired_words, held_line, revert_failure_line, sentence
from handlers.changes.times import FOR_GOOD, other_ends, when
from handlers.changes.titles import STATES, mark_of, plain_title, request_title, title_of
from handlers.grammar.time_fields import parse_expiry, parse_start


@dataclass(frozen=True, slots=True)
class Note:
    """A message about a change. *is_due*: whether it is still relevant.

    *text*: makes it from the change and its outcome. *word*: the gist of it, for a push notification. *button*: the label of the
    one that it has, and what that decides.
    """

    is_due: Callable[[Change], bool]
    text: Callable[[Change, str], str]
    word: str = ""
    button: tuple[str, str] | None = None


def note(change: Change, purpose: str, tally: Tally | None) -> Message | None:
    """Return the message of *purpose* for the thread of a card; None where it is no longer relevant.

    *tally*: of a bulk change, the outcomes of its items.
    """
    # A purpose may end in a number or a time, as in ``held-2``, so that its message is sent more than once.
    if (row := NOTES.get(purpose.partition("-")[0])) is None or not row.is_due(change):
        return None
    text = row.text(change, _outcome(change, tally))
    buttons = messages.actions([decide_button(*row.button, change.id)]) if row.button else []
    return messages.message(f"{plain_title(change)}: {row.word}", [messages.section(text), *buttons])


def notice(change: Change, kind: str, tally: Tally | None, *, link: str) -> Message | None:
    """Return the direct message about *change* to its requester; None where it is no longer relevant.

    *tally*: as in `note`. *link*: of its card.
    """
    if (row := NOTICES.get(kind)) is None or not row.is_due(change):
        return None
    text, card = row.text(change, _outcome(change, tally)), f" <{link}|Open the card>" if link else ""
    # Each of these texts begins with a bold line, which is also the text of the push notification.
    head = text.partition("*")[2].partition("*\n")[0].replace("`", "")
    return messages.message(head, [messages.section(f"{text}{card}")])


def decided_message(change: Change, tally: Tally | None, link: str = "") -> Message:
    """Return the outcome of *change*, for a person who decided about it anywhere but on its card.

    *tally*: as in `note`. *link*: of the card.
    """
    head = f"{_outcome(change, tally)}\n{sentence(change)}"
    card = messages.context(f"<{link}|Open the card>" if link else f"See its card in <#{change.request.channel}>.")
    return messages.message(plain_title(change), [messages.section(head), card])


def _outcome(change: Change, tally: Tally | None) -> str:
    """Return the outcome of *change*, in bold after its emoji, for its requester."""
    return f"{mark_of(change, tally)} *{title_of(change, tally)}*"


def _requester(change: Change) -> str:
    return f"<@{change.request.requester}>"


def _involved_mentions(change: Change) -> str:
    """Return mentions of the requester and the approvers of *change*, which notify them."""
    return " ".join(dict.fromkeys([_requester(change), *(mention(one.by) for one in change.decision.approvals)]))


def _summoned_mentions(change: Change) -> str:
    return " ".join(map(mention, change.decision.summoned))


def _reverts_text(change: Change) -> str:
    return (
        f"{request_title(change)}: reverts at {when(change.request.reverts_at)}" if change.is_bulk else title_of(change)
    )


def _reverted_text(change: Change, _: str) -> str:
    undone, ends = change.run.undone, change.request.reverts_at
    by = f" by <@{undone.by}>" if undone is not None else ""
    early = " early" if undone is not None and ends is not None and undone.at < ends else ""
    said = f"{request_title(change)}: reverted" if change.is_bulk else phrases(change).undone
    return f":leftwards_arrow_with_hook: *{said}*\nYour temporary change was reverted{early}{by}."


def _approval_text(change: Change) -> str:
    """Return who approved *change*."""
    by = approval_words(change)
    return f"{by[:1].upper()}{by[1:]}."


def _expiry_text(change: Change) -> str:
    if change.run.held or change.decision.approvals:
        words = expired_words(change)
        return f"{words[:1].upper()}{words[1:]}."
    if change.decision.guard is Guard.CONFIRM:
        return "You didn’t confirm it in time."
    return "Nobody approved your request in time."


def _go_ahead_words(change: Change) -> str:
    is_planned = change.state is State.PLANNED
    return f"will go ahead {when(change.request.starts_at)}" if is_planned else "went ahead"


NOTES: Final = {
    "remind": Note(
        lambda c: c.state is State.PROPOSED,
        lambda c, _: (
            f":bell: {_summoned_mentions(c)} *{request_title(c)}?* {_requester(c)} needs approval by {when(c.decision.expires)}."
        ),
        "needs approval",
    ),
    "starts": Note(
        lambda c: c.state is State.PLANNED and not c.run.held,
        lambda c, _: f":alarm_clock: {_requester(c)} *{request_title(c)}*: starts {when(c.request.starts_at)}.",
        "starts soon",
    ),
    "moved": Note(
        lambda c: c.state is State.PLANNED and not c.run.held,
        lambda c, _: f":alarm_clock: {_requester(c)} *{request_title(c)}*: moved to {when(c.request.starts_at)}.",
        "other time",
    ),
    "started": Note(
        lambda c: c.state is State.APPLIED and not c.run.undone,
        lambda c, outcome: f"{outcome} {_requester(c)}",
        "started",
    ),
    "held": Note(
        lambda c: c.state is State.PLANNED and bool(c.run.held),
        lambda c, _: f":warning: {_involved_mentions(c)} *{request_title(c)}: not started*\n{held_line(c)}",
        "not started",
    ),
    "offer": Note(
        lambda c: c.is_temporary,
        lambda c, _: f":bell: {_requester(c)} *{_reverts_text(c)}*",
        "reverts soon",
        ("Change end…", "until"),
    ),
    "break_glass": Note(
        lambda c: c.state is not State.CANCELLED,
        lambda c, _: (
            f":rotating_light: *Emergency override: {request_title(c)}*\n<@{c.decision.decided_by}> {_go_ahead_words(c)} "
            f"without an approval{decision_reason(c) or '.'} {_summoned_mentions(c)}"
        ),
        "emergency override",
    ),
    "late": Note(
        lambda c: c.is_temporary,
        lambda c, _: (
            f":warning: {_requester(c)} *{request_title(c)}: not reverted yet*\nIt was to be reverted at "
            f"{when(c.request.reverts_at)}, which hasn’t worked so far. Gatehouse keeps trying."
        ),
        "not reverted yet",
    ),
    "left": Note(
        lambda c: bool(c.run.revert_failure),
        lambda c, _: f":warning: {_requester(c)} *{title_of(c)}*\n{revert_failure_line(c)}",
        "not reverted",
    ),
}
"""The messages for the thread of a card, by purpose."""
ENDED: Final = frozenset({State.FAILED, State.STALE, State.UNSETTLED})
"""States with a notice of their own, which says more than that somebody approved."""
NOT_APPROVED: Final = frozenset({State.PROPOSED, State.CANCELLED, State.DENIED})
"""States of a change that is no longer approved: withdrawn since, or requested again for another time."""
NOTICES: Final = {
    "approved": Note(
        lambda c: c.state not in ENDED | NOT_APPROVED,
        lambda c, outcome: f"{outcome}\n{_approval_text(c)}",
    ),
    "denied": Note(
        lambda _: True,
        lambda c, outcome: (
            f"{outcome}\n{STATES[c.state].word.capitalize()} by <@{c.decision.decided_by}>{decision_reason(c) or '.'}"
        ),
    ),
    "expired": Note(lambda _: True, lambda c, outcome: f"{outcome}\n{_expiry_text(c)}"),
    "failed": Note(lambda c: c.state in ENDED, lambda c, outcome: f"{outcome}\n{end_line(c)}"),
    # Where a part of a bulk change could not be reverted, it is not over.
    "reverted": Note(lambda c: c.run.undone is not None, _reverted_text),
}
"""The direct messages to the requester, by kind."""


def _override_intro(change: Change) -> str:
    starts = when(change.request.starts_at) if change.request.starts_at else "at once"
    effect = f":rotating_light: *It takes effect {starts}, without an approval.*"
    return f"{effect} Those who could have approved are notified."


def _replan_intro(change: Change) -> str:
    is_approved = change.decision.guard is Guard.APPROVE or change.decision.glass_broken
    return "Another time has to be approved again." if is_approved else ""


@dataclass(frozen=True, slots=True)
class ReasonForm:
    """A form that asks for a reason, or for a time, before a *decision* about a change that is in *state*.

    *hint*: what to enter; also what is wrong with words that don't *fit*. *intro*: what to know before.
    """

    decision: Decision
    title: str
    label: str
    hint: str
    fits: Callable[[str], object]
    intro: Callable[[Change], str] = lambda _: ""
    state: State = State.PROPOSED


REASON_FORMS: Final[Mapping[str, ReasonForm]] = {
    "deny": ReasonForm(
        Decision.DENY,
        "Deny",
        "Reason",
        "Enter a reason. It is shown on the card, in the channel.",
        fits=bool,
    ),
    "replan": ReasonForm(
        Decision.REPLAN,
        "Change time",
        "When?",
        "Enter a time such as tomorrow 9:00 or Friday 18:00.",
        fits=parse_start,
        intro=_replan_intro,
        state=State.PLANNED,
    ),
    "until": ReasonForm(
        Decision.CHANGE_END,
        "Change end",
        "Or until",
        "Enter a time such as 18:00 or Friday 9:00, or how long from now, such as 3h.",
        fits=lambda text: text == FOR_GOOD or parse_expiry(text),
        state=State.APPLIED,
    ),
    "break_glass": ReasonForm(
        Decision.BREAK_GLASS,
        "Override now",
        "Why can’t this wait for an approval?",
        "Give a reason of at least ten characters. It is shown in the channel, and kept in the audit log.",
        fits=lambda text: len(text) >= 10,
        intro=_override_intro,
    ),
}
MAX_REASON: Final = 1000
BLOCK: Final = "words"
CHOICE: Final = "choice"


def callback(name: str) -> str:
    return f"v1.decision.{name}"


def reason_form(name: str, change: Change, now: datetime, *, channel: str) -> View:
    """Return the form *name* about *change* as it is *now*."""
    form, ends = REASON_FORMS[name], change.request.reverts_at
    choices = other_ends(change, now) if form.decision is Decision.CHANGE_END else {}
    blocks = [
        section(f"*{title_of(change)}*\nRequested by <@{change.request.requester}>"),
        *([section(intro)] if (intro := form.intro(change)) else []),
        *([inputs.radios(CHOICE, "New end", choices)] if choices else []),
        inputs.text(BLOCK, form.label, None, optional=bool(choices), hint=form.hint, most=MAX_REASON),
    ]
    about = {"name": name, "change": change.id, "channel": channel, "ends": ends.isoformat() if ends else ""}
    return frame(form.title, blocks, callback_id=callback(name), submit=form.title, metadata=about)


@dataclass(frozen=True, slots=True)
class Reasoned:
    """A form that was sent: its *name*, the id of the *change*, the *words*, typed or chosen, and the end that it showed."""

    name: str
    change: str
    words: str
    shown_end: datetime | None = None


def read(view: View) -> Reasoned:
    """Return the form as it was submitted."""
    about, values = metadata(view), inputs.values_of(view)
    words = (inputs.typed_value(values, BLOCK) or "").strip() or inputs.typed_value(values, CHOICE) or ""
    shown_end = datetime.fromisoformat(about["ends"]) if about.get("ends") else None
    return Reasoned(str(about.get("name") or ""), str(about.get("change") or ""), words, shown_end)


def errors(sent: Reasoned) -> dict[str, str]:
    """Return the errors in the submitted words, by the block of their input."""
    form = REASON_FORMS.get(sent.name)
    return {BLOCK: form.hint} if form is not None and not form.fits(sent.words) else {}


def end_view(change: Change) -> View:
    """Return what a form about *change* shows at the end if it is still open."""
    return done_view("Gatehouse", f"{_outcome(change, None)}\n{sentence(change)}")
