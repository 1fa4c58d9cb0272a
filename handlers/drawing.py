"""The card of a change as it stands now: what it takes from the store and from the services is read here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bot.domain.change import Change
from bot.domain.change_set import NOT_DONE, Outcome
from bot.domain.group import Groups
from bot.gatehouse import GroupsReader
from bot.store.engine import Store
from handlers.views import changes, sets
from handlers.views.parts import Message

WRONG: Final = NOT_DONE | {Outcome.UNKNOWN, Outcome.UNSETTLED}


async def drawn(change: Change, store: Store, groups: GroupsReader | None, places: Mapping[str, str]) -> Message:
    """Return the card of *change*. *places*: the host of each service."""
    if change.is_set:
        return sets.card(change, await _progress(change, store), places=places)
    return changes.card(change, places=places, groups=await _groups(change, groups))


async def _progress(whole: Change, store: Store) -> sets.Progress:
    """How far a set is; of a long one, first what went wrong."""
    tally = await store.parts.tally(whole.id)
    if whole.size <= sets.SHOWN:
        return sets.Progress(tally, await store.parts.some(whole.id, set(Outcome), sets.SHOWN))
    wrong = await store.parts.some(whole.id, WRONG, sets.SHOWN)
    others = await store.parts.some(whole.id, set(Outcome) - WRONG, sets.SHOWN - len(wrong))
    return sets.Progress(tally, [*wrong, *others])


async def _groups(change: Change, groups: GroupsReader | None) -> Groups | None:
    """The groups, where the change is about a rule in one: what is on may still be held back."""
    in_group = any((document or {}).get("groupId") for document in (change.before, change.after))
    return await groups.groups() if in_group and groups is not None else None
