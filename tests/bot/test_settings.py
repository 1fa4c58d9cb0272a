"""Settings that Gatehouse does not start with, and what is never shown of the others."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from bot.settings import Settings

REQUIRED: dict[str, Any] = {
    "slack_bot_token": "xoxb-canary-token",
    "slack_signing_secret": "canary-old-secret,canary-new-secret",
    "rules_base_url": "https://rules.example.com/v1",
    "rules_api_key": "canary-rules-key",
    "members_base_url": "https://members.example.com/api/v1",
    "members_api_key": "canary-members-key",
    "members_sites": "blog=site_1",
}


def made(**others: Any) -> Settings:
    return Settings(_env_file=None, **REQUIRED | others)


@pytest.mark.parametrize("name", ["slack_api_url", "rules_base_url", "members_base_url"])
@pytest.mark.parametrize("url", ["http://example.com/", "https://2852039166/", "https://user:canary@example.com/"])
def test_no_url_is_taken_that_a_key_must_not_go_to(name: str, url: str) -> None:
    with pytest.raises(ValidationError, match=name.upper()) as refused:
        made(**{name: url})

    assert "canary" not in str(refused.value)


def test_http_is_taken_on_this_machine_or_where_somebody_insists() -> None:
    assert made(slack_api_url="http://127.0.0.1:8800/api").slack_api_url == "http://127.0.0.1:8800/api/"
    assert (
        made(slack_api_url="http://slack.internal/api", insecure_http=True).slack_api_url
        == "http://slack.internal/api/"
    )
