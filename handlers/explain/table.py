"""Every error that a person can meet and the words for it, in one shape for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.rules.model import Groups, Rule
from handlers.blocks import menus, messages
from handlers.blocks.messages import Block, Message, code, esc
from handlers.errors import Table, Words
from handlers.explain import outcomes, requests
from handlers.gatehouse.commands import GatehouseHelp
from handlers.grammar.command import Unclear, slash
from handlers.grammar.parser import parse
from handlers.rules.commands import RulesList, RulesShow
from handlers.rules.pairs_view import status_name, type_name
from handlers.rules.refs import NotOne
from handlers.slack.reply import Caller

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
    | requests.FILE_WORDS
    | outcomes.GATEHOUSE_WORDS
    | requests.MEMBER_WORDS
    | requests.RIGHT_WORDS
    | requests.RULE_WORDS
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
