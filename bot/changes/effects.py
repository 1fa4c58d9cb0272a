"""What each kind of change means to its service: read the target, write it, and tell from reading whether it came true.

The specifications give no idempotency key, no version and no precondition, so the only proof that a write
happened is the state of the service afterwards.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from typing import Any, Final, Protocol

from bot.clients.errors import AlreadyExists, ClientError, NotFound, OutcomeUnknown, Refusal
from bot.clients.groups import GroupsClient
from bot.clients.members import MembersClient
from bot.clients.rules import RulesClient
from bot.domain.change import Change, Kind, Target, essence
from bot.domain.group import Group
from bot.domain.member import Member
from bot.domain.rule import Rule, RuleDraft

Document = dict[str, Any]

FEW: Final = 10
"""Rules that are rather read one by one than out of the whole list."""


class Truth(Enum):
    """What reading back says of a change."""

    DONE = auto()
    NOT_DONE = auto()
    NEITHER = auto()
    """The target is neither as it was nor as it should be: somebody must look."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The target as it was read back, and what that says."""

    truth: Truth
    live: Document | None


class Snapshot(Protocol):
    """One service as it was read at one moment, for many changes at once."""

    def live(self, target: Target) -> Document | None:
        """The target as it then was, or None where it did not exist."""

    def twins(self, change: Change) -> list[str]:
        """Keys of things that existed already and looked just like what *change* would create."""

    def reading(self, change: Change) -> Reading:
        """What the snapshot says of a change that was sent."""


class Effects(Protocol):
    """How changes to one service are read, written and verified. Every method raises the clients' errors."""

    async def live(self, target: Target) -> Document | None:
        """The target as it is now, or None where it does not exist."""

    async def twins(self, change: Change) -> list[str]:
        """Keys of things that exist already and look just like what *change* would create."""

    async def write(self, change: Change) -> str:
        """Send the change once. Return what the service answered, for people; a created thing's key where it tells.

        A refusal that is raised means that nothing was done: OutcomeUnknown where a part was, or may have been.
        """

    async def read_back(self, change: Change, twins: Iterable[str]) -> Reading:
        """Compare the service's state with the change's before and after."""

    async def snapshot(self, targets: Sequence[Target]) -> Snapshot:
        """These targets as they are now; one without a key, that is to be created, among all there is."""


def _verdict(change: Change, live: Document | None) -> Reading:
    now, before, after = essence(live), essence(change.before), essence(change.after)
    if _holds(now, after):
        return Reading(Truth.DONE, live)
    return Reading(Truth.NOT_DONE if now == before else Truth.NEITHER, live)


def _holds(live: Document | None, wanted: Document | None) -> bool:
    """Whether *live* has all that was *wanted*; a service may add fields of its own to what it was sent."""
    if live is None or wanted is None:
        return live is wanted
    return all(_same(live.get(name), value) for name, value in wanted.items())


def _same(live: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping) and isinstance(live, Mapping):
        return all(_same(live.get(name), value) for name, value in wanted.items())
    if isinstance(wanted, list) and isinstance(live, list):
        return len(live) == len(wanted) and all(map(_same, live, wanted))
    return bool(live == wanted)


async def _believed(refused: Refusal, effects: Effects, change: Change) -> str:
    """Raise *refused*, unless the target is as it should be: then return the service's words.

    The target was read a moment before the write. If it is "not found" for a deletion, or "there already" for an
    addition, the likely reason is a gateway that sent our request twice, and passed on what the second one got.
    """
    try:
        reading = await effects.read_back(change, ())
    except ClientError as error:
        raise OutcomeUnknown(refused.service, f"{refused}; and then it could not be read: {error}") from error
    if reading.truth is not Truth.DONE:
        raise refused
    return str(refused)


