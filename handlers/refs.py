"""What a person means by a REF: an id, ``#n`` of their last list, a name, a part of one, or a source URL.

Ambiguous means a pick list, never a guess.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence

from bot.clients.errors import NotFound
from bot.clients.indexes import looked_up
from bot.domain.change import Change
from bot.domain.group import Groups
from bot.domain.rule import RULE_ID, Rule
from bot.gatehouse import Gatehouse
from handlers.grouping import groups_of
from handlers.reply import Caller

NUMBERED = re.compile(r"#([0-9]{1,6})")
CANDIDATES = 10
MOST = 100
"""Rules that one command may name."""
NEAR = 3
REFERENCE = re.compile(r"[0-9a-fA-F]{6,32}")
"""The beginning of a change's id, as cards show it."""


class NotOne(Exception):
    """A REF that fits no rule, or several; *candidates* are the first of those, *count* is how many there are.


    *near*: rules whose names are like it, where it fits none.
    """

    def __init__(
        self,
        ref: str,
        candidates: Sequence[Rule],
        count: int,
        groups: Groups | None = None,
        near: Sequence[Rule] = (),
    ) -> None:
        super().__init__(count)
        self.groups = groups
        self.ref = ref
        self.candidates = tuple(candidates)
        self.count = count
        self.near = tuple(near)


class NoSuchNumber(Exception):
    """``#n`` beyond the last list, or without one."""

    def __init__(self, ref: str, shown: int) -> None:
        super().__init__(ref)
        self.ref = ref
        self.shown = shown


class TooMany(Exception):
    """More things at once than one command takes."""

    def __init__(self, count: int, most: int) -> None:
        super().__init__(count)
        self.count = count
        self.most = most


async def find_rule(ref: str, caller: Caller, gatehouse: Gatehouse) -> Rule:
    """The one rule that *ref* means, fresh from the service; raises NotOne, NoSuchNumber or a client's error."""
    if match := NUMBERED.fullmatch(ref):
        ref = await _numbered(ref, int(match[1]), caller, gatehouse)
    ref = await gatehouse.store.aliases.resolve(ref)
    if RULE_ID.fullmatch(ref):
        try:
            return await gatehouse.rules.get(ref)
        except NotFound:
            pass  # it may be a name that looks like an id
    listing = await gatehouse.rules.all()
    fitting = await asyncio.to_thread(fitting_rules, ref, listing.rules)
    if not fitting:
        near = [hit.item for hit in await looked_up(await gatehouse.rules.index(), ref, most=NEAR)]
        raise NotOne(ref, (), 0, await groups_of(near, gatehouse), near)
    if len(fitting) > 1:
        shown = fitting[:CANDIDATES]
        raise NotOne(ref, shown, len(fitting), await groups_of(shown, gatehouse))
    return await gatehouse.rules.get(fitting[0].id)


async def find_rules(refs: Sequence[str], caller: Caller, gatehouse: Gatehouse) -> Sequence[Rule]:
    """The rules that *refs* mean, each once; raises as `find_rule` does, TooMany for more than MOST."""
    if len(refs) > MOST:
        raise TooMany(len(refs), MOST)
    found = [await find_rule(ref, caller, gatehouse) for ref in refs]
    return list({rule.id: rule for rule in found}.values())


async def _numbered(ref: str, number: int, caller: Caller, gatehouse: Gatehouse) -> str:
    shown = await gatehouse.store.lists.get(caller.user, "rules")
    if not 1 <= number <= len(shown):
        raise NoSuchNumber(ref, len(shown))
    return shown[number - 1]


def fitting_rules(ref: str, rules: Sequence[Rule]) -> list[Rule]:
    """The rules that *ref* fits in the first way in which it fits any: id, name, source URL, part of name, part of id."""
    wanted = ref.strip().casefold()
    if not wanted:
        return []
    ways: tuple[Callable[[Rule], bool], ...] = (
        lambda rule: rule.id == ref.strip(),
        lambda rule: (rule.name or "").strip().casefold() == wanted,
        lambda rule: wanted in _sources(rule),
        lambda rule: wanted in (rule.name or "").casefold(),
        lambda rule: wanted in rule.id.casefold(),
    )
    for way in ways:
        if found := [rule for rule in rules if way(rule)]:
            return found
    return []


def _sources(rule: Rule) -> set[str]:
    return {(pair.source.value or "").casefold() for pair in rule.pairs or () if pair.source and pair.source.value}


async def change_called(reference: str, gatehouse: Gatehouse) -> Change | None:
    """The change whose id begins with *reference*; None where there is none, or more than one."""
    found = await gatehouse.store.changes.called(reference.lower()) if REFERENCE.fullmatch(reference) else ()
    return found[0] if len(found) == 1 else None
