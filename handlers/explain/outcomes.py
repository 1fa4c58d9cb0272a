"""Words for what happened: to a change, at a service, in Slack, or in Gatehouse itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.changes.model import State
from bot.changes.proposals import NothingInSet
from bot.changes.refusals import (
    AlreadyDecided,
    NothingToReview,
    NotTemporary,
    NotUndoable,
    NotYours,
    PolicyTightened,
    TooManyQuestions,
    TooManyRequests,
    UnknownChange,
)
from bot.clients import errors as client
from bot.clients.lists import Incomplete
from bot.policy.limits import StillRunning, TooFast
from bot.store.db import StoreError, TargetBusy
from bot.store.settings import SettingsMoved
from bot.store.tables import NewerRelease
from handlers.blocks.messages import clock_time, code, esc, plural
from handlers.changes.card_view import label
from handlers.changes.sentences import WORDS as WORDS_OF_STATES
from handlers.errors import (
    BadFilter,
    EditedMessage,
    EndIsFar,
    EndIsPast,
    GivenUp,
    LookFirst,
    NothingInMessage,
    NothingPicked,
    NothingToChange,
    NothingToUndo,
    NoTrigger,
    OldButton,
    OldCard,
    Table,
    Words,
)
from handlers.gatehouse.commands import GatehouseInspect, GatehousePending
from handlers.grammar.command import slash
from handlers.slack.client import SlackRefused, SlackUnreachable

STANDS: Final = {
    State.APPROVED: "approved",
    State.APPLYING: "approved, and is being done",
    State.APPLIED: "approved and done",
    State.DENIED: "denied",
    State.CANCELLED: "withdrawn",
    State.EXPIRED: "expired",
}


def _already(error: AlreadyDecided) -> Words:
    change = error.change
    by = f" by <@{change.decided_by}>" if change.decided_by else ""
    moment = change.decided_at
    at = f" <!date^{int(moment.timestamp())}^at {{time}}|at {moment:%H:%M} UTC>" if moment else ""
    if change.state is State.PROPOSED:
        return Words("You have approved this already; it waits for somebody else.", unchanged=None)
    return Words(f"Already {STANDS.get(change.state, f'settled: {change.state}')}{by}{at}.", unchanged=None)


def _not_yours(error: NotYours) -> Words:
    change = error.change
    if change.glass_broken:
        return Words("Whoever acted alone cannot sign it too.", next="Somebody else who may approve has to.")
    return Words(f"Only <@{change.requester}> can settle this: it is their request.", next="Ask them.")


def _not_temporary(error: NotTemporary) -> Words:
    name = f"Change `{error.change.id[:8]}`"
    if error.change.temporary:
        return Words(
            f"{name} is being reverted, or its end was just changed.", next="Look at its card.", unchanged=None
        )
    return Words(f"{name} is no longer temporary.", unchanged=None)


def _busy(error: TargetBusy) -> Words:
    other = error.change
    return Words(
        f"Another change of the same target is under way (`{other.id[:8]}`, {other.state}, by <@{other.requester}>).",
        next="Finish or withdraw that one on its card, then ask again.",
    )


MAX_NAMED: Final = 10


def _listed(titles: Sequence[str]) -> str:
    """The *titles*, as the subject of a sentence, with its verb."""
    named = [f"*{esc(title, 150)}*" for title in titles[:MAX_NAMED]]
    named += [f"{len(titles) - MAX_NAMED:,} more"] * (len(titles) > MAX_NAMED)
    return f"{', '.join(named[:-1])} and {named[-1]} are" if len(named) > 1 else f"{named[0]} is"


CHANGE_WORDS: Final[Table] = {
    NothingToChange: lambda e: Words(f"{_listed(e.titles)} already {esc(e.status) if e.status else 'as you asked'}."),
    NothingInSet: lambda _: Words(
        "There is nothing left to do.", "What was to be done is done, or its target is gone."
    ),
    TargetBusy: _busy,
    TooManyRequests: lambda e: Words(
        f"{'This channel has' if e.channel else 'You have'} {e.count} requests waiting for a decision.",
        next="Withdraw one or wait until one is decided.",
        again={"Show what waits": GatehousePending()},
    ),
    TooManyQuestions: lambda e: Words(
        f"This request has {len(e.change.questions)} questions already.",
        next="Write in the thread of its card.",
        unchanged=None,
    ),
    NewerRelease: lambda _: Words(
        "A newer release of Gatehouse recorded this change, and this one can't act on it.",
        "Gatehouse is being updated, or was put back to an older release.",
        "Try again in some minutes. If that doesn't help, ask your Gatehouse admin to finish the update.",
    ),
    UnknownChange: lambda _: Words(
        "Gatehouse has no record of that change.", "The card is from another installation, or its record was deleted."
    ),
    AlreadyDecided: _already,
    NotYours: _not_yours,
    PolicyTightened: lambda _: Words(
        "The policy is stricter now than when this was requested.",
        next="The card says who must approve it now. If nobody can, withdraw it and ask again.",
    ),
    NotUndoable: lambda e: Words(
        f"Change `{e.change.id[:8]}` has already been undone."
        if e.change.undone_by
        else f"Change `{e.change.id[:8]}` can’t be undone: only a change that was applied can. "
        f"State of this one: {WORDS_OF_STATES[e.change.state]}."
    ),
    NothingToUndo: lambda e: Words(
        f"No change has the reference {code(e.asked)}." if e.asked else "You have no change in this channel to undo.",
        next=f"Press *Undo* on its card, or take the reference from there: `{slash('gatehouse undo 1a2b3c4d')}`.",
    ),
    NotTemporary: _not_temporary,
    NothingToReview: lambda e: Words(f"Change `{e.change.id[:8]}` has already been reviewed.", unchanged=None),
    LookFirst: lambda e: Words(
        "This card doesn’t show everything. Look at the full change first.",
        next="Then decide on the card.",
        again={label(e.change): GatehouseInspect(e.change.id)},
    ),
    OldCard: lambda e: Words(
        "That message no longer speaks for its change.",
        next=f"Use the newer one: {e.link}" if e.link else "Use the newer one, a moment from now, in the channel.",
    ),
}


SERVICE_WORDS: Final[Table] = {
    client.NotFound: lambda e: Words(
        f"The {e.service} service has no such entry.", "It was deleted, or the id has a typo."
    ),
    client.BadIdentifier: lambda e: Words(
        f"{code(e.value)} cannot be {esc(e.what)}.",
        "It holds characters that are not allowed there.",
        "Use the id or the name from a list.",
    ),
    client.Unauthorized: lambda e: Words(
        f"The {e.service} service says: {esc(str(e) or 'Unauthorized action')}.",
        "The rule belongs to another key, or Gatehouse's key is wrong."
        if e.service == "rules"
        else "Gatehouse's key is wrong, or not for this site (MEMBERS_API_KEYS).",
        "Ask whoever runs Gatehouse to check the key.",
    ),
    client.RateLimited: lambda e: Words(
        f"The {e.service} service is busy and refused for now.",
        "Too many requests.",
        f"It takes requests again at {clock_time(e.until)}." if e.until and e.retry_after else "Try again in a minute.",
    ),
    client.Unreachable: lambda e: Words(
        f"The {e.service} service is not answering.",
        "It is down, or the network to it is.",
        f"Try again in a moment; `{slash('gatehouse status')}` looks again.",
    ),
    client.Unreadable: lambda e: Words(
        f"The {e.service} service answered with something that cannot be read.",
        "A proxy's page, or a fault of the service.",
        "Try again; if it stays so, tell whoever runs the service.",
    ),
    client.TooLarge: lambda e: Words(
        f"The answer of the {e.service} service is larger than Gatehouse reads.",
        next="Whoever runs Gatehouse can raise SERVICE_MAX_BYTES.",
    ),
    Incomplete: lambda e: Words(
        f"The {e.service} service did not give its whole list. {esc(e.gap.sentence('records'))}",
        "What you asked for needs the rest, too: something may be in it that would change the answer.",
        "Try again. If it stays so, tell whoever runs the service; what you name by its id still works.",
    ),
    client.OutcomeUnknown: lambda e: Words(
        f"The {e.service} service gave no clear answer. It may have happened.",
        next="Look at it before you ask again.",
        unchanged=None,
    ),
    client.ClientError: lambda e: Words(f"The {e.service} service refused: {esc(str(e))}"),
}


NO_UPLOADS: Final = frozenset(
    {
        "file_upload_size_restricted",
        "file_uploads_disabled",
        "file_uploads_except_images_disabled",
        "file_type_not_allowed",
        "storage_limit_reached",
    }
)
"""Slack's words where a workspace does not take a file."""

