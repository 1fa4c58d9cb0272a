"""What the operator does about workspaces on the command line: set them up, see them, remove them, change the key."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from dotenv import dotenv_values

from bot.environment import BadSettings, Problem, read_workspace
from bot.policy.file import CurrentPolicy, read_policy
from bot.settings import DirectorySettings, WorkspaceSettings
from bot.store.db import StoreError, workspace_url
from bot.store.directory import CONFIGURATION, INSTALLATION, Directory, Document, Entry
from bot.store.engine import open_store
from handlers.grammar.parser import VERBS

CHECKED: Final = {"slack_bot_token": "installed", "slack_signing_secret": "checked"}
"""What stands for the settings that a workspace gets elsewhere, while its own are checked."""


class NoSuchWorkspace(Exception):
    """Nothing is known of a workspace."""


@asynccontextmanager
async def open_directory(settings: DirectorySettings) -> AsyncIterator[Directory]:
    """The directory, beside a Gatehouse that is running or not; raises StoreError."""
    async with open_store(settings.database_url, now=lambda: datetime.now(UTC)) as store:
        yield Directory(store.session, [key.get_secret_value() for key in settings.encryption_keys])


async def set_up(
    settings: DirectorySettings, team: str, env: Path | None, policy: Path | None, *, without_policy: bool
) -> str:
    """Check and keep the settings and the policy of *team*; what isn't given stays as it is. Return in words what was kept.

    Raises BadSettings or BadPolicy with all that is wrong, or StoreError.
    """
    workspace_url(settings.database_url, team)
    async with open_directory(settings) as directory:
        known = (await directory.of(team)).configuration or {}
        text = "" if without_policy else str(known.get("policy") or "")
        if policy is not None:
            read_policy(str(policy), VERBS)
            text = policy.read_text(encoding="utf-8")
        variables = dict(known.get("variables") or {}) if env is None else _read(env)
        read = checked(settings, team, variables, source=team if env is None else str(env))
        await directory.keep(team, CONFIGURATION, {"variables": variables, "policy": text})
        installed = (await directory.of(team)).installation is not None
    sites = ", ".join(read.members_sites)
    then = "Gatehouse takes it over within seconds." if installed else "It works once Gatehouse is installed there."
    return f"{team} is set up: sites {sites}; {'a policy' if text else 'no policy, so the defaults hold'}. {then}"


def _read(env: Path) -> dict[str, str]:
    """The variables of a file; raises BadSettings where it can't be read."""
    try:
        with env.open(encoding="utf-8") as stream:
            return {name: value for name, value in dotenv_values(stream=stream).items() if value}
    except UnicodeDecodeError:
        raise BadSettings((Problem(str(env), "", "is not UTF-8 text", "Save it again as UTF-8."),)) from None
    except OSError as error:
        words = f"can't be read: {error.strerror}"
        raise BadSettings((Problem(str(env), "", words, "Name a file with lines such as RULES_API_KEY=…"),)) from None


def checked(settings: DirectorySettings, team: str, variables: Document, *, source: str) -> WorkspaceSettings:
    """The settings that *variables* make; raises BadSettings with all that is wrong with them."""
    known: dict[str, Any] = {**CHECKED, "insecure_http": settings.insecure_http}
    known["database_url"] = workspace_url(settings.database_url, team)
    return read_workspace(variables, known, source=source)


async def listed(settings: DirectorySettings) -> Sequence[tuple[str, str, str, str]]:
    """The id, the name and the state of each workspace, and since when it is installed; raises StoreError."""
    async with open_directory(settings) as directory:
        entries = await directory.all()
    return [(team, *_described(entry)) for team, entry in entries.items()]


def _described(entry: Entry) -> tuple[str, str, str]:
    if entry.trouble:
        return "", entry.trouble, ""
    if entry.installation is None:
        return "", "set up, not installed", ""
    since = datetime.fromtimestamp(entry.installation["installed_at"], UTC)
    state = "installed" if entry.configuration else "installed, not set up"
    return str(entry.installation["team_name"] or ""), state, f"{since:%Y-%m-%d %H:%M} UTC"


async def configured(settings: DirectorySettings, team: str) -> tuple[WorkspaceSettings, CurrentPolicy]:
    """What *team* works with; raises NoSuchWorkspace, BadSettings, BadPolicy or StoreError."""
    from bot.server.workspaces import policy_of  # noqa: PLC0415  it loads Bolt

    async with open_directory(settings) as directory:
        found = (await directory.of(team)).configuration
    if found is None:
        raise NoSuchWorkspace(team)
    return checked(settings, team, found["variables"], source=team), policy_of(team, found)


async def removed(settings: DirectorySettings, team: str) -> str:
    """Forget the tokens and settings of *team*; return where its record stays. Raises NoSuchWorkspace or StoreError."""
    async with open_directory(settings) as directory:
        try:
            is_known = await directory.of(team) != Entry()
        except StoreError:
            is_known = True  # what can't be decrypted can be removed
        if not is_known:
            raise NoSuchWorkspace(team)
        await directory.forget(team, INSTALLATION, CONFIGURATION)
    return f"The tokens and settings of {team} are removed. Its record stays: gatehouse audit export --workspace {team}"


async def encrypted_again(settings: DirectorySettings) -> str:
    """Encrypt everything with the first key; raises StoreError where one row can't be decrypted, and changes nothing."""
    async with open_directory(settings) as directory:
        count = await directory.encrypt_again()
    return f"What the database holds of {count} workspaces is encrypted with the first of ENCRYPTION_KEYS."
