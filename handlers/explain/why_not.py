"""Why somebody may not do something, for themselves, for others and on cards; and why Gatehouse didn’t send a step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bot.policy.model import Why


@dataclass(frozen=True, slots=True)
class WhyNot:
    """One reason: *what* it is and what to do *next*, for the person who asked; *recorded*: for those who read the audit."""

    what: str
    next: str
    recorded: str
    lost: str = "{who} may not do this any more"
    """How somebody lost the right to what they had asked for or approved, as the rest of a sentence."""


WHY_NOT: Final[Mapping[str, WhyNot]] = {
    Why.UNKNOWN: WhyNot(
        "Slack couldn’t say who you are.",
        "Ask a workspace admin to look at your account.",
        "Slack couldn’t say who it was",
    ),
    Why.DEACTIVATED: WhyNot(
        "That account is deactivated.", "", "account deactivated", "the account of {who} is deactivated"
    ),
    Why.BOT: WhyNot("Apps and workflows can’t use Gatehouse.", "A person has to do this.", "an app"),
    Why.GUEST: WhyNot(
        "Guests can’t use Gatehouse.", "Ask a full member of the workspace.", "a guest", "{who} is a guest now"
    ),
    Why.STRANGER: WhyNot(
        "Only members of this workspace can use Gatehouse.", "Ask one of them.", "not of this workspace"
    ),
    Why.SHARED_CHANNEL: WhyNot(
        "This channel is shared with another company, so Gatehouse can’t be used for this here.",
        "Use a channel of your own workspace.",
        "in a shared channel",
        "this channel is shared with another company now",
    ),
    Why.DIRECT_MESSAGE: WhyNot(
        "Changes can’t be made in direct messages: others must be able to see them.",
        "Use a channel that Gatehouse is in.",
        "in a direct message",
    ),
    Why.NOT_ADDED: WhyNot(
        "Gatehouse only accepts changes in channels it is in.",
        "Invite it with `/invite @Gatehouse`, or use a channel that it is in.",
        "Gatehouse wasn’t in the channel",
        "Gatehouse is not in this channel any more",
    ),
    Why.OTHER_CHANNEL: WhyNot(
        "The policy doesn’t allow changes here.", "Use a channel listed by `{whoami}`.", "not allowed in that channel"
    ),
    Why.NO_ROLE: WhyNot(
        "None of your roles allows this.",
        "Ask {roles}. `{whoami}` shows what you can do.",
        "no role allows it",
        "{who} has no role any more that allows this",
    ),
    Why.BEYOND_ROLE: WhyNot(
        "Your role allows this, but not for everything that this changes.",
        "Ask {roles}. A source that isn’t of one host, such as *Contains*, counts for all hosts.",
        "beyond what their role covers",
        "{who} has no role any more that covers this",
    ),
    Why.OWN_REQUEST: WhyNot(
        "You requested this, so someone else has to approve it.",
        "If you changed your mind, withdraw it.",
        "their own request",
    ),
    Why.NOT_HERE: WhyNot(
        "You aren’t in this channel, so you can’t make or approve changes here.",
        "Join the channel, then try again in a minute.",
        "not in the channel",
    ),
    Why.CANT_TELL: WhyNot(
        "Slack couldn’t say who is in a channel or user group that this depends on.",
        "Try again in a moment.",
        "Slack couldn’t say whether they may",
    ),
}
"""The one table of reasons, by the value that the audit has of each."""
