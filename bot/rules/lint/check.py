"""Find what is wrong with all rules, or what one change would add, as findings with the facts that words are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bot.rules.lint.cross_rule import CrossRuleCheck, Step, one_name, one_source
from bot.rules.lint.findings import Finding, key_of, ordered
from bot.rules.lint.redirects import Effort, Pairs, World, is_effective, starts, touches
from bot.rules.lint.single_rule import alone
from bot.rules.model import Groups, Rule
from bot.rules.url import Address


def check(rules: Sequence[Rule], groups: Groups | None = None) -> tuple[Finding, ...]:
    """Everything that is wrong with *rules*, the worst first. Rules that are not in force are only judged alone."""
    return ordered(finding for step in checking(rules, groups) for finding in step)


def checking(rules: Sequence[Rule], groups: Groups | None = None, *, effort: Effort | None = None) -> Iterator[Step]:
    """The same in steps of about a rule each, so that others get their turn in between; neither ordered nor once.

    *effort* bounds what is tried; without one it is the usual one.
    """
    together = CrossRuleCheck(World(groups, effort))
    yield from _nothing(together.world.taking_in(rules))
    yield from _nothing(together.taking_in())
    yield from one_source(together.world.rules)
    yield from one_name(rules)
    for rule in rules:
        yield (*alone(rule), *(together.of(rule) if is_effective(rule, groups) else ()))


def introduced_by(
    rules: Sequence[Rule], before: Rule | None, after: Rule | None, groups: Groups | None = None
) -> tuple[Finding, ...]:
    """What a change of *before* to *after* would add to what is wrong; None: there is no such rule then."""
    return ordered(finding for step in introducing(rules, before, after, groups) for finding in step)


def introducing(
    rules: Sequence[Rule],
    before: Rule | None,
    after: Rule | None,
    groups: Groups | None = None,
    *,
    effort: Effort | None = None,
) -> Iterator[Step]:
    """The same in steps; the last one holds the findings."""
    if after is None:
        return
    others = [rule for rule in rules if rule.id not in {after.id, before.id if before is not None else after.id}]
    parts = [_Part(rule) for rule in (before, after) if rule is not None]
    for part in parts:
        yield from part.alone(others)
    acting = [part for part in parts if is_effective(part.rule, groups)]
    if acting:
        yield from _together(acting, others, groups, effort)
    known = {key_of(finding) for finding in parts[0].findings} if before is not None else set()
    yield tuple(finding for finding in parts[-1].findings if key_of(finding) not in known)


def _together(
    parts: Sequence[_Part], others: Sequence[Rule], groups: Groups | None, effort: Effort | None
) -> Iterator[Step]:
    """What each of *parts* does with the *others*, who are put in order once for both."""
    base = CrossRuleCheck(World(groups, effort))
    yield from _nothing(base.world.taking_in(others))
    yield from _nothing(base.taking_in())
    for part in parts:
        yield from part.join(base)
    for other in base.world.rules:
        heads = [address for pair in other.pairs or () for address in starts(pair)]
        for part in parts:
            part.meet(other, heads)
        yield ()


class _Part:
    """The findings that one rule has a part in."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self._pairs = Pairs(rule)
        self.findings: list[Finding] = []
        self._together: CrossRuleCheck | None = None

    def alone(self, others: Sequence[Rule]) -> Iterator[Step]:
        self._add(alone(self.rule))
        for step in one_name([*others, self.rule]):
            yield self._add(step)

    def join(self, base: CrossRuleCheck) -> Iterator[Step]:
        """What the rule does to the others, and which of them decide about the same."""
        self._together = base.joined_by(self.rule)
        for step in one_source(self._together.world.rules):
            yield self._add(step)
        yield self._add(self._together.of(self.rule))

    def meet(self, other: Rule, heads: Iterable[Address]) -> None:
        """What *other*, which begins at or leads to *heads*, does to the rule."""
        if self._together is not None and any(touches(self.rule, self._pairs, address) for address in heads):
            self._add(self._together.of(other))

    def _add(self, findings: Iterable[Finding]) -> Step:
        self.findings += [finding for finding in findings if finding.concerns(self.rule.id)]
        return ()


def _nothing(steps: Iterator[None]) -> Iterator[Step]:
    """Steps of preparing, which find nothing yet."""
    for _ in steps:
        yield ()
