"""What would happen if a file of rules were imported: each record judged against the rules that the service has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias

from bot.domain.checks import Problem, introduced, problems
from bot.domain.essence import essence, fingerprint
from bot.domain.group import Groups
from bot.domain.intended import Document
from bot.domain.rule import Rule, RuleDraft
from bot.domain.rule_file import RuleFile
from bot.domain.rule_record import Unfit, fit_draft, with_pairs

CORE: Final = ("name", "ruleType", "pairs")
"""What two services keep alike of one rule, whatever else each of them adds or drops."""

TEXTS: Final = ("name", "description", "status", "groupId")


@dataclass(frozen=True, slots=True)
class OtherType:
    """The rule with this id is of another type, and a type never changes."""

    live: str


@dataclass(frozen=True, slots=True)
class Flawed:
    """What a form would refuse too."""

    problems: tuple[Problem, ...]


Reason: TypeAlias = Unfit | OtherType | Flawed


class NoRule(StrEnum):
    """Why a record is passed over without being wrong."""

    GROUP = "group"
    UNKNOWN_OBJECT = "unknown object"


@dataclass(frozen=True, slots=True)
class New:
    """A rule that the service does not have. *number* counts the records of the file from 1, here and below."""

    number: int
    draft: RuleDraft
    namesake: str | None = None
    """The id of a live rule with this name and type."""
    ungrouped: str | None = None
    """The group that the file names and the service does not have: the rule comes without it."""


@dataclass(frozen=True, slots=True)
class Same:
    """A rule that the service has just so."""

    number: int
    live: Rule


@dataclass(frozen=True, slots=True)
class Differs:
    """A rule that the service has otherwise. *draft* is what the file says."""

    number: int
    live: Rule
    draft: RuleDraft
    ungrouped: str | None = None

    def merged(self) -> Document:
        """The live rule with all that the file says. What the file does not mention stays: a field left out is
        no field that somebody wanted gone.
        """
        return self.live.body() | self.draft.body()


@dataclass(frozen=True, slots=True)
class Invalid:
    """A record that cannot be imported."""

    number: int
    title: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that is no rule: a group, or an object of another product."""

    number: int
    title: str
    why: NoRule


@dataclass(frozen=True, slots=True)
class Twice:
    """A rule that stands in the file before, at *first*; *alike*: with the same content."""

    number: int
    title: str
    first: int
    alike: bool


Entry: TypeAlias = New | Same | Differs | Invalid | Skipped | Twice


@dataclass(frozen=True, slots=True)
class RulePlan:
    """One entry for each record of the file, in its order."""

    entries: tuple[Entry, ...]

    def counts(self) -> Counter[type[Entry]]:
        return Counter(type(entry) for entry in self.entries)


def plan_rules(file: RuleFile, live: Iterable[Rule], groups: Groups | None = None) -> RulePlan:
    """The plan for *file*. *groups*: those of the service; None where it does not tell."""
    return RulePlan(tuple(planned(file, live, groups)))


def planned(file: RuleFile, live: Iterable[Rule], groups: Groups | None = None) -> Iterator[Entry]:
    """The same, entry by entry, for whoever must not stop for long."""
    planner = _Planner(file, tuple(live), groups)
    for number, record in enumerate(file.records, 1):
        yield planner.entry(number, record)


