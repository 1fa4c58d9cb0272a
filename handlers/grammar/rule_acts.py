"""The changes of rules that a text may ask for, by what it names: block, redirect, make, switch and delete."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Final
from urllib.parse import urlsplit

from handlers.grammar.command import Command
from handlers.grammar.fields import MAX_ROWS
from handlers.grammar.known import MAX_READINGS
from handlers.grammar.lookups import complete_url, show_urls
from handlers.grammar.recognised import Recognised, Sort
from handlers.grammar.vocabulary import EACH, STATUSES, TYPES
from handlers.rules.commands import REACHES, RulesDelete, RulesGroup, RulesMake, RulesNew, RulesOff, RulesOn, RulesSet

ALL_OF: Final = re.compile(r"\b(?:all|every|both)\b")


def block(found: Recognised) -> list[Command]:
    """Return one block for each reach, of which the person chooses: exactly this URL, with any query, everything below."""
    if len(found.urls) != 1:
        return []
    made = [
        RulesMake(
            "Cancel", url, name=found.new_name or f"Block {_short(url)}", expiry=found.expiry, because=found.reason
        )
        for url in complete_url(found.urls[0], found)
    ]
    return [replace(one, match=reach) for one in made for reach in (None, *REACHES)] if len(made) == 1 else [*made]


def _short(url: str) -> str:
    return url.partition("://")[2].rstrip("/")[:120]


def redirect(found: Recognised) -> list[Command]:
    """Return the change of an existing rule's destination; for two URLs a new rule where no active one redirects the first."""
    if len(found.urls) == 2:
        return _redirect_to_another(found)
    if len(found.urls) != 1:
        return []
    url = found.urls[0]
    named = [*found.rows, *found.rules] or found.part_of(found.known.rules)
    sets = [_with_destination(found, ref, url) for ref in named if ref.startswith("#") or found.known.is_redirect(ref)]
    if sets or named or url.startswith("/"):
        return sets
    return [RulesNew("Redirect", url, expiry=found.expiry, because=found.reason)]


def _redirect_to_another(found: Recognised) -> list[Command]:
    first, second = reversed(found.urls) if _is_turned(found) else found.urls
    made: list[Command] = []
    for source in complete_url(first, found, second):
        destination = complete_url(second, found, source)[0]
        there = [*filter(found.known.is_redirect, found.known.rules.find_url(source))]
        found.use([first], there)
        made += [_with_destination(found, rule, destination) for rule in there]
        if not any(found.known.by_id[rule].active for rule in there):
            name = found.new_name or f"{_short(source)} to {_short(destination)}"
            made.append(RulesMake("Redirect", source, destination, name, expiry=found.expiry, because=found.reason))
    return made


def _with_destination(found: Recognised, rule: str, url: str) -> Command:
    return RulesSet((rule,), (("destination", url),), expiry=found.expiry, because=found.reason)


def _is_turned(found: Recognised) -> bool:
    """Whether the destination comes first: “redirect to B from A”."""
    words = found.text.casefold().split()
    return "to" in words and "from" in words and words.index("to") < words.index("from")


def open_form(found: Recognised) -> list[Command]:
    """Return the form of a new rule for each type that is named; one without a type where none is."""
    form = partial(RulesNew, name=found.new_name, expiry=found.expiry, because=found.reason)
    if says_type(found):
        return [form(kind, *found.urls[:2]) for kind in found.types]
    return [form(source=url) for url in complete_url(found.urls[0], found)]


def says_type(found: Recognised) -> bool:
    """Whether the text names a type of rule that needs more than URLs: any but a redirect."""
    return bool(found.types) and "redirect" not in found.words


def switch(kind: type[RulesOn | RulesOff], found: Recognised) -> list[Command]:
    """Return the switch of the rules and groups that are meant; of a URL that no rule is about, where it goes."""
    if many := _every(found, active=kind is RulesOff):
        return [kind(many, expiry=found.expiry, because=found.reason)]
    if len(found.urls) == 1 and not found.rule_refs():
        return show_urls(found)
    groups: list[Command] = [
        RulesGroup(kind.verb, key, expiry=found.expiry, because=found.reason) for key in _groups_of(found)
    ]
    return [*groups, *_each(found, lambda refs: kind(refs, expiry=found.expiry, because=found.reason))]


def take_down(found: Recognised) -> list[Command]:
    """Return the switch of a rule, or the block of a URL that no rule is about."""
    return block(found) if len(found.urls) == 1 and not found.rule_refs() else switch(RulesOff, found)


def delete(found: Recognised) -> list[Command]:
    """Return the deletion of the rules that are meant."""
    if many := _every(found):
        return [RulesDelete(many, because=found.reason)]
    return _each(found, lambda refs: RulesDelete(refs, because=found.reason))


def _groups_of(found: Recognised) -> list[str]:
    if found.groups or found.names_rules:
        return found.groups
    return [] if found.part_of(found.known.rules) else found.part_of(found.known.groups)


def _every(found: Recognised, *, active: bool | None = None) -> tuple[str, ...]:
    """Return all rules of the host or the type that a text names, on or off; none where it names neither, or too many match."""
    led = {before.text for before, after in pairwise(found.tokens) if after.sort is Sort.URL}
    hosts, types, status = [urlsplit(url).netloc for url in found.urls], found.types, found.status
    if "to" in led or any(urlsplit(url).path.strip("/") for url in found.urls):
        return ()  # rules that lead there, which nobody looks up here, or those of one URL
    if not {*found.words} & EACH or not (hosts or types):
        return ()
    meant = found.known.filter_rules(hosts=hosts, types=types, active=active if status is None else status == "on")
    if not 0 < len(meant) <= MAX_ROWS:
        return ()
    found.used |= {*found.urls, *(word for word in found.words if word in TYPES or word in STATUSES or word in EACH)}
    return tuple(meant)


def _each(found: Recognised, command: Callable[[tuple[str, ...]], Command]) -> list[Command]:
    """Return one command for all rules that are named; where a name or a part of one fits several, one for each."""
    refs = tuple(dict.fromkeys(found.rule_refs(loosely=True)))
    every = len(refs) <= MAX_READINGS and ALL_OF.search(found.text.casefold())
    if refs and ((found.names_rules and not found.has_namesakes) or every):
        return [command(refs)]
    return [command((ref,)) for ref in refs]
