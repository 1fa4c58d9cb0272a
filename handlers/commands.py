"""What a person can ask for, as values. Help, usage and the README's table are made of these classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Lasts:
    """How long a change is to last: for so many seconds, or until an hour and minute of the day."""

    as_typed: str
    seconds: int | None = None
    until: tuple[int, int] | None = None


@dataclass(frozen=True)
class Command:
    """One thing to ask. *usage* follows the service's name; *summary* is one line of help."""

    service: ClassVar[str] = ""
    verb: ClassVar[str] = ""
    synonyms: ClassVar[tuple[str, ...]] = ()
    usage: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    example: ClassVar[str] = ""
    writes: ClassVar[bool] = False
    """Whether it could change something without another form or click."""
    destroys: ClassVar[bool] = False
    """Whether it takes something away: never suggested for a typo."""
    needs: ClassVar[str | None] = None
    """The operation of the policy that whoever asks must be allowed; None where everybody may."""


class _Rules(Command):
    service = "rules"
    needs = "rule.read"


class _Members(Command):
    service = "members"
    needs = "member.read"


class _Gatehouse(Command):
    service = "gatehouse"


@dataclass(frozen=True)
class RulesMenu(_Rules):
    summary = "What you can do with rules, with buttons"


@dataclass(frozen=True)
class RulesList(_Rules):
    verb, synonyms = "list", ("ls", "find", "search")
    usage = "list [TEXT] [type:redirect] [status:on] [url:TEXT] [group:NAME] [sort:name|type|changed] [page:N]"
    summary = "Find rules by any part of name, id or URL; filters combine"
    example = "list checkout type:redirect"
    text: str | None = None
    type: str | None = None
    status: str | None = None
    url: str | None = None
    group: str | None = None
    sort: str | None = None
    page: int | None = None


@dataclass(frozen=True)
class RulesShow(_Rules):
    verb, synonyms = "show", ("get", "view", "info")
    usage, summary = "show [REF]", "One rule, whole; without REF, a search as you type"
    example = "show #1"
    ref: str = ""


@dataclass(frozen=True)
class RulesWhich(_Rules):
    verb, synonyms = "which", ("match", "test")
    usage, summary = "which URL", "Which rules act on a URL, and why not the others"
    example = "which https://shop.example.com/old"
    url: str = ""


@dataclass(frozen=True)
class RulesCheck(_Rules):
    verb, synonyms = "check", ("lint",)
    usage, summary = "check [REF] [page:N]", "Loops, shadows, duplicates and dead rules"
    example = "check"
    ref: str | None = None
    page: int | None = None


@dataclass(frozen=True)
class RulesNew(_Rules):
    needs = "rule.create"
    verb, synonyms = "new", ("create", "add")
    usage = 'new [TYPE] [FROM [to TO]] [named "NAME"] [for DUR] [because TEXT]'
    summary = "Make a rule, in a form"
    example = 'new redirect https://shop.example.com/old to https://shop.example.com/new named "Old shop"'
    type: str | None = None
    source: str | None = None
    destination: str | None = None
    name: str | None = None
    lasts: Lasts | None = None
    because: str | None = None


@dataclass(frozen=True)
class RulesEdit(_Rules):
    needs = "rule.update"
    verb, synonyms = "edit", ("change", "update")
    usage, summary = "edit REF", "Edit a rule, in a form"
    example = "edit #1"
    ref: str = ""


