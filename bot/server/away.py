"""What people hear in a workspace in which Gatehouse is not at work: one sentence, however they ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import structlog
from aiohttp import ClientError
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError
from slack_sdk.webhook.async_client import AsyncWebhookClient

from handlers.blocks.modals import done
from handlers.slack.client import Slack

log = structlog.get_logger(__name__)

WORDS: Final[Mapping[str, str]] = {
    "missing": "Gatehouse isn't installed in this workspace any more. Ask your Gatehouse admin to install it again.",
    "not set up": (
        "Gatehouse isn't set up for this workspace yet. Ask your Gatehouse admin to run"
        " `gatehouse workspace set {team} --env FILE`."
    ),
    "opening": "Gatehouse is starting in this workspace. Try again in a few seconds.",
    "broken": "Gatehouse can't work in this workspace right now. Your Gatehouse admin sees why in `gatehouse check`.",
}


async def answer_for(slack: Slack, request: AsyncBoltRequest, team: str, token: str, state: str) -> BoltResponse:
    """Say why the workspace *team* doesn't answer, by what its *state* is called in WORDS; acknowledges the request.

    What Slack will send again is refused while the workspace opens.
    """
    words, body = WORDS[state].format(team=team), request.body
    kind = body.get("type")
    log.info("workspace_away", state=state)
    if "command" in body:
        return BoltResponse(status=200, body={"response_type": "ephemeral", "text": words})
    if kind == "block_suggestion":
        return BoltResponse(status=200, body={"options": []})
    if kind == "view_submission":
        return BoltResponse(status=200, body={"response_action": "update", "view": done("Gatehouse", words)})
    if kind == "event_callback" and state == "opening":
        return BoltResponse(status=503)
    try:
        if url := body.get("response_url"):
            webhook = AsyncWebhookClient(str(url), session=slack.responses)
            webhook.proxy = None  # by the proxy of the session, whatever the environment says
            await webhook.send_dict({"response_type": "ephemeral", "replace_original": False, "text": words})
        elif token and (place := _asked_in(body)):
            await slack.client.chat_postMessage(token=token, text=words, channel=place[0], thread_ts=place[1])
    except (SlackApiError, ClientError, TimeoutError, OSError) as error:
        log.info("not_answered", error=type(error).__name__)
    return BoltResponse(status=200)


def _asked_in(body: Mapping[str, Any]) -> tuple[str, str | None] | None:
    """The channel, and the thread if any, in which a person mentioned the app or wrote to it; None for all else."""
    event = body.get("event")
    if not isinstance(event, Mapping) or event.get("bot_id") or event.get("subtype") or not event.get("channel"):
        return None
    if event.get("type") != "app_mention" and event.get("channel_type") != "im":
        return None
    return str(event["channel"]), event.get("thread_ts")
