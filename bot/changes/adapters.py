"""How rules, groups and members are read and written, behind one interface."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from bot.changes.model.change import Change
from bot.changes.model.documents import Document
from bot.changes.model.edits import Kind, Target
from bot.changes.targets import Snapshot, key_of
from bot.changes.verify import accept_if_done
from bot.clients.errors import AlreadyExists, ClientError, NotFound, OutcomeUnknown
from bot.clients.members import MembersClient
from bot.clients.rules import GroupsClient, RulesClient
from bot.members.model import Member, choose_spelling, email_key, find_alike
from bot.rules.model import Group, Rule, RuleDraft

MAX_SINGLE_READS: Final = 10
"""Up to how many rules are read one by one instead of from the whole list."""


def snapshot_of_rules(rules: Iterable[Rule]) -> Snapshot:
    """Return the state of *rules*."""
    by_id = {rule.id: rule for rule in rules}
    named: dict[str | None, list[Rule]] = {}
    for rule in by_id.values():
        named.setdefault(rule.name, []).append(rule)
    return Snapshot(by_id.get, named)


@dataclass(frozen=True, slots=True)
class RuleAdapter:
    """Reads and writes rules."""

    client: RulesClient

    async def snapshot(self, targets: Sequence[Target]) -> Snapshot:
        keys = [target.key for target in targets if target.key is not None]
        # A rule that is yet to be created has no id: it can only be found among all of them.
        if len(keys) < len(targets):
            return snapshot_of_rules((await self.client.fresh()).whole())
        if len(keys) <= MAX_SINGLE_READS:
            return snapshot_of_rules(await self._get_all(keys))
        listing = await self.client.fresh()
        known = {rule.id for rule in listing.known}
        # A list that was cut off says nothing about a rule that is not in it.
        left = [key for key in keys if key not in known] if listing.truncated else []
        return snapshot_of_rules([*listing.known, *await self._get_all(left)])

    async def _get_all(self, keys: Iterable[str]) -> list[Rule]:
        found = await asyncio.gather(*map(self._get, keys))
        return [rule for rule in found if rule is not None]

    async def _get(self, key: str) -> Rule | None:
        try:
            return await self.client.get(key)
        except NotFound:
            return None

    async def write(self, change: Change) -> Document | None:
        match change.edit.kind:
            case Kind.RULE_CREATE:
                return (await self.client.create(_draft(change))).document()
            case Kind.RULE_UPDATE:
                await self.client.update(key_of(change), _draft(change))
            case Kind.RULE_DELETE:
                await self._delete(change)
            case _:
                raise ValueError(change.edit.kind)
        return None

    async def _delete(self, change: Change) -> None:
        try:
            await self.client.delete(key_of(change))
        except NotFound as error:
            await accept_if_done(error, self, change)


def _draft(change: Change) -> RuleDraft:
    return RuleDraft.model_validate(change.edit.after)


def snapshot_of_members(members: Iterable[Member]) -> Snapshot:
    """Return the state of *members*, to be found in whatever case their emails are written."""
    alike: dict[str, list[Member]] = {}
    for member in members:
        alike.setdefault(member.identity, []).append(member)
    return Snapshot(lambda key: choose_spelling(alike.get(email_key(key), []), key))


@dataclass(frozen=True, slots=True)
class MemberAdapter:
    """Reads and writes the members of one site."""

    client: MembersClient

    async def snapshot(self, targets: Sequence[Target]) -> Snapshot:
        """Read all *targets*; raises Incomplete where one is not in the part of the members that was read."""
        listing = await self.client.fresh()
        keys = [(target.key or "").strip() for target in targets]
        members = find_alike(listing.known, keys)
        if not {member.email for member in members}.issuperset(keys):
            listing.whole()  # or it may be in the rest
        return snapshot_of_members(members)

    async def write(self, change: Change) -> None:
        email = key_of(change)
        try:
            match change.edit.kind:
                case Kind.MEMBER_ADD:
                    await self.client.add(Member.model_validate(change.edit.after))
                case Kind.MEMBER_REMOVE:
                    await self.client.remove(email)
                case _:
                    await self._edit(email, change)
        except (AlreadyExists, NotFound) as error:
            await accept_if_done(error, self, change)

    async def _edit(self, email: str, change: Change) -> None:
        """Send the edit step by step. A step that fails after another succeeded leaves the edit half done, whatever the error."""
        for number, step in enumerate(self._steps(email, change)):
            try:
                await step()
            except ClientError as error:
                # Before the first step nothing was done, so its error says what it always says.
                if number == 0:
                    raise
                raise OutcomeUnknown(error.service, f"half done: the next step failed: {error}") from error

    def _steps(self, email: str, change: Change) -> Iterator[Callable[[], Awaitable[None]]]:
        """Yield the calls for what differs; segments have operations of their own, since PATCH may replace or merge them."""
        before, after = Member.model_validate(change.edit.before), Member.model_validate(change.edit.after)
        if after.name != before.name:
            # Whether PATCH replaces the segments or merges them, the ones from before leave them as they are.
            yield partial(self.client.update, email, name=after.name, segments=before.segments)
        if added := [name for name in after.segments if name not in before.segments]:
            yield partial(self.client.grant, email, added)
        if dropped := [name for name in before.segments if name not in after.segments]:
            yield partial(self.client.revoke, email, dropped)


@dataclass(frozen=True, slots=True)
class GroupAdapter:
    """Reads and updates groups; Gatehouse never creates or deletes one."""

    client: GroupsClient

    async def snapshot(self, targets: Sequence[Target]) -> Snapshot:
        groups = {target.key or "": await self.client.find(target.key or "") for target in targets}
        return Snapshot(groups.get)

    async def write(self, change: Change) -> None:
        group = Group.model_validate({**(change.edit.after or {}), "id": key_of(change)})
        await self.client.update(group)
