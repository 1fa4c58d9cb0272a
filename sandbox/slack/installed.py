"""The app that is installed in the local Slack, as its manifest describes it (facts 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class InstalledApp:
    """Reads what the platform takes from a manifest. An empty one allows everything and describes nothing."""

    manifest: Mapping[str, Any]

    @property
    def features(self) -> Mapping[str, Any]:
        return self.manifest.get("features") or {}

    @property
    def commands(self) -> list[dict[str, Any]]:
        return list(self.features.get("slash_commands") or ())

    def command(self, name: str) -> dict[str, Any] | None:
        return next((one for one in self.commands if one["command"] == name), None)

    @property
    def shortcuts(self) -> list[dict[str, Any]]:
        return list(self.features.get("shortcuts") or ())

    def shortcut(self, callback_id: str, kind: str) -> dict[str, Any] | None:
        """The shortcut of that name; *kind*: global or message."""
        fitting = (one for one in self.shortcuts if (one["callback_id"], one["type"]) == (callback_id, kind))
        return next(fitting, None)

    @property
    def scopes(self) -> tuple[str, ...] | None:
        """The bot's scopes; None where the manifest names none, and none are asked for."""
        scopes = (self.manifest.get("oauth_config") or {}).get("scopes") or {}
        return tuple(scopes["bot"]) if "bot" in scopes else None

    def subscribes(self, event: str) -> bool:
        """Whether the app wants this event (``message.im``); what came of a manifest without events is none."""
        settings = self.manifest.get("settings") or {}
        return event in (settings.get("event_subscriptions") or {}).get("bot_events", ())

    @property
    def home_tab(self) -> bool:
        return not self.manifest or bool((self.features.get("app_home") or {}).get("home_tab_enabled"))

    @property
    def messages_tab(self) -> bool:
        """Whether the bot can be written with in a direct message; assumed where the manifest leaves it open."""
        return bool((self.features.get("app_home") or {}).get("messages_tab_enabled", True))

    @property
    def messages_read_only(self) -> bool:
        return bool((self.features.get("app_home") or {}).get("messages_tab_read_only_enabled", False))
