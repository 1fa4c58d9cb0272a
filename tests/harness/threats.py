"""The threat table: ``python -m tests.harness.threats`` writes it into docs/security.md.

The rows are in threats.toml. A test names them in ``@pytest.mark.threat("A1", …)``; it is read here without being run.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
TESTS: Final = HERE.parent
PAGE: Final = TESTS.parent / "docs" / "security.md"
BEGIN: Final = "<!-- made by `make threats` from tests/harness/threats.toml; don't edit -->"
END: Final = "<!-- the end of the threat table -->"

Section = Mapping[str, Sequence[str]]
"""Threat and answer by id."""


def read_sections() -> dict[str, Section]:
    """Return the rows of threats.toml by the name of their section."""
    return tomllib.loads((HERE / "threats.toml").read_text())


def find_proofs(folder: Path = TESTS) -> dict[str, list[str]]:
    """Return by id the tests below *folder* that are marked with it, as ``stories/test_x.py::test_y``."""
    proofs: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("test_*.py")):
        for name, ids in _marked_tests(ast.parse(path.read_text())):
            for each in ids:
                proofs.setdefault(each, []).append(f"{path.relative_to(folder).as_posix()}::{name}")
    return proofs


def _marked_tests(tree: ast.Module) -> Iterator[tuple[str, list[str]]]:
    for test in tree.body:
        if isinstance(test, ast.FunctionDef | ast.AsyncFunctionDef) and test.name.startswith("test_"):
            for mark in test.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.threat":
                    yield test.name, [str(ast.literal_eval(each)) for each in mark.args]


def make_table(sections: Mapping[str, Section]) -> str:
    """Return the table as Markdown."""
    lines = []
    for title, rows in sections.items():
        lines += [f"### {title}", "", "| | Threat | What happens instead |", "|---|---|---|"]
        lines += [f"| {each} | {threat} | {answer} |" for each, (threat, answer) in rows.items()]
        lines.append("")
    return "\n".join(lines)


def with_table(page: str) -> str:
    """Return *page* with the table of today."""
    return put_between(page, BEGIN, END, make_table(read_sections()))


def put_between(page: str, begin: str, end: str, text: str) -> str:
    """Return *page* with *text* between the comments *begin* and *end*; raises ValueError where one is missing."""
    before, found, rest = page.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found or not found_end:
        raise ValueError(f"the page has no place for a table: {begin} {end}")
    return f"{before}{begin}\n\n{text}\n{end}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text()))
