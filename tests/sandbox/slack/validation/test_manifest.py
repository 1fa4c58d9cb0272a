"""The rules of a manifest, which the judge of blocks applies: their numbers, and what is refused in which words."""

from __future__ import annotations

from typing import Any, Final

import pytest

from bot.server.manifest import document
from sandbox.gatehouse import SHOP
from sandbox.slack.running import running_slack
from sandbox.slack.validation import ManifestRefused, Problem, check_manifest
from sandbox.slack.validation.manifest import LIMITS, NO_CLICKS_URL, NO_EVENTS_URL

NUMBERS: Final = {
    "display_information.name": (1, 35),
    "display_information.description": (1, 140),
    "display_information.long_description": (175, 4000),
    "bot_user.display_name": (1, 80),
    "slash_commands": (1, 50),
    "slash_command.command": (2, 32),
    "slash_command.description": (1, 2000),
    "slash_command.usage_hint": (1, 1000),
    "shortcuts": (1, 10),
    "shortcut.name": (1, 24),
    "shortcut.callback_id": (1, 255),
    "shortcut.description": (1, 150),
    "scopes": (0, 255),
    "event_subscriptions.bot_events": (0, 100),
    "url": (1, 3000),
}
"""The schema's numbers a second time, as its text has them."""


def test_the_numbers_are_those_of_slacks_schema() -> None:
    assert {name: (one.low, one.high) for name, one in LIMITS.items() if one.high is not None} == NUMBERS


@pytest.mark.parametrize(
    ("pointer", "value", "words"),
    [
        ("/display_information/background_color", "red", "must be in the format #rrggbb"),
        ("/features/slash_commands/0/command", "rules", "must be in the format /command"),
        ("/features/slash_commands/0/url", "ftp://example.com", "must be in the format https://…"),
        ("/features/shortcuts/0/type", "channel", "must be a valid enum value"),
        ("/settings/interactivity/request_url", "example.com", "must be in the format https://…"),
        ("/settings/interactivity/message_menu_options_url", "example.com", "must be in the format https://…"),
        ("/settings/event_subscriptions/request_url", "example.com", "must be in the format https://…"),
        ("/display_information/name", "x" * 36, "must be less than 36 characters"),
        ("/features/slash_commands", [], "must provide at least 1 items"),
        ("/display_information", {}, "missing required field: name"),
        ("/oauth_config", {"colour": "red"}, "invalid additional property: colour"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(pointer: str, value: Any, words: str) -> None:
    manifest = document("https://gatehouse.example.com")
    assert check_manifest(manifest) == []
    *above, last = pointer.split("/")[1:]
    place: Any = manifest
    for name in above:
        place = place[int(name) if isinstance(place, list) else name]
    place[last] = value
    assert check_manifest(manifest) == [Problem(pointer, words)]


def test_without_a_websocket_events_and_clicks_need_an_address() -> None:
    settings = {"event_subscriptions": {"bot_events": ["app_mention"]}, "interactivity": {"is_enabled": True}}
    manifest = {"display_information": {"name": "Desk"}, "settings": settings}

    assert check_manifest(manifest) == [
        Problem("/settings/event_subscriptions", NO_EVENTS_URL),
        Problem("/settings/interactivity", NO_CLICKS_URL),
    ]
    assert check_manifest(manifest | {"settings": settings | {"socket_mode_enabled": True}}) == []


async def test_no_app_is_installed_from_a_wrong_manifest() -> None:
    manifest = document("https://gatehouse.example.com")
    manifest["features"]["slash_commands"][0]["description"] = ""

    with pytest.raises(ManifestRefused) as refused:
        async with running_slack(manifest, SHOP):
            pass

    pointer = "/features/slash_commands/0/description"
    assert refused.value.problems == [Problem(pointer, "must be more than 0 characters")]
    assert pointer in str(refused.value)