@dataclass(frozen=True)
class RulesSet(_Rules):
    needs = "rule.update"
    verb = "set"
    usage, summary = "set REF… field=value … [because TEXT]", "Change single fields of one rule, or of several at once"
    example = "set #1 destination=https://shop.example.com/new"
    writes = True
    refs: tuple[str, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    lasts: Lasts | None = None
    because: str | None = None


@dataclass(frozen=True)
class RulesCopy(_Rules):
    needs = "rule.create"
    verb, synonyms = "copy", ("clone", "duplicate")
    usage, summary = "copy REF", "A new rule like another one, in a form"
    example = "copy #1"
    ref: str = ""


@dataclass(frozen=True)
class RulesOn(_Rules):
    needs = "rule.update"
    verb, synonyms = "on", ("enable", "activate")
    usage, summary = "on REF… [for DUR] [because TEXT]", "Switch one rule on, or several"
    example = "on #1"
    writes = True
    refs: tuple[str, ...] = ()
    lasts: Lasts | None = None
    because: str | None = None


@dataclass(frozen=True)
class RulesOff(_Rules):
    needs = "rule.update"
    verb, synonyms = "off", ("disable", "deactivate")
    usage, summary = "off REF… [for DUR] [because TEXT]", "Switch one rule off, or several"
    example = "off #1 because it loops"
    writes = True
    destroys = True
    refs: tuple[str, ...] = ()
    lasts: Lasts | None = None
    because: str | None = None


@dataclass(frozen=True)
class RulesGroups(_Rules):
    verb, usage, summary = "groups", "groups", "The groups of rules, with how many each has"
    example = "groups"


@dataclass(frozen=True)
class RulesGroup(_Rules):
    needs = "rule.update"
    verb = "group"
    usage = "group on|off NAME [for DUR] [because TEXT]"
    summary = "Switch a whole group on or off, as one change; also: on group:NAME"
    example = "group off Experiments for 2h because checkout is slow"
    writes = True
    destroys = True
    switch: str = ""
    group: str = ""
    lasts: Lasts | None = None
    because: str | None = None


@dataclass(frozen=True)
class RulesDelete(_Rules):
    needs = "rule.delete"
    verb, synonyms = "delete", ("remove", "rm", "del")
    usage, summary = "delete REF… [because TEXT]", "Delete one rule or several; shows them first and waits for a click"
    example = "delete #1 because nobody uses it"
    writes = True
    destroys = True
    refs: tuple[str, ...] = ()
    because: str | None = None


@dataclass(frozen=True)
class RulesHistory(_Rules):
    needs = "audit.read"
    verb, synonyms = "history", ("log",)
    usage, summary = "history REF", "Who changed a rule, when and why"
    example = "history #1"
    ref: str = ""


@dataclass(frozen=True)
class RulesExport(_Rules):
    verb = "export"
    usage, summary = (
        "export [TEXT] [type:redirect] [status:active] [here]",
        "Rules as a file, to you or into the channel",
    )
    example = "export type:redirect"
    text: str | None = None
    type: str | None = None
    status: str | None = None
    here: bool = False


@dataclass(frozen=True)
class RulesImport(_Rules):
    needs = "rule.create"
    verb, usage, summary = "import", "import", "Rules from a file"
    example = "import"


@dataclass(frozen=True)
class RulesSamples(_Rules):
    verb, usage = "samples", "samples [add URL … | remove URL]"
    summary = "URLs of this channel to try changes on"
    example = "samples add https://shop.example.com/old"
    writes = True
    action: str | None = None
    urls: tuple[str, ...] = ()


@dataclass(frozen=True)
class MembersMenu(_Members):
    summary = "What you can do with members, with buttons"


@dataclass(frozen=True)
class MembersList(_Members):
    verb, synonyms = "list", ("ls", "find", "search")
    usage = "list [TEXT] [segment:vip] [no:SEGMENT] [site:blog] [page:N]"
    summary = "Find members by any part of name or address"
    example = "list anna segment:vip"
    text: str | None = None
    segment: str | None = None
    without_segment: str | None = None
    site: str | None = None
    page: int | None = None


@dataclass(frozen=True)
class MembersShow(_Members):
    verb, synonyms = "show", ("get", "view", "info")
    usage, summary = "show [EMAIL] [site:blog]", "One member, whole; without EMAIL, a search as you type"
    example = "show anna@example.com"
    email: str = ""
    site: str | None = None


@dataclass(frozen=True)
class MembersSegments(_Members):
    verb = "segments"
    usage, summary = "segments [site:blog]", "The segments of a site, and how many members have each"
    example = "segments"
    site: str | None = None


@dataclass(frozen=True)
class MembersWhy(_Members):
    verb = "why"
    usage, summary = "why EMAIL [SEGMENT] [site:blog]", "Why somebody gets in, or does not, on every site"
    example = "why anna@example.com vip"
    email: str = ""
    segment: str | None = None
    site: str | None = None


@dataclass(frozen=True)
class MembersAdd(_Members):
    needs = "member.add"
    verb, synonyms = "add", ("new", "create", "invite")
    usage = 'add EMAIL [named "NAME"] [to SEG,SEG] [site:blog] [for DUR]'
    summary = "Add a member, in a form"
    example = 'add anna@example.com named "Anna Berg" to vip'
    email: str | None = None
    name: str | None = None
    segments: tuple[str, ...] = ()
    site: str | None = None
    lasts: Lasts | None = None
    because: str | None = None


@dataclass(frozen=True)
class MembersEdit(_Members):
    needs = "member.update"
    verb, synonyms = "edit", ("change", "update")
    usage, summary = "edit EMAIL [site:blog]", "Edit name and segments, in a form"
    example = "edit anna@example.com"
    email: str = ""
    site: str | None = None


@dataclass(frozen=True)
class MembersGrant(_Members):
    needs = "member.grant"
    verb, synonyms = "grant", ("give",)
    usage, summary = "grant EMAIL SEG,… [site:blog] [for DUR] [because TEXT]", "Give access to segments"
    example = "grant anna@example.com vip"
    writes = True
    email: str = ""
    segments: tuple[str, ...] = ()
    site: str | None = None
    lasts: Lasts | None = None
    because: str | None = None


@dataclass(frozen=True)
class MembersRevoke(_Members):
    needs = "member.revoke"
    verb, synonyms = "revoke", ("take",)
    usage, summary = "revoke EMAIL SEG,… [site:blog] [because TEXT]", "Take access to segments away"
    example = "revoke anna@example.com vip because the plan ended"
    writes = True
    destroys = True
    email: str = ""
    segments: tuple[str, ...] = ()
    site: str | None = None
    because: str | None = None


@dataclass(frozen=True)
class MembersRemove(_Members):
    needs = "member.remove"
    verb, synonyms = "remove", ("delete", "rm", "del")
    usage, summary = (
        "remove EMAIL [site:blog] [because TEXT]",
        "Remove a member; shows them first and waits for a click",
    )
    example = "remove anna@example.com because she asked for it"
    writes = True
    destroys = True
    email: str = ""
    site: str | None = None
    because: str | None = None


@dataclass(frozen=True)
class MembersOffboard(_Members):
    needs = "member.remove"
    verb = "offboard"
    usage, summary = "offboard EMAIL [because TEXT]", "Remove somebody from every site"
    example = "offboard anna@example.com"
    writes = True
    destroys = True
    email: str = ""
    because: str | None = None


@dataclass(frozen=True)
class MembersExport(_Members):
    verb = "export"
    usage, summary = "export [TEXT] [segment:vip] [no:SEGMENT] [site:blog]", "Members as a table, to you alone"
    example = "export segment:vip"
    text: str | None = None
    segment: str | None = None
    without_segment: str | None = None
    site: str | None = None


@dataclass(frozen=True)
class MembersImport(_Members):
    needs = "member.add"
    verb, usage, summary = "import", "import [site:blog]", "Members from a file"
    example = "import"
    site: str | None = None


@dataclass(frozen=True)
class GatehousePending(_Gatehouse):
    needs = "rule.read"
    verb, usage, summary = "pending", "pending", "Changes that wait for a decision"
    example = "pending"


@dataclass(frozen=True)
class GatehouseUndo(_Gatehouse):
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
class GatehouseTimers(_Gatehouse):
    needs = "rule.read"
    verb, usage, summary = "timers", "timers", "Temporary changes, and when they end"
    example = "timers"


@dataclass(frozen=True)
class GatehouseAudit(_Gatehouse):
    needs = "audit.read"
    verb, usage, summary = "audit", "audit [who:@x] [since:24h] [REF]", "Who did what, when and why"
    example = "audit since:24h"
    who: str | None = None
    since: str | None = None
    ref: str | None = None


@dataclass(frozen=True)
class GatehouseDigest(_Gatehouse):
    needs = "audit.read"
    verb, usage, summary = "digest", "digest [DUR]", "What changed lately"
    example = "digest 24h"
    since: str | None = None


@dataclass(frozen=True)
class GatehouseStatus(_Gatehouse):
    verb, synonyms = "status", ("health", "ping")
    usage, summary = "status", "Whether the services, Slack and the store answer"
    example = "status"


@dataclass(frozen=True)
class GatehouseWhoami(_Gatehouse):
    verb, synonyms = "whoami", ("me",)
    usage, summary = "whoami", "Who you are to Gatehouse and what you may do"
    example = "whoami"


@dataclass(frozen=True)
class GatehouseHelp(_Gatehouse):
    verb, synonyms = "help", ("?",)
    usage, summary = "help [TOPIC]", "All commands, or those about one thing"
    example = "help rules"
    topic: str | None = None


@dataclass(frozen=True)
class GatehouseSettings(_Gatehouse):
    verb, usage, summary = "settings", "settings", "What this channel has set"
    example = "settings"


ALL: tuple[type[Command], ...] = tuple(
    kind for base in (_Rules, _Members, _Gatehouse) for kind in base.__subclasses__()
)
"""Every command, in the order of help."""


def of_service(service: str) -> tuple[type[Command], ...]:
    return tuple(kind for kind in ALL if kind.service == service)
