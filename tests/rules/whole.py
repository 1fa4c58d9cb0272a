"""What the product works out in steps, so that nobody waits for it, in one go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from bot.changes.model.items import ImportRow
from bot.rules import rule_import_plan
from bot.rules.lint.findings import Finding
from bot.rules.lint.rule_set import check_all, check_change
from bot.rules.matching import judge_all
from bot.rules.model import Groups, Rule
from bot.rules.outcomes import Explained
from bot.rules.url import Url


def explain(rules: Iterable[Rule], url: Url, groups: Groups | None = None) -> Explained:
    return Explained.of(url, list(judge_all(rules, url, groups)))


def check(rules: Sequence[Rule], groups: Groups | None = None) -> tuple[Finding, ...]:
    return check_all(rules, groups).findings


def introduced_by(
    rules: Sequence[Rule], before: Rule | None, after: Rule | None, groups: Groups | None = None
) -> tuple[Finding, ...]:
    return check_change(rules, before, after, groups).findings


def plan_rules(records: Sequence[Any], live: Iterable[Rule], groups: Groups | None = None) -> list[ImportRow]:
    return list(rule_import_plan.plan_rules(records, live, groups, str))
