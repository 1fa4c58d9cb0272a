"""Who is in which channel: people and the app join and leave them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sandbox.slack.message import Message
from sandbox.slack.people import Channel
from sandbox.slack.state import State


def join(state: State, channel: Channel, user: str) -> None:
    """Add *user* to *channel*, which gets a message that says so."""
    is_bot = user == state.workspace.bot.id
    more: dict[str, Any] = {"bot_is_member": True} if is_bot else {"members": (*channel.members, user)}
    state.channels[channel.id] = replace(channel, **more)
    state.show_channels()
    text = f"<@{user}> has joined the channel"
    state.add(Message(state.new_ts(), channel.id, user, text, [], subtype="channel_join"))


def leave(state: State, channel: Channel, user: str) -> None:
    """Remove *user* from *channel*, which gets a message that says so."""
    text = f"<@{user}> has left the channel"
    state.add(Message(state.new_ts(), channel.id, user, text, [], subtype="channel_leave"))
    is_bot = user == state.workspace.bot.id
    staying = tuple(one for one in channel.members if one != user)
    more: dict[str, Any] = {"bot_is_member": False} if is_bot else {"members": staying}
    state.channels[channel.id] = replace(channel, **more)
    state.show_channels()
