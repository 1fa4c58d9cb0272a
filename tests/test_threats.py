"""Every row of the threat table has a test, every marker a row, and the page is the one that they make."""

from __future__ import annotations

from pathlib import Path

from tests.harness.threats import PAGE, find_proofs, read_sections, with_table

MARKED = """
@pytest.mark.policy("A1")
@pytest.mark.threat("A1", "B2")
async def test_one() -> None: ...

@pytest.mark.threat("C3")
def helper() -> None: ...
"""


def test_every_threat_has_a_test_and_every_marker_a_threat() -> None:
    rows = [each for section in read_sections().values() for each in section]

    assert len(set(rows)) == len(rows)
    assert sorted(find_proofs()) == sorted(rows)


def test_the_page_has_the_table_of_today() -> None:
    page = PAGE.read_text()

    assert page == with_table(page), "run make threats"


def test_a_marker_counts_on_a_test_and_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "test_marked.py").write_text(MARKED)
    (tmp_path / "marked.py").write_text(MARKED)

    assert find_proofs(tmp_path) == {"A1": ["test_marked.py::test_one"], "B2": ["test_marked.py::test_one"]}
