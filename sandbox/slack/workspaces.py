"""The workspaces that a local Slack may hold: each with people, channels and an account of the app of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

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
