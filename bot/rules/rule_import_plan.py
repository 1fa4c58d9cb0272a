"""Plan the import of a file of rules: compare each record with the existing rules, and turn choices into changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from bot.changes.model.documents import Document, canonical_form, fingerprint
from bot.changes.model.edits import Edit, Kind, Target
from bot.rules.edit import Problem, new_problems, problems
from bot.rules.files import FIRST_TYPES, fit_draft, with_pairs
from bot.rules.model import ACTIVE, INACTIVE, Groups, Rule, RuleDraft
from bot.rules.redirect_table import RedirectRecords, RedirectRow

CORE: Final = ("name", "ruleType", "pairs")
"""The fields by which a rule is recognised in another service, whatever else that service adds or drops."""

TEXTS: Final = ("name", "description", "status", "groupId")


@dataclass(frozen=True, slots=True)
class Entry:
    """The plan for one record. *number*: its number in the file, from 1."""

    number: int

    @property
    def basis(self) -> tuple[Any, ...]:
        """Return what may be written and what it would replace, to detect changes since; empty where nothing can be done."""
        return ()


@dataclass(frozen=True, slots=True)
class New(Entry):
    """A rule that the service does not have."""

    draft: RuleDraft
    namesake: str | None = None
    """The id of an existing rule with this name and type."""
    ungrouped: str | None = None
    """The group in the file that the service does not have: the rule is created without a group."""

    @property
    def basis(self) -> tuple[Any, ...]:
        return self.draft.body(), self.namesake


@dataclass(frozen=True, slots=True)
class Same(Entry):
    """A rule that the service has with the same content."""

    live: Rule


@dataclass(frozen=True, slots=True)
class Differs(Entry):
    """A rule that the service has with other content. *draft* is the rule in the file."""

    live: Rule
    draft: RuleDraft
    ungrouped: str | None = None

    @property
    def basis(self) -> tuple[Any, ...]:
        return self.live.id, canonical_form(self.live.document()), self.draft.body()

    def merged_body(self) -> Document:
        """Return the existing rule's body with all fields of the file. Fields that the file leaves out keep their values."""
        return self.live.body() | self.draft.body()


@dataclass(frozen=True, slots=True)
class InvalidRecord(Entry):
    """A record that cannot be imported. *reason*: the rest of a sentence, or the problems that a form would refuse, too."""

    title: str
    reason: str | tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Skipped(Entry):
    """A record that is not a rule: a group, or an object of another product."""

    title: str
    is_group: bool


@dataclass(frozen=True, slots=True)
class Twice(Entry):
    """A rule that the file has already, in record *first*; *alike*: whether with the same content."""

    title: str
    first: int
    alike: bool


def plan_entries(records: Sequence[Any], live: Iterable[Rule], groups: Groups | None = None) -> Iterator[Entry]:
    """Yield one entry for each of *records*, in order. *groups*: those of the service; None where they aren't known."""
    planner = _Planner(records, tuple(live), groups)
    for number, record in enumerate(records, 1):
        yield planner.entry(number, record)


def plan_redirects(rows: Sequence[RedirectRow], live: Iterable[Rule], groups: Groups | None) -> Iterator[Entry]:
    """Yield one entry for each row of a table of redirects, numbered by its line; new rules are on."""
    known = tuple(live)
    records = RedirectRecords(rows, _exact_sources(known), groups)
    planner = _Planner([{"name": records.title(row)} for row in rows], known, groups)
    for row in rows:
        if wrong := records.problem(row):
            yield InvalidRecord(row.line, records.title(row), wrong)
            continue
        entry = planner.entry(row.line, records.record(row))
        if isinstance(entry, New):
            taken = records.source_taken(row)
            on = replace(entry, draft=entry.draft.with_fields(status=ACTIVE))
            entry = InvalidRecord(row.line, entry.draft.title, taken) if taken else on
        yield entry


def _exact_sources(rules: Iterable[Rule]) -> Iterator[tuple[str, str]]:
    """Yield each URL that a rule redirects or blocks by an exact match, and the name of the rule."""
    for rule in rules:
        for pair in (rule.pairs or ()) if rule.rule_type in FIRST_TYPES else ():
            if pair.source and pair.source.operator == "Equals" and pair.source.key == "Url":
                yield pair.source.value or "", rule.title


