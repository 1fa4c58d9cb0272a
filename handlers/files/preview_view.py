"""What an import would do before it does it: counts, and the first rows of each kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bot.changes.model.documents import canonical_form, fingerprint
from bot.changes.model.edits import Kind
from bot.changes.model.items import ImportRow, Item
from bot.rules.lint.findings import Finding
from bot.rules.model import RuleDraft
from handlers.blocks import messages
from handlers.blocks.messages import Block, and_more, code, esc, first_few, join_words, quote_plain
from handlers.grammar.command import slash
from handlers.grammar.time_fields import Expiry
from handlers.members.views import segments_line
from handlers.rules.pairs_view import first_pair_line

MAX_ROWS: Final = 8
"""Rows of one kind that are shown."""
MAX_TEXT: Final = 1_300
"""Characters of the rows of one kind, so that all kinds together fit into a message."""
MAX_SEGMENTS: Final = 5
"""Segments of one row that are named."""
MAX_IN_LOOP: Final = 6
"""Rows of a loop that are named."""
MAX_LOOPS: Final = 5


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What importing a file would do: its rows, and the items of the bulk change."""

    rows: Sequence[ImportRow]
    items: Sequence[Item]
    word: str
    """What the number of a row counts: lines or records."""
    site: str = ""
    expiry: Expiry | None = None
    """Until when all of it is to last, where the file says so."""
    warnings: Sequence[str] = ()
    """What it would take over, and the first loops that it would cause, in plain lines."""
    limits: Sequence[str] = ()
    """What was not looked at, in plain lines."""

    @property
    def is_empty(self) -> bool:
        return all(row.edit is None for row in self.rows)

    def fingerprint(self) -> str:
        """Return a short text that stands for what would be written, and over what."""
        edits = ((row.number, row.edit) for row in self.rows if row.edit is not None)
        written = [[at, edit.kind, canonical_form(edit.before), canonical_form(edit.after)] for at, edit in edits]
        return fingerprint(list(map(fingerprint, written)))[:16]


NEW: Final = (":sparkles:", "new")
ALTERED: Final = (":twisted_rightwards_arrows:", "with changed segments")
SKIPPED: Final = (":fast_forward:", "skipped")
REFUSED: Final = (":x:", "can’t be imported")
GROUPS: Final[Mapping[Kind, tuple[str, str]]] = {
    Kind.RULE_CREATE: NEW,
    Kind.MEMBER_ADD: NEW,
    Kind.MEMBER_GRANT: ALTERED,
    Kind.MEMBER_REVOKE: ALTERED,
    Kind.MEMBER_UPDATE: ALTERED,
    Kind.MEMBER_REMOVE: (":wastebasket:", "to remove"),
}


def plan_blocks(plan: ImportPlan, *, filename: str) -> list[Block]:
    """Return the preview of *plan*: the number of rows of each kind, then the first of each, then what to know of all."""
    record = "record" if plan.word == "record" else "row"
    count, site = messages.plural(len(plan.rows), record), f", for {esc(plan.site, 60)}" if plan.site else ""
    title = f":inbox_tray: *Preview: {count} in {code(filename, 80)}{site}*\nNothing has changed yet."
    by_group: dict[tuple[str, str], list[ImportRow]] = {}
    for row in plan.rows:
        by_group.setdefault(_group_of(row), []).append(row)
    there = sorted(by_group, key=[*dict.fromkeys(GROUPS.values()), SKIPPED, REFUSED].index)
    counts = [f"{mark} *{len(by_group[mark, name]):,}* {name}" for mark, name in there]
    if on := sum(_is_on(row) for row in plan.rows):
        counts.append(f"*{on:,}* of the new rules {'is' if on == 1 else 'are'} on, and match at once.")
    ends = [plan.expiry] if plan.expiry else []
    lists = [_list(f"{mark} *{name[:1].upper()}{name[1:]}*", by_group[mark, name], plan.word) for mark, name in there]
    return [
        messages.section(title),
        *(messages.section(f":warning: *{esc(line)}*") for line in plan.warnings),
        messages.section("\n".join(counts)),
        *lists,
        *_lost_groups_note(plan.rows),
        *(
            messages.section(f":hourglass: *All of it lasts {esc(end.as_typed, 60)}*, and is reverted then.")
            for end in ends
        ),
        *map(messages.context, plan.limits),
    ]