TRIGGERS: Final = frozenset({"expired_trigger_id", "exchanged_trigger_id", "invalid_trigger_id"})
"""Slack's words where a form was opened too late."""
NO_PLACE: Final = frozenset({"channel_not_found", "not_in_channel", "is_archived", "user_not_in_channel"})
"""Slack's words where the app can't write to a channel."""


TOO_MUCH: Final = frozenset(
    {"invalid_arguments", "invalid_blocks", "view_too_large", "msg_too_long", "msg_blocks_too_long"}
)
"""Slack's words for what is more than it shows."""


def _slack_refused(error: SlackRefused) -> Words:
    if error.code == "missing_scope":
        return Words(
            f"Slack refused: the app lacks the scope {code(error.needed) if error.needed else 'for this'}.",
            "It was installed before Gatehouse needed that.",
            "Ask whoever runs Gatehouse to install the app again with the present manifest.",
            unchanged=None,
        )
    if error.code in NO_UPLOADS:
        return Words(
            f"Slack did not take the file ({code(error.code)}).",
            "It is too large, or the workspace does not allow such files.",
            "Ask for less of it at once, or ask an admin of the workspace.",
            unchanged=None,
        )
    if error.code in TRIGGERS:
        return Words(
            "Slack gives Gatehouse 3 seconds to open a form, and they were over.", next="Try again.", unchanged=None
        )
    if error.code in TOO_MUCH:
        what = f"This is more than Slack shows at once ({code(error.code)})."
        return Words(what, next="Ask for less of it, or for one thing at a time.", unchanged=None)
    cause = "Gatehouse may be missing from the channel." if error.code in NO_PLACE else ""
    return Words(f"Slack refused the answer ({code(error.code)}).", cause, unchanged=None)


