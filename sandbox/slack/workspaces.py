"""The workspaces that a local Slack may hold: each with people, channels and an account of the app of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from sandbox.slack.people import (
    BOT,
    BOT_ID,
    PEOPLE,
    TEAM,
    Channel,
    User,
    UserGroup,
    channels,
    direct_message,
    user_groups,
)

HANDLE: Final = re.compile(r"[^a-z0-9._-]+")
"""What the name of an account has no place for."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """What a workspace is made of before anything happens in it. *people*: the first one installs apps."""

    id: str
    name: str
    domain: str
    bot: User
    """The account of the app in this workspace."""
    bot_id: str
    people: tuple[User, ...]
    channels: Mapping[str, Channel]
    groups: Mapping[str, UserGroup]

    @property
    def url(self) -> str:
        return f"https://{self.domain}.slack.com/"

    @property
    def owner(self) -> str:
        """Who made its channels and installs apps in it."""
        return self.people[0].id

    def with_app(self, manifest: Mapping[str, Any]) -> Workspace:
        """The same, with the app of *manifest*: its account and its direct messages are called as that says."""
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


SHOP: Final = Workspace(**TEAM, bot=BOT, bot_id=BOT_ID, people=PEOPLE, channels=channels(), groups=user_groups())
"""The one that everything happens in, unless a second one is asked for."""


def _labs() -> Workspace:
    team = "T0LABS001"
    bot = replace(BOT, id="U0LABSBOT", home=team)
    gwen = User("U0GWEN001", "gwen", "Gwen Hale", "Head of the lab", "#2a6f97", home=team)
    hugo = User("U0HUGO001", "hugo", "Hugo Brandt", "Engineer", "#7a4f9a", home=team)
    both = (gwen.id, hugo.id)
    rooms = (
        Channel("C0LABOPS1", "lab-ops", "channel", "The lab at work", both),
        Channel("C0LABGEN1", "general", "channel", "Everybody of the lab", both, bot_is_member=False),
        direct_message(gwen, bot),
        direct_message(hugo, bot),
    )
    groups = {"S0LABDUTY": UserGroup("S0LABDUTY", "duty", "On duty", (gwen.id,))}
    return Workspace(
        team, "Example Labs", "example-labs", bot, "B0LABS001", (gwen, hugo), {one.id: one for one in rooms}, groups
    )


LABS: Final = _labs()
"""Another company's, which shares nothing with the first."""
