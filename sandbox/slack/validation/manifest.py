"""The rules of Slack's published schema for what our manifest has, as data, and those that Slack checks in addition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from sandbox.slack.validation.judge import Judge, Problem
from sandbox.slack.validation.kinds import Bool, Enum, Form, Found, Many, Obj, Rule, Shape, Str
from sandbox.slack.validation.limits import Limit

LIMITS: Final[dict[str, Limit]] = {
    "words": Limit(None),
    "url": Limit(3000),
    "display_information.name": Limit(35),
    "display_information.description": Limit(140),
    "display_information.long_description": Limit(4000, 175),
    "bot_user.display_name": Limit(80),
    "slash_commands": Limit(50),
    "slash_command.command": Limit(32, 2),
    "slash_command.description": Limit(2000),
    "slash_command.usage_hint": Limit(1000),
    "shortcuts": Limit(10),
    "shortcut.name": Limit(24),
    "shortcut.callback_id": Limit(255),
    "shortcut.description": Limit(150),
    "scopes": Limit(255, 0),
    "event_subscriptions.bot_events": Limit(100, 0),
}
"""The limits in the schema."""


def _pattern_rule(name: str, pattern: str, words: str) -> Rule:
    """Return the rule for a string that also has a form."""

    def rule(found: Found) -> Iterator[tuple[str, str]]:
        if name in found and not re.match(pattern, found[name], re.ASCII):
            yield f"/{name}", f"must be in the format {words}"

    return rule


def _url_rules(*names: str) -> tuple[Rule, ...]:
    return tuple(_pattern_rule(name, r"https?://", "https://…") for name in names)


TEXT: Final = Str("words")
URL: Final = Str("url")
SWITCHES: Final = ("org_deploy_enabled", "socket_mode_enabled", "token_rotation_enabled")

OBJECTS: Final[dict[str, Shape]] = {
    "manifest": Shape(
        {"display_information": Obj("display_information")},
        {name: Obj(name) for name in ("features", "oauth_config", "settings")},
    ),
    "display_information": Shape(
        {"name": Str("display_information.name")},
        {
            "description": Str("display_information.description"),
            "long_description": Str("display_information.long_description"),
            "background_color": Form("#rrggbb", r"#[0-9A-Fa-f]{6}|#[0-9A-Fa-f]{3}"),
        },
    ),
    "features": Shape(
        {},
        {
            "app_home": Obj("app_home"),
            "bot_user": Obj("bot_user"),
            "slash_commands": Many(Obj("slash_command"), "slash_commands"),
            "shortcuts": Many(Obj("shortcut"), "shortcuts"),
        },
    ),
    "app_home": Shape(
        {},
        {name: Bool() for name in ("home_tab_enabled", "messages_tab_enabled", "messages_tab_read_only_enabled")},
    ),
    "bot_user": Shape({"display_name": Str("bot_user.display_name")}, {"always_online": Bool()}),
    "slash_command": Shape(
        {"command": Str("slash_command.command"), "description": Str("slash_command.description")},
        {"usage_hint": Str("slash_command.usage_hint"), "url": URL, "should_escape": Bool()},
        rules=(_pattern_rule("command", r"/", "/command"), *_url_rules("url")),
    ),
    "shortcut": Shape(
        {
            "name": Str("shortcut.name"),
            "type": Enum(("message", "global")),
            "callback_id": Str("shortcut.callback_id"),
            "description": Str("shortcut.description"),
        },
        {},
    ),
    "oauth_config": Shape({}, {"scopes": Obj("scopes")}),
    "scopes": Shape({}, {name: Many(TEXT, "scopes") for name in ("bot", "bot_optional")}),
    "settings": Shape(
        {},
        {
            "event_subscriptions": Obj("event_subscriptions"),
            "interactivity": Obj("interactivity"),
            **{name: Bool() for name in SWITCHES},
        },
    ),
    "event_subscriptions": Shape(
        {},
        {
            "request_url": URL,
            "bot_events": Many(TEXT, "event_subscriptions.bot_events"),
        },
        rules=_url_rules("request_url"),
    ),
    "interactivity": Shape(
        {"is_enabled": Bool()},
        {"request_url": URL, "message_menu_options_url": URL},
        rules=_url_rules("request_url", "message_menu_options_url"),
    ),
}
"""The shape of each part of a manifest: its required and its optional properties, and no others."""

NO_EVENTS_URL: Final = "Event Subscription requires either Request URL or Socket Mode Enabled"
NO_CLICKS_URL: Final = "Interactivity requires a Request URL"


class ManifestRefused(Exception):
    """Slack would not accept this manifest; *problems* says why, each with its pointer."""

    def __init__(self, problems: list[Problem]) -> None:
        lines = [f"{one.text} [json-pointer:{one.pointer}]" for one in problems]
        super().__init__("invalid_manifest: " + "; ".join(lines))
        self.problems = problems


def check_manifest(manifest: Any) -> list[Problem]:
    """What is wrong with a manifest; an app that uses no websocket must say where it takes events and clicks."""
    found = list(Judge("manifest", OBJECTS, LIMITS).check_value(manifest, Obj("manifest"), ""))
    return found or list(_check_reachable(manifest.get("settings", {})))


def _check_reachable(settings: Found) -> Iterator[Problem]:
    if settings.get("socket_mode_enabled"):
        return
    events, clicks = settings.get("event_subscriptions"), settings.get("interactivity", {})
    if events is not None and "request_url" not in events:
        yield Problem("/settings/event_subscriptions", NO_EVENTS_URL)
    if clicks.get("is_enabled") and "request_url" not in clicks:
        yield Problem("/settings/interactivity", NO_CLICKS_URL)
