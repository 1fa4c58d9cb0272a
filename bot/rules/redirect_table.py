"""Read tables of redirects (from, to, name, until, group), and convert each row to the record of a rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from bot.rules.files import MAX_RULES
from bot.rules.model import Groups
from bot.rules.url import SCHEME, NotAUrl, Url
from bot.text.encoding import EMPTY_FILE, BadFile, file_text, unescape_formula
from bot.text.tables import (
    BLANKS,
    SAMPLE,
    TableFile,
    body_of,
    flaw_of,
    read_lines,
    unused_columns,
)


class Column(StrEnum):
    FROM = "from"
    TO = "to"
    NAME = "name"
    UNTIL = "until"
    GROUP = "group"


HEADINGS: Final[Mapping[Column, str]] = {
    Column.FROM: "from fromurl redirectfrom source sourceurl old oldurl vanity vanityurl shorturl shortlink",
    Column.TO: "to tourl redirectto redirectsto destination destinationurl target targeturl new newurl",
    Column.NAME: "name rule rulename title campaign",
    Column.UNTIL: "until end ends enddate endsat expires expiry expirydate expiresat validuntil",
    Column.GROUP: "group groupid groupname",
}
"""The headings of each column, in lower case without spaces and punctuation."""
COLUMN_OF_WORD: Final = {word: column for column, words in HEADINGS.items() for word in words.split()}


@dataclass(frozen=True, slots=True)
class RedirectRow:
    """The row that begins in *line*: its cells by column, which are empty for columns that the table doesn't have."""

    line: int
    cells: Mapping[Column, str]
    flaw: str = ""
    """Why the row can't be read."""

    def text(self, column: Column) -> str:
        return unescape_formula(self.cells.get(column, ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class RedirectFile(TableFile):
    rows: tuple[RedirectRow, ...]
    columns: Mapping[Column, int]

    @property
    def ends(self) -> tuple[str, ...]:
        """Return the distinct texts in the column ``until``, in the order of the rows; an empty one is a row without an end.

        A single dash counts as empty.
        """
        texts = (row.text(Column.UNTIL).strip("-–—") for row in self.rows)
        return tuple(dict.fromkeys(texts)) if Column.UNTIL in self.columns else ()


def is_table(content: bytes) -> bool:
    """Whether *content* is a text that can't be JSON with rules; raises BadFile where it is not a text."""
    return not file_text(content, is_table=True).text.lstrip().startswith(("[", "{"))


def read_redirect_file(content: bytes, encoding: str = "") -> RedirectFile:
    """Read a table of redirects; raises BadFile where it is not one. *encoding*: as in `file_text`."""
    found = file_text(content, is_table=True, encoding=encoding)
    separator, lines = read_lines(found.text, _is_url)
    if not lines:
        raise BadFile(*EMPTY_FILE)
    first = lines[0][1]
    named = {} if any(map(_is_place, first)) else _columns_by_heading(first)
    sample = [cells for _, cells in lines[1 : SAMPLE + 1]]
    columns = _with_url_columns(named, sample or [first])
    has_header = bool(named) or not any(_is_place(cell) for cell in first)
    header = tuple(first) if has_header else None
    body, width = body_of(lines, has_header, MAX_RULES)
    rows = tuple(_row(line, cells, columns, width) for line, cells in body)
    return RedirectFile(
        rows=rows,
        header=header,
        known_header=bool(named),
        columns=columns,
        unused=unused_columns(header, body, width, columns.values()),
        encoding=found.encoding,
        separator=separator,
        readings=found.readings,
    )


def _columns_by_heading(headings: Sequence[str]) -> dict[Column, int]:
    found: dict[Column, int] = {}
    for at, heading in enumerate(headings):
        column = COLUMN_OF_WORD.get("".join(filter(str.isalnum, heading[:100].casefold())))
        if column in found:
            raise BadFile(f"Two columns of the table could be {column}.", "Rename one of them.")
        if column is not None:
            found[column] = at
    return found


def _with_url_columns(named: Mapping[Column, int], sample: Sequence[Sequence[str]]) -> dict[Column, int]:
    """Return *named* with columns of URLs for a missing from or to, if exactly as many are left; else raises BadFile."""
    missing = [column for column in (Column.FROM, Column.TO) if column not in named]
    free = [at for at in range(max(map(len, sample))) if at not in named.values() and _is_of_places(sample, at)]
    if len(missing) != len(free) and missing:
        raise BadFile(
            "The file is not JSON, and no table of redirects:"
            " it needs one column of URLs to redirect from, and one to redirect to.",
            "Name them from and to.",
        )
    return {**named, **dict(zip(missing, free, strict=False))}


def _is_of_places(sample: Sequence[Sequence[str]], at: int) -> bool:
    """Whether most of the cells in column *at* are URLs or paths."""
    cells = [cell for row in sample if at < len(row) and (cell := row[at].strip(BLANKS))]
    return 2 * sum(map(_is_place, cells)) > len(cells)


def _is_place(cell: str) -> bool:
    text = cell.strip(BLANKS)
    return text.startswith("/") or _is_url(text)


def _is_url(cell: str) -> bool:
    """Whether *cell* is one URL, with or without a scheme; ``10.5``, ``31.12.2026`` and ``18:00`` are not."""
    host = _without_scheme(cell.strip(BLANKS)).partition("/")[0]
    return any(map(str.isalpha, host)) and _exact_url(cell) is not None


def _row(line: int, cells: Sequence[str], columns: Mapping[Column, int], width: int) -> RedirectRow:
    said = {column: cells[at].strip(BLANKS) if at < len(cells) else "" for column, at in columns.items()}
    return RedirectRow(line, said, flaw_of(said, cells[width:]))


def _exact_url(text: str) -> str | None:
    """Return *text* as the URL that a browser sends; None where it is not a URL with a host."""
    if " " in (wanted := text.strip(BLANKS)):
        return None
    try:
        return Url.from_typed(wanted).full
    except NotAUrl:
        return None


class RedirectRecords:
    """Converts the rows of one table to records of rules, or finds what is wrong with them."""

    def __init__(self, rows: Iterable[RedirectRow], taken: Iterable[tuple[str, str]], groups: Groups | None) -> None:
        """*taken*: pairs of the source and the name of each existing rule."""
        self._groups = groups
        self._taken = {exact: title for source, title in taken if (exact := _exact_url(source))}
        self._first: dict[str, tuple[int, str]] = {}
        self._targets: dict[str, set[str]] = {}
        for row in rows:
            if (source := _exact_url(row.text(Column.FROM))) and not _problem(row):
                target = _destination(row.text(Column.TO))
                self._first.setdefault(source, (row.line, target))
                self._targets.setdefault(source, set()).add(target)

    def title(self, row: RedirectRow) -> str:
        """Return the name of the rule: the one in the table, or its source without a scheme."""
        source = row.text(Column.FROM)
        return row.text(Column.NAME) or _without_scheme(_exact_url(source) or source).rstrip("/") or row.text(Column.TO)

    def problem(self, row: RedirectRow) -> str:
        """Return what is wrong with *row*, alone or together with the others; empty where nothing is."""
        return _problem(row) or self._find_duplicate(row) or self._unclear_group(row.text(Column.GROUP))

    def source_taken(self, row: RedirectRow) -> str:
        """Return which existing rule has the source of *row*; empty where none has."""
        title = self._taken.get(_exact_url(row.text(Column.FROM)) or "")
        return "" if title is None else f"the rule “{title[:60]}” has this source already"

    def record(self, row: RedirectRow) -> dict[str, Any]:
        """Return the record of the rule for a *row* without a problem; it has no status."""
        source = {"key": "Url", "operator": "Equals", "value": _exact_url(row.text(Column.FROM))}
        pair = {"source": source, "destinationType": "url", "destination": _destination(row.text(Column.TO))}
        group = self._ids(row.text(Column.GROUP))
        return {"name": self.title(row), "ruleType": "Redirect", "pairs": [pair]} | (
            {"groupId": group[0]} if group else {}
        )

    def _find_duplicate(self, row: RedirectRow) -> str:
        source = _exact_url(row.text(Column.FROM)) or ""
        first, _ = self._first[source]
        if len(self._targets[source]) > 1:
            return "rows with this source have different destinations; none is imported"
        return "" if first == row.line else f"the same as line {first:,}"

    def _unclear_group(self, name: str) -> str:
        if not name or len(ids := self._ids(name)) == 1:
            return ""
        named = f"“{name[:60]}”"
        if self._groups is None:
            return f"the groups can’t be read now, so {named} is unclear"
        return f"{len(ids)} groups are called {named}" if ids else f"there is no group {named}"

    def _ids(self, name: str) -> list[str]:
        """Return the id of the group with this id, or else those of all groups with this name, ignoring case."""
        names = self._groups.names if self._groups else {}
        wanted = name.casefold()
        return [name] if name in names else [id_ for id_, title in names.items() if name and title.casefold() == wanted]


def _problem(row: RedirectRow) -> str:
    """Return what is wrong with *row* alone; empty where nothing is."""
    if row.flaw:
        return row.flaw
    for column in (Column.FROM, Column.TO):
        if not (text := row.text(column)):
            return f"the column {column} is empty"
        if _exact_url(text) is None:
            why = ": its host is missing" if text.startswith("/") else ", such as https://example.com/page"
            return f"“{text[:60]}” in {column} is not a whole URL{why}"
    source = row.text(Column.FROM)
    is_exact = "*" not in source and "#" not in source
    return "" if is_exact else "a source with * or # matches no URL exactly; use a rule of its own"


def _destination(text: str) -> str:
    """Return *text* with a scheme, otherwise as it was written."""
    return text if SCHEME.match(text) else f"https://{text.removeprefix('//')}"


def _without_scheme(url: str) -> str:
    found = SCHEME.match(url)
    return url[found.end() :] if found else url
