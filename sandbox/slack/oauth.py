"""OAuth v2: the page on which somebody installs the app, the code that it issues, and the token that the app gets for it."""

from __future__ import annotations

import base64
import binascii
import html
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from sandbox.slack.calls import call_token
from sandbox.slack.ids import Ids
from sandbox.slack.refusal import Refused
from sandbox.slack.webapi import WebApi
from sandbox.slack.workspaces import Workspace

CLIENT_ID: Final = "1000000000001.1000000000002"
CLIENT_SECRET: Final = "local-client-secret"  # noqa: S105  it opens nothing but this process
CODE_LIFE: Final = 600.0
TOKEN_LIFE: Final = 43_200
"""Seconds that a token lives where the manifest says that tokens rotate."""
EXPIRED: Final = "token_expired"
SECRET: Final = frozenset({"client_secret", "token", "access_token", "refresh_token"})
"""Fields that the inspector leaves out."""
GONE: Final = "account_inactive"
"""The error code for a token whose app was uninstalled."""
PAGE: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Install {name}</title>
<style>body{{font:16px/1.5 system-ui;max-width:32rem;margin:4rem auto;padding:0 1rem}}button{{font:inherit}}</style>
<h1>{name} asks to be installed in {teams}</h1><p>It will be able to:</p><ul>{scopes}</ul>
<form method="post">{choice}{fields}<button name="answer" value="allow">Allow</button>
<button name="answer" value="cancel">Cancel</button></form></html>"""


@dataclass(slots=True)
class Code:
    """The code of an installation: valid once, for ten minutes, and for the redirect URL that asked for it."""

    workspace: Workspace
    scopes: tuple[str, ...]
    redirect_uri: str
    expires: float
    is_used: bool = False


@dataclass(slots=True)
class Installations:
    """The tokens of the app, each with the Web API of one workspace.

    *opened* makes a Web API from a workspace's id, a token and its scopes; *told* delivers an event of a workspace to the app.
    """

    workspaces: Mapping[str, Workspace]
    opened: Callable[[str, str, tuple[str, ...]], WebApi]
    told: Callable[[str, str, dict[str, Any]], Awaitable[None]]
    clock: Callable[[], float]
    ids: Ids
    manifest: Mapping[str, Any]
    note: Callable[[str, str, object, float, Any, Any], None]
    """Writes down a request and its answer, for the inspector."""
    apis: dict[str, WebApi] = field(default_factory=dict)
    token_life: int = TOKEN_LIFE
    """Seconds; only where the manifest says that tokens rotate."""
    _codes: dict[str, Code] = field(default_factory=dict)
    _ends: dict[str, float] = field(default_factory=dict)
    """When a token ends, by the token."""
    _refreshes: dict[str, WebApi] = field(default_factory=dict)
    """The Web API that each refresh token gives a new token for, once."""

    def install(self, workspace: str, token: str, scopes: tuple[str, ...]) -> None:
        """Install the app in the workspace with this id: *token* may call what *scopes* allow."""
        self.apis[token] = self.opened(workspace, token, scopes)

    def is_installed_in(self, workspace: str) -> bool:
        """Whether the app is installed in the workspace with this id."""
        return any(api.workspace.id == workspace and api.refusal != GONE for api in self.apis.values())

    def expire(self, token: str) -> None:
        """Make *token* expire now."""
        self._ends[token] = 0.0

    def forget_refreshes(self) -> None:
        """Make all refresh tokens invalid."""
        self._refreshes.clear()

    def routes(self) -> list[Route]:
        return [
            Route("/oauth/v2/authorize", self.page, methods=["GET"]),
            Route("/oauth/v2/authorize", self.decide, methods=["POST"]),
            Route("/api/oauth.v2.access", self.access, methods=["GET", "POST"]),
            Route("/api/apps.uninstall", self.uninstall, methods=["GET", "POST"]),
            Route("/api/{method}", self.call_api, methods=["GET", "POST"]),
        ]

    async def call_api(self, request: Request) -> Response:
        """Pass a call to the Web API of its token; one with an unknown token goes to any of them, which refuses it."""
        token = await call_token(request)
        api = self.apis.get(token) or next(iter(self.apis.values()))
        if not api.refusal and self.clock() >= self._ends.get(token, float("inf")):
            api.refusal = EXPIRED
        was_good = not api.refusal
        answer = await api.endpoint(request)
        if was_good and api.refusal:
            answer.background = BackgroundTask(self._notify_end, api.workspace)
        return answer

    async def _notify_end(self, workspace: Workspace, *, is_uninstalled: bool = False) -> None:
        """Notify the app that its token was revoked, and with *is_uninstalled* that it was uninstalled."""
        tokens = {"bot": [workspace.bot.id]}
        await self.told(workspace.id, "tokens_revoked", {"type": "tokens_revoked", "tokens": tokens})
        if is_uninstalled:
            await self.told(workspace.id, "app_uninstalled", {"type": "app_uninstalled"})

    async def page(self, request: Request) -> Response:
        try:
            asked = self._parse_request(request.query_params)
        except Refused as refusal:
            return HTMLResponse(html.escape(refusal.code), 400)
        name = str(self.manifest.get("display_information", {}).get("name") or asked.workspace.bot.real_name)
        scopes = "".join(f"<li><code>{html.escape(one)}</code></li>" for one in asked.scopes)
        hidden = {"client_id": CLIENT_ID, "scope": ",".join(asked.scopes), "redirect_uri": asked.redirect_uri}
        hidden["state"] = request.query_params.get("state", "")
        fields = "".join(
            f'<input type="hidden" name="{one}" value="{html.escape(value)}">' for one, value in hidden.items()
        )
        teams = " or ".join(html.escape(one.name) for one in self.workspaces.values())
        choice = self._choice(asked.workspace) if len(self.workspaces) > 1 else ""
        return HTMLResponse(
            PAGE.format(name=html.escape(name), teams=teams, scopes=scopes, choice=choice, fields=fields)
        )

    def _choice(self, chosen: Workspace) -> str:
        """Return the form's choice of a workspace, if there are several."""
        options = "".join(
            f'<option value="{one.id}"{" selected" if one is chosen else ""}>{html.escape(one.name)}</option>'
            for one in self.workspaces.values()
        )
        return f'<p><label>Workspace <select name="team">{options}</select></label></p>'

    async def decide(self, request: Request) -> Response:
        """Redirect back to the app, with a code, or with the error that the person denied it."""
        form = dict(parse_qsl((await request.body()).decode("utf-8", "replace")))
        try:
            asked = self._parse_request(form)
        except Refused as refusal:
            return HTMLResponse(html.escape(refusal.code), 400)
        answer = {"state": form.get("state", "")}
        if form.get("answer") == "allow":
            code = f"{CLIENT_ID}.{self.ids.secret(32)}"
            self._codes[code] = asked
            answer = {"code": code, **answer}
        else:
            answer = {"error": "access_denied", **answer}
        self.note("slack_to_bot", "OAuth redirect", 302, 0, {"redirect_uri": asked.redirect_uri, **answer}, None)
        return RedirectResponse(f"{asked.redirect_uri}?{urlencode(answer)}", 302)

    def _parse_request(self, query: Mapping[str, str]) -> Code:
        """Return what an app asks for, if that is allowed: its own id, scopes and a redirect URL of its manifest.

        A ``team`` that it names is only a suggestion, as at Slack; the form has the one that was chosen.
        """
        config = self.manifest.get("oauth_config", {})
        known = config.get("redirect_urls", ())
        scopes = tuple(one for one in query.get("scope", "").replace(" ", ",").split(",") if one)
        redirect_uri = query.get("redirect_uri") or next(iter(known), "")
        if query.get("client_id") != CLIENT_ID:
            raise Refused("invalid_client_id")
        if not any(redirect_uri == one or redirect_uri.startswith(one.rstrip("/") + "/") for one in known):
            raise Refused("bad_redirect_uri")
        if not scopes or not set(scopes) <= set(config.get("scopes", {}).get("bot", ())):
            raise Refused("invalid_scope")
        workspace = self.workspaces.get(query.get("team", "")) or next(iter(self.workspaces.values()))
        return Code(workspace, scopes, redirect_uri, self.clock() + CODE_LIFE)

    async def access(self, request: Request) -> Response:
        """Answer ``oauth.v2.access``: a token for a code or a refresh token."""
        body = (await request.body()).decode("utf-8", "replace")
        arguments = {**request.query_params, **dict(parse_qsl(body)), **_basic_credentials(request)}
        try:
            answer = (
                self._refresh_token(arguments)
                if arguments.get("grant_type") == "refresh_token"
                else self._redeem_code(arguments)
            )
        except Refused as refusal:
            answer = {"ok": False, "error": refusal.code}
        self._note_call("oauth.v2.access", arguments, answer)
        return JSONResponse(answer)

    def _redeem_code(self, arguments: Mapping[str, str]) -> dict[str, Any]:
        """Return a new token for a code."""
        code = self._use_code(arguments)
        more = {"authed_user": {"id": code.workspace.owner}, "is_enterprise_install": False}
        return self._issue_token(code.workspace, code.scopes) | more

    def _note_call(self, method: str, arguments: Mapping[str, str], answer: dict[str, Any]) -> None:
        """Record a call for the inspector, without secrets."""
        shown = {name: value for name, value in arguments.items() if name not in SECRET}
        answered = {name: value for name, value in answer.items() if name not in SECRET}
        self.note("bot_to_slack", method, "ok" if answer["ok"] else answer["error"], 0, shown, answered)

    def _issue_token(self, workspace: Workspace, scopes: tuple[str, ...]) -> dict[str, Any]:
        """Return a new token of *workspace*, and the refresh token that goes with it where tokens rotate."""
        rotates = bool(self.manifest.get("settings", {}).get("token_rotation_enabled"))
        token = f"{'xoxe.' if rotates else ''}xoxb-local-{self.ids.secret(12)}"
        self.install(workspace.id, token, scopes)
        rotation: dict[str, Any] = {}
        if rotates:
            rotation = {"refresh_token": f"xoxe-1-local-{self.ids.secret(12)}", "expires_in": self.token_life}
            self._ends[token] = self.clock() + self.token_life
            self._refreshes[rotation["refresh_token"]] = self.apis[token]
        return {
            "ok": True,
            "app_id": workspace.app.id,
            "scope": ",".join(scopes),
            "token_type": "bot",
            "access_token": token,
            "bot_user_id": workspace.bot.id,
            "team": {"id": workspace.id, "name": workspace.name},
            "enterprise": None,
            **rotation,
        }

    def _refresh_token(self, arguments: Mapping[str, str]) -> dict[str, Any]:
        """Return a new token for a refresh token, which is valid once; the token before it stays valid until it expires."""
        _require_app(arguments)
        api = self._refreshes.pop(arguments.get("refresh_token", ""), None)
        if api is None or api.refusal not in {"", EXPIRED}:
            raise Refused("invalid_refresh_token")
        return self._issue_token(api.workspace, api.scopes)

    async def uninstall(self, request: Request) -> Response:
        """Answer ``apps.uninstall``: revoke every token of the workspace whose token asks for it."""
        body = (await request.body()).decode("utf-8", "replace")
        api = self.apis.get(await call_token(request))
        arguments = {**request.query_params, **dict(parse_qsl(body)), **_basic_credentials(request)}
        try:
            _require_app(arguments)
            if api is None or api.refusal:
                raise Refused("invalid_auth" if api is None else api.refusal)
        except Refused as refusal:
            answer = {"ok": False, "error": refusal.code}
            self._note_call("apps.uninstall", arguments, answer)
            return JSONResponse(answer)
        self._note_call("apps.uninstall", arguments, {"ok": True})
        home = api.workspace
        for one in self.apis.values():
            one.refusal = GONE if one.workspace is home else one.refusal
        return JSONResponse({"ok": True}, background=BackgroundTask(self._notify_end, home, is_uninstalled=True))

    def _use_code(self, arguments: Mapping[str, str]) -> Code:
        _require_app(arguments)
        code = self._codes.get(arguments.get("code", ""))
        if code is None or self.clock() > code.expires:
            raise Refused("invalid_code")
        if code.is_used:
            raise Refused("code_already_used")
        if arguments.get("redirect_uri", code.redirect_uri) != code.redirect_uri:
            raise Refused("bad_redirect_uri")
        code.is_used = True
        return code


def _require_app(arguments: Mapping[str, str]) -> None:
    """Raise Refused for a call without the app's id and secret."""
    if arguments.get("client_id") != CLIENT_ID:
        raise Refused("invalid_client_id")
    if not secrets.compare_digest(arguments.get("client_secret", "").encode(), CLIENT_SECRET.encode()):
        raise Refused("bad_client_secret")


def _basic_credentials(request: Request) -> dict[str, str]:
    """Return the app's id and secret, where they are in the header."""
    kind, _, text = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "basic":
        return {}
    try:
        name, _, secret = base64.b64decode(text, validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return {}
    return {"client_id": name, "client_secret": secret}
