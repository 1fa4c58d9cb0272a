"""Who and what there is in the local Slack at the start: four people, the bot, channels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

TEAM: Final = {"id": "T0GATE001", "name": "Example Shop", "domain": "example-shop"}
APP_ID: Final = "A0GATE001"
BOT_ID: Final = "B0GATE001"
"""The bot as the author of messages; as a user it is `BOT`."""


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

    @property
    def email(self) -> str:
        return f"{self.name}@example.com"

    def profile(self, *, with_email: bool = False) -> dict[str, Any]:
        """The user object of Slack's Web API; the e-mail only for an app that may read it."""
        profile = {"real_name": self.real_name, "display_name": self.name, "title": self.title}
        if with_email and not self.is_bot:
            profile["email"] = self.email
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
            "is_app_user": False,
            "updated": 1_760_000_000,
            "profile": profile,
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
        common = {"id": self.id, "created": 1_760_000_000, "is_archived": self.is_archived, "is_private": False}
        if self.kind == "im":
            return common | {"is_im": True, "is_org_shared": False, "user": self.members[0]}
        return common | {
            "name": self.name,
            "name_normalized": self.name,
            "is_channel": True,
            "is_group": False,
            "is_im": False,
            "is_mpim": False,
            "is_general": self.name == "general",
            "is_shared": self.is_ext_shared,
            "is_ext_shared": self.is_ext_shared,
            "is_org_shared": False,
            "is_member": self.bot_is_member,
            "topic": {"value": self.topic, "creator": "", "last_set": 0},
            "purpose": {"value": "", "creator": "", "last_set": 0},
            "num_members": len(self.members) + self.bot_is_member,
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


@dataclass(frozen=True, slots=True)
class Group:
    """A user group, mentioned as @handle."""

    id: str
    handle: str
    name: str
    users: tuple[str, ...]

    def info(self, *, with_users: bool) -> dict[str, Any]:
        """The usergroup object of Slack's Web API."""
        common = {
            "id": self.id,
            "team_id": TEAM["id"],
            "is_usergroup": True,
            "name": self.name,
            "handle": self.handle,
            "description": "",
            "is_external": False,
            "date_delete": 0,
            "user_count": len(self.users),
        }
        return common | {"users": list(self.users)} if with_users else common


BOT: Final = User("U0GATEBOT", "gatehouse", "Gatehouse", "App", "#1f3a4d", is_bot=True)
PEOPLE: Final = (
    User("U0ALICE01", "alice", "Alice Ng", "On-call engineer", "#2a6f97"),
    User("U0BOB0001", "bob", "Bob Ortiz", "Support", "#7a4f9a"),
    User("U0CARA001", "cara", "Cara Lind", "Team lead", "#b5541c"),
    User("U0DAN0001", "dan", "Dan Fox", "Guest contractor", "#4a6b3a", is_guest=True),
)
STAFF: Final = tuple(person.id for person in PEOPLE if not person.is_guest)
ALL: Final = tuple(person.id for person in PEOPLE)
GROUPS: Final = (
    Group("S0ONCALL1", "oncall", "On call", ("U0ALICE01", "U0CARA001")),
    Group("S0SUPPORT", "support-team", "Support team", ("U0BOB0001",)),
)


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
