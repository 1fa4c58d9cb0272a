"""The client of the rules service (its specification, "Endpoints"), with what the real one adds: pages, and groups of rules."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import reduce
from typing import Any, Final

import structlog
from pydantic import ValidationError

from bot.clients.cache import Kept, SharedList
from bot.clients.errors import (
    BadIdentifier,
    ClientError,
    InvalidPayload,
    OutcomeUnknown,
    RateLimited,
    Refusal,
    Refused,
    Unreadable,
    UnreadableRecord,
)
from bot.clients.gate import Priority
from bot.clients.http import Service
from bot.clients.lists import Listing, Lists, name_fields, read_document, records_of, send_once
from bot.rules.model import BOOKKEEPING, RULE_ID, Group, Groups, Rule, RuleDraft
from bot.text.search import text_of_rule

Body = dict[str, Any]
Mend = Callable[[Body], Body]
Mends = tuple[Mend, ...]

DOCUMENTED: Final = frozenset({"name", "description", "status", "ruleType", "pairs", "objectType", "groupId"})
"""The fields of a body that the specification or the vendor's documentation names."""


def with_object_type(body: Body) -> Body:
    return {"objectType": "rule"} | body


def documented_only(body: Body) -> Body:
    """Return *body* without its BOOKKEEPING; unchanged where it has other undocumented fields, which must not be lost."""
    undocumented = body.keys() - DOCUMENTED
    return {name: body[name] for name in body if name in DOCUMENTED} if undocumented <= BOOKKEEPING else body


FOR_NEW: Final[tuple[Mends, ...]] = ((), (with_object_type,), (documented_only,), (with_object_type, documented_only))
"""The mends that are tried, in this order, on the body of a new rule that was refused as a whole."""
FOR_STORED: Final[tuple[Mends, ...]] = ((), (documented_only,))
"""The same for an existing rule, which already has an ``objectType`` if the service needs one."""


class RuleBodies:
    """Adapts bodies to what one service accepts. The mend that last got past a refusal is applied first to every later body."""

    def __init__(self) -> None:
        self._learned: dict[tuple[Mends, ...], Mends] = {}

    def note(self, record: RuleDraft) -> None:
        """Learn from a *record* of the service whether it uses ``objectType``."""
        if (record.model_extra or {}).get("objectType") == "rule":
            self._learned.setdefault(FOR_NEW, (with_object_type,))

    async def send_with_mends(self, send: Callable[[Body], Awaitable[Body]], body: Body, *, new: bool) -> Body:
        """Return what *send* returns for *body*, or for a mended *body* where the service refused it as a whole.

        A refused body did nothing, so another may be sent. Where no mend helps, raises the first refusal.
        """
        mends = FOR_NEW if new else FOR_STORED
        refusals: list[InvalidPayload | Refused] = []
        for sending, each in _distinct_bodies(body, (self._learned.get(mends, ()), *mends)):
            try:
                answer = await send(sending)
            except (InvalidPayload, Refused) as error:
                refusals.append(error)
                if not _is_about_whole_body(refusals[0]):
                    raise
            else:
                self._learned |= {mends: each} if refusals else {}
                return answer
        raise refusals[0]


def _distinct_bodies(body: Body, ways: Iterable[Mends]) -> Iterator[tuple[Body, Mends]]:
    """Yield what each of *ways* makes of *body*, unless an earlier one made the same."""
    seen: list[Body] = []
    for mends in ways:
        made = apply_mends(body, mends)
        if made not in seen:
            seen.append(made)
            yield made, mends


def apply_mends(body: Body, mends: Mends) -> Body:
    return reduce(lambda made, mend: mend(made), mends, body)


def _is_about_whole_body(error: InvalidPayload | Refused) -> bool:
    """Whether a refusal is about the body as a whole, rather than a part of it that has an error of its own."""
    return isinstance(error, InvalidPayload) or error.status == 400


