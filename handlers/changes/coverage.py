"""What edits of rules would take over, in words, before they are made."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from bot.changes.model.edits import Edit
from bot.clients.errors import ClientError
from bot.clients.lists import Listing
from bot.rules.lint.coverage import ANY_HOST, coverage, may_be_wide
from bot.rules.model import ACTIVE, Groups, Rule
from handlers.blocks.messages import join_words, plural

MAX_UNREACHED: Final = 5
"""Rules that a change may make unreachable without being shown first."""
MAX_HOSTS: Final = 3


async def find_covered(
    edits: Iterable[Edit], rules: Callable[[], Awaitable[Listing[Rule]]], groups: Callable[[], Awaitable[Groups | None]]
) -> tuple[str, ...]:
    """Return a line of plain text on what *edits* would take over that isn't now, by rules some seconds old; none for little.

    A list that can't be read stops nobody: then only what they match themselves is known.
    """
    listed = [edit for edit in edits if edit.target.service != "members"]
    switched = {edit.target.key for edit in listed if edit.target.service == "groups" and _is_on(edit)}
    numbered = [
        (edit.target.key or f"new {at}", edit) for at, edit in enumerate(listed) if edit.target.service == "rules"
    ]
    now = [Rule.model_validate({**edit.before, "id": key}) for key, edit in numbered if edit.before is not None]
    then = [Rule.model_validate({**edit.after, "id": key}) for key, edit in numbered if edit.after is not None]
    if not switched and not any(map(may_be_wide, then)):
        return ()
    live: Sequence[Rule] = ()
    with suppress(ClientError):
        live = (await rules()).known
    known = await groups() if any(rule.group_id for rule in (*then, *live)) else None
    others = [rule for rule in live if rule.id not in {key for key, _ in numbered}]
    in_groups = [rule for rule in others if rule.group_id in switched]
    others = [rule for rule in others if rule.group_id not in switched]
    on = known and replace(known, active=known.active | {key for key in switched if key})
    # In a thread: of thousands of rules, it takes a while.
    before = await asyncio.to_thread(coverage, [*now, *in_groups], others, known)
    after = await asyncio.to_thread(coverage, [*then, *in_groups], others, on)
    return _words(after.hosts - before.hosts, len(after.unreached - before.unreached))


def _is_on(edit: Edit) -> bool:
    return (edit.after or {}).get("status") == ACTIVE


def _words(hosts: frozenset[str], unreached: int) -> tuple[str, ...]:
    if not hosts and unreached <= MAX_UNREACHED:
        return ()
    where = "every URL" if ANY_HOST in hosts else f"all of {join_words(sorted(hosts), most=MAX_HOSTS)}"
    rules = f"{plural(unreached, 'other rule')} may never be reached"
    return (f"This matches {where if hosts else 'what others match'}: {rules}.",)
