"""What an import would do before it does it: counts, the first rows of each kind, and why a file, a record or a row can't
be imported. Reasons are plain text, to be escaped where they are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from bot.members import csv, import_entries
from bot.members.csv import MemberFile, Row
from bot.members.import_entries import MemberPlan
from bot.rules import files, redirect_table, rule_import_plan
from bot.rules.lint.findings import Finding
from bot.rules.redirect_table import RedirectFile
from bot.text import encoding, tables
from bot.text.code_pages import TWICE, UTF_8
from bot.text.encoding import BadFile, FileKind
from bot.text.tables import UnusedColumn
from handlers.blocks import messages
from handlers.blocks.messages import Block, and_more, code, esc, first_few, join_commas, join_words, moment, quote_plain
from handlers.changes.diff import differences, field_name
from handlers.files.import_plan import ImportPlan, RowKind, TableEnd
from handlers.grammar.command import slash
from handlers.members.views import segments_line
from handlers.rules.pairs_view import first_pair_line
from handlers.rules.reasons import first_problem

MOST_ROWS: Final = 8
"""Rows of one kind that are shown."""
MOST_TEXT: Final = 1_300
"""Characters of the rows of one kind, so that all kinds together fit into a message."""
MOST_SEGMENTS: Final = 5
"""Segments of one row that are named."""
MOST_TITLES: Final = 6
"""Titles of columns that are named in one line."""
MOST_UNUSED: Final = 3
"""Columns that are not used whose contents are told."""


def plan_blocks(plan: ImportPlan, *, filename: str) -> list[Block]:
    """The preview of *plan*: the number of rows of each kind, then the first of each kind that has details."""
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
    """The first of *entries* below *title*, as many as there is room for."""
    text, shown = title, 0
    for entry in entries[:MOST_ROWS]:
        line = line_of(entry)
        if shown and len(text) + len(line) > MOST_TEXT:
            break
        text, shown = f"{text}\n{line}", shown + 1
    more = f"\n_and {len(entries) - shown:,} more_" if len(entries) > shown else ""
    return messages.section(text + more)


def _new_line(entry: rule_import_plan.New) -> str:
    namesake = f"   :warning: {code(entry.namesake, 60)} has the same name" if entry.namesake else ""
    shown = f"*{esc(entry.draft.title, 50)}*   {first_pair_line(entry.draft, 40)}"
    return f"{entry.number:,}. {shown}{namesake}{_lost_group_text(entry.ungrouped)}"


def _differs_line(entry: rule_import_plan.Differs) -> str:
    names = [field_name(line.field) for line in differences(entry.live.body(), entry.merged_body())]
    fields = join_commas([esc(name, 30) for name in names], 4)
    name, lost = esc(entry.draft.title, 50), _lost_group_text(entry.ungrouped)
    return f"{entry.number:,}. *{name}*   {code(entry.live.id, 60)}   {fields}{lost}"


def _lost_group_text(group: str | None) -> str:
    return f"   :warning: its group {code(group, 40)} doesn’t exist here" if group else ""


def _refused_line(entry: Any) -> str:
    """A record of no rule, with the reason."""
    return f"{entry.number:,}. *{esc(entry.title, 50)}*: {esc(why_not(entry), 160)}"


def _why_twice(entry: rule_import_plan.Twice) -> str:
    return f"duplicate of record {entry.first:,}" + ("" if entry.alike else ", with other content, which is ignored")


def _why_no_rule(entry: rule_import_plan.Skipped) -> str:
    return "a group; groups are not imported" if entry.is_group else "not a rule"


def _reason(entry: rule_import_plan.InvalidRecord | import_entries.Invalid) -> str:
    return REASONS[type(entry.reason)](entry.reason)


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
    RowKind(rule_import_plan.InvalidRecord, ":x:", "can’t be imported", _refused_line, _reason),
    RowKind(rule_import_plan.Twice, ":repeat:", "repeated in the file", _refused_line, _why_twice),
    RowKind(rule_import_plan.Skipped, ":fast_forward:", "skipped: not rules", _refused_line, _why_no_rule),
)


def _row_line(row: Row, text: str, name: str | None = None) -> str:
    shown = esc((row.name if name is None else name) or "", 40)
    email = f"  {code(row.email[:80])}" if row.email else ""
    return f"line {row.line:,}{email} {shown}   {text}".rstrip()


def _segments_of(member: Mapping[str, Any] | None) -> str:
    return segments_line((member or {}).get("allowedSegments") or (), MOST_SEGMENTS)


def _alter_line(entry: import_entries.Alter) -> str:
    had, has = (list((document or {}).get("allowedSegments") or ()) for document in (entry.before, entry.after))
    gains = [f":heavy_plus_sign: {segments_line([name])}" for name in has if name not in had]
    losses = [f":heavy_minus_sign: {segments_line([name])}" for name in had if name not in has]
    return _row_line(entry.row, "  ".join(first_few([*gains, *losses], MOST_SEGMENTS)))


def _together_line(entry: import_entries.Together) -> str:
    named = f", named {esc(entry.named, 40)}" if entry.named else ""
    return _row_line(entry.row, f"the same person as line {entry.line:,}{named}")


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
    """Who might be added or missed by mistake, because they have another email here."""
    if not plan.alike:
        return []
    title = ":warning: *Might be the same person*: their emails differ only in dots or a +tag"
    return [_list(title, plan.alike, lambda pair: _row_line(pair[0], f"and {code(pair[1][:80])}"))]


NOTHING_TO_DO: Final = {
    import_entries.Nothing.AS_ASKED: "nothing to change",
    import_entries.Nothing.HAS_NONE_OF_THEM: "has none of these segments",
    import_entries.Nothing.OTHER_NAME: "has another name, which a file can’t change",
}

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
        _together_line,
        lambda entry: f"merged with line {entry.line:,}",
    ),
    RowKind(
        import_entries.NothingToDo,
        ":heavy_check_mark:",
        "with nothing to change",
        why=lambda entry: NOTHING_TO_DO[entry.why],
    ),
    RowKind(
        import_entries.Invalid, ":x:", "can’t be imported", lambda e: _row_line(e.row, esc(why_not(e), 200)), _reason
    ),
)


WHY_NOT: Final = {kind.type: kind.why for kind in (*RULE_KINDS, *MEMBER_KINDS) if kind.why is not None}


def why_not(entry: Any) -> str:
    """Why nothing is done with *entry*, as the rest of a sentence."""
    return WHY_NOT[type(entry)](entry)


def member_notes(plan: MemberPlan) -> list[Block]:
    """What a table of members may be taken for that it isn’t, and how it was read."""
    question = "*Should people with one of these be left out?* Then take their rows out of the file first."
    unused = _unused_blocks(plan.file, question)
    return [*_kept_name_blocks(plan), *_lookalikes(plan), *unused, messages.context(_reading_text(plan.file))]


def _notable_columns(file: MemberFile | RedirectFile) -> Sequence[UnusedColumn]:
    """Return the columns by which some rows may be meant to be left out, once it is clear which columns are used."""
    if isinstance(file, MemberFile) and file.layout.claimed:
        return []
    ranked = [(rank, column) for column in file.unused if (rank := column.rank) is not None]
    return [column for _, column in sorted(ranked, key=itemgetter(0))[:MOST_UNUSED]]


def _unused_blocks(file: MemberFile | RedirectFile, question: str) -> list[Block]:
    """Return the content of columns that aren't used, and a *question* about it."""
    columns = ", ".join(f"*{esc(column.title, 40)}* ({_contents(column)})" for column in _notable_columns(file))
    return [messages.section(f":warning: Not used: {columns}.\n{question}")] if columns else []


