"""The `check` command: test everything that `serve` needs, with the functions that it uses, and report on each part.

The settings and the policy that it would run with can be shown, too.

It is read-only: the database is opened for reading, and Slack and the services get only requests that change nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
from slack_sdk.signature import SignatureVerifier

from bot.changes.model.edits import Kind, Need
from bot.changes.model.parts import Guard
from bot.clients.errors import ClientError, TooLarge, Unauthorized, Unreachable, WrongAddress
from bot.clients.lists import Listing
from bot.environment import BadSettings, Finding, read_settings, read_some, source_of
from bot.members.model import count_segments
from bot.policy.file import BadPolicy, read_policy, summary
from bot.policy.model import DEFAULT, OPERATIONS, GuardRule, Policy
from bot.policy.review import doubts_about
from bot.server.manifest import missing_scopes_text, optional_scopes_text
from bot.server.services import open_services
from bot.server.slack import open_slack
from bot.settings import DESCRIPTIONS, LocalSettings, Settings
from bot.store.db import StoreError
from bot.store.engine import check as check_database
from bot.text.redaction import passwords_in, redactor
from bot.text.times import duration_words
from handlers.blocks.messages import plural
from handlers.slack.client import NOT_THE_API, SlackRefused, SlackUnreachable

CONNECT_SECONDS: Final = 5.0


Details = tuple[str, Sequence[tuple[str, str]]]
"""A title, and below it names with what is said about each."""


@dataclass(frozen=True, slots=True)
class Report:
    """The findings, and the settings and policy that Gatehouse would run with; None where they can't be read."""

    findings: Sequence[Finding]
    settings: Settings | None
    policy: Policy | None
    known: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What there is at the services, by the keys of guards."""

    @property
    def status(self) -> int:
        """The exit status: 0 where all is well, 2 where the settings are wrong, 1 where anything else is."""
        if self.settings is None:
            return 2
        return int(any(finding.ok is False for finding in self.findings))

    def details(self) -> Sequence[Details]:
        """Return the settings, the roles and the guards; empty where any is wrong."""
        if self.settings is None or self.policy is None:
            return ()
        return _settings(self.settings), _roles(self.policy), _guards(self.policy, self.known)


async def check(*, online: bool) -> Report:
    """Check settings, policy and database; *online*: also Slack and both services."""
    findings: list[Finding] = []
    known: dict[str, Sequence[str]] = {}
    settings: Settings | None = None
    try:
        settings = read_settings()
        findings.append(Finding("settings", True, _sources()))
    except BadSettings as error:
        findings += error.findings
    try:
        local = settings or read_some(LocalSettings)
    except BadSettings:  # told already
        return Report(findings, None, None)
    policy = _policy(local, findings)
    findings.append(await _database(local))
    if not online:
        findings.append(Finding("Slack and the services", None, "not asked; --online asks them"))
    elif settings is None:
        findings.append(Finding("Slack and the services", None, "not asked until the settings are right"))
    else:
        asked = _proxy(settings), _slack(settings), _app_token(settings), _services(settings, known), _agents(settings)
        for found in await asyncio.gather(*asked):
            findings += found
    findings += [Finding("policy", None, f"{place} {why}") for place, why in doubts_about(policy or DEFAULT, known)]
    redact = settings.redact if settings is not None else redactor(passwords_in(local.database_url))
    return Report([replace(each, words=redact(each.words)) for each in findings], settings, policy, known)


def _failure(part: str, name: str, words: str, mend: str = "") -> Finding:
    return Finding(part, False, words, mend or DESCRIPTIONS[name], name.upper(), source_of(name))


def _sources() -> str:
    sources = [source_of(name) for name in Settings.model_fields]
    return f"{sources.count('environment')} from the environment, {sources.count('.env')} from .env"


def _policy(local: LocalSettings, findings: list[Finding]) -> Policy | None:
    """Return the policy, which is read even where other settings are wrong; None where it can't be. Adds to *findings*."""
    path = local.policy_file
    try:
        policy = DEFAULT if path is None else read_policy(path)
    except BadPolicy as error:
        mend = "See docs/policy.md"
        findings += [_failure("policy", "policy_file", f"{path}: {wrong}", mend) for wrong in error.wrong]
        return None
    findings.append(Finding("policy", True, summary(path, policy)))
    return policy


async def _database(local: LocalSettings) -> Finding:
    try:
        return Finding("database", True, await check_database(local.database_url))
    except StoreError as error:
        return _failure("database", "database_url", str(error), error.mend)


