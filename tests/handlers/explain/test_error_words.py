"""An error names a cause only where it is one."""

from __future__ import annotations

from typing import Final

import pytest

from bot.policy.access import NobodyCanApprove
from bot.policy.model import Irreconcilable
from bot.store.db import TargetBusy
from handlers.blocks.messages import Message
from handlers.explain.table import answer, words_for
from handlers.slack.client import SlackRefused
from handlers.slack.reply import Caller
from tests.sandbox.slack.validation.sent import OPEN

CALLER: Final = Caller(user="U0ALICE01", channel="C0OPS0001", request="0123456789abcdef")


def text_of(message: Message) -> str:
    return str(message.blocks)


@pytest.mark.parametrize("code", ["expired_trigger_id", "exchanged_trigger_id", "invalid_trigger_id"])
def test_a_form_that_came_too_late_is_told_as_that(code: str) -> None:
    words = words_for(SlackRefused(code))
    assert "took too long to open" in words.what
    assert "channel" not in words.what + words.cause


@pytest.mark.parametrize(
    ("code", "is_told"), [("channel_not_found", True), ("not_in_channel", True), ("invalid_arguments", False)]
)
def test_a_missing_channel_is_suspected_where_slack_says_so(code: str, is_told: bool) -> None:
    assert ("this channel" in words_for(SlackRefused(code)).what) == is_told


@pytest.mark.parametrize(
    "error", [NobodyCanApprove("rule.delete", 1, 0, ("oncall",)), Irreconcilable(("oncall", "leads")), TargetBusy(OPEN)]
)
def test_what_to_do_is_no_cause(error: Exception) -> None:
    words = words_for(error)
    assert words.cause == ""
    assert words.next


def test_nothing_is_quoted_of_somebody_who_only_clicked() -> None:
    error = SlackRefused("invalid_arguments")
    assert "You typed" not in text_of(answer(error, asked="", caller=CALLER))
    assert "You typed `/rules list`" in text_of(answer(error, asked="/rules list", caller=CALLER))
