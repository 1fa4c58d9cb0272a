"""What is cut out of texts: passwords of URLs, and known secrets in every spelling."""

from __future__ import annotations

import pytest

from bot.text.redaction import passwords_in, redactor, without_passwords

PASSWORD = "canary-password"
URLS = [
    "postgresql://u:{}@h/db",
    "postgresql://u:{}/more@h/db",
    "postgresql://u:more@{}@h/db",
    "postgresql://u:{}?more#more@h/db",
    "postgresql://:{}@h/db",
    "postgresql://u:{}@h:port/db",
    "postgresql//u:{}@h/db",
    "mysql://u:{}@h/db",
    "postgresql://h/db?user=u&password={}",
    "postgresql://h/db?password={}@more&user=u",
    "postgresql://h/db?sslPassword={}",
    "postgresql://u:m@h/db?password={}",
]


@pytest.mark.parametrize("spelling", URLS)
def test_no_password_of_a_url_is_shown_or_told(spelling: str) -> None:
    url = spelling.format(PASSWORD)

    assert "canary" not in without_passwords(url)
    assert "more" not in without_passwords(url)
    assert "canary" not in redactor(passwords_in(url))(f"no connection to {url}")


def test_a_short_password_is_not_shown_either() -> None:
    assert without_passwords("postgresql://u:pw@h/db") == "postgresql://u:***@h/db"


@pytest.mark.parametrize(
    "url", ["sqlite:///gatehouse.db", "postgresql://db.example:5432/gatehouse", "postgresql:///x?host=/run/pg"]
)
def test_a_url_without_a_password_is_shown_whole(url: str) -> None:
    assert passwords_in(url) == []
    assert without_passwords(url) == url


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("key canary/1+= is wrong", "key [secret] is wrong"),
        ("?key=canary%2F1%2B%3D&page=2", "?key=[secret]&page=2"),
        ("password p wd of u:p%20wd@h", "password [secret] of u:[secret]@h"),
        ("canary/1+=-of-docs", "[secret]"),
        ("xoxb-1-somebody-elses, xapp-1-A", "[secret], [secret]"),
        ("no keys", "no keys"),
        ("", ""),
    ],
)
def test_a_known_secret_is_cut_in_every_spelling(text: str, shown: str) -> None:
    assert redactor(["canary/1+=", "canary/1+=-of-docs", "p%20wd", "key", ""])(text) == shown
