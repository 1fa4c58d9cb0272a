"""Settings that Gatehouse does not start with, and what is never shown of the others."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import structlog
from pydantic import SecretStr, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.environment import BadSettings, read_settings, source_of
from bot.server import logs
from bot.server.slack import open_slack
from bot.settings import DESCRIPTIONS, Settings
from handlers.slack.client import SlackRefused
from sandbox.slack.serving import serving
from tests.harness.programs import ROOT

REQUIRED: dict[str, Any] = {
    "slack_bot_token": "xoxb-canary-token",
    "slack_signing_secret": "canary-old-secret,canary-new-secret",
    "rules_base_url": "https://rules.example.com/v1",
    "rules_api_key": "canary-rules-key",
    "members_base_url": "https://members.example.com/api/v1",
    "members_api_key": "canary-members-key",
    "members_sites": "blog=site_1",
}


NOT_SET = dict.fromkeys(
    (
        "SLACK_BOT_TOKEN",
        "RULES_BASE_URL",
        "RULES_API_KEY",
        "MEMBERS_BASE_URL",
        "MEMBERS_API_KEY",
        "MEMBERS_SITES",
    ),
    ("", "is not set"),
) | {"SLACK_SIGNING_SECRET": ("", "is not set, and neither is SLACK_APP_TOKEN")}
FILE = (".env", "is still the placeholder of .env.example")
BROKEN = {
    (ROOT / ".env.example").read_text(): dict.fromkeys(
        ("SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET", "RULES_API_KEY", "MEMBERS_API_KEY"), FILE
    ),
    """
