"""The title and the sentences of a card: who asked, who decided, the outcome, and what happens next."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.changes.consequences import HELD_LONGEST
from bot.changes.execute import END_PASSED, HELD_FOR, LOST_RIGHT, TOO_OLD
from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind
from bot.changes.model.items import DONE, Outcome, Tally
from bot.changes.model.parts import Cause, CauseKind, Guard, Held, RevertFailure, Undone
from bot.changes.model.states import State
from bot.clients.errors import REFUSALS, OutcomeUnknown, Unreachable
from bot.policy.model import Why
from bot.text.emails import all_masked, masked
from bot.text.times import in_words
from handlers.blocks.messages import clip, code, esc, listed, plural, quoted
from handlers.blocks.messages import moment as date_token
from handlers.changes.diff import differences, field_changes, line_name
from handlers.explain.why_not import NOT_SENT, WHY_NOT

THINGS: Final = {"rules": "rule", "members": "member", "groups": "group"}
"""What people call a thing of each service."""


def sentence(change: Change) -> str:
    """Who asked, why, who decided, and what happens next: what stands below the title of a card."""
    if change.state is State.APPLIED:
        return _done(change)
    state, approval = STATES[change.state], "" if change.state is State.PROPOSED else approval_words(change)
    why = decision_reason(change) if change.decision.glass_broken else ""
    return _lines(state.before(change), _request(change, f"{approval}{why}", _typed_times(change)), state.after(change))


def _line(*parts: str) -> str:
    return " · ".join(filter(None, parts))


def _lines(*parts: str) -> str:
    return "\n".join(filter(None, parts))


def whom(change: Change, *, public: bool = True) -> str:
    """The email of the member, masked for a channel; nothing where the title has it like that."""
    target = change.edit.target
    email = target.key or "" if target.service == "members" else ""
    if not public:
        return code(email) if email else ""
    return code(masked(email)) if email and _shown_name(change) else ""


CAUSES: Final = {
    CauseKind.UNDO: ("to undo {whose} change", "undid {whose} change", "Undone by {who}"),
    CauseKind.EARLY_END: ("to revert it early", "reverted early", "Reverted early by {who}"),
    CauseKind.LATE_END: (
        "to revert it, though it was changed since",
        "reverted, though it was changed since",
        "Reverted by {who}, though it was changed since",
    ),
}
"""What somebody wants to do to a change, and did: as the rest of a sentence about the undo; then on the card of the change."""


def reason_of(change: Change, limit: int = 500, *, public: bool = True) -> str:
    """Why there is *change*: its requester's words in quotes, or what it follows from. *public*: for a channel."""
    request = change.request
    if (cause := request.cause) is not None:
        whose = "their own" if request.requester == cause.requester else f"<@{cause.requester}>’s"
        if cause.is_automatic:
            return _automatically(cause)
        return CAUSES[cause.kind][change.state is State.APPLIED].format(whose=whose)
    return f"“{words(request.reason, limit) if public else esc(request.reason, limit)}”" if request.reason else ""


def _automatically(cause: Cause) -> str:
    if not cause.late_seconds:
        return "automatically, as planned"
    how = "Gatehouse was down" if cause.tries == 1 else "it didn’t work at first"
    return f"automatically, {in_words(cause.late_seconds)} late: {how}"


def is_reverted(change: Change) -> bool:
    """Whether *change* was temporary and came to its end as it was meant to."""
    return change.run.undone is not None and change.run.undone.cause.is_automatic


def outcome_word(change: Change) -> str:
    """What has become of *change*, in a word or two."""
    if change.run.undone_by:
        return "reverted" if is_reverted(change) else "undone"
    return STATES[change.state].word


def author(change: Change) -> str:
    """Who asked for *change*; nobody did where a temporary one came to its end."""
    return "Gatehouse" if is_automatic(change) else f"<@{change.request.requester}>"


def is_automatic(change: Change) -> bool:
    return change.request.cause is not None and change.request.cause.is_automatic


def requested(change: Change) -> str:
    return f"Requested by <@{change.request.requester}>"


