"""The page draws emoji by a table of its own: what the bot's texts use must be in it."""

from __future__ import annotations

import re
from pathlib import Path

import handlers
from sandbox import slack

TABLE = Path(slack.__file__).parent / "page" / "emoji.js"
SHORT_NAME = re.compile(r"(?<![\w:]):([a-z][a-z0-9_]+):(?![\w:])")


def test_the_page_knows_every_emoji_of_the_bot() -> None:
    known = set(re.findall(r"(?:^|\|)([a-z0-9_+-]+) [^|\n]+", TABLE.read_text(), re.MULTILINE))
    sources = Path(handlers.__file__).parent.rglob("*.py")
    used = {name for source in sources for name in SHORT_NAME.findall(source.read_text())}

    assert {"white_check_mark", "hourglass_flowing_sand"} <= used
    assert used <= known
