"""What a person can ask about rules and their groups."""

from __future__ import annotations

from dataclasses import dataclass, field

from handlers.commands.command import Command, Lasts


class RulesCommand(Command):
    service = "rules"
    needs = "rule.read"


@dataclass(frozen=True)
class RulesMenu(RulesCommand):
    summary = "What you can do with rules, with buttons"


@dataclass(frozen=True)
class RulesList(RulesCommand):
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
class RulesShow(RulesCommand):
    verb, synonyms = "show", ("get", "view", "info")
    usage, summary = "show [REF]", "One rule, whole; without REF, a search as you type"
    example = "show #1"
    ref: str = ""


@dataclass(frozen=True)
class RulesWhich(RulesCommand):
    verb, synonyms = "which", ("match", "test")
    usage, summary = "which URL", "Which rules act on a URL, and why not the others"
    example = "which https://shop.example.com/old"
    url: str = ""
    others: tuple[str, ...] = ()
    """Further URLs that were typed with it."""
    within: bool = field(default=False, compare=False)
    """Whether it was taken out of other words."""


@dataclass(frozen=True)
class RulesCheck(RulesCommand):
    verb, synonyms = "check", ("lint",)
    usage, summary = "check [REF] [page:N]", "Loops, shadows, duplicates and dead rules"
    example = "check"
    ref: str | None = None
    page: int | None = None


@dataclass(frozen=True)
class RulesNew(RulesCommand):
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
class RulesEdit(RulesCommand):
    needs = "rule.update"
    verb, synonyms = "edit", ("change", "update")
    usage, summary = "edit REF", "Edit a rule, in a form"
    example = "edit #1"
    ref: str = ""


@dataclass(frozen=True)
class RulesSet(RulesCommand):
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
class RulesCopy(RulesCommand):
    needs = "rule.create"
    verb, synonyms = "copy", ("clone", "duplicate")
    usage, summary = "copy REF", "A new rule like another one, in a form"
    example = "copy #1"
    ref: str = ""


@dataclass(frozen=True)
class RulesOn(RulesCommand):
    needs = "rule.update"
    verb, synonyms = "on", ("enable", "activate")
    usage, summary = "on REF… [for DUR] [because TEXT]", "Switch one rule on, or several"
    example = "on #1"
    writes = True
    refs: tuple[str, ...] = ()
    lasts: Lasts | None = None
    because: str | None = None


@dataclass(frozen=True)
class RulesOff(RulesCommand):
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
class RulesGroups(RulesCommand):
    verb, usage, summary = "groups", "groups", "The groups of rules, with how many each has"
    example = "groups"


@dataclass(frozen=True)
class RulesGroup(RulesCommand):
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
class RulesDelete(RulesCommand):
    needs = "rule.delete"
    verb, synonyms = "delete", ("remove", "rm", "del")
    usage, summary = "delete REF… [because TEXT]", "Delete one rule or several; shows them first and waits for a click"
    example = "delete #1 because nobody uses it"
    writes = True
    destroys = True
    refs: tuple[str, ...] = ()
    because: str | None = None


@dataclass(frozen=True)
class RulesHistory(RulesCommand):
    needs = "audit.read"
    verb, synonyms = "history", ("log",)
    usage, summary = "history REF", "Who changed a rule, when and why"
    example = "history #1"
    ref: str = ""


@dataclass(frozen=True)
class RulesExport(RulesCommand):
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
class RulesImport(RulesCommand):
    needs, or_needs = "rule.create", ("rule.update",)
    verb, usage, summary = "import", "import", "Rules from a file"
    example = "import"


@dataclass(frozen=True)
class RulesSamples(RulesCommand):
    verb, usage = "samples", "samples [add URL … | remove URL]"
    summary = "URLs of this channel to try changes on"
    example = "samples add https://shop.example.com/old"
    writes = True
    action: str | None = None
    urls: tuple[str, ...] = ()