def _contents(column: UnusedColumn) -> str:
    share = f"in {column.filled:,} of {messages.plural(column.rows, 'row')}"
    if column.is_of_dates:
        dates = sorted(found[0] for text in column.values if (found := tables.DATE.match(text)))
        return f"dates {share}, such as {dates[0]}"
    if len(column.values) > tables.MAX_VALUES:
        return share
    counted = sorted(column.values.items(), key=itemgetter(1), reverse=True)
    return ", ".join(f"{count:,} × {esc(' '.join(text.split()), 30) or '_empty_'}" for text, count in counted)


def redirect_notes(file: RedirectFile, end: TableEnd) -> list[Block]:
    """Until when the rules of a table are to last, what of it is not used, and how it was read."""
    until = []
    if end.expiry is not None:
        lasts = esc(end.expiry.as_typed, 60) if end.at is None else f"until {moment(int(end.at.timestamp() * 1000))}"
        until = [messages.section(f":hourglass: *All of it lasts {lasts}*, and is reverted then.")]
    question = (
        "*Should some of these redirects be off, or match more than one exact URL?* "
        "Then take their rows out of the file first."
    )
    return [*until, *_unused_blocks(file, question), messages.context(_reading_text(file))]


ENCODINGS: Final[Mapping[str, str]] = {
    UTF_8: "UTF-8",
    TWICE: "twice-encoded UTF-8",
    "cp1252": "Windows-1252 (Western)",
    "cp1250": "Windows-1250 (Central European)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "koi8_r": "KOI8-R (Cyrillic)",
    "cp1253": "Windows-1253 (Greek)",
    "cp1254": "Windows-1254 (Turkish)",
    "cp1257": "Windows-1257 (Baltic)",
    "cp1255": "Windows-1255 (Hebrew)",
    "cp1256": "Windows-1256 (Arabic)",
    "cp1258": "Windows-1258 (Vietnamese)",
    "cp874": "Windows-874 (Thai)",
    "mac_roman": "Mac Roman",
    "mac_cyrillic": "Mac Cyrillic",
    "cp932": "Shift-JIS (Japanese)",
    "gbk": "GBK (Simplified Chinese)",
    "cp950": "Big5 (Traditional Chinese)",
    "cp949": "EUC-KR (Korean)",
    "iso8859_2": "ISO 8859-2 (Central European)",
    "cp850": "DOS 850 (Western)",
    "cp852": "DOS 852 (Central European)",
    "cp866": "DOS 866 (Cyrillic)",
}
"""What people call the code pages; other encodings have their own name."""


