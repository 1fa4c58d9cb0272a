"""blocks.validate, and how the other methods say no: over the socket, as an app sees it."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.sandbox.slack.conftest import App

LONG: Final = {"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3001}}
SHORT: Final = {"type": "section", "text": {"type": "mrkdwn", "text": "x"}}
TOO_LONG: Final = "must be less than 3001 characters"
GIVEN: Final = [
    ("blocks", [SHORT], [LONG], "/0/text/text"),
    ("message", {"blocks": [SHORT]}, {"blocks": [LONG]}, "/blocks/0/text/text"),
    ("view", {"type": "home", "blocks": [SHORT]}, {"type": "home", "blocks": [LONG]}, "/blocks/0/text/text"),
]


@pytest.mark.parametrize(("name", "right", "wrong", "pointer"), GIVEN)
async def test_blocks_validate_says_what_is_wrong_and_where(
    app: App, name: str, right: Any, wrong: Any, pointer: str
) -> None:
    assert await app.json("blocks.validate", **{name: right}) == {"ok": True}
    assert await app.json("blocks.validate", **{name: wrong}) == {
        "ok": False,
        "error": f"invalid_{name}",
        "errors": [{"code": "failed_constraint", "message": TOO_LONG, "pointer": pointer}],
    }


async def test_blocks_validate_names_the_few_that_would_do(app: App) -> None:
    answer = await app.json("blocks.validate", blocks=[{"type": "section", "text": {"type": "html", "text": "x"}}])
    assert answer["errors"] == [
        {
            "code": "failed_constraint",
            "message": "unsupported type: html",
            "pointer": "/0/text/type",
            "constraint": {"type": "enum", "expected": ["plain_text", "mrkdwn"]},
        }
    ]


@pytest.mark.parametrize("arguments", [{}, {"blocks": [SHORT], "message": {"blocks": [SHORT]}}])
async def test_blocks_validate_takes_exactly_one(app: App, arguments: dict[str, Any]) -> None:
    answer = await app.json("blocks.validate", **arguments)
    assert answer["error"] == "invalid_arguments"
    assert answer["response_metadata"]["messages"] == ["must provide exactly one of `blocks`, `view`, or `message`"]


async def test_chat_methods_give_each_line_twice(app: App) -> None:
    answer = await app.json("chat.postMessage", channel="C0OPS0001", text="x", blocks=[LONG])
    line = f"{TOO_LONG} [json-pointer:/blocks/0/text/text]"
    assert (answer["error"], answer["errors"]) == ("invalid_blocks", [line])
    assert answer["response_metadata"]["messages"] == [
        "[ERROR] failed to match all allowed schemas [json-pointer:/blocks]",
        f"[ERROR] {line}",
    ]


async def test_views_are_refused_as_arguments(app: App) -> None:
    answer = await app.json("views.publish", user_id="U0ALICE01", view={"type": "home", "blocks": [LONG]})
    assert answer["error"] == "invalid_arguments"
    assert answer["response_metadata"]["messages"] == [
        "[ERROR] failed to match all allowed schemas [json-pointer:/view]",
        f"[ERROR] {TOO_LONG} [json-pointer:/view/blocks/0/text/text]",
    ]
