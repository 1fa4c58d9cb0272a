"""Files to and from Slack: sent in three steps, read with the token, and only from URLs of Slack itself.

The token opens the whole workspace, and the files hold people's emails: neither may go to a host that somebody wrote into a
payload, nor follow a redirect there.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp

from bot.text.encoding import MAX_FILE_BYTES, FileTooLarge
from handlers.blocks.masking import is_public, mask_text
from handlers.slack.client import Slack, SlackRefused, SlackUnreachable

MAX_WORDS: Final = 64 * 1024
"""Bytes of Slack's answer to an upload that are read, at most."""
LOOKS: Final = (0.0, 0.2, 0.5, 1.0, 2.0)
"""Pauses in seconds before each look at whether a file is there: Slack shares it after it has answered, or never does."""
GONE: Final = frozenset({"file_not_found", "file_deleted"})


class FileGone(Exception):
    """The file does not exist, or Gatehouse may not see it."""


class FileUnreadable(Exception):
    """Slack gave something else than the file: a login page, a redirect, or a URL that is not its own."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A file that Slack has. *link*: opens it there; *shown*: it was seen in the channel that it was sent to."""

    link: str
    shown: bool


@dataclass(frozen=True, slots=True)
class SlackFiles:
    """Sends files to Slack and reads them. Raises SlackRefused, SlackUnreachable and the errors above, never one of aiohttp."""

    slack: Slack

    async def open_direct(self, user: str) -> str:
        """Return the id of the direct message with *user*: Slack takes files for conversations only, not for a user id."""
        opened = await self.slack.call("conversations.open", users=user)
        return str((opened.get("channel") or {}).get("id") or "")

    async def send(self, channel: str, name: str, content: bytes, comment: str) -> Sent:
        """Send a file to *channel*, with *comment* (mrkdwn)."""
        if is_public(channel):  # before the upload: Slack shows this name as well as the title
            name, comment = mask_text(name), mask_text(comment)
        ticket = await self.slack.post_form("files.getUploadURLExternal", filename=name, length=len(content))
        await self._upload(str(ticket.get("upload_url") or ""), content)
        file_id = str(ticket.get("file_id") or "")
        listed = [{"id": file_id, "title": name}]
        try:
            answer = await self.slack.call(
                "files.completeUploadExternal", files=listed, channel_id=channel, initial_comment=comment
            )
        except (SlackRefused, SlackUnreachable):
            # Only the answer may be lost, and the file be there all the same.
            if (sent := await self._look(file_id, channel)).shown:
                return sent
            raise
        files = answer.get("files") or [{}]
        return await self._wait_until_shown(file_id, channel, str(files[0].get("permalink") or ""))

    async def _wait_until_shown(self, file_id: str, channel: str, link: str) -> Sent:
        """Look for some seconds until the file is in *channel*: Slack may accept it and not show it."""
        for pause in LOOKS:
            await asyncio.sleep(pause)
            if (found := await self._look(file_id, channel)).shown:
                return found
        return Sent(link, shown=False)

    async def _look(self, file_id: str, channel: str) -> Sent:
        """Look whether an uploaded file is shown in *channel*."""
        try:
            file = (await self.slack.ask("files.info", file=file_id)).get("file") or {}
        except (SlackRefused, SlackUnreachable):
            return Sent("", shown=False)
        places = [place for places in (file.get("shares") or {}).values() for place in places]
        return Sent(str(file.get("permalink") or ""), shown=channel in places)

    async def _upload(self, url: str, content: bytes) -> None:
        # From a stream: aiohttp would hold up the loop over a long text given whole.
        kind = {"Content-Type": "application/octet-stream"}
        async with self._request("POST", url, headers=kind, data=io.BytesIO(content)) as response:
            await _read_capped(response, MAX_WORDS)  # an answer that breaks off is none
            if response.status != 200:
                raise SlackUnreachable(f"the upload was answered with status {response.status}")

    async def read(self, file_id: str) -> bytes:
        """Return the content of a file; raises FileGone, FileTooLarge, FileUnreadable."""
        try:
            file = (await self.slack.ask("files.info", file=file_id)).get("file") or {}
        except SlackRefused as refusal:
            if refusal.code in GONE:
                raise FileGone(refusal.code) from refusal
            raise
        # What Slack says of the size spares the download; what arrives is counted all the same.
        if (size := _size(file)) > MAX_FILE_BYTES:
            raise FileTooLarge(size, MAX_FILE_BYTES)
        url = str(file.get("url_private_download") or file.get("url_private") or "")
        headers = {"Authorization": f"Bearer {self.slack.client.token}", "Accept-Encoding": "identity"}
        async with self._request("GET", url, headers=headers) as response:
            _check_answer(response, file)
            return await _read_capped(response, MAX_FILE_BYTES)

    @asynccontextmanager
    async def _request(self, method: str, url: str, **arguments: Any) -> AsyncIterator[aiohttp.ClientResponse]:
        """One request to Slack's file host: no redirect is followed, no proxy of the environment used."""
        if not is_slack_url(url, self.slack.client.base_url):
            raise FileUnreadable("an address that is not Slack's")
        try:
            async with self.slack.files.request(method, url, allow_redirects=False, **arguments) as response:
                yield response
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise SlackUnreachable(type(error).__name__) from error


def is_slack_url(url: str, api: str) -> bool:
    """Whether *url* is of the Slack whose Web API is at *api*: the same origin, or https at a host below its own."""
    # Parsers of URLs disagree about these, so the one that sends could read another host.
    if any(ord(one) <= 32 or one == "\\" for one in url):
        return False
    try:
        asked, own = urlsplit(url), urlsplit(api)
        port, own_port = asked.port, own.port
    except ValueError:
        return False
    # The part before an @ looks like the host, and is not.
    if "@" in asked.netloc or not asked.hostname or not own.hostname:
        return False
    if (asked.scheme, asked.hostname, port) == (own.scheme, own.hostname, own_port):
        return True
    # With the dot: a host that only ends in the same letters is somebody else's.
    return asked.scheme == "https" and port in {None, 443} and asked.hostname.endswith(f".{own.hostname}")


def _size(file: Mapping[str, Any]) -> int:
    size = file.get("size")
    return size if isinstance(size, int) else 0


def _check_answer(response: aiohttp.ClientResponse, file: Mapping[str, Any]) -> None:
    """Refuse what is not the file: without the right to it, Slack answers with a page to log in with and status 200."""
    if response.status != 200:
        raise FileUnreadable(f"status {response.status}")
    # A file may be HTML itself: then it is as long as Slack said.
    is_page = response.content_type == "text/html"
    if is_page and (file.get("mimetype") != "text/html" or response.content_length != _size(file)):
        raise FileUnreadable("a page to log in with")
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise FileUnreadable("packed, though plain was asked for")


async def _read_capped(response: aiohttp.ClientResponse, most: int) -> bytes:
    content = bytearray()
    async for chunk in response.content.iter_chunked(64 * 1024):
        content += chunk
        if len(content) > most:
            raise FileTooLarge(len(content), most)
    return bytes(content)
