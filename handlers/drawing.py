"""The card of a change as it stands now: what it takes from the store and from the services is read here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from bot.domain.change import Change
from bot.domain.change_set import NOT_DONE, Outcome, Part, Tally
from bot.domain.group import Groups
from bot.domain.secrets import hidden
from bot.gatehouse import GroupsReader
from bot.store.engine import Store
from handlers.views import changes, sets
from handlers.views.parts import Message

WRONG: Final = NOT_DONE | {Outcome.UNKNOWN, Outcome.UNSETTLED}


async def drawn(change: Change, store: Store, groups: GroupsReader | None, places: Mapping[str, str]) -> Message:
    """Return the card of *change*, as a channel may see it. *places*: the host of each service."""
    change = _without_secrets(change)
    if change.is_set:
        return sets.card(change, await _progress(change, store), places=places)
    return changes.card(change, places=places, groups=await _groups(change, groups))


def _without_secrets(change: Change) -> Change:
    before, after, result = hidden(change.before, change.after, change.result)
    return change.model_copy(update={"before": before, "after": after, "result": result})


def _part_without_secrets(part: Part) -> Part:
    before, after = hidden(part.before, part.after)
    return part.model_copy(update={"before": before, "after": after})


async def _progress(whole: Change, store: Store) -> sets.Progress:
    """How far a set is; of a long one, first what went wrong."""
    tally = await store.parts.tally(whole.id)
    if whole.size <= sets.SHOWN:
        return _shown(tally, await store.parts.some(whole.id, set(Outcome), sets.SHOWN))
    wrong = await store.parts.some(whole.id, WRONG, sets.SHOWN)
    others = await store.parts.some(whole.id, set(Outcome) - WRONG, sets.SHOWN - len(wrong))
    return _shown(tally, [*wrong, *others])


def _shown(tally: Tally, first: Sequence[Part]) -> sets.Progress:
    return sets.Progress(tally, [_part_without_secrets(part) for part in first])


async def _groups(change: Change, groups: GroupsReader | None) -> Groups | None:
    """The groups, where the change is about a rule in one: what is on may still be held back."""
    in_group = any((document or {}).get("groupId") for document in (change.before, change.after))
    return await groups.groups() if in_group and groups is not None else None
