"""A Command -> its canonical text: what buttons carry, such that the grammar reads the same command again."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Final

from bot.domain.rule import USUAL_RULE_ID
from handlers.commands.command import Command
from handlers.commands.gatehouse import GatehouseAudit
from handlers.commands.members import MembersAdd, MembersExport, MembersList
from handlers.commands.rules import RulesCheck, RulesExport, RulesList, RulesNew, RulesWhich
from handlers.words import addresses_typed, escaped, quoted

LED: Final = {"name": "named", "destination": "to", "because": "because"}
FILTERED: Final[dict[type[Command], tuple[str, ...]]] = {
    RulesList: ("type", "status", "url", "group", "sort", "page"),
    RulesExport: ("type", "status"),
    RulesCheck: ("page",),
    MembersList: ("segment", "without_segment", "page"),
    MembersExport: ("segment", "without_segment"),
    GatehouseAudit: ("who", "since", "page"),
}
"""Fields that are written ``name:value``; ``site`` is, for every command that has it."""
PLAIN: Final = re.compile(r"[A-Za-z0-9#][\w@.+#/-]*")
KEYWORDS: Final = frozenset({"because", "for", "until", "named", "to", "from", "help", "here"})


def render(command: Command) -> str:
    """The canonical text of *command* after its service's name, such that `parse` gives *command* back.

    Raises ValueError for a text that holds both kinds of quotes.
    """
    parts = [command.verb]
    for field in dataclasses.fields(command):
        value = getattr(command, field.name)
        if value not in {None, "", ()}:
            parts += _rendered(command, field.name, value)
    tail = [part for part in parts if part.startswith("because ")]
    return escaped(" ".join([part for part in parts if part not in tail] + tail).strip())


def _rendered(command: Command, name: str, value: Any) -> list[str]:
    if name == "lasts":
        return [value.as_typed]
    if name in {"here", "within"}:
        return ["here"] if value and name == "here" else []
    if name == "because":
        return [f"because {value}"]
    if name == "fields":
        return [f"{field}={quoted(text)}" for field, text in value]
    if name == "refs":
        return [_one_word(ref, always=len(value) > 1 and not USUAL_RULE_ID.fullmatch(ref)) for ref in value]
    if name in {"urls", "others"}:
        return [_one_word(url, always=name == "others") for url in value]
    if name == "segments":
        lead = ["to"] if isinstance(command, MembersAdd) else []
        return lead + [quoted(segment) for segment in value]
    if name == "site" or name in FILTERED.get(type(command), ()):
        return [f"{'no' if name == 'without_segment' else name}:{_one_word(str(value))}"]
    if name in LED and isinstance(command, RulesNew | MembersAdd):
        return [LED[name], _one_word(value)]
    return [str(value) if name == "type" else _one_word(str(value), always=_is_loose(command))]


def _is_loose(command: Command) -> bool:
    """Whether a text of *command* would be read as something else if it were written without quotes."""
    if isinstance(command, GatehouseAudit):
        return True  # a rule may be called "today"
    return isinstance(command, RulesWhich) and (bool(command.others) or addresses_typed(command.url) != [command.url])


def _one_word(text: str, *, always: bool = False) -> str:
    plain = PLAIN.fullmatch(text) and text.casefold() not in KEYWORDS
    return text if plain and not always else quoted(text)
