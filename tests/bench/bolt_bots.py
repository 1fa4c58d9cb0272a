"""What Gatehouse is compared with: a bot as tutorials and one as careful people write it.

Served by ``uvicorn --factory``; both take the variables that Gatehouse takes. They ask
nobody for rights, keep no record, check nothing, and forget what they were doing when they are stopped.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from typing import Any, Final

import httpx
from slack_bolt.adapter.starlette.async_handler import AsyncSlackRequestHandler
from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncSay
from slack_sdk.web.async_client import AsyncWebClient
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

ROWS: Final = 20
"""Of a list in one message: as many as Gatehouse shows."""
Json = dict[str, Any]


def tutorial() -> Starlette:
    """A bot that asks whether to delete a rule, and deletes it when somebody clicks Approve: a new HTTP client each time."""
    app, rules = _bolt(), f"{os.environ['RULES_BASE_URL']}/rules"
    headers = {"x-api-key": os.environ["RULES_API_KEY"]}

    @app.command("/rules")
    async def ask(ack: AsyncAck, say: AsyncSay, command: Json) -> None:
        await ack()
        rule_id = command["text"].removeprefix("delete ")
        await say(text=f"Delete {rule_id}?", blocks=_question(rule_id))

    @app.action("v1.decide.approve")
    async def approve(ack: AsyncAck, client: AsyncWebClient, body: Json) -> None:
        await ack()
        rule_id = body["actions"][0]["value"]
        async with httpx.AsyncClient(headers=headers) as service:
            (await service.delete(f"{rules}/{rule_id}")).raise_for_status()
        place = {"channel": body["channel"]["id"], "ts": body["message"]["ts"]}
        await client.chat_update(**place, text=f"{rule_id} is deleted.", blocks=[_section(f"{rule_id} is deleted.")])

    return _served(app)


def careful() -> Starlette:
    """Two commands as quickly as Bolt lets them be: acknowledged first, answered by a task, one HTTP client for all."""
    app, tasks = _bolt(process_before_response=True), set[asyncio.Task[None]]()
    headers = {"x-api-key": os.environ["RULES_API_KEY"]}
    service = httpx.AsyncClient(base_url=os.environ["RULES_BASE_URL"], headers=headers)

    def later(work: Coroutine[Any, Any, None]) -> None:
        tasks.add(task := asyncio.create_task(work))
        task.add_done_callback(tasks.discard)

    async def answer(command: Json, text: str, blocks: list[Json] | None = None) -> None:
        body = {"response_type": "ephemeral", "text": text, "blocks": blocks or [_section(text)]}
        (await service.post(command["response_url"], json=body)).raise_for_status()

    async def listed(command: Json) -> None:
        found = (await service.get("rules")).json()["data"]
        await answer(command, f"{len(found)} rules", [_row(rule) for rule in found[:ROWS]])

    @app.command("/gatehouse")
    async def whoami(ack: AsyncAck, command: Json) -> None:
        later(answer(command, f"You are <@{command['user_id']}> in <#{command['channel_id']}>."))
        await ack()

    @app.command("/rules")
    async def list_rules(ack: AsyncAck, command: Json) -> None:
        later(listed(command))
        await ack()

    return _served(app)


def _bolt(*, process_before_response: bool = False) -> AsyncApp:
    token = os.environ["SLACK_BOT_TOKEN"]
    client = AsyncWebClient(token=token, base_url=os.environ["SLACK_API_URL"])
    secret = os.environ["SLACK_SIGNING_SECRET"]
    return AsyncApp(client=client, signing_secret=secret, process_before_response=process_before_response)


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
