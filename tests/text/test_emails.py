"""Emails in running text: found as people mean them, and never whole where a channel sees the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.server.logs import redact_text
from bot.text.emails import BadEmail, checked_email, checked_new_email, emails_in, mask_emails

SPECIAL = '()<>[]:;,"@＠﹫%*'
"""What a local part without quotes does not hold, the sign that URLs write otherwise, and what masks."""
LOCALS = st.text(st.characters(exclude_categories=("Z", "C"), exclude_characters=SPECIAL), min_size=2, max_size=80)
HOSTS = st.from_regex(r"[a-z0-9]{1,8}(\.[a-z]{2,4}){1,2}", fullmatch=True)


@given(LOCALS, st.sampled_from("@＠﹫"), HOSTS)
def test_no_local_part_is_left_whatever_it_is_made_of(local: str, sign: str, host: str) -> None:
    shown = mask_emails(f"ask <mailto:{local}{sign}{host}> {local}{sign}{host}, please")

    assert f"{local[1:]}{sign}" not in shown
    assert f"{local[1:]}@" not in shown
    assert shown.count("***@") == 2


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("anna.berg@example.com", "a***@example.com"),
        ("<mailto:anna@x.com|anna@x.com>", "<mailto:a***@x.com|a***@x.com>"),
        ("because anna!@example.com asked", "because a***@example.com asked"),
        ("o'brien@x.com, 'anna@x.com' (bob@y.de).", "o***@x.com, 'a***@x.com' (b***@y.de)."),
        ("ann~a#b/c=d'e!f@x.com", "a***@x.com"),
        ('"anna berg"@x.com', '"a***@x.com'),
        ('"anna@home"@x.com', '"a***@x.com'),
        ("anna＠example.com", "a***@example.com"),
        ("/members?email=anna%40x.com&site=1", "/m***@x.com&site=1"),
        ("ann\u0065\u0308@x.com", "a***@x.com"),
        ("anna\u200b@x.com", "a***@x.com"),
        ("anna@exa\u0308mple.com", "a***@exa\u0308mple.com"),
        ("anna@example。com", "a***@example。com"),
        ("anna@x.com/bob@y.com", "a***@x.com/b***@y.com"),
        ("anna@x.com、bob@y.com", "a***@x.com、b***@y.com"),
        ("anna@x.comへbob@y.com", "a***@x***@y.com"),
        ("hey @bob, 3 @ 4.50 each, see @example.com", "hey @bob, 3 @ 4.50 each, see @example.com"),
    ],
)
def test_what_a_channel_sees(text: str, shown: str) -> None:
    assert mask_emails(text) == shown
    assert redact_text(text) == shown


@pytest.mark.parametrize("limit", range(6, 30))
def test_an_email_that_a_limit_cuts_through_is_masked(limit: int) -> None:
    shown = mask_emails("hello anna.berg@example.com and all", limit)

    assert shown.startswith("hello ")
    assert "nna" not in shown


def test_of_a_long_value_the_log_keeps_the_beginning_and_the_length() -> None:
    line = redact_text("a" * 19_995 + " anna.berg@example.com" + "b" * 980_000)

    assert line == "a" * 19_995 + " a***@… (1,000,017 characters)"


@pytest.mark.parametrize(
    ("text", "emails"),
    [
        ("<mailto:anna@x.com|anna@x.com> wrote to bob@y.de.", ["anna@x.com", "bob@y.de"]),
        ("to=anna@x.com", ["anna@x.com"]),
        ("'anna@x.com' and o'brien@x.com", ["anna@x.com", "o'brien@x.com"]),
        ("anna!@x.com", ["anna!@x.com"]),
        ("anna＠x.com", ["anna@x.com"]),
        ('"anna berg"@x.com', ['"anna berg"@x.com']),
        ("hey @bob, anna@localhost, @x.com, !@x.com", []),
        ("an\u200bna@x.com, bob@y\u200b.de", ["an\u200bna@x.com", "bob@y\u200b.de"]),
        ("anna@mail.x\u202ey.com\ufeff", ["anna@mail.x\u202ey.com\ufeff"]),
        ("a\u0301nna@x.com", ["a\u0301nna@x.com"]),
        ("\u2764\ufe0fanna@x.com \u200b bob@y.de", ["anna@x.com", "bob@y.de"]),
    ],
)
def test_what_somebody_looks_up(text: str, emails: list[str]) -> None:
    assert emails_in(text) == emails


@pytest.mark.parametrize("quote", "'‘’“”„`´")
def test_a_quotation_mark_is_no_beginning_of_a_new_email(quote: str) -> None:
    with pytest.raises(BadEmail, match="quotation mark"):
        checked_new_email(f"{quote}anna@x.com")
    assert checked_new_email("o'brien@x.com") == "o'brien@x.com"


@pytest.mark.parametrize("hidden", ["\u200b", "\u00ad", "\u202e", "\u3164", "\u2800", "\u034f", "\ufe0f", "\x1f"])
@pytest.mark.parametrize("email", ["an{}na@x.com", "{}anna@x.com", "anna@x.com{}", "anna@x{}y.com"])
def test_an_email_with_a_character_that_nobody_sees_is_refused(email: str, hidden: str) -> None:
    with pytest.raises(BadEmail, match=f"invisible character \\(U\\+{ord(hidden):04X}\\)"):
        checked_email(email.format(hidden))
