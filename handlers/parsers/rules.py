"""The words after ``/rules VERB`` -> a Command."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from bot.domain.checks import has_field, no_field
from bot.domain.rule import KNOWN_TYPES
from handlers.commands import rules as c
from handlers.commands.command import Command
from handlers.parsers.rest import Parser, Rest, Unclear, alone, as_written, page_in
from handlers.words import Word, addresses_typed

ASSIGNMENT: Final = re.compile(r"((?:pair\d{1,4}\.)?(?:source\.)?[A-Za-z]+)=(.*)", re.DOTALL | re.IGNORECASE)
FREE_TEXT: Final = frozenset({"name", "description"})
"""Fields whose value may go on over several words without quotes."""
SORTS: Final = ("name", "type", "changed")
SWITCHED: Final = {
    word: switch for switch, kind in (("on", c.RulesOn), ("off", c.RulesOff)) for word in (kind.verb, *kind.synonyms)
}


def _rules_list(rest: Rest) -> Command:
    filters = rest.filters("type", "status", "url", "group", "sort", "page")
    if (sort := filters.get("sort", "name").casefold()) not in SORTS:
        raise rest.unclear(f"sort:{sort[:20]} is no order; write {', '.join(f'sort:{one}' for one in SORTS)}.")
    if "sort" in filters:
        filters["sort"] = sort
    return c.RulesList(page=page_in(filters, rest), text=rest.rest() or None, **filters)


def _rules_export(rest: Rest) -> Command:
    filters = rest.filters("type", "status")
    here = bool(rest.words) and rest.words[-1].keyword == "here"
    if here:
        rest.words.pop()
    return c.RulesExport(rest.rest() or None, filters.get("type"), filters.get("status"), here)


def _by_ref(kind: Callable[..., Command]) -> Parser:
    return lambda rest: kind(ref=rest.one("which rule"))


def _rules_new(rest: Rest) -> Command:
    because, lasts, name = rest.because(), rest.lasts(), rest.after("named")
    destination = rest.after("to")
    known = {each.casefold(): each for each in KNOWN_TYPES}
    rule_type = None
    if rest.words and rest.words[0].keyword in known:
        rule_type = known[rest.words.pop(0).keyword]
    source = rest.words.pop(0).text if rest.words else None
    if rest.words and destination is None:
        destination = rest.words.pop(0).text
    rest.nothing_more()
    if destination and not has_field(rule_type, "destination"):
        raise rest.unclear(no_field(rule_type, "destination"))
    return c.RulesNew(rule_type, source or None, destination or None, name or None, lasts, because)


def _rules_set(rest: Rest) -> Command:
    because, lasts = rest.because(), rest.lasts()
    first = next((n for n, word in enumerate(rest.words) if not word.quoted and ASSIGNMENT.fullmatch(word.text)), None)
    if first is None:
        raise rest.missing("which field gets which value")
    assignments, rest.words = rest.words[first:], rest.words[:first]
    return c.RulesSet(rest.refs(), _fields(assignments), lasts, because)


def _fields(words: Sequence[Word]) -> tuple[tuple[str, str], ...]:
    """``name=value`` words; a word without ``=`` goes on with the value before it."""
    fields: list[tuple[str, str]] = []
    for word in words:
        if not word.quoted and (match := ASSIGNMENT.fullmatch(word.text)):
            fields.append((match[1], match[2]))
        else:
            name, value = fields[-1]
            if name.casefold() not in FREE_TEXT:
                raise Unclear(
                    f"“{word.text[:60]}” after {name}: put a value with spaces in quotes.", about=(c.RulesSet,)
                )
            fields[-1] = (name, f"{value} {as_written(word)}")
    return tuple((name, _unquoted(value)) for name, value in fields)


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def _switch(kind: Callable[..., Command], on_off: str) -> Parser:
    def parsed(rest: Rest) -> Command:
        because, lasts = rest.because(), rest.lasts()
        if (group := rest.filters("group").get("group")) is not None:
            name = group.strip() or rest.one("which group")
            rest.nothing_more()
            return c.RulesGroup(on_off, name, lasts, because)
        return kind(refs=rest.refs(), lasts=lasts, because=because)

    return parsed


def _rules_group(rest: Rest) -> Command:
    because, lasts = rest.because(), rest.lasts()
    verb = rest.words.pop(0).keyword if rest.words else ""
    if (switch := SWITCHED.get(verb)) is None:
        raise rest.missing("on or off, and which group")
    name = rest.filters("group").get("group") or rest.rest()
    rest.nothing_more()
    if not name.strip():
        raise rest.missing("which group")
    return c.RulesGroup(switch, name.strip(), lasts, because)


def _rules_delete(rest: Rest) -> Command:
    because = rest.because()
    return c.RulesDelete(refs=rest.refs(), because=because)


def _rules_check(rest: Rest) -> Command:
    page = page_in(rest.filters("page"), rest)
    return c.RulesCheck(ref=rest.rest() or None, page=page)


def _rules_samples(rest: Rest) -> Command:
    if not rest.words:
        return c.RulesSamples()
    action = {"add": "add", "remove": "remove", "rm": "remove", "delete": "remove"}.get(rest.words.pop(0).keyword)
    if action is None:
        raise rest.unclear("Samples can be added or removed.")
    urls = tuple(word.text for word in rest.words if word.text.strip())
    if not urls or (action == "remove" and len(urls) > 1):
        raise rest.missing("which URL")
    return c.RulesSamples(action, urls)


def _rules_which(rest: Rest) -> Command:
    """The URL in what was typed or pasted; what is in quotes is one as it stands."""
    words = " ".join(word.text for word in rest.words if not word.quoted)
    exact = [word.text.strip() for word in rest.words if word.quoted and word.text.strip()]
    found = addresses_typed(words) if words else exact
    if not found:
        raise rest.missing("which URL")
    left = f"{words} {' '.join(exact)}" if words else ""
    for url in sorted(found, key=len, reverse=True):
        left = left.replace(url, " ")
    url, *others = found
    return c.RulesWhich(url, tuple(others), within=any(map(str.isalnum, left)))


PARSERS: Final[dict[type[Command], Parser]] = {
    c.RulesList: _rules_list,
    c.RulesShow: lambda rest: c.RulesShow(ref=rest.rest()),
    c.RulesWhich: _rules_which,
    c.RulesCheck: _rules_check,
    c.RulesNew: _rules_new,
    c.RulesEdit: _by_ref(c.RulesEdit),
    c.RulesSet: _rules_set,
    c.RulesCopy: _by_ref(c.RulesCopy),
    c.RulesOn: _switch(c.RulesOn, "on"),
    c.RulesOff: _switch(c.RulesOff, "off"),
    c.RulesGroups: alone(c.RulesGroups),
    c.RulesGroup: _rules_group,
    c.RulesDelete: _rules_delete,
    c.RulesHistory: _by_ref(c.RulesHistory),
    c.RulesExport: _rules_export,
    c.RulesImport: alone(c.RulesImport),
    c.RulesSamples: _rules_samples,
}