def _group_of(row: ImportRow) -> tuple[str, str]:
    return REFUSED if row.is_refused else SKIPPED if row.edit is None else GROUPS[row.edit.kind]


def _is_on(row: ImportRow) -> bool:
    return (
        row.edit is not None and row.edit.kind is Kind.RULE_CREATE and RuleDraft.model_validate(row.edit.after).active
    )


def _list(title: str, rows: Sequence[ImportRow], word: str) -> Block:
    """Return the first of *rows* below *title*, as many as there is room for."""
    text, shown = title, 0
    for row in rows[:MAX_ROWS]:
        line = f"{word} {row.number:,}  {_row_text(row)}".rstrip()
        if shown and len(text) + len(line) > MAX_TEXT:
            break
        text, shown = f"{text}\n{line}", shown + 1
    more = f"\n_and {len(rows) - shown:,} more_" if len(rows) > shown else ""
    return messages.section(text + more)


def _row_text(row: ImportRow) -> str:
    if row.edit is not None and row.edit.kind is Kind.RULE_CREATE:
        return f"*{esc(row.title, 50)}*   {first_pair_line(RuleDraft.model_validate(row.edit.after), 40)}"
    if row.edit is not None:
        return f"{code(row.title[:80])}   {_member_text(row)}"
    return f"{code(row.title[:80])}   {esc(row.why, 200)}" if row.title else esc(row.why, 200)


def _member_text(row: ImportRow) -> str:
    before, after = ((document or {}) for document in (row.edit and row.edit.before, row.edit and row.edit.after))
    had, has = before.get("allowedSegments") or (), after.get("allowedSegments") or ()
    if not before or not after:
        return f"{esc((before or after).get('name') or '', 40)}   {segments_line([*had, *has], MAX_SEGMENTS)}".strip()
    gains = [f":heavy_plus_sign: {segments_line([name])}" for name in has if name not in had]
    losses = [f":heavy_minus_sign: {segments_line([name])}" for name in had if name not in has]
    return "  ".join(first_few([*gains, *losses], MAX_SEGMENTS))


def _lost_groups_note(rows: Sequence[ImportRow]) -> list[Block]:
    """Return how many new rules come without their group, also of those that aren't listed; nothing where none does."""
    lost = [row.lost_group for row in rows if row.lost_group]
    groups = join_words([code(group, 40) for group in dict.fromkeys(lost)], most=4)
    set_later = f"Set one afterwards with `{slash('rules set')}`."
    without = f":warning: *{messages.plural(len(lost), 'new rule')} without a group.* Not found: {groups}. {set_later}"
    return [messages.section(without)] if lost else []


def loop_words(loop: Finding, numbers: Mapping[str, int], word: str) -> str:
    """Return which rows loop, also with rules that exist; *numbers*: the rows by the ids of the rules that they become."""
    ids = dict.fromkeys(place.rule.id for place in loop.places)
    rows = sorted(numbers[key] for key in ids if key in numbers)
    rules = [quote_plain(place.rule.title, 60) for place in loop.places if place.rule.id not in numbers]
    named = f"{word.capitalize()}{'s' * (len(rows) > 1)} {join_words([f'{row:,}' for row in rows], most=MAX_IN_LOOP)}"
    return f"{join_words([named, *dict.fromkeys(rules)], most=MAX_IN_LOOP)} {'loops' if len(ids) == 1 else 'loop'}."


def first_loops(loops: Sequence[str]) -> tuple[str, ...]:
    """Return the first of *loops*, and how many more there are."""
    return (*loops[:MAX_LOOPS], *([f"{more}."] if (more := and_more(len(loops) - MAX_LOOPS, "loop")) else []))
