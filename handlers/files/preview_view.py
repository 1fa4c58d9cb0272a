"""What an import would do before it does it: counts, the first rows of each kind, and how a table was read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from bot.members import import_entries
from bot.members.csv import MemberFile, Row
from bot.members.import_entries import MemberPlan
from bot.rules import rule_import_plan
from bot.rules.lint.findings import Finding
from bot.rules.redirect_table import RedirectFile
from bot.text.code_pages import PAGES, TWICE, UTF_8
from bot.text.tables import UnusedColumn
from handlers.blocks import messages
from handlers.blocks.messages import Block, and_more, code, esc, first_few, join_commas, join_words, quote_plain
from handlers.changes.diff import differences, field_name
from handlers.changes.times import when
from handlers.files.import_plan import ImportPlan, RowKind, TableEnd
from handlers.grammar.command import slash
from handlers.members.views import segments_line
from handlers.rules.pairs_view import first_pair_line
from handlers.rules.reasons import first_problem

MAX_ROWS: Final = 8
"""Rows of one kind that are shown."""
MAX_TEXT: Final = 1_300
"""Characters of the rows of one kind, so that all kinds together fit into a message."""
MAX_SEGMENTS: Final = 5
"""Segments of one row that are named."""
MAX_TITLES: Final = 6
"""Titles of columns that are named in one line."""
MAX_UNUSED: Final = 3
"""Columns that are not used whose contents are told."""
MAX_VALUES: Final = 4
"""Distinct texts of such a column that are told."""


def plan_blocks(plan: ImportPlan, *, filename: str) -> list[Block]:
    """Return the preview of *plan*: the number of rows of each kind, then the first of each kind that has details."""
    count, site = messages.plural(len(plan.entries), plan.record), f", for {esc(plan.site, 60)}" if plan.site else ""
    title = f":inbox_tray: *Preview: {count} in {code(filename, 80)}{site}*\nNothing has changed yet."
    by_type: dict[type, list[Any]] = {}
    for entry in plan.entries:
        by_type.setdefault(type(entry), []).append(entry)
    there = [kind for kind in plan.kinds if kind.type in by_type]
    counts = "\n".join(f"{kind.mark} *{len(by_type[kind.type]):,}* {kind.title}" for kind in there)
    lists = [
        _list(f"{kind.mark} *{kind.title[:1].upper()}{kind.title[1:]}*", by_type[kind.type], kind.line)
        for kind in there
        if kind.line is not None
    ]
    return [messages.section(title), messages.section(counts), *lists, *plan.notes]


def _list(title: str, entries: Sequence[Any], line_of: Callable[[Any], str]) -> Block:
    """Return the first of *entries* below *title*, as many as there is room for."""
    text, shown = title, 0
    for entry in entries[:MAX_ROWS]:
        line = line_of(entry)
        if shown and len(text) + len(line) > MAX_TEXT:
            break
        text, shown = f"{text}\n{line}", shown + 1
    more = f"\n_and {len(entries) - shown:,} more_" if len(entries) > shown else ""
    return messages.section(text + more)


def _new_line(entry: rule_import_plan.New) -> str:
    namesake = f"   :warning: {code(entry.namesake, 60)} has the same name" if entry.namesake else ""
    shown = f"*{esc(entry.draft.title, 50)}*   {first_pair_line(entry.draft, 40)}"
    return f"{entry.number:,}. {shown}{namesake}{_lost_group_text(entry.ungrouped)}"


def _differs_line(entry: rule_import_plan.Differs) -> str:
    names = [field_name(line) for line in differences(entry.live.body(), entry.merged_body())]
    fields = join_commas([esc(name, 30) for name in names], 4)
    name, lost = esc(entry.draft.title, 50), _lost_group_text(entry.ungrouped)
    return f"{entry.number:,}. *{name}*   {code(entry.live.id, 60)}   {fields}{lost}"


def _lost_group_text(group: str | None) -> str:
    return f"   :warning: its group {code(group, 40)} doesn’t exist here" if group else ""


def lost_groups_note(entries: Sequence[rule_import_plan.Entry]) -> list[Block]:
    """Return how many new rules come without their group, also of those that aren't listed; nothing where none does."""
    lost = [entry.ungrouped for entry in entries if isinstance(entry, rule_import_plan.New) and entry.ungrouped]
    groups = join_commas([code(group, 40) for group in dict.fromkeys(lost)], 4)
    set_later = f"Set one afterwards with `{slash('rules set')}`."
    without = f":warning: *{messages.plural(len(lost), 'new rule')} without a group.* Not here: {groups}. {set_later}"
    return [messages.section(without)] if lost else []


def _refused_line(entry: Any) -> str:
    """Return the line on a record that can't be imported, with the reason."""
    return f"{entry.number:,}. *{esc(entry.title, 50)}*: {esc(why_not(entry), 160)}"


