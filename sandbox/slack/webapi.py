"""The Web API: the methods that an app may call, each refusing what Slack refuses."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sandbox.slack.directory import CONVERSATION_SCOPES, Arguments, Directory, Method, demand, flag
from sandbox.slack.faults import SlackFaults
from sandbox.slack.files import Files
from sandbox.slack.history import HISTORY_SCOPES, History, message_object
from sandbox.slack.people import BOT, BOT_ID, TEAM, Channel
from sandbox.slack.ratelimits import RateLimits
from sandbox.slack.sockets import Sockets
from sandbox.slack.state import MOST_VIEWS, Message, Refused, State, View
from sandbox.slack.validation import (
    Problem,
    as_errors,
    as_findings,
    as_messages,
    blocks_too_long,
    check_message,
    check_view,
)
from sandbox.slack.validation.rules import ONE_TABLE

NESTED: Final = ("blocks", "attachments", "view", "metadata", "message", "files")
"""Arguments that are JSON, also where the rest is a form."""

SCOPES: Final[dict[str, tuple[str, ...]]] = {
    "chat.postMessage": ("chat:write",),
    "chat.postEphemeral": ("chat:write",),
    "chat.update": ("chat:write",),
    "chat.delete": ("chat:write",),
    "users.info": ("users:read",),
    "users.list": ("users:read",),
    "users.lookupByEmail": ("users:read.email",),
    "bots.info": ("users:read",),
    "team.info": ("team:read",),
    "conversations.history": HISTORY_SCOPES,
    "conversations.replies": HISTORY_SCOPES,
    "reactions.add": ("reactions:write",),
    "reactions.remove": ("reactions:write",),
    "conversations.info": CONVERSATION_SCOPES,
    "conversations.list": CONVERSATION_SCOPES,
    "conversations.members": CONVERSATION_SCOPES,
    "conversations.open": ("im:write",),
    "usergroups.list": ("usergroups:read",),
    "usergroups.users.list": ("usergroups:read",),
    "files.getUploadURLExternal": ("files:write",),
    "files.completeUploadExternal": ("files:write",),
    "files.delete": ("files:write",),
    "files.info": ("files:read",),
}
"""The scopes of a method, of which the app needs one."""
READS: Final = frozenset(
    {
        "users.info",
        "users.list",
        "users.lookupByEmail",
        "bots.info",
        "team.info",
        "conversations.history",
        "conversations.replies",
        "conversations.info",
        "conversations.list",
        "conversations.members",
        "usergroups.list",
        "usergroups.users.list",
        "chat.getPermalink",
        "files.info",
        "files.getUploadURLExternal",  # the documentation has said both; as a form it was always taken
    }
)
"""Methods that take no JSON body: what is sent as one is not looked at."""


@dataclass(frozen=True, slots=True)
class AppToken:
    """The token of the app itself (xapp-…), which belongs to no workspace."""

    token: str
    scopes: tuple[str, ...]


class WebApi:
    """Answers ``/api/METHOD`` for one app, with its bot token and, where Socket Mode is asked for, its app token."""

    def __init__(
        self,
        state: State,
        *,
        token: str,
        scopes: tuple[str, ...],
        faults: SlackFaults,
        sockets: Sockets,
        app: AppToken,
        limits: RateLimits,
        has_home: bool,
    ) -> None:
        self._state = state
        self._token = token
        self._app = app
        self._sockets = sockets
        self._limits = limits
        self._has_home = has_home
        self._is_revoked = False
        self._scopes = scopes
        self._faults = faults
        self._methods = self._own_methods() | Directory(state, scopes).methods() | History(state, scopes).methods()
        self._methods |= Files(state, scopes).methods()

    def _own_methods(self) -> dict[str, Method]:
        return {
            "api.test": self._api_test,
            "auth.test": self._auth_test,
            "auth.revoke": self._revoke,
            "chat.postMessage": self._post,
            "chat.postEphemeral": self._post_ephemeral,
            "chat.update": self._update,
            "chat.delete": self._delete,
            "chat.getPermalink": self._permalink,
            "views.open": self._open,
            "views.push": self._push,
            "views.update": self._update_view,
            "views.publish": self._publish,
            "blocks.validate": self._validate,
        }

    def grants(self, scope: str) -> bool:
        """Whether the token of this app may do what *scope* allows."""
        return scope in self._scopes and not self._is_revoked

    async def endpoint(self, request: Request) -> Response:
        """One call, noted for the inspector."""
        method = request.path_params["method"]
        began = time.perf_counter()
        try:
            arguments = await _arguments(request, method)
        except ValueError:
            return JSONResponse({"ok": False, "error": "invalid_json"})
        shown = {name: value for name, value in arguments.items() if name != "token"}
        fault = self._faults.take(method)
        if fault is not None and not fault.is_after:
            self._state.note("bot_to_slack", method, f"fault: {fault.kind}", 0, shown, None)
            return await fault.answer()
        if seconds := self._limits.wait(method, str(arguments.get("channel") or "")):
            self._state.note("bot_to_slack", method, "ratelimited", 0, shown, None)
            return JSONResponse({"ok": False, "error": "ratelimited"}, 429, headers={"Retry-After": str(seconds)})
        answer = await self._answered(method, arguments, request)
        status = "ok" if answer["ok"] else answer["error"]
        self._state.note("bot_to_slack", method, status, (time.perf_counter() - began) * 1000, shown, answer)
        if fault is not None:
            return await fault.answer()
        headers = {"x-oauth-scopes": ",".join(self._scopes)} if method == "auth.test" else {}
        return JSONResponse(answer, headers=headers)

    async def _answered(self, method: str, arguments: Arguments, request: Request) -> dict[str, Any]:
        try:
            if method == "apps.connections.open":
                return {"ok": True, "url": self._connection(request)}
            if (handler := self._methods.get(method)) is None:
                raise Refused("unknown_method", req_method=method)
            if method != "api.test":
                self._authorized(_token(request, arguments), method)
            return {"ok": True, **await handler(arguments)}
        except Refused as refusal:
            return {"ok": False, "error": refusal.code, **refusal.more}

    def _authorized(self, token: str, method: str) -> None:
        if not token:
            raise Refused("not_authed")
        if token == self._app.token:
            raise Refused("not_allowed_token_type")
        if token != self._token:
            raise Refused("invalid_auth")
        if self._is_revoked:
            raise Refused("token_revoked")
        needed = SCOPES.get(method)
        if needed is not None and not set(needed) & set(self._scopes):
            raise Refused("missing_scope", needed=",".join(needed), provided=",".join(self._scopes))

    def _connection(self, request: Request) -> str:
        """The address of a new websocket, for the app's own token and no other; that stands in the header alone."""
        token = _token(request, {})
        if request.method != "POST":
            raise Refused("insecure_request")
        if not token:
            raise Refused("not_authed")
        if token == self._token:
            raise Refused("not_allowed_token_type")
        if token != self._app.token:
            raise Refused("invalid_auth")
        if "connections:write" not in self._app.scopes:
            raise Refused("missing_scope", needed="connections:write", provided=",".join(self._app.scopes))
        return self._sockets.address(str(request.base_url).rstrip("/"))

    async def _api_test(self, arguments: Arguments) -> dict[str, Any]:
        if arguments.get("error"):
            raise Refused(str(arguments["error"]), args=dict(arguments))
        return {"args": dict(arguments)}

    async def _auth_test(self, _: Arguments) -> dict[str, Any]:
        url = f"https://{TEAM['domain']}.slack.com/"
        return {
            "url": url,
            "team": TEAM["name"],
            "user": BOT.name,
            "team_id": TEAM["id"],
            "user_id": BOT.id,
            "bot_id": BOT_ID,
            "is_enterprise_install": False,
        }

    async def _revoke(self, arguments: Arguments) -> dict[str, Any]:
        """End this token; with ``test`` only say that it would."""
        self._is_revoked = not flag(arguments, "test")
        return {"revoked": self._is_revoked}

    def _writable(self, arguments: Arguments) -> Channel:
        if not arguments.get("channel"):
            raise Refused("channel_not_found")
        channel = self._state.recipient(str(arguments["channel"]))
        if channel.is_archived:
            raise Refused("is_archived")
        if not channel.bot_is_member and (channel.is_private or "chat:write.public" not in self._scopes):
            raise Refused("not_in_channel")
        return channel

    async def _post(self, arguments: Arguments) -> dict[str, Any]:
        channel = self._writable(arguments)
        text, blocks = self._content(arguments)
        thread_ts = self._state.thread_of(channel.id, arguments.get("thread_ts"))
        broadcast = thread_ts is not None and flag(arguments, "reply_broadcast")
        message = Message(
            self._state.new_ts(), channel.id, BOT.id, text, blocks, thread_ts=thread_ts, broadcast=broadcast
        )
        self._state.add(message)
        return {"channel": channel.id, "ts": message.ts, "message": message_object(message)}

    async def _post_ephemeral(self, arguments: Arguments) -> dict[str, Any]:
        channel = self._writable(arguments)
        user = str(arguments.get("user") or "")
        if user not in channel.members:
            raise Refused("user_not_in_channel")
        text, blocks = self._content(arguments)
        thread_ts = self._state.thread_of(channel.id, arguments.get("thread_ts"))
        message = Message(self._state.new_ts(), channel.id, BOT.id, text, blocks, visible_to=user, thread_ts=thread_ts)
        self._state.add(message)
        return {"message_ts": message.ts}

    async def _update(self, arguments: Arguments) -> dict[str, Any]:
        message = self._own_message(arguments, "cant_update_message")
        text, blocks = self._content(arguments)
        if len(text) > 4000:
            raise Refused("msg_too_long")
        message.text, message.blocks, message.edited = text, blocks, True
        message.edited_ts = self._state.new_ts()
        self._state.changed(message)
        return {"channel": message.channel, "ts": message.ts, "text": text, "message": message_object(message)}

    async def _delete(self, arguments: Arguments) -> dict[str, Any]:
        message = self._own_message(arguments, "cant_delete_message")
        self._state.delete(message)
        return {"channel": message.channel, "ts": message.ts}

    def _own_message(self, arguments: Arguments, refusal: str) -> Message:
        """A message that the app may touch: its own, and not a private one."""
        channel = self._state.channel_of(str(arguments.get("channel") or ""))
        message = self._state.find(channel.id, str(arguments.get("ts") or ""))
        if message is None or message.visible_to is not None:
            raise Refused("message_not_found")
        if message.user != BOT.id:
            raise Refused(refusal)
        return message

    async def _permalink(self, arguments: Arguments) -> dict[str, Any]:
        demand(arguments, "channel", "message_ts")
        channel, ts = self._state.channel_of(str(arguments["channel"])), str(arguments["message_ts"])
        message = self._state.find(channel.id, ts)
        if message is None or message.visible_to is not None:
            raise Refused("message_not_found")
        link = f"https://{TEAM['domain']}.slack.com/archives/{channel.id}/p{ts.replace('.', '')}"
        if message.thread_ts is not None:
            link += f"?thread_ts={message.thread_ts}&cid={channel.id}"
        return {"channel": channel.id, "permalink": link}

    def _content(self, arguments: Arguments) -> tuple[str, list[dict[str, Any]]]:
        """The text and blocks of a message, or Slack's refusal of them."""
        text, blocks = arguments.get("text"), arguments.get("blocks")
        return checked_content(self._state, text, blocks, arguments)

    async def _open(self, arguments: Arguments) -> dict[str, Any]:
        view = self._checked_view(arguments, ("modal",))
        user = self._state.use_trigger(arguments.get("trigger_id"))
        if self._state.stack(user):
            self._state.stacks[user] = []
        return self._pushed(view, user)

    async def _push(self, arguments: Arguments) -> dict[str, Any]:
        view = self._checked_view(arguments, ("modal",))
        return self._pushed(view, self._state.use_trigger(arguments.get("trigger_id")))

    def _pushed(self, view: View, user: str) -> dict[str, Any]:
        stack = self._state.stack(user)
        if len(stack) >= MOST_VIEWS:
            raise Refused("push_limit_reached")
        external = view.get("external_id")
        if external and any(
            external == one.get("external_id") for views in self._state.stacks.values() for one in views
        ):
            raise Refused("duplicate_external_id")
        kept = self._state.kept_view(view, user)
        stack.append(kept)
        self._state.show_views(user)
        return {"view": kept}

    async def _update_view(self, arguments: Arguments) -> dict[str, Any]:
        view = self._checked_view(arguments, ("modal",))
        found = self._state.find_view(str(arguments.get("view_id") or arguments.get("external_id") or ""))
        if found is None:
            raise Refused("not_found")
        user, old = found
        if arguments.get("hash") and arguments["hash"] != old["hash"]:
            raise Refused("hash_conflict")
        kept = self._state.kept_view(view, user, old=old)
        stack = self._state.stack(user)
        stack[stack.index(old)] = kept
        self._state.show_views(user)
        return {"view": kept}

    async def _publish(self, arguments: Arguments) -> dict[str, Any]:
        view = self._checked_view(arguments, ("home",))
        if not self._has_home:
            raise Refused("not_enabled")
        user, old = str(arguments.get("user_id") or ""), self._state.homes.get(str(arguments.get("user_id") or ""))
        if user not in self._state.users:
            raise Refused("user_not_found")
        if old is not None and arguments.get("hash") and arguments["hash"] != old["hash"]:
            raise Refused("hash_conflict")
        kept = self._state.kept_view(view, user, old=old)
        self._state.homes[user] = kept
        self._state.tell({"type": "home", "view": kept}, only=user)
        return {"view": kept}

    def _checked_view(self, arguments: Arguments, kinds: tuple[str, ...]) -> View:
        view = arguments.get("view")
        problems = check_view(view)
        if isinstance(view, Mapping) and view.get("type") not in kinds:
            raise Refused(
                "invalid_arguments",
                response_metadata={"messages": ["[ERROR] unsupported type [json-pointer:/view/type]"]},
            )
        if not problems and "files:read" not in self._scopes and _asks_for_files(view):
            raise Refused("missing_scope", needed="files:read", provided=",".join(self._scopes))
        if any(problem.text == "view_too_large" for problem in problems):
            raise Refused("view_too_large")
        if problems or not isinstance(view, Mapping):
            schemas = "[ERROR] failed to match all allowed schemas [json-pointer:/view]"
            raise Refused("invalid_arguments", response_metadata={"messages": [schemas, *as_messages(problems)]})
        return dict(view)

    async def _validate(self, arguments: Arguments) -> dict[str, Any]:
        given = [name for name in VALIDATED if name in arguments]
        if len(given) != 1:
            raise Refused(
                "invalid_arguments",
                response_metadata={"messages": ["must provide exactly one of `blocks`, `view`, or `message`"]},
            )
        if problems := VALIDATED[given[0]](arguments[given[0]]):
            raise Refused(f"invalid_{given[0]}", errors=as_findings(problems))
        return {}


