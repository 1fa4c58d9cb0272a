"""Words for what happened: to a change, at a service, in Slack, or in Gatehouse itself."""

from __future__ import annotations

from typing import Final

from bot.changes.freezing import Frozen, LiftRequested, NoFreeze
from bot.changes.model.states import LIVE, State
from bot.changes.proposals import NothingToDo
from bot.changes.refusals import (
    AlreadyDecided,
    AlreadyRequested,
    ApprovalWaits,
    EndsBeforeStart,
    LookFirst,
    MoreMustAgree,
    NothingComesBack,
    NotPlanned,
    NotTemporary,
    NotUndoable,
    NotYours,
    OldEmailGone,
    PolicyTightened,
    TimeIsPast,
    TooManyRequests,
    UnknownChange,
    Unrecorded,
)
from bot.clients import errors as client
from bot.clients.lists import Incomplete
from bot.policy.limits import StillRunning, TooFast
from bot.policy.model import ReasonRequired
from bot.store.db import CommitUnknown, StoreError, TargetBusy, UnreadableRow
from bot.text.times import duration_words
from handlers.blocks.messages import as_sentence, clock_time, code, esc, plural
from handlers.changes.freeze_view import frozen_words, scope_in_sentence
from handlers.changes.list_view import RowFacts, row
from handlers.changes.people import lost_right_clause
from handlers.changes.subject import THINGS
from handlers.changes.times import when
from handlers.changes.titles import STATES, request_title, title_of
from handlers.errors import Table, Words
from handlers.gatehouse.commands import (
    GatehouseFreezes,
    GatehouseInspect,
    GatehousePending,
    GatehouseStatus,
)
from handlers.slack.client import SlackRefused, SlackUnreachable


def _already_decided_words(error: AlreadyDecided) -> Words:
    if error.change.state is State.PROPOSED:
        return Words("You already approved this.", next="Someone else has to approve it, too.", unchanged=None)
    standing = row(error.change, RowFacts(), public=True)
    return Words(f"*This no longer waits for a decision.*\n{standing}", unchanged=None)


def _already_requested_words(error: AlreadyRequested) -> Words:
    standing = row(error.change, RowFacts(), public=True)
    return Words(
        f"*This was already requested.*\n{standing}",
        next="Its card is further up in this channel.",
        unchanged=None,
        again={"Details": GatehouseInspect(error.change.id)},
    )


def _approval_waits_words(error: ApprovalWaits) -> Words:
    return Words(
        f"Your approval counts, but {lost_right_clause(error.user, error.why)}.",
        next="Someone else has to approve it, too."
        if error.user != error.change.request.requester
        else "Someone who may do it has to request it again.",
        unchanged=None,
    )


def _not_temporary_words(error: NotTemporary) -> Words:
    name = f"*{request_title(error.change)}*"
    if error.change.is_temporary:
        ends = when(error.change.request.reverts_at)
        return Words(
            f"{name} is being reverted, or its end was just moved, to {ends}.", next="See its card.", unchanged=None
        )
    return Words(f"{name} is no longer temporary.", unchanged=None)


def _busy_words(error: TargetBusy) -> Words:
    other = error.change
    thing = "one of these" if other.is_bulk else f"this {THINGS.get(other.edit.target.service, 'thing')}"
    return Words(
        f"Another change to {thing} is still open: *{request_title(other)}*, by <@{other.request.requester}>.",
        next="Gatehouse still checks whether it took effect. Try again once its card says so."
        if other.state is State.UNKNOWN
        else "It is under way. Try again once its card says how it ended.",
        again={"Show pending": GatehousePending()},
    )


def _not_undoable_words(error: NotUndoable) -> Words:
    name = f"*{request_title(error.change)}*"
    if error.change.run.undone:
        return Words(f"{name} was already undone.", next="To do it again, press *Request again* on its card.")
    if error.change.request.undoes and error.change.state is State.APPLIED:
        again = "To have it as it was before, press *Request again* on the card of what was undone."
        return Words(f"That is undone already: *{title_of(error.change)}*.", next=again)
    state = error.change.state
    yet = " yet" if state in LIVE or state is State.UNKNOWN else ""
    older = "" if yet else "To undo something older, press *Undo* on its card."
    return Words(f"{name} can’t be undone{yet}: it {STATES[state].clause}.", next=older)


STATUS: Final = GatehouseStatus()


def _client_error_words(error: client.ClientError) -> Words:
    """Return a clear no of a service, in its own words."""
    return Words(f"The {error.service} service refused: {as_sentence(esc(str(error)) or 'it gave no reason')}")