def _request(change: Change, *more: str) -> str:
    return _line(whom(change), requested(change), reason_of(change), *more)


def _waiting(change: Change) -> str:
    until, frozen = change.request.frozen_until, ""
    if until is not None:
        frozen = f":snowflake: Frozen until {when(until)} when it was requested: till then, only an emergency override passes."
    return _lines(needed(change), frozen)


def needed(change: Change, where: str = "this channel") -> str:
    """What a request that was made *where* waits for, until when, and which approvals it has."""
    until = f" until {when(change.decision.expires)}" if change.decision.expires else ""
    if change.decision.guard is Guard.CONFIRM:
        return f"Only <@{change.request.requester}> can confirm it{until}."
    return f"Needs {approvals_to_be(change, where)}{until.replace('until', 'by')}.{_given(change)}"


def approvals_to_be(change: Change, where: str) -> str:
    """Whose approval is missing: that of those who are asked by name, or of anyone else in the channel."""
    who = " or ".join(map(mention, change.decision.summoned)) or f"someone else in {where}"
    needed = change.decision.approvals_needed
    return f"approval from {who}" if needed == 1 else f"{needed} approvals from {who}"


def _given(change: Change) -> str:
    given = [mention(one.by) for one in change.decision.approvals]
    return f" *{len(given)} of {change.decision.approvals_needed}:* approved by {', '.join(given)}." if given else ""


def _undone(undone: Undone) -> str:
    """How a change was taken back, when and by whom."""
    cause = undone.cause
    how = f"A{_automatically(cause)[1:]}" if cause.is_automatic else CAUSES[cause.kind][2].format(who=f"<@{undone.by}>")
    return _line(how, when(undone.at))


def _done(change: Change) -> str:
    if change.run.undone is not None:
        before = change.changed(undone=None)
        return f"{_undone(change.run.undone)}\n{_done(before)}"
    if (redone := change.run.redone) is not None:
        return f"{_line(f'Redone by <@{redone.by}>', when(redone.at))}\n{_done(change.changed(redone=None))}"
    if change.decision.glass_broken:
        reviewed = f"reviewed by <@{change.decision.reviewed_by}>" if change.decision.reviewed_by else ""
        alone = f"*Emergency override* by <@{change.decision.decided_by}>{decision_reason(change)}"
        return f"{_line(alone, at(change), reviewed)}\n{_request(change)}"
    if change.decision.guard is Guard.APPROVE:
        return _request(change, approval_words(change), at(change))
    is_over = change.run.undone_by is not None
    who = requested(change) if is_over or is_automatic(change) else author(change)
    return _line(whom(change), who, reason_of(change), at(change))


def _temporary(change: Change) -> str:
    return f"Temporary{lasting}" if (lasting := _lasting(change)) else ""


def _under_way(change: Change) -> str:
    if not change.run.waits or change.state is not State.APPROVED:
        return _temporary(change)
    until = when(change.decision.decided_at + HELD_FOR) if change.decision.decided_at else "an hour later"
    waits = f"*Nothing was changed yet:* {words(change.run.waits, 160)}. Gatehouse tries again until {until}."
    return _lines(_temporary(change), waits)


def held_line(change: Change) -> str:
    """Why what was planned was not begun at its time; empty where it was, or will be."""
    match change.run.held:
        case Held.NOT:
            return ""
        case Held.LATE:
            why = "Gatehouse or the service was away then. Say what is to happen now."
        case Held.RIGHT:
            why = f"{why_not_any_more(change)}."
        case Held.POLICY:
            why = "the policy asks for more than it did when this was planned."
        case Held.WORD:
            until = when((change.run.held_at or change.created) + HELD_LONGEST)
            return f"<@{change.request.requester}>, choose when: now, or at another time. Expires {until}."
        case Held.FROZEN:
            why = "it may not be changed then. Say when, once nothing freezes it any more."
    return f"It was to start {when(change.request.starts_at)}: {why}"


