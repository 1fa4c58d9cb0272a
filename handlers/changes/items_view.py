"""The items of a bulk change: a line for each, how far it is, and the table of results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.changes.model import DONE, OPEN, Change, Kind, Outcome, Part, Tally
from bot.members.csv import result_table
from bot.rules.model import RuleDraft
from bot.rules.url import authority
from bot.text.emails import all_masked, masked
from handlers.blocks import messages
from handlers.blocks.messages import Block, code, esc
from handlers.changes.diff import differences, render
from handlers.changes.full_view import says
from handlers.changes.sentences import (
    words,
)
from handlers.members.views import segments_line
from handlers.rules.pairs_view import effect_line, source_line

NAME: Final = 70

MAX_URL: Final = 100

MAX_FIELDS: Final = 2

MAX_HOSTS: Final = 4

OUTCOMES: Final[Mapping[Outcome, tuple[str, str]]] = {
    Outcome.APPLIED: (":white_check_mark:", "done"),
    Outcome.UNDONE: (":leftwards_arrow_with_hook:", "taken back"),
    Outcome.FAILED: (":x:", "failed"),
    Outcome.STALE: (":arrows_counterclockwise:", "changed meanwhile, left alone"),
    Outcome.BUSY: (":lock:", "held by another change, left alone"),
    Outcome.UNKNOWN: (":grey_question:", "not known yet"),
    Outcome.UNSETTLED: (":grey_question:", "not known, look yourself"),
    Outcome.STOPPED: (":octagonal_sign:", "not begun"),
    Outcome.APPLYING: (":hourglass_flowing_sand:", "under way"),
    Outcome.WAITING: (":small_blue_diamond:", "to do"),
    Outcome.SKIPPED: (":heavy_minus_sign:", "left out"),
}

VERBS: Final[Mapping[Kind, str]] = {
    Kind.RULE_CREATE: "create",
    Kind.RULE_UPDATE: "change",
    Kind.RULE_DELETE: "delete",
    Kind.MEMBER_ADD: "add",
    Kind.MEMBER_UPDATE: "change",
    Kind.MEMBER_GRANT: "give access",
    Kind.MEMBER_REVOKE: "take access",
    Kind.MEMBER_REMOVE: "remove",
}


def line_of(part: Part) -> str:
    mark, name = OUTCOMES[part.outcome]
    what = part_name(part)
    if part.outcome is Outcome.WAITING:
        return f"{mark} {what}   {_what(part)}"
    if part.outcome is Outcome.SKIPPED:
        return f"{mark} {what}   {words(part.why, 160) or name}"
    why = f": {words(part.why, 120)}" if part.why else ""
    return f"{mark} {what}   {_what(part) if part.outcome is Outcome.APPLIED else name}{why}"


def part_name(part: Part) -> str:
    """What a part is about, as a channel may see it."""
    site = f" at {esc(part.target.site, 40)}" if part.target.site else ""
    if part.target.service == "members":
        who = code(masked(part.target.key)) if part.target.key else esc(part.source or "a member", 40)
        return f"{who}{site}"
    key = f" {code(part.target.key, 100)}" if part.target.key and part.name != part.target.key else ""
    return f"*{esc(part.name or 'a rule', NAME)}*{key}"


def _what(part: Part) -> str:
    """What is done to it, in one line; a ``…`` stands for what has no room there."""
    if part.kind is None:
        return ""
    if part.target.service == "members":
        return _what_of_member(part, VERBS[part.kind])
    if part.kind.destroys or part.kind.creates:
        return _whole_rule(part, VERBS[part.kind])
    at = f"   at {hosts}" if (hosts := _hosts(part.before)) else ""
    return f"{_differing(part)}{at}"


def _what_of_member(part: Part, verb: str) -> str:
    document = part.before if part.kind is Kind.MEMBER_REMOVE else part.after
    if part.kind in {Kind.MEMBER_REMOVE, Kind.MEMBER_ADD} and document is not None:
        segments = [all_masked(str(one)) for one in document.get("allowedSegments") or ()]
        return f"{verb}   segments {segments_line(segments)}"
    return _differing(part)


def _differing(part: Part) -> str:
    lines = differences(part.before, part.after) if part.before and part.after else []
    if not lines:
        return VERBS[part.kind] if part.kind is not None else ""
    if len(lines) == 1 and lines[0].field == "status":
        return "switch on" if lines[0].after == "Active" else "switch off"
    shown = all_masked if part.target.service == "members" else str
    left = len(lines) - MAX_FIELDS
    more = f"   …and {messages.plural(left, 'more field')}" if left > 0 else ""
    return render(lines[:MAX_FIELDS], shown=shown).replace("\n", "   ") + more


def _whole_rule(part: Part, verb: str) -> str:
    """A rule that comes or goes: its first pair, and a mark where there is more to it."""
    document = part.before if part.before is not None else part.after
    rule = RuleDraft.model_validate(document or {})
    pairs = rule.pairs or ()
    first = (
        f"   {source_line(rule.rule_type, pairs[0], MAX_URL)} {effect_line(rule.rule_type, pairs[0], MAX_URL)}"
        if pairs
        else ""
    )
    more = f"   …and {messages.plural(len(pairs) - 1, 'more pair')}" if len(pairs) > 1 else ""
    kind = f" {esc(rule.status or '', 40)} {esc(rule.rule_type or '', 40)}" if verb == "create" else ""
    line = f"{verb}{kind}{first}{more}"
    told = more or verb != "create" or says(f"{part_name(part)} {line}", None, part.after)
    return line if told else f"{line}   …"


def _hosts(document: Mapping[str, Any] | None) -> str:
    """The hosts that the URLs of a rule's pairs have, as code."""
    found = tuple(dict.fromkeys(_hosts_of(RuleDraft.model_validate(document or {}))))
    more = f" and {len(found) - MAX_HOSTS} more hosts" if len(found) > MAX_HOSTS else ""
    return ", ".join(code(host) for host in found[:MAX_HOSTS]) + more