AGAIN: Final = "Try again in a moment."
REFUSED: Final = "Slack refused the answer"
REFUSED_FOR: Final = {
    "file_upload_size_restricted file_uploads_disabled file_uploads_except_images_disabled file_type_not_allowed"
    " storage_limit_reached": (
        "Slack didn’t accept the file",
        "It is too large, or this workspace doesn’t allow such files. Narrow it with filters, or ask a workspace admin.",
    ),
    "expired_trigger_id exchanged_trigger_id invalid_trigger_id": ("The form took too long to open", "Try again."),
    "invalid_arguments invalid_blocks view_too_large msg_too_long msg_blocks_too_long": (
        "Slack couldn’t display the answer",
        "Try a narrower filter, or one thing at a time.",
    ),
    "channel_not_found not_in_channel is_archived user_not_in_channel": (
        "Gatehouse can’t write to this channel",
        "Invite it with `/invite @Gatehouse`, or use another channel.",
    ),
    "ratelimited team_added_to_org": (REFUSED, AGAIN),
}
"""What it comes to that Slack refuses something, and what to do, by the error codes that say so."""
SLACK_REFUSALS: Final = {each: words for codes, words in REFUSED_FOR.items() for each in codes.split()}


def _slack_refused_words(error: SlackRefused) -> Words:
    if error.code == "missing_scope":
        what = f"The Slack app lacks the scope {code(error.needed) if error.needed else 'for this'}."
        return Words(what, next="Ask your Gatehouse admin to reinstall it from the current manifest.", unchanged=None)
    other = REFUSED, AGAIN if error.is_away else "Tell your Gatehouse admin what Slack said."
    what, then = SLACK_REFUSALS.get(error.code, other)
    return Words(f"{what} ({code(error.code)}).", next=then, unchanged=None)