def _failed(change: Change) -> str:
    if change.run.refusal == END_PASSED:
        why = f"It was to last{until(change)}, which passed before it could be done. Request it again with a later end."
    elif change.run.refusal == TOO_OLD:
        why = "The approval was more than an hour old. Request it again."
    elif change.run.refusal == LOST_RIGHT:
        lost = why_not_any_more(change)
        why = f"{lost if lost.startswith('<') else lost[:1].upper() + lost[1:]}."
    else:
        why = _said(change) or ("" if change.is_bulk else "The service shows no sign of it.")
    return f"{why} *Nothing was changed.*".strip()


def why_not_any_more(change: Change) -> str:
    """Who had lost the right to *change* when it was to be carried out, and how."""
    return lost_right(change.run.lost_right, Why(change.run.outcome))


def lost_right(user: str, why: Why) -> str:
    """Who may not do something any more, and *why*, as the rest of a sentence."""
    return WHY_NOT[why].lost.format(who=f"<@{user}>")


def _unknown(_: Change) -> str:
    return "The service gave no clear answer. Gatehouse keeps checking and updates this card."


def _unsettled(change: Change) -> str:
    if change.edit.kind is Kind.RULE_CREATE:
        shows = "It isn’t there now; it may have been created, and changed or deleted since."
    elif change.run.result is None:
        shows = "It couldn’t be read, or is gone."
    else:
        shows = "What the service shows is neither the old state nor the new one."
    lead = "*Check it yourself:* the service gave no clear answer, and Gatehouse has stopped checking."
    return f"{lead} {shows}"


def _stale(change: Change) -> str:
    thing = "what this is about" if change.is_bulk else f"the {THINGS.get(change.edit.target.service, 'thing')}"
    who = f"<@{change.run.overtaken_by}>" if change.run.overtaken_by else "someone"
    if is_off_instead(change):
        by = f" by {who}" if change.run.overtaken_by else ""
        return _line(f"*Switched off instead*{by}", at(change))
    if change.run.result is None and not change.is_bulk:
        why = f"{thing} no longer exists. *Nothing was changed.*"
    else:
        why = f"{who} edited {thing} after the request, so Gatehouse left it alone."
    return f"*Out of date:* {why}"


def is_off_instead(change: Change) -> bool:
    """Whether a rule was not deleted because it was switched off after the request, and nothing else of it was changed."""
    if change.edit.kind is not Kind.RULE_DELETE or change.is_bulk or change.run.result is None:
        return False
    since = change.edit.model_copy(update={"kind": Kind.RULE_UPDATE, "after": change.run.result})
    return change.state is State.STALE and is_switched(since) == "off"


def _refused(change: Change) -> str:
    """Who denied or withdrew it, and why."""
    decider = f"<@{change.decision.decided_by}>" if change.decision.decided_by else "someone"
    return f"*{STATES[change.state].word.capitalize()}* by {_line(f'{decider}{decision_reason(change)}', at(change))}"


def _nothing(_: Change) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class StateWords:
    """What is said of a change in one state: its *mark*, the *word* for it, how a sentence about it ends, and what its card says
    *before* and *after* the line about who asked for it.
    """

    mark: str
    word: str
    clause: str
    before: Callable[[Change], str] = _nothing
    after: Callable[[Change], str] = _nothing


HOURGLASS, UNCLEAR = ":hourglass_flowing_sand:", ":grey_question:"
STATES: Final[Mapping[str, StateWords]] = {
    State.PROPOSED: StateWords(":wastebasket:", "waiting for a decision", "is waiting for a decision", after=_waiting),
    State.PLANNED: StateWords(":alarm_clock:", "planned", "is planned", held_line),
    State.APPROVED: StateWords(HOURGLASS, "under way", "is under way", after=_under_way),
    State.APPLYING: StateWords(HOURGLASS, "under way", "is under way", after=_under_way),
    State.APPLIED: StateWords(":white_check_mark:", "done", "is done"),
    State.FAILED: StateWords(":x:", "failed", "failed", _failed),
    State.UNKNOWN: StateWords(UNCLEAR, "not confirmed yet", "is not confirmed yet", _unknown, _temporary),
    State.UNSETTLED: StateWords(UNCLEAR, "never confirmed", "was never confirmed", _unsettled),
    State.STALE: StateWords(":arrows_counterclockwise:", "out of date", "is out of date", _stale),
    State.CANCELLED: StateWords(":leftwards_arrow_with_hook:", "withdrawn", "was withdrawn", _refused),
    State.DENIED: StateWords(":no_entry_sign:", "denied", "was denied", _refused),
    State.EXPIRED: StateWords(":zzz:", "expired", "expired", lambda _: "*Expired:* nobody decided in time."),
}
"""The one table of states, by the name that the database and the audit have for each."""