def loop_words(loop: Finding, numbers: Mapping[str, int], word: str) -> str:
    """That rows loop, with rules that are there already; *numbers*: the rows by the ids of what they become."""
    ids = dict.fromkeys(place.rule.id for place in loop.places)
    rows = sorted(numbers[key] for key in ids if key in numbers)
    rules = [quote_plain(place.rule.title, 60) for place in loop.places if place.rule.id not in numbers]
    named = f"{word.capitalize()}{'s' * (len(rows) > 1)} {join_words([f'{row:,}' for row in rows], most=MOST_IN_LOOP)}"
    return f"{join_words([named, *dict.fromkeys(rules)], most=MOST_IN_LOOP)} {'loops' if len(ids) == 1 else 'loop'}."


MOST_IN_LOOP: Final = 6
"""Rows of a loop that are named."""
MOST_LOOPS: Final = 5


def first_loops(loops: Sequence[str]) -> tuple[str, ...]:
    """The first of *loops*, and how many more there are."""
    return (*loops[:MOST_LOOPS], *([f"{more}."] if (more := and_more(len(loops) - MOST_LOOPS, "loop")) else []))


def loops_note(loops: Sequence[str], reason: str) -> list[Block]:
    """What would loop once it is on, and what that takes; nothing where nothing would."""
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
    return join_commas([esc(name, 30) for name in names], MOST_TITLES)


KINDS: Final[Mapping[FileKind, str]] = {
    FileKind.WORKBOOK: "a spreadsheet",
    FileKind.WEB_PAGE: "a web page",
    FileKind.CONTACT_CARD: "a contact card (vCard)",
    FileKind.JSON: "JSON",
    FileKind.BINARY: "not text",
}
AS_TABLE: Final = "Save it as CSV, with a column of emails."
INSTEAD: Final[Mapping[FileKind, str]] = {
    FileKind.JSON: AS_TABLE,
    FileKind.WEB_PAGE: "Open it in a spreadsheet, and save it as CSV.",
    FileKind.CONTACT_CARD: "Export the contacts as CSV, with a column of emails.",
    FileKind.WORKBOOK: "Save it as CSV, and try again.",
}
"""What to do with a file of another kind."""

FILES: Final[Mapping[type[BadFile], Callable[[Any], tuple[str, str]]]] = {
    encoding.EmptyFile: lambda _: ("The file is empty.", "Check that it was saved, and try again."),
    encoding.FileTooLarge: lambda e: (
        f"The file is too large: {_megabytes(e.size)}. The limit is {_megabytes(e.most)}.",
        "Split it, and import the parts one by one.",
    ),
    encoding.WrongKind: lambda e: (f"The file is {KINDS[e.kind]}.", INSTEAD.get(e.kind, "")),
    encoding.Undecodable: lambda e: (
        f"The file’s encoding is unknown (byte {e.at + 1:,}).",
        "Save it as UTF-8, and try again.",
    ),
    encoding.DamagedUtf8: lambda e: (
        f"Line {e.line:,} is damaged: the rest of the file is UTF-8, but some of its letters are not.",
        "Correct that line, or save the file as UTF-8 again.",
    ),
    files.BrokenJson: lambda e: (
        f"The file is not valid JSON: line {e.line:,}, column {e.column:,} ({e.why}).",
        "Usually an extra comma or an unclosed quote.",
    ),
    files.NameTwice: lambda e: (
        f"One object of the file has the name “{e.name}” twice.",
        "Remove one of them.",
    ),
    files.NestedTooDeep: lambda _: ("The file is nested too deeply for rules.", _json_hint()),
    files.NotRules: lambda e: (
        "The file is JSON, but has no rules" + (f": it starts with {', '.join(e.keys)}." if e.keys else "."),
        _json_hint(),
    ),
    files.NoRules: lambda _: ("The file has an empty list.", "Check that the export had any rules."),
    files.TooManyRules: lambda e: (
        f"The file has {e.count:,} records; the limit is {e.most:,}.",
        "Split it.",
    ),
    tables.BrokenTable: lambda e: (
        f"The row in line {e.line:,} can’t be read ({e.why}).",
        "Text follows a closing quote: put the whole cell in quotes, or each email on its own line."
        if "expected after" in e.why
        else "Usually an unclosed quote.",
    ),
    csv.NoEmails: lambda _: ("No column of the table has emails.", AS_TABLE),
    tables.TooManyRows: lambda e: (f"The table has more than {e.most:,} rows.", "Split it."),
    tables.TooWide: lambda e: (
        f"The row in line {e.line:,} is too long: a row has at most {tables.MAX_COLUMNS} cells.",
        "Remove columns that Gatehouse doesn’t need. Put each email on its own line.",
    ),
    tables.LineTooLong: lambda e: (
        f"Line {e.line:,} is too long: a line has at most {tables.MAX_LINE:,} characters.",
        "Put each row on a line of its own, and shorten its longest cell.",
    ),
    redirect_table.NoRedirects: lambda _: (
        "The file is not JSON, and no table of redirects: it needs one column of URLs to redirect from, and one to redirect to.",
        "Name them from and to.",
    ),
    redirect_table.ColumnTwice: lambda e: (f"Two columns of the table could be {e.column}.", "Rename one of them."),
    BadFile: lambda _: ("The file can’t be read.", ""),
}