def _too_fast_words(error: TooFast) -> Words:
    rate = error.rate
    span = {60: "this minute", 3600: "this hour"}.get(rate.seconds, f"these {duration_words(rate.seconds)}")
    number, unit = (error.seconds, "second") if error.seconds < 120 else (-(-error.seconds // 60), "minute")
    return Words(
        f"You have used your {rate.per_person} {rate.what} for {span}.",
        next=f"Try again in {plural(number, unit)}. You can still approve, deny, withdraw and undo.",
    )


OUTCOME_WORDS: Final[Table] = {
    NothingToDo: lambda _: Words("Nothing left to do.", "All of it is done, or its target is gone."),
    TargetBusy: _busy_words,
    TooManyRequests: lambda e: Words(
        f"You already have {plural(e.count, 'pending request')}.",
        next="Withdraw one, or wait until one is decided.",
        again={"Show pending": GatehousePending()},
    ),
    Unrecorded: lambda e: Words(
        f"Under way: *{request_title(e.change)}*.",
        "Gatehouse’s database failed before it could record the outcome.",
        "Its card will say what became of it. Don’t request it again.",
        unchanged=None,
    ),
    UnknownChange: lambda _: Words(
        "Gatehouse has no record of that change.", "The card is from another installation, or its record was deleted."
    ),
    AlreadyDecided: _already_decided_words,
    AlreadyRequested: _already_requested_words,
    NotYours: lambda error: Words(
        f"Only <@{error.change.request.requester}> can decide this: it is their request.", next="Ask them."
    ),
    PolicyTightened: lambda _: Words(
        "The policy has become stricter since this was requested.",
        next="The card shows who must approve it now. If nobody can, withdraw it and request it again.",
    ),
    ApprovalWaits: _approval_waits_words,
    MoreMustAgree: lambda e: Words(
        f"*{request_title(e.change)}* needs {e.change.decision.approvals_needed} approvals, so nobody can change its end alone.",
        next="Let it revert, or revert it now, and request it again with the end that you want.",
    ),
    Frozen: lambda e: frozen_words(e.freeze),
    ReasonRequired: lambda e: Words(
        f"This needs a reason{f': {esc(e.hint, 200)}' if e.hint else ''}.",
        next="Give it after `because`, or in the field *Why* of a form.",
    ),
    NoFreeze: lambda _: Words(
        "No freeze is called that, or it is over.",
        next="A freeze in the policy is lifted in the policy file.",
        again={"List freezes": GatehouseFreezes()},
    ),
    LiftRequested: lambda e: Words(
        f"You already asked to lift the freeze of {scope_in_sentence(e.freeze)}.",
        next="Someone else has to agree.",
        unchanged=None,
    ),
    OldEmailGone: lambda e: Words(
        f"*{request_title(e.change)}* can’t be undone: the old email is gone, so the member would have neither.",
        next="Undo the removal of the old email first.",
    ),
    NothingComesBack: lambda e: Words(
        f"*{request_title(e.change)}* can’t be undone: what it took away was temporary, and would have ended.",
        next="To have it back, request it again with a new end.",
    ),
    NotUndoable: _not_undoable_words,
    NotTemporary: _not_temporary_words,
    LookFirst: lambda e: Words(
        "The card doesn’t show all of this change.",
        next="Open *Details*, then decide on the card.",
        again={"Details": GatehouseInspect(e.change.id)},
    ),
    client.NotFound: lambda e: Words(
        f"The {e.service} service has no such entry.", "It was deleted, or the id has a typo."
    ),
    client.BadIdentifier: lambda e: Words(
        f"{code(e.value)} can’t be {esc(e.what)}: it has characters that aren’t allowed there.",
        next="Use the id or the name from a list.",
    ),
    client.Unauthorized: lambda e: Words(
        f"The {e.service} service rejected Gatehouse’s key: {esc(str(e) or 'Unauthorized')}.",
        "The key is wrong, or the rule belongs to another key."
        if e.service == "rules"
        else "The key is wrong, or not valid for this site (MEMBERS_API_KEYS).",
        "Ask your Gatehouse admin to check it.",
    ),
    client.RateLimited: lambda e: Words(
        f"The {e.service} service is not available for a while (503)."
        if e.status == client.UNAVAILABLE
        else f"The {e.service} service is rate-limiting Gatehouse ({e.status}).",
        next=f"It accepts requests again at {clock_time(e.until)}."
        if e.until and e.retry_after
        else "Try again in a minute.",
    ),
    client.Unsendable: lambda e: Words(
        f"Gatehouse can’t send this to the {e.service} service: {as_sentence(esc(str(e)))}"
    ),
    client.Failing: lambda e: Words(
        f"The {e.service} service answers with an error ({e.status}).",
        "The service, or a gateway in front of it, is broken.",
        "Try again in a moment.",
        again={"Check status": STATUS},
    ),
    client.Unreachable: lambda e: Words(
        f"The {e.service} service doesn’t answer.",
        "The service or the network to it is down.",
        "Try again in a moment.",
        again={"Check status": STATUS},
    ),
    client.WrongAddress: lambda e: Words(
        f"The {e.service} service has nothing at the URL that Gatehouse requested (404).",
        f"It answered: {as_sentence(esc(str(e)))} "
        + ("RULES_BASE_URL" if e.service == "rules" else "MEMBERS_BASE_URL or the site’s id in MEMBERS_SITES")
        + " is wrong, or a gateway in front of the service answered.",
        "Ask your Gatehouse admin to run `python -m bot check --online`"
        + (", or to set MEMBERS_EMPTY_TEXT if the site has no members yet." if e.service == "members" else "."),
        again={"Check status": STATUS},
    ),
    client.UnreadableRecord: lambda e: Words(
        f"Gatehouse can’t read this rule: {as_sentence(esc(str(e)))}", next="Correct it where it was made."
    ),
    client.Unreadable: lambda e: Words(
        f"Gatehouse can’t read the answer of the {e.service} service: {as_sentence(esc(str(e)))}",
        next="Try again. If it keeps happening, tell the people who run the service.",
    ),
    client.TooLarge: lambda e: Words(
        f"The {e.service} service sent a larger answer than Gatehouse accepts.",
        next="Your Gatehouse admin can raise SERVICE_MAX_BYTES.",
    ),
    Incomplete: lambda e: Words(
        f"The {e.service} service returned only part of its list. {esc(e.gap.sentence('records'))}",
        "The missing part could change the answer.",
        "Try again. If it keeps happening, tell the people who run the service. Naming things by id still works.",
    ),
    client.OutcomeUnknown: lambda e: Words(
        f"The {e.service} service gave no clear answer ({esc(str(e))}). It may or may not have been done.",
        next="Check it before you try again.",
        unchanged=None,
    ),
    client.ClientError: _client_error_words,
    SlackRefused: _slack_refused_words,
    SlackUnreachable: lambda _: Words("Slack doesn’t answer.", next="Try again in a moment.", unchanged=None),
    TooFast: _too_fast_words,
    StillRunning: lambda e: Words(
        f"Your last {code(e.what)} is still running.", next="Wait for its result.", unchanged=None
    ),
    TimeIsPast: lambda e: Words(
        f"{code(e.time)} is in the past, or passed while Gatehouse restarted.",
        next="Request it again with a later time.",
    ),
    NotPlanned: lambda e: Words(
        f"*{request_title(e.change)}* {STATES[e.change.state].clause}, and no longer planned.", unchanged=None
    ),
    EndsBeforeStart: lambda _: Words("It would end before it starts.", next="Choose a later end, or an earlier start."),
    CommitUnknown: lambda _: Words(
        "Gatehouse’s database gave no clear answer, so this may still be done.",
        next="Wait for its card. If there is none after five minutes, check what is there before you try again.",
        unchanged=None,
        again={"Show pending": GatehousePending()},
    ),
    UnreadableRow: lambda e: Words(
        f"Gatehouse can’t read its record of {e.record}.",
        "Nothing is done about it until the record is repaired.",
        "Tell your Gatehouse admin; the log has it as unreadable_row.",
    ),
    StoreError: lambda _: Words(
        "Gatehouse’s database rejected the request.",
        "It may be full, locked or down.",
        "Try again in a minute. If it keeps happening, tell your Gatehouse admin.",
    ),
    Exception: lambda _: Words(
        "Something went wrong in Gatehouse.",
        "This is a bug, not something you did.",
        "Tell your Gatehouse admin the reference below.",
        unchanged=None,
    ),
}