class RuleSnapshot:
    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = {rule.id: rule for rule in rules}
        self._named: dict[tuple[str | None, str | None], list[Rule]] = {}
        for rule in self._rules.values():
            self._named.setdefault((rule.name, rule.rule_type), []).append(rule)

    def live(self, target: Target) -> Document | None:
        rule = self._rules.get(target.key or "")
        return None if rule is None else rule.document()

    def twins(self, change: Change) -> list[str]:
        draft, wanted = _draft(change), essence(change.after)
        alike = self._named.get((draft.name, draft.rule_type), ())
        return [rule.id for rule in alike if _holds(essence(rule.document()), wanted)]

    def reading(self, change: Change) -> Reading:
        if change.kind is not Kind.RULE_CREATE or change.target.key is not None:
            return _verdict(change, self.live(change.target))
        known = _alike_before(change)
        born = [key for key in self.twins(change) if key not in known]
        if len(born) > 1:  # somebody must look: one of them is too many
            return Reading(Truth.NEITHER, None)
        found = change.target.model_copy(update={"key": born[0] if born else None})
        return _verdict(change, self.live(found))


class MemberSnapshot:
    def __init__(self, members: Iterable[Member]) -> None:
        self._members = list(members)
        self._exact = {member.email: member for member in self._members}
        self._alike: dict[str, list[Member]] = {}
        for member in self._members:
            self._alike.setdefault(member.email.casefold(), []).append(member)

    def live(self, target: Target) -> Document | None:
        key = target.key or ""
        alike = self._alike.get(key.strip().casefold(), [])
        member = self._exact.get(key) or (alike[0] if len(alike) == 1 else None)
        return None if member is None else member.document()

    def twins(self, change: Change) -> list[str]:  # noqa: ARG002  a member's e-mail is its key: no twins
        return []

    def reading(self, change: Change) -> Reading:
        return _verdict(change, self.live(change.target))


@dataclass(frozen=True, slots=True)
class GroupSnapshot:
    groups: Mapping[str, Document | None]

    def live(self, target: Target) -> Document | None:
        return self.groups.get(target.key or "")

    def twins(self, change: Change) -> list[str]:  # noqa: ARG002  nothing is created
        return []

    def reading(self, change: Change) -> Reading:
        return _verdict(change, self.live(change.target))


@dataclass(frozen=True, slots=True)
class RuleEffects:
    client: RulesClient

    async def live(self, target: Target) -> Document | None:
        rule = None if target.key is None else await self._get(target.key)
        return None if rule is None else rule.document()

    async def twins(self, change: Change) -> list[str]:
        listing = await self.client.all()
        wanted = essence(change.after)
        return [rule.id for rule in listing.rules if _holds(essence(rule.document()), wanted)]

    async def snapshot(self, targets: Sequence[Target]) -> Snapshot:
        keys = [target.key for target in targets if target.key is not None]
        if len(keys) < len(targets) or len(keys) > FEW:
            return RuleSnapshot((await self.client.all()).rules)
        found = await asyncio.gather(*map(self._get, keys))
        return RuleSnapshot(rule for rule in found if rule is not None)

    async def _get(self, key: str) -> Rule | None:
        try:
            return await self.client.get(key)
        except NotFound:
            return None

    async def write(self, change: Change) -> str:
        match change.kind:
            case Kind.RULE_CREATE:
                return await self._created(change)
            case Kind.RULE_UPDATE:
                return (await self.client.update(_key(change), _draft(change))).id
            case Kind.RULE_DELETE:
                return await self._deleted(change)
        raise ValueError(change.kind)

    async def _created(self, change: Change) -> str:
        """The id that the service gave, once it reads so: an answer meant for another names another's rule."""
        made = await self.client.create(_draft(change))
        try:
            live = await self.live(change.target.model_copy(update={"key": made.id}))
        except ClientError as error:
            raise OutcomeUnknown(error.service, f"created, it says, but it could not be read: {error}") from error
        ours = _holds(essence(live), essence(change.after)) or essence(live) == essence(made.document())
        if not ours or made.id in _alike_before(change):
            raise OutcomeUnknown("rules", "the answer names another rule")
        return made.id

    async def _deleted(self, change: Change) -> str:
        try:
            return await self.client.delete(_key(change))
        except NotFound as error:
            return await _believed(error, self, change)

    async def read_back(self, change: Change, twins: Iterable[str]) -> Reading:
        if change.kind is not Kind.RULE_CREATE:
            return _verdict(change, await self.live(change.target))
        known = {*twins, *_alike_before(change)}
        born = [key for key in await self.twins(change) if key not in known]
        if len(born) > 1:  # somebody must look: one of them is too many
            return Reading(Truth.NEITHER, None)
        key = change.target.key or (born[0] if born else None)
        live = await self.live(change.target.model_copy(update={"key": key}))
        return _verdict(change, live)