async def _agents(settings: Settings) -> Sequence[Finding]:
    """Check that the running Gatehouse lists its tools in answer to a request that is signed as Slack signs."""
    if not settings.agents:
        return []
    try:
        import_module("bot.server.agents")
    except ImportError as error:
        return [_failure("agents", "agents", str(error), "Install requirements/agents.lock, or gatehouse[agents]")]
    if not settings.signing_secrets:
        return []
    url, stamp = httpx.URL(scheme="http", host=settings.host, port=settings.port, path="/mcp"), str(int(time.time()))
    async with httpx.AsyncClient(trust_env=False) as http:
        asked = http.build_request("POST", url, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        signer = SignatureVerifier(settings.signing_secrets[0])
        asked.headers["X-Slack-Request-Timestamp"] = stamp
        asked.headers["X-Slack-Signature"] = signer.generate_signature(timestamp=stamp, body=asked.content) or ""
        try:
            answer = await http.send(asked)
            return [Finding("agents", True, f"{url} lists {plural(len(answer.json()['result']['tools']), 'tool')}")]
        except httpx.TransportError as error:
            return [
                Finding("agents", None, f"no answer from {url} ({type(error).__name__}): Gatehouse doesn't run here")
            ]
        except (ValueError, LookupError, TypeError):
            words = f"{url} doesn't list its tools ({answer.status_code} {answer.text[:40]})"
            return [_failure("agents", "agents", words, "Start Gatehouse there again, with these settings")]


async def _proxy(settings: Settings) -> Sequence[Finding]:
    """Check that the proxy accepts connections; whether it lets requests through shows with Slack and the services."""
    if settings.outgoing_proxy is None:
        return []
    parts, shown = urlsplit(settings.outgoing_proxy), settings.display_value("outgoing_proxy")
    urls = settings.slack_api_url, settings.rules_base_url, settings.members_base_url
    hosts = dict.fromkeys(urlsplit(url).netloc for url in urls if settings.proxy_for(url))
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port)
    except OSError as error:
        return [_failure("outgoing proxy", "outgoing_proxy", f"no answer from {shown} ({type(error).__name__})")]
    writer.close()
    return [Finding("outgoing proxy", True, f"{shown} answers; used for {', '.join(hosts) or 'nothing'}")]


async def _slack(settings: Settings) -> Sequence[Finding]:
    """Check the bot's token, its scopes and this machine's clock with Slack."""
    async with open_slack(settings, settings.slack_bot_token.get_secret_value()) as slack:
        try:
            answer = await slack.call("auth.test")
        except (SlackRefused, SlackUnreachable) as error:
            return [_slack_failure("Slack", "slack_bot_token", settings, error)]
        found = [Finding("Slack", True, f"signed in as {answer.get('user')} in {answer.get('team')}")]
        found.append(_scopes(slack.scopes))
        off = slack.clock_trouble()
        mend = "Let this machine set its clock by NTP" if off else ""
        found.append(Finding("clock", not off, off or "agrees with Slack's", mend))
        return found


def _slack_failure(part: str, name: str, settings: Settings, error: SlackRefused | SlackUnreachable) -> Finding:
    """Return the finding about a token, the setting *name*, that Slack refused, or about no answer or one that isn't Slack's."""
    if isinstance(error, SlackUnreachable):
        if error.by_proxy:
            return _failure("Slack", "outgoing_proxy", f"the proxy doesn't let Gatehouse through ({error})")
        mend = "See that this machine reaches it: its name, its network and its firewall"
        return _failure("Slack", "slack_api_url", f"no answer from {settings.slack_api_url} ({error})", mend)
    if error.code in NOT_THE_API:
        words = f"the answer from {settings.slack_api_url} is not one of Slack's Web API ({error.code})"
        return _failure(part, "slack_api_url", words)
    if error.is_away:
        return Finding(part, False, f"Slack is in trouble ({error.code})", "Try again in some minutes")
    return _failure(part, name, f"Slack refuses it ({error.code})")


def _scopes(granted: str) -> Finding:
    if not granted:
        return Finding("scopes", None, "Slack did not say which scopes the token has")
    if not (trouble := missing_scopes_text(granted)):
        left_out = optional_scopes_text(granted)
        return Finding("scopes", True, f"all that it needs, {left_out}" if left_out else "all that the manifest names")
    mend = "Put the output of `python -m bot manifest` on the app's page App Manifest, and install the app again"
    return Finding("scopes", False, trouble, mend)


async def _app_token(settings: Settings) -> Sequence[Finding]:
    if settings.slack_app_token is None:
        return [Finding("Socket Mode", None, "not used: Slack's requests come to /slack/events")]
    async with open_slack(settings, settings.slack_app_token.get_secret_value()) as slack:
        try:
            await slack.post_form("apps.connections.open")
        except (SlackRefused, SlackUnreachable) as error:
            return [_slack_failure("Socket Mode", "slack_app_token", settings, error)]
    return [Finding("Socket Mode", True, "Slack takes the app token")]


