"""Words for what Slack refuses, and for what was done in Slack that leads nowhere."""

from __future__ import annotations

from typing import Final

from handlers.commands.command import slash
from handlers.error_words.words import Table, Words
from handlers.errors import EditedMessage, NothingInMessage, NothingPicked, NoTrigger, OldButton
from handlers.slack import SlackRefused, SlackUnreachable
from handlers.views.parts import code, esc

NO_UPLOADS: Final = frozenset(
    {
        "file_upload_size_restricted",
        "file_uploads_disabled",
        "file_uploads_except_images_disabled",
        "file_type_not_allowed",
        "storage_limit_reached",
    }
)
"""Slack's words where a workspace does not take a file."""

TRIGGERS: Final = frozenset({"expired_trigger_id", "exchanged_trigger_id", "invalid_trigger_id"})
"""Slack's words where a form was opened too late."""
NO_PLACE: Final = frozenset({"channel_not_found", "not_in_channel", "is_archived", "user_not_in_channel"})
"""Slack's words where the app can't write to a channel."""


TOO_MUCH: Final = frozenset(
    {"invalid_arguments", "invalid_blocks", "view_too_large", "msg_too_long", "msg_blocks_too_long"}
)
"""Slack's words for what is more than it shows."""


def _slack_refused(error: SlackRefused) -> Words:
    if error.code == "missing_scope":
        return Words(
            f"Slack refused: the app lacks the scope {code(error.needed) if error.needed else 'for this'}.",
            "It was installed before Gatehouse needed that.",
            "Ask whoever runs Gatehouse to install the app again with the present manifest.",
            unchanged=None,
        )
    if error.code in NO_UPLOADS:
        return Words(
            f"Slack did not take the file ({code(error.code)}).",
            "It is too large, or the workspace does not allow such files.",
            "Ask for less of it at once, or ask an admin of the workspace.",
            unchanged=None,
        )
    if error.code in TRIGGERS:
        return Words(
            "Slack gives Gatehouse 3 seconds to open a form, and they were over.", next="Try again.", unchanged=None
        )
    if error.code in TOO_MUCH:
        what = f"This is more than Slack shows at once ({code(error.code)})."
        return Words(what, next="Ask for less of it, or for one thing at a time.", unchanged=None)
    cause = "Gatehouse may be missing from the channel." if error.code in NO_PLACE else ""
    return Words(f"Slack refused the answer ({code(error.code)}).", cause, unchanged=None)


WORDS: Final[Table] = {
    SlackRefused: _slack_refused,
    SlackUnreachable: lambda _: Words("Slack did not answer Gatehouse.", next="Try again in a moment.", unchanged=None),
    OldButton: lambda _: Words(
        "That button is from an older version of Gatehouse.",
        next="Ask again with the command; the new answer has new buttons.",
    ),
    NothingInMessage: lambda e: Words(
        f"There is no {esc(e.what)} in that message.",
        next=f"Write it with the command: `{slash('gatehouse help')}` lists them.",
        unchanged=None,
    ),
    NothingPicked: lambda _: Words(
        "That line only said that nothing could be read just now.", next="Type again to look again.", unchanged=None
    ),
    EditedMessage: lambda _: Words(
        "You edited your message, and an edit must not do again what was done.",
        next="Write it as a new message.",
        unchanged=None,
    ),
    NoTrigger: lambda _: Words("Slack gave no way to open a form here.", next="Type the command in a channel."),
}
