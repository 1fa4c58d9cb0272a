"""Menus that find while one types: what they look like, and the lines that they offer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from bot.members.model import Member
from bot.rules.model import Rule
from bot.text.search import has_words
from handlers.blocks import messages
from handlers.blocks.inputs import MAX_OPTIONS, MAX_VALUE_LENGTH, option
from handlers.blocks.messages import Block, clip
from handlers.errors import NothingPicked

NOT_READ: Final = "-"
"""The value of a line that says why there are no others."""
TITLE: Final = 40


def rule_menu(place: str = "menu") -> Block:
    """Return a menu of rules. *place* sets it apart from others in the same message."""
    return _menu(f"v1.pick.rule.{place}", "Name, id or part of a URL")


def member_menu(place: str = "menu") -> Block:
    return _menu(f"v1.pick.member.{place}", "Name or part of an email")


def _menu(action_id: str, hint: str) -> Block:
    return {
        "type": "external_select",
        "action_id": action_id,
        "placeholder": messages.plain_text(hint, 150),
        "min_query_length": 0,
    }


def rule_options(rules: Iterable[Rule]) -> list[Block]:
    """Return a line for each rule: its name and where it acts; where two would read the same, its id instead."""
    known: set[str] = set()
    lines = []
    for rule in rules:
        label = _rule_label(rule, _first_source(rule) or rule.id)
        if label in known:
            label = _rule_label(rule, rule.id)
        known.add(label)
        lines.append((label, rule.id))
    return options(lines)


def _rule_label(rule: Rule, more: str) -> str:
    off = "" if rule.active else " (off)"
    return f"{clip(rule.title, TITLE)}{off} · {more}"


def _first_source(rule: Rule) -> str:
    return next((pair.source.value for pair in rule.pairs or () if pair.source and pair.source.value), "")


def member_options(members: Iterable[tuple[str, Member]], *, sites: int) -> list[Block]:
    """Return a line for each member of a site: who they are, in full, since only the person who types sees it."""
    lines = []
    for site, member in members:
        called = (member.name or "").strip()
        name = f"{clip(called, TITLE)} · " if called else ""
        where = f" · {site}" if sites > 1 else ""
        lines.append((f"{name}{member.email}{where}", f"{site} {member.email}"))
    return options(lines)


def options(lines: Sequence[tuple[str, str]]) -> list[Block]:
    """Label and value of each; what Slack would not hand back whole is left out."""
    return [option(value, label) for label, value in lines if len(value) <= MAX_VALUE_LENGTH][:MAX_OPTIONS]


def named_options(typed: str, names: Mapping[str, str]) -> list[Block]:
    """Return a line for each of *names*, by its value, that has all words of what was *typed*."""
    return options([(name, value) for value, name in names.items() if has_words(typed, name)])


def notice_options(words: str) -> list[Block]:
    """Return the one line that says why there are none."""
    return options([(words, NOT_READ)])


def picked_value(value: str) -> str:
    """Return the *value* of a picked line; raises NothingPicked for the one that says why there are no others."""
    if value in {"", NOT_READ}:
        raise NothingPicked
    return value
