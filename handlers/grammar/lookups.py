"""The commands that show what a text names: where a URL goes, rules, members, lists of them, and the views of Gatehouse."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar
from urllib.parse import urlsplit

from bot.text.names import MIN_PART
from handlers.gatehouse.commands import (
    GatehouseAudit,
    GatehouseDigest,
    GatehouseFreezes,
    GatehousePending,
    GatehousePlanned,
    GatehouseSettings,
    GatehouseStatus,
    GatehouseWhoami,
)
from handlers.grammar.command import Command
from handlers.grammar.fields import MAX_ROWS
from handlers.grammar.known import MAX_READINGS
from handlers.grammar.recognised import Recognised
from handlers.grammar.vocabulary import AFTER_ALL, COUNTS, FILLERS, STATUSES, TOPICS, TYPES
from handlers.members.commands import MembersExport, MembersList, MembersSegments, MembersShow, MembersWhy
from handlers.rules.commands import RulesCheck, RulesGroups, RulesList, RulesShow, RulesWhich

ListOfMembers = TypeVar("ListOfMembers", MembersList, MembersExport)
IDENTITY: Final = frozenset({"who", "who's", "what", "is"})
"""Words of a question about who a person is, not why they get in."""
WEEKEND: Final = re.compile(r"weekend|wochenende", re.IGNORECASE)


def complete_url(url: str, found: Recognised, beside: str = "") -> list[str]:
    """Return *url* as a whole URL: a path is one of the host of *beside*, or of each host that is known."""
    if not url.startswith("/"):
        return [url if urlsplit(url).path else f"{url}/"]
    if beside and not beside.startswith("/"):
        return [f"https://{urlsplit(beside).netloc}{url}"]
    return [f"https://{host}{url}" for host in found.known.hosts[:MAX_READINGS]]


def show_urls(found: Recognised) -> list[Command]:
    """Return where the URLs go: several together, where none is only a path."""
    first, *others = found.urls
    if others and not any(url.startswith("/") for url in found.urls):
        return [RulesWhich(first, tuple(others))]
    return [RulesWhich(each) for each in (complete_url(first, found) if first.startswith("/") else [first])]


def show_rules(found: Recognised) -> list[Command]:
    """Return each rule that is named, also by some of the words."""
    return [RulesShow(ref) for ref in found.rule_refs(loosely=True)]


def for_people(
    found: Recognised, command: Callable[[tuple[str, ...]], Command], people: Sequence[str] | None = None
) -> list[Command]:
    """Return one *command* for all *people* who are named; where a name or a part of one fits several, one for each."""
    people = found.people(loosely=True) if people is None else people
    if not people and (found.having or found.lacking):
        people = found.known.filter_members(found.site or found.known.site, found.having, found.lacking)
        made = [command(tuple(people))] if 0 < len(people) <= MAX_ROWS else []
        if not any(each.writes for each in made):
            return [list_members(found, MembersList)]
        found.used |= {*found.having, *found.lacking, *({*found.words} & COUNTS)}
        return made
    if people and (found.emails or found.rows) and not found.has_namesakes:
        return [command(tuple(dict.fromkeys(people)))]
    return [command((email,)) for email in people]


def show_people(found: Recognised, people: Sequence[str] | None = None) -> list[Command]:
    """Return the members who are named, or *people*."""
    return for_people(found, lambda emails: MembersShow(emails, found.site), people)


def explain_access(found: Recognised, people: Sequence[str]) -> list[Command]:
    """Return why *people* get in, or who they are, where that is asked."""
    found.take_as_theirs()
    segment = next(iter([*found.segments, *found.lacking]), None)  # “why doesn’t Anna have vip?”
    if found.question in IDENTITY and segment is None:
        return show_people(found, people)
    return for_people(found, lambda emails: MembersWhy(emails, segment, found.site), people)


def list_members(found: Recognised, kind: type[ListOfMembers]) -> ListOfMembers:
    """Return a list, or a file, of the members with a segment, and without another."""
    having, lacking = next(iter([*found.having, *found.segments]), None), next(iter(found.lacking), None)
    return kind(segment=having, without_segment=lacking, site=found.site)


def search(found: Recognised) -> list[Command]:
    """Return commands that show what words alone mean: a filter, a name, a part of a name, or a similar name."""
    words = [word for word in (*found.words, *([found.act] if found.act in STATUSES else [])) if word not in FILLERS]
    if found.names_segments and not words:
        return [list_members(found, MembersList)]
    if words and all(word in STATUSES or word in TYPES for word in words):
        status = next((STATUSES[word] for word in words if word in STATUSES), None)
        return [RulesList(status=status, type=found.type_filter)]
    if len(text := found.phrase) < MIN_PART:
        return []
    order = (_find_members, _find_rules) if found.root == "members" else (_find_rules, _find_members)
    for find in order:
        if commands := find(found, text):
            return commands
    near: list[Command] = [RulesShow(rule) for rule in found.known.rules.find_similar(text)]
    near = near or [MembersShow((email,)) for email in found.known.members.find_similar(text)]
    found.used |= {*found.words} if near else set()
    return near


def _find_rules(found: Recognised, text: str) -> list[Command]:
    rules = found.part_of(found.known.rules)
    if len(rules) > 1:
        return [RulesList(text=text)]
    if not rules and (groups := found.part_of(found.known.groups)):
        return [RulesList(group=found.known.titles[key]) for key in groups]
    return [RulesShow(rule) for rule in rules]


def _find_members(found: Recognised, text: str) -> list[Command]:
    people = found.people()
    return [MembersList(text=text, site=found.site)] if len(people) > 1 else show_people(found, people)


def show_views(found: Recognised) -> list[Command]:
    """Return the views of the topics that a text mentions: what changed, what waits, what is wrong."""
    topics = {topic for word, topic in TOPICS.items() if word in found.plain}
    found.used |= found.plain & TOPICS.keys()
    topics -= {"changed"} if len(topics) > 1 else set()  # “temporary changes” are about one thing
    return [view(found) for topic, view in VIEWS.items() if topic in topics]


def show_changes(found: Recognised) -> Command:
    """Return what changed; for the question who did it, the audit log."""
    since = take_since(found)
    return GatehouseAudit(since=since) if found.question == "who" else GatehouseDigest(since=since)


def take_since(found: Recognised) -> str | None:
    """Return since when to show something; takes “over the weekend” out of the times."""
    if found.since is None:
        weekend = next((each for each in found.times if WEEKEND.search(each)), None)
        found.times = [each for each in found.times if each != weekend]
        return "last saturday" if weekend else None
    found.used.add(found.since.text)
    return found.since.text.rstrip(AFTER_ALL).removeprefix("since ")


VIEWS: Final[Mapping[str, Callable[[Recognised], Command]]] = {
    "check": lambda _: RulesCheck(),
    "segments": lambda found: MembersSegments(site=found.site),
    "groups": lambda _: RulesGroups(),
    "pending": lambda _: GatehousePending(),
    "timers": lambda _: GatehousePlanned(),
    "freezes": lambda _: GatehouseFreezes(),
    "changed": show_changes,
    "status": lambda _: GatehouseStatus(),
    "settings": lambda _: GatehouseSettings(),
    "whoami": lambda _: GatehouseWhoami(),
}
"""The view of each topic, in the order in which several are shown."""
