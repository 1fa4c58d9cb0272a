"""Modals and home tabs: a stack of at most three for each person, with hashes and external ids (facts 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from sandbox.slack.elements import with_ids
from sandbox.slack.ids import Ids
from sandbox.slack.news import News
from sandbox.slack.people import APP_ID, BOT_ID, TEAM
from sandbox.slack.records import Refused, View

MOST_VIEWS: Final = 3
BLANK: Final = {
    "private_metadata": "",
    "callback_id": "",
    "external_id": "",
    "clear_on_close": False,
    "notify_on_close": False,
    "close": None,
    "submit": None,
}


@dataclass(slots=True)
class Modals:
    """What each person has open. *clock* in seconds since 1970."""

    ids: Ids
    clock: Callable[[], float]
    news: News
    stacks: dict[str, list[View]] = field(default_factory=dict)
    homes: dict[str, View] = field(default_factory=dict)

    def stack(self, user: str) -> list[View]:
        """What *user* has open, bottom first."""
        return self.stacks.setdefault(user, [])

    def open(self, user: str, view: View) -> View:
        """*view* as the first of a new stack."""
        self._free(view)
        self.stack(user).clear()
        return self.push(user, view)

    def push(self, user: str, view: View) -> View:
        """*view* on top of the stack. Refused where three are there."""
        if len(self.stack(user)) >= MOST_VIEWS:
            raise Refused("push_limit_reached")
        self._free(view)
        kept = self._kept(view, user)
        self.stack(user).append(kept)
        self.show(user)
        return kept

    def replace(self, user: str, old: View, view: View) -> View:
        """*view* in the place of *old*, under its id. Refused where its external id is taken."""
        self._free(view, but=old["id"])
        kept = self._kept(view, user, old=old)
        if old["type"] == "home":
            self.homes[user] = kept
            self.news.tell({"type": "home", "view": kept}, only={user})
            return kept
        self.stacks[user] = [kept if one["id"] == old["id"] else one for one in self.stack(user)]
        self.show(user)
        return kept

    def publish(self, user: str, view: View) -> View:
        """*view* as the home tab of *user*."""
        old = self.homes.get(user)
        kept = self.homes[user] = self._kept(view, user, old=old)
        self.news.tell({"type": "home", "view": kept}, only={user})
        return kept

    def drop(self, user: str, *views: View) -> None:
        """Close some modals of *user*."""
        gone = {view["id"] for view in views}
        self.stacks[user] = [one for one in self.stack(user) if one["id"] not in gone]
        self.show(user)

    def find(self, name: str) -> tuple[str, View] | None:
        """Whose view it is, and the view, by its id or external id."""
        return next(
            ((user, one) for user, one in self._all() if name and name in {one["id"], one["external_id"]}), None
        )

    def show(self, user: str) -> None:
        self.news.tell({"type": "views", "views": self.stack(user)}, only={user})

    def _all(self) -> Iterator[tuple[str, View]]:
        for user, stack in self.stacks.items():
            yield from ((user, view) for view in stack)
        yield from self.homes.items()

    def _free(self, view: View, *, but: str = "") -> None:
        """The external id of *view* must not be that of another one."""
        external = view.get("external_id")
        if external and any(one["external_id"] == external and one["id"] != but for _, one in self._all()):
            raise Refused("duplicate_external_id")

    def _kept(self, view: View, user: str, *, old: View | None = None) -> View:
        """*view* as Slack keeps it: with an id, a hash, and ids for blocks that have none."""
        stack = self.stack(user) if view["type"] == "modal" else []
        view_id = old["id"] if old else self.ids.named("V")
        given: dict[str, Any] = {**BLANK, **view}
        return given | {
            "id": view_id,
            "team_id": TEAM["id"],
            "app_id": APP_ID,
            "bot_id": BOT_ID,
            "app_installed_team_id": TEAM["id"],
            "hash": f"{int(self.clock())}.{self.ids.number():08x}",
            "root_view_id": old["root_view_id"] if old else (stack[0]["id"] if stack else view_id),
            "previous_view_id": old["previous_view_id"] if old else (stack[-1]["id"] if stack else None),
            "blocks": with_ids(view["blocks"], self.ids),
            "state": {"values": {}},
        }
