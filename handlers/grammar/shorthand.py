"""What a command leaves to be looked up: ``#n`` of its person's last list, their last change, their channel's site.

All of it is looked up when the request comes in and is stored with it: when the request is done, or done again after a
crash, the person may have another list, another last change, and the channel another site.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Final

from pydantic import BaseModel, ConfigDict

from handlers.gatehouse.commands import GatehouseUndo
from handlers.grammar.command import Command

NUMBERED_ROWS: Final = 1000
"""How many rows of a list ``#n`` reaches."""
NUMBERED: Final = re.compile(r"#([0-9]{1,6})")


class Shorthand(BaseModel):
    """What one command's short forms stand for. It is stored, so what another release added is left out."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    rows: Mapping[str, str] = {}
    """``#n`` -> what that row was about: the id of a rule, or a `member_row`. Numbers beyond the list are left out."""
    shown: int = 0
    """How many rows the list had."""
    change: str | None = None
    """The id of the last change that can be undone."""
    site: str | None = None


class NoSuchNumber(Exception):
    """``#n`` beyond the last list of *service*, or without one."""

    def __init__(self, ref: str, shown: int, service: str) -> None:
        super().__init__(ref)
        self.ref = ref
        self.shown = shown
        self.service = service


def listed_service(command: Command) -> str:
    """The service whose last list ``#n`` of *command* means a row of."""
    return "members" if command.service == "members" else "rules"


def numbers_in(command: Command) -> set[str]:
    """Every ``#n`` of *command*."""
    refs = (*getattr(command, "refs", ()), getattr(command, "ref", None), getattr(command, "email", None))
    return {ref for ref in refs if ref and NUMBERED.fullmatch(ref)}


def needs_last_change(command: Command) -> bool:
    return isinstance(command, GatehouseUndo) and command.change is None


def needs_site(command: Command) -> bool:
    """Whether *command* writes to the site of the channel, whichever that is."""
    return command.writes and getattr(command, "site", "") is None


def member_row(site: str, email: str) -> str:
    """A row of a list of members, which belongs to the site that it was listed of."""
    return f"{site}\n{email}"


def expand(command: Command, short: Shorthand) -> Command:
    """Return *command* with what its short forms stand for; raises NoSuchNumber."""
    given = {field.name: getattr(command, field.name) for field in fields(command)}
    full: dict[str, Any] = {name: _row(given[name], command, short) for name in ("ref", "email") if given.get(name)}
    if "refs" in given:
        full["refs"] = tuple(dict.fromkeys(_row(ref, command, short) for ref in given["refs"]))
    if "email" in full:
        site, _, full["email"] = full["email"].rpartition("\n")
        full |= {"site": site} if site and "site" in given else {}
    if needs_last_change(command):
        full["change"] = short.change
    if needs_site(command):
        full.setdefault("site", short.site)
    if given.get("site"):
        full["site"] = given["site"]
    return replace(command, **full)


def _row(ref: str, command: Command, short: Shorthand) -> str:
    if not NUMBERED.fullmatch(ref):
        return ref
    if ref not in short.rows:
        raise NoSuchNumber(ref, short.shown, listed_service(command))
    return short.rows[ref]
