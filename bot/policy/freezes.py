"""What may not be changed for a while: a freeze of the policy or of the chat."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from bot.changes.model.documents import segments_of
from bot.changes.model.edits import Edit, Kind
from bot.rules.hosts import host_pattern, matches_any, may_match

Names = tuple[str, ...]
"""Patterns such as ``Group_s*``, whose case doesn't matter."""
Host = Annotated[str, AfterValidator(host_pattern)]


def _require_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, OSError, ValueError) as error:  # the first of these where there is none of that name
        raise ValueError(f"“{name[:40]}” isn't a time zone; write one such as Europe/Berlin") from error
    return name


LISTS: Final = ("hosts", "rules", "groups", "sites", "segments")
"""The fields of a freeze that name what it covers."""


class Freeze(BaseModel):
    """A time span in which nobody may change what it covers: what any of the lists names, or everything without lists."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    starts: datetime = Field(alias="from")
    until: datetime = Field(alias="to")
    tz: Annotated[str, AfterValidator(_require_zone)] = "UTC"
    """The time zone of *starts* and *until*, where they name no offset."""
    hosts: tuple[Host, ...] = ()
    rules: Names = ()
    """Ids or names."""
    groups: Names = ()
    """Ids."""
    sites: Names = ()
    segments: Names = ()
    excepted: Names = Field(default=(), alias="except")
    """Hosts, rules by id or name, and sites that may be changed nevertheless."""
    why: str = ""

    @model_validator(mode="after")
    def _require_order(self) -> Freeze:
        for name in ("starts", "until"):
            moment: datetime = getattr(self, name)
            # The model is frozen; what its validator completes goes past that.
            if moment.tzinfo is None:
                object.__setattr__(self, name, moment.replace(tzinfo=ZoneInfo(self.tz)))
        if self.until <= self.starts:
            raise ValueError("it ends before it begins")
        return self

    def holds_at(self, moment: datetime) -> bool:
        return self.starts <= moment < self.until

    @property
    def lists(self) -> dict[str, Names]:
        """Return what it covers, by the names of the fields; all are empty where it covers everything."""
        return {name: getattr(self, name) for name in LISTS}

    def covers(self, edit: Edit) -> bool:
        """Whether *edit* changes what is frozen, or may do so: a source that can match any host counts for each."""
        is_named = _covers_member if edit.target.service == "members" else _covers_rule
        return (not any(self.lists.values()) or is_named(self, edit)) and not self._excepts(edit)

    def _excepts(self, edit: Edit) -> bool:
        if not self.excepted:
            return False
        if edit.target.service == "members":
            return matches_any(edit.target.site or "", self.excepted)
        everywhere = all(matches_any(host, self.excepted) for host in edit.hosts)
        return everywhere or _is_named(edit, self.excepted)


class Vote(BaseModel, frozen=True):
    """Somebody's wish to lift a freeze, and the channel in which they may."""

    by: str
    channel: str


class ChatFreeze(Freeze):
    """A freeze that somebody made with a command; *title*: what it covers, as people call it."""

    id: str
    title: str
    by: str
    channel: str
    made: datetime
    votes: tuple[Vote, ...] = ()
    """Who has asked to lift it so far."""


def _covers_member(freeze: Freeze, edit: Edit) -> bool:
    segments = segments_of(edit.before) | segments_of(edit.after)
    in_segments = any(matches_any(name, freeze.segments) for name in segments)
    return in_segments or matches_any(edit.target.site or "", freeze.sites)


def _covers_rule(freeze: Freeze, edit: Edit) -> bool:
    # A group has rules of any name, so a change of it may be one of theirs.
    by_name = bool(freeze.rules) if edit.kind is Kind.GROUP_UPDATE else _is_named(edit, freeze.rules)
    by_group = any(matches_any(group, freeze.groups) for group in edit.groups)
    return by_name or by_group or (bool(freeze.hosts) and any(may_match(host, freeze.hosts) for host in edit.hosts))


def _is_named(edit: Edit, names: Names) -> bool:
    """Whether *names* has the id of a rule, or its name before or after."""
    titles = ((document or {}).get("name") for document in (edit.before, edit.after))
    return any(isinstance(each, str) and each and matches_any(each, names) for each in (edit.target.key, *titles))
