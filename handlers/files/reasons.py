"""Why a file, a record or a row cannot be imported, in words: the one table. Plain text, to be escaped where it is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from bot.members import csv, import_entries
from bot.members.csv_columns import Column
from bot.rules import files, import_plan
from bot.text import encoding
from bot.text.encoding import BadFile, FileKind
from handlers.grammar.command import slash
from handlers.rules.problems import first_problem

KINDS: Final[Mapping[FileKind, str]] = {
    FileKind.PICTURE: "a picture",
    FileKind.PDF: "a PDF",
    FileKind.WORKBOOK: "a spreadsheet in the format of its program",
    FileKind.ARCHIVE: "a compressed archive",
    FileKind.WEB_PAGE: "a web page",
    FileKind.TABLE: "a table (CSV)",
    FileKind.JSON: "JSON",
    FileKind.BINARY: "no text at all",
}
HEADINGS: Final[Mapping[Column, str]] = {column: column.value for column in Column} | {Column.EMAIL: "e-mail"}

AS_TABLE: Final = "Members are imported from a table: save it as CSV, with a column of e-mail addresses."

FILES: Final[Mapping[type[BadFile], Callable[[Any], tuple[str, str]]]] = {
    encoding.EmptyFile: lambda _: ("Nothing is in the file.", "Look whether it was saved, and send it again."),
    encoding.FileTooLarge: lambda e: (
        f"The file is too large: {_megabytes(e.size)}. At most {_megabytes(e.most)} are read.",
        "Split it, and import the parts one after the other.",
    ),
    encoding.WrongKind: lambda e: (f"The file is {KINDS[e.kind]}.", AS_TABLE if e.kind is FileKind.JSON else ""),
    encoding.Undecodable: lambda e: (
        f"The file's encoding cannot be told: byte {e.at + 1:,} fits none.",
        "Save it as UTF-8, and send it again.",
    ),
    files.BrokenJson: lambda e: (
        f"The file is not JSON: in line {e.line:,}, column {e.column:,} ({e.why}).",
        "Look at that place: a comma too many, or a text that does not end.",
    ),
    files.NameTwice: lambda e: (
        f"One object of the file has the name “{e.name}” twice.",
        "Take one of them out: nobody can tell which is meant.",
    ),
    files.NestedTooDeep: lambda _: ("The file is nested too deep to be one of rules.", _as_json()),
    files.NotRules: lambda e: (
        "The file is JSON, but holds no rules" + (f": it begins with {', '.join(e.keys)}." if e.keys else "."),
        _as_json(),
    ),
    files.NoRules: lambda _: ("The file holds an empty list.", "Look whether the export had any rules in it."),
    files.TooManyRules: lambda e: (
        f"The file holds {e.count:,} records; at most {e.most:,} are read.",
        "Split it.",
    ),
    csv.BrokenTable: lambda e: (
        f"The table breaks off: the row in line {e.line:,} cannot be read ({e.why}).",
        "Mostly a quotation mark that is not closed.",
    ),
    csv.NoAddresses: lambda _: ("No column of the table holds e-mail addresses.", AS_TABLE),
    csv.TooManyRows: lambda e: (f"The table has more than {e.most:,} rows.", "Split it."),
    csv.TooWide: lambda e: (
        f"The row in line {e.line:,} is too long: a row has at most {csv.MAX_COLUMNS} cells.",
        "Take out the columns that Gatehouse doesn't need. Put each email of a list on a line of its own.",
    ),
    BadFile: lambda _: ("The file cannot be read.", ""),
}

REASONS: Final[Mapping[type, Callable[[Any], str]]] = {
    files.NoObject: lambda _: "it is no object",
    files.TooDeep: lambda _: "it is nested deeper than any rule",
    files.NotSendable: lambda _: "it holds a number or a character that cannot be sent",
    files.WrongField: lambda r: f"{_place(r.field, r.pair)} is of the wrong type",
    import_plan.OtherType: lambda r: f"the rule with this id is a {r.live}, and a type never changes",
    import_plan.Flawed: lambda r: first_problem(r.problems),
    import_entries.MissingAddress: lambda _: "the address is missing",
    import_entries.BadAddress: lambda r: f"not an e-mail address: {r.why}",
    import_entries.FormulaCell: lambda r: (
        f"a formula stands in the column {HEADINGS[r.column]}; it is not taken as text"
    ),
    import_entries.ExtraCells: lambda r: (
        f"{r.count} cell{'' if r.count == 1 else 's'} more than there are columns: put texts with separators in quotes"
    ),
    import_entries.UnknownAction: lambda r: f"“{r.word}” is no action: write add, grant, set, revoke or remove",
    import_entries.UnknownSegments: lambda r: _unknown(r.names),
    import_entries.NoSegments: lambda _: "it names no segment (a dash stands for none at all)",
    import_entries.DuplicateOf: lambda r: f"the same as line {r.line:,}",
    import_entries.Contradicts: lambda r: f"contradicts line {r.line:,}; neither is done",
    import_entries.NotAMember: lambda _: "not a member of this site",
    import_entries.AlreadyMember: lambda _: "a member already, with another name or other segments",
    import_entries.SeveralMembers: lambda r: f"could be several members: {', '.join(r.emails[:3])}",
}

NOTHING_TO_DO: Final = {
    import_entries.Nothing.AS_ASKED: "is so already",
    import_entries.Nothing.HAS_NONE_OF_THEM: "has none of them",
}


def _as_json() -> str:
    return f"Rules are imported from a JSON file, as {slash('rules export')} and the dashboard's own export make it."


def file_words(error: BadFile) -> tuple[str, str]:
    """What is wrong with the file, and what to do about it; the latter may be empty."""
    return FILES[next(kind for kind in type(error).__mro__ if kind in FILES)](error)


def reason_words(reason: import_plan.Reason | import_entries.Reason) -> str:
    """Why one record or row is left out, as the rest of a sentence."""
    return REASONS[type(reason)](reason)


def _megabytes(size: int) -> str:
    return f"{size / 1024 / 1024:,.0f} MB"


def _place(field: str, pair: int | None) -> str:
    return field if pair is None else f"{field} of pair {pair}"


def _unknown(names: tuple[tuple[str, tuple[str, ...]], ...]) -> str:
    told = [f"“{name}”" + (f" (near: {', '.join(near)})" if near else "") for name, near in names[:3]]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    one = len(names) == 1
    ending = "is no segment here; segments are" if one else "are no segments here; they are"
    return f"{', '.join(told)}{more} {ending} made in the site's dashboard"
