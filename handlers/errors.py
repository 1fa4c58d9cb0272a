"""Every error that a person can meet, and the words for it: the one table.

An answer says what was asked, what was and was not done, the likely cause, the next step, and a reference that
stands in the log too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from bot.access import DirectoryUnavailable, NobodyCanApprove, NotAllowed
from bot.changes.pipeline import (
    AlreadyDecided,
    NothingToReview,
    NotTemporary,
    NotUndoable,
    NotYours,
    UnknownChange,
)
from bot.changes.set_proposals import NothingInSet
from bot.clients import errors as client
from bot.domain.address import NoAddress
from bot.domain.change import State
from bot.domain.checks import BadEmail, Problem
from bot.domain.editing import BadField
from bot.domain.file_text import BadFile
from bot.domain.group import Group
from bot.domain.policy import Irreconcilable, Why
from bot.gatehouse import UnknownSite
from bot.store.channel_settings import SettingsMoved
from bot.store.errors import StoreError, TargetBusy
from handlers.commands import Command, MembersWhy
from handlers.parsers.rest import Unclear
from handlers.refs import NoSuchNumber, NotOne, TooMany
from handlers.reply import Caller
from handlers.sites import SiteGone
from handlers.slack import SlackRefused, SlackUnreachable
from handlers.slackfiles import FileGone, FileTooLarge, FileUnreadable
from handlers.views import problems as views
from handlers.views.import_words import file_words
from handlers.views.parts import Message, code, esc


class NotBuiltYet(Exception):
    """Something of the grammar that this release does not do yet."""

    def __init__(self, what: Command | str) -> None:
        super().__init__(what if isinstance(what, str) else type(what).__name__)
        self.words = what if isinstance(what, str) else f"/{what.service} {what.verb}"


class NothingToChange(Exception):
    """The target is already as it was asked to be. *status*: the rule's, where that was the question."""

    def __init__(self, title: str, status: str | None) -> None:
        super().__init__("nothing to change")
        self.title = title
        self.status = status


class NoGroups(Exception):
    """The rules service has no groups."""


class NotOneGroup(Exception):
    """A name that fits no group, or several; *candidates* are those."""

    def __init__(self, ref: str, candidates: Sequence[Group]) -> None:
        super().__init__(len(candidates))
        self.ref = ref
        self.candidates = tuple(candidates)


class InvalidDraft(Exception):
    """What was asked would make a rule that cannot be right."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(len(problems))
        self.problems = tuple(problems)


class NothingToExport(Exception):
    """No rule, or no member (*what*), is there or passes the filters: a file would be empty."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class NothingToUndo(Exception):
    """No applied change fits what was asked."""

    def __init__(self, asked: str | None) -> None:
        super().__init__(asked)
        self.asked = asked


class NoMember(Exception):
    """Nobody on *site* has this address. *again*: the same command for the sites on which somebody has it."""

    def __init__(self, email: str, site: str, again: Mapping[str, Command] | None = None) -> None:
        super().__init__(site)
        self.email = email
        self.site = site
        self.again = again or {}


class MemberGone(Exception):
    """Whoever a shared card of *site* showed is not there any more."""

    def __init__(self, site: str) -> None:
        super().__init__(site)
        self.site = site


class UnknownSegment(Exception):
    """*site* has no segment of that *name*, as far as is known. *meant*: those like it; *again*: what could be done."""

    def __init__(self, name: str, site: str, meant: Sequence[str], again: Mapping[str, Command]) -> None:
        super().__init__(site)
        self.name = name
        self.site = site
        self.meant = tuple(meant)
        self.again = again


class BadFilter(Exception):
    """A filter that means nothing; *words* say what it should be."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words


class LoopNeedsReason(Exception):
    """A change that would make a loop, without a word on why. *loops*: each in a sentence of plain text."""

    def __init__(self, loops: Sequence[str]) -> None:
        super().__init__("loop")
        self.loops = tuple(loops)


class GivenUp(Exception):
    """A request that was begun many times and never came to its end."""


class OldButton(Exception):
    """A button that this release does not know."""


class OldCard(Exception):
    """A button on a message that no longer speaks for its change. *link* leads to the one that does."""

    def __init__(self, link: str) -> None:
        super().__init__("old card")
        self.link = link


class NothingInMessage(Exception):
    """A message shortcut was used on a message in which *what* it needs does not stand."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class NothingPicked(Exception):
    """Somebody picked the line that says that nothing could be read."""


class EditedMessage(Exception):
    """A message that was changed after it was sent asks for a change."""


class NoTrigger(Exception):
    """A modal was asked for where Slack gave no way to open one."""


