"""What a person can ask about rules and their groups."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from bot.rules import edit
from bot.rules.pair_fields import has_field
from bot.rules.url import is_url
from handlers.grammar.command import Certain, Command, Rest
from handlers.grammar.fields import (
    PAGE,
    REASON,
    REFS,
    WHICH_RULE,
    Choice,
    Filter,
    First,
    Flag,
    Led,
    Text,
    Urls,
    takes,
    without_kind,
)
from handlers.grammar.time_fields import ASKED_AT, EXPIRY, START, Planned, Temporary
from handlers.grammar.tokens import WEB, quote_word, urls_typed
from handlers.rules.command_fields import (
    A_RULE,
    GROUP,
    MADE,
    ONE_RULE,
    RULE_TYPE,
    Assignments,
    Destination,
    OneOf,
    RuleAlone,
    Source,
)
from handlers.rules.reasons import no_field_words


class RulesCommand(Command):
    service = "rules"
    reads = "rule.read"


SORTS: Final = ("name", "type", "changed")
SWITCHED: Final = {"on": "on", "off": "off"}


AROUND_URL: Final = " \t<>()[]{}`*_~.,;:!?\"'"
"""Signs around a pasted URL that are no part of it, nor of the name of a rule after it."""


@dataclass(frozen=True)
class RulesMenu(RulesCommand):
    summary = "Menu: everything you can do with rules"


@dataclass(frozen=True)
class RulesFiltered(Command):
    """Some of the rules: what narrows a list narrows an export."""

    text: str | None = takes(Text("TEXT"))
    type: str | None = takes(Filter("type:redirect"))
    status: str | None = takes(Filter("status:on"))
    url: str | None = takes(Filter("url:TEXT"))
    group: str | None = takes(Filter("group:NAME"))


@dataclass(frozen=True)
class RulesList(RulesFiltered, RulesCommand):
    label = "Search rules"
    verb, synonyms = "list", ("ls", "find", "search")
    summary = "List rules, or search all that they say; filters combine"
    example = "list checkout type:redirect"
    sort: str | None = takes(OneOf("sort:name|type|changed", titled="", options=SORTS))
    page: int | None = takes(PAGE)


@dataclass(frozen=True)
class RulesShow(RulesCommand):
    verb, synonyms = "show", ("get", "view", "info")
    summary = "Show a rule"
    example = "show #1"
    ref: str = takes(ONE_RULE)


@dataclass(frozen=True)
class RulesWhich(RulesCommand):
    label = "Check URL"
    verb, synonyms = "which", ("match", "test")
    summary = "Show where a URL goes, and why; with REF, why that rule matches or not"
    example = "which https://shop.example.com/old"
    url: str = takes(First("URL", "which URL"))
    others: tuple[str, ...] = takes(Urls("URL…"), ())
    """Further URLs that were typed with it."""
    ref: str | None = takes(Text("REF"))
    """The rule that the question is about; it comes after a single URL."""
    at: str | None = takes(ASKED_AT)
    within: bool = field(default=False, compare=False)
    """Whether the URL was taken out of other words."""
    unknown: str = field(default="", compare=False)
    """Words after the URL that name no rule, or several."""
    details: bool = field(default=False, compare=False)
    """Whether to name the matches that would neither redirect nor block it, although nothing does."""

    @classmethod
    def read(cls, rest: Rest) -> Command:
        """Read the URL in what was typed or pasted, and the rule or time after it; what is in quotes is one as it stands."""
        at = ASKED_AT.read(rest)
        command = replace(cls._read_urls(rest), at=at)
        command.check(rest)
        return command

    @classmethod
    def _read_urls(cls, rest: Rest) -> RulesWhich:
        words = " ".join(word.text for word in rest.words if not word.quoted)
        exact = [word.text.strip() for word in rest.words if word.quoted and word.text.strip()]
        if not words and len(exact) == 2 and not is_url(exact[1]):
            return cls(exact[0], ref=exact[1])
        found = urls_typed(words) if words else exact
        if not found:
            raise rest.missing_error("which URL")
        if words == found[0] and words.startswith("/"):  # of which host, is asked
            raise rest.unclear_error("Write the whole URL, such as https://shop.example.com/old.")
        if words and len(found) == 1:
            before, _, after = (part.strip(AROUND_URL) for part in words.partition(found[0]))
            ref = " ".join(filter(None, [after, *exact]))
            if not any(map(str.isalnum, before)) and ref:
                return cls(found[0], ref=ref)
        beside = f"{words} {' '.join(exact)}" if words else ""
        for url in sorted(found, key=len, reverse=True):
            beside = beside.replace(url, " ")
        url, *others = found
        return cls(url, tuple(others), within=any(map(str.isalnum, beside)))

    def check(self, rest: Rest) -> None:
        if self.ref and (self.others or self.at or is_url(self.ref)):
            raise rest.unclear_error("Ask about one rule with one URL, and as of now; `history` has what was before.")

    def words(self) -> list[str]:
        """Return the fields as words, in quotes where they would be read as something else without."""
        loose = self.others or urls_typed(self.url) != [self.url]
        urls = [quote_word(url) for url in (self.url, *self.others)] if loose else [First("URL").write(self.url)]
        return [*urls, *filter(None, [self.ref and quote_word(self.ref), self.at])]


@dataclass(frozen=True)
class RulesCheck(RulesCommand):
    verb, synonyms = "check", ("lint",)
    summary = "Find loops, shadowed rules, duplicates and dead rules"
    example = "check"
    ref: str | None = takes(Text("REF"))
    page: int | None = takes(PAGE)


@dataclass(frozen=True)
class RulesNew(Temporary, RulesCommand):
    needs = ("rule.create",)
    verb, synonyms = "new", ("create", "add")
    summary, label = "Create a rule (opens a form)", "New rule"
    example = 'new redirect https://shop.example.com/old to https://shop.example.com/new named "Old shop"'
    type: str | None = takes(RULE_TYPE)
    source: str | None = takes(Source("FROM"))
    destination: str | None = takes(Destination("to TO"))
    name: str | None = takes(Led('named "NAME"'))

    @classmethod
    def read(cls, rest: Rest) -> Command:
        rest.words = without_kind(rest.words, A_RULE, RULE_TYPE.choices)
        return super().read(rest)

    def check(self, rest: Rest) -> None:
        if self.destination and not has_field(self.type, "destination"):
            raise Certain(no_field_words(self.type, "destination"), about=(rest.kind,))


REACHES: Final = tuple(edit.REACHES)
"""How much of a URL a rule is about: that with any query, or everything below it; else exactly that."""


@dataclass(frozen=True)
class RulesMake(Temporary, RulesCommand):
    needs = ("rule.create",)
    verb = "make"
    summary = "Make a redirect or a block; no form opens"
    example = 'make redirect https://shop.example.com/old to https://shop.example.com/new named "Old shop"'
    writes = True
    type: str = takes(Choice("redirect|block", "redirect or block", MADE))
    source: str = takes(First("FROM", "which URL"))
    destination: str | None = takes(Led("to TO"))
    name: str | None = takes(Led('named "NAME"'))
    match: str | None = takes(OneOf("match:query|below", options=REACHES))

    def check(self, rest: Rest) -> None:
        """Raise an error unless all that a form would ask for is there: nothing is a guess; derive a missing name."""
        if not WEB.fullmatch(self.source):
            raise rest.unclear_error("Write the whole URL, such as https://shop.example.com/old.")
        if (self.type == "Redirect") != bool(self.destination):
            raise rest.missing_error(
                "where it redirects to" if self.type == "Redirect" else "no destination for a block"
            )
        if not self.name and self.match is None:  # people say it so, and are shown first what would be made
            raise rest.missing_error("what the rule is called")
        if not self.name:
            object.__setattr__(self, "name", name_of_urls(self.source, self.destination))


def name_of_urls(source: str, destination: str | None) -> str:
    """Return a name for a redirect, or for a block where there is no *destination*."""
    start, end = (url.removeprefix("https://").rstrip("/")[:120] for url in (source, destination or ""))
    return f"{start} to {end}" if end else f"Block {start}"


@dataclass(frozen=True)
class RulesEdit(RulesCommand):
    needs = ("rule.update",)
    label = "Edit rule"
    verb, synonyms = "edit", ("change", "update")
    summary = "Edit a rule (opens a form)"
    example = "edit #1"
    ref: str = takes(RuleAlone("REF", WHICH_RULE))


@dataclass(frozen=True)
class RulesSet(Temporary, RulesCommand):
    needs = ("rule.update",)
    label = "Set fields"
    verb = "set"
    summary = "Change single fields of one rule or several"
    example = "set #1 destination=https://shop.example.com/new"
    writes = True
    refs: tuple[str, ...] = takes(REFS)
    fields: tuple[tuple[str, str], ...] = takes(Assignments("field=value …", "which field gets which value"))


@dataclass(frozen=True)
class RulesCopy(RulesCommand):
    needs = ("rule.create",)
    label = "Copy rule"
    verb, synonyms = "copy", ("clone", "duplicate")
    summary = "Copy a rule (opens a form)"
    example = "copy #1"
    ref: str = takes(ONE_RULE)


@dataclass(frozen=True)
class Switch(Temporary):
    """What switches rules; ``on group:NAME`` is about a whole group."""

    needs = ("rule.update",)
    writes = True
    refs: tuple[str, ...] = takes(REFS)

    @classmethod
    def read(cls, rest: Rest) -> Command:
        because, start, expiry = REASON.read(rest), START.read(rest), EXPIRY.read(rest)
        if "group" not in rest.take_filters("group"):
            return cls(REFS.read(rest), expiry=expiry, because=because, start=start)
        group = GROUP.read(rest)
        rest.expect_end()
        return RulesGroup(cls.verb, group, expiry=expiry, because=because, start=start)


@dataclass(frozen=True)
class RulesOn(Switch, RulesCommand):
    label = "Switch on"
    verb, synonyms = "on", ("enable", "activate")
    summary = "Switch rules on, also for a limited time"
    example = "on #1"


@dataclass(frozen=True)
class RulesOff(Switch, RulesCommand):
    label = "Switch off"
    verb, synonyms = "off", ("disable", "deactivate")
    summary = "Switch rules off, also for a limited time"
    example = "off #1 because it loops"
    destroys = True


@dataclass(frozen=True)
class RulesGroups(RulesCommand):
    verb, summary = "groups", "List the groups, with how many rules each has"
    example = "groups"


@dataclass(frozen=True)
class RulesGroup(Temporary, RulesCommand):
    needs = ("rule.update",)
    label = "Switch group"
    verb = "group"
    summary = "Switch a whole group on or off; `on group:NAME` does the same"
    example = "group off Experiments for 2h because checkout is slow"
    writes = True
    destroys = True
    switch: str = takes(Choice("on|off", "on or off", SWITCHED))
    group: str = takes(GROUP)


@dataclass(frozen=True)
class RulesDelete(Planned, RulesCommand):
    needs = ("rule.delete",)
    label = "Delete rule"
    verb, synonyms = "delete", ("remove", "rm", "del")
    summary = "Delete rules; asks before it does"
    example = "delete #1 because nobody uses it"
    writes = True
    destroys = True
    refs: tuple[str, ...] = takes(REFS)


@dataclass(frozen=True)
class RulesHistory(RulesCommand):
    needs = ("audit.read",)
    label = "Show history"
    verb, synonyms = "history", ("log",)
    summary = "Show who changed a rule, when and why"
    example = "history #1"
    ref: str = takes(ONE_RULE)
    page: int | None = takes(PAGE)


@dataclass(frozen=True)
class RulesExport(RulesFiltered, RulesCommand):
    label = "Export rules"
    verb = "export"
    summary = "Export rules as a file, to you or into the channel"
    example = "export type:redirect"
    here: bool = takes(Flag("here"), False)


@dataclass(frozen=True)
class RulesImport(RulesCommand):
    needs = ("rule.create", "rule.update")
    verb, summary = "import", "Import rules from a file (opens a form)"
    example = "import"
