"""The judge of what an app sends: what Slack refuses is refused here, in Slack's words, with Slack's pointers."""

from sandbox.slack.validation.judge import (
    Problem,
    as_errors,
    as_messages,
    blocks_too_long,
    check_message,
    check_options,
    check_response_action,
    check_view,
)

__all__ = [
    "Problem",
    "as_errors",
    "as_messages",
    "blocks_too_long",
    "check_message",
    "check_options",
    "check_response_action",
    "check_view",
]