SLACK_BOT_TOKEN=xoxb-canary\u0442
SLACK_APP_TOKEN=xapp-canary
RULES_BASE_URL=rules
RULES_API_KEY=canary
MEMBERS_BASE_URL=http://members.example.com/api/v1
MEMBERS_API_KEY=canary
MEMBERS_AUTH_SCHEME=Bearer canary
MEMBERS_SITES=blog=site_1,=site_2
MEMBERS_API_KEYS=dcos=canary
SERVICE_TIMEOUT=soon
PORT=70000
LOG_LEVEL=loud
LOG_FORMAT=xml
COMMAND_PREFIX=/Acme
OUTGOING_PROXY=http://u:canary/canary@proxy.example.com:3128
CA_FILE=/gone.pem
""": {
        "SLACK_BOT_TOKEN": (".env", "has a character that can't be sent in a header"),
        "RULES_BASE_URL": (".env", "this is not a URL"),
        "MEMBERS_BASE_URL": (
            ".env",
            "members.example.com would get the key unencrypted: use https, or set INSECURE_HTTP=true",
        ),
        "MEMBERS_AUTH_SCHEME": (".env", "String should match pattern '^[!-~]*$'"),
        "MEMBERS_SITES": (".env", "has an entry, number 2, that is not a name and an id of letters, digits, _ and -"),
        "SERVICE_TIMEOUT": (
            ".env",
            "Input should be a valid number, unable to parse string as a number",
        ),
        "PORT": (".env", "Input should be less than or equal to 65535"),
        "LOG_LEVEL": (".env", "Input should be 'DEBUG', 'INFO', 'WARNING' or 'ERROR'"),
        "LOG_FORMAT": (".env", "String should match pattern '^(text|json)$'"),
        "COMMAND_PREFIX": (".env", "String should match pattern '^[a-z0-9_-]{0,22}$'"),
        "OUTGOING_PROXY": (".env", "is not a URL such as http://proxy.example.com:3128"),
        "CA_FILE": (".env", "/gone.pem can't be read: No such file or directory"),
    },
}
"""Files, and what is wrong in them."""


def made(**others: Any) -> Settings:
    return Settings(**REQUIRED | others)


@pytest.mark.parametrize("text", ["old,new", "old, new", " old ,\tnew\n,"])
def test_blanks_around_a_signing_secret_are_no_part_of_it(text: str) -> None:
    assert made(slack_signing_secret=text).signing_secrets == ("old", "new")


def test_a_line_break_behind_a_key_is_no_part_of_it() -> None:
    """Files and Secrets of Kubernetes often end with one."""
    assert made(rules_api_key="key\n").rules_api_key.get_secret_value() == "key"


def test_pairs_are_read_in_their_order_and_a_site_without_an_id_has_its_name_for_it() -> None:
    settings = made(members_sites=" blog, docs = site_2 ,", members_api_keys="docs=a=b=")

    assert list(settings.members_sites.items()) == [("blog", "blog"), ("docs", "site_2")]
    assert (settings.key_of("docs"), settings.key_of("blog")) == ("a=b=", "canary-members-key")


@pytest.mark.parametrize("name", ["members_sites", "members_api_keys"])
def test_a_site_that_is_named_twice_is_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="has “blog” twice") as refused:
        made(**{name: "blog=canary_1, blog = canary_2"})

    assert "canary" not in str(refused.value)


@pytest.mark.parametrize("keys", ["dosc=canary", "blog", "blog="])
def test_a_key_of_no_site_and_no_key_of_a_site_are_refused(keys: str) -> None:
    with pytest.raises(ValidationError, match="members_api_keys") as refused:
        made(members_api_keys=keys)

    assert "canary" not in str(refused.value)


def test_two_names_of_one_site_are_refused() -> None:
    with pytest.raises(ValidationError, match="has “blog” and “news” for the same site, “site_1”"):
        made(members_sites="blog=site_1,docs=site_2,news=site_1")


def test_blanks_alone_are_no_signing_secret() -> None:
    with pytest.raises(ValidationError, match=r"slack_signing_secret\n.*neither is SLACK_APP_TOKEN"):
        made(slack_signing_secret=" , ")


@pytest.mark.threat("E1")
@pytest.mark.parametrize("name", ["slack_api_url", "rules_base_url", "members_base_url"])
@pytest.mark.parametrize("url", ["http://example.com/", "https://2852039166/", "https://user:canary@example.com/"])
def test_no_url_is_taken_that_a_key_must_not_go_to(name: str, url: str) -> None:
    with pytest.raises(ValidationError, match=name) as refused:
        made(**{name: url})

    assert "canary" not in str(refused.value)


def test_http_is_taken_on_this_machine_or_where_somebody_insists() -> None:
    assert made(slack_api_url="http://127.0.0.1:8800/api").slack_api_url == "http://127.0.0.1:8800/api/"
    assert (
        made(slack_api_url="http://slack.internal/api", insecure_http=True).slack_api_url
        == "http://slack.internal/api/"
    )


@pytest.mark.parametrize("file", ["", *BROKEN], ids=lambda text: text[:20] or "none")
def test_everything_that_is_wrong_is_told_at_once(file: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    (tmp_path / ".env").write_text(file)

    with pytest.raises(BadSettings) as refused:
        read_settings()

    assert {each.variable: (each.source, each.words) for each in refused.value.findings} == BROKEN.get(file, NOT_SET)
    assert all(each.mend for each in refused.value.findings)
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize(
    "url", ["https://proxy:3128", "http://proxy", "http://proxy:0", "proxy:3128", "http://u:1#canary@proxy:3128"]
)
def test_no_proxy_is_taken_that_nothing_would_be_sent_through(url: str) -> None:
    with pytest.raises(ValidationError, match="outgoing_proxy") as refused:
        made(outgoing_proxy=url)

    assert "canary" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "is_used"),
    [
        ("https://slack.com/api/", True),
        ("https://rules.example.com/v1", True),
        ("https://members.example.com:8443/api/v1", False),
        ("https://x.internal.example.com/", False),
        ("https://internal.example.com/", True),
        ("http://127.0.0.1:8801/v1", False),
        ("http://[::1]:8801/v1", False),
        ("http://localhost:8801/v1", False),
    ],
)
def test_the_proxy_is_for_all_but_this_machine_and_the_exceptions(url: str, is_used: bool) -> None:
    proxy = "http://proxy.example.com:3128"
    settings = made(outgoing_proxy=proxy, outgoing_proxy_except="Members.example.com, .internal.example.com,")

    assert settings.proxy_for(url) == (proxy if is_used else None)
    assert made().proxy_for(url) is None


def test_a_file_without_a_certificate_is_no_ca_file(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("-----BEGIN CERTIFICATE-----\nbm8=\n-----END CERTIFICATE-----\n")

    with pytest.raises(ValidationError, match="holds no certificate that can be read"):
        made(ca_file=str(tmp_path / "ca.pem"))
    (tmp_path / "ca.pem").write_text("")
    with pytest.raises(ValidationError, match="holds no certificate that can be read"):
        made(ca_file=str(tmp_path / "ca.pem"))


def test_each_setting_says_what_it_is() -> None:
    assert [name for name, said in DESCRIPTIONS.items() if not said.endswith(".")] == []


def test_the_environment_goes_before_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("PORT=2\nHOST=x\nLOG_LEVEL=\n")
    monkeypatch.setenv("PORT", "1")
    monkeypatch.setenv("HOST", "")
    monkeypatch.delenv("LOG_LEVEL", raising=False)

    assert [source_of(name) for name in ("port", "host", "log_level")] == ["environment", ".env", ""]


@pytest.mark.parametrize("key", ["canary${PLANTED}", "$PLANTED-canary", "${PLANTED:-canary}", "canary$$"])
@pytest.mark.parametrize("quote_mark", ["", "'", '"'])
def test_a_dollar_in_a_key_is_a_part_of_it(
    key: str, quote_mark: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nothing of the environment goes to a service because a file says so, and no key becomes another one."""
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("PLANTED", "a secret of the operator")
    lines = [f"{name}={value}" for name, value in REQUIRED.items() if name != "rules_api_key"]
    (tmp_path / ".env").write_text("\n".join([*lines, f"RULES_API_KEY={quote_mark}{key}{quote_mark}"]))

    settings = read_settings()
    assert settings.rules_api_key.get_secret_value() == key
    assert key not in settings.redact(f"the service says: {key}")


