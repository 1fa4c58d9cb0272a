"""The state of the local Slack: messages, ephemeral messages, modals, triggers, response URLs, and watchers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Final

from sandbox.slack.elements import with_ids
from sandbox.slack.filestore import FileStore
from sandbox.slack.happenings import Deleted, Edited, Happening, Posted
from sandbox.slack.ids import Ids
from sandbox.slack.message import TS, Content, Message
from sandbox.slack.people import Channel, User, UserGroup, direct_message
from sandbox.slack.refusal import Refused
from sandbox.slack.tickets import RESPONSE_LIFE, TRIGGER_LIFE, ResponseUrl, Trigger
from sandbox.slack.workspace import Workspace

MAX_VIEWS: Final = 3
"""Modals of one person that may be stacked."""

View = dict[str, Any]


@dataclass(slots=True)
class State:
    """The state of one workspace. *clock*: in seconds since 1970; ids are counted, so that two runs have the same.

    Users, channels and groups may be replaced while it runs: every request looks them up again.
    """

    workspace: Workspace
    clock: Callable[[], float] = time.time
    ids: Ids = field(default_factory=Ids)
    users: dict[str, User] = field(init=False)
    channels: dict[str, Channel] = field(init=False)
    groups: dict[str, UserGroup] = field(init=False)
    files: FileStore = field(init=False)
    messages: list[Message] = field(default_factory=list)
    stacks: dict[str, list[View]] = field(default_factory=dict)
    modal_tabs: dict[str, str] = field(default_factory=dict)
    """The browser tab that shows the modals of each person; no other tab does, nor the same one after a reload."""
    homes: dict[str, View] = field(default_factory=dict)
    triggers: dict[str, Trigger] = field(default_factory=dict)
    response_urls: dict[str, ResponseUrl] = field(default_factory=dict)
    traffic: list[dict[str, Any]] = field(default_factory=list)
    trigger_life: float = TRIGGER_LIFE
    """Seconds."""
    new_response_urls: tuple[float, int] = (RESPONSE_LIFE, 0)
    """For new response URLs: seconds that one is valid, and uses that count as spent."""
    watchers: list[tuple[str | None, asyncio.Queue[dict[str, Any]]]] = field(default_factory=list)
    happened: Callable[[Happening], None] = lambda _: None
    """Called with everything that may become an event for the app."""
    _threads: dict[tuple[str, str], list[Message]] = field(default_factory=dict)
    _last_ts: int = 0

    def __post_init__(self) -> None:
        self.users = {user.id: user for user in (*self.workspace.people, self.workspace.bot)}
        self.channels, self.groups = dict(self.workspace.channels), dict(self.workspace.groups)
        self.files = FileStore(self.workspace)

    def number(self) -> int:
        return self.ids.number()

    def forget(self) -> None:
        """Start over: messages, modals and URLs are gone; people and channels stay."""
        for kept in (self.messages, self.traffic, self._threads):
            kept.clear()
        for shown in (self.stacks, self.homes, self.triggers, self.response_urls):
            shown.clear()

    def new_ts(self) -> str:
        """Return a new ts for a message, to the microsecond; each is used once."""
        # At least one more than the last: a ts is a message's id, also where two come within a microsecond or the clock stands.
        self._last_ts = max(self._last_ts + 1, int(self.clock() * 1_000_000))
        return f"{self._last_ts // 1_000_000}.{self._last_ts % 1_000_000:06d}"

    def notify(self, event: dict[str, Any], *, only: str | None = None) -> None:
        """Notify the watchers; *only* this person's, where it is private."""
        for user, queue in self.watchers:
            if only is None or user is None or user == only:
                queue.put_nowait(event)

    def add(self, message: Message) -> Message:
        self.messages.append(message)
        if message.thread_ts is not None:
            self._threads.setdefault((message.channel, message.thread_ts), []).append(message)
        self._show("message", message)
        self._show_root(message)
        self.happened(Posted(message))
        return message

    def show_change(self, message: Message) -> None:
        """Notify watchers that something about *message* has changed, though not its content."""
        self._show("message_changed", message)

    def edit(self, message: Message, content: Content) -> None:
        """Replace the content of *message*."""
        before = copy(message)
        message.set_content(content)
        message.edited = message.visible_to is None
        message.edited_ts = self.new_ts() if message.edited else None
        self.show_change(message)
        self.happened(Edited(message, before))

    def delete(self, message: Message) -> None:
        message.deleted = True
        event = {"type": "message_deleted", "channel": message.channel, "ts": message.ts}
        self.notify(event, only=message.visible_to)
        self._show_root(message)
        self.happened(Deleted(message))

    def _show(self, kind: str, message: Message) -> None:
        event = {"type": kind, "channel": message.channel, "message": self.message_data(message)}
        self.notify(event, only=message.visible_to)

    def _show_root(self, reply: Message) -> None:
        """Notify watchers of the message that *reply* answers, whose reply count has changed."""
        root = self.find(reply.channel, reply.thread_ts) if reply.thread_ts else None
        if root is not None and reply.visible_to is None:
            self._show("message_changed", root)

    def message_data(self, message: Message) -> dict[str, Any]:
        """Return the message as the page gets it, with the fields of its thread."""
        return message.page_data(self.users, self.replies(message.channel, message.ts))

    def replies(self, channel: str, ts: str, user: str | None = None) -> list[Message]:
        """Return the replies to the message *ts*, with those that only *user* sees; oldest first."""
        thread = self._threads.get((channel, ts), [])
        return [one for one in thread if not one.deleted and one.visible_to in {None, user}]

    def thread_of(self, channel: str, thread_ts: Any) -> str | None:
        """Return the ts of the message that a reply with this *thread_ts* answers, None for no reply; raises Refused."""
        if thread_ts is None or thread_ts == "":
            return None
        if not isinstance(thread_ts, str) or not TS.fullmatch(thread_ts):
            messages = [f"[ERROR] {thread_ts} is not a valid thread_ts"]
            raise Refused("invalid_thread_ts", response_metadata={"messages": messages})
        root = self.find(channel, thread_ts)
        if root is None or root.visible_to is not None:
            raise Refused("thread_not_found")
        if root.subtype:
            raise Refused("cannot_reply_to_message")
        return root.thread_ts or root.ts  # a reply to a reply goes into the thread

    def show_channels(self) -> None:
        """Show everybody the channels that they are in now."""
        for user in self.users:
            mine = [one.page_data() for one in self.channels.values() if user in one.members]
            self.notify({"type": "channels", "channels": mine}, only=user)

    def find(self, channel: str, ts: str) -> Message | None:
        return next((one for one in self.messages if (one.channel, one.ts) == (channel, ts) and not one.deleted), None)

    def visible_messages(self, user: str, channel: str) -> list[Message]:
        """Return what *user* sees in *channel*, oldest first; of threads what was also sent to the channel."""
        return [
            one
            for one in self.messages
            if one.channel == channel and one.in_channel and not one.deleted and one.visible_to in {None, user}
        ]

    def channel_of(self, name: str) -> Channel:
        """Return the channel with this id; raises Refused with Slack's error code where the bot can't see it."""
        found = self.channels.get(name)
        if found is None or (found.is_private and not found.bot_is_member):
            raise Refused("channel_not_found")
        return found

    def recipient(self, name: str) -> Channel:
        """Return the channel for a message to *name*: the id or the name of a channel, or the id of a person."""
        if name not in self.users:
            named = (one.id for one in self.channels.values() if one.kind == "channel" and one.name == name.lstrip("#"))
            return self.channel_of(next(named, name))
        if self.users[name].is_deleted or self.users[name].is_stranger:
            raise Refused("channel_not_found")
        return self.open_direct(name)

    def open_direct(self, user: str) -> Channel:
        """Return the direct message of *user* and the bot, opened where there is none yet; raises Refused."""
        if (person := self.users.get(user)) is None:
            raise Refused("user_not_found")
        if person.is_deleted:
            raise Refused("user_disabled")
        if person.is_stranger:
            raise Refused("user_not_visible")
        if person.is_bot:
            raise Refused("cannot_dm_bot")
        found = self.find_direct(user) or direct_message(person, self.workspace.bot)
        return self.channels.setdefault(found.id, found)

    def find_direct(self, user: str) -> Channel | None:
        return next((one for one in self.channels.values() if one.kind == "im" and one.members[0] == user), None)

    def new_trigger(self, user: str, view: View | None = None) -> str:
        """Return a new trigger_id that lets the app open a modal for *user*, or push one on *view*, in which they acted."""
        trigger = f"{self.number()}.{self.workspace.id}.{user.lower()}"
        in_modal = view is not None and view["type"] == "modal"
        expires = self.clock() + self.trigger_life
        self.triggers[trigger] = Trigger(user, expires, is_in_modal=in_modal)
        return trigger

    def use_trigger(self, trigger_id: Any, *, to_push: bool = False) -> str:
        """Use up a trigger_id, and return its person; each is valid once, for three seconds, and *to_push* only from a modal."""
        trigger = self.triggers.get(str(trigger_id))
        if trigger is None or (to_push and not trigger.is_in_modal):
            raise Refused("invalid_trigger_id")
        user = trigger.use(self.clock())
        self.modal_tabs[user] = trigger.tab
        return user

    def new_response_url(self, user: str, channel: str, source: str | None, typed: str = "") -> str:
        """Return the name of a new response URL; *source*: the app's message that it belongs to; *typed*: the command."""
        name = f"{self.workspace.id}/{self.number()}"
        life, uses = self.new_response_urls
        self.response_urls[name] = ResponseUrl(user, channel, self.clock() + life, source, uses, typed)
        return name

    def stack(self, user: str) -> list[View]:
        return self.stacks.setdefault(user, [])

    def make_view(self, view: View, user: str, *, old: View | None = None) -> View:
        """Return *view* as Slack keeps it: with an id, a hash, and ids for blocks that have none."""
        stack = self.stack(user)
        view_id = old["id"] if old else f"V{self.number():08d}"
        kept = {
            **view,
            "id": view_id,
            "team_id": self.workspace.id,
            "app_id": self.workspace.app.id,
            "bot_id": self.workspace.bot_id,
            "app_installed_team_id": self.workspace.id,
            "hash": f"{int(self.clock())}.{self.number():08x}",
            "root_view_id": old["root_view_id"] if old else (stack[0]["id"] if stack else view_id),
            "previous_view_id": old["previous_view_id"] if old else (stack[-1]["id"] if stack else None),
            "blocks": self.with_ids(view["blocks"]),
            "state": {"values": {}},
        }
        return {
            "private_metadata": "",
            "callback_id": "",
            "external_id": "",
            "clear_on_close": False,
            "notify_on_close": False,
        } | kept

    def with_ids(self, blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return blocks with a block_id each, and an action_id for each of their elements, as Slack adds them."""
        return [with_ids(block, lambda: f"b{self.number():05x}") for block in blocks]

    def show_views(self, user: str) -> None:
        self.notify({"type": "views", **self.views_data(user)}, only=user)

    def views_data(self, user: str) -> dict[str, Any]:
        """Return the modals of *user*, and the tab that shows them; empty: any tab."""
        return {"views": self.stack(user), "tab": self.modal_tabs.get(user, "")}

    def find_view(self, view_id: str) -> tuple[str, View] | None:
        """Return the person who has this modal open, and the modal; None where nobody has."""
        for user, stack in self.stacks.items():
            for view in stack:
                if view_id and view_id in {view["id"], view.get("external_id")}:
                    return user, view
        return None

    def note(self, direction: str, what: str, status: object, ms: float, request: Any, response: Any) -> None:
        """Record one request and its answer for the inspector."""
        entry = {
            "id": self.number(),
            "at": self.clock(),
            "direction": direction,
            "what": what,
            "status": status,
            "ms": round(ms, 1),
            "request": request,
            "response": response,
        }
        self.traffic.append(entry)
        del self.traffic[:-500]
        self.notify({"type": "traffic", "entry": entry})
