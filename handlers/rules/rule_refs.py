"""Find the rules that a person means by a REF: an id, ``#n`` of their last list, a name, a part of one, or a source URL.

A REF that fits several rules gets a list to pick from, never a guess.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from bot.changes.model.change import Change
from bot.clients.cache import search_items
from bot.clients.errors import NotFound
from bot.clients.lists import Gap, Listing
from bot.gatehouse import Gatehouse
from bot.rules.lint.coverage import to_switch
from bot.rules.model import USUAL_RULE_ID, Groups, Rule, RuleDraft
from bot.store.audit import Entry
from bot.store.named_values import LastList
from bot.text.names import Fit, Meant, is_bare_number, named_rule, resolve_name
from bot.threads import run_over
from handlers.blocks.messages import code, plural
from handlers.errors import NothingToUndo, Refusal, TooMany, Words
from handlers.grammar.command import Command
from handlers.grammar.parser import Shorthand, listed_service, needs_last_act, needs_site, numbers_in
from handlers.rules.commands import RulesList
from handlers.slack.payloads import caller_of, read
from handlers.slack.reply import Caller


async def groups_of(rules: Iterable[RuleDraft], gatehouse: Gatehouse) -> Groups | None:
    """Return the groups, where one of *rules* is in any; None where none is, or the service says nothing about groups."""
    return await gatehouse.groups.groups() if any(rule.group_id for rule in rules) else None


CANDIDATES = 10
MAX_RULES_PER_COMMAND = 100
"""Rules that one command may name."""
NEAR = 3
REFERENCE = re.compile(r"[0-9a-fA-F]{6,32}")
"""The beginning of a change's id, as cards show it."""
ACT: Final = "act:"
"""Followed by the number of an entry of the audit: the reference of something that a person did."""


class NotOne(Refusal):
    """A REF that fits no rule, or several; *candidates* are the first of those, *count* is how many there are.

    *near*: rules whose names are like it, where it fits none; *gap*: rules that were not read might fit, too.
    """

    ref: str
    candidates: Sequence[Rule]
    count: int
    groups: Groups | None = None
    near: Sequence[Rule] = ()
    gap: Gap | None = None

    def words(self) -> Words:
        fits = f"{plural(self.count, 'rule')} {'matches' if self.count == 1 else 'match'}" if self.candidates else ""
        return Words(f"{fits or 'No rule matches'} {code(self.ref, 200)}.")


class BareNumber(Refusal):
    """A number without its ``#`` that is not the id or name of a rule."""

    ref: str

    def words(self) -> Words:
        what = f"There is no rule {code(self.ref)}. A number on its own has to be a rule’s id or its whole name."
        row = " ".join(f"#{number}" for number in self.ref.split())
        return Words(what, next=f"For a row of your list, write {code(row)}.", again={"List rules": RulesList()})


async def look_up(command: Command, caller: Caller, gatehouse: Gatehouse) -> Shorthand:
    """Return what the short forms of *command* stand for at this moment; reads the database and nothing else.

    Raises NothingToUndo where the last thing that *caller* did is still at work.
    """
    store = gatehouse.store
    numbers = numbers_in(command)
    last = await store.lists.get(caller.user, listed_service(command)) if numbers else LastList(in_sight=True)
    rows = {ref: last.refs[int(ref[1:]) - 1] for ref in numbers if 1 <= int(ref[1:]) <= len(last.refs)}
    act = await _last_act(caller, gatehouse) if needs_last_act(command) else None
    return Shorthand(
        rows=rows,
        shown=len(last.refs),
        in_sight=last.in_sight,
        act=f"{ACT}{act.seq}" if act else None,
        site=gatehouse.site(None).name if needs_site(command) else None,
    )


async def _last_act(caller: Caller, gatehouse: Gatehouse) -> Entry | None:
    """Return the last thing that *caller* did in the channel; raises NothingToUndo where that isn't on record yet."""
    # Before the audit is read: what is recorded in between is newer than its request.
    unfinished = await gatehouse.store.inbox.list_unfinished()
    act = await gatehouse.store.audit.last_act(caller.user, caller.channel)
    for kept in unfinished:
        by = caller_of(kept.kind, kept.payload)
        is_earlier = kept.id != caller.request and (by.user, by.channel) == (caller.user, caller.channel)
        if is_earlier and (act is None or act.at < kept.received):
            asked = read(kept.kind, kept.payload).asked
            raise NothingToUndo(None, f"{code(asked, 200) if asked else 'your last click'} is still under way")
    return act


async def find_rule(ref: str, gatehouse: Gatehouse) -> Rule:
    """Return the one rule that *ref* names, fresh from the service; raises NotOne, BareNumber or a client's error."""
    return (await _find_all([ref], gatehouse, are_sure=False))[0]


