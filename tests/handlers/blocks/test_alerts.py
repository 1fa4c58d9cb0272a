"""What is wrong in a form: an alert where one holds it, and a section everywhere else."""

from __future__ import annotations

import pytest

from handlers.blocks import modals
from handlers.blocks.messages import esc, section
from sandbox.slack.validation import check_message, check_view


@pytest.mark.parametrize(("length", "kind"), [(1, "alert"), (200, "alert"), (201, "section"), (2500, "section")])
def test_a_warning_is_an_alert_as_far_as_slack_takes_one(length: int, kind: str) -> None:
    block = modals.note("x" * length)
    assert block["type"] == kind
    assert modals.is_warning(block)
    assert check_view(modals.frame("Form", [block], callback_id="v1.form")) == []


def test_what_grows_by_its_escapes_is_measured_as_slack_does() -> None:
    assert modals.note("&" * 100)["type"] == "section"
    assert modals.note("*x* <!channel>")["text"]["text"] == esc("*x* <!channel>")


def test_a_form_that_nobody_sees_any_more_says_in_a_message_what_its_alerts_said() -> None:
    form = modals.frame("New rule", [modals.note("It loops."), section("Else")], callback_id="f", submit="Save")
    message = modals.unsaved_words(form, "request")
    assert message is not None
    assert check_message({"blocks": list(message.blocks)}) == []
    assert ":warning: It loops." in repr(message.blocks)
    assert "Else" not in repr(message.blocks)