def _hosts_of(rule: RuleDraft) -> Iterator[str]:
    for pair in rule.pairs or ():
        for text in (pair.source.value if pair.source else None, pair.destination):
            if text and (place := authority(text)) is not None:
                yield place.host


SHOWN: Final = 12
"""Parts that a card has a line for."""

BAR: Final = 20


@dataclass(frozen=True, slots=True)
class Progress:
    """What a card shows of the parts: how many are where, and the first of those that matter now."""

    tally: Tally
    first: Sequence[Part]


def progress_text(tally: Tally) -> str:
    """How far it is: a bar, and the numbers in words."""
    ended = tally.meant - tally.left
    filled = BAR * ended // tally.meant if tally.meant else BAR
    bar = "█" * filled + "░" * (BAR - filled)
    counts = "   ".join(
        f"{mark} {tally[outcome]:,} {name}"
        for outcome, (mark, name) in OUTCOMES.items()
        if tally[outcome] and outcome not in OPEN
    )
    return f"{bar}  {ended:,} of {tally.meant:,}\n{counts}".strip()


def table(whole: Change, parts: Sequence[Part]) -> bytes:
    """The rows as they came, each with its outcome; one that was done together with another has that one's."""
    by_number = {part.number: part for part in parts}
    rows = [(part.cells, *_outcome(part, by_number)) for part in parts]
    return result_table(whole.columns, rows, whole.separator)


def _outcome(part: Part, by_number: Mapping[int, Part]) -> tuple[str, str]:
    done_with = by_number.get(part.follows, part) if part.follows else part
    if done_with is not part:
        return OUTCOMES[done_with.outcome][1], part.why
    return OUTCOMES[part.outcome][1], part.why


def file_name(whole: Change) -> str:
    return f"gatehouse-{whole.target.service}-result-{whole.id[:8]}.csv"


def comment(whole: Change, parts: Sequence[Part]) -> str:
    """What goes with the file, mrkdwn."""
    meant = sum(part.kind is not None for part in parts)
    done = sum(part.outcome in DONE for part in parts)
    left_out = sum(part.outcome is Outcome.SKIPPED and not part.follows for part in parts)
    others = f" {left_out:,} more were left out; the file says why." if left_out else ""
    return f"*{esc(whole.title, 150)}*: {done:,} of {meant:,} done.{others} Change {code(whole.id[:8])}"


def lines(progress: Progress) -> list[Block]:
    """A line for each item that has room, and how many more there are."""
    shown = [line_of(part).strip() for part in progress.first[:SHOWN]]
    total = sum(progress.tally.counts.values())
    if total > len(shown):
        shown.append(f"…and {total - len(shown):,} more.")
    return [messages.section(text) for text in messages.packed(shown)]
