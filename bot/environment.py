"""Read the settings from the environment and ``.env``, and find everything that is wrong with them.

Nothing else in the project reads the environment.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from dotenv import dotenv_values
from pydantic import ValidationError

from bot.settings import DESCRIPTIONS, LocalSettings, Settings

ENV_FILE: Final = ".env"
MARKS: Final = {True: "✓", False: "✗", None: "–"}


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of checking one *part*. *ok*: None where it was not checked.

    *variable* and *source* name the setting that it depends on, *mend* says what to do.
    """

    part: str
    ok: bool | None
    words: str
    mend: str = ""
    variable: str = ""
    source: str = ""

    def __str__(self) -> str:
        about = self.part
        if self.variable and not self.ok:
            source = f" ({self.source})" if self.source else ""
            about = f"{'' if self.part == 'settings' else f'{self.part}: '}{self.variable}{source}"
        mend = f". {self.mend.rstrip('.')}." if self.mend else ""
        return f"{MARKS[self.ok]} {about}: {self.words}{mend}"


class BadSettings(Exception):
    """The settings can't be used; *findings* are all that is wrong with them."""

    def __init__(self, *findings: Finding) -> None:
        super().__init__("; ".join(map(str, findings)))
        self.findings = findings


def _failed_finding(variable: str, source: str, words: str, mend: str) -> Finding:
    return Finding("settings", False, words, mend, variable, source)


V = TypeVar("V", bound=LocalSettings)


def read_settings() -> Settings:
    """Return the settings of the environment and of ``.env``; raises BadSettings with everything that is wrong.

    That includes unknown names: if a misspelled one were ignored, its author would believe that it is set.
    """
    problems = [*_misnamed_variables()]
    try:
        settings = read_some(Settings)
    except BadSettings as error:
        raise BadSettings(*dict.fromkeys([*error.findings, *problems])) from None
    if problems:
        raise BadSettings(*problems)
    return settings


def read_some(kind: type[V]) -> V:
    """Return the settings of *kind*; raises BadSettings with all that is wrong with them, or where ``.env`` can't be read."""
    try:
        there = (os.environ, _env_file())
        # A setting that is empty is not set.
        values = {name.lower(): value for each in reversed(there) for name, value in each.items() if value}
        return kind.model_validate({name: value for name, value in values.items() if name in kind.model_fields})
    except ValidationError as error:
        raise BadSettings(*map(_finding_of, error.errors(include_url=False, include_input=False))) from None
    except UnicodeDecodeError:
        raise BadSettings(_failed_finding(ENV_FILE, "", "is not UTF-8 text", "Save it again as UTF-8.")) from None
    except OSError as error:
        words = f"can't be read: {error.strerror}"
        raise BadSettings(_failed_finding(ENV_FILE, "", words, "Let the user that runs Gatehouse read it.")) from None


MIN_SIMILARITY: Final = 0.85
"""How similar a variable's name must be to a setting's to count as a misspelling. Others set variables there, too:
Kubernetes makes RULES_PORT for a service that is called rules.
"""


def _misnamed_variables() -> Iterator[Finding]:
    """Find likely misspelled settings: in ``.env`` unknown names with a first word of ours, in the environment close matches."""
    from difflib import get_close_matches  # noqa: PLC0415  only where a name is wrong

    known = {name.upper() for name in Settings.model_fields}
    ours = {name.partition("_")[0] for name in known}
    for source, values in _sources():
        for variable in values:
            name = variable.upper()
            if name in known or name.partition("_")[0] not in ours:
                continue
            meant = get_close_matches(name, known, 1, MIN_SIMILARITY if source == "environment" else 0)
            if meant:
                yield _failed_finding(
                    variable, source, "is not a setting", f"Did you mean {meant[0]}? Correct it, or remove the line."
                )


def _finding_of(error: Any) -> Finding:
    """Return what is wrong with a setting, without its value, and what the setting is."""
    name = str(error["loc"][0])
    words = "is not set" if error["type"] == "missing" else str(error["msg"]).removeprefix("Value error, ")
    return _failed_finding(name.upper(), source_of(name), words, DESCRIPTIONS[name])


def source_of(name: str) -> str:
    """Return where the value of setting *name* comes from: the environment or ``.env``; empty where it has none."""
    for source, values in _sources():
        if any(variable.lower() == name and value for variable, value in values.items()):
            return source
    return ""


def _sources() -> Iterator[tuple[str, Mapping[str, str | None]]]:
    """Yield the environment, and ``.env`` where it can be read, each with its name."""
    yield "environment", os.environ
    with suppress(OSError, UnicodeDecodeError):
        yield ENV_FILE, _env_file()


def _env_file() -> Mapping[str, str | None]:
    """Return the variables of ``.env`` as written: a ``$`` in a value is not expanded, since keys may contain one."""
    return dotenv_values(ENV_FILE, encoding="utf-8", interpolate=False)
