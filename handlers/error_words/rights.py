"""Words for who may not, and why not."""

from __future__ import annotations

from typing import Final

from bot.access import NobodyCanApprove, NotAllowed
from bot.domain.policy import Irreconcilable, Why
from bot.inquiry import DirectoryUnavailable
from handlers.commands.command import slash
from handlers.error_words.words import Table, Words
from handlers.views.parts import code, esc

WHY_NOT: Final = {
    Why.UNKNOWN: ("Slack does not say who you are.", "Ask a workspace admin to look at your account."),
    Why.DEACTIVATED: ("That account is deactivated.", ""),
    Why.BOT: ("Apps and workflows can't use Gatehouse.", "A person has to ask."),
    Why.GUEST: ("Guests can't use Gatehouse.", "Ask a full member of the workspace."),
    Why.STRANGER: ("Only members of this workspace can use Gatehouse.", "Ask one of them."),
    Why.SHARED_CHANNEL: (
        "Changes are not taken in a channel that is shared with another company.",
        "Ask in a channel of your own workspace.",
    ),
    Why.DIRECT_MESSAGE: (
        "Changes are not taken in a direct message: others must be able to see them.",
        "Ask in a channel that Gatehouse is in.",
    ),
    Why.NOT_ADDED: (
        "Gatehouse takes changes only in channels that it was added to.",
        "Add it with `/invite @Gatehouse`, or ask in a channel that it is in.",
    ),
    Why.OTHER_CHANNEL: ("The policy does not take changes in this channel.", "Ask in a channel that `{whoami}` names."),
    Why.NO_ROLE: ("None of your roles allows this.", "Ask {roles}; `{whoami}` says what you may do."),
    Why.OWN_REQUEST: (
        "You asked for this, so somebody else has to approve it.",
        "Withdraw it if you changed your mind.",
    ),
    Why.NOT_HERE: (
        "You are not in this channel, so you can't make or approve changes here.",
        "Join the channel, then try again in a minute.",
    ),
    Why.CANT_TELL: ("Slack didn't say who is in a channel or user group that decides this.", "Try again in a moment."),
}


def _not_allowed(error: NotAllowed) -> Words:
    what, then = WHY_NOT[error.why]
    roles = f"somebody with the role {' or '.join(map(esc, error.roles))}" if error.roles else "whoever runs Gatehouse"
    roles += f" (this needs {code(error.operation)})" if "." in error.operation else ""
    return Words(what, next=then.format(roles=roles, whoami=slash("gatehouse whoami")))


def _nobody(error: NobodyCanApprove) -> Words:
    needed = "one approval" if error.needed == 1 else f"{error.needed} approvals"
    there = {0: "nobody here", 1: "only one person here"}.get(error.found, f"only {error.found} people here")
    who = f"people with the role {' or '.join(map(esc, error.roles))} are" if error.roles else "they are"
    return Words(
        f"This needs {needed}, and {there} can give it.",
        next=f"Ask in a channel where {who}, or add them to this one.",
    )


WORDS: Final[Table] = {
    NotAllowed: _not_allowed,
    NobodyCanApprove: _nobody,
    Irreconcilable: lambda e: Words(
        "Different people have to approve the parts of this, so it can’t be one request. "
        f"Approvers: {esc(', '.join(e.roles))}.",
        next="Ask for the parts one by one, or one site at a time.",
    ),
    DirectoryUnavailable: lambda e: Words(
        f"Slack did not say {esc(e.asked)}, and without that nobody may.",
        f"Slack answered {code(e.code)}." if e.code else "Slack is not answering.",
        "Try again in a moment."
        if e.code in {"", "ratelimited", "internal_error", "fatal_error"}
        else "Tell whoever runs Gatehouse: the app may be missing a scope.",
    ),
}