def _why_invalid(entry: rule_import_plan.InvalidRecord) -> str:
    return entry.reason if isinstance(entry.reason, str) else first_problem(entry.reason)


def _why_twice(entry: rule_import_plan.Twice) -> str:
    return f"duplicate of record {entry.first:,}" + ("" if entry.alike else ", with other content, which is ignored")


def _why_no_rule(entry: rule_import_plan.Skipped) -> str:
    return "a group; groups are not imported" if entry.is_group else "not a rule"


RULE_KINDS: Final = (
    RowKind(rule_import_plan.New, ":sparkles:", "new", _new_line, lambda _: "the import was set to skip new rules"),
    RowKind(
        rule_import_plan.Differs,
        ":twisted_rightwards_arrows:",
        "different here",
        _differs_line,
        lambda _: "the import was set to keep current rules",
    ),
    RowKind(rule_import_plan.Same, ":heavy_check_mark:", "identical here", why=lambda _: "already here and identical"),
    RowKind(rule_import_plan.InvalidRecord, ":x:", "can’t be imported", _refused_line, _why_invalid),
    RowKind(rule_import_plan.Twice, ":repeat:", "repeated in the file", _refused_line, _why_twice),
    RowKind(rule_import_plan.Skipped, ":fast_forward:", "skipped: not rules", _refused_line, _why_no_rule),
)


def _row_line(row: Row, text: str, name: str | None = None) -> str:
    shown = esc((row.name if name is None else name) or "", 40)
    email = f"  {code(row.email[:80])}" if row.email else ""
    return f"line {row.line:,}{email} {shown}   {text}".rstrip()


def _segments_of(member: Mapping[str, Any] | None) -> str:
    return segments_line((member or {}).get("allowedSegments") or (), MAX_SEGMENTS)


def _alter_line(entry: import_entries.Alter) -> str:
    had, has = (list((document or {}).get("allowedSegments") or ()) for document in (entry.before, entry.after))
    gains = [f":heavy_plus_sign: {segments_line([name])}" for name in has if name not in had]
    losses = [f":heavy_minus_sign: {segments_line([name])}" for name in had if name not in has]
    return _row_line(entry.row, "  ".join(first_few([*gains, *losses], MAX_SEGMENTS)))


def _kept_name_blocks(plan: MemberPlan) -> list[Block]:
    """Return whom the file calls something else than the site does, before anybody takes them for renamed."""
    kept = [
        entry
        for entry in plan.entries
        if isinstance(entry, import_entries.Alter | import_entries.NothingToDo) and entry.name_kept is not None
    ]
    title = ":warning: *Names stay as they are*: a file can’t change them"
    return [_list(title, kept, _name_kept_line)] if kept else []


def _name_kept_line(entry: import_entries.Alter | import_entries.NothingToDo) -> str:
    return _row_line(entry.row, f"stays {esc(entry.name_kept, 40)}" if entry.name_kept else "stays without a name")


def _lookalikes(plan: MemberPlan) -> list[Block]:
    """Return who might be added or missed by mistake, because they have another email here."""
    if not plan.alike:
        return []
    title = ":warning: *Might be the same person*: their emails differ only in dots or a +tag"
    return [_list(title, plan.alike, lambda pair: _row_line(pair[0], f"and {code(pair[1][:80])}"))]


MEMBER_KINDS: Final = (
    RowKind(
        import_entries.Add, ":sparkles:", "to add", lambda e: _row_line(e.row, _segments_of(e.after), e.after["name"])
    ),
    RowKind(import_entries.Alter, ":twisted_rightwards_arrows:", "with changed segments", _alter_line),
    RowKind(import_entries.Remove, ":wastebasket:", "to remove", lambda e: _row_line(e.row, _segments_of(e.before))),
    RowKind(
        import_entries.Together,
        ":link:",
        "for someone in an earlier row, merged with it",
        lambda e: _row_line(e.row, f"the same person as line {e.line:,}"),
        lambda entry: f"merged with line {entry.line:,}",
    ),
    RowKind(
        import_entries.NothingToDo,
        ":heavy_check_mark:",
        "with nothing to change",
        why=lambda entry: entry.why,
    ),
    RowKind(
        import_entries.Invalid,
        ":x:",
        "can’t be imported",
        lambda e: _row_line(e.row, esc(e.reason, 200)),
        lambda entry: entry.reason,
    ),
)


WHY_NOT: Final = {kind.type: kind.why for kind in (*RULE_KINDS, *MEMBER_KINDS) if kind.why is not None}


def why_not(entry: Any) -> str:
    """Return why nothing is done with *entry*, as the rest of a sentence."""
    return WHY_NOT[type(entry)](entry)


def member_notes(plan: MemberPlan) -> list[Block]:
    """Return what a table of members may be taken for that it isn’t, and how it was read."""
    question = "*Should people with one of these be left out?* Then take their rows out of the file first."
    unused = _unused_blocks(plan.file, question)
    return [*_kept_name_blocks(plan), *_lookalikes(plan), *unused, messages.context(_reading_text(plan.file))]


