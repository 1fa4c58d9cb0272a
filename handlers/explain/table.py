"""Every error that a person can meet, the words for what they asked, and the one shape of all answers to what failed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from bot.changes.freezing import Frozen
from bot.changes.refusals import EndsBeforeStart, TimeIsPast, TooManyRequests, Unrecorded
from bot.clients.errors import ClientError, RateLimited, Unreachable
from bot.gatehouse import UnknownSite
from bot.policy.access import NobodyCanApprove
from bot.policy.inquiry import DirectoryUnavailable, EmailUnknown, NotAllowed
from bot.policy.limits import StillRunning, TooFast
from bot.policy.model import Irreconcilable, ReasonRequired
from bot.rules.model import Groups, Rule
from bot.rules.url import NotAUrl
from bot.store.db import CommitUnknown, StoreError, TargetBusy
from bot.text.documents import NestedTooDeep
from bot.text.emails import BadEmail
from bot.text.encoding import BadFile
from handlers.blocks import inputs, menus, messages, modals
from handlers.blocks.buttons import ask_button, button, command_text, run_button
from handlers.blocks.messages import Block, Message, code, esc, join_words, plural, quote
from handlers.blocks.modals import View
from handlers.errors import GivenUp, Refusal, Table, TimeIsFar, TimeIsSkipped, Words
from handlers.explain.outcomes import OUTCOME_WORDS
from handlers.explain.why_not import WHY_NOT
from handlers.gatehouse.commands import GatehouseHelp
from handlers.grammar.command import Command, Unclear, slash
from handlers.grammar.parser import Shorthand, expand
from handlers.grammar.tokens import escape_entities
from handlers.members.commands import MembersList
from handlers.rules.commands import RulesList, RulesShow
from handlers.rules.pairs_view import status_name
from handlers.rules.reasons import type_word
from handlers.rules.rule_refs import NotOne
from handlers.slack.client import AWAY, SlackRefused, SlackUnreachable
from handlers.slack.files import FileGone, FileUnreadable
from handlers.slack.reply import Caller


def _bad_email_words(error: BadEmail) -> Words:
    if not error.name:
        return Words(f"That is not an email. {esc(str(error))}", next="For example `anna@example.com`.")
    return Words(
        f"{quote(error.name, 60)} isn’t an email, and no member is called that.",
        next="Write an email such as `anna@example.com`, or a part of a name.",
        again={"Search members": MembersList(text=error.name)},
    )


def _not_allowed_words(error: NotAllowed) -> Words:
    why = WHY_NOT[error.why]
    roles = f"someone with the role {' or '.join(map(esc, error.roles))}" if error.roles else "your Gatehouse admin"
    roles += f" (this needs {code(error.operation)})" if "." in error.operation else ""
    return Words(why.what, next=why.next.format(roles=roles, whoami=slash("gatehouse whoami")))


def _nobody_can_approve_words(error: NobodyCanApprove) -> Words:
    needed = "one approval" if error.needed == 1 else f"{error.needed} approvals"
    there = {0: "nobody here", 1: "only one person here"}.get(error.found, f"only {error.found} people here")
    who = f"people with the role {' or '.join(map(esc, error.roles))} are" if error.roles else "they are"
    return Words(
        f"This needs {needed}, and {there} can give it.",
        next=f"Request it in a channel where {who}, or add them to this one.",
    )


ERROR_WORDS: Final[Table] = OUTCOME_WORDS | {
    NestedTooDeep: lambda e: Words(
        f"{quote(e.name, 100)} is nested too deeply for Gatehouse to change or export.",
        next="Change it where it was made.",
    ),
    NotAUrl: lambda e: Words(
        f"That is {esc(str(e))}.", next="Write a URL such as `https://shop.example.com/old`.", unchanged=None
    ),
    BadEmail: _bad_email_words,
    UnknownSite: lambda e: Words(
        f"No site is called {code(e.asked)}.",
        next=f"The {'only site is' if len(e.known) == 1 else 'sites are'} {join_words([*map(esc, e.known)])}.",
    ),
    FileGone: lambda _: Words("That file is gone, or Gatehouse can’t see it.", next="Upload it again."),
    FileUnreadable: lambda e: Words(
        f"Slack wouldn’t hand over that file: it answered {esc(str(e))}.",
        "The app may lack the scope `files:read`.",
        "If it keeps happening, ask your Gatehouse admin to reinstall the app from the current manifest.",
    ),
    BadFile: lambda e: Words(esc(e.problem), next=esc(e.advice)),
    NotAllowed: _not_allowed_words,
    NobodyCanApprove: _nobody_can_approve_words,
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
        if e.code in {"", "ratelimited", *AWAY}
        else "Tell your Gatehouse admin: the app may lack a scope.",
    ),
}


PROBLEM: Final = "v1.problem"
UNCHANGED: Final = "v1.problem.unchanged"
"""The ids of the block that begins every answer to what did not work, the second where it says that nothing was changed: what
looks at answers by machine finds them by it."""


def _message(text: str, blocks: Sequence[Block], *, asked: str, unchanged: bool, reference: str = "") -> Message:
    """Return an answer to what did not work, that can be told from others; last, what was typed, and what finds the log line."""
    begin = {**blocks[0], "block_id": UNCHANGED if unchanged else PROBLEM}
    said = [f"You typed {code(asked, 200)}"] if asked else []
    said += [f"Reference {code(reference)}"] if reference else []
    footer = [messages.context(" · ".join(said))] if said else []
    return messages.message(text, [begin, *blocks[1:], *footer])


def is_problem(blocks: Iterable[Block]) -> bool:
    """Whether an answer that shows *blocks* is to what did not work."""
    return any(block.get("block_id") in {PROBLEM, UNCHANGED, modals.KEPT} for block in blocks)


def says_unchanged(blocks: Iterable[Block]) -> bool:
    """Whether an answer that shows *blocks* says that nothing was changed."""
    return any(block.get("block_id") in {UNCHANGED, modals.KEPT} for block in blocks)


def problem(
    words: Words, *, asked: str, reference: str = "", attempted: bool = False, more: Block | None = None
) -> Message:
    """Return an error in *words*, with buttons for what may be meant, and one *more*.

    *asked* is the person's own text; *reference* finds the log line, where somebody may have to. *attempted*: they
    wanted to change something.
    """
    unchanged = "Nothing was changed." if attempted and words.unchanged else ""
    buttons = [run_button(label, one, number) for number, (label, one) in enumerate(words.again.items())]
    blocks = [messages.section(f":warning: {_words_text(words, unchanged)}"), *messages.actions([more, *buttons])]
    text = " ".join(filter(None, (words.what, unchanged)))
    return _message(text, blocks, asked=asked, unchanged=bool(unchanged), reference=reference)


def _words_text(words: Words, unchanged: str) -> str:
    head = words.what if "*" in words.what or "\n" in words.what else f"*{words.what}*"
    return f"{head}\n{' '.join(filter(None, (unchanged, words.cause, words.next)))}".strip()


def unclear_message(error: Unclear, *, asked: str) -> Message:
    """Return what was not understood, and the lines of help that may be meant."""
    is_attempt = bool(error.about) and all(kind.writes for kind in error.about)
    unchanged = " Nothing was changed." if is_attempt else ""
    blocks = [messages.section(f":thinking_face: *{esc(error.what, 400)}*{unchanged}")]
    if error.about:
        lines = "\n".join(
            f"`{slash(f'{kind.service} {escape_entities(kind.example or kind.verb)}')}`  {kind.summary}"
            for kind in error.about
        )
        lead = "For example" if len(error.about) == 1 else "Did you mean"
        blocks.append(messages.section(f"{lead}:\n{lines}"))
    form = ask_button("Open the form…", error.about[0], "form", style="primary") if error.lacks else None
    blocks += messages.actions([form, run_button("Show menu", GatehouseHelp(), "help")])
    return _message(f"{esc(error.what)}{unchanged}", blocks, asked=asked, unchanged=bool(unchanged))


def not_one_message(error: NotOne, *, asked: str, attempted: bool = False) -> Message:
    """Return a choice where a REF fits several rules; where none, those like it, and a menu to look further."""
    ref, candidates, count = error.ref, error.candidates, error.count
    unchanged = " Nothing was changed." if attempted else ""
    if not candidates:
        words = f":mag: *No rule matches {code(ref, 200)}.*{unchanged}"
        blocks = [
            messages.section(words, None if error.near else menus.rule_menu()),
            *([messages.section("Did you mean one of these?", menus.rule_menu())] if error.near else []),
            *_rule_choices(error.near, error.groups),
            *messages.actions([run_button("List rules", RulesList(), "list")]),
        ]
        return _message(f"No rule matches that.{unchanged}", blocks, asked=asked, unchanged=attempted)
    more = f" Here are the first {len(candidates)}; type to find others." if count > len(candidates) else ""
    fits = f"{plural(count, 'rule')} {'matches' if count == 1 else 'match'}"
    unread = f" {error.gap.sentence('rules')}" if error.gap else ""
    words = f":mag: *{fits} {code(ref, 200)}.* Which one?{unchanged}{unread}{more}"
    blocks = [messages.section(words, menus.rule_menu() if more else None), *_rule_choices(candidates, error.groups)]
    return _message(f"{fits}. Which one?{unchanged}", blocks, asked=asked, unchanged=attempted)


def _rule_choices(rules: Sequence[Rule], groups: Groups | None) -> list[Block]:
    """Return a line for each of *rules*, with a button."""
    return [
        messages.section(
            f"*{esc(rule.title, 120)}*\n"
            f"{status_name(rule, groups)} · {esc(type_word(rule.rule_type), 40)} · {code(rule.id, 100)}",
            run_button("Show", RulesShow(ref=rule.id), number),
        )
        for number, rule in enumerate(rules)
    ]


def words_for(error: Exception) -> Words:
    """Return the words for *error*: its own, or those of the closest of its ancestors that has some."""
    if isinstance(error, Refusal):
        return error.words()
    kind = next(kind for kind in type(error).__mro__ if kind in ERROR_WORDS)
    return ERROR_WORDS[kind](error)


def is_expected(error: Exception) -> bool:
    """Whether *error* has words of its own: a part of the day's work, and no fault of ours."""
    return isinstance(error, Unclear | Refusal) or any(kind in ERROR_WORDS for kind in type(error).__mro__[:-3])


