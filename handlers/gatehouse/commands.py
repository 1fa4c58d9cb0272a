"""What a person can ask about changes and about Gatehouse itself."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from bot.rules.hosts import host_pattern
from bot.text.times import DAYS, parse_since, seconds_of
from handlers.grammar.command import PART, Command, Rest
from handlers.grammar.fields import PAGE, REASON, WHICH_RULE, Filter, Flag, Text, takes
from handlers.grammar.time_fields import START, UNTIL_WHEN, Expiry, Start
from handlers.grammar.tokens import quote_word


class GatehouseCommand(Command):
    service = "gatehouse"


PERSON: Final = re.compile(r"<@[^<>]+>|@?me", re.IGNORECASE)


class Who(Filter):
    """A mention is a person without ``who:``, too."""

    def read(self, rest: Rest) -> str | None:
        return super().read(rest) or rest.take(1, PERSON.fullmatch)


class Since(Filter):
    """``yesterday`` is a time without ``since:``, too."""

    def read(self, rest: Rest) -> str | None:
        times = (rest.take(count, _time_in) for count in (3, 2, 1))
        return super().read(rest) or _time_in(next(filter(None, times), ""))


def _time_in(text: str) -> str | None:
    """Return the time that ``yesterday``, ``since monday`` or ``last 24h`` is; a weekday alone is none."""
    time = text.casefold().removeprefix("since ")
    bare = time.removeprefix("last ")
    if seconds_of(bare):
        return bare
    return time if time in DAYS or (bare != text.casefold() and parse_since(time)) else None


class RecordOf(Text):
    """Always in quotes: a rule may be called “today”."""

    def write(self, value: str) -> str:
        return quote_word(value)


A_DAY: Final = "24h"


@dataclass(frozen=True)
class GatehousePending(GatehouseCommand):
    needs = ("rule.read", "member.read")
    verb, summary = "pending", "List requests that wait for a decision"
    example = "pending"
    page: int | None = takes(PAGE)


@dataclass(frozen=True)
class GatehouseInspect(GatehouseCommand):
    verb, summary = "inspect", "Show everything a request would change, to people who can decide on it"
    example = "inspect 1a2b3c4d"
    change: str = takes(Text("CHANGE", "which change"))


@dataclass(frozen=True)
class GatehouseUndo(GatehouseCommand):
    verb, summary = "undo", "Undo the last thing that you did here, or the change with that reference"
    example = "undo"
    writes = True
    destroys = True
    change: str | None = takes(Text("CHANGE"))
    because: str | None = takes(REASON)


@dataclass(frozen=True)
class GatehousePlanned(GatehouseCommand):
    needs = ("rule.read", "member.read")
    verb, synonyms = "planned", ("timers",)
    summary = "List what starts or reverts automatically, and when"
    example = "planned"
    page: int | None = takes(PAGE)


EVERYTHING: Final = frozenset({"everything", "all", "all changes", "any changes"})
NAMED: Final = re.compile(r"(group|site|segment):(.+)", re.IGNORECASE)
HOST: Final = re.compile(r"(?:https?://)?((?:[\w*-]+\.)+[\w*-]+|localhost)/?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Covered:
    """The scope of a freeze: *kind* is ``hosts``, ``group``, ``site`` or ``segment``, or nothing for everything."""

    kind: str
    names: tuple[str, ...] = ()


def parse_covered(text: str) -> Covered | None:
    """Return what the words after ``freeze`` name; None for other words."""
    if text.strip().casefold() in EVERYTHING:
        return Covered("")
    if (named := NAMED.fullmatch(text.strip())) is not None:
        return Covered(named[1].casefold(), (named[2].strip().strip('"'),))
    hosts = [HOST.fullmatch(word) for word in text.replace(",", " ").split()]
    with suppress(ValueError):
        names = tuple(host_pattern(host[1]) for host in hosts if host is not None)
        return Covered("hosts", names) if len(names) == len(hosts) else None
    return None


class ToFreeze(Text):
    """Hosts, ``group:NAME``, ``site:NAME``, ``segment:NAME`` or ``everything``."""

    def read(self, rest: Rest) -> Any:
        text = super().read(rest)
        if parse_covered(text) is None:
            raise rest.unclear_error(
                f"“{text[:40]}” isn’t a host. Write one, everything, or group:, site: or segment: and a name."
            )
        return text

    def write(self, value: str) -> str:
        return value


@dataclass(frozen=True)
class GatehouseFreezes(GatehouseCommand):
    needs = ("rule.read", "member.read")
    verb, summary = "freezes", "List what is frozen, and until when"
    example = "freezes"
    page: int | None = takes(PAGE)


@dataclass(frozen=True)
class GatehouseFreeze(GatehouseCommand):
    needs = ("freeze",)
    verb, summary = "freeze", "Block changes to a host, a group, a site, a segment or everything"
    example = "freeze shop.example.com until Monday 9:00 because cutover"
    writes = True
    what: str = takes(ToFreeze("WHAT", "freeze what"))
    expiry: Expiry | None = field(default=None, metadata={PART: UNTIL_WHEN})
    start: Start | None = takes(START)
    because: str | None = takes(REASON)

    @property
    def ends(self) -> Expiry:
        """Its end, or that of its start; raises ValueError where it has none, which `check` refuses."""
        if ends := self.expiry or (self.start.end if self.start else None):
            return ends
        raise ValueError(self.what)

    def check(self, rest: Rest) -> None:
        if not (self.expiry or (self.start and self.start.end)):
            raise rest.missing_error(UNTIL_WHEN.missing)


@dataclass(frozen=True)
class GatehouseUnfreeze(GatehouseCommand):
    needs = ("freeze",)
    verb, summary = "unfreeze", "Lift a freeze"
    example = "unfreeze shop.example.com"
    writes = True
    what: str = takes(Text("WHAT", "which freeze"))


@dataclass(frozen=True)
class GatehouseAudit(GatehouseCommand):
    needs = ("audit.read",)
    label = "Search the record"
    verb, summary = "audit", "List who changed what, when and why"
    example = "audit since:24h"
    who: str | None = takes(Who("who:@x"))
    since: str | None = takes(Since("since:24h"))
    ref: str | None = takes(RecordOf("REF"))
    page: int | None = takes(PAGE)


@dataclass(frozen=True)
class GatehouseDigest(GatehouseCommand):
    needs = ("audit.read",)
    label = "Handover"
    verb = "digest"
    summary = "Show what changed in the last day or another time, and what waits"
    example = "digest 12h"
    since: str | None = takes(Text("DUR"))


@dataclass(frozen=True)
class GatehouseStatus(GatehouseCommand):
    verb, synonyms = "status", ("health", "ping")
    summary = "Check the services, Slack and the database"
    example = "status"


@dataclass(frozen=True)
class GatehouseToken(GatehouseCommand):
    label = "Make agent token"
    verb, summary = (
        "token",
        "Make a token with which an agent asks as you, and end its last one; with `off`, only end it",
    )
    example = "token Claude"
    writes = True
    agent: str = takes(Text("AGENT", "which agent"))
    off: bool = takes(Flag("off"), False)

    def check(self, rest: Rest) -> None:
        if not re.fullmatch(
            r"(?!(?i:off)$)[A-Za-z0-9 ]{1,26}", self.agent
        ):  # it is on cards, beside the names of people
            raise rest.unclear_error("The name of an agent has letters, digits and spaces, at most 26, such as Claude.")


@dataclass(frozen=True)
class GatehouseWhoami(GatehouseCommand):
    label = "What may I do?"
    verb, synonyms = "whoami", ("me",)
    summary = "Show what you can do here, or what someone else can"
    example = "whoami"
    who: str | None = takes(Who("who:@x"))


@dataclass(frozen=True)
class GatehouseWhy(GatehouseCommand):
    needs = ("rule.read", "member.read")
    label = "Check guards"
    verb, summary = "why", "Show which guard changes of a rule or segment would meet"
    example = "why Old shop"
    ref: str | None = takes(Text("REF", WHICH_RULE))


@dataclass(frozen=True)
class GatehouseHelp(GatehouseCommand):
    verb, synonyms = "help", ("?",)
    summary = "Menu: everything you can do, with everyday examples"
    example = "help"
