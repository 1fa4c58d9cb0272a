"""The files of the local Slack: their content, who uploaded them, where they are shared, and which ones the app may see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

from sandbox.slack.people import Channel
from sandbox.slack.workspace import Workspace

TYPES: Final = {
    "json": ("text/plain", "json", "JSON"),  # a snippet to Slack, which keeps those as plain text
    "csv": ("text/csv", "csv", "CSV"),
    "txt": ("text/plain", "text", "Plain Text"),
    "html": ("text/html", "html", "HTML"),
    "png": ("image/png", "png", "PNG"),
    "jpg": ("image/jpeg", "jpg", "JPEG"),
    "pdf": ("application/pdf", "pdf", "PDF"),
    "zip": ("application/zip", "zip", "Zip"),
}
"""By the extension of the name: mimetype, file type, and the words for it."""
OTHER: Final = ("application/octet-stream", "binary", "Binary")
MAX_IN_FORM: Final = 10 * 1024 * 1024
"""Bytes of a file that a form's file input takes."""
MAX_FILES: Final = 10


@dataclass(slots=True)
class File:
    """One file. *size* is what was announced; *content* is there once it was sent."""

    id: str
    name: str
    user: str
    size: int
    created: int
    base: str
    """The beginning of its URLs."""
    workspace: Workspace
    title: str = ""
    content: bytes | None = None
    is_finished: bool = False
    """Whether the upload was completed: until then, nobody sees the file."""
    is_granted: bool = False
    """Whether somebody handed it to the app in a form."""
    is_deleted: bool = False
    shares: dict[str, list[str]] = field(default_factory=dict)
    """The ts of the messages that it is in, by channel."""

    @property
    def type(self) -> tuple[str, str, str]:
        """Return its mimetype, file type, and the words for it."""
        return TYPES.get(file_extension(self.name), OTHER)

    def url(self, *, download: bool) -> str:
        way = "download/" if download else ""
        return f"{self.base}/files-pri/{self.workspace.id}-{self.id}/{way}{quote(self.name.lower().replace(' ', '_'))}"

    def info(self, channels: Mapping[str, Channel] | None = None) -> dict[str, Any]:
        """Return the file object of the Web API; *channels*: to tell to which kinds of channel it was shared."""
        if self.is_deleted:
            return {"id": self.id, "mode": "tombstone"}
        mimetype, filetype, pretty = self.type
        return {
            "id": self.id,
            "created": self.created,
            "timestamp": self.created,
            "name": self.name,
            "title": self.title or self.name,
            "mimetype": mimetype,
            "filetype": filetype,
            "pretty_type": pretty,
            "user": self.user,
            "user_team": self.workspace.id,
            "editable": False,
            "size": self.size,
            "mode": "hosted",
            "is_external": False,
            "external_type": "",
            "is_public": False,
            "public_url_shared": False,
            "display_as_bot": False,
            "username": "",
            "url_private": self.url(download=False),
            "url_private_download": self.url(download=True),
            "permalink": f"{self.workspace.url}files/{self.user}/{self.id}/{quote(self.name.lower())}",
            "comments_count": 0,
            "is_starred": False,
            "has_rich_preview": False,
            "file_access": "visible",
            **self._share_fields(channels or {}),
        }

    def _share_fields(self, channels: Mapping[str, Channel]) -> dict[str, Any]:
        """Return where it was shared, as Slack groups it: public channels apart from all others."""
        places: dict[str, Any] = {"shares": {}, "channels": [], "groups": [], "ims": []}
        for channel, stamps in self.shares.items():
            if (found := channels.get(channel)) is None:
                continue
            kind = "ims" if found.kind == "im" else "groups" if found.is_private else "channels"
            places[kind].append(channel)
            openness = "public" if kind == "channels" else "private"
            places["shares"].setdefault(openness, {})[channel] = [{"ts": ts, "channel_name": ""} for ts in stamps]
        return places


@dataclass(slots=True)
class FileStore:
    """All files of a *workspace*, by id and by the ticket under which they are sent."""

    workspace: Workspace
    base: str = ""
    loses_shares: bool = False
    """Whether a file is accepted and never shown in its channel, as happens at Slack now and then."""
    is_locked: bool = False
    """Whether nobody gets a file, whatever the token."""
    is_disabled: bool = False
    """Whether an admin has switched file uploads off."""
    redirects: bool = False
    """Whether a request without the right to a file is redirected to the login page, instead of getting that at once."""
    all: dict[str, File] = field(default_factory=dict)
    tickets: dict[str, File] = field(default_factory=dict)

    def announce(self, number: int, name: str, size: int, user: str, now: float) -> File:
        """Return a new file that nobody sees yet."""
        file = File(f"F0{number:08d}", name, user, size, int(now), self.base, self.workspace)
        self.all[file.id] = file
        return file

    def new_upload_url(self, file: File, name: str) -> str:
        """Return the URL to which the content is sent, with a *name* that nobody can guess: it is valid once, without a token."""
        self.tickets[name] = file
        return f"{self.base}/upload/v1/{name}"

    def add_upload(self, number: int, name: str, content: bytes, user: str, now: float) -> File:
        """Add a file that a person uploads in their client."""
        file = self.announce(number, name, len(content), user, now)
        file.content, file.is_finished = content, True
        return file

    def find_for_app(self, file_id: str, channels: Mapping[str, Channel]) -> File | None:
        """Return the file with this id, if the app may see it: its own, chosen in its form, or shared where it is a member."""
        file = self.all.get(file_id)
        if file is None or not file.is_finished:
            return None
        met = any(channel in channels and channels[channel].bot_is_member for channel in file.shares)
        return file if file.user == self.workspace.bot.id or file.is_granted or met else None

    def chosen_files(self, state: Mapping[str, Any], user: str) -> list[File]:
        """Return the files of *user* that were chosen in the *state* of a file input."""
        ids = [str(one.get("id")) for one in state.get("files") or ()]
        return [self.all[one] for one in ids if one in self.all and self.all[one].user == user]


def file_extension(name: str) -> str:
    """Return what comes after the last dot of a file's name, in lower case."""
    return PurePath(name).suffix.lower().lstrip(".")


def form_refusal(element: Mapping[str, Any], files: list[tuple[str, int]]) -> str | None:
    """Return why Slack's client refuses *files* (name, bytes) in a file input; None where it takes them."""
    if len(files) > element.get("max_files", MAX_FILES):
        return "too_many_files"
    types = [one.lower() for one in element.get("filetypes") or ()]
    for name, size in files:
        if types and file_extension(name) not in types:
            return "file_type_not_allowed"
        if size > MAX_IN_FORM:
            return "file_too_large"
    return None
