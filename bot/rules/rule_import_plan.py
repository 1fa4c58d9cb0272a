"""Plan the import of a file of rules: what isn't here yet is created, and nothing that is here is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from bot.changes.model.documents import canonical_form, fingerprint
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.items import ImportRow
from bot.rules.edit import Problem, problems
from bot.rules.files import fit_draft
from bot.rules.model import INACTIVE, Groups, Rule, RuleDraft

CORE: Final = ("name", "ruleType", "pairs")
"""The fields by which a rule is recognised in another service, whatever else that service adds or drops."""
TEXTS: Final = ("name", "description", "status", "groupId")
Explain = Callable[[Sequence[Problem]], str]
"""Words for what is wrong with a rule, as the rest of a sentence."""


def plan_rules(
    records: Sequence[Any], live: Iterable[Rule], groups: Groups | None, explain: Explain
) -> Iterator[ImportRow]:
    """Yield what importing each of *records* would do. *groups*: those of the service; None where they aren't known."""
    planner = _Planner(records, tuple(live), groups, explain)
    for number, record in enumerate(records, 1):
        yield planner.plan(number, record)


def creation(draft: RuleDraft) -> Edit:
    """Return the edit that creates *draft*: without ids of pairs, which the service assigns, and always with a status."""
    after = draft.content() | {"description": draft.description or "", "status": draft.status or INACTIVE}
    return Edit(kind=Kind.RULE_CREATE, target=Target(service="rules"), before=None, after=after)


class _Planner:
    """Plans the records of one file in order, and remembers them to find duplicates."""

    def __init__(self, records: Sequence[Any], live: Sequence[Rule], groups: Groups | None, explain: Explain) -> None:
        self._explain = explain
        self._groups = None if groups is None else {*groups.names, *(rule.group_id for rule in live), "", None}
        self._ids = {rule.id for rule in live}
        self._seen: dict[str, tuple[int, str]] = {}
        names = {_title(record) for record in records}
        self._cores = {_core(rule.document()) for rule in live if rule.title in names}

    def plan(self, number: int, record: Any) -> ImportRow:
        title = _title(record)

        def skip(why: str, *, is_refused: bool = False) -> ImportRow:
            return ImportRow(number, title, why=why, is_refused=is_refused)

        if isinstance(record, dict) and (kind := record.get("objectType") or "rule") != "rule":
            return skip("a group; groups are not imported" if kind == "group" else "not a rule")
        draft = fit_draft(_normalize(record))
        if not isinstance(draft, RuleDraft):
            return skip(draft, is_refused=True)
        content = fingerprint(canonical_form(record))
        key = _id(record)
        first, other = self._seen.setdefault(key or content, (number, content))
        if first != number and content != other:
            return skip(f"contradicts record {first:,}, which has the same id", is_refused=True)
        if first != number:
            return skip(f"the same as record {first:,}")
        if key in self._ids:
            return skip("already there, with this id")
        if self._cores and _core(_normalize(record)) in self._cores:
            return skip("already there, with the same name and pairs")
        if wrong := problems(draft):
            return skip(self._explain(wrong), is_refused=True)
        is_lost = self._groups is not None and draft.group_id not in self._groups
        lost = draft.group_id or "" if is_lost else ""
        return ImportRow(
            number, title, edit=creation(draft.with_fields(groupId="") if lost else draft), lost_group=lost
        )


def _core(document: dict[str, Any]) -> str:
    content = canonical_form(document) or {}
    return fingerprint([content.get(name) for name in CORE])


def _normalize(record: Any) -> Any:
    """Return *record* without texts that are null: they mean nothing, and services refuse null for a text."""
    if not isinstance(record, dict):
        return record
    return {name: value for name, value in record.items() if value is not None or name not in TEXTS}


def _id(record: Any) -> str | None:
    key = record.get("id") if isinstance(record, dict) else None
    return key if isinstance(key, str) and key else None


def _title(record: Any) -> str:
    name = record.get("name") if isinstance(record, dict) else None
    return name.strip() if isinstance(name, str) and name.strip() else "(no name)"