REASONS: Final[Mapping[type, Callable[[Any], str]]] = {
    files.NoObject: lambda _: "not an object",
    files.TooDeep: lambda _: "nested too deeply for a rule",
    files.NotSendable: lambda _: "it has a number or a character that can’t be sent",
    files.WrongField: lambda r: f"{_place(r.field, r.pair)} is of the wrong type",
    tables.MissingCell: lambda r: f"the column {r.column} is empty",
    tables.FormulaCell: lambda r: f"the column {r.column} has a formula, which is not read as text",
    tables.ExtraCells: lambda r: f"{messages.plural(r.count, 'cell')} too many: put texts with separators in quotes",
    tables.DuplicateOf: lambda r: f"the same as line {r.line:,}",
    rule_import_plan.OtherType: lambda r: f"the rule with this id is a {r.live}, and its type can’t change",
    rule_import_plan.Flawed: lambda r: first_problem(r.problems),
    redirect_table.NoHost: lambda r: (
        f"“{r.text[:60]}” in {r.column} is not a whole URL"
        + (": its host is missing" if r.text.startswith("/") else ", such as https://example.com/page")
    ),
    redirect_table.NotExact: lambda _: "a source with * or # matches no URL exactly; use a rule of its own",
    redirect_table.SeveralDestinations: lambda _: "rows with this source have different destinations; none is imported",
    redirect_table.SourceTaken: lambda r: f"the rule “{r.rule[:60]}” has this source already",
    redirect_table.UnclearGroup: lambda r: (
        f"the groups can’t be read now, so “{r.name[:60]}” is unclear"
        if r.count is None
        else f"{r.count} groups are called “{r.name[:60]}”"
        if r.count
        else f"there is no group “{r.name[:60]}”"
    ),
    import_entries.InvalidEmail: lambda r: f"not an email. {r.why}",
    import_entries.UnknownAction: lambda r: f"unknown action “{r.word}”; use add, grant, set, revoke or remove",
    import_entries.UnknownSegments: lambda r: _unknown_segments_text(r.names),
    import_entries.NoSegments: lambda _: "no segment given (use a dash for none at all)",
    import_entries.Contradicts: lambda r: f"contradicts line {r.line:,}; neither is applied",
    import_entries.NotAMember: lambda _: "not a member of this site",
    import_entries.AlreadyMember: lambda _: "already a member, with another name or other segments",
    import_entries.SeveralMembers: lambda r: f"could be several members: {', '.join(r.emails[:3])}",
}


def _json_hint() -> str:
    return f"Use a JSON file from {slash('rules export')} or from the dashboard’s export."


def file_words(error: BadFile) -> tuple[str, str]:
    """The error in the file, and what to do about it; the latter may be empty."""
    return FILES[next(kind for kind in type(error).__mro__ if kind in FILES)](error)


def _megabytes(size: int) -> str:
    return f"{size / 1024 / 1024:,.0f} MB"


def _place(field: str, pair: int | None) -> str:
    return field if pair is None else f"{field} of pair {pair}"


def _unknown_segments_text(names: tuple[tuple[str, tuple[str, ...]], ...]) -> str:
    told = [f"“{name}”" + (f" (near: {', '.join(near)})" if near else "") for name, near in names]
    one = len(names) == 1
    ending = "is not a segment here; segments are" if one else "are not segments here; they are"
    return f"{join_commas(told, 3)} {ending} created in the site’s dashboard"
