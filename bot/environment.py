"""Read the settings from the environment and ``.env``, find everything that is wrong with them, and redact their secrets.

Nothing else in the project reads the environment.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import ValidationError, create_model

from bot.settings import ENV_FILE, MEND, SECRET_SETTINGS, Settings, Variables, read_env_file
from bot.text.redaction import passwords_in, redactor

URL_SETTINGS: Final = frozenset({"database_url", "outgoing_proxy"})
"""The settings that are URLs with a password in them."""


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


def read_settings() -> Settings:
    """Return the settings of the environment and of ``.env``; raises BadSettings with everything that is wrong.

    That includes unknown names: if a misspelled one were ignored, its author would believe that it is set.
    """
    settings, problems = _read(Settings)
    problems += _misnamed_variables()
    if problems or settings is None:
        raise BadSettings(*dict.fromkeys(problems))
    return settings


def read_setting(name: str) -> Any:
    """Return one setting, whatever is wrong with the others; raises BadSettings."""
    definition: dict[str, Any] = {name: (Settings.model_fields[name].annotation, Settings.model_fields[name])}
    setting, problems = _read(create_model(name, __base__=Variables, **definition))
    if setting is None:
        raise BadSettings(*problems)
    return getattr(setting, name)


V = TypeVar("V", bound=Variables)


def _read(kind: type[V]) -> tuple[V | None, list[Finding]]:
    """Return the settings of *kind*, or what is wrong with them; raises BadSettings where ``.env`` can't be read."""
    try:
        return kind(), []
    except ValidationError as error:
        found = [(str(each["loc"][0]), each) for each in error.errors(include_url=False)]
        return None, [_finding_of(name, each) for known in MEND for name, each in found if name == known]
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


def _finding_of(name: str, error: Any) -> Finding:
    if error["type"] == "missing":
        words = "is not set"
    elif error["type"] == "value_error":
        words = str(error["ctx"]["error"])
    elif name.startswith("members_auth"):  # somebody may have put the key there
        words = "has a character that it can't have"
    else:
        words = f"can't be “{error['input']}”"
    return _failed_finding(name.upper(), source_of(name), redact(words), MEND[name])


def redact(text: str) -> str:
    """Return *text* without any secret that the environment and ``.env`` hold, even where the settings are wrong.

    Somebody may have put a secret into another variable, or into the policy.
    """
    return redactor(secret for _, values in _sources() for secret in _secrets_of(values))(text)


def _secrets_of(values: Mapping[str, str | None]) -> Iterator[str]:
    """Yield every secret in these variables; of a list of secrets, each one on its own, too."""
    for variable, value in values.items():
        if value and variable.lower() in URL_SETTINGS:
            yield from passwords_in(value)
        elif value and variable.lower() in SECRET_SETTINGS:
            for part in (value, *value.split(",")):  # keys of sites, or two signing secrets
                yield part.strip()
                yield part.partition("=")[2].strip()


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
        yield ENV_FILE, read_env_file(Path(ENV_FILE))