def _said(change: Change) -> str:
    """Why it failed: in the service's words, where they are its own."""
    if not change.run.outcome:
        return ""
    why = why_words(change.run.outcome)
    if change.run.refusal in REFUSALS:
        return f"The service says: “{why}”."
    if change.run.refusal == OutcomeUnknown.code:
        return f"The service gave no clear answer ({why}), and shows no sign of it."
    if change.run.refusal == Unreachable.code:
        return f"The service doesn’t answer ({why})."
    return f"It couldn’t be sent: {why}."


def approval_words(change: Change) -> str:
    """Who let *change* through; empty where nobody had to, or nobody did."""
    decision = change.decision
    if decision.glass_broken:
        return f"emergency override by <@{decision.decided_by}>"
    if decision.guard is not Guard.APPROVE or change.state in {State.DENIED, State.CANCELLED}:
        return ""
    people = [one.by for one in decision.approvals] or list(filter(None, [decision.decided_by]))
    return f"approved by {listed([f'<@{person}>' for person in people])}" if people else ""


def decision_reason(change: Change) -> str:
    """Why it was denied or not waited for, as the rest of a sentence; empty where nobody said."""
    return f": “{words(change.decision.decision_reason, 500)}”" if change.decision.decision_reason else ""


EXTENSIONS: Final = (
    (7 * 86_400, 7 * 86_400, "Extend by 1 week"),
    (86_400, 86_400, "Extend by 1 day"),
    (0, 3_600, "Extend by 1 h"),
)
"""From how many seconds of a temporary change on, how many seconds a click adds to it, and what the button says."""


def extension(change: Change) -> tuple[int, str]:
    """The seconds that a click adds to *change*, by how long it was asked to last, and the label of the button."""
    asked = change.request.revert_after
    if asked is None and change.request.reverts_at is not None:
        asked = int((change.request.reverts_at - change.created).total_seconds())
    return next((seconds, label) for least, seconds, label in EXTENSIONS if (asked or 0) >= least)


def review_line(change: Change) -> str:
    """That somebody acted alone, and somebody else has yet to look at it."""
    return f"*Review due:* someone other than <@{change.decision.decided_by}> has to review this."


REVERT_FAILURES: Final[Mapping[RevertFailure, tuple[str, str]]] = {
    RevertFailure.CHANGED: (
        "{request}: not reverted",
        "*Not reverted* at {when}: someone edited it first, so Gatehouse left it alone.",
    ),
    RevertFailure.GONE: ("{request}: nothing to revert", "*Nothing to revert* at {when}: it is gone already."),
    RevertFailure.REFUSED: (
        "{done}: not reverted",
        "*Not reverted* at {when}: the service refused. Press *Undo* to try again.",
    ),
    RevertFailure.UNSENT: (
        "{done}: not reverted",
        "*Not reverted* at {when}: Gatehouse can’t send it. Press *Undo* to see why.",
    ),
    RevertFailure.UNCONFIRMED: (
        "{request}: its end is not confirmed",
        "*Check it yourself:* it was to be reverted at {when}, and the service gave no clear answer.",
    ),
    RevertFailure.PARTLY: (
        "{done}: not reverted",
        "*Not all of it was reverted* at {when}. The card of the undo says what is left.",
    ),
}
"""The head of the card of a temporary change that was not reverted, which says *done* only where nobody edited it since; and
the line that says why."""


