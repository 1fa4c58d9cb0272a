"""All of Gatehouse on this machine: both services, the local Slack, and the bot, which is the real one."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

import httpx
from pydantic import SecretStr

from bot.server.app import Running, Timing, running
from bot.server.manifest import document
from bot.settings import Settings
from sandbox.breaking import connect
from sandbox.gatehouse import SHOP
from sandbox.services.running import MEMBERS_KEY, RULES_KEY, Services, running_services
from sandbox.services.seed import seed as fill
from sandbox.services.switches import Switches
from sandbox.slack.running import APP_TOKEN, SECRET, TOKEN, LocalSlack, running_slack
from sandbox.slack.serving import serving

SITES = {"blog": "site_1", "docs": "site_2"}
URL_FILE: Final = "demo.url"
"""The file in a demo's folder that has the URL of its page while it runs."""
ANSWER_SECONDS: Final = 3.0

Transport = Literal["http", "socket"]
"""How the local Slack reaches the bot: signed HTTP, or Socket Mode."""


@dataclass(frozen=True, slots=True, repr=False)  # with all that was ever said in it, a repr took seconds
class Sandbox:
    """The running parts of a sandbox."""

    slack: LocalSlack
    services: Services
    bot: Running
    bot_url: str


def settings(
    slack: LocalSlack,
    services: Services,
    database: Path | str,
    policy: Path | None = None,
    transport: Transport = "http",
) -> Settings:
    """Return the settings of the bot in the sandbox; .env is ignored.

    *database*: a SQLite file, or the URL of any database.
    """
    by_socket = transport == "socket"
    return Settings(
        slack_bot_token=SecretStr(TOKEN),
        slack_signing_secret=SecretStr("" if by_socket else SECRET),
        slack_app_token=SecretStr(APP_TOKEN) if by_socket else None,
        slack_api_url=slack.api_url,
        rules_base_url=services.rules_url,
        rules_api_key=SecretStr(RULES_KEY),
        members_base_url=services.members_url,
        members_api_key=SecretStr(MEMBERS_KEY),
        members_sites=SITES,
        database_url=f"sqlite:///{database}" if isinstance(database, Path) else database,
        service_timeout=5.0,
        policy_file=None if policy is None else str(policy),
    )


@asynccontextmanager
async def running_sandbox(
    folder: Path,
    *,
    ports: tuple[int, int, int, int] = (0, 0, 0, 0),
    seed: bool = True,
    switches: Switches | None = None,
    policy: Path | None = None,
    timing: Timing | None = None,
    now: Callable[[], datetime] | None = None,
    transport: Transport = "http",
    database_url: str | None = None,
    command_prefix: str = "",
    without_scopes: Collection[str] = (),
    agents: bool = False,
) -> AsyncIterator[Sandbox]:
    """Run both services, the local Slack and the bot, with files in *folder*. *ports*: page, rules, members, bot; 0 is any.

    *database_url*: the bot's; a SQLite file in *folder* where it is None. *without_scopes*: those of its manifest that the
    app was not granted. *agents*: let them in, which needs their SDK.
    """
    folder.mkdir(parents=True, exist_ok=True)
    page, rules, members, bot = ports
    async with AsyncExitStack() as stack:
        clock = time.time if now is None else lambda: now().timestamp()
        services = await stack.enter_async_context(
            running_services(
                str(folder / "services.db"), seed=seed, switches=switches, ports=(rules, members), now=clock
            )
        )
        manifest = document(None if transport == "socket" else "http://127.0.0.1", command_prefix)
        granted = manifest["oauth_config"]["scopes"]
        granted["bot"] = [scope for scope in granted["bot"] if scope not in without_scopes]

        async def reset_services() -> None:
            services.database.wipe()
            if seed:
                fill(services.database, rules_key=RULES_KEY)

        slack = await stack.enter_async_context(
            running_slack(manifest, SHOP, port=page, reset=reset_services, folder=str(folder.resolve()))
        )
        connect(slack, services)
        chosen = settings(slack, services, database_url or folder / "gatehouse.db", policy, transport)
        chosen = chosen.model_copy(update={"command_prefix": command_prefix, "agents": agents})
        gatehouse = await stack.enter_async_context(running(chosen, now=now, timing=timing))
        bot_url = await stack.enter_async_context(serving(gatehouse.web, port=bot))
        if transport == "http":
            slack.delivery.url = f"{bot_url}/slack/events"
            slack.delivery.tools_url = f"{bot_url}/mcp" if agents else ""
        yield Sandbox(slack, services, gatehouse, bot_url)


@contextmanager
def announcing_url(folder: Path, url: str) -> Iterator[None]:
    """Keep the *url* of a demo in its *folder* while it runs, for `running_url`."""
    file = folder / URL_FILE
    file.write_text(url)
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def running_url(folder: Path) -> str | None:
    """Return the URL of the demo that runs in *folder*, None where none does.

    A killed demo leaves its file behind, and its port may be another server's since: the server that answers must name this
    folder.
    """
    try:
        url = (folder / URL_FILE).read_text()
        answer = httpx.get(f"{url}/_local/folder", timeout=ANSWER_SECONDS, trust_env=False).json()
    except (OSError, ValueError, httpx.HTTPError, httpx.InvalidURL):
        return None
    return url if answer == {"folder": str(folder.resolve())} else None
