"""Find what a text is about where it isn't understood as a whole: what it names, describes or refers to."""

from __future__ import annotations

from itertools import pairwise
from typing import Final
from urllib.parse import urlsplit

from handlers.gatehouse.commands import GatehouseAudit
from handlers.grammar.command import Command
from handlers.grammar.lookups import explain_access, list_members, show_urls
from handlers.grammar.recognised import Recognised
from handlers.grammar.recognition import without_quotes
from handlers.grammar.vocabulary import COUNTS, EACH, ENDS, ORDINALS, PERSONS, PRONOUNS, STATUSES, bare
from handlers.members.commands import MembersList, MembersShow
from handlers.rules.commands import RulesList, RulesShow

GETTING_IN: Final = frozenset(
    {"can", "open", "enter", "see", "access", "get", "login", "log", "rein", "kommt", "entrar"}
)
"""Words of a text about who gets in, and who doesn't."""


def show_subjects(found: Recognised) -> list[Command]:
    """Return commands that show each thing that a text names, and lists of what it only describes where those may be meant."""
    found = without_quotes(found)
    asks_what_blocks = "unblock" in found.turned  # that is a rule, and not each that has the host in it
    lists = [] if asks_what_blocks else [url for url in found.urls if _is_host(url)]
    hosts: list[Command] = [RulesList(url=urlsplit(url).netloc) for url in lists]
    things = hosts or (show_urls(found) if found.urls else [])
    if {*found.text.casefold().split()} & GETTING_IN and (people := found.people(loosely=True)):
        return things + explain_access(found, people)
    rules: list[Command] = [RulesShow(ref) for ref in found.find_named(found.known.rules)]
    members: list[Command] = [MembersShow((email,), found.site) for email in found.find_named(found.known.members)]
    things += [*members, *rules] if found.root == "members" else [*rules, *members]
    things += [RulesList(group=found.known.titles[key]) for key in found.find_named(found.known.groups)]
    tells_which = found.turned or {*found.words} & EACH
    return things if things and not tells_which else things + _described_lists(found)


def _is_host(url: str) -> bool:
    return not url.startswith("/") and not urlsplit(url).path


def _described_lists(found: Recognised) -> list[Command]:
    """Return lists of what a text describes: rules of a type, on or off, members with a segment; the audit log for an undo."""
    kind = found.type_filter
    status = next((STATUSES[word] for word in found.words if word in STATUSES and word not in ENDS), None)
    lists: list[Command] = [RulesList(type=kind, status=status)] if kind or status else []
    lists += [GatehouseAudit()] if found.act in {"undo", "restore"} else []
    if found.names_segments:
        return [*lists, list_members(found, MembersList)]
    return lists or ([MembersList(site=found.site)] if found.site else [])


def show_pointed_at(found: Recognised) -> list[Command]:
    """Return commands that show what a text refers to without a name.

    “It” is what was shown or changed last, “the second one” a row of the last list.
    """
    if found.urls or found.emails or found.rows or found.rules or found.groups:
        return []
    words = [bare(word) for word in found.text.split()]
    rows = [f"#{ORDINALS[word]}" for word, after in pairwise(words) if word in ORDINALS and after in COUNTS]
    if rows:
        return [MembersShow((row,)) if found.root == "members" else RulesShow(row) for row in rows]
    if PRONOUNS.isdisjoint(words):
        return []
    about_people = not PERSONS.isdisjoint(words)
    return [
        RulesShow(each.key) if each.service == "rules" else MembersShow((each.key,), each.site)
        for each in found.known.shown
        if each.key and each.service in {"members", *(() if about_people else ("rules",))}
    ]
