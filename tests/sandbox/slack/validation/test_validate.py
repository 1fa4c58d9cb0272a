"""How methods say no: over the socket, as an app sees it."""

from __future__ import annotations

from typing import Final

from tests.sandbox.slack.conftest import App

LONG: Final = {"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3001}}
TOO_LONG: Final = "must be less than 3001 characters"


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
