"""Validation of what an app sends: what Slack refuses is refused here, with Slack's messages and pointers."""

from sandbox.slack.validation.answers import (
    are_blocks_too_long,
    as_errors,
    as_messages,
    check_message,
    check_options,
    check_response_action,
    check_view,
)
from sandbox.slack.validation.judge import Problem
from sandbox.slack.validation.manifest import ManifestRefused, check_manifest
from sandbox.slack.validation.shapes import INTERACTIVE

__all__ = [
    "INTERACTIVE",
    "ManifestRefused",
    "Problem",
    "are_blocks_too_long",
    "as_errors",
    "as_messages",
    "check_manifest",
    "check_message",
    "check_options",
    "check_response_action",
    "check_view",
]
