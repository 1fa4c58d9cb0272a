"""Whatever is logged, by us or by a library: no line tells a secret or an email."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
import structlog

from bot.server.logs import also_redacted, configure

EMAIL = "anna.berg@example.com"
TOKEN = "xoxb-1234-canary"
KEY = "x-api-key: canary"


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level, chosen = root.handlers[:], root.level, structlog.get_config()
    yield
    root.handlers[:], root.level = handlers, level
    structlog.configure(**chosen)


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
@pytest.mark.parametrize("form", ["text", "json"])
def test_no_line_tells_a_secret_or_an_email(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    configure("DEBUG", form)

    say_everywhere(f"of {EMAIL}, {EMAIL.replace('@', '%40')}, with {TOKEN} and {KEY}")

    written = capsys.readouterr().err
    assert written.count("ValueError") >= 2
    assert "a***@example.com" in written
    assert "[secret]" in written
    for telling in ("nna.berg", "canary"):
        assert telling not in written, [line for line in written.splitlines() if telling in line]


def test_secrets_that_come_and_go_are_cut_while_they_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    configure("INFO", "json", lambda line: line.replace("of-the-process", "[secret]"))
    said = "of-the-process and of-a-workspace"

    with also_redacted(lambda line: line.replace("of-a-workspace", "[secret]")):
        structlog.get_logger("ours").info(said)
    structlog.get_logger("ours").info(said)

    during, after = capsys.readouterr().err.splitlines()
    assert "[secret] and [secret]" in during
    assert "[secret] and of-a-workspace" in after
