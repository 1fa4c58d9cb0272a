"""The Slack app's manifest: one source for HTTP and Socket Mode, for any command prefix. ``manifest.yml`` is made of it."""

from __future__ import annotations

from typing import Any, Final

import yaml

EVENTS_PATH: Final = "/slack/events"
PLACEHOLDER: Final = "https://gatehouse.example.com"

COMMANDS: Final = (
    (
        "rules",
        "Find, change and safely delete traffic rules",
        "list | show REF | new | edit REF | off REF | delete REF",
    ),
    (
        "members",
        "Find, add, change and remove members of a site",
        "list | show EMAIL | add EMAIL | grant EMAIL SEGMENT",
    ),
    ("gatehouse", "Help, status, and who you are to Gatehouse", "help [TOPIC] | status | whoami"),
)

SCOPES: Final = (
    "channels:read",
    "chat:write",
    "commands",
    "files:read",
    "files:write",
    "groups:read",
    "im:read",
    "im:write",
    "usergroups:read",
    "users:read",
    "users:read.email",
)
"""What the Web API methods that Gatehouse calls need, and nothing more."""


def document(url: str | None, prefix: str = "") -> dict[str, Any]:
    """The manifest as data: for a deployment at *url*, or for Socket Mode where there is none."""
    socket = url is None
    endpoint = {} if url is None else {"url": url.rstrip("/") + EVENTS_PATH}
    interactivity: dict[str, Any] = {"is_enabled": True}
    if url is not None:
        interactivity |= {"request_url": endpoint["url"], "message_menu_options_url": endpoint["url"]}
    return {
        "display_information": {
            "name": "Gatehouse",
            "description": "Traffic rules and members of your site: find, change and safely delete them from Slack.",
            "background_color": "#1f3a4d",
        },
        "features": {
            "bot_user": {"display_name": "Gatehouse", "always_online": True},
            "slash_commands": [
                {
                    "command": f"/{prefix}{name}",
                    "description": about,
                    "usage_hint": hint,
                    "should_escape": True,
                    **endpoint,
                }
                for name, about, hint in COMMANDS
            ],
        },
        "oauth_config": {"scopes": {"bot": list(SCOPES)}},
        "settings": {
            "interactivity": interactivity,
            "org_deploy_enabled": False,
            "socket_mode_enabled": socket,
            "token_rotation_enabled": False,
        },
    }


def manifest(url: str | None, prefix: str = "") -> str:
    """The manifest as YAML, ready to be pasted into Slack's page *From a manifest*."""
    return yaml.safe_dump(document(url, prefix), sort_keys=False, allow_unicode=True, width=110)
