"""The client for Slack: the calls that Gatehouse makes, each with its fallback where Slack refuses."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Final

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.metrics import SLACK_CALLS
from handlers.blocks.masking import is_public, mask_message, mask_part
from handlers.blocks.messages import Message
from handlers.blocks.modals import View
from handlers.slack.reply import Caller

log = structlog.get_logger(__name__)

NO_CODE: Final = "unknown_error"
"""Stands for the error code of an answer that has none."""
AWAY: Final = frozenset({"fatal_error", "internal_error", "request_timeout", "service_unavailable", NO_CODE})
"""Slack's error codes for temporary trouble of its own."""
FATAL: Final = frozenset(
    {"invalid_auth", "account_inactive", "token_revoked", "token_expired", "not_authed", "org_login_required"}
)
"""Slack's error codes for a token that will never work."""
CONTENT: Final = frozenset(
    {"msg_too_long", "msg_blocks_too_long", "invalid_blocks", "invalid_blocks_format", "invalid_arguments", "no_text"}
)
"""Slack's error codes for a message that it takes nowhere."""
NOT_THE_API: Final = frozenset({NO_CODE, "unknown_method"})
"""The error codes of a URL that is not that of Slack's Web API, where a method is called that surely exists."""


class SlackRefused(Exception):
    """Slack answered with an error: its *code* (``channel_not_found``), and *seconds*, its Retry-After, where it gave one.

    *needed*: the scopes that the app lacks, where that is why. *errors*: what is wrong with blocks, where Slack says it.
    *is_final*: the same call would be refused again, but another one may not; *is_of_content*: wherever it goes.
    """

    def __init__(self, code: str, seconds: float | None = None, needed: str = "", errors: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.is_away = code in AWAY
        self.is_of_content = code in CONTENT
        self.is_final = not (self.is_away or seconds or code in {"ratelimited", *FATAL})
        self.seconds = seconds
        self.needed = needed
        self.errors = errors


class ModalGone(SlackRefused):
    """The modal that was to be updated was closed, or shows something newer."""


HASH_CONFLICT: Final = "hash_conflict"
GONE: Final = frozenset({"not_found", HASH_CONFLICT, "expired_trigger_id", "exchanged_trigger_id"})
"""Slack's error codes for a modal that was closed, or drawn again, before an update of it arrived."""


class SlackUnreachable(Exception):
    """No answer from Slack, or none that can be read. *by_proxy*: the outgoing proxy refused or failed."""

    is_away: Final = True

    def __init__(self, text: str = "", *, by_proxy: bool = False) -> None:
        super().__init__(text)
        self.by_proxy = by_proxy


MAX_SKEW: Final = 60
"""Seconds that our clock may be off before it is reported."""

QUIET = {"unfurl_links": False, "unfurl_media": False}
"""A rule's URLs are data, not links to show off: Slack must not fetch or preview them."""


UNREADABLE: Final = (ValueError, TypeError, AttributeError)
"""Exceptions that the SDK raises where a line of text, or other JSON than an object, comes instead of Slack's answer."""


@dataclass(slots=True)
class Slack:
    """Calls Slack's Web API and response URLs. Raises SlackRefused or SlackUnreachable, never an error of the SDK."""

    client: AsyncWebClient
    responses: aiohttp.ClientSession
    """For the URLs that Slack gives for answers."""
    files: aiohttp.ClientSession
    """For Slack's file host."""
    redact: Callable[[str], str] = str
    """Applied to Slack's error texts before anything else: they may contain the refused token."""
    trouble: str = ""
    """Slack's error code for our token at the last call that failed because of it; empty once a call has succeeded."""
    ahead: float = 0.0
    """Seconds by which Slack's clock was ahead of ours at its last answer."""

    scopes: str = ""
    """The scopes of our token, separated by commas, from Slack's last answer."""

    def clock_trouble(self) -> str:
        """Return how far this machine's clock is off; empty where it is right: Slack's signatures are valid for five minutes."""
        return "" if abs(self.ahead) <= MAX_SKEW else f"{self.ahead:.0f} s off from Slack’s clock"

    async def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Call *method* with a JSON body; return Slack's answer."""
        return await self._answer_to(method, self.client.api_call(method, json=arguments))

    async def post_form(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Call a method that writes, but takes a form instead of JSON."""
        return await self._answer_to(method, self.client.api_call(method, data=arguments))

    async def ask(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Call a method that only reads: Slack takes no JSON bodies for those."""
        return await self._answer_to(method, self.client.api_call(method, http_verb="GET", params=arguments))

    async def _answer_to(self, method: str, call: Awaitable[AsyncSlackResponse]) -> dict[str, Any]:
        began, outcome = time.perf_counter(), "unreachable"
        try:
            response = await call
            outcome = "ok"
        except SlackApiError as error:
            outcome = "refused"
            refusal = _refusal(error, self.redact)
            # Kept for the readiness check; other errors say nothing about the token.
            if refusal.code in FATAL:
                self.trouble = refusal.code
            raise refusal from error
        except (aiohttp.ClientError, TimeoutError, OSError, *UNREADABLE) as error:
            status = f" {error.status}" if isinstance(error, aiohttp.ClientHttpProxyError) else ""
            by_proxy = isinstance(error, aiohttp.ClientHttpProxyError | aiohttp.ClientProxyConnectionError)
            raise SlackUnreachable(type(error).__name__ + status, by_proxy=by_proxy) from error
        finally:
            SLACK_CALLS.labels(method, outcome).observe(time.perf_counter() - began)
        self.trouble = ""
        self._note_headers(response)
        return response.data if isinstance(response.data, dict) else {}

    def _note_headers(self, response: AsyncSlackResponse) -> None:
        headers = {name.lower(): value for name, value in (response.headers or {}).items()}
        self.scopes = str(headers.get("x-oauth-scopes", self.scopes))
        try:
            self.ahead = parsedate_to_datetime(str(headers.get("date"))).timestamp() - time.time()
        except ValueError:
            return  # no date, or none that says anything: nothing is known

    async def post(self, channel: str, message: Message, *, thread: str | None = None) -> tuple[str, str]:
        """Post to a channel, or to the *thread* of one of its messages; return where it can be edited."""
        place = {"channel": channel} if thread is None else {"channel": channel, "thread_ts": thread}
        content = _content(_mask_for(channel, message))
        answer = await self.call("chat.postMessage", **place, **content, **QUIET)
        return str(answer.get("channel") or channel), str(answer.get("ts") or "")

    async def edit(self, channel: str, ts: str, message: Message) -> None:
        await self.call("chat.update", channel=channel, ts=ts, **_content(_mask_for(channel, message)))

    async def whisper(self, caller: Caller, message: Message, *, replace: bool = False) -> None:
        """Answer *caller* alone: by the response URL, else by an ephemeral message in the channel, else in a direct message."""
        if caller.response_url and await self._respond(caller, message, replace=replace):
            return
        place = {"channel": caller.channel, **({"thread_ts": caller.thread} if caller.thread else {})}
        try:
            # In a direct message, an ordinary message is private, too, and unlike an ephemeral one it stays.
            if caller.direct:
                await self.post(caller.channel, message, thread=caller.thread or None)
            else:
                await self.call("chat.postEphemeral", user=caller.user, **place, **_content(message))
        except SlackRefused as refusal:
            log.info("private_reply_refused", code=refusal.code, request=caller.request)
            await self.post(caller.user, message)

    async def _respond(self, caller: Caller, message: Message, *, replace: bool) -> bool:
        body: dict[str, Any] = {"response_type": "ephemeral", "replace_original": replace}
        # What replaces a message stays where that is.
        if caller.thread and not replace:
            body["thread_ts"] = caller.thread
        webhook = AsyncWebhookClient(str(caller.response_url), session=self.responses)
        webhook.proxy = None  # as all else, by the proxy of the session, whatever the environment says
        try:
            return (await webhook.send_dict(body | _content(message))).status_code == 200
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            log.info("response_url_unreachable", error=type(error).__name__)
            return False

    async def permalink(self, channel: str, ts: str) -> str:
        """Return the permalink of a message; empty where Slack does not give one."""
        try:
            return str((await self.ask("chat.getPermalink", channel=channel, message_ts=ts)).get("permalink") or "")
        except (SlackRefused, SlackUnreachable) as error:
            log.info("no_permalink", error=str(error))
            return ""

    async def publish(self, user: str, view: View) -> None:
        """Update the Home tab of *user*; emails in it are masked, since others may look at the screen."""
        await self.call("views.publish", user_id=user, view=mask_part(view))

    async def open(self, trigger: str, view: View) -> View:
        """Open a modal; return the view as Slack keeps it, with its id and hash."""
        answer = await self.call("views.open", trigger_id=trigger, view=view)
        return dict(answer.get("view") or {})

    async def push(self, trigger: str, view: View) -> None:
        """Push a modal on top of the one that *trigger* comes from."""
        await self.call("views.push", trigger_id=trigger, view=view)

    async def refill(self, opened: View, view: View) -> View:
        """Replace the content of an opened modal; raises ModalGone where it was closed or shows something newer."""
        arguments: dict[str, Any] = {"view_id": opened.get("id"), "view": view}
        # With it, Slack refuses the update where the modal was drawn again in the meantime.
        if opened.get("hash"):
            arguments["hash"] = opened["hash"]
        try:
            answer = await self.call("views.update", **arguments)
        except SlackRefused as refusal:
            if refusal.code in GONE:
                raise ModalGone(refusal.code) from refusal
            raise
        return dict(answer.get("view") or {})


def _mask_for(channel: str, message: Message) -> Message:
    """Return *message* as the people in *channel* may see it."""
    return mask_message(message) if is_public(channel) else message


def _content(message: Message) -> dict[str, Any]:
    return {"text": message.text, "blocks": list(message.blocks)}


def _refusal(error: SlackApiError, redact: Callable[[str], str]) -> SlackRefused:
    headers = getattr(error.response, "headers", None) or {}
    after = headers.get("Retry-After") or headers.get("retry-after")
    try:
        code = redact(str(error.response.get("error") or NO_CODE))
        needed = redact(str(error.response.get("needed") or ""))
        errors = redact("; ".join(_error_words(one) for one in error.response.get("errors") or ()))
    except UNREADABLE:
        code, needed, errors = NO_CODE, "", ""
    # Retry-After may also be a date, which Slack does not send, but a proxy may.
    return SlackRefused(code, float(after) if after and str(after).isdigit() else None, needed, errors[:MAX_ERRORS])


def _error_words(error: Any) -> str:
    """Return one of Slack's errors, a text or an object, in words with its place."""
    return f"{error.get('message')} at {error.get('pointer')}" if isinstance(error, dict) else str(error)


MAX_ERRORS: Final = 500
