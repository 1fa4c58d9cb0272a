"""Every error that a person can meet, the words for what they asked, and the one shape of all answers to what failed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from bot.changes.refusals import Unrecorded
from bot.clients.errors import ClientError
from bot.gatehouse import UnknownSite
from bot.policy.access import DirectoryUnavailable, EmailUnknown, NobodyCanApprove, NotAllowed
from bot.policy.limits import TooFast
from bot.policy.model import Irreconcilable, Why
from bot.rules.edit import Problem
from bot.rules.model import Groups, Rule
from bot.rules.url import NotAUrl
from bot.store.db import CommitUnknown, StoreError
from bot.store.tables import OtherRelease
from bot.text.documents import NestedTooDeep
from bot.text.emails import BadEmail
from bot.text.encoding import BadFile
from handlers.blocks import menus, messages, modals
from handlers.blocks.messages import Block, Message, code, esc, plural, quoted
from handlers.blocks.modals import View
from handlers.errors import (
    EmailsInFile,
    GivenUp,
    InvalidDraft,
    LoopNeedsReason,
    MemberGone,
    NoGroups,
    NoMember,
    NothingToExport,
    NotOneGroup,
    RefusedField,
    Table,
    TooMany,
    UnknownSegment,
    Words,
)
from handlers.explain import outcomes
from handlers.files.preview_view import file_words
from handlers.gatehouse.commands import GatehouseHelp
from handlers.grammar.command import Command, Unclear, slash
from handlers.grammar.parser import NoSuchNumber, parse
from handlers.members.commands import MembersList, MembersWhy
from handlers.members.member_refs import SiteGone
from handlers.rules.commands import RulesGroups, RulesList, RulesShow
from handlers.rules.pairs_view import status_name, type_name
from handlers.rules.reasons import problem_words
from handlers.rules.rule_refs import BareNumber, NotOne
from handlers.slack.client import SlackRefused, SlackUnreachable
from handlers.slack.files import FileGone, FileTooLarge, FileUnreadable
from handlers.slack.reply import Caller


def _problem_lines(problems: Sequence[Problem]) -> str:
    return "\n".join(f"• {f'Pair {one.pair}: ' if one.pair else ''}{esc(problem_words(one))}" for one in problems)


def _bare_number(error: BareNumber) -> Words:
    what = f"There is no rule {code(error.ref)}. A number alone has to be its id or its whole name."
    if error.again is None:
        return Words(what, next="List the rules, then write `#1` for the first row.", again={"List rules": RulesList()})
    rows = ", ".join(f"{code(number)} ({quoted(rule.title, 100)})" for number, rule in error.rows.items())
    return Words(what, next=f"Did you mean {rows}?", again={f"Use {' '.join(error.rows)}"[:75]: error.again})


RULE_WORDS: Final[Table] = {
    NoGroups: lambda _: Words("The rules service has no groups.", again={"List rules": RulesList()}),
    NotOneGroup: lambda e: Words(
        f"{code(e.ref)} matches {plural(len(e.candidates), 'group')}: "
        + ", ".join(f"{quoted(group.title, 60)} ({code(group.id, 60)})" for group in e.candidates[:8])
        if e.candidates
        else f"No group is called {code(e.ref)}.",
        next="Use its id, or its whole name.",
        again={"List groups": RulesGroups()},
    ),
    InvalidDraft: lambda e: Words(
        f"That rule wouldn’t work:\n{_problem_lines(e.problems)}", next="Fix that and try again.", again=e.again
    ),
    RefusedField: lambda e: Words(esc(problem_words(e.problem)), again=e.again),
    NestedTooDeep: lambda e: Words(
        f"{quoted(e.name, 100)} is nested too deeply for Gatehouse to change or export.",
        next="Change it where it was made.",
    ),
    NotAUrl: lambda e: Words(
        f"That is {esc(str(e))}.", next="Write a URL such as `https://shop.example.com/old`.", unchanged=None
    ),
    NoSuchNumber: lambda e: Words(
        f"You haven’t seen row {code(e.ref)}: your last list goes to `#{e.shown}` so far."
        if e.shown
        else f"{code(e.ref)} means nothing yet: you haven’t listed any {e.service}.",
        next=f"{'Turn its page with *Next*' if e.shown else 'Make a list first'}. Its numbers are yours alone.",
        again={f"List {e.service}": MembersList() if e.service == "members" else RulesList()},
    ),
    BareNumber: _bare_number,
    TooMany: lambda e: Words(
        f"You named {e.count:,} {e.what}, and one command takes at most {e.most:,}.", next="Use several commands."
    ),
    LoopNeedsReason: lambda e: Words(
        " ".join(esc(loop, 500) for loop in e.loops[:3]),
        next="Point it elsewhere. If the loop is intended, add `because …`.",
    ),
}


def _bad_email(error: BadEmail) -> Words:
    if not error.name:
        return Words(f"That is not an email. {esc(str(error))}", next="Write one such as `anna@example.com`.")
    return Words(
        f"{quoted(error.name, 60)} isn’t an email, and no member is called that.",
        next="Write an email such as `anna@example.com`, or a part of a name.",
        again={"Search members": MembersList(text=error.name)},
    )


def _no_member(error: NoMember) -> Words:
    again: dict[str, Command] = {f"Use {name}": command for name, command in error.again.items()}
    return Words(
        f"{code(error.email)} is not a member of {esc(error.site)}.",
        f"They are a member of {_names(error.again)}." if again else "",
        "" if again else "Check for a typo, or look for similar emails on every site.",
        again=again or {"Find similar": MembersWhy(emails=(error.email,))},
    )


def _unknown_segment(error: UnknownSegment) -> Words:
    return Words(
        f"{esc(error.site)} has no segment {quoted(error.name, 80)}.",
        f"Did you mean {' or '.join(quoted(name, 60) for name in error.meant)}?" if error.meant else "",
        "If it is new in the site’s dashboard and nobody has it yet, add it under *Extra segments* in "
        f"`{slash('gatehouse settings')}`.",
        again=error.again,
    )


def _site_gone(error: SiteGone) -> Words:
    return Words(
        f"This channel’s default site, {code(error.gone, 60)}, no longer exists.",
        next=f"Add one of {', '.join(code(f'site:{name}', 60) for name in error.known)}, "
        f"or choose another in `{slash('gatehouse settings')}`.",
    )


def _names(names: Iterable[str]) -> str:
    return " or ".join(code(name, 60) for name in names)


MEMBER_WORDS: Final[Table] = {
    BadEmail: _bad_email,
    NoMember: _no_member,
    UnknownSegment: _unknown_segment,
    MemberGone: lambda e: Words(
        f"This member is no longer on {esc(e.site)}, or Gatehouse’s keys have changed since this was shared.",
        next="Ask the person who shared it for the email.",
        unchanged=None,
    ),
    SiteGone: _site_gone,
    UnknownSite: lambda e: Words(
        f"No site is called {code(e.asked)}." if e.asked else "No site is set up.",
        next=f"There {'is' if len(e.known) == 1 else 'are'} {', '.join(map(esc, e.known))}."
        if e.known
        else "Ask your Gatehouse admin to set MEMBERS_SITES.",
    ),
}


def _megabytes(size: int) -> str:
    return f"{size / 1024 / 1024:,.1f} MB"


FILE_WORDS: Final[Table] = {
    NothingToExport: lambda e: Words(
        f"No {e.what}s match, so nothing was exported.",
        next=f"Try the same filters with `{slash(f'{e.what}s list')}`.",
        unchanged=None,
    ),
    EmailsInFile: lambda e: Words(
        "These rules contain emails or secrets, so the file can’t go into a channel.",
        next="You can have it in a direct message.",
        unchanged=None,
        again={"Send it to me": e.privately},
    ),
    FileGone: lambda _: Words("That file is gone, or Gatehouse can’t see it.", next="Upload it again."),
    FileTooLarge: lambda e: Words(
        f"That file is too large: {_megabytes(e.size)}. The limit is {_megabytes(e.most)}.",
        next="Split it.",
    ),
    FileUnreadable: lambda e: Words(
        f"Slack wouldn’t hand over that file: it answered {esc(str(e))}.",
        "The app may lack the scope `files:read`.",
        "If it keeps happening, ask your Gatehouse admin to reinstall the app from the current manifest.",
    ),
    BadFile: lambda e: Words(esc(file_words(e)[0]), next=esc(file_words(e)[1])),
}


WHY_NOT: Final = {
    Why.UNKNOWN: ("Slack couldn’t say who you are.", "Ask a workspace admin to look at your account."),
    Why.DEACTIVATED: ("That account is deactivated.", ""),
    Why.BOT: ("Apps and workflows can’t use Gatehouse.", "A person has to do this."),
    Why.GUEST: ("Guests can’t use Gatehouse.", "Ask a full member of the workspace."),
    Why.STRANGER: ("Only members of this workspace can use Gatehouse.", "Ask one of them."),
    Why.SHARED_CHANNEL: (
        "This channel is shared with another company, so Gatehouse can’t be used for this here.",
        "Use a channel of your own workspace.",
    ),
    Why.DIRECT_MESSAGE: (
        "Changes can’t be made in direct messages: others must be able to see them.",
        "Use a channel that Gatehouse is in.",
    ),
    Why.NOT_ADDED: (
        "Gatehouse only accepts changes in channels it is in.",
        "Invite it with `/invite @Gatehouse`, or use a channel that it is in.",
    ),
    Why.OTHER_CHANNEL: ("The policy doesn’t allow changes here.", "Use a channel listed by `{whoami}`."),
    Why.NO_ROLE: ("None of your roles allows this.", "Ask {roles}. `{whoami}` shows what you can do."),
    Why.OWN_REQUEST: (
        "You requested this, so someone else has to approve it.",
        "If you changed your mind, withdraw it.",
    ),
    Why.NOT_HERE: (
        "You aren’t in this channel, so you can’t make or approve changes here.",
        "Join the channel, then try again in a minute.",
    ),
    Why.CANT_TELL: (
        "Slack couldn’t say who is in a channel or user group that this depends on.",
        "Try again in a moment.",
    ),
}


def _not_allowed(error: NotAllowed) -> Words:
    what, then = WHY_NOT[error.why]
    roles = f"someone with the role {' or '.join(map(esc, error.roles))}" if error.roles else "your Gatehouse admin"
    roles += f" (this needs {code(error.operation)})" if "." in error.operation else ""
    return Words(what, next=then.format(roles=roles, whoami=slash("gatehouse whoami")))


def _nobody(error: NobodyCanApprove) -> Words:
    needed = "one approval" if error.needed == 1 else f"{error.needed} approvals"
    there = {0: "nobody here", 1: "only one person here"}.get(error.found, f"only {error.found} people here")
    who = f"people with the role {' or '.join(map(esc, error.roles))} are" if error.roles else "they are"
    return Words(
        f"This needs {needed}, and {there} can give it.",
        next=f"Request it in a channel where {who}, or add them to this one.",
    )


RIGHT_WORDS: Final[Table] = {
    NotAllowed: _not_allowed,
    NobodyCanApprove: _nobody,
    Irreconcilable: lambda e: Words(
        f"Parts of this need different approvers ({esc(', '.join(e.roles))}), so it can’t be one request.",
        next="Request the parts one by one, or one site at a time.",
    ),
    EmailUnknown: lambda _: Words(
        "Slack doesn’t tell Gatehouse people’s emails, so it can’t tell whether a second account is a second person.",
        next="Nobody can approve until your Gatehouse admin gives the app the scope `users:read.email`.",
    ),
    DirectoryUnavailable: lambda e: Words(
        f"Slack couldn’t say {esc(e.asked)}, so permissions can’t be checked.",
        f"Slack answered {code(e.code)}." if e.code else "Slack doesn’t answer.",
        "Try again in a moment."
        if e.code in {"", "ratelimited", "internal_error", "fatal_error"}
        else "Tell your Gatehouse admin: the app may lack a scope.",
    ),
}


PROBLEM: Final = "v1.problem"
UNCHANGED: Final = "v1.problem.unchanged"
"""The ids of the block that begins every answer to what did not work, the second where it says that nothing was changed: what
looks at answers by machine finds them by it."""


def _message(text: str, blocks: Sequence[Block], *, unchanged: bool) -> Message:
    """An answer to what did not work, that can be told from others."""
    begin = {**blocks[0], "block_id": UNCHANGED if unchanged else PROBLEM}
    return messages.message(text, [begin, *blocks[1:]])


def is_problem(blocks: Iterable[Block]) -> bool:
    """Whether an answer that shows *blocks* is to what did not work."""
    return any(block.get("block_id") in {PROBLEM, UNCHANGED, modals.KEPT} for block in blocks)


def says_unchanged(blocks: Iterable[Block]) -> bool:
    """Whether an answer that shows *blocks* says that nothing was changed."""
    return any(block.get("block_id") in {UNCHANGED, modals.KEPT} for block in blocks)


def problem(words: Words, *, asked: str, reference: str = "", attempted: bool = False) -> Message:
    """An error in *words*, with buttons for what may be meant.

    *asked* is the person's own text; *reference* finds the log line, where somebody may have to. *attempted*: they
    wanted to change something.
    """
    unchanged = "Nothing was changed." if attempted and words.unchanged else ""
    buttons = (messages.run_button(label, one, number) for number, (label, one) in enumerate(words.again.items()))
    blocks = [
        messages.section(f":warning: {_told(words, unchanged)}"),
        *messages.actions(buttons),
        *_footer(asked, f"Reference {code(reference)}" if reference else ""),
    ]
    return _message(" ".join(filter(None, (words.what, unchanged))), blocks, unchanged=bool(unchanged))


def _told(words: Words, unchanged: str) -> str:
    head = words.what if "*" in words.what or "\n" in words.what else f"*{words.what}*"
    return f"{head}\n{' '.join(filter(None, (unchanged, words.cause, words.next)))}".strip()


def _footer(asked: str, more: str = "") -> list[Block]:
    """What the person typed, if anything, and whatever *more* goes into the last line."""
    said = [*([f"You typed {code(asked, 200)}"] if asked else []), *([more] if more else [])]
    return [messages.context(" · ".join(said))] if said else []


def unclear(error: Unclear, *, asked: str) -> Message:
    """What was not understood, the nearest harmless command as a button, and the lines of help that may be meant."""
    is_attempt = bool(error.about) and all(kind.writes for kind in error.about)
    unchanged = " Nothing was changed." if is_attempt else ""
    blocks = [messages.section(f":thinking_face: *{esc(error.what, 400)}*{unchanged}")]
    if error.about:
        lines = "\n".join(
            f"`{slash(f'{kind.service} {messages.entities(kind.example or kind.verb)}')}`  {kind.summary}"
            for kind in error.about
        )
        lead = f"{error.can} For example" if error.can else "For example" if len(error.about) == 1 else "Did you mean"
        blocks.append(messages.section(f"{lead}:\n{lines}"))
    service = error.about[0].service if error.about else "gatehouse"
    suggested = None
    if error.suggestion is not None:
        root, _, rest = error.suggestion.partition(" ")
        suggested = messages.run_button(f"Run {slash(root)} {rest}", parse(root, rest), 0, style="primary")
    topic = GatehouseHelp(topic=None if service == "gatehouse" else service)
    blocks += messages.actions([suggested, messages.run_button("Show all commands", topic, "help")])
    blocks += _footer(asked)
    return _message(f"{esc(error.what)}{unchanged}", blocks, unchanged=bool(unchanged))


def not_one(error: NotOne, *, asked: str, attempted: bool = False) -> Message:
    """A choice where a REF fits several rules; where it fits none, those that are like it, and a menu to look further."""
    ref, candidates, count = error.ref, error.candidates, error.count
    unchanged = " Nothing was changed." if attempted else ""
    if not candidates:
        words = f":mag: *No rule matches {code(ref, 200)}.*{unchanged}"
        blocks = [
            messages.section(words, None if error.near else menus.rule_menu()),
            *([messages.section("Did you mean one of these?", menus.rule_menu())] if error.near else []),
            *_choice(error.near, error.groups),
            *messages.actions([messages.run_button("List rules", RulesList(), "list")]),
            *_footer(asked),
        ]
        return _message(f"No rule matches that.{unchanged}", blocks, unchanged=attempted)
    more = f" Here are the first {len(candidates)}; type to find others." if count > len(candidates) else ""
    fits = f"{plural(count, 'rule')} {'matches' if count == 1 else 'match'}"
    unread = f" {error.gap.sentence('rules')}" if error.gap else ""
    words = f":mag: *{fits} {code(ref, 200)}.* Which one?{unchanged}{unread}{more}"
    blocks = [messages.section(words, menus.rule_menu() if more else None), *_choice(candidates, error.groups)]
    blocks += _footer(asked)
    return _message(f"{fits}. Which one?{unchanged}", blocks, unchanged=attempted)


def _choice(rules: Sequence[Rule], groups: Groups | None) -> list[Block]:
    """A line for each of *rules*, with a button."""
    return [
        messages.section(
            f"*{esc(rule.title, 120)}*\n{status_name(rule, groups)}   {type_name(rule)}   {code(rule.id, 100)}",
            messages.run_button("Show", RulesShow(ref=rule.id), number),
        )
        for number, rule in enumerate(rules)
    ]


WORDS: Final[Table] = (
    outcomes.CHANGE_WORDS
    | FILE_WORDS
    | outcomes.GATEHOUSE_WORDS
    | MEMBER_WORDS
    | RIGHT_WORDS
    | RULE_WORDS
    | outcomes.SERVICE_WORDS
    | outcomes.SLACK_WORDS
)


def words_for(error: Exception) -> Words:
    """The words for *error*: its own, or those of the closest of its ancestors that has some."""
    kind = next(kind for kind in type(error).__mro__ if kind in WORDS)
    return WORDS[kind](error)


def expected(error: Exception) -> bool:
    """Whether *error* has words of its own: a part of the day's work, and no fault of ours."""
    return isinstance(error, Unclear | NotOne) or any(kind in WORDS for kind in type(error).__mro__[:-3])


