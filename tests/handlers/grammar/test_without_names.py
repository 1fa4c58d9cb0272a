"""Of a text that is kept, nothing is left that says who or what it was about."""

from __future__ import annotations

from typing import Final

import pytest

from bot.members.model import Member
from handlers.grammar.known import Known
from handlers.grammar.recognised import without_names

KNOWN: Final = Known.of(
    members={"blog": [Member.model_validate({"email": "anna.berg@example.com", "name": "Anna Berg"})]}
)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Zap everything", "zap everything"),
        ("zap <mailto:zed@example.com|zed@example.com> now", "zap <email> now"),
        ("zap (zed@example.com),", "zap <email>"),
        ("zap <https://shop.example.com/a?token=1|shop.example.com>", "zap <url>"),
        ("zap shop.example.com/old or /old.", "zap <url> or <url>"),
        ("where is Anna", "where is <name>"),
        ("zap BERG!", "zap <name>"),
        ('zap "Old shop"', "zap <name>"),
        ("zap #3 Redirect_x1old for 2h", "zap <id> <id> for <time>"),
        ("tell <@U0ALICE01|alice>", "tell <mention>"),
        ("set token hunter", "set token <secret>"),
        ("my password: hunter", "my password <secret>"),
        ("zap xoxb-123-abc", "zap <other>"),
        ("zap AKIAIOSFODNNEXAMPLE", "zap <other>"),
        ("zap qWeRtYuIoP", "zap <other>"),
        ("zap it because Anna Berg told me to", "zap it because <reason>"),
        ("can't zap", "can't zap"),
        (" ".join(["zap"] * 50), " ".join(["zap"] * 12)),
        ("", ""),
    ],
)
def test_only_kinds_are_left(text: str, kept: str) -> None:
    assert without_names(text, KNOWN) == kept