TROUBLE: Final = (
    ClientError,
    StoreError,
    Unrecorded,
    SlackRefused,
    SlackUnreachable,
    DirectoryUnavailable,
    FileUnreadable,
    GivenUp,
)
"""Errors that somebody may have to look up in the log."""


def outcome_of(error: Exception) -> str:
    """Return the metrics outcome of a command that failed with *error*."""
    if not is_expected(error):
        return "failed"
    return "trouble" if isinstance(error, TROUBLE) else "refused"


PASSING: Final = (*TROUBLE, TooFast, StillRunning, Frozen, TargetBusy, TooManyRequests)
"""Errors of a form's checks that the same form, sent again later, may not meet."""
CORRECTED_AT: Final[Mapping[type[Exception], str]] = {
    **dict.fromkeys((TimeIsPast, EndsBeforeStart, TimeIsFar, TimeIsSkipped), inputs.START),
    FileGone: inputs.FILE,
    ReasonRequired: inputs.REASON,
    NotAllowed: inputs.CHANNEL,
}
"""Errors that somebody corrects in a form that has such an input, by its block id."""


def unsaved_form(error: Exception, view: View, *, caller: Caller) -> View | None:
    """Return the form that was sent as *view*, kept because *error* may pass, or be corrected in it.

    None where it would only be refused again, or would make two of what may have been done.
    """
    is_corrected = CORRECTED_AT.get(type(error)) in inputs.values_of(view)
    if not (isinstance(error, PASSING) or is_corrected) or isinstance(error, CommitUnknown):
        return None
    return modals.kept_form(view, _words_text(words_for(error), "Nothing was changed."), caller.request[:8])