def revert_failure_line(change: Change) -> str:
    """Why a temporary change was not reverted as planned; empty where it was, or will be."""
    if change.run.undone_by is not None or not change.run.revert_failure or change.request.reverts_at is None:
        return ""
    return REVERT_FAILURES[change.run.revert_failure][1].format(when=when(change.request.reverts_at))


def deleted_title(change: Change) -> str:
    """The head of the card of a temporary *change* whose target is gone."""
    return f"{subject(change)} was {'removed' if change.edit.target.service == 'members' else 'deleted'}"


def deleted_line(change: Change, deleted: Change) -> str:
    """That the thing a temporary *change* is about was *deleted*, and what its end means now."""
    gone = _line(f"Deleted by <@{deleted.request.requester}>", at(deleted))
    ends = f"Its end {when(change.request.reverts_at)} changes nothing, unless the deletion is undone before."
    return f"{gone}\n{ends}\n{_done(change)}"


def until(change: Change) -> str:
    """Until when a change is, as the end of a sentence; empty for one that is not temporary."""
    moment, typed = change.request.reverts_at, change.request.reverts_at_as_typed
    return "" if moment is None else f" until {_as_typed(moment, typed)}"


def _as_typed(moment: datetime, typed: str) -> str:
    return f"{when(moment)} ({esc(typed, 60)})" if typed else when(moment)


def _lasting(change: Change) -> str:
    """How long a change is to last that was not made yet, as the end of a sentence."""
    seconds = change.request.revert_after if change.request.reverts_at is None else None
    return f" for {in_words(seconds)}" if seconds else until(change)


def _waiting_title(change: Change, what: str) -> str:
    """The head of what waits for a decision or for its time, or could not begin at it; *what* is to be done."""
    request, held = change.request, change.run.held
    if held and held is not Held.WORD:
        return f"{what}: not started"
    ending = ": approved for later" if held else "?" if change.state is State.PROPOSED else ""
    if request.starts_at is None:
        return f"{what}{_lasting(change)}{ending}"
    starts = f"planned for {when(request.starts_at)}"
    ends = f" until {when(request.reverts_at)}" if request.reverts_at is not None else _lasting(change)
    return f"{what}{',' if ending else ':'} {starts}{',' if ends else ''}{ends}{ending}"


def _typed_times(change: Change) -> str:
    """The times of a plan by the clocks that they were meant by: its title has them by those of the reader."""
    request = change.request
    if change.state not in {State.PROPOSED, State.PLANNED} or request.starts_at is None or change.run.held:
        return ""
    starts, ends = request.starts_at_as_typed, request.reverts_at_as_typed
    clock, _, zone = starts.rpartition(" ")
    return " – ".join(filter(None, [clock if clock and ends.endswith(f" {zone}") else starts, ends]))


def when(moment: datetime | None) -> str:
    """A time, shown in the zone of the reader."""
    return "some time" if moment is None else date_token(int(moment.timestamp()) * 1000)


def at(change: Change) -> str:
    moment = change.run.finished_at or change.decision.decided_at
    return when(moment) if moment else ""


def words(text: str, limit: int = 300) -> str:
    """What a person or a service wrote, for a channel: nothing in it is more than text, and no address is whole."""
    looked_at = 20 * limit
    return esc(all_masked(text, looked_at), limit, more=max(0, len(text) - looked_at))


def why_words(why: str, limit: int = 300) -> str:
    """Why an item was not done: in our words where that is a `NotSent`, else as a person or a service wrote it."""
    return NOT_SENT.get(why) or words(why, limit)


def mention(name: str) -> str:
    """Somebody, or a user group, so that they are rung."""
    return f"<!subteam^{name}>" if name.startswith("S") else f"<@{name}>"


