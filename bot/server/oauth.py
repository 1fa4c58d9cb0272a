"""Installing Gatehouse from a browser, by Bolt's OAuth flow, and the tokens that come of it."""

from __future__ import annotations

import html
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final
from urllib.parse import urljoin

import structlog
from aiohttp import ClientError
from slack_bolt.error import BoltError
from slack_bolt.oauth.async_callback_options import AsyncCallbackOptions, AsyncFailureArgs, AsyncSuccessArgs
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackTokenRotationError
from slack_sdk.oauth.installation_store import Bot, Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from slack_sdk.web.async_client import AsyncWebClient
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from bot.server.manifest import REDIRECT_PATH, SCOPES
from bot.server.slack import bolt_log
from bot.settings import OAuthSettings
from bot.store.db import TEAM, StoreError
from bot.store.directory import INSTALLATION, STATE_LIFE, Directory, Document
from handlers.slack.client import UNREADABLE

log = structlog.get_logger(__name__)

INSTALL_PATH: Final = "/slack/install"
REFRESH_AHEAD: Final = 120
"""Minutes before its end that a token is refreshed; Slack's live for twelve hours."""
PAGE: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>
<style>body{{font:16px/1.5 system-ui;max-width:36rem;margin:4rem auto;padding:0 1rem}}</style>
<h1>{title}</h1>{words}</html>"""
REASONS: Final[Mapping[str, str]] = {
    "access_denied": "It was canceled.",
    "invalid_browser": "It was begun in another browser, or this one keeps no cookies.",
    "invalid_state": "It took longer than ten minutes, or this page was opened twice.",
    "missing_code": "Slack's answer has no code.",
    "invalid_code": "Slack doesn't accept the code of this install.",
    "storage_error": "Gatehouse can be installed in single workspaces, not in a whole organization.",
    "unreachable": "Slack didn't answer.",
    "database": "The database can't be written to.",
}
"""What to tell a person, by Bolt's word for why nothing was installed, or one of ours."""


class StateStore(AsyncOAuthStateStore):
    """Bolt's states, in the directory."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    async def async_issue(self, *_: Any, **__: Any) -> str:
        return await self._directory.issue_state()

    async def async_consume(self, state: str) -> bool:
        return await self._directory.use_state(state)


class InstallationStore(AsyncInstallationStore):
    """Bolt's installations, in the directory; *installed*: called once a workspace has a new token."""

    def __init__(self, directory: Directory, installed: Callable[[], None]) -> None:
        self._directory = directory
        self._installed = installed

    async def async_save(self, installation: Installation) -> None:
        team = installation.team_id or ""
        if installation.is_enterprise_install or not TEAM.fullmatch(team):
            raise BoltError("not installed in one workspace")
        await self._directory.keep(team, INSTALLATION, document_of(installation.to_bot()))
        log.info("installed", workspace=team)
        self._installed()


def document_of(bot: Bot) -> Document:
    """What is kept of an installation: `bot_of` makes it again."""
    return {
        "app_id": bot.app_id,
        "team_id": bot.team_id,
        "team_name": bot.team_name,
        "bot_token": bot.bot_token,
        "bot_id": bot.bot_id,
        "bot_user_id": bot.bot_user_id,
        "bot_scopes": list(bot.bot_scopes or ()),
        "bot_refresh_token": bot.bot_refresh_token,
        "bot_token_expires_at": bot.bot_token_expires_at,
        "installed_at": bot.installed_at,
    }


def bot_of(document: Document) -> Bot:
    """The installation that `document_of` was made of."""
    return Bot(**document)


