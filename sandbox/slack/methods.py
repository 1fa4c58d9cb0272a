"""The properties of each method of the Web API: the scopes that it needs, and whether it takes JSON."""

from __future__ import annotations

from typing import Final

from sandbox.slack.directory import CONVERSATION_SCOPES
from sandbox.slack.history import HISTORY_SCOPES

CHANNEL_SCOPES: Final = ("channels:manage", "groups:write")
"""One for public channels and one for private ones."""
SCOPES: Final[dict[str, tuple[str, ...]]] = {
    "chat.postMessage": ("chat:write",),
    "chat.postEphemeral": ("chat:write",),
    "chat.update": ("chat:write",),
    "chat.delete": ("chat:write",),
    "chat.scheduleMessage": ("chat:write",),
    "chat.deleteScheduledMessage": ("chat:write",),
    "users.info": ("users:read",),
    "users.list": ("users:read",),
    "users.lookupByEmail": ("users:read.email",),
    "users.profile.get": ("users.profile:read",),
    "users.conversations": CONVERSATION_SCOPES,
    "bots.info": ("users:read",),
    "team.info": ("team:read",),
    "conversations.history": HISTORY_SCOPES,
    "conversations.replies": HISTORY_SCOPES,
    "reactions.add": ("reactions:write",),
    "reactions.remove": ("reactions:write",),
    "reactions.get": ("reactions:read",),
    "conversations.info": CONVERSATION_SCOPES,
    "conversations.list": CONVERSATION_SCOPES,
    "conversations.members": CONVERSATION_SCOPES,
    "conversations.open": ("im:write",),
    "conversations.join": ("channels:join",),
    "conversations.create": CHANNEL_SCOPES,
    "conversations.leave": CHANNEL_SCOPES,
    "conversations.rename": CHANNEL_SCOPES,
    "conversations.invite": (*CHANNEL_SCOPES, "channels:write.invites", "groups:write.invites"),
    "conversations.kick": CHANNEL_SCOPES,
    "conversations.archive": CHANNEL_SCOPES,
    "conversations.setTopic": (*CHANNEL_SCOPES, "channels:write.topic", "groups:write.topic"),
    "conversations.setPurpose": (*CHANNEL_SCOPES, "channels:write.topic", "groups:write.topic"),
    "pins.add": ("pins:write",),
    "pins.remove": ("pins:write",),
    "pins.list": ("pins:read",),
    "bookmarks.add": ("bookmarks:write",),
    "bookmarks.list": ("bookmarks:read",),
    "emoji.list": ("emoji:read",),
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
        "users.profile.get",
        "users.conversations",
        "reactions.get",
        "bots.info",
        "team.info",
        "conversations.history",
        "conversations.replies",
        "conversations.info",
        "conversations.list",
        "conversations.members",
        "usergroups.list",
        "usergroups.users.list",
        "pins.list",
        "emoji.list",
        "chat.getPermalink",
        "files.info",
        "files.getUploadURLExternal",  # the documentation has said both; as a form it was always taken
    }
)
"""Methods that take no JSON body: what is sent as one is not looked at."""