SLACK_WORDS: Final[Table] = {
    SlackRefused: _slack_refused,
    SlackUnreachable: lambda _: Words("Slack did not answer Gatehouse.", next="Try again in a moment.", unchanged=None),
    OldButton: lambda _: Words(
        "That button is from an older version of Gatehouse.",
        next="Ask again with the command; the new answer has new buttons.",
    ),
    NothingInMessage: lambda e: Words(
        f"There is no {esc(e.what)} in that message.",
        next=f"Write it with the command: `{slash('gatehouse help')}` lists them.",
        unchanged=None,
    ),
    NothingPicked: lambda _: Words(
        "That line only said that nothing could be read just now.", next="Type again to look again.", unchanged=None
    ),
    EditedMessage: lambda _: Words(
        "You edited your message, and an edit must not do again what was done.",
        next="Write it as a new message.",
        unchanged=None,
    ),
    NoTrigger: lambda _: Words("Slack gave no way to open a form here.", next="Type the command in a channel."),
}


def _too_fast(error: TooFast) -> Words:
    rate = error.rate
    span = "minute" if rate.seconds == 60 else "hour"
    who = f"This channel has used its {rate.per_channel}" if error.channel else f"You have used your {rate.per_person}"
    number, unit = (error.seconds, "second") if error.seconds < 120 else (-(-error.seconds // 60), "minute")
    return Words(
        f"{who} {rate.what} for this {span}.",
        next=f"Try again in {plural(number, unit)}. You can still approve, deny, withdraw and undo.",
    )


GATEHOUSE_WORDS: Final[Table] = {
    TooFast: _too_fast,
    StillRunning: lambda e: Words(
        f"Your last {code(e.what)} is still running.", next="Wait for its answer.", unchanged=None
    ),
    SettingsMoved: lambda _: Words(
        "Somebody else changed what this channel has set, after you opened the form.",
        next=f"Look with `{slash('gatehouse settings')}` how it is now.",
    ),
    BadFilter: lambda e: Words(
        esc(e.words), next=f"As in `{slash('gatehouse audit who:@anna since:24h')}`.", unchanged=None
    ),
    EndIsPast: lambda e: Words(
        f"{code(e.end)} is over: it was in the past already, or Gatehouse was restarted before it could do this.",
        next="Ask again with a later time.",
    ),
    EndIsFar: lambda e: Words(
        f"{code(e.end)} is more than a year ahead.",
        next="Choose an earlier time, or leave it out and switch it yourself.",
    ),
    GivenUp: lambda _: Words(
        "Gatehouse began on this many times and was stopped each time, so it has given up.",
        "Something about the request may be what stops it.",
        f"See on the card, or with `{slash('gatehouse pending')}`, how it stands, before you ask again.",
        unchanged=None,
    ),
    StoreError: lambda _: Words(
        "Gatehouse's own database did not take the request.",
        "It is full, locked or away.",
        "Try again in a minute; tell whoever runs Gatehouse.",
    ),
    Exception: lambda _: Words(
        "Something broke on Gatehouse's side.",
        "A fault of ours, not of yours.",
        "Tell whoever runs Gatehouse the reference below.",
        unchanged=None,
    ),
}
