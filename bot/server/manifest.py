"""The Slack app's manifest, for HTTP or Socket Mode and any command prefix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

EVENTS_PATH: Final = "/slack/events"

BETWEEN_HINTS: Final = " · "
COMMANDS: Final = (
    (
        "rules",
        "Find, change and safely delete traffic rules",
        (
            "which shop.example.com/old",
            "off Old shop for 2h because it loops",
            "list checkout",
        ),
    ),
    (
        "members",
        "Find, add, change and remove members of a site",
        ("why anna@example.com", "grant anna@example.com vip until Monday", "list segment:vip"),
    ),
    ("gatehouse", "Help, status, and who you are to Gatehouse", ("pending", "whoami", "undo")),
)
"""Name, description, and commands as help spells them, which Slack shows while somebody types."""

SHORTCUT: Final = {
    "name": "Look this up",
    "callback_id": "look_up",
    "description": "Where a URL in this message goes, or why a person in it has access",
}
"""The message shortcut."""

EVENTS: Final = ("app_home_opened", "app_mention", "message.im")

SCOPES: Final = (
    "app_mentions:read",
    "channels:read",
    "chat:write",
    "commands",
    "files:read",
    "files:write",
    "groups:read",
    "im:history",
    "im:write",
    "usergroups:read",
    "users:read",
    "users:read.email",
)


"""The scopes that the Web API methods and the events that Gatehouse uses need, and no others."""

OPTIONAL: Final[Mapping[str, str]] = {
    "files:read": "imports",
    "files:write": "exports, and the results of imports as files",
    "usergroups:read": "roles through user groups",
}
"""The scopes that an installation may leave out, each with what does not work without it."""

EMAIL_SCOPE: Final = "users:read.email"


def missing_scopes_text(granted: str) -> str:
    """Return which required scopes *granted* lacks, and what that means; empty where none is missing, or they aren't known."""
    lacking = [scope for scope in _missing_scopes(granted) if scope not in OPTIONAL]
    if not lacking:
        return ""
    meaning = ": nobody can approve, since second accounts can’t be told apart" if EMAIL_SCOPE in lacking else ""
    return f"the app lacks {', '.join(lacking)}{meaning}"


def optional_scopes_text(granted: str) -> str:
    """Return what does not work because *granted* lacks optional scopes; empty where none is missing, or they aren't known."""
    without = [f"{OPTIONAL[scope]} ({scope})" for scope in _missing_scopes(granted) if scope in OPTIONAL]
    return f"without {', '.join(without)}" if without else ""


def _missing_scopes(granted: str) -> Sequence[str]:
    return sorted(set(SCOPES) - set(granted.replace(" ", "").split(","))) if granted else []


def document(url: str | None, prefix: str = "", *, agents: bool = False) -> dict[str, Any]:
    """Return the manifest as data: for a deployment at *url*, or for Socket Mode where that is None. *agents*: with Slackbot.

    *url* may have the path to which Slack sends requests, as the app's pages show it.
    """
    socket = url is None
    endpoint = {} if url is None else {"url": url.rstrip("/").removesuffix(EVENTS_PATH).rstrip("/") + EVENTS_PATH}
    interactivity: dict[str, Any] = {"is_enabled": True}
    events: dict[str, Any] = {"bot_events": list(EVENTS)}
    if url is not None:
        interactivity |= {"request_url": endpoint["url"], "message_menu_options_url": endpoint["url"]}
        events = {"request_url": endpoint["url"], **events}
    mcp = endpoint["url"].removesuffix(EVENTS_PATH) + "/mcp" if agents and endpoint else ""
    servers = {"mcp_servers": {"gatehouse": {"url": mcp, "auth_type": "slack_identity_auth"}}} if mcp else {}
    return servers | {
        "display_information": {
            "name": "Gatehouse",
            "description": "Traffic rules and members of your site: find, change and safely delete them from Slack.",
            "background_color": "#1f3a4d",
        },
        "features": {
            "app_home": {
                "home_tab_enabled": True,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "bot_user": {"display_name": "Gatehouse", "always_online": True},
            "slash_commands": [
                {
                    "command": f"/{prefix}{name}",
                    "description": about,
                    "usage_hint": BETWEEN_HINTS.join(hints),
                    "should_escape": True,
                    **endpoint,
                }
                for name, about, hints in COMMANDS
            ],
            "shortcuts": [{"type": "message", **SHORTCUT}],
        },
        "oauth_config": {
            "scopes": {"bot": [*SCOPES, *(["mcp:connect"] if mcp else [])], "bot_optional": list(OPTIONAL)}
        },
        "settings": {
            "event_subscriptions": events,
            "interactivity": interactivity,
            "org_deploy_enabled": False,
            "socket_mode_enabled": socket,
            "token_rotation_enabled": False,
        },
    }
