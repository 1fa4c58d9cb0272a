"""Whatever is logged, by us or by a library: no line tells a secret or an email."""

from __future__ import annotations

import logging

import pytest
import structlog

from bot.server.logs import configure
from tests.harness.channels import SECRET, SHAPES

EMAIL = "anna.berg@example.com"


def say_everywhere(said: str) -> None:
    """Log *said* in every place of a line that it can get into."""
    ours, library = structlog.get_logger("ours"), logging.getLogger("library")
    ours.info(said)
    ours.info("event", value=said, inside={"values": [said]}, error=ValueError(said))
    library.warning("event %s", said)
    library.warning("event", extra={"value": said, "inside": [said]})
    try:
        raise ValueError(said)
    except ValueError:
        ours.exception("event")
        library.exception("event")


@pytest.mark.threat("E3", "E4")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("form", ["text", "json"])
def test_no_line_tells_a_secret_or_an_email(form: str, shape: str, capsys: pytest.CaptureFixture[str]) -> None:
    configure("DEBUG", form)

    say_everywhere(f"of {EMAIL}, {EMAIL.replace('@', '%40')}, with {shape}")

    written = capsys.readouterr().err
    assert written.count("ValueError") >= 2
    assert "a***@example.com" in written
    assert "[hidden]" in written
    for telling in ("nna.berg", SECRET):
        assert telling not in written, [line for line in written.splitlines() if telling in line]
