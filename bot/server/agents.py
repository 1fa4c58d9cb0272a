"""``POST /mcp``: the tools of `handlers.agents` for MCP clients, by the official SDK.

Slackbot signs its requests as Slack does all others, and says in the signed body who asks. Any other client has a token that
its person made. Who asks is decided here, before the SDK sees the body; what an unsigned body says about it is ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot import __version__
from bot.gatehouse import Gatehouse
from bot.metrics import REJECTED
from bot.policy.inquiry import DirectoryUnavailable
from bot.server.edge import AgentEndpoint, Rejected, Verifier, header, read_body
from handlers.agents.asking import Answer, Asker, answer
from handlers.agents.proposals import Post
from handlers.agents.tokens import owner_of
from handlers.agents.tools import TOOLS, Tool

ASKER: Final = "gatehouse.asker"
BEARER: Final = re.compile(rb"Bearer (gh_[\w-]{40,120})")
INSTRUCTIONS: Final = (
    "Gatehouse: a site's traffic rules (redirects, blocks, headers) and members. Tools read as the person whom you act for may "
    "see it in a channel. Those named propose_* change nothing: their person gets a message in Slack, and decides."
)

Team = Callable[[], Awaitable[str]]
"""Returns the id of our workspace; raises DirectoryUnavailable."""


def agent_endpoint(gatehouse: Gatehouse, verifier: Verifier, team: Team, post: Post) -> AgentEndpoint:
    """Return the handler of ``POST /mcp``: it passes requests that pass every check to the SDK, and refuses others."""

    async def call(context: ServerRequestContext[Any, Request], params: types.CallToolRequestParams) -> Any:
        asker = context.request.scope[ASKER] if context.request is not None else None
        tool = TOOLS.get(params.name)
        if asker is None or tool is None:
            return _result(Answer("There is no such tool." if asker else "Slack didn’t say who asks.", is_error=True))
        return _result(await answer(tool, params.arguments or {}, asker, gatehouse, post))

    async def tools(*_: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[*map(_as_type, TOOLS.values())])

    async def endpoint(request: Request) -> ASGIApp:
        try:
            body, asker = await _read(request, gatehouse, verifier, team)
        except Rejected as refusal:
            REJECTED.labels(refusal.why).inc()
            return PlainTextResponse(refusal.why, status_code=refusal.status)
        unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def pass_on(scope: Scope, receive: Receive, send: Send) -> None:
            async def read_again() -> Message:
                return unread.pop() if unread else await receive()

            # One for each request: nothing is kept between two of them.
            sessions = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
            async with sessions.run():
                await sessions.handle_request({**scope, ASKER: asker}, read_again, send)

        return pass_on

    server = Server("Gatehouse", version=__version__, instructions=INSTRUCTIONS, on_list_tools=tools, on_call_tool=call)
    return endpoint


def _as_type(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(tool.schema),
        annotations=types.ToolAnnotations(read_only_hint=not tool.proposes),
        _meta={"slack": {"supportsBlockKit": True}},
    )


def _result(told: Answer) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=told.text)],
        structured_content=dict(told.data) or None,
        is_error=told.is_error,
        _meta={"slack": {"blocks": list(told.blocks)}} if told.blocks else None,
    )


async def _read(request: Request, gatehouse: Gatehouse, verifier: Verifier, team: Team) -> tuple[bytes, Asker | None]:
    """Return the body of *request*, and who asks, None where Slack didn't say; raises Rejected."""
    if (token := BEARER.fullmatch(header(request, b"authorization"))) is not None:
        body = await read_body(request)
        if (owner := await owner_of(token[1].decode(), gatehouse.store)) is None:
            raise Rejected(401, "token")
        return body, owner
    body = await verifier.read(request)
    try:
        who = json.loads(body).get("params", {}).get("_meta", {}).get("slack")
        if isinstance(who, Mapping) and who.get("team_id") != await team():
            raise Rejected(401, "team")
    except DirectoryUnavailable as error:
        raise Rejected(503, "slack") from error
    # JSON that is nested too deeply ends in a RecursionError.
    except (ValueError, AttributeError, RecursionError) as error:
        raise Rejected(400, "shape") from error
    return body, Asker(str(who["user_id"]), "Slackbot") if isinstance(who, Mapping) and who.get("user_id") else None
