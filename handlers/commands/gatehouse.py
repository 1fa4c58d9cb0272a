"""What a person can ask about changes, and about Gatehouse itself."""

from __future__ import annotations

from dataclasses import dataclass

from handlers.commands.command import Command


class GatehouseCommand(Command):
    service = "gatehouse"


@dataclass(frozen=True)
class GatehousePending(GatehouseCommand):
    needs = "rule.read"
    verb, usage, summary = "pending", "pending", "Changes that wait for a decision"
    example = "pending"


@dataclass(frozen=True)
class GatehouseInspect(GatehouseCommand):
    verb, usage, summary = (
        "inspect",
        "inspect CHANGE",
        "Everything that a waiting change does, for those who can decide",
    )
    example = "inspect 1a2b3c4d"
    change: str


@dataclass(frozen=True)
class GatehouseUndo(GatehouseCommand):
    verb, usage, summary = (
        "undo",
        "undo [CHANGE]",
        "Take a change back: your last one here, or the one of that reference",
    )
    example = "undo"
    writes = True
    destroys = True
    change: str | None = None


@dataclass(frozen=True)
class GatehouseTimers(GatehouseCommand):
    needs = "rule.read"
    verb, usage, summary = "timers", "timers", "Temporary changes, and when they end"
    example = "timers"


@dataclass(frozen=True)
class GatehouseAudit(GatehouseCommand):
    needs = "audit.read"
    verb, usage, summary = "audit", "audit [who:@x] [since:24h] [REF]", "Who did what, when and why"
    example = "audit since:24h"
    who: str | None = None
    since: str | None = None
    ref: str | None = None
    page: int | None = None


@dataclass(frozen=True)
class GatehouseDigest(GatehouseCommand):
    needs = "audit.read"
    verb, usage, summary = "digest", "digest [DUR]", "What changed lately"
    example = "digest 24h"
    since: str | None = None


@dataclass(frozen=True)
class GatehouseStatus(GatehouseCommand):
    verb, synonyms = "status", ("health", "ping")
    usage, summary = "status", "Whether the services, Slack and the store answer"
    example = "status"


@dataclass(frozen=True)
class GatehouseWhoami(GatehouseCommand):
    verb, synonyms = "whoami", ("me",)
    usage, summary = "whoami", "Who you are to Gatehouse and what you may do"
    example = "whoami"


@dataclass(frozen=True)
class GatehouseHelp(GatehouseCommand):
    verb, synonyms = "help", ("?",)
    usage, summary = "help [TOPIC]", "All commands, or those about one thing"
    example = "help rules"
    topic: str | None = None


@dataclass(frozen=True)
class GatehouseSettings(GatehouseCommand):
    verb, usage, summary = "settings", "settings", "What this channel has set, and what you are notified about"
    example = "settings"