def _asks_for_files(view: Any) -> bool:
    return any((block.get("element") or {}).get("type") == "file_input" for block in view["blocks"])


def _validated_blocks(blocks: Any) -> list[Problem]:
    """What is wrong with blocks alone: pointers begin at the list."""
    problems = check_message({"blocks": blocks})
    return [Problem(one.pointer.removeprefix("/blocks"), one.text, one.expected) for one in problems]


def _validated_message(message: Any) -> list[Problem]:
    return check_message(message) if isinstance(message, Mapping) else [Problem("", "must provide an object")]


def _validated_view(view: Any) -> list[Problem]:
    return check_view(view, prefix="")


VALIDATED: Final[dict[str, Callable[[Any], list[Problem]]]] = {
    "blocks": _validated_blocks,
    "message": _validated_message,
    "view": _validated_view,
}
"""What blocks.validate takes, one of them at a time."""


def checked_content(state: State, text: Any, blocks: Any, payload: Arguments) -> tuple[str, list[dict[str, Any]]]:
    """The text and blocks of *payload* as they are kept; raises Refused with Slack's words."""
    if not text and not blocks and not payload.get("attachments"):
        raise Refused("no_text")
    if blocks is not None and not isinstance(blocks, list):
        raise Refused("invalid_blocks_format")
    if problems := check_message({"blocks": blocks, "attachments": payload.get("attachments")}):
        messages = ["[ERROR] failed to match all allowed schemas [json-pointer:/blocks]", *as_messages(problems)]
        # Slack keeps tables as attachments, and says so when there are two.
        refusal = "invalid_attachments" if any(one.text == ONE_TABLE for one in problems) else "invalid_blocks"
        raise Refused(refusal, errors=as_errors(problems), response_metadata={"messages": messages})
    if blocks and blocks_too_long(blocks):
        raise Refused("msg_blocks_too_long")
    if text is not None and not isinstance(text, str):
        raise Refused("invalid_arguments")
    if len(text or "") > 40_000:
        raise Refused("msg_too_long")
    return text or "", state.with_ids(blocks or [])


async def _arguments(request: Request, method: str) -> dict[str, Any]:
    """The arguments of a call: from the query, a form, or JSON where the method takes it. Raises ValueError."""
    arguments: dict[str, Any] = dict(request.query_params)
    body = await request.body()
    if "application/json" in request.headers.get("content-type", "") and method not in READS:
        document = json.loads(body or b"{}")
        if not isinstance(document, dict):
            raise ValueError("no object")
        return arguments | document
    arguments |= dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
    return {name: _nested(name, value) for name, value in arguments.items()}


def _nested(name: str, value: str) -> Any:
    if name not in NESTED:
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


async def call_token(request: Request) -> str:
    """The token of a call, wherever in it it stands."""
    form = dict(parse_qsl((await request.body()).decode("utf-8", "replace")))
    return _token(request, {**request.query_params, **form})


def _token(request: Request, arguments: Arguments) -> str:
    header = request.headers.get("authorization", "")
    return header.removeprefix("Bearer ").strip() or str(arguments.get("token") or "")
