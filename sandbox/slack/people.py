"""Who and what there is in the local Slack at the start: four people, the bot, channels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

TEAM: Final = {"id": "T0GATE001", "name": "Example Shop", "domain": "example-shop"}
APP_ID: Final = "A0GATE001"


@dataclass(frozen=True, slots=True)
class User:
    """A person or the bot."""

    id: str
    name: str
    real_name: str
    title: str
    color: str
    is_bot: bool = False
    is_guest: bool = False
    tz: str = "Europe/Berlin"

    def profile(self) -> dict[str, Any]:
        """The user object of Slack's Web API."""
        return {
            "id": self.id,
            "team_id": TEAM["id"],
            "name": self.name,
            "real_name": self.real_name,
            "deleted": False,
            "color": self.color.lstrip("#"),
            "tz": self.tz,
            "is_bot": self.is_bot,
            "is_admin": False,
            "is_owner": False,
            "is_restricted": self.is_guest,
            "is_ultra_restricted": False,
            "profile": {"real_name": self.real_name, "display_name": self.name, "title": self.title},
        }

    def shown(self) -> dict[str, Any]:
        """The person as the page shows them."""
        return {
            "id": self.id,
            "name": self.name,
            "real_name": self.real_name,
            "title": self.title,
            "is_bot": self.is_bot,
            "is_guest": self.is_guest,
            "tz": self.tz,
            "color": self.color,
            "initials": "".join(part[0] for part in self.real_name.split()[:2]),
        }


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel, or the direct message of one person with the bot."""

    id: str
    name: str
    kind: str
    topic: str
    members: tuple[str, ...]
    bot_is_member: bool = True
    is_ext_shared: bool = False
    is_archived: bool = False

    def info(self) -> dict[str, Any]:
        """The conversation object of Slack's Web API."""
        direct = self.kind == "im"
        return {
            "id": self.id,
            "name": self.name,
            "is_channel": not direct,
            "is_im": direct,
            "is_private": False,
            "is_archived": self.is_archived,
            "is_ext_shared": self.is_ext_shared,
            "is_member": self.bot_is_member,
            "topic": {"value": self.topic},
        }

    def shown(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "kind": self.kind,
            "topic": self.topic,
            "members": list(self.members),
            "bot_is_member": self.bot_is_member,
            "is_ext_shared": self.is_ext_shared,
            "is_archived": self.is_archived,
        }


BOT: Final = User("U0GATEBOT", "gatehouse", "Gatehouse", "App", "#1f3a4d", is_bot=True)
PEOPLE: Final = (
    User("U0ALICE01", "alice", "Alice Ng", "On-call engineer", "#2a6f97"),
    User("U0BOB0001", "bob", "Bob Ortiz", "Support", "#7a4f9a"),
    User("U0CARA001", "cara", "Cara Lind", "Team lead", "#b5541c"),
    User("U0DAN0001", "dan", "Dan Fox", "Guest contractor", "#4a6b3a", is_guest=True),
)
STAFF: Final = tuple(person.id for person in PEOPLE if not person.is_guest)
ALL: Final = tuple(person.id for person in PEOPLE)


def channels() -> dict[str, Channel]:
    """The channels of the demo, by id."""
    found = [
        Channel("C0OPS0001", "ops-traffic", "channel", "Traffic rules of the shop. Try /rules list", STAFF),
        Channel("C0SUPPORT", "support", "channel", "Members of blog and docs. Try /members list", ALL),
        Channel("C0GENERAL", "general", "channel", "Everybody. Gatehouse is not in here.", ALL, bot_is_member=False),
        Channel("C0PARTNER", "partners", "channel", "Shared with another company", ALL, is_ext_shared=True),
    ]
    found += [
        Channel(f"D0{person.id[2:]}", BOT.name, "im", "Just you and Gatehouse", (person.id, BOT.id))
        for person in PEOPLE
    ]
    return {channel.id: channel for channel in found}
