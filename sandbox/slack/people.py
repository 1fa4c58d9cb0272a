"""The people, the bot, the channels and the user groups of a local Slack."""

from __future__ import annotations

import zlib
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

OTHER_TEAM: Final = "T0OTHER01"
ENTERPRISE: Final = {"id": "E0GROUP01", "name": "Example Group"}
CREATED: Final = 1_700_000_000
AVATAR_PIXELS: Final = (24, 32, 48, 72, 192, 512)
ZONE_NAMES: Final = {"CET": "Central European Time", "CEST": "Central European Summer Time"}


@dataclass(frozen=True, slots=True)
class User:
    """A person or the bot. *is_guest*: of several channels; *is_ultra_guest*: of a single one."""

    id: str
    name: str
    real_name: str
    title: str = ""
    color: str = "#4a6572"
    is_bot: bool = False
    is_guest: bool = False
    is_ultra_guest: bool = False
    is_deleted: bool = False
    is_stranger: bool = False
    """Whether they are of another company, and so only in channels that are shared with it."""
    tz: str = "Europe/Berlin"
    home: str | None = None
    """The workspace of the account, if it isn't this one; a member of an Enterprise Grid may have none."""
    grid: tuple[str, ...] = ()
    """Of a member of an Enterprise Grid: the workspaces that they are in; *home* is one of them, or empty."""

    def team_id(self, here: str) -> str:
        """Return the workspace of the account, as the workspace *here* shows it; empty where it has none."""
        if self.is_stranger:
            return OTHER_TEAM
        return here if self.home is None else self.home

    @property
    def email(self) -> str:
        return f"{self.name}@example.com"

    def profile(self, here: str, now: float, *, is_met: bool = True, with_email: bool = False) -> dict[str, Any]:
        """Return the user object of Slack's Web API in the workspace *here* at *now*, in seconds since 1970.

        *is_met*: the app shares a channel with this person. Slack calls a person of another company a stranger only
        where it does not, so ``team_id`` is what tells them apart. Of a deactivated account Slack leaves out
        everything but who it was.
        """
        team = self.team_id(here)
        profile = {
            "title": self.title,
            "real_name": self.real_name,
            "real_name_normalized": self.real_name,
            "display_name": self.name,
            "display_name_normalized": self.name,
            "status_text": "",
            "status_emoji": "",
            "status_expiration": 0,
            "phone": "",
            "skype": "",
            "first_name": self.real_name.partition(" ")[0],
            "last_name": self.real_name.partition(" ")[2],
            "team": team,
            **self._avatar_fields(team),
        }
        if with_email and not self.is_bot:
            profile["email"] = self.email
        known = {
            "id": self.id,
            "team_id": team,
            "name": self.name,
            "deleted": self.is_deleted,
            "profile": profile,
            "is_bot": self.is_bot,
            "is_app_user": False,
            "updated": CREATED,
        }
        if self.grid:
            known["enterprise_user"] = self._enterprise_fields()
            known = {name: value for name, value in known.items() if (name, value) != ("team_id", "")}
        return known if self.is_deleted else known | self._account_fields(is_met=is_met) | self._time_zone_fields(now)

    def _avatar_fields(self, team: str) -> dict[str, str]:
        """Return picture URLs as Slack has them; nothing on this machine requests them."""
        key = f"g{zlib.crc32(self.id.encode()):08x}"
        base = f"https://ca.slack-edge.com/{team or OTHER_TEAM}-{self.id}-{key}"
        return {"avatar_hash": key, **{f"image_{size}": f"{base}-{size}" for size in AVATAR_PIXELS}}

    def _enterprise_fields(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "enterprise_id": ENTERPRISE["id"],
            "enterprise_name": ENTERPRISE["name"],
            "is_admin": False,
            "is_owner": False,
            "teams": list(self.grid),
        }

    def _account_fields(self, *, is_met: bool) -> dict[str, Any]:
        return {
            "color": self.color.lstrip("#"),
            "real_name": self.real_name,
            "is_admin": False,
            "is_owner": False,
            "is_primary_owner": False,
            "is_restricted": self.is_guest or self.is_ultra_guest,
            "is_ultra_restricted": self.is_ultra_guest,
            "is_stranger": self.is_stranger and not is_met,
            "is_email_confirmed": not self.is_bot,
        }

    def _time_zone_fields(self, now: float) -> dict[str, Any]:
        try:
            local = datetime.fromtimestamp(now, ZoneInfo(self.tz))
        except ZoneInfoNotFoundError:  # a machine without a time zone database
            local = datetime.fromtimestamp(now, UTC)
        offset, name = local.utcoffset(), local.tzname() or self.tz
        return {
            "tz": self.tz,
            "tz_label": ZONE_NAMES.get(name, name),
            "tz_offset": int(offset.total_seconds()) if offset else 0,
        }

    def page_data(self) -> dict[str, Any]:
        """Return the person as the page shows them."""
        return {
            "id": self.id,
            "name": self.name,
            "real_name": self.real_name,
            "title": self.title,
            "is_bot": self.is_bot,
            "is_guest": self.is_guest or self.is_ultra_guest,
            "is_deleted": self.is_deleted,
            "is_stranger": self.is_stranger,
            "tz": self.tz,
            "color": self.color,
            "initials": "".join(part[0] for part in self.real_name.split()[:2]),
        }


