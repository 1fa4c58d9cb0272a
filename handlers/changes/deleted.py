"""Find who removed a rule or a member that a text names, where nothing is called so any more."""

from __future__ import annotations

from collections.abc import Collection

from bot.changes.model.change import Change
from bot.changes.model.states import State
from bot.gatehouse import Gatehouse
from bot.text.names import MIN_PART
from handlers.blocks.messages import code
from handlers.changes.people import author
from handlers.changes.subject import VERBS
from handlers.changes.times import time_of
from handlers.errors import Refusal, Words, show_title
from handlers.gatehouse.commands import GatehouseUndo
from handlers.members.commands import MembersWhy


class Deleted(Refusal):
    """Nothing is called so any more since this *change*; *moved*: the one that gave the member another email."""

    change: Change
    moved: Change | None = None

    def words(self) -> Words:
        edit = self.change.edit
        key = edit.target.key or ""
        name = show_title(key if edit.target.service == "members" else edit.name or key)
        what = f"{name} was {VERBS[edit.kind][1]} by {author(self.change)}, {time_of(self.change)}."
        if self.moved is not None and (email := self.moved.edit.target.key):
            return Words(what, f"They have the email {code(email)} now.", again={"Check access": MembersWhy((email,))})
        return Words(what, again={"Undo": GatehouseUndo(self.change.id[:8])})


async def find_deleted(name: str, services: Collection[str], gatehouse: Gatehouse) -> Deleted | None:
    """Return the error for a rule or a member of *services* whose name begins with *name*, or whose id or email it is.

    None where the last thing that was done to it isn't its removal.
    """
    if len(name := name.strip("\"' ")) < MIN_PART:
        return None
    store, key = gatehouse.store, name.casefold()
    targets = [
        f"rules/{name}",
        *(f"members/{site}/{key}" for site in gatehouse.sites),
        *await store.audit.find_targets(name),
    ]
    readable = [target for target in targets if target.partition("/")[0] in services]
    done = [each for each in await store.changes.list_by_targets(readable) if each.state is State.APPLIED]
    change = max(done, key=lambda each: each.run.finished_at or each.created, default=None)
    if change is None or not change.edit.kind.destroys or change.run.undone is not None:
        return None
    is_member = change.edit.target.service == "members"
    return Deleted(change, await store.changes.find_move(change.edit.target.key or "") if is_member else None)