VERBS: Final = {
    Kind.RULE_CREATE: ("create", "created"),
    Kind.RULE_UPDATE: ("change", "changed"),
    Kind.RULE_DELETE: ("delete", "deleted"),
    Kind.GROUP_UPDATE: ("change", "changed"),
    Kind.MEMBER_ADD: ("add", "added"),
    Kind.MEMBER_UPDATE: ("change", "changed"),
    Kind.MEMBER_GRANT: ("grant access to", "access granted"),
    Kind.MEMBER_REVOKE: ("revoke access of", "access revoked"),
    Kind.MEMBER_REMOVE: ("remove", "removed"),
}
"""What is done, and what was."""
EDITS: Final = frozenset({Kind.RULE_UPDATE, Kind.GROUP_UPDATE, Kind.MEMBER_UPDATE})
"""Whose title says what is changed."""
ACCESS: Final = frozenset({Kind.MEMBER_GRANT, Kind.MEMBER_REVOKE})
MAX_FIELDS: Final = 3
"""Fields that a title names."""
MAX_SEGMENTS: Final = 3


def takes_away(change: Change) -> bool:
    """Whether it is gone for people what *change* deletes or removes: of a move, it is there again already."""
    return change.edit.kind.destroys and not change.bulk.in_steps


def mark_of(change: Change) -> str:
    if change.state is State.PROPOSED and not takes_away(change):
        return ":raising_hand:"
    if change.run.held not in {Held.NOT, Held.WORD} and change.state is State.PLANNED:
        return ":warning:"
    if change.state is not State.APPLIED:
        return STATES[change.state].mark
    if change.run.undone_by:
        return STATES[change.state].mark if is_reverted(change) else ":leftwards_arrow_with_hook:"
    if change.decision.glass_broken:
        return ":rotating_light:"
    if change.run.revert_failure or change.request.warnings:
        return ":warning:"
    return ":double_vertical_bar:" if is_switched(change.edit) == "off" else STATES[change.state].mark


@dataclass(frozen=True, slots=True)
class Phrases:
    """A change of one thing or many, said in each of the ways that a title needs; mrkdwn, without a full stop."""

    request: str
    done: str
    under_way: str
    not_done: str
    undone: str


def phrases(change: Change) -> Phrases:
    """What *change* is called while it is asked for, and once all of it is done, or not."""
    if change.is_bulk:
        return _bulk_phrases(change)
    name = subject(change)
    if (switched := is_switched(change.edit)) is not None:
        back = "back on" if switched == "off" else "off again"
        the, this = ("the group ", f"The group {name}") if change.edit.target.service == "groups" else ("", name)
        return Phrases(
            f"Switch {switched} {the}{name}",
            f"{this} is {switched}",
            f"Switching {switched} {the}{name}",
            f"{this} was not switched {switched}",
            f"{this} is {back}",
        )
    if change.edit.kind in ACCESS:
        return _access_phrases(change, name)
    if change.edit.kind in EDITS:
        the_fields = _fields(change)
        fields = the_fields.removeprefix("the ")
        return Phrases(
            f"Change {the_fields} of {name}",
            f"{name}: {fields} changed",
            f"Changing {the_fields} of {name}",
            f"{name}: {fields} not changed",
            f"{name}: {fields} changed back",
        )
    return _whole_phrases(change, name)


def _whole_phrases(change: Change, name: str) -> Phrases:
    """What is said where the whole thing comes or goes."""
    kind, request = change.edit.kind, change.request
    verb, done = VERBS[kind]
    place, gone = _on_site(change, "from" if kind.destroys else "to"), _on_site(change, "from")
    is_back = f"{name} is back{_on_site(change)}"
    was = f"was {'removed' if change.edit.target.service == 'members' else 'deleted'}"
    return Phrases(
        f"{verb.capitalize()} {name}{place}",
        is_back if request.undoes and kind.creates else f"{name} {done}{place}",
        f"{verb.capitalize().removesuffix('e')}ing {name}{place}",
        f"{name} was not {done}{place}",
        is_back if kind.destroys else f"{name} {was}{gone}",
    )


