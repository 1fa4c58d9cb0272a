"""The properties of each method of the Web API: the scopes that it needs, and whether it takes JSON."""

from __future__ import annotations

from typing import Final

from sandbox.slack.directory import CONVERSATION_SCOPES

SCOPES: Final[dict[str, tuple[str, ...]]] = {
    "chat.postMessage": ("chat:write",),
    "chat.postEphemeral": ("chat:write",),
    "chat.update": ("chat:write",),
    "users.info": ("users:read",),
    "conversations.info": CONVERSATION_SCOPES,
    "conversations.members": CONVERSATION_SCOPES,
    "users.conversations": CONVERSATION_SCOPES,
    "conversations.open": ("im:write",),
    "usergroups.users.list": ("usergroups:read",),
    "files.getUploadURLExternal": ("files:write",),
    "files.completeUploadExternal": ("files:write",),
    "files.info": ("files:read",),
}
"""The scopes of a method, of which the app needs one."""
READS: Final = frozenset(
    {
        "users.info",
        "conversations.info",
        "conversations.members",
        "users.conversations",
        "usergroups.users.list",
        "chat.getPermalink",
        "files.info",
        "files.getUploadURLExternal",  # the documentation has said both; as a form it was always taken
    }
)
"""Methods that take no JSON body: what is sent as one is not looked at."""
