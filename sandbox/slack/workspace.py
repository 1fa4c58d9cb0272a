"""The workspace of a local Slack: its people, channels and user groups, and the app that is installed in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from sandbox.slack.people import Channel, Suggestion, User, UserGroup, direct_message

HANDLE: Final = re.compile(r"[^a-z0-9._-]+")
"""Characters that the name of an account can't have."""


@dataclass(frozen=True, slots=True)
class App:
    """The app that a local Slack has. Its name is the manifest's."""

    id: str
    icon: Path
    """The page's picture in the browser's tab: an SVG."""
    loading_view: str
    """The callback_id of the modal that the app opens before it has its content: people wait for the next one."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """The initial content of a workspace. *people*: the first one made its channels."""

    id: str
    name: str
    domain: str
    app: App
    bot: User
    bot_id: str
    people: tuple[User, ...]
    channels: Mapping[str, Channel]
    groups: Mapping[str, UserGroup]
    suggestions: tuple[Suggestion, ...]
    """Suggestions for channels that have none of their own."""
    proposal: Mapping[str, Any] = field(default_factory=dict)
    """What to try as Slackbot: a tool with its arguments, and what it is about."""

    @property
    def url(self) -> str:
        return f"https://{self.domain}.slack.com/"

    @property
    def owner(self) -> str:
        """Return the id of the person who made its channels."""
        return self.people[0].id

    def with_app(self, manifest: Mapping[str, Any]) -> Workspace:
        """Return a copy with the app of *manifest*, which names its account and its direct messages."""
        user = manifest.get("features", {}).get("bot_user", {})
        name = str(user.get("display_name") or manifest["display_information"]["name"])
        bot = replace(self.bot, name=HANDLE.sub("_", name.lower()), real_name=name)
        people = {one.id: one for one in self.people}
        channels = {
            one.id: direct_message(people[one.members[0]], bot) if one.kind == "im" else one
            for one in self.channels.values()
        }
        return replace(self, bot=bot, channels=channels)

    def info(self) -> dict[str, str]:
        return {"id": self.id, "name": self.name, "domain": self.domain}