def _access_phrases(change: Change, name: str) -> Phrases:
    to = f"access to {segments_changed(change)}{_on_site(change)}"
    if change.edit.kind is Kind.MEMBER_GRANT:
        return Phrases(
            f"Grant {name} {to}",
            f"{name} has {to}",
            f"Granting {name} {to}",
            f"{name} was not granted {to}",
            f"{name} no longer has {to}",
        )
    return Phrases(
        f"Revoke {name}’s {to}",
        f"{name} no longer has {to}",
        f"Revoking {name}’s {to}",
        f"{name}’s {to} was not revoked",
        f"{name} has {to} again",
    )


def _on_site(change: Change, preposition: str = "on") -> str:
    return f" {preposition} {esc(change.edit.target.site, 60)}" if change.edit.target.site else ""


def segments_changed(change: Change) -> str:
    """The segments that somebody gets or loses, as a channel may see them."""
    had, has = (
        {str(one) for one in (document or {}).get("allowedSegments") or ()}
        for document in (change.edit.before, change.edit.after)
    )
    found = sorted(has - had if change.edit.kind is Kind.MEMBER_GRANT else had - has)
    if not found or len(found) > MAX_SEGMENTS:
        return f"{len(found)} segments" if found else "segments"
    return listed([quoted(all_masked(one), 60) for one in found])


COUNTED: Final = re.compile(r"((?:Undo: )?(?:Switch on|Switch off|Delete)) [\d,]+ rules?")


def _counted(change: Change) -> str:
    """The title of a bulk change, with how many things it has: another try of it may have fewer."""
    found = COUNTED.fullmatch(change.bulk.title)
    return f"{found[1]} {plural(change.bulk.size, 'rule')}" if found else change.bulk.title


OFFBOARDING: Final = re.compile(r"(?:Undo: )?Remove .+ from every site", re.DOTALL)


def is_offboarding(change: Change) -> bool:
    """Whether *change* is an offboarding or its undo: it has more items than people, one for each site."""
    return OFFBOARDING.fullmatch(change.bulk.title) is not None


def plain_title(change: Change) -> str:
    """What is asked, without code: ``Switch off “Old shop”``, ``Change the destination of “Old shop”``."""
    return request_title(change).replace("`", "")


def request_title(change: Change) -> str:
    """The same for bold text, which the stars of a masked email would end if it were no code."""
    return phrases(change).request


UNDO: Final = "Undo: "
BULK: Final = (
    ("Switch on ", "", "{0} switched on", "Switch {0} off again", "{0} switched off again"),
    ("Switch off ", "", "{0} switched off", "Switch {0} back on", "{0} switched back on"),
    ("Delete ", "", "{0} deleted", "Restore {0}", "{0} restored"),
    (
        "Remove ",
        " from every site",
        "{0} removed from every site",
        "Put {0} back on all their sites",
        "{0} put back on all their sites",
    ),
    ("Remove ", "", "{0} removed", "Put {0} back", "{0} put back"),
    ("Change the email of ", "", "Email of {0} changed", "Change the email of {0} back", "Email of {0} changed back"),
    ("Import ", " from ", "{0} imported from {1}", "Undo the import from {1}", "Import from {1} undone"),
    ("Grant ", " to ", "{0} granted to {1}", "Revoke {0} from {1} again", "{0} revoked from {1} again"),
    ("Revoke ", " from ", "{0} revoked from {1}", "Grant {0} to {1} again", "{0} granted to {1} again"),
)
"""How the title of a bulk change begins, what is in the middle of it, and then: what it is called once done, what its undo is
called, and what that is once done."""


def _bulk_phrases(change: Change) -> Phrases:
    title = _counted(change)
    plain = title.removeprefix(UNDO)
    undo, done, undone = f"{UNDO}{plain}", f"{plain}: done", f"Undone: {plain}"
    for begins, middle, *templates in BULK:
        if plain.startswith(begins) and middle in plain:
            rest = plain.removeprefix(begins)
            what, _, of = rest.rpartition(middle) if middle else (rest, "", "")
            done, undo, undone = (template.format(what, of) for template in templates)
            break
    request, done, undone = (undo, undone, done) if title.startswith(UNDO) else (plain, done, undone)
    request, done, undone = map(_escaped, (request, done, undone))
    return Phrases(request, done, request, f"{request}: {STATES[change.state].word}", undone)


