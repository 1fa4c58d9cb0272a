"""Every error that a person can meet, the words for what they asked, and the one shape of all answers to what failed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from bot.gatehouse import UnknownSite
from bot.policy.access import DirectoryUnavailable, NobodyCanApprove, NotAllowed
from bot.policy.model import Irreconcilable, Why
from bot.rules.edit import BadField, Problem
from bot.rules.model import Groups, Rule
from bot.rules.url import NoAddress
from bot.text.emails import BadEmail
from bot.text.encoding import BadFile
from handlers.blocks import menus, messages
from handlers.blocks.messages import Block, Message, code, esc, plural
from handlers.errors import (
    EmailsInFile,
    InvalidDraft,
    LoopNeedsReason,
    MemberGone,
    NoGroups,
    NoMember,
    NothingToExport,
    NotOneGroup,
    Table,
    UnknownSegment,
    Words,
)
from handlers.explain import outcomes
from handlers.files.preview_view import file_words
from handlers.gatehouse.commands import GatehouseHelp
from handlers.grammar.command import Command, Unclear, slash
from handlers.grammar.parser import NoSuchNumber, parse
from handlers.members.commands import MembersWhy
from handlers.members.refs import SiteGone
from handlers.rules.commands import RulesList, RulesShow
from handlers.rules.pairs_view import status_name, type_name
from handlers.rules.reasons import problem_words
from handlers.rules.refs import BareNumber, NotOne, TooMany
from handlers.slack.files import FileGone, FileTooLarge, FileUnreadable
from handlers.slack.reply import Caller


def _problem_lines(problems: Sequence[Problem]) -> str:
    return "\n".join(f"• {f'Pair {one.pair}: ' if one.pair else ''}{esc(problem_words(one))}" for one in problems)


def _bare_number(error: BareNumber) -> Words:
    what = f"No rule has the id or the name {code(error.ref)}, and a number alone is never a part of one."
    if error.again is None:
        return Words(what, next=f"Write `#1` for the first row of your last list; `{slash('rules list')}` makes one.")
    rows = ", ".join(f"{code(number)} (*{esc(rule.title, 100)}*)" for number, rule in error.rows.items())
    return Words(what, next=f"Did you mean {rows}?", again={f"Use {' '.join(error.rows)}"[:75]: error.again})


RULE_WORDS: Final[Table] = {
    NoGroups: lambda _: Words("This rules service has no groups.", next=f"`{slash('rules list')}` shows its rules."),
    NotOneGroup: lambda e: Words(
        f"{code(e.ref)} fits {len(e.candidates)} groups: "
        + ", ".join(f"*{esc(group.title, 60)}* ({code(group.id, 60)})" for group in e.candidates[:8])
        if e.candidates
        else f"No group is called {code(e.ref)}.",
        next=f"Name it by its id; `{slash('rules groups')}` lists them.",
    ),
    InvalidDraft: lambda e: Words(
        f"That would not be a working rule:\n{_problem_lines(e.problems)}", next="Put that right and ask again."
    ),
    BadField: lambda e: Words(esc(problem_words(e.problem))),
    NoAddress: lambda e: Words(
        f"That is {esc(str(e))}.", next="Write it like `https://shop.example.com/old`.", unchanged=None
    ),
    NoSuchNumber: lambda e: Words(
        f"{code(e.ref)} is not on your last list of {e.service}, which has {plural(e.shown, e.service.removesuffix('s'))}."
        if e.shown
        else f"{code(e.ref)}: you have no list of {e.service} yet.",
        next=f"`{slash(f'{e.service} list')}` makes one; its numbers are yours alone.",
    ),
    BareNumber: _bare_number,
    TooMany: lambda e: Words(
        f"You named {e.count:,} rules; one command takes {e.most:,}.", next="Split them over several commands."
    ),
    LoopNeedsReason: lambda e: Words(
        " ".join(esc(loop, 500) for loop in e.loops[:3]),
        next="Lead it elsewhere. If it is wanted so, ask again and say why: `… because TEXT`.",
    ),
}


def _no_member(error: NoMember) -> Words:
    found = f" On {_names(error.again)} somebody has." if error.again else ""
    again: dict[str, Command] = {f"On {name}": command for name, command in error.again.items()}
    return Words(
        f"Nobody on *{esc(error.site)}* has the address {code(error.email)}.{found}",
        "" if error.again else "A typo, another address, or another site.",
        "Take the other site."
        if error.again
        else f"Look for a part of it: `{slash('members list anna')}`, or add `site:NAME`.",
        again=again | {"Why?": MembersWhy(email=error.email)},
    )


def _unknown_segment(error: UnknownSegment) -> Words:
    return Words(
        f"Unknown segment: {code(error.name, 80)}. No member of *{esc(error.site)}* has it and no setting names it.",
        f"A typo of {_names(error.meant)}, or a segment that is new." if error.meant else "A typo, or a new segment.",
        "Segments are made in the site's dashboard, not here. If it is there and nobody has it yet, "
        f"name it in `{slash('gatehouse settings')}`.",
        again=error.again,
    )


def _site_gone(error: SiteGone) -> Words:
    return Words(
        f"This channel's default site was {code(error.gone, 60)}, and that is not set up any more.",
        next=f"Add one of {', '.join(code(f'site:{name}', 60) for name in error.known)}, "
        f"or choose another in `{slash('gatehouse settings')}`.",
    )


def _names(names: Iterable[str]) -> str:
    return " or ".join(code(name, 60) for name in names)


MEMBER_WORDS: Final[Table] = {
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
    UnknownSite: lambda e: Words(
        f"No site is called {code(e.asked)}." if e.asked else "No site is set up.",
        next=f"Sites: {', '.join(map(esc, e.known))}."
        if e.known
        else "Ask whoever runs Gatehouse to set MEMBERS_SITES.",
    ),
}


def _megabytes(size: int) -> str:
    return f"{size / 1024 / 1024:,.1f} MB"


FILE_WORDS: Final[Table] = {
    NothingToExport: lambda e: Words(
        f"No {e.what} is there for that, so there is no file.",
        next=f"`/{e.what}s list` with the same words shows what is.",
    ),
    EmailsInFile: lambda e: Words(
        "These rules contain emails or secrets, so the file can't go into a channel.",
        next="Get it in a direct message.",
        unchanged=None,
        again={"Send it to me": e.privately},
    ),
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
    BadFile: lambda e: Words(esc(file_words(e)[0]), next=esc(file_words(e)[1])),
}


WHY_NOT: Final = {
    Why.UNKNOWN: ("Slack does not say who you are.", "Ask a workspace admin to look at your account."),
    Why.DEACTIVATED: ("That account is deactivated.", ""),
    Why.BOT: ("Apps and workflows can't use Gatehouse.", "A person has to ask."),
    Why.GUEST: ("Guests can't use Gatehouse.", "Ask a full member of the workspace."),
    Why.STRANGER: ("Only members of this workspace can use Gatehouse.", "Ask one of them."),
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
    Why.OTHER_CHANNEL: ("The policy does not take changes in this channel.", "Ask in a channel that `{whoami}` names."),
    Why.NO_ROLE: ("None of your roles allows this.", "Ask {roles}; `{whoami}` says what you may do."),
    Why.OWN_REQUEST: (
        "You asked for this, so somebody else has to approve it.",
        "Withdraw it if you changed your mind.",
    ),
    Why.NOT_HERE: (
        "You are not in this channel, so you can't make or approve changes here.",
        "Join the channel, then try again in a minute.",
    ),
    Why.CANT_TELL: ("Slack didn't say who is in a channel or user group that decides this.", "Try again in a moment."),
}


def _not_allowed(error: NotAllowed) -> Words:
    what, then = WHY_NOT[error.why]
    roles = f"somebody with the role {' or '.join(map(esc, error.roles))}" if error.roles else "whoever runs Gatehouse"
    roles += f" (this needs {code(error.operation)})" if "." in error.operation else ""
    return Words(what, next=then.format(roles=roles, whoami=slash("gatehouse whoami")))


def _nobody(error: NobodyCanApprove) -> Words:
    needed = "one approval" if error.needed == 1 else f"{error.needed} approvals"
    there = {0: "nobody here", 1: "only one person here"}.get(error.found, f"only {error.found} people here")
    who = f"people with the role {' or '.join(map(esc, error.roles))} are" if error.roles else "they are"
    return Words(
        f"This needs {needed}, and {there} can give it.",
        next=f"Ask in a channel where {who}, or add them to this one.",
    )


RIGHT_WORDS: Final[Table] = {
    NotAllowed: _not_allowed,
    NobodyCanApprove: _nobody,
    Irreconcilable: lambda e: Words(
        "Different people have to approve the parts of this, so it can’t be one request. "
        f"Approvers: {esc(', '.join(e.roles))}.",
        next="Ask for the parts one by one, or one site at a time.",
    ),
    DirectoryUnavailable: lambda e: Words(
        f"Slack did not say {esc(e.asked)}, and without that nobody may.",
        f"Slack answered {code(e.code)}." if e.code else "Slack is not answering.",
        "Try again in a moment."
        if e.code in {"", "ratelimited", "internal_error", "fatal_error"}
        else "Tell whoever runs Gatehouse: the app may be missing a scope.",
    ),
}


PROBLEM: Final = "v1.problem"
"""The id of the block that begins every answer to what did not work: what looks at answers by machine finds them by it."""


def _message(text: str, blocks: Sequence[Block]) -> Message:
    """An answer to what did not work, that can be told from others."""
    return messages.message(text, [{**blocks[0], "block_id": PROBLEM}, *blocks[1:]])


def problem(words: Words, *, asked: str, reference: str) -> Message:
    """An error in *words*, with buttons for what may be meant; *asked* is the person's own text."""
    lines = [f":warning: {words.what}"]
    if words.unchanged:
        lines[0] += " *Nothing was changed.*"
    if words.cause:
        lines.append(f"_Likely cause:_ {words.cause}")
    if words.next:
        lines.append(f"_Next:_ {words.next}")
    buttons = (messages.run_button(label, one, number) for number, (label, one) in enumerate(words.again.items()))
    blocks = [
        messages.section("\n".join(lines)),
        *messages.actions(buttons),
        _footer(asked, f"Reference {code(reference)}"),
    ]
    return _message(lines[0], blocks)


