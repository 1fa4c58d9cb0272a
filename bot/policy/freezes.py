"""What may not be changed for a while: a freeze of the policy or of the chat."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Annotated, Any, Final
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from bot.changes.model.documents import segments_of
from bot.changes.model.edits import Edit, Kind

Names = tuple[str, ...]
"""Patterns such as ``*.example.com``, whose case doesn't matter."""


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
    hosts: Names = ()
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
        hosts = _hosts(edit)
        names = [edit.target.site] if edit.target.service == "members" else _names(edit)
        everywhere = bool(hosts) and all(host is not None and _matches_any(host, self.excepted) for host in hosts)
        return everywhere or any(_matches_any(name, self.excepted) for name in names if name)


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
    in_segments = any(_matches_any(name, freeze.segments) for name in segments)
    return in_segments or _matches_any(edit.target.site or "", freeze.sites)


def _covers_rule(freeze: Freeze, edit: Edit) -> bool:
    if edit.kind is Kind.GROUP_UPDATE:
        # A group has rules of any host and name, so a change of it may be one of theirs.
        return bool(freeze.hosts or freeze.rules) or _matches_any(edit.target.key or "", freeze.groups)
    in_groups = {(document or {}).get("groupId") for document in (edit.before, edit.after)}
    return (
        any(_matches_any(name, freeze.rules) for name in _names(edit))
        or any(_matches_any(group, freeze.groups) for group in in_groups if isinstance(group, str))
        or (bool(freeze.hosts) and any(host is None or _matches_any(host, freeze.hosts) for host in _hosts(edit)))
    )


def _matches_any(name: str, patterns: Names) -> bool:
    return any(fnmatchcase(name.casefold(), pattern.casefold()) for pattern in patterns)


def _names(edit: Edit) -> Iterator[str]:
    """Yield the id of a rule, and its names before and after."""
    yield edit.target.key or ""
    for document in (edit.before, edit.after):
        if isinstance(name := (document or {}).get("name"), str):
            yield name


def _hosts(edit: Edit) -> set[str | None]:
    """Return the hosts whose URLs a rule may match, before and after; None among them for a source that may match any."""
    if edit.target.service == "members":
        return set()
    documents = [document for document in (edit.before, edit.after) if document is not None]
    # A rule without pairs may match anything.
    return {_host(pair) for document in documents for pair in document.get("pairs") or [None]} or {None}


PREFIX_OPERATORS: Final = frozenset({"equals", "wildcard_matches"})
"""Operators with which a source states the beginning of the URLs that it matches."""


def _host(pair: Any) -> str | None:
    """Return the only host that a pair can match; None where it may match any."""
    source = pair.get("source") if isinstance(pair, dict) else None
    if not isinstance(source, dict):
        return None
    key, operator, value = (str(source.get(name) or "").casefold() for name in ("key", "operator", "value"))
    if operator not in PREFIX_OPERATORS:
        return None
    if key == "url":
        try:
            value = urlsplit(value).hostname or ""
        except ValueError:
            return None
    elif key != "host":
        return None
    # With a wildcard in its host, a source may match several.
    return value if value and "*" not in value else None
