"""All findings about all rules, or those that one change adds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.domain.group import Groups
from bot.domain.lint.alone import alone
from bot.domain.lint.findings import Finding, Key, key_of, ordered
from bot.domain.lint.following import World, in_force, starts, touches
from bot.domain.lint.together import Together, one_name, one_source
from bot.domain.rule import Rule

Step = tuple[Finding, ...]


def check(rules: Sequence[Rule], groups: Groups | None = None) -> tuple[Finding, ...]:
    """Everything that is wrong with *rules*, the worst first. Rules that are not in force are only judged alone."""
    return ordered(finding for step in checking(rules, groups) for finding in step)


def checking(rules: Sequence[Rule], groups: Groups | None = None, *, world: World | None = None) -> Iterator[Step]:
    """The same in steps of about a rule each, so that others get their turn in between; neither ordered nor once.

    *world*: where the rules in force were put together before; it knows afterwards whether all of them were tried.
    """
    world = world or World(rules, groups)
    yield ()
    together = Together(world)
    yield tuple(one_source(world.rules))
    yield tuple(one_name(rules))
    for rule in rules:
        yield (*alone(rule), *(together.of(rule) if in_force(rule, groups) else ()))


def introduced_by(
    rules: Sequence[Rule], before: Rule | None, after: Rule | None, groups: Groups | None = None
) -> tuple[Finding, ...]:
    """What a change of *before* to *after* would add to what is wrong; None: there is no such rule then."""
    return ordered(finding for step in introducing(rules, before, after, groups) for finding in step)


def introducing(
    rules: Sequence[Rule], before: Rule | None, after: Rule | None, groups: Groups | None = None
) -> Iterator[Step]:
    """The same in steps; the last one holds the findings."""
    if after is None:
        return
    others = [rule for rule in rules if rule.id not in {after.id, before.id if before is not None else after.id}]
    known: set[Key] = set()
    if before is not None:
        for step in _concerning(before, others, groups):
            known.update(key_of(finding) for finding in step)
            yield ()
    found: list[Finding] = []
    for step in _concerning(after, others, groups):
        found += [finding for finding in step if key_of(finding) not in known]
        yield ()
    yield tuple(found)


def _concerning(rule: Rule, others: Sequence[Rule], groups: Groups | None) -> Iterator[Step]:
    """The findings among *others* and *rule* that *rule* has a part in."""
    yield tuple(alone(rule))
    everyone = [*others, rule]
    yield _part_of(rule, one_name(everyone))
    if not in_force(rule, groups):
        return
    world = World(everyone, groups)
    yield ()
    together = Together(world)
    yield _part_of(rule, one_source(world.rules))
    yield _part_of(rule, together.of(rule))
    for other in world.rules:
        yield _part_of(rule, together.of(other)) if _leads_to(other, rule) else ()


def _leads_to(other: Rule, rule: Rule) -> bool:
    """Whether *rule* acts where *other* does, or where it leads."""
    return any(touches(rule, address) for pair in other.pairs or () for address in starts(pair))


def _part_of(rule: Rule, findings: Iterator[Finding]) -> Step:
    return tuple(finding for finding in findings if finding.concerns(rule.id))