MASKED: Final = re.compile(r"(\S\*{3}@\S+)")


def _escaped(title: str) -> str:
    """The *title* of a bulk change as mrkdwn, with a masked email in it as code."""
    parts = MASKED.split(clip(title, 150))
    return "".join(code(part) if number % 2 else esc(part).replace("`", "") for number, part in enumerate(parts))


def title_of(change: Change, tally: Tally | None = None) -> str:
    """The head of its card: what is asked, or what has come of it; of a bulk change, by the *tally* of its items."""
    said = phrases(change)
    match change.state:
        case State.PROPOSED | State.PLANNED:
            return _waiting_title(change, said.request)
        case State.APPLIED if tally is not None and (partly := _partly(change, tally)):
            return _partly_title(said, tally, partly)
        case State.APPLIED if change.run.undone_by:
            return said.undone
        case State.APPLIED if change.run.revert_failure and tally is None:
            head, _ = REVERT_FAILURES[change.run.revert_failure]
            return head.format(request=said.request, done=said.done)
        case State.APPLIED:
            return said.done + (until(change) if change.is_temporary else "")
        case State.APPROVED if change.run.waits and tally is None:
            return f"{said.request}: waiting for the service"
        case State.APPROVED | State.APPLYING:
            return f"{said.under_way}: stopping…" if change.run.stopped_by else f"{said.under_way}…"
        case State.UNKNOWN | State.UNSETTLED:
            return f"{said.under_way}: {STATES[change.state].word}"
        case State.FAILED | State.STALE | State.CANCELLED | State.DENIED | State.EXPIRED:
            is_plan = change.state is State.CANCELLED and change.request.starts_at is not None
            return f"{said.request}: plan withdrawn" if is_plan else said.not_done


def _partly(change: Change, tally: Tally) -> str:
    """How much of a bulk change is done, or that it was undone, where that is not all of it; else nothing."""
    if change.run.undone_by:
        return "" if tally[Outcome.UNDONE] == tally.meant else "undone"
    done, unclear = tally.of(DONE), tally[Outcome.UNKNOWN]
    more = f", {unclear:,} not confirmed yet" if unclear else ""
    return f"{done:,} of {tally.meant:,} done{more}" if done < tally.meant else ""


def _partly_title(said: Phrases, tally: Tally, partly: str) -> str:
    """``2 of 3 rules switched off``, where the title counts what it is about; else what was asked, and how much of it is done."""
    if said.done.startswith(f"{tally.meant:,} ") and partly.startswith(f"{tally.of(DONE):,} of "):
        done, _, unclear = partly.partition(" done")
        return f"{said.done.replace(f'{tally.meant:,}', done, 1)}{unclear}"
    return f"{said.request}: {partly}"


def is_switched(edit: Edit) -> str | None:
    """Return ``on`` or ``off`` where *edit* changes only that."""
    lines = differences(edit.before, edit.after) if edit.kind in EDITS else []
    if [line.field for line in lines] != ["status"]:
        return None
    return {"Active": "on", "Inactive": "off"}.get(str(lines[0].after))


def _fields(change: Change) -> str:
    """The fields that an edit changes, as people call them; how many, where there are too many for a title."""
    names = list(dict.fromkeys(line_name(line) for line in field_changes(change.edit)))
    if not names or len(names) > MAX_FIELDS:
        return f"{len(names)} fields" if names else "nothing"
    return f"the {listed([esc(name, 60) for name in names])}"


def subject(change: Change) -> str:
    """What *change* is about by its name, or a masked email, as a channel may see it."""
    if change.edit.target.service in {"rules", "groups"}:
        return quoted(named) if (named := change.edit.name or change.edit.target.key) else "a rule"
    return _shown_name(change) or code(masked(change.edit.target.key or ""))


def _shown_name(change: Change) -> str:
    """The name of a member, where it is one and no email."""
    name = change.edit.name
    return esc(name, 80) if name and "@" not in name else ""