@dataclass(frozen=True, slots=True)
class MemberEffects:
    client: MembersClient

    async def live(self, target: Target) -> Document | None:
        member = await self.client.find(target.key or "")
        return None if member is None else member.document()

    async def twins(self, change: Change) -> list[str]:  # noqa: ARG002  a member's e-mail is its key: no twins
        return []

    async def snapshot(self, targets: Sequence[Target]) -> Snapshot:  # noqa: ARG002  there is only the whole list
        return MemberSnapshot(await self.client.all())

    async def write(self, change: Change) -> str:
        email = _key(change)
        try:
            match change.kind:
                case Kind.MEMBER_ADD:
                    await self.client.add(Member.model_validate(change.after))
                case Kind.MEMBER_REMOVE:
                    await self.client.remove(email)
                case _:
                    await self._edit(email, change)
        except (AlreadyExists, NotFound) as error:
            return await _believed(error, self, change)
        return email

    async def _edit(self, email: str, change: Change) -> None:
        """Step by step. A step that fails after another was taken leaves the edit half done, whatever it failed with."""
        for number, step in enumerate(self._steps(email, change)):
            try:
                await step()
            except ClientError as error:
                if number == 0:
                    raise
                raise OutcomeUnknown(error.service, f"half done: the next step failed: {error}") from error

    def _steps(self, email: str, change: Change) -> Iterator[Callable[[], Awaitable[None]]]:
        """Only what differs, and segments by their own operations: whether PATCH replaces or merges is not given."""
        before, after = Member.model_validate(change.before), Member.model_validate(change.after)
        if after.name != before.name:
            yield partial(self.client.update, email, name=after.name, segments=before.segments)
        if added := [name for name in after.segments if name not in before.segments]:
            yield partial(self.client.grant, email, added)
        if dropped := [name for name in before.segments if name not in after.segments]:
            yield partial(self.client.revoke, email, dropped)

    async def read_back(self, change: Change, twins: Iterable[str]) -> Reading:  # noqa: ARG002  see twins
        return _verdict(change, await self.live(change.target))


@dataclass(frozen=True, slots=True)
class GroupEffects:
    """Groups are only ever changed: nothing creates one here, and nothing deletes one."""

    client: GroupsClient

    async def live(self, target: Target) -> Document | None:
        group = await self.client.find(target.key or "")
        return None if group is None else group.document()

    async def twins(self, change: Change) -> list[str]:  # noqa: ARG002  nothing is created
        return []

    async def write(self, change: Change) -> str:
        return (await self.client.update(Group.model_validate({**(change.after or {}), "id": _key(change)}))).id

    async def read_back(self, change: Change, twins: Iterable[str]) -> Reading:  # noqa: ARG002  see twins
        return _verdict(change, await self.live(change.target))

    async def snapshot(self, targets: Sequence[Target]) -> Snapshot:
        return GroupSnapshot({target.key or "": await self.live(target) for target in targets})


def _alike_before(change: Change) -> list[str]:
    """The ids of the rules that looked just like the one to be created before it was: noted by the pipeline."""
    return list((change.result or {}).get("twins", ()))


def _draft(change: Change) -> RuleDraft:
    return RuleDraft.model_validate(change.after)


def _key(change: Change) -> str:
    if change.target.key is None:
        raise ValueError(f"{change.kind} without a key")
    return change.target.key


EffectsOf = Callable[[Target], Effects]
"""The effects that a target's service and site need; raises UnknownSite for a site that no setting names."""