def test_a_file_that_is_not_utf_8_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_bytes(b"LOG_FORMAT=\xe9\n")

    with pytest.raises(BadSettings, match=r"^✗ \.env: is not UTF-8 text\."):
        read_settings()


CANARIES = {
    "slack_bot_token": "xoxb-1-canary",
    "slack_signing_secret": "canary-old-signing,canary-new-signing",
    "slack_app_token": "xapp-1-canary",
    "rules_api_key": "canary/rules+key=",
    "members_api_key": "canary members",
    "members_api_keys": "blog=canary-blog-key",
}
PASSWORD = "canary-password"
PROXY_PASSWORD = "canary+proxy"


def _words(settings: Settings) -> list[str]:
    """What somebody could say of each secret, as it is and as it is written in URLs."""
    assert {name for name, value in settings if isinstance(value, SecretStr | dict)} - {"members_sites"} == set(
        CANARIES
    )
    values = ["xoxb-1-canary", "canary-old-signing", "canary-new-signing", "xapp-1-canary", "canary/rules+key="]
    values += ["canary members", "canary-blog-key", PASSWORD, PROXY_PASSWORD]
    return [*values, *(quote(each, safe="") for each in values)]


@pytest.fixture
def planted() -> Settings:
    proxy = f"http://u:{quote(PROXY_PASSWORD)}@proxy.example.com:3128"
    return made(**CANARIES, database_url=f"postgresql://u:{PASSWORD}@h/db", outgoing_proxy=proxy)


@pytest.mark.threat("E3")
def test_no_text_of_others_holds_a_secret(planted: Settings) -> None:
    for word in _words(planted):
        assert planted.redact(f"key {word} is not allowed") == "key [secret] is not allowed"
    assert planted.redact("Rule pairs are invalid") == "Rule pairs are invalid"
    assert made().redact("") == ""


def test_no_setting_is_shown_with_a_secret(planted: Settings) -> None:
    for name in Settings.model_fields:
        assert "canary" not in planted.display_value(name)
    assert made(database_url="postgresql://u:pw@h/db").display_value("database_url") == "postgresql://u:***@h/db"


@pytest.mark.threat("E3")
@pytest.mark.parametrize("form", ["text", "json"])
def test_no_line_of_the_log_holds_a_secret(planted: Settings, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("DEBUG", form, planted.redact)
    for word in _words(planted):
        for log in (structlog.get_logger("ours"), logging.getLogger("theirs")):
            try:
                raise ValueError(word)
            except ValueError:
                log.exception("event")
        structlog.get_logger("ours").info("event", nested={"list": [word]}, error=ValueError(word), text=word)
        logging.getLogger("theirs").info("%s %r", word, {"key": word})

    written = capsys.readouterr().err
    assert "ValueError" in written
    assert "canary" not in written
    if form == "json":
        assert all(json.loads(line) for line in written.splitlines())


@pytest.mark.threat("E3")
async def test_no_refusal_of_slack_holds_a_secret(planted: Settings) -> None:
    async def refuse(request: Request) -> Response:
        token = request.headers["authorization"].removeprefix("Bearer ")
        return JSONResponse({"ok": False, "error": f"bad_token {token}", "needed": token})

    async with serving(Starlette(routes=[Route("/{method}", refuse, methods=["GET", "POST"])])) as url:
        settings = planted.model_copy(update={"slack_api_url": f"{url}/"})
        async with open_slack(settings, planted.slack_bot_token.get_secret_value()) as slack:
            with pytest.raises(SlackRefused) as refused:
                await slack.call("auth.test")

    assert (refused.value.code, refused.value.needed) == ("bad_token [secret]", "[secret]")
