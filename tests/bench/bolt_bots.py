"""What Gatehouse is compared with: Bolt alone, and a bot as tutorials write it. Served by ``uvicorn --factory``.

Both take the variables that Gatehouse takes. The tutorial bot asks nobody for rights, keeps no record, checks
nothing, and forgets what it was doing when it is stopped.
"""

from __future__ import annotations

import os
from typing import Any, Final

from slack_bolt.adapter.starlette.async_handler import AsyncSlackRequestHandler
from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond, AsyncSay
from slack_sdk.web.async_client import AsyncWebClient
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

ROWS: Final = 10
Json = dict[str, Any]


def bare() -> Starlette:
    """One listener that acknowledges."""
    app = _bolt()

    @app.command("/gatehouse")
    async def acknowledge(ack: AsyncAck) -> None:
        await ack()

    return _served(app)


def tutorial() -> Starlette:
    """A bot that answers two commands, and deletes a rule when somebody clicks Approve."""
    import httpx  # noqa: PLC0415  Bolt alone needs none of it, so its memory should not hold it

    app, rules = _bolt(), f"{os.environ['RULES_BASE_URL']}/rules"
    headers = {"x-api-key": os.environ["RULES_API_KEY"]}

    @app.command("/gatehouse")
    async def whoami(ack: AsyncAck, respond: AsyncRespond, command: Json) -> None:
        await ack()
        await respond(f"You are <@{command['user_id']}> in <#{command['channel_id']}>.")

    @app.command("/rules")
    async def list_or_delete(ack: AsyncAck, respond: AsyncRespond, say: AsyncSay, command: Json) -> None:
        await ack()
        verb, _, rule_id = command["text"].partition(" ")
        if verb == "delete":
            await say(text=f"Delete {rule_id}?", blocks=_question(rule_id))
            return
        async with httpx.AsyncClient(headers=headers) as client:
            found = (await client.get(rules)).json()["data"]
        await respond(text=f"{len(found)} rules", blocks=[_row(rule) for rule in found[:ROWS]])

    @app.action("v1.decide.approve")
    async def approve(ack: AsyncAck, client: AsyncWebClient, body: Json) -> None:
        await ack()
        rule_id = body["actions"][0]["value"]
        async with httpx.AsyncClient(headers=headers) as service:
            (await service.delete(f"{rules}/{rule_id}")).raise_for_status()
        place = {"channel": body["channel"]["id"], "ts": body["message"]["ts"]}
        await client.chat_update(**place, text=f"{rule_id} is deleted.", blocks=[_section(f"{rule_id} is deleted.")])

    return _served(app)


def _bolt() -> AsyncApp:
    token = os.environ["SLACK_BOT_TOKEN"]
    client = AsyncWebClient(token=token, base_url=os.environ["SLACK_API_URL"])
    return AsyncApp(client=client, signing_secret=os.environ["SLACK_SIGNING_SECRET"])


def _served(app: AsyncApp) -> Starlette:
    handler = AsyncSlackRequestHandler(app)

    async def events(request: Request) -> Response:
        return await handler.handle(request)

    async def readyz(_: Request) -> Response:
        return Response()

    return Starlette(routes=[Route("/slack/events", events, methods=["POST"]), Route("/readyz", readyz)])


def _section(words: str) -> Json:
    return {"type": "section", "text": {"type": "mrkdwn", "text": words}}


def _row(rule: Json) -> Json:
    pair = rule["pairs"][0] if rule.get("pairs") else {}
    source, destination = pair.get("source", {}).get("value", ""), pair.get("destination", "")
    return _section(f"*{rule['name']}* (`{rule['id']}`, {rule['status']})\n{source} → {destination}")


def _question(rule_id: str) -> list[Json]:
    text = {"type": "plain_text", "text": "Approve"}
    button = {"type": "button", "action_id": "v1.decide.approve", "text": text, "value": rule_id}
    return [_section(f"Delete {rule_id}?"), {"type": "actions", "elements": [button]}]
