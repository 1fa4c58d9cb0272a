"""Why a file can't be imported: in plain text, to be escaped where it is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from bot.members import csv
from bot.rules import files, redirect_table
from bot.text import encoding, tables
from bot.text.encoding import BadFile, FileKind
from handlers.grammar.command import slash

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


def _json_hint() -> str:
    return f"Use a JSON file from {slash('rules export')} or from the dashboard’s export."


def file_words(error: BadFile) -> tuple[str, str]:
    """Return the error in the file, and what to do about it; the latter may be empty."""
    return FILES[next(kind for kind in type(error).__mro__ if kind in FILES)](error)


def _megabytes(size: int) -> str:
    return f"{size / 1024 / 1024:,.0f} MB"
