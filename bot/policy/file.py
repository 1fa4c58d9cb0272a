"""The policy file: read, checked, and reloaded when it changes. A broken file never replaces a good one."""

from __future__ import annotations

import asyncio
import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import structlog
from pydantic import ValidationError

from bot.policy.freezes import Freeze
from bot.policy.model import DEFAULT, PLACE, SLACK_ID, Channels, GuardRule, Policy, Role

log = structlog.get_logger(__name__)

DATE: Final = "write a date and a time, such as 2026-12-18 18:00:00"
MENDS: Final[Mapping[str, str]] = {
    "bool_parsing": "write true or false",
    "bool_type": "write true or false",
    "datetime_from_date_parsing": DATE,
    "datetime_parsing": DATE,
    "datetime_type": DATE,
    "dict_type": "write a table, such as [roles.oncall]",
    "enum": "write {expected}",
    "extra_forbidden": "is not a setting of a policy",
    "finite_number": "write a whole number",
    "greater_than_equal": "write {ge} or more",
    "int_from_float": "write a whole number",
    "int_parsing": "write a whole number",
    "int_parsing_size": "write a smaller number",
    "int_type": "write a whole number",
    "less_than_equal": "write {le} or less",
    "literal_error": "write {expected}",
    "missing": "is not set",
    "model_type": "write a table, such as [roles.oncall]",
    "string_pattern_mismatch": "write a URL with {{}} in it, such as https://tickets.example.com/{{}}",
    "string_type": "write a text in quotes",
    "tuple_type": 'write a list, such as ["oncall"]',
}
"""Our words for pydantic's errors, by their type."""
KEYS: Final = {
    field.alias or name
    for model in (Policy, Channels, Role, GuardRule, Freeze)
    for name, field in model.model_fields.items()
    if field.alias != PLACE
}
"""Every setting of a policy."""
EMPTY: Final = "the file is empty. Write a policy, or leave POLICY_FILE unset to run without roles"
LOST: Final = {
    "roles": "there are none any more, so everybody could do everything. If that is what you want, restart Gatehouse",
    "guards": "there are none any more, so the defaults would hold. If that is what you want, restart Gatehouse",
    "freeze": "there is none any more, so what was frozen could be changed. If that is what you want, restart Gatehouse",
}
"""Tables that a reload may not remove, and why: a truncated file would look the same."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """One problem in the file: its place by key, with the tables and values of a list counted from 1, and the reason.

    *line*: that of the key, counted from 1; 0 where it isn't known.
    """

    key: str
    words: str
    line: int = 0

    def __str__(self) -> str:
        place = ", ".join(filter(None, (f"line {self.line}" if self.line else "", self.key)))
        return ": ".join(filter(None, (place, self.words)))


class BadPolicy(Exception):
    """The file is not a valid policy; *wrong* says what to fix."""

    def __init__(self, path: str, wrong: Sequence[Wrong]) -> None:
        super().__init__(f"{path}: " + "; ".join(map(str, wrong)))
        self.wrong = tuple(wrong)


def summary(path: str | None, policy: Policy) -> str:
    """Say in a few words where *policy* comes from, and how much of it there is."""
    if path is None:
        return "no file, so the defaults hold"
    return f"{path} (roles: {len(policy.roles)}, guards: {len(policy.guards)}, freezes: {len(policy.freeze)})"


def read_policy(path: str) -> Policy:
    """Return the policy in the TOML file at *path*; raises BadPolicy, also for an empty file."""
    lines: Mapping[str, int] = {}
    try:
        text = Path(path).read_text(encoding="utf-8")
        lines = _lines_by_key(text)
        if not (tables := tomllib.loads(text)):
            raise BadPolicy(path, [Wrong("", EMPTY)])
        # Collected before the model is checked, so that one look at the file names everything that is wrong.
        unknown = _unknown_roles(tables)
        for index, guard in _guards_in(tables):
            guard[PLACE] = f"guards.{index + 1}, line {_line_of(f'guards.{index + 1}', lines)}"
        policy = Policy.model_validate(tables)
    except FileNotFoundError as error:
        raise BadPolicy(path, [Wrong("", "the file is not there")]) from error
    except OSError as error:
        raise BadPolicy(path, [Wrong("", f"the file can't be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise BadPolicy(path, [Wrong(f"line {line}", "is not UTF-8 text: save the file again as UTF-8")]) from error
    except tomllib.TOMLDecodeError as error:
        raise BadPolicy(path, [Wrong("", f"is not TOML: {error}")]) from error
    except ValidationError as error:
        wrong = [_locate_error(each["loc"], _error_words(each)) for each in error.errors(include_url=False)]
        raise BadPolicy(path, [replace(each, line=_line_of(each.key, lines)) for each in (*wrong, *unknown)]) from error
    except (RecursionError, ValueError) as error:
        raise BadPolicy(path, [Wrong("", "holds a number or a list that is too long to be read")]) from error
    if unknown:
        raise BadPolicy(path, [replace(each, line=_line_of(each.key, lines)) for each in unknown])
    return policy


QUOTES: Final = re.compile("[\"']")
HEADER: Final = re.compile(r"\s*(\[\[?)([^\[\]]+)\]")
KEY: Final = re.compile(r"\s*([\w.\"'-]+)\s*=")


def _lines_by_key(text: str) -> Mapping[str, int]:
    """Return the line of each table and value, by its key as errors name it."""
    found, tables, table = dict[str, int](), Counter[str](), ""
    for number, line in enumerate(text.splitlines(), 1):
        if (header := HEADER.match(line)) is not None:
            table = QUOTES.sub("", header[2]).strip()
            tables[table] += 1
            table += f".{tables[table]}" if header[1] == "[[" else ""
            found.setdefault(table, number)
        elif (key := KEY.match(line)) is not None:
            found.setdefault(".".join(filter(None, (table, QUOTES.sub("", key[1])))), number)
    return found


def _line_of(key: str, lines: Mapping[str, int]) -> int:
    """Return the line of *key*, or of the innermost table or value around it; 0 where none is known."""
    while key and key not in lines:
        key = key.rpartition(".")[0]
    return lines.get(key, 0)


def _unknown_roles(tables: dict[str, Any]) -> list[Wrong]:
    """Return the roles that guards name and ``[roles]`` doesn't define, whatever else is wrong with the file."""
    roles = tables.get("roles")
    known = list(roles) if isinstance(roles, dict) else []
    there = f"there are {', '.join(known)}" if known else "there are no roles"
    wrong = []
    for index, guard in _guards_in(tables):
        for key in ("approvers", "break_glass", "notify"):
            names = guard.get(key)
            for place, name in enumerate(names if isinstance(names, list) else []):
                is_id = key == "notify" and isinstance(name, str) and SLACK_ID.fullmatch(name)
                if isinstance(name, str) and name not in known and not is_id:
                    wrong.append(_locate_error(("guards", index, key, place), f"there is no role “{name}”; {there}"))
    return wrong