def _footer(asked: str, more: str = "") -> Block:
    """What the person typed, if anything, and whatever *more* goes into the last line."""
    return messages.context("   ·   ".join(filter(None, (f"You asked: {code(asked, 200)}" if asked else "", more))))


def unclear(error: Unclear, *, asked: str) -> Message:
    """What was not understood, the nearest harmless command as a button, and the lines of help that may be meant."""
    blocks = [messages.section(f":thinking_face: {esc(error.what, 400)} *Nothing was changed.*")]
    if error.suggestion is not None:
        service, _, rest = error.suggestion.partition(" ")
        label = f"{slash(service)} {rest}"
        blocks += messages.actions([messages.run_button(f"Did you mean {label}?", parse(service, rest), 0)])
    if error.about:
        lines = "\n".join(
            f"`{slash(kind.service)} {messages.entities(kind.usage())}`  {kind.summary}" for kind in error.about
        )
        blocks.append(messages.section(lines))
    blocks.append(_footer(asked, f"All commands: `{slash('gatehouse help')}`"))
    return _message(f"{esc(error.what)} Nothing was changed.", blocks)


def not_one(error: NotOne, *, asked: str) -> Message:
    """A choice where a REF fits several rules; where it fits none, those that are like it, and a menu to look further."""
    ref, candidates, count = error.ref, error.candidates, error.count
    if not candidates:
        words = f":mag: No rule is called {code(ref, 200)}, has that id or that URL. *Nothing was changed.*"
        blocks = [
            messages.section(words, None if error.near else menus.rule_menu()),
            *([messages.section("Did you mean one of these?", menus.rule_menu())] if error.near else []),
            *_choice(error.near, error.groups),
            *messages.actions(
                [
                    messages.run_button("List rules", RulesList(), "list"),
                    messages.run_button("Help", GatehouseHelp(topic="rules"), "help"),
                ]
            ),
            _footer(asked),
        ]
        return _message("No such rule. Nothing was changed.", blocks)
    more = f" The first {len(candidates)}, or find it as you type:" if count > len(candidates) else ""
    fits = f"{count} rule{'' if count == 1 else 's'}"
    unread = f" {error.gap.sentence('rules')}" if error.gap else ""
    words = f":mag: {code(ref, 200)} fits {fits}.{unread} Which one? *Nothing was changed.*{more}"
    blocks = [messages.section(words, menus.rule_menu() if more else None), *_choice(candidates, error.groups)]
    blocks.append(_footer(asked, "Name it by its id."))
    return _message(f"{fits} {'fits' if count == 1 else 'fit'}. Nothing was changed.", blocks)


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


def answer(error: Exception, *, asked: str, caller: Caller) -> Message:
    """What the person who asked is told about *error*."""
    if isinstance(error, Unclear):
        return unclear(error, asked=asked)
    if isinstance(error, NotOne):
        return not_one(error, asked=asked)
    return problem(words_for(error), asked=asked, reference=caller.request[:8])