def _may_pass(command: Command) -> tuple[type[ClientError], ...]:
    """Return the errors after which *command* may be tried again by a click: of a write, those before which nothing was sent."""
    return (Unreachable, RateLimited) if command.writes else (ClientError,)


def error_message(
    error: Exception, *, asked: str, caller: Caller, attempted: bool = False, command: Command | None = None
) -> Message:
    """Return the explanation of *error* for the person who asked. *attempted*: they wanted to change something.

    *command*: what they asked for; where a service didn't give what it reads, or was away before a write, a button asks again.
    """
    if isinstance(error, Unclear):
        return unclear_message(error, asked=asked)
    if isinstance(error, NotOne):
        return not_one_message(error, asked=asked, attempted=attempted)
    reference = caller.request[:8] if isinstance(error, TROUBLE) or not is_expected(error) else ""
    words = words_for(error)
    if command is not None and command_text(command) and isinstance(error, _may_pass(command)):
        words = replace(words, again={"Try again": command, **words.again})
    more = None
    if isinstance(error, ReasonRequired) and command is not None:
        text = command_text(expand(command, caller.shorthand or Shorthand()))
        more = button("Give the reason…", "v1.reason", text, style="primary")
    return problem(words, asked=asked, reference=reference, attempted=attempted, more=more)
