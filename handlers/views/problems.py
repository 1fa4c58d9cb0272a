"""Answers to what did not work: one shape for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.domain.rule import Rule
from handlers.commands import Command, GatehouseHelp, RulesList, RulesShow
from handlers.grammar import Unclear, parse
from handlers.views import parts
from handlers.views.effect import status_name, type_name
from handlers.views.parts import Message, code, esc


def problem(
    *,
    asked: str,
    what: str,
    cause: str = "",
    then: str = "",
    unchanged: bool | None = True,
    reference: str = "",
    again: Mapping[str, Command] | None = None,
) -> Message:
    """*what*, *cause* and *then* are mrkdwn; *asked* is the person's own words; *again*: buttons for what may be meant."""
    lines = [f":warning: {what}"]
    if unchanged:
        lines[0] += " *Nothing was changed.*"
    if cause:
        lines.append(f"_Likely cause:_ {cause}")
    if then:
        lines.append(f"_Next:_ {then}")
    buttons = (parts.run_button(label, one, number) for number, (label, one) in enumerate((again or {}).items()))
    blocks = [
        parts.section("\n".join(lines)),
        *parts.actions(buttons),
        parts.context(f"You asked: {code(asked, 200)}   ·   reference {code(reference)}"),
    ]
    return parts.message(lines[0], blocks)


def unclear(error: Unclear, *, asked: str, prefix: str) -> Message:
    """What was not understood, the nearest harmless command as a button, and the lines of help that may be meant."""
    blocks = [parts.section(f":thinking_face: {esc(error.what, 400)} *Nothing was changed.*")]
    if error.suggestion is not None:
        service, _, rest = error.suggestion.partition(" ")
        label = f"/{prefix}{service} {rest}"
        blocks += parts.actions([parts.run_button(f"Did you mean {label}?", parse(service, rest), 0)])
    if error.about:
        lines = "\n".join(
            f"`/{prefix}{kind.service} {parts.entities(kind.usage)}`  {kind.summary}" for kind in error.about
        )
        blocks.append(parts.section(lines))
    blocks.append(parts.context(f"You asked: {code(asked, 200)}   ·   everything: `/{prefix}gatehouse help`"))
    return parts.message(f"{esc(error.what)} Nothing was changed.", blocks)


def not_one(ref: str, candidates: Sequence[Rule], count: int, *, asked: str) -> Message:
    """A choice where a REF fits several rules, a hint where it fits none."""
    if not candidates:
        blocks = [
            parts.section(f":mag: No rule is called {code(ref, 200)}, has that id or that URL. *Nothing was changed.*"),
            *parts.actions(
                [
                    parts.run_button("List rules", RulesList(), 0),
                    parts.run_button("Help", GatehouseHelp(topic="rules"), 1),
                ]
            ),
            parts.context(f"You asked: {code(asked, 200)}"),
        ]
        return parts.message("No such rule. Nothing was changed.", blocks)
    more = f" The first {len(candidates)}:" if count > len(candidates) else ""
    blocks = [parts.section(f":mag: {code(ref, 200)} fits {count} rules. Which one? *Nothing was changed.*{more}")]
    for number, rule in enumerate(candidates):
        text = f"*{esc(rule.title, 120)}*\n{status_name(rule)}   {type_name(rule)}   {code(rule.id, 100)}"
        blocks.append(parts.section(text, parts.run_button("Show", RulesShow(ref=rule.id), number)))
    blocks.append(parts.context(f"You asked: {code(asked, 200)}   ·   name it by its id"))
    return parts.message(f"{count} rules fit. Nothing was changed.", blocks)