class _Planner:
    """Judges the records of one file in order, and remembers those that came before."""

    def __init__(self, file: RuleFile, live: Sequence[Rule], groups: Groups | None) -> None:
        self._by_id = {rule.id: rule for rule in live}
        self._groups = None if groups is None else {*groups.names, *(rule.group_id for rule in live), "", None}
        self._ids: dict[str, tuple[int, str]] = {}
        self._contents: dict[str, tuple[int, str | None]] = {}
        named = {record.get("name") for record in file.records if _named(record)}
        alike = [rule for rule in live if rule.name in named]
        self._namesakes = {(rule.name, rule.rule_type): rule.id for rule in alike}
        claimed = {_id(record) for record in file.records}
        self._twins = _Twins(rule for rule in alike if rule.id not in claimed)

    def entry(self, number: int, record: Any) -> Entry:
        if isinstance(record, dict) and (kind := record.get("objectType") or "rule") != "rule":
            return Skipped(number, _title(record), NoRule.GROUP if kind == "group" else NoRule.UNKNOWN_OBJECT)
        record = _told(with_pairs(record) if isinstance(record, dict) else record)
        draft = fit_draft(record)
        if not isinstance(draft, RuleDraft):
            return Invalid(number, _title(record), draft)
        said = essence(record) or {}
        key, content = _id(record), fingerprint(said)
        return self._twice(number, draft, key, content) or self._judged(number, draft, key, said)

    def _twice(self, number: int, draft: RuleDraft, key: str | None, content: str) -> Twice | None:
        """Two records with one id are one rule. Two with one content are, unless each has an id of its own."""
        if key is not None:
            first, said = self._ids.setdefault(key, (number, content))
            if first != number:
                return Twice(number, draft.title, first, alike=said == content)
        first, other = self._contents.setdefault(content, (number, key))
        if first != number and (key is None or other is None):
            return Twice(number, draft.title, first, alike=True)
        return None

    def _judged(self, number: int, draft: RuleDraft, key: str | None, said: Document) -> Entry:
        live = self._by_id.get(key or "") or self._twins.take(said)
        lost = draft.group_id if self._groups is not None and draft.group_id not in self._groups else None
        if lost is not None:
            kept = {"groupId": (live.group_id if live else None) or ""}
            draft, said = draft.changed(**kept), said | kept
        return self._known(Differs(number, live, draft, lost), said) if live else self._new(number, draft, lost)

    def _new(self, number: int, draft: RuleDraft, lost: str | None) -> Entry:
        if wrong := problems(draft):
            return Invalid(number, draft.title, Flawed(tuple(wrong)))
        return New(number, draft, self._namesakes.get((draft.name, draft.rule_type)), lost)

    @staticmethod
    def _known(found: Differs, said: Document) -> Entry:
        draft, live = found.draft, found.live
        if draft.rule_type not in {None, live.rule_type}:
            return Invalid(found.number, draft.title, OtherType(live.rule_type or ""))
        now = essence(live.document()) or {}
        if now | said == now:
            return Same(found.number, live)
        if wrong := introduced(live, RuleDraft.model_validate(found.merged())):
            return Invalid(found.number, draft.title, Flawed(tuple(wrong)))
        return found


class _Twins:
    """Live rules by what they are, for records whose id the service does not know. Each is taken once."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._by_core: dict[str, dict[str, list[Rule]]] = {}
        for rule in rules:
            content = essence(rule.document()) or {}
            self._by_core.setdefault(_core(content), {}).setdefault(fingerprint(content), []).append(rule)

    def take(self, content: Document) -> Rule | None:
        """A rule with the name, type and pairs of *content*, rather one that is just so."""
        if not (self._by_core and (alike := self._by_core.get(_core(content)))):
            return None
        exact = fingerprint(content)
        chosen = exact if exact in alike else next(iter(alike))
        rule = alike[chosen].pop()
        if not alike[chosen]:
            del alike[chosen]
        return rule


def _core(content: Document) -> str:
    return fingerprint([content.get(name) for name in CORE])


def _told(record: Any) -> Any:
    """*record* without the texts that are null: they say nothing, and services take no null for a text."""
    if not isinstance(record, dict) or all(record.get(name, "") is not None for name in TEXTS):
        return record
    return {name: value for name, value in record.items() if value is not None or name not in TEXTS}


def _named(record: Any) -> bool:
    return isinstance(record, dict) and isinstance(record.get("name"), str)


def _id(record: Any) -> str | None:
    key = record.get("id") if isinstance(record, dict) else None
    return key if isinstance(key, str) and key else None


def _title(record: Any) -> str:
    name = record.get("name") if isinstance(record, dict) else None
    return name.strip() if isinstance(name, str) and name.strip() else "(no name)"
