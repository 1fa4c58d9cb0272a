"""Users and channels as Slack describes them; cached for a minute, never guessed."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from bot.metrics import DIRECTORY_FAILURES
from bot.policy.inquiry import DirectoryUnavailable
from bot.policy.model import Channel, Person, Why
from handlers.slack.client import Slack, SlackRefused, SlackUnreachable

T = TypeVar("T")

FRESH = timedelta(seconds=60)
"""Maximum age of a cached person or channel."""
GROUPS_FRESH = timedelta(minutes=3)
NO_SUCH_GROUP = "no_such_subteam"
"""Slack's error code for a user group that was deleted or disabled."""
GMAIL = ("gmail.com", "googlemail.com")
MAX_KEPT = 5_000
PAGE = 1_000


class SlackDirectory:
    """Implements `bot.policy.inquiry.Directory` with Slack's Web API."""

    def __init__(self, slack: Slack, now: Callable[[], datetime]) -> None:
        self._slack = slack
        self._now = now
        self._known: dict[tuple[str, str], tuple[datetime, Any]] = {}
        self._team = ""
        self.missing_groups: set[str] = set()
        """The user groups that Slack did not know when they were last asked for."""

    async def person(self, user: str) -> Person:
        """Return a person as Slack knows them now; raises DirectoryUnavailable."""
        return await self._remember("person", user, FRESH, lambda: self._person(user))

    async def _person(self, user: str) -> Person:
        try:
            found = await self._ask("users.info", "who you are", user=user)
        except DirectoryUnavailable as error:
            # Slack's answer is clear here; any other refusal leaves open who they are.
            if error.code in {"user_not_found", "user_not_visible"}:
                return Person(user, barred=Why.STRANGER)
            raise
        return person_of(found.get("user") or {}, user, await self.our_team())

    async def our_team(self) -> str:
        """Return the id of our workspace: people of any other one are strangers. Raises DirectoryUnavailable."""
        if not self._team:
            self._team = str((await self._ask("auth.test", "which workspace this is")).get("team_id") or "")
        return self._team

    async def place(self, channel: str) -> Channel:
        """Return a channel as it is now; raises DirectoryUnavailable.

        Slack isn't asked about a direct message, nor about no channel at all, which counts as one.
        """
        if channel.startswith("D") or not channel:
            return Channel(channel, direct=True)
        return await self._remember("place", channel, FRESH, lambda: self._place(channel))

    async def _place(self, channel: str) -> Channel:
        try:
            found = (await self._ask("conversations.info", "what this channel is", channel=channel)).get("channel")
        except DirectoryUnavailable as error:
            if error.code in {"channel_not_found", "not_in_channel"}:  # a private channel without us
                return Channel(channel, bot_in=False)
            raise
        known: Mapping[str, Any] = found or {}
        shared = any(known.get(name) for name in ("is_ext_shared", "is_pending_ext_shared"))
        return Channel(channel, bot_in=bool(known.get("is_member")), shared=shared, direct=bool(known.get("is_im")))

    async def people_in(self, channel: str) -> Sequence[str]:
        """Return everybody in a channel, or the first 10,000; raises DirectoryUnavailable, also where we have no access."""
        return await self._remember("people", channel, FRESH, lambda: self._people_in(channel))

    async def _people_in(self, channel: str) -> Sequence[str]:
        people: list[str] = []
        cursor = ""
        while True:
            found = await self._ask(
                "conversations.members", "who is in this channel", channel=channel, limit=PAGE, cursor=cursor
            )
            # Interned, since the same people are in many channels: ids are most of what is kept here.
            people += [sys.intern(str(user)) for user in found.get("members") or ()]
            cursor = str((found.get("response_metadata") or {}).get("next_cursor") or "")
            # Bounded, since in a very large channel each page is a call that somebody waits for.
            if not cursor or len(people) >= 10 * PAGE:
                return people

    async def is_in(self, user: str, channel: str) -> bool:
        """Whether somebody is in a channel; raises DirectoryUnavailable."""
        return user in await self.people_in(channel)

    async def channels_of(self, user: str) -> Mapping[str, str]:
        """Return the names of the channels that somebody is in and we see, of the first thousand, by their ids.

        Raises DirectoryUnavailable.
        """
        return await self._remember("channels", user, FRESH, lambda: self._channels_of(user))

    async def _channels_of(self, user: str) -> Mapping[str, str]:
        which: dict[str, Any] = {"types": "public_channel,private_channel", "exclude_archived": "true", "limit": PAGE}
        found = await self._ask("users.conversations", "which channels you are in", user=user, **which)
        return {str(one.get("id")): str(one.get("name")) for one in found.get("channels") or ()}

    async def group(self, group: str, since: datetime | None = None) -> frozenset[str]:
        """Return the people of a user group, nobody where it was deleted or disabled; raises DirectoryUnavailable.

        *since*: what Slack said before doesn't count.
        """
        known = self._known.get(("group", group))
        if since is not None and known is not None and known[0] < since:
            del self._known["group", group]
        return await self._remember("group", group, GROUPS_FRESH, lambda: self._group(group))

    async def _group(self, group: str) -> frozenset[str]:
        try:
            found = await self._ask("usergroups.users.list", "who is in a user group", usergroup=group)
        except DirectoryUnavailable as error:
            if error.code == NO_SUCH_GROUP:
                self.missing_groups.add(group)
                return frozenset()
            raise
        self.missing_groups.discard(group)
        return frozenset(map(str, found.get("users") or ()))

    async def _ask(self, method: str, about: str, **arguments: Any) -> dict[str, Any]:
        try:
            return await self._slack.ask(method, **{name: value for name, value in arguments.items() if value != ""})
        except SlackRefused as refusal:
            raise DirectoryUnavailable(about, refusal.code) from refusal
        except SlackUnreachable as error:
            raise DirectoryUnavailable(about) from error

    async def _remember(self, kind: str, key: str, fresh: timedelta, look: Callable[[], Awaitable[T]]) -> T:
        known = self._known.get((kind, key))
        # An age below zero means that the clock was set back, which would keep the entry fresh for too long.
        if known is not None and timedelta(0) <= self._now() - known[0] < fresh:
            found: T = known[1]
            return found
        try:
            found = await look()
        except DirectoryUnavailable:
            DIRECTORY_FAILURES.labels(kind).inc()
            raise
        # Cleared as a whole instead of by age: its entries are out of date within minutes anyway.
        if len(self._known) >= MAX_KEPT:
            self._known.clear()
        self._known[kind, key] = (self._now(), found)
        return found

    def forget(self) -> None:
        """Forget what Slack said, so that it is asked again."""
        self._known.clear()