MAX_PAIRS_READ: Final = 5_000
"""Pairs of one rule that are read: a rule is processed in one go, which blocks the event loop."""


def _unreadable_error(service: str, record: Any, error: ValidationError) -> Unreadable:
    """Return the error for a *record* that is not a rule; it names the wrong fields if the record has the id of a rule."""
    if not isinstance(record, dict) or not isinstance(record.get("id"), str):
        return Unreadable(service, "JSON without a rule in “data”")
    return UnreadableRecord(service, f"unexpected value in {name_fields(error)}")


def _pairs_in(record: Any) -> int:
    pairs = record.get("pairs") if isinstance(record, dict) else None
    return len(pairs) if isinstance(pairs, list) else 0


class RulesReader(SharedList[Rule]):
    """The read-only half of the client, which handlers get: returns typed rules, or raises a ClientError."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._bodies = RuleBodies()
        rules = Lists(service, ("rules",), read_document, records_of, self._read, lambda rule: rule.id)
        super().__init__(rules.read, text_of_rule)

    async def get(self, rule_id: str) -> Rule:
        """Return one rule, fresh. Raises NotFound, BadIdentifier for an invalid *rule_id*, or what `Service.read` raises."""
        document = await read_document(
            self._service, await self._service.read("rules", self._checked_id(rule_id), priority=self._context.priority)
        )
        return self._rule(document, rule_id)

    def _rule(self, document: dict[str, Any], rule_id: str | None) -> Rule:
        """Return the rule in an answer about *rule_id*, None for a new one; raises Unreadable, also for another rule."""
        record = document.get("data")
        if (count := _pairs_in(record)) > MAX_PAIRS_READ:
            raise UnreadableRecord(self._service.name, f"it has {count:,} pairs; at most {MAX_PAIRS_READ:,} are read")
        try:
            rule = Rule.model_validate(record)
        except ValidationError as error:
            raise _unreadable_error(self._service.name, record, error) from error
        self._bodies.note(rule)
        if rule_id not in {None, rule.id}:
            raise Unreadable(self._service.name, "another rule than the one that was asked for")
        return rule

    def _checked_id(self, rule_id: str) -> str:
        if not RULE_ID.fullmatch(rule_id):
            raise BadIdentifier(self._service.name, "the id of a rule", rule_id)
        return rule_id

    def _read(self, found: Iterable[Any]) -> Iterator[Rule | None]:
        """Yield each record as a rule, or None where it can't be read: one bad record must not hide the others."""
        for record in found:
            if isinstance(record, dict) and record.get("objectType", "rule") != "rule":
                continue  # the real service mixes groups in
            if _pairs_in(record) > MAX_PAIRS_READ:
                yield None
                continue
            try:
                rule = Rule.model_validate(record)
            except ValidationError:
                yield None
            else:
                self._bodies.note(rule)
                yield rule


class RulesClient(RulesReader):
    """The full client, which can also write."""

    async def create(self, draft: RuleDraft) -> Rule:
        """Create a rule; return it with its new id. Raises a Refusal, Unreachable or OutcomeUnknown."""
        return await self._put("POST", draft, None)

    async def update(self, rule_id: str, draft: RuleDraft) -> Rule:
        """Replace the rule by *draft*, which must be complete; return it as the service now has it. Raises as `create` does."""
        return await self._put("PUT", draft, self._checked_id(rule_id))

    async def delete(self, rule_id: str) -> None:
        """Delete the rule. Raises as `create` does."""
        await self._write("DELETE", self._checked_id(rule_id))

    async def _put(self, method: str, draft: RuleDraft, rule_id: str | None) -> Rule:
        segments = () if rule_id is None else (rule_id,)
        document = await self._bodies.send_with_mends(
            lambda body: self._write(method, *segments, body=body), draft.body(), new=rule_id is None
        )
        try:
            return self._rule(document, rule_id)
        except Unreadable as error:
            raise OutcomeUnknown(self._service.name, str(error)) from error

    async def _write(self, method: str, *segments: str, body: Any = None) -> dict[str, Any]:
        try:
            return await send_once(self._service, method, "rules", *segments, context=self._context, body=body)
        finally:
            self.drop()