def _notable_columns(file: MemberFile | RedirectFile) -> Sequence[UnusedColumn]:
    """Return the columns by which some rows may be meant to be left out, once it is clear which columns are used."""
    if isinstance(file, MemberFile) and file.layout.claimed:
        return []
    told = (column for column in file.unused if any(column.values) and _rank(column) <= (True, MAX_VALUES))
    return sorted(told, key=_rank)[:MAX_UNUSED]


def _rank(column: UnusedColumn) -> tuple[bool, int]:
    """Return whether all rows of *column* have the same text, or each another, and how many texts: the fewer, the better."""
    return len(column.values) in {1, column.values.total()}, len(column.values)


def _unused_blocks(file: MemberFile | RedirectFile, question: str) -> list[Block]:
    """Return the content of columns that aren't used, and a *question* about it."""
    columns = ", ".join(f"*{esc(column.title, 40)}* ({_contents(column)})" for column in _notable_columns(file))
    return [messages.section(f":warning: Not used: {columns}.\n{question}")] if columns else []


def _contents(column: UnusedColumn) -> str:
    counted = column.values.most_common()
    words = [f"{count:,} × {esc(' '.join(text.split()), 30) or '_empty_'}" for text, count in counted]
    return join_commas(words, MAX_VALUES)


def redirect_notes(file: RedirectFile, end: TableEnd | None) -> list[Block]:
    """Return until when the rules of a table are to last, what of it is not used, and how it was read."""
    until = []
    if end is not None:
        lasts = esc(end.expiry.as_typed, 60) if end.at is None else f"until {when(end.at)}"
        until = [messages.section(f":hourglass: *All of it lasts {lasts}*, and is reverted then.")]
    question = (
        "*Should some of these redirects be off, or match more than one exact URL?* "
        "Then take their rows out of the file first."
    )
    return [*until, *_unused_blocks(file, question), messages.context(_reading_text(file))]


ENCODINGS: Final = PAGES | {UTF_8: "UTF-8", TWICE: "twice-encoded UTF-8"}
"""What people call encodings; others have their own name."""


def loop_words(loop: Finding, numbers: Mapping[str, int], word: str) -> str:
    """Return which rows loop, also with rules that exist; *numbers*: the rows by the ids of the rules that they become."""
    ids = dict.fromkeys(place.rule.id for place in loop.places)
    rows = sorted(numbers[key] for key in ids if key in numbers)
    rules = [quote_plain(place.rule.title, 60) for place in loop.places if place.rule.id not in numbers]
    named = f"{word.capitalize()}{'s' * (len(rows) > 1)} {join_words([f'{row:,}' for row in rows], most=MAX_IN_LOOP)}"
    return f"{join_words([named, *dict.fromkeys(rules)], most=MAX_IN_LOOP)} {'loops' if len(ids) == 1 else 'loop'}."


MAX_IN_LOOP: Final = 6
"""Rows of a loop that are named."""
MAX_LOOPS: Final = 5


def first_loops(loops: Sequence[str]) -> tuple[str, ...]:
    """Return the first of *loops*, and how many more there are."""
    return (*loops[:MAX_LOOPS], *([f"{more}."] if (more := and_more(len(loops) - MAX_LOOPS, "loop")) else []))


def loops_note(loops: Sequence[str], reason: str) -> list[Block]:
    """Return what would loop once it is on, and what that takes; nothing where nothing would."""
    if not loops:
        return []
    then = "" if reason.strip() else " Add a reason to import them switched on."
    return [messages.section(f":repeat: *{' '.join(map(esc, first_loops(loops)))}*{then}")]


SEPARATORS: Final[Mapping[str, str]] = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


def _reading_text(file: MemberFile | RedirectFile) -> str:
    """Return what was taken for what: where a guess was wrong, people see it here."""
    columns = ", ".join(
        f"{column.value} from column {at + 1}" for column, at in sorted(file.columns.items(), key=itemgetter(1))
    )
    encoding = ENCODINGS.get(file.encoding, file.encoding.upper())
    separator = SEPARATORS.get(file.separator, f"“{esc(file.separator)}”")
    told = _notable_columns(file)
    others = [column.title for column in file.unused if column not in told]
    unused = f"   {'Also not' if told else 'Not'} used: {_titles(others)}." if others else ""
    return f"Read as {encoding} with {separator}: {columns}.{_headings_text(file)}{unused}"


def _headings_text(file: MemberFile | RedirectFile) -> str:
    if file.header is None:
        return "   There are no headings."
    if file.known_header:
        return ""
    return f"   The first row was read as headings: {_titles([cell for cell in file.header if cell.strip()])}."


def _titles(names: Sequence[str]) -> str:
    return join_commas([esc(name, 30) for name in names], MAX_TITLES)