def person_of(user: Mapping[str, Any], user_id: str, team: str) -> Person:
    """Return the person in a user object of Slack; anyone who isn't clearly a full member of this workspace is barred."""
    profile: Mapping[str, Any] = user.get("profile") or {}
    return Person(
        user_id,
        barred=_bar_reason(user, user_id, team),
        tz=str(user.get("tz") or "UTC"),
        name=str(profile.get("display_name") or user.get("real_name") or user.get("name") or ""),
        mailbox=_mailbox(str(profile.get("email") or "")),
    )


def _bar_reason(user: Mapping[str, Any], user_id: str, team: str) -> Why | None:
    if user.get("id") != user_id:
        return Why.UNKNOWN
    if user.get("deleted"):
        return Why.DEACTIVATED
    if user.get("is_stranger") or not _is_in_team(user, team):
        return Why.STRANGER
    # Slack does not mark its own Slackbot as a bot.
    if user.get("is_bot") or user.get("is_workflow_bot") or user_id == "USLACKBOT":
        return Why.BOT
    # Without this field, they may be a guest.
    if "is_restricted" not in user:
        return Why.UNKNOWN
    if user.get("is_restricted") or user.get("is_ultra_restricted"):
        return Why.GUEST
    return None


def _is_in_team(user: Mapping[str, Any], team: str) -> bool:
    """Whether the workspace *team* is one of *user*'s: in an Enterprise Grid, ``team_id`` names another of them, or none."""
    # Only in an Enterprise Grid do users have this field.
    grid = user.get("enterprise_user")
    teams = grid.get("teams") if isinstance(grid, Mapping) else None
    return user.get("team_id") == team or (isinstance(teams, list) and team in teams)


def _mailbox(email: str) -> str:
    """Return the mailbox of *email*: without its tag, and at Gmail, which ignores them, without its dots.

    Mailboxes that may be the same count as the same: two people taken for one can't approve each other's requests, and have
    to ask a third.
    """
    name, _, domain = email.strip().casefold().rpartition("@")
    # Many mail servers deliver anna+x@ to anna@, so this may be one person.
    name = name.partition("+")[0]
    if domain in GMAIL:
        name, domain = name.replace(".", ""), GMAIL[0]
    return f"{name}@{domain}" if name else ""