log = structlog.get_logger(__name__)

ADDITION_SECONDS: Final = 3.0
"""Seconds to wait for groups that only add to an answer about rules."""
NO_GROUPS_SECONDS: Final = 60.0
"""Seconds for which a service is assumed to have no groups after it has said so."""


class GroupsReader(SharedList[Group]):
    """The read-only half of the client of groups, which handlers get.

    A service without groups has an empty list of them; other errors reach only callers that ask for the list itself:
    `groups`, which adds to answers about rules, never raises.
    """

    def __init__(self, service: Service, *, wait: float = ADDITION_SECONDS) -> None:
        self._service = service
        self._wait = wait
        self._list: Lists[Group] = Lists(
            service, ("groups",), read_document, records_of, _groups, lambda group: group.id
        )
        super().__init__(self._read, lambda group: group.title)
        self._is_silent = Kept[bool]()

    async def groups(self) -> Groups | None:
        """Return the groups, up to some seconds old, to add to an answer about rules; None where they aren't known. Never raises.

        An incomplete list counts as not known, since a group that is missing from it would seem not to exist.
        """
        if self._lacks_groups():
            return None
        try:
            async with asyncio.timeout(self._wait):
                found = (await self.recent()).whole()
        except (ClientError, TimeoutError) as error:
            log.info("groups_not_read", error=type(error).__name__)
            self._is_silent.put(True)
            return None
        return None if self._lacks_groups() else Groups.of(found)

    def _lacks_groups(self) -> bool:
        """Whether groups could not be read a moment ago, or the service has none: `groups` then sends no request."""
        return self._is_silent.value is not None

    async def _read(self, priority: Priority) -> Listing[Group]:
        try:
            return await self._list.read(priority)
        except RateLimited:
            raise
        except (Refusal, Unreadable) as error:
            log.info("no_groups", error=type(error).__name__)
            self._is_silent.put(True, NO_GROUPS_SECONDS)
            return Listing(self._service.name, [])


class GroupsClient(GroupsReader):
    """The full client of groups, which can also write."""

    async def find(self, group_id: str) -> Group | None:
        """Return the group with this id, fresh; None where there is none.

        Raises what `fresh` raises, WrongAddress where the service has no groups, and Incomplete where the group is not in an
        incomplete list.
        """
        found = await self._list.read(self._context.priority)
        known = {group.id: group for group in found.known}
        if group_id not in known:
            found.whole()
        return known.get(group_id)

    async def update(self, group: Group) -> Group:
        """Replace the group by *group*, which must be complete; return it as the service now has it.

        Raises BadIdentifier, a Refusal, Unreachable or OutcomeUnknown.
        """
        if not RULE_ID.fullmatch(group.id):
            raise BadIdentifier(self._service.name, "the id of a group", group.id)
        try:
            document = await send_once(
                self._service, "PUT", "groups", group.id, context=self._context, body=group.body()
            )
        finally:
            self.drop()
        try:
            stored = Group.model_validate(document.get("data"))
        except ValidationError as error:
            raise OutcomeUnknown(self._service.name, "JSON without a group in “data”") from error
        if stored.id != group.id:
            raise OutcomeUnknown(self._service.name, "another group than the one that was changed")
        return stored


def _groups(found: Iterable[Any]) -> Iterator[Group | None]:
    """Yield the records that are groups, None for one that can't be read: the real service's own sample has a rule among them."""
    for record in found:
        if not isinstance(record, dict) or record.get("objectType", "group") != "group" or "ruleType" in record:
            continue
        try:
            yield Group.model_validate(record)
        except ValidationError:
            log.info("group_not_readable")
            yield None