class _Planner:
    """Plans the records of one file in order, and remembers them to find duplicates."""

    def __init__(self, records: Sequence[Any], live: Sequence[Rule], groups: Groups | None) -> None:
        self._by_id = {rule.id: rule for rule in live}
        self._groups = None if groups is None else {*groups.names, *(rule.group_id for rule in live), "", None}
        self._ids: dict[str, tuple[int, str]] = {}
        self._contents: dict[str, tuple[int, str | None]] = {}
        named = {record.get("name") for record in records if _has_name(record)}
        alike = [rule for rule in live if rule.name in named]
        self._namesakes = {(rule.name, rule.rule_type): rule.id for rule in alike}
        claimed = {_id(record) for record in records}
        self._lookalikes = _Lookalikes(rule for rule in alike if rule.id not in claimed)

    def entry(self, number: int, record: Any) -> Entry:
        if isinstance(record, dict) and (kind := record.get("objectType") or "rule") != "rule":
            return Skipped(number, _title(record), is_group=kind == "group")
        record = _without_null_texts(with_pairs(record) if isinstance(record, dict) else record)
        draft = fit_draft(record)
        if not isinstance(draft, RuleDraft):
            return InvalidRecord(number, _title(record), draft)
        said = canonical_form(record) or {}
        key, content = _id(record), fingerprint(said)
        return self._find_duplicate(number, draft, key, content) or self._judge(number, draft, key, said)

    def _find_duplicate(self, number: int, draft: RuleDraft, key: str | None, content: str) -> Twice | None:
        """Return the entry of a record that repeats an earlier one: by its id, or by its content where one of them has no id."""
        if key is not None:
            first, said = self._ids.setdefault(key, (number, content))
            if first != number:
                return Twice(number, draft.title, first, alike=said == content)
        first, other = self._contents.setdefault(content, (number, key))
        if first != number and (key is None or other is None):
            return Twice(number, draft.title, first, alike=True)
        return None

    def _judge(self, number: int, draft: RuleDraft, key: str | None, said: Document) -> Entry:
        live = self._by_id.get(key or "") or self._lookalikes.take(said)
        lost = draft.group_id if self._groups is not None and draft.group_id not in self._groups else None
        if lost is not None:
            kept = {"groupId": (live.group_id if live else None) or ""}
            draft, said = draft.with_fields(**kept), said | kept
        return (
            self._existing_entry(Differs(number, live, draft, lost), said)
            if live
            else self._new_entry(number, draft, lost)
        )

    def _new_entry(self, number: int, draft: RuleDraft, lost: str | None) -> Entry:
        if wrong := problems(draft):
            return InvalidRecord(number, draft.title, tuple(wrong))
        return New(number, draft, self._namesakes.get((draft.name, draft.rule_type)), lost)

    @staticmethod
    def _existing_entry(found: Differs, said: Document) -> Entry:
        draft, live = found.draft, found.live
        if draft.rule_type not in {None, live.rule_type}:
            reason = f"the rule with this id is a {live.rule_type or ''}, and its type can’t change"
            return InvalidRecord(found.number, draft.title, reason)
        now = canonical_form(live.document()) or {}
        if now | said == now:
            return Same(found.number, live)
        if wrong := new_problems(live, RuleDraft.model_validate(found.merged_body())):
            return InvalidRecord(found.number, draft.title, tuple(wrong))
        return found


class _Lookalikes:
    """Existing rules by their CORE fields, for records whose id the service does not have. Each is matched once."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._by_core: dict[str, list[Rule]] = {}
        for rule in rules:
            self._by_core.setdefault(_core(canonical_form(rule.document()) or {}), []).append(rule)

    def take(self, content: Document) -> Rule | None:
        """Remove and return the next rule with the name, type and pairs of *content*; None where none is left."""
        alike = self._by_core.get(_core(content)) if self._by_core else None
        return alike.pop(0) if alike else None


def _core(content: Document) -> str:
    return fingerprint([content.get(name) for name in CORE])


def _without_null_texts(record: Any) -> Any:
    """Return *record* without texts that are null: they mean nothing, and services refuse null for a text."""
    if not isinstance(record, dict) or all(record.get(name, "") is not None for name in TEXTS):
        return record
    return {name: value for name, value in record.items() if value is not None or name not in TEXTS}


def _has_name(record: Any) -> bool:
    return isinstance(record, dict) and isinstance(record.get("name"), str)


def _id(record: Any) -> str | None:
    key = record.get("id") if isinstance(record, dict) else None
    return key if isinstance(key, str) and key else None


def _title(record: Any) -> str:
    name = record.get("name") if isinstance(record, dict) else None
    return name.strip() if isinstance(name, str) and name.strip() else "(no name)"


class OnNew(StrEnum):
    CREATE = "create"
    SKIP = "skip"


class OnDiffers(StrEnum):
    OVERWRITE = "overwrite"
    COPY = "copy"
    SKIP = "skip"


class Arrival(StrEnum):
    """Which status imported rules get."""

    INACTIVE = "inactive"
    """Created rules are Inactive; overwritten rules keep their status."""
    AS_IN_FILE = "file"


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices for an import; rules that are the same are never written. The defaults overwrite nothing."""

    new: OnNew = OnNew.CREATE
    differs: OnDiffers = OnDiffers.SKIP
    arrival: Arrival = Arrival.INACTIVE


def edit_of(entry: Entry, choices: Choices) -> Edit | None:
    """Return the edit for *entry*; None where there is nothing to do, such as an overwrite that would change nothing."""
    match entry:
        case New(draft=draft) if choices.new is OnNew.CREATE:
            return _creation(_creation_body(draft, choices.arrival))
        case Differs(live=live, draft=draft) if choices.differs is OnDiffers.COPY:
            name = f"{draft.title} (copy)" if draft.title == live.title else draft.title
            return _creation(_creation_body(draft, choices.arrival) | {"name": name})
        case Differs() if choices.differs is OnDiffers.OVERWRITE:
            return _overwrite(entry, choices.arrival)
        case _:
            return None


def _creation(after: Document) -> Edit:
    return Edit(kind=Kind.RULE_CREATE, target=Target(service="rules"), before=None, after=after)


def _creation_body(draft: RuleDraft, arrival: Arrival) -> Document:
    """Return the body of a new rule: without ids of pairs, which the service assigns, and always with a status."""
    status = draft.status if arrival is Arrival.AS_IN_FILE else None
    return draft.content() | {"description": draft.description or "", "status": status or INACTIVE}


def _overwrite(entry: Differs, arrival: Arrival) -> Edit | None:
    before, after = entry.live.document(), entry.merged_body()
    if arrival is Arrival.INACTIVE:
        after["status"] = entry.live.status or INACTIVE
    if canonical_form(after) == canonical_form(entry.live.body()):
        return None
    target = Target(service="rules", key=entry.live.id)
    return Edit(kind=Kind.RULE_UPDATE, target=target, before=before, after=after)
