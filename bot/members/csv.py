"""Write members as CSV for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Final

from bot.members.model import Member
from bot.text.encoding import escape_formula

HEADINGS: Final = ("email", "name", "segments", "site")
"""What an export writes is what an import takes; only the email is required."""
BOM: Final = b"\xef\xbb\xbf"
"""Without it, Excel reads the file in the machine's code page, and Bjørk as BjÃ¸rk; other programs ignore it."""


def export_lines(members: Sequence[Member], site: str) -> Iterator[bytes]:
    """Yield the lines of the export."""
    yield BOM + _line(HEADINGS).encode()
    for member in members:
        cells = [member.email, member.name or "", join_segments(member.segments), site]
        yield _line(cells).encode("utf-8", "surrogatepass")


def export_name(site: str, day: date) -> str:
    return f"members_{site}_{day:%Y-%m-%d}.csv"


def join_segments(names: Iterable[str]) -> str:
    """Return the cell that `split_segments` splits into *names*: separated by commas, and quoted as CSV where necessary."""
    cell = io.StringIO()
    csv.writer(cell, lineterminator="").writerow(names)
    return cell.getvalue()


def split_segments(cell: str) -> list[str]:
    rows = csv.reader(io.StringIO(cell, newline=""), skipinitialspace=True)
    return [name for row in rows for part in row if (name := part.strip())]


def _line(cells: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow([escape_formula(cell) for cell in cells])
    return line.getvalue()
