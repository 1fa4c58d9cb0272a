"""Members of a site: how changes to them are read, written and verified."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from bot.changes.effects import Document, Reading, Snapshot, key_of
from bot.changes.proof import believed, verdict
from bot.clients.errors import AlreadyExists, ClientError, NotFound, OutcomeUnknown
from bot.clients.listing import member_in
from bot.clients.members import MembersClient
from bot.domain.change import Change, Kind, Target
from bot.domain.member import Member, caseless, chosen


class MemberSnapshot:
    def __init__(self, members: Iterable[Member]) -> None:
        self._alike: dict[str, list[Member]] = {}
        for member in members:
            self._alike.setdefault(member.identity, []).append(member)

    def live(self, target: Target) -> Document | None:
        key = target.key or ""
        member = chosen(self._alike.get(caseless(key.strip()), []), key)
        return None if member is None else member.document()

    def twins(self, change: Change) -> list[str]:
        return []

    def reading(self, change: Change) -> Reading:
        return verdict(change, self.live(change.target))


@dataclass(frozen=True, slots=True)
class MemberEffects:
    client: MembersClient

    async def live(self, target: Target) -> Document | None:
        member = member_in(await self.client.fresh(), target.key or "")
        return None if member is None else member.document()

    async def twins(self, change: Change) -> list[str]:
        return []

    async def snapshot(self, targets: Sequence[Target]) -> Snapshot:
        """Raises Incomplete where a target is not in the part of the members that was read."""
        listing = await self.client.fresh()
        known = {member.email for member in listing.known}
        unseen = [target for target in targets if (target.key or "").strip() not in known]
        return MemberSnapshot(listing.whole() if unseen else listing.known)

    async def write(self, change: Change) -> str:
        email = key_of(change)
        try:
            match change.kind:
                case Kind.MEMBER_ADD:
                    await self.client.add(Member.model_validate(change.after))
                case Kind.MEMBER_REMOVE:
                    await self.client.remove(email)
                case _:
                    await self._edit(email, change)
        except (AlreadyExists, NotFound) as error:
            return await believed(error, self, change)
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

    def replaces(self, change: Change) -> bool:
        """Only a new name does, since PATCH may replace the segments that it takes along.

        A grant or a revocation names the segments that come or go, so what others gave or took since the look stays.
        A removal, or an addition at a service that takes it for an update, would lose that. Both come by the
        thousand, and the service has no read of one member, so for them a look some seconds old has to do.
        """
        return change.kind is Kind.MEMBER_UPDATE and (change.before or {}).get("name") != (change.after or {}).get(
            "name"
        )

    async def read_back(self, change: Change, twins: Iterable[str]) -> Reading:
        return verdict(change, await self.live(change.target))