@dataclass(frozen=True, slots=True)
class Words:
    """What a person is told: what happened, what that means, what to do now. All mrkdwn, escaped."""

    what: str
    cause: str = ""
    next: str = ""
    unchanged: bool | None = True
    """Whether nothing was changed for sure; None where that is not the question, or not known."""
    again: Mapping[str, Command] = field(default_factory=dict)
    """What could be done instead: the label of a button -> its command."""


def _problem_lines(problems: Sequence[Problem]) -> str:
    return "\n".join(f"• {f'Pair {one.pair}: ' if one.pair else ''}{esc(one.words)}" for one in problems)


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


WHY_NOT: Final = {
    Why.UNKNOWN: ("Slack does not say who you are.", "Ask a workspace admin to look at your account."),
    Why.DEACTIVATED: ("That account is deactivated.", ""),
    Why.BOT: ("Apps and workflows may not do this.", "A person has to ask."),
    Why.GUEST: ("Guests of the workspace may not use Gatehouse.", "Ask a full member."),
    Why.STRANGER: ("Only members of this workspace may use Gatehouse.", "Ask one of them."),
    Why.SHARED_CHANNEL: (
        "Changes are not taken in a channel that is shared with another company.",
        "Ask in a channel of your own workspace.",
    ),
    Why.DIRECT_MESSAGE: (
        "Changes are not taken in a direct message: others must be able to see them.",
        "Ask in a channel that Gatehouse is in.",
    ),
    Why.NOT_ADDED: (
        "Gatehouse takes changes only in channels that it was added to.",
        "Add it with `/invite @Gatehouse`, or ask in a channel that it is in.",
    ),
    Why.OTHER_CHANNEL: ("The policy does not take changes in this channel.", "Ask in {channels}."),
    Why.NO_ROLE: ("None of your roles allows this.", "Ask {roles}; `/gatehouse whoami` says what you may do."),
    Why.OWN_REQUEST: (
        "You asked for this, so somebody else has to approve it.",
        "Withdraw it if you changed your mind.",
    ),
    Why.NOT_HERE: ("Only people of this channel may approve.", "Join the channel first."),
}


def _not_allowed(error: NotAllowed) -> Words:
    what, then = WHY_NOT[error.why]
    roles = f"somebody with the role {' or '.join(map(esc, error.roles))}" if error.roles else "whoever runs Gatehouse"
    return Words(what, next=then.format(roles=roles, channels="a channel that `/gatehouse whoami` names"))


def _nobody(error: NobodyCanApprove) -> Words:
    needed = "one approval" if error.needed == 1 else f"{error.needed} approvals"
    there = {0: "nobody here", 1: "only one person here"}.get(error.found, f"only {error.found} people here")
    roles = f"People with the role {' or '.join(map(esc, error.roles))} can." if error.roles else ""
    return Words(
        f"This needs {needed}, and {there} can give it.",
        roles,
        "Ask in a channel where they are, or add them to this one.",
    )


def _not_yours(error: NotYours) -> Words:
    change = error.change
    if change.glass_broken:
        return Words("Whoever acted alone cannot sign it too.", next="Somebody else who may approve has to.")
    return Words(f"Only <@{change.requester}> can settle this: it is their request.", next="Ask them.")


def _no_member(error: NoMember) -> Words:
    found = f" On {_names(error.again)} somebody has." if error.again else ""
    again: dict[str, Command] = {f"On {name}": command for name, command in error.again.items()}
    return Words(
        f"Nobody on *{esc(error.site)}* has the address {code(error.email)}.{found}",
        "" if error.again else "A typo, another address, or another site.",
        "Take the other site." if error.again else "Look for a part of it: `/members list anna`, or add `site:NAME`.",
        again=again | {"Why?": MembersWhy(email=error.email)},
    )


def _unknown_segment(error: UnknownSegment) -> Words:
    return Words(
        f"Unknown segment: {code(error.name, 80)}. No member of *{esc(error.site)}* has it and no setting names it.",
        f"A typo of {_names(error.meant)}, or a segment that is new." if error.meant else "A typo, or a new segment.",
        "Segments are made in the site's dashboard, not here. If it is there and nobody has it yet, "
        "name it in `/gatehouse settings`.",
        again=error.again,
    )


def _site_gone(error: SiteGone) -> Words:
    return Words(
        f"This channel's default site was {code(error.gone, 60)}, and that is not set up any more.",
        next=f"Add one of {', '.join(code(f'site:{name}', 60) for name in error.known)}, "
        "or choose another in `/gatehouse settings`.",
    )


def _names(names: Iterable[str]) -> str:
    return " or ".join(code(name, 60) for name in names)