async def _services(settings: Settings, known: dict[str, Sequence[str]]) -> Iterable[Finding]:
    """Check that both services accept the keys, for each site separately; put what there is into *known*, by key."""
    async with open_services(settings) as services:
        with suppress(ClientError):
            known["site"] = list(services.members)
            everyone = [member for client in services.members.values() for member in (await client.all()).known]
            known["segment"] = sorted({*settings.segments, *count_segments(everyone)})
            if (groups := await services.groups.groups()) is not None:
                known["group"] = list(groups.names)
        asked = [_list_finding("rules service", "rules", services.rules.all(), "rules_api_key", "rules_base_url")]
        for name, client in services.members.items():
            key = "members_api_keys" if name in settings.members_api_keys else "members_api_key"
            asked.append(_list_finding(f"members of {name}", "members", client.all(), key, "members_sites"))
        return await asyncio.gather(*asked)


async def _list_finding(part: str, what: str, asked: Awaitable[Listing[Any]], key: str, missing: str) -> Finding:
    """Return the finding about a list of *what*. *key*, *missing*: the settings to check after a refusal, or a 404."""
    base = f"{what}_base_url"
    try:
        found = await asked
    except Unauthorized as error:
        return _failure(part, key, f"the service refuses it ({error})")
    except WrongAddress as error:
        return _failure(part, missing, f"the service does not know this ({error})")
    except Unreachable as error:
        if isinstance(error.__cause__, httpx.ProxyError):
            return _failure(part, "outgoing_proxy", f"the proxy doesn't let Gatehouse through ({error})")
        return _failure(part, base, f"no answer ({error})", "See that the service runs and that this is its URL")
    except TooLarge as error:
        mend = "Raise it; docs/settings.md says how much memory that takes"
        return _failure(part, "service_max_bytes", f"the list is larger than that ({error})", mend)
    except ClientError as error:
        return _failure(part, base, f"the answer is not the one that was expected ({error})")
    if found.gap:
        return _failure(part, base, found.gap.sentence(what), "Ask those who run the service")
    return Finding(part, True, plural(len(found.known), what.removesuffix("s")))


def _settings(settings: Settings) -> Details:
    """Return the value of each setting, secrets redacted, and its source."""
    shown = {name: settings.display_value(name) or "–" for name in Settings.model_fields}
    return "Settings", [(name.upper(), f"{value} ({source_of(name) or 'default'})") for name, value in shown.items()]


def _roles(policy: Policy) -> Details:
    """Return who has each role, and what it allows."""
    act = ", ".join(policy.channels.act) or "every channel that Gatehouse was added to"
    rows = []
    for name, role in policy.roles.items():
        who = ", ".join((*role.users, *role.groups, *role.channels)) or "nobody"
        rows.append((name, f"{who}: {', '.join(operation for operation in OPERATIONS if role.allows(operation))}"))
    everybody = ("(none)", "every full member of the workspace: everything, under the guards below")
    return f"Roles. Changes are taken in {act}", rows or [everybody]


def _guards(policy: Policy, known: Mapping[str, Sequence[str]]) -> Details:
    """Return what each kind of change requires: the guards for some things first, then the one for all others.

    Of what is *known*, by key, what each requires where that isn't the same.
    """
    rows = []
    nothing = dict.fromkeys(("site", "host", "group", "segment"), "")
    for kind in Kind:
        some = [rule for rule in policy.guards if rule.limits and rule.may_fit(Need(kind.operation))]
        rows += [(f"{kind.value} on {', '.join(rule.limits)}", _guard_words(rule)) for rule in some]
        rule = policy.guard_for(kind.operation)
        rows.append((kind.value, _guard_words(rule)))
        for key, name in [(key, name) for key, names in known.items() for name in names]:
            (own, *_) = policy.guards_for(Need(kind.operation, **{**nothing, key: name}))
            rows += [(f"{kind.value}, {key} {name}", own.place)] if own != rule else []
    return "Guards", rows


def _guard_words(rule: GuardRule) -> str:
    if rule.guard is Guard.NONE:
        return rule.guard
    opened = f"open for {duration_words(rule.expires.total_seconds())}"
    if rule.guard is Guard.CONFIRM:
        return f"{rule.guard}, {opened}"
    many = f" by {rule.approvals}" if rule.approvals > 1 else ""
    own = ", also their own" if rule.self_approval else ""
    undo = ", own undo too" if not rule.undo_own else ""
    approvers = ", ".join(rule.approvers) or "somebody else of the channel"
    glass = ", ".join(rule.break_glass) or "nobody"
    return f"{rule.guard}{many}{undo}: {approvers}{own}; {opened}; break glass: {glass}"