class OAuth:
    """Installs the app, and keeps its tokens fresh, by the Web API behind *client*."""

    def __init__(
        self, settings: OAuthSettings, directory: Directory, client: AsyncWebClient, installed: Callable[[], None]
    ) -> None:
        secret = settings.slack_client_secret.get_secret_value()
        self._directory = directory
        self._installed = installed
        self._rotator = AsyncTokenRotator(client_id=settings.slack_client_id, client_secret=secret, client=client)
        self._flow = AsyncOAuthFlow(
            client=client,
            logger=bolt_log(),
            settings=AsyncOAuthSettings(
                client_id=settings.slack_client_id,
                client_secret=secret,
                scopes=SCOPES,
                user_scopes=[],
                install_path=INSTALL_PATH,
                install_page_rendering_enabled=False,
                redirect_uri_path=REDIRECT_PATH,
                callback_options=AsyncCallbackOptions(success=_succeeded, failure=_failed),
                authorization_url=urljoin(settings.slack_api_url, "../oauth/v2/authorize"),
                installation_store=InstallationStore(directory, installed),
                installation_store_bot_only=True,
                state_store=StateStore(directory),
                state_expiration_seconds=int(STATE_LIFE.total_seconds()),
                logger=bolt_log(),
            ),
        )

    def routes(self) -> list[Route]:
        """The page on which an install begins, and the one to which Slack leads back."""
        return [
            Route(INSTALL_PATH, self._answers(self._flow.handle_installation), methods=["GET"]),
            Route(REDIRECT_PATH, self._answers(self._flow.handle_callback), methods=["GET"]),
        ]

    def _answers(
        self, handle: Callable[[AsyncBoltRequest], Awaitable[BoltResponse]]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            query = {
                name: value for name, value in request.query_params.items() if name != "team" or TEAM.fullmatch(value)
            }
            cookies = request.headers.get("cookie", "")
            try:
                bolt = await handle(AsyncBoltRequest(body="", query=query, headers={"cookie": cookies}))
            except StoreError as error:
                return _page_of("database", 503, error=str(error))
            except (ClientError, TimeoutError, OSError, *UNREADABLE) as error:
                return _page_of("unreachable", 502, error=type(error).__name__)
            return _response(bolt)

        return answer

    async def refresh(self, team: str) -> str:
        """Refresh the token of *team* where that is due and nobody else does it; return what Slack refused, or nothing.

        Raises StoreError, and ClientError, TimeoutError or OSError where Slack doesn't answer.
        """
        async with self._directory.refreshing(team) as is_ours:
            before = (await self._directory.of(team)).installation
            if not is_ours or before is None or not is_due(before):
                return ""
            try:
                bot = await self._rotator.perform_bot_token_rotation(
                    bot=bot_of(before), minutes_before_expiration=REFRESH_AHEAD
                )
            except SlackTokenRotationError as error:
                return str(error.api_error.response.get("error"))
            if bot is not None and await self._directory.swap(team, INSTALLATION, before, document_of(bot)):
                log.info("token_refreshed", workspace=team)
                self._installed()
        return ""


def is_due(installation: Document) -> bool:
    """Whether the token of an installation ends soon enough to be refreshed."""
    ends = installation.get("bot_token_expires_at")
    return ends is not None and ends <= time.time() + REFRESH_AHEAD * 60


async def _succeeded(args: AsyncSuccessArgs) -> BoltResponse:
    team = html.escape(args.installation.team_id or "")
    words = (
        f"<p>The id of this workspace is <code>{team}</code>. If it is new here, Gatehouse answers once your Gatehouse"
        f" admin has run</p><pre>gatehouse workspace set {team} --env FILE</pre>"
    )
    return _bolt_page(200, PAGE.format(title="Gatehouse is installed", words=words))


async def _failed(args: AsyncFailureArgs) -> BoltResponse:
    log.warning("not_installed", reason=args.reason if args.reason in REASONS else "other")
    return _bolt_page(args.suggested_status_code, _failure(args.reason))


def _failure(reason: str) -> str:
    why = REASONS.get(reason) or f"Slack says: {html.escape(reason[:100])}."
    words = f'<p>{why}</p><p><a href="{INSTALL_PATH}">Install it again</a></p>'
    return PAGE.format(title="Gatehouse wasn't installed", words=words)


def _bolt_page(status: int, body: str) -> BoltResponse:
    return BoltResponse(status=status, body=body, headers={"content-type": "text/html; charset=utf-8"})


def _page_of(reason: str, status: int, *, error: str) -> Response:
    log.warning("not_installed", reason=reason, error=error)
    return HTMLResponse(_failure(reason), status)


def _response(bolt: BoltResponse) -> Response:
    """Bolt's answer, its cookie as it is."""
    headers = bolt.first_headers_without_set_cookie()
    if location := headers.get("location"):
        response: Response = RedirectResponse(location, bolt.status)
    else:
        response = Response(bolt.body, bolt.status, headers)
    for cookie in bolt.headers.get("set-cookie", ()):
        response.headers.append("set-cookie", f"{cookie}; SameSite=Lax")
    response.headers["cache-control"] = "no-store"
    return response