def _busy(error: TargetBusy) -> Words:
    other = error.change
    return Words(
        f"Another change of the same target is under way (`{other.id[:8]}`, {other.state}, by <@{other.requester}>).",
        "Two changes of one thing at a time could undo each other.",
        "Settle the first one on its card, then ask again.",
    )


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
    return Words(
        f"Slack refused the answer ({code(error.code)}).", "Gatehouse may be missing from the channel.", unchanged=None
    )


def _megabytes(size: int) -> str:
    return f"{size / 1024 / 1024:,.1f} MB"


WORDS: dict[type[Exception], Callable[[Any], Words]] = {
    NotBuiltYet: lambda e: Words(
        f"{code(e.words)} is understood, but not built yet.", next="`/gatehouse help` lists what works today."
    ),
    NothingToChange: lambda e: Words(
        f"*{esc(e.title)}* is already {esc(e.status)}." if e.status else f"*{esc(e.title)}* is already as you asked."
    ),
    NoGroups: lambda _: Words("This rules service has no groups.", next="`/rules list` shows its rules."),
    NotOneGroup: lambda e: Words(
        f"{code(e.ref)} fits {len(e.candidates)} groups: "
        + ", ".join(f"*{esc(group.title, 60)}* ({code(group.id, 60)})" for group in e.candidates[:8])
        if e.candidates
        else f"No group is called {code(e.ref)}.",
        next="Name it by its id; `/rules groups` lists them.",
    ),
    InvalidDraft: lambda e: Words(
        f"That would not be a working rule:\n{_problem_lines(e.problems)}", next="Put that right and ask again."
    ),
    BadField: lambda e: Words(esc(e.words)),
    NoAddress: lambda e: Words(
        f"That is {esc(str(e))}.", next="Write it like `https://shop.example.com/old`.", unchanged=None
    ),
    BadEmail: lambda e: Words(
        f"That is not an e-mail address: {esc(str(e))}", next="Write it like `anna@example.com`."
    ),
    NoMember: _no_member,
    UnknownSegment: _unknown_segment,
    MemberGone: lambda e: Words(
        f"Whoever this card showed is not on *{esc(e.site)}* any more, or Gatehouse's key changed since.",
        next="Ask whoever shared it for the address.",
        unchanged=None,
    ),
    SiteGone: _site_gone,
    SettingsMoved: lambda _: Words(
        "Somebody else changed what this channel has set, after you opened the form.",
        next="Look with `/gatehouse settings` how it is now.",
    ),
    NothingToExport: lambda e: Words(
        f"No {e.what} is there for that, so there is no file.",
        next=f"`/{e.what}s list` with the same words shows what is.",
    ),
    NoSuchNumber: lambda e: Words(
        f"{code(e.ref)} is not on your last list, which has {e.shown} rules."
        if e.shown
        else f"{code(e.ref)}: you have no list yet.",
        next="`/rules list` makes one; its numbers are yours alone.",
    ),
    TooMany: lambda e: Words(
        f"You named {e.count:,} rules; one command takes {e.most:,}.", next="Split them over several commands."
    ),
    NothingInSet: lambda _: Words(
        "There is nothing left to do.", "What was to be done is done, or its target is gone."
    ),
    UnknownSite: lambda e: Words(
        f"No site is called {code(e.asked)}." if e.asked else "No site is set up.",
        next=f"Sites: {', '.join(map(esc, e.known))}."
        if e.known
        else "Ask whoever runs Gatehouse to set MEMBERS_SITES.",
    ),
    NotAllowed: _not_allowed,
    NobodyCanApprove: _nobody,
    Irreconcilable: lambda e: Words(
        "The policy has different people approve the parts of this, so it cannot be one request.",
        f"The roles that it names are {esc(', '.join(e.roles))}.",
        "Ask for the parts one by one, or one site at a time.",
    ),
    DirectoryUnavailable: lambda e: Words(
        f"Slack did not say {esc(e.asked)}, and without that nobody may.",
        f"Slack answered {code(e.code)}." if e.code else "Slack is not answering.",
        "Try again in a moment."
        if e.code in {"", "ratelimited", "internal_error", "fatal_error"}
        else "Tell whoever runs Gatehouse: the app may be missing a scope.",
    ),
    OldCard: lambda e: Words(
        "That message no longer speaks for its change.",
        next=f"Use the newer one: {e.link}" if e.link else "Use the newer one, a moment from now, in the channel.",
    ),
    NotTemporary: lambda e: Words(f"Change `{e.change.id[:8]}` does not end by itself any more.", unchanged=None),
    NothingToReview: lambda e: Words(f"Change `{e.change.id[:8]}` is signed already.", unchanged=None),
    BadFilter: lambda e: Words(esc(e.words), next="As in `/gatehouse audit who:@anna since:24h`.", unchanged=None),
    GivenUp: lambda _: Words(
        "Gatehouse began on this many times and was stopped each time, so it has given up.",
        "Something about the request may be what stops it.",
        "See on the card, or with `/gatehouse pending`, how it stands, before you ask again.",
        unchanged=None,
    ),
    OldButton: lambda _: Words(
        "That button is from an older version of Gatehouse.",
        next="Ask again with the command; the new answer has new buttons.",
    ),
    NothingInMessage: lambda e: Words(
        f"There is no {esc(e.what)} in that message.",
        next="Write it with the command: `/gatehouse help` lists them.",
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
    NotYours: _not_yours,
    AlreadyDecided: _already,
    NotUndoable: lambda e: Words(
        f"Change `{e.change.id[:8]}` was taken back already."
        if e.change.undone_by
        else f"Change `{e.change.id[:8]}` is {e.change.state}: only what was applied can be taken back."
    ),
    NothingToUndo: lambda e: Words(
        f"No change of yours is called {code(e.asked)}."
        if e.asked
        else "You have changed nothing here that could be taken back.",
        next="Write the change's reference from its card: `/gatehouse undo 1a2b3c4d`, or press its Undo button.",
    ),
    UnknownChange: lambda _: Words(
        "That change is not on record here.", "The card is from another Gatehouse, or its record is gone."
    ),
    TargetBusy: _busy,
    StoreError: lambda _: Words(
        "Gatehouse's own database did not take the request.",
        "It is full, locked or away.",
        "Try again in a minute; tell whoever runs Gatehouse.",
    ),
    SlackRefused: _slack_refused,
    FileGone: lambda _: Words("That file is gone, or Gatehouse may not see it.", next="Upload it again."),
    FileTooLarge: lambda e: Words(
        f"That file is too large: {_megabytes(e.size)}, and at most {_megabytes(e.most)} are read.",
        next="Split it, or leave out what need not be in it.",
    ),
    FileUnreadable: lambda e: Words(
        f"Slack did not give that file: it answered with {esc(str(e))}.",
        "The app may lack the scope `files:read`.",
        "Ask whoever runs Gatehouse to install the app again with the present manifest.",
    ),
    SlackUnreachable: lambda _: Words("Slack did not answer Gatehouse.", next="Try again in a moment.", unchanged=None),
    client.NotFound: lambda e: Words(
        f"The {e.service} service has no such entry.", "It was deleted, or the id has a typo."
    ),
    LoopNeedsReason: lambda e: Words(
        " ".join(esc(loop, 500) for loop in e.loops[:3]),
        next="Lead it elsewhere. If it is wanted so, ask again and say why: `… because TEXT`.",
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
        f"Try again in {e.retry_after:.0f} seconds." if e.retry_after else "Try again in a minute.",
    ),
    client.Unreachable: lambda e: Words(
        f"The {e.service} service is not answering.",
        "It is down, or the network to it is.",
        "Try again in a moment; `/gatehouse status` looks again.",
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
    client.OutcomeUnknown: lambda e: Words(
        f"The {e.service} service gave no clear answer. It may have happened.",
        next="Look at it before you ask again.",
        unchanged=None,
    ),
    client.ClientError: lambda e: Words(f"The {e.service} service refused: {esc(str(e))}"),
    BadFile: lambda e: Words(esc(file_words(e)[0]), next=esc(file_words(e)[1])),
    Exception: lambda _: Words(
        "Something broke on Gatehouse's side.",
        "A fault of ours, not of yours.",
        "Tell whoever runs Gatehouse the reference below.",
        unchanged=None,
    ),
}


def words_for(error: Exception) -> Words:
    """The words for *error*: its own, or those of the closest of its ancestors that has some."""
    kind = next(kind for kind in type(error).__mro__ if kind in WORDS)
    return WORDS[kind](error)


def expected(error: Exception) -> bool:
    """Whether *error* has words of its own: a part of the day's work, and no fault of ours."""
    return isinstance(error, Unclear | NotOne) or any(kind in WORDS for kind in type(error).__mro__[:-3])


def answer(error: Exception, *, asked: str, caller: Caller, prefix: str) -> Message:
    """What the person who asked is told about *error*."""
    if isinstance(error, Unclear):
        return views.unclear(error, asked=asked, prefix=prefix)
    if isinstance(error, NotOne):
        return views.not_one(error, asked=asked)
    words = words_for(error)
    return views.problem(
        asked=asked,
        what=words.what,
        cause=words.cause,
        then=words.next,
        unchanged=words.unchanged,
        reference=caller.request[:8],
        again=words.again,
    )