@dataclass(frozen=True, slots=True)
class UserGroup:
    """People who are mentioned together, such as ``@oncall``."""

    id: str
    handle: str
    name: str
    users: tuple[str, ...]
    is_disabled: bool = False


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A command that the page offers to run; in *about*, ``{colleague}`` is somebody else in the channel."""

    text: str
    about: str


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel, or the direct message of one person with the bot."""

    id: str
    name: str
    kind: Literal["channel", "im"] = "channel"
    topic: str = ""
    members: tuple[str, ...] = ()
    bot_is_member: bool = True
    is_private: bool = False
    is_ext_shared: bool = False
    is_org_shared: bool = False
    is_archived: bool = False
    suggestions: tuple[Suggestion, ...] = ()

    def info(self, team_id: str, creator: str) -> dict[str, Any]:
        """Return the conversation object of Slack's Web API: a direct message has far fewer fields than a channel."""
        common = {
            "id": self.id,
            "created": CREATED,
            "updated": CREATED * 1000,
            "is_archived": self.is_archived,
            "is_im": self.kind == "im",
            "is_org_shared": self.is_org_shared,
            "context_team_id": team_id,
        }
        if self.kind == "im":
            return common | {"user": self.members[0], "is_open": True, "priority": 0}
        return common | self._channel_fields(team_id, creator)

    def _channel_fields(self, team_id: str, creator: str) -> dict[str, Any]:
        others = [OTHER_TEAM] if self.is_ext_shared else []
        return {
            "name": self.name,
            "name_normalized": self.name,
            "is_channel": True,
            "is_group": False,
            "is_mpim": False,
            "is_private": self.is_private,
            "is_general": self.name == "general",
            "is_shared": self.is_ext_shared or self.is_org_shared,
            "is_ext_shared": self.is_ext_shared,
            "is_pending_ext_shared": False,
            "pending_shared": [],
            "pending_connected_team_ids": [],
            "shared_team_ids": [team_id, *others],
            "parent_conversation": None,
            "unlinked": 0,
            "creator": creator,
            "is_member": self.bot_is_member,
            "topic": {"value": self.topic, "creator": creator, "last_set": CREATED},
            "purpose": {"value": "", "creator": "", "last_set": 0},
            "previous_names": [],
        }

    def page_data(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "kind": self.kind,
            "topic": self.topic,
            "members": list(self.members),
            "bot_is_member": self.bot_is_member,
            "is_private": self.is_private,
            "is_ext_shared": self.is_ext_shared,
            "is_archived": self.is_archived,
            "suggestions": [asdict(one) for one in self.suggestions],
        }


def direct_message(person: User, bot: User) -> Channel:
    """Return the direct message of *person* and the *bot*."""
    return Channel(f"D0{person.id[2:]}", bot.name, "im", f"Just you and {bot.real_name}", (person.id, bot.id))
