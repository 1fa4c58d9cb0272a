"""The environment and ``.env``: the settings that they make, all that is wrong with them, and the secrets that they hold.

Nothing else in the project reads the environment.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import ValidationError
from pydantic_settings import BaseSettings

from bot.settings import ENV_FILE, MEND, OF_A_WORKSPACE, OAuthSettings, Settings, WorkspaceSettings
from bot.text.redaction import passwords_in, redactor

SECRET_SETTINGS: Final = frozenset(
    {
        "slack_bot_token",
        "slack_app_token",
        "slack_client_secret",
        "slack_signing_secret",
        "encryption_keys",
        "rules_api_key",
        "members_api_key",
        "members_api_keys",
    }
)
"""The settings that are secret as a whole."""
URL_SETTINGS: Final = frozenset({"database_url", "outgoing_proxy"})
"""The settings that are URLs with a password in them."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a variable, where its value comes from (nothing: it has none), and what to do."""

    variable: str
    source: str
    words: str
    mend: str

    def __str__(self) -> str:
        source = f" ({self.source})" if self.source else ""
        return f"{self.variable}{source}: {self.words}. {self.mend}"


class BadSettings(Exception):
    """Settings that nothing can be done with; *problems* are all of them."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


S = TypeVar("S", bound=BaseSettings)


def read_settings(kind: type[S]) -> S:
    """Return the settings of the environment and of ``.env``; raises BadSettings with everything that is wrong."""
    try:
        return kind()
    except ValidationError as error:
        found = [(str(each["loc"][0]), each) for each in error.errors(include_url=False)]
        problems = [
            _problem(name, each, source_of(name), redacted) for known in MEND for name, each in found if name == known
        ]
        raise BadSettings(tuple(dict.fromkeys(problems))) from None
    except UnicodeDecodeError:
        raise BadSettings((Problem(ENV_FILE, "", "is not UTF-8 text", "Save it again as UTF-8."),)) from None
    except OSError as error:
        words = f"can't be read: {error.strerror}"
        raise BadSettings((Problem(ENV_FILE, "", words, "Let the user that runs Gatehouse read it."),)) from None


def client_setting() -> str | None:
    """Return the setting that says that several workspaces are served; None where one is."""
    return next(filter(source_of, ("slack_client_id", "slack_client_secret")), None)


def read_deployment() -> Settings | OAuthSettings:
    """Return the settings of one workspace, or those of several where SLACK_CLIENT_ID is set; raises BadSettings."""
    if (client := client_setting()) is None:
        return read_settings(Settings)
    if source := source_of("slack_bot_token"):
        words = f"is set beside {client.upper()} ({source_of(client)})"
        mend = "Remove it to serve several workspaces, or remove SLACK_CLIENT_ID and SLACK_CLIENT_SECRET to serve one."
        raise BadSettings((Problem("SLACK_BOT_TOKEN", source, words, mend),))
    return read_settings(OAuthSettings)


def read_workspace(variables: Mapping[str, str], shared: Mapping[str, Any], *, source: str) -> WorkspaceSettings:
    """Return the settings that a workspace's *variables* make with what is *shared* or known of it already.

    *source*: where *variables* come from, in words. Raises BadSettings with all that is wrong with them.
    """
    own = {name.lower(): value for name, value in variables.items() if value}
    unknown = [
        Problem(name.upper(), source, "is not a setting of a workspace", "Remove it from the file.")
        for name in own.keys() - set(OF_A_WORKSPACE)
    ]
    given = {name: own[name] for name in OF_A_WORKSPACE if name in own}
    found: list[Problem] = []
    try:
        settings = WorkspaceSettings.model_validate({**shared, **given})
    except ValidationError as error:
        redact = redactor(_secrets_of(own))
        wrong = [(str(each["loc"][0]), each) for each in error.errors(include_url=False)]
        found = [_problem(name, each, source if name in own else "", redact) for name, each in wrong]
    if unknown or found:
        raise BadSettings(tuple(dict.fromkeys([*sorted(unknown, key=str), *found])))
    return settings


def _problem(name: str, error: Any, source: str, redact: Callable[[str], str]) -> Problem:
    if error["type"] == "missing":
        words = "is not set"
    elif error["type"] == "value_error":
        words = str(error["ctx"]["error"])
    elif name.startswith("members_auth"):  # somebody may have put the key there
        words = "has a character that it can't have"
    else:
        words = f"can't be “{error['input']}”"
    return Problem(name.upper(), source, redact(words), MEND[name])


def redacted(text: str) -> str:
    """*text* without any secret that the environment and ``.env`` hold, however wrong the settings are.

    Somebody may have put a secret into another variable, or into the policy.
    """
    return redactor(secret for _, values in _sources() for secret in _secrets_of(values))(text)


def _secrets_of(values: Mapping[str, str | None]) -> Iterator[str]:
    """Every secret that these variables hold, each of several on its own, too."""
    for variable, value in values.items():
        if value and variable.lower() in URL_SETTINGS:
            yield from passwords_in(value)
        elif value and variable.lower() in SECRET_SETTINGS:
            for part in (value, *value.split(",")):  # several keys, or two signing secrets
                yield part.strip()
                yield part.partition("=")[2].strip()


def source_of(name: str) -> str:
    """Where the value of setting *name* comes from: the environment, ``.env``, or nothing where it has none."""
    for source, values in _sources():
        if any(variable.lower() == name and value for variable, value in values.items()):
            return source
    return ""


def _sources() -> Iterator[tuple[str, Mapping[str, str | None]]]:
    """The environment and ``.env``, where it can be read, with their names."""
    from dotenv import dotenv_values  # noqa: PLC0415  only for what is wrong, and for `check`

    yield "environment", os.environ
    with suppress(OSError, UnicodeDecodeError):
        yield ENV_FILE, dotenv_values(ENV_FILE)