def _guards_in(tables: Mapping[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    guards = tables.get("guards")
    return [pair for pair in enumerate(guards if isinstance(guards, list) else []) if isinstance(pair[1], dict)]


def _error_words(error: Any) -> str:
    """Return what is wrong with a value, in words for the authors of policies."""
    if error["type"] == "extra_forbidden":
        name = str(error["loc"][-1])
        near = get_close_matches(name, KEYS - {name}, 1)
        return f"{MENDS['extra_forbidden']}{f'; did you mean {near[0]}?' if near else ''}"
    words = MENDS.get(error["type"])
    return words.format_map(error.get("ctx")) if words else error["msg"].removeprefix("Value error, ")


def _locate_error(place: Sequence[str | int], words: str) -> Wrong:
    # pydantic names its own validators among the places of an error.
    path = [part for part in place if not (isinstance(part, str) and part.startswith("function-"))]
    return Wrong(".".join(str(part + 1) if isinstance(part, int) else part for part in path), words)


class CurrentPolicy:
    """The current policy. *trouble*: what is wrong with the file, while an older version of it stays in use."""

    def __init__(self, path: str | None) -> None:
        """Read the file; raises BadPolicy, since there is no older policy to keep at the start."""
        self._path = path
        # Taken before the file is read, so that the next look notices a change made during the read.
        self._seen = self._last = self._stamp()
        self.trouble: str | None = None
        self.policy = DEFAULT if path is None else read_policy(path)

    def __call__(self) -> Policy:
        return self.policy

    async def watch(self, *, every: float) -> None:
        """Look for a new version of the file, until cancelled."""
        while True:
            await asyncio.sleep(every)
            self.look()

    def look(self) -> None:
        """Load the file if it changed and is valid; else keep the current policy, and log why.

        A file that another look finds changed again is still being written: up to any of its tables it may be right TOML.
        """
        if self._path is None:
            return
        before, self._last = self._last, self._stamp()
        if self._last == self._seen or self._last != before:
            return
        # Noted before it is read, so that a wrong file is reported only once.
        self._seen = self._last
        try:
            policy = read_policy(self._path)
            for name, words in LOST.items():
                if getattr(self.policy, name) and not getattr(policy, name):
                    raise BadPolicy(self._path, [Wrong(name, words)])
            self.policy = policy
        except BadPolicy as error:
            self.trouble = str(error)
            log.error("policy_broken", trouble=self.trouble)  # noqa: TRY400  a typing mistake of a person, no fault of ours
        else:
            self.trouble = None
            log.info("policy_reloaded", roles=len(self.policy.roles), guards=len(self.policy.guards))

    def _stamp(self) -> tuple[int, int] | None:
        try:
            found = Path(self._path or "").stat()
        except OSError:
            return None
        # The size, too: two versions may be saved within one tick of a coarse clock.
        return found.st_mtime_ns, found.st_size