async def find_rules(refs: Sequence[str], gatehouse: Gatehouse) -> Sequence[Rule]:
    """Return the rules that *refs* name, each once; raises as `find_rule` does, TooMany over MAX_RULES_PER_COMMAND."""
    if len(refs) > MAX_RULES_PER_COMMAND:
        raise TooMany(len(refs), MAX_RULES_PER_COMMAND)
    return list({rule.id: rule for rule in await _find_all(refs, gatehouse, are_sure=True)}.values())


async def _find_all(refs: Sequence[str], gatehouse: Gatehouse, *, are_sure: bool) -> Sequence[Rule]:
    """Return a rule for each of *refs*, fresh from the service; the list of all rules is read at most once.

    *are_sure*: whether a part of a name needs some letters, and the word “rule” belongs to it.
    """
    ids = await gatehouse.store.former_ids.resolve_all(refs)
    names = list(dict.fromkeys(ids[ref] for ref in refs))
    with_id = await asyncio.gather(*(_rule_with_id(name, gatehouse) for name in names))
    found = {name: rule for name, rule in zip(names, with_id, strict=True) if rule is not None}
    if others := [name for name in names if name not in found]:
        found |= await _find_by_name(others, gatehouse, are_sure=are_sure)
    return [found[name] for name in names]


async def _find_by_name(names: Sequence[str], gatehouse: Gatehouse, *, are_sure: bool) -> Mapping[str, Rule]:
    """Return the one rule that each of *names*, which are not ids, fits; raises as `find_rule` does."""
    listing = await gatehouse.rules.all()
    readings = await run_over(listing.known, _match_refs, names, listing.known, without_kind=not are_sure)
    for found in readings:
        if not found.things and is_bare_number(found.text):
            raise BareNumber(found.text)
        is_clear = found.is_sure if are_sure else len(found.things) == 1
        # A rule that was not read may have the same name, though not the same id.
        may_mean_others = listing.truncated and found.fit is not Fit.ID
        if not is_clear or may_mean_others:
            raise await _not_one_error(found.text, found.things, listing, gatehouse)
    fresh = await asyncio.gather(*(gatehouse.rules.get(found.things[0].id) for found in readings))
    return dict(zip(names, fresh, strict=True))


async def refs_on_host(refs: Sequence[str], gatehouse: Gatehouse, *, on: bool) -> tuple[str, ...]:
    """Return `to_switch` of the host that *refs* are; none where that is no host, or a rule is called so. Raises Incomplete."""
    if len(refs) != 1 or "." not in (host := refs[0].casefold()):
        return ()
    known = (await gatehouse.rules.all()).whole()
    return () if any(rule.title.casefold() == host for rule in known) else to_switch(known, {host}, on=on)


def _match_refs(refs: Sequence[str], rules: Sequence[Rule], *, without_kind: bool) -> list[Meant[Rule]]:
    """Return what each of *refs* fits; where it fits nothing, and *without_kind*, “rule Old shop” is read as “Old shop”."""
    named = [named_rule(rule) for rule in rules]
    found = [resolve_name(ref, named) for ref in refs]
    if not without_kind:
        return found
    return [each if each.things else resolve_name(A_RULE.sub("", each.text), named) for each in found]


A_RULE: Final = re.compile(r"(?:the )?rule (?=\S)", re.IGNORECASE)


async def _rule_with_id(rule_id: str, gatehouse: Gatehouse) -> Rule | None:
    """Return the rule with this id; None where there is none: it may be a name that looks like an id."""
    if USUAL_RULE_ID.fullmatch(rule_id):
        with suppress(NotFound):
            return await gatehouse.rules.get(rule_id)
    return None


async def _not_one_error(ref: str, fitting: Sequence[Rule], listing: Listing[Rule], gatehouse: Gatehouse) -> NotOne:
    """Return the error for *ref*; raises Incomplete where it fits nothing, but only a part of the list was read."""
    if fitting:
        shown = fitting[:CANDIDATES]
        return NotOne(ref, shown, len(fitting), await groups_of(shown, gatehouse), gap=listing.gap)
    listing.whole()
    return await no_rule_error(ref, gatehouse)


async def no_rule_error(ref: str, gatehouse: Gatehouse) -> NotOne:
    """Return the error for *ref* where no rule has it, with the rules whose names are like it."""
    near = [hit.item for hit in await search_items(await gatehouse.rules.index(), ref, most=NEAR)]
    return NotOne(ref, (), 0, await groups_of(near, gatehouse), near)


async def find_change(reference: str, gatehouse: Gatehouse) -> Change | None:
    """Return the change whose id begins with *reference*; None where there is none, or more than one."""
    found = await gatehouse.store.changes.find_by_prefix(reference.lower()) if REFERENCE.fullmatch(reference) else ()
    return found[0] if len(found) == 1 else None
