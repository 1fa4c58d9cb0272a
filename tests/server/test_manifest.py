"""The manifest and the code: what the one asks Slack for is what the other answers to, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from bot.server import app  # noqa: F401  whatever answers to something is imported by it, and so is in the tables
from bot.server.manifest import COMMANDS, document
from handlers.gatehouse import views
from handlers.grammar.parser import ALL, is_spelled, parse
from handlers.slack import registry
from sandbox.slack.methods import SCOPES
from sandbox.slack.validation import check_manifest

ROOT: Final = Path(__file__).parent.parent.parent
URL: Final = "https://gatehouse.example.com"
DOTTED: Final = re.compile(r'"([a-z]+(?:\.[a-zA-Z]+)+)"')
CALL: Final = re.compile(r'\.(?:call|form|ask|api_call)\(\s*"([a-zA-Z.]+)"')
NO_SCOPE: Final = frozenset(
    {
        "apps.connections.open",
        "auth.test",
        "chat.getPermalink",
        "views.open",
        "views.publish",
        "views.push",
        "views.update",
    }
)
FOR_MORE_THAN_METHODS: Final = frozenset(
    {
        "commands",  # slash commands and shortcuts
        "users:read.email",  # the address in what users.info tells
        "im:write",  # chat.postMessage to a person opens the direct message
    }
)
NEVER_ASKED_ABOUT: Final = frozenset({"im:read", "mpim:read", "mpim:history"})
"""Reading scopes for kinds of conversations that Gatehouse knows by their id alone, or is never in."""
FOR_EVENTS: Final = {
    "app_mention": "app_mentions:read",
    "message.im": "im:history",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "subteam_members_changed": "usergroups:read",
    "subteam_updated": "usergroups:read",
    "app_home_opened": "",
    "app_uninstalled": "",
    "tokens_revoked": "",
}
"""The scope that an event takes; some take none."""


def features() -> dict[str, Any]:
    return dict(document(URL)["features"])


def bot_events() -> set[str]:
    return set(document(URL)["settings"].get("event_subscriptions", {}).get("bot_events", ()))


def called() -> set[str]:
    """The methods of the Web API in the bot's code: all that it calls, and all that the local Slack knows by a name there."""
    text = "\n".join(file.read_text() for room in ("bot", "handlers") for file in (ROOT / room).rglob("*.py"))
    return {name for name in DOTTED.findall(text) if name in SCOPES} | set(CALL.findall(text))


def test_every_command_is_in_both() -> None:
    in_manifest = {one["command"].lstrip("/") for one in features()["slash_commands"]}
    assert in_manifest == {command.service for command in registry.COMMANDS}


HINTS: Final = [(name, each) for name, _, hints in COMMANDS for each in hints]
EXAMPLES: Final = [(kind.service, kind.example) for kind in ALL if kind.example]
EXAMPLES_OF_HELP: Final = [(text.partition(" ")[0], text.partition(" ")[2]) for text, _ in views.EXAMPLES]


@pytest.mark.parametrize(("service", "text"), HINTS + EXAMPLES + EXAMPLES_OF_HELP)
def test_every_hint_and_every_example_in_help_is_a_command_that_acts_at_once(service: str, text: str) -> None:
    assert parse(service, text).service == service
    assert is_spelled(service, text)


def test_every_shortcut_is_in_both() -> None:
    in_manifest = {one["callback_id"] for one in features().get("shortcuts", ())}
    assert in_manifest == set(registry.SHORTCUTS)


def test_every_event_is_in_both() -> None:
    assert bot_events() == set(registry.EVENTS)


def test_a_home_is_switched_on_where_there_is_one() -> None:
    has_home = bool(features().get("app_home", {}).get("home_tab_enabled"))
    assert has_home == ("app_home_opened" in bot_events()) == ("views.publish" in called())


def test_every_method_is_known_and_has_its_scope() -> None:
    granted = set(document(URL)["oauth_config"]["scopes"]["bot"])
    assert called() - NO_SCOPE <= SCOPES.keys(), "a method that the local Slack does not know"
    for method in called() - NO_SCOPE:
        assert granted & set(SCOPES[method]), method
    for event in bot_events():
        assert {FOR_EVENTS[event]} <= granted | {""}, event


def test_no_scope_is_asked_for_that_nothing_needs() -> None:
    granted = set(document(URL)["oauth_config"]["scopes"]["bot"])
    needed = {scope for method in called() - NO_SCOPE for scope in SCOPES[method]}
    needed |= {FOR_EVENTS[event] for event in bot_events()} | FOR_MORE_THAN_METHODS
    assert granted <= needed - NEVER_ASKED_ABOUT


@pytest.mark.parametrize("prefix", ["", "acme-", "x" * 22])
@pytest.mark.parametrize("url", [URL, None])
def test_slack_makes_an_app_of_every_form_of_it(url: str | None, prefix: str) -> None:
    made = document(url, prefix)

    assert check_manifest(made) == []
    commands = [one["command"] for one in made["features"]["slash_commands"]]
    assert commands == [f"/{prefix}{name}" for name in ("rules", "members", "gatehouse")]


@pytest.mark.parametrize("behind", ["/", "/slack/events", "/slack/events/", "//slack/events"])
def test_the_address_may_be_that_of_the_endpoint(behind: str) -> None:
    assert document(f"{URL}{behind}") == document(URL)


def test_over_http_everything_has_an_address_and_over_a_websocket_nothing() -> None:
    by_http, by_socket = document(URL), document(None)

    clicks = by_http["settings"]["interactivity"]
    found = [one["url"] for one in by_http["features"]["slash_commands"]]
    found += [clicks["request_url"], clicks["message_menu_options_url"]]
    if "event_subscriptions" in by_http["settings"]:
        found.append(by_http["settings"]["event_subscriptions"]["request_url"])
    assert set(found) == {f"{URL}/slack/events"}
    assert "://" not in str(by_socket)
    assert (by_http["settings"]["socket_mode_enabled"], by_socket["settings"]["socket_mode_enabled"]) == (False, True)


def test_the_manifest_in_the_tree_is_the_printed_one() -> None:
    assert yaml.safe_load((ROOT / "manifest.yml").read_text()) == document(URL)


def test_slackbot_is_let_in_where_it_was_asked_for() -> None:
    url = "https://gatehouse.example.com/slack/events"
    with_agents, scopes = document(url, agents=True), document(url)["oauth_config"]["scopes"]["bot"]

    server = {"url": "https://gatehouse.example.com/mcp", "auth_type": "slack_identity_auth"}
    assert with_agents["mcp_servers"] == {"gatehouse": server}
    assert with_agents["oauth_config"]["scopes"]["bot"] == [*scopes, "mcp:connect"]
    assert document(None, agents=True) == document(None)
    assert "mcp_servers" not in document(url)