TROUBLE: Final = (
    ClientError,
    StoreError,
    OtherRelease,
    Unrecorded,
    SlackRefused,
    SlackUnreachable,
    DirectoryUnavailable,
    FileUnreadable,
    GivenUp,
)
"""Errors that somebody may have to look up in the log."""


def outcome_of(error: Exception) -> str:
    """What a command that ended with *error* is counted as."""
    if not expected(error):
        return "failed"
    return "trouble" if isinstance(error, TROUBLE) else "refused"


PASSING: Final = (*TROUBLE, TooFast)
"""Errors of a form's checks that the same form, sent again later, may not meet."""


def unsaved_form(error: Exception, view: View, *, caller: Caller) -> View | None:
    """The form that was sent as *view*, kept because *error* may pass.

    None where it would only be refused again, or would make two of what may have been done.
    """
    if not isinstance(error, PASSING) or isinstance(error, CommitUnknown):
        return None
    return modals.kept_form(view, _told(words_for(error), "Nothing was changed."), caller.request[:8])


def answer(error: Exception, *, asked: str, caller: Caller, attempted: bool = False) -> Message:
    """What the person who asked is told about *error*. *attempted*: they wanted to change something."""
    if isinstance(error, Unclear):
        return unclear(error, asked=asked)
    if isinstance(error, NotOne):
        return not_one(error, asked=asked, attempted=attempted)
    reference = caller.request[:8] if isinstance(error, TROUBLE) or not expected(error) else ""
    return problem(words_for(error), asked=asked, reference=reference, attempted=attempted)
