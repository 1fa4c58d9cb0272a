"""Read the TOML file that describes a local Slack: its workspaces, people and channels; errors name the wrong key."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sandbox.slack.people import Channel, Suggestion, User, UserGroup, direct_message
from sandbox.slack.workspaces import App, Workspace

DEFAULT: Final = Path(__file__).with_name("default.toml")
ADVICE: Final = {
    "missing": "is required: add it",
    "extra_forbidden": "is not a key of this table: check its spelling, or remove it",
    "unexpected_keyword_argument": "is not a key of this table: check its spelling, or remove it",
}
"""The advice for each error, by pydantic's name for it."""
ID: Final = re.compile(r"[A-Z][A-Z0-9]+")


class BadConfiguration(Exception):
    """The file can't be used; the text says where it is wrong, and what to do."""


class _Described(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Workspace(_Described):
    """A workspace as the file describes it: people are named by their handles, not by ids."""

    id: str
    name: str
    domain: str
    bot_user: str
    bot_id: str
    people: list[User] = Field(min_length=1)
    channels: list[Channel] = Field(min_length=1)
    groups: tuple[UserGroup, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()

    @property
    def ids(self) -> list[str]:
        lists: tuple[Sequence[User | Channel | UserGroup], ...] = (self.people, self.channels, self.groups)
        return [self.id, self.bot_user, self.bot_id, *(one.id for found in lists for one in found)]

    def build(self, app: App) -> Workspace:
        """Return the workspace, with the direct messages that everybody has with the app."""
        bot = User(self.bot_user, "app", "App", "App", app.color, is_bot=True)
        present = [one for one in self.people if not one.is_deleted]
        own = [one for one in present if not one.is_stranger]
        channels = [
            replace(one, members=self._find_ids(one.members) or tuple(p.id for p in own)) for one in self.channels
        ]
        channels += [direct_message(person, bot) for person in own]
        return Workspace(
            self.id,
            self.name,
            self.domain,
            app,
            bot,
            self.bot_id,
            tuple(self.people),
            {one.id: one for one in channels},
            {one.id: replace(one, users=self._find_ids(one.users)) for one in self.groups},
            self.suggestions,
        )

    def _find_ids(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the ids of the people with these handles."""
        known = {one.name: one.id for one in self.people}
        if twice := _find_duplicate(one.name for one in self.people):
            raise BadConfiguration(f"workspaces.{self.id}: two people are called {twice!r}. Give each their own name.")
        if unknown := sorted(set(names) - known.keys()):
            raise BadConfiguration(
                f"workspaces.{self.id}: nobody is called {unknown[0]!r}. Add them to people, or use one of {', '.join(known)}."
            )
        return tuple(known[one] for one in names)


class _File(_Described):
    app: App = App()
    workspaces: list[_Workspace] = Field(min_length=1)


def load_workspaces(path: Path = DEFAULT) -> tuple[Workspace, ...]:
    """Return the workspaces that the file *path* describes. Raises BadConfiguration."""
    try:
        return _load(path)
    except BadConfiguration as error:
        raise BadConfiguration(f"{path}: {error}") from None


def _load(path: Path) -> tuple[Workspace, ...]:
    found = _read(path)
    _check_ids([found.app.id, *(one for team in found.workspaces for one in team.ids)])
    app = replace(found.app, icon=path.parent / found.app.icon)
    if not app.icon.is_file():
        raise BadConfiguration(f"app.icon: there is no file {app.icon}. Name an SVG by its way from this file.")
    return tuple(team.build(app) for team in found.workspaces)


def _check_ids(ids: Sequence[str]) -> None:
    for one in ids:
        if not ID.fullmatch(one):
            raise BadConfiguration(f"{one!r} is not an id. Use capital letters and digits, such as U0ALICE01.")
    if twice := _find_duplicate(ids):
        raise BadConfiguration(f"the id {twice} is used twice. Give each its own.")


def _find_duplicate(values: Iterable[str]) -> str:
    """Return the first of *values* that is there more than once, or nothing."""
    return next((one for one, times in Counter(values).items() if times > 1), "")


def _read(path: Path) -> _File:
    try:
        raw = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BadConfiguration(f"it can't be read: {error}") from None
    try:
        return _File.model_validate(raw)
    except ValidationError as refusal:
        raise BadConfiguration("\n".join(_error_line(raw, one) for one in refusal.errors())) from None


def _error_line(raw: Mapping[str, Any], error: Any) -> str:
    return f"{_key_path(raw, error['loc'])} {ADVICE.get(error['type']) or 'is wrong: ' + error['msg']}."


def _key_path(raw: Any, way: Sequence[int | str]) -> str:
    """Return *way* as a dotted path, with the id of each entry of a list, or its number where it has none."""
    parts = []
    for step in way:
        if isinstance(step, str):
            raw = raw.get(step) if isinstance(raw, dict) else None
            parts.append(step)
        else:
            raw = raw[step]
            parts.append(str(raw.get("id", f"#{step + 1}")) if isinstance(raw, dict) else f"#{step + 1}")
    return ".".join(parts)
