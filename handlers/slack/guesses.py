"""Guess what a text that is not a command may mean, given what exists now: run a question, offer a change as a button."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from bot.changes.freezing import NoFreeze
from bot.changes.refusals import UnknownChange
from bot.clients.cache import Kept
from bot.clients.errors import ClientError
from bot.clients.lists import Listing
from bot.gatehouse import Gatehouse
from bot.members.model import nearest_segments
from bot.rules.model import Rule
from bot.text.emails import BadEmail, checked_email
from bot.threads import run_uncollected
from handlers.blocks.messages import Message
from handlers.changes.deleted import find_deleted
from handlers.changes.requests import resolve_end, resolve_start, zone_of
from handlers.changes.undo import find_undo, title_of_undo
from handlers.errors import NoMember, NothingToExport, NothingToUndo, NotOneGroup, UnknownSegment
from handlers.gatehouse.commands import GatehouseUndo
from handlers.grammar import reading_view
from handlers.grammar.command import Command, Unclear
from handlers.grammar.command_sentences import Context
from handlers.grammar.fields import filters_of
from handlers.grammar.known import Known
from handlers.grammar.parser import expand, refs_of
from handlers.grammar.readings import Readings, read, says_better
from handlers.grammar.time_fields import Expiry, Start
from handlers.members.commands import MembersCommand
from handlers.rules.commands import RulesCommand, RulesOff, RulesOn
from handlers.rules.rule_refs import NotOne, find_rules, look_up
from handlers.slack.reply import Caller

TIMEOUT: Final = 2.0
"""Seconds that the services have to list what exists: without names, URLs and emails are still recognised."""

NOT_THERE: Final = (NothingToUndo, NothingToExport, NoFreeze, UnknownChange)
MISUNDERSTOOD: Final = (Unclear, NotOne, NotOneGroup, BadEmail, NoMember, UnknownSegment, *NOT_THERE)
"""Errors of a command that names nothing that exists, so that its text may mean something else."""


class Guesses:
    """Reads texts that aren't commands; caches the index of existing names while the lists stay the same."""

    def __init__(self, gatehouse: Gatehouse) -> None:
        self._gatehouse = gatehouse
        self._kept = Kept[tuple[Sequence[Sequence[Any] | None], Known]]()
        gatehouse.rules.on_drop(self._kept.drop)
        for site in gatehouse.sites.values():
            site.members.on_drop(self._kept.drop)

    async def readings_of(
        self, typed: tuple[str, str], command: Command | None, error: Exception | None, caller: Caller
    ) -> Readings:
        """Return what *typed* (a root, and the text after it) may mean, where *command* ended in *error* or in nothing.

        Raises Deleted where what it names was removed, and nothing else is called so.
        """
        is_sentence = any((getattr(command, name, None) or "").count(" ") > 1 for name in ("what", "text", "change"))
        is_sentence |= isinstance(error, NothingToUndo) and not any(map(str.isdigit, error.asked or "0"))  # “undo that”
        is_typo = (isinstance(error, UnknownSegment) and error.meant) or (isinstance(error, NoMember) and error.again)
        is_said = is_sentence or isinstance(error, NothingToExport)
        if is_typo or (isinstance(error, NotOne) and error.gap) or (isinstance(error, NOT_THERE) and not is_said):
            return Readings()  # the command is otherwise as it should be, or others may have the name
        if isinstance(error, Unclear) and error.lacks and not typed[1].partition(" ")[2]:
            return Readings()  # the verb of a command alone: what it is about is asked
        if isinstance(error, NotOne) or (isinstance(error, NoMember) and not error.again):
            await self._refuse_deleted(error.ref if isinstance(error, NotOne) else error.email, caller)
        known = await self._known_names(caller)
        readings = read(*typed, known)
        if error is None and command is not None and filters_of(command) and readings.unread:
            return Readings()  # who types filters searches for the other words
        if isinstance(error, Unclear) and (readings.unread or not readings.commands):
            await self._refuse_deleted(typed[1], caller)
        if known.missing and not any(each.writes for each in readings.commands):
            return replace(readings, unread=readings.unread or (typed[1],), missing=tuple(known.missing))
        is_better = error and not isinstance(error, NOT_THERE) and says_better(error, readings)
        is_only_near = not (readings.commands or readings.missing or readings.impossible)
        is_only_near &= not (isinstance(error, Unclear) or (error is None and is_sentence)) or not readings.nearest
        is_only_near |= isinstance(error, NothingToExport) and not (
            is_sentence or getattr(command, "text", "") in known.segments
        )
        if command in readings.commands or is_better or is_only_near:
            return Readings()
        return readings

    async def _refuse_deleted(self, name: str, caller: Caller) -> None:
        """Raise Deleted where *name* is that of a rule or a member that was removed, and that *caller* may know of."""
        allowed = await self._gatehouse.access.refusals_by_operation(caller.user, caller.channel)
        services = [kind.service for kind in (RulesCommand, MembersCommand) if allowed[kind.reads] is None]
        if (deleted := await find_deleted(name, services, self._gatehouse)) is not None:
            raise deleted

    async def preview(self, readings: Readings, caller: Caller, asked: str, facts: str = "") -> Message:
        """Return the card that offers *readings*; their times are fixed, so its buttons do the same whenever they are clicked.

        *facts*: as of `ShownFirst`.
        """
        zone = zone_of((await self._gatehouse.access.directory.person(caller.user)).tz)
        known = await self._known_names(caller)
        is_change = any(each.writes for each in readings.commands)
        if readings.unread or readings.nothing or readings.is_guess or not is_change:
            context = Context(known.titles, zone, known.people)
            return reading_view.unclear_message(readings, context, asked=asked)
        expanded = [await self._resolve(each, caller, known) for each in readings.commands]
        # Of several, those that would change something; where none would, a click says who made it so.
        found = [each for each in expanded if not _is_switched(each, known.by_id)]
        note = "" if found else "Its own switch is already that way: nothing would change."
        fixed = [await self._fix_times(each, caller) for each in found or expanded]
        undos = {each.change for each in fixed if isinstance(each, GatehouseUndo)}
        led_to = {each or "": title_of_undo(await find_undo(each, caller, self._gatehouse)) for each in undos}
        context = Context({**known.titles, **led_to}, zone, known.people)
        return reading_view.preview(fixed, context, asked=asked, facts=facts, note=note)

    async def _resolve(self, command: Command, caller: Caller, known: Known) -> Command:
        """Return *command* with the ids of the rules that it names, as typed; raises as `find_rules` and `checked_email` do."""
        short = caller.shorthand or await look_up(command, caller, self._gatehouse)
        command = expand(command, short)
        refs = refs_of(command)
        if isinstance(command, MembersCommand):
            if command.writes and command.has("site") and len(known.sites) > 1:
                command = command.with_fields(site=command.site or known.site)
            for email in refs:
                checked_email(email)
            for name in getattr(command, "segments", ()):  # “give anna his access back” names none
                if not known.missing and name.casefold() not in known.segments:
                    meant = nearest_segments(name, tuple(known.segments.values()))
                    raise UnknownSegment(name, command.site or known.site, meant, {})
        elif command.has("refs") and not known.by_id.keys() >= {*refs}:
            return command.with_fields(refs=tuple(rule.id for rule in await find_rules(refs, self._gatehouse)))
        return command

    async def _fix_times(self, command: Command, caller: Caller) -> Command:
        """Return *command* with its times as moments; raises as `resolve_start` and `resolve_end` do."""
        start, expiry = command.start, command.expiry
        begins, fixed = caller.asked_at or self._gatehouse.now(), dict[str, Any]()
        if start is not None:
            begins, _ = await resolve_start(start, caller, self._gatehouse)
            fixed["start"], expiry = Start.at_moment(begins), expiry or start.end
        if expiry is not None and expiry.wall is not None:
            ends, _ = await resolve_end(expiry, begins, caller, self._gatehouse)
            fixed["expiry"] = Expiry.at_moment(ends)
        return command.with_fields(**fixed)

    async def _known_names(self, caller: Caller) -> Known:
        """Return what exists and the caller may know of."""
        gatehouse = self._gatehouse
        allowed = await gatehouse.access.refusals_by_operation(caller.user, caller.channel)
        known = await self._all_names()
        if allowed[RulesCommand.reads] is not None:
            # A name that somebody may not read must not come back to them in a guess.
            known = replace(known, rules=Known().rules, groups=Known().groups, titles={}, by_id={}, contents="")
        if allowed[MembersCommand.reads] is not None:
            known = replace(
                known, members=Known().members, people={}, segments={}, missing=[*({*known.missing} & {"rules"})]
            )
        segments = {name.casefold(): name for name in gatehouse.extra_segments}
        return replace(known, segments=segments | dict(known.segments), site=gatehouse.site(None).name)

    async def _all_names(self) -> Known:
        rules, *members = await asyncio.gather(
            self._list_soon(self._gatehouse.rules.recent()),
            *(self._list_soon(site.members.recent()) for site in self._gatehouse.sites.values()),
        )
        groups = await self._gatehouse.groups.groups()
        lists, kept = (rules, *members), self._kept.value
        # Compared by identity: as long as a cache keeps a list, it has not changed.
        if kept is not None and all(new is old for new, old in zip(lists, kept[0], strict=True)):
            return kept[1]
        named = dict(zip(self._gatehouse.sites, members, strict=True))
        missing = tuple(name for name, there in {"rules": rules, **named}.items() if there is None)
        people = {name: there or () for name, there in named.items()}
        build = partial(Known.of, rules=rules or (), members=people, groups=dict(groups.names) if groups else {})
        known = replace(await run_uncollected(build), missing=missing)
        self._kept.put((lists, known))
        return known

    async def _list_soon(self, asked: Any) -> Sequence[Any] | None:
        """Return the list of a service; None where it does not answer soon: a guess is not worth waiting for."""
        try:
            async with asyncio.timeout(TIMEOUT):
                listing: Listing[Any] = await asked
        except (ClientError, TimeoutError):
            return None
        return listing.known


def _is_switched(command: Command, rules: Mapping[str, Rule]) -> bool:
    """Whether *command* switches rules, at once, that are all so already; *rules*: those that exist, by id."""
    if not isinstance(command, RulesOn | RulesOff) or command.start is not None:
        return False
    return all((rule := rules.get(ref)) and rule.active == isinstance(command, RulesOn) for ref in command.refs)
