"""What counts as a secret in a rule, and what a rule is without it."""

from __future__ import annotations

import json

import pytest

from bot.rules.model import Rule
from bot.rules.secrets import hide_secrets, holds_secret, without_secrets
from bot.text.secrets import hide_in_text, names_secret

ONE, TWO = "s3cr3t-one", "s3cr3t-two"


@pytest.mark.parametrize(
    "name",
    [
        "Accept",
        "keyword",
        "monkey",
        "author",
        "Keep-Alive",
        "destination",
        "utm_source",
        "Access-Control-Allow-Credentials",
    ],
)
def test_names_of_other_things(name: str) -> None:
    assert not names_secret(name)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://anna:s3c@r3t@a.example/", "https://anna:[hidden]@a.example/"),
        ("https://a.example/?token=s3cr…", "https://a.example/?token=[hidden]…"),
        ("password=s3cr3t and more", "password=[hidden] and more"),
    ],
)
def test_texts(text: str, shown: str) -> None:
    assert hide_in_text(text) == shown
    assert hide_in_text(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "https://a.example/?token=*&key=$1&sig=(.*)",
        "https://a.example:8080/?q=1=2&country_code=DEU",
        "https://auth.a.example:8080/path1",
        "token: see the wiki, basic plan for the bearer of it, session: tomorrow",
        "Redirect_x1old, RequestInterceptor_x1old23, 0343eab70343eab70343eab70343eab7, summer-sale-2026-Final",
        "3F2504E0-4F89-11D3-9A0C-0305E82C3301, someCamelCaseNameOfAFunction",
    ],
)
def test_what_is_no_secret_is_shown(text: str) -> None:
    assert hide_in_text(text) == text


SHAPES = [
    {"modifications": {"Request": [{"type": "Add", "header": "Authorization", "value": f"Bearer {ONE}"}]}},
    {"modifications": [{"type": "Add", "header": "Cookie", "value": ONE, "target": "Request"}]},
    {"headers": {"X-Api-Key": ONE}},
    {"header": "Set-Cookie", "value": ONE, "target": "Response"},
    {"modifications": [{"type": "Add", "param": "api_key", "value": ONE}]},
    {"someday": {"clientSecret": ONE}},
    {"destination": f"https://anna:{ONE}@a.example/"},
    {"from": "a", "to": f"token={ONE}"},
    {"password": 12345},
]


@pytest.mark.parametrize("pair", SHAPES, ids=lambda pair: next(iter(pair)))
def test_every_shape_of_a_pair(pair: dict[str, object]) -> None:
    document = {
        "id": "X_1",
        "name": "n",
        "status": "Active",
        "pairs": [{"source": {"key": "Url", "value": "a"}} | pair],
    }
    rule = Rule.model_validate(document)

    shown = without_secrets(rule)

    assert holds_secret(rule)
    assert ONE not in json.dumps(shown.document())
    assert "12345" not in json.dumps(shown.document())
    assert shown.pairs is not None
    assert shown.pairs[0].source == (rule.pairs or ())[0].source
    assert not holds_secret(shown)
    assert document == rule.document(), "what is sent and stored stays as it is"


def test_a_pair_that_is_not_shown_is_empty_and_keeps_its_place() -> None:
    pairs = [{"destination": f"https://anna:{ONE}{n}@a.example/"} for n in range(3)]
    rule = Rule.model_validate({"id": "X_1", "pairs": pairs})

    shown = without_secrets(rule, {2})

    assert [pair.document() for pair in shown.pairs or ()] == [
        {},
        {"destination": "https://anna:[hidden]@a.example/"},
        {},
    ]


def test_secrets_that_differ_are_told_apart() -> None:
    before, after, none = hide_secrets(
        {"token": ONE, "b": {"key": "x"}}, {"token": TWO, "apiKey": ONE, "token2": True}, None
    )

    assert before == {"token": "[hidden]", "b": {"key": "x"}}
    assert after == {"token": "[hidden-2]", "apiKey": "[hidden]", "token2": True}
    assert none is None
