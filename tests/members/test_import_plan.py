"""Tables of members as people make them: read, planned row by row, and given back with what became of each row."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.changes.model.edits import Edit, Kind
from bot.members.csv import (
    MemberFile,
    headings,
    read_member_file,
    result_table,
)
from bot.members.csv_columns import Column, Mode
from bot.members.import_entries import (
    Alter,
    Invalid,
    MemberPlan,
    Write,
)
from bot.members.member_import_plan import plan_members
from bot.members.model import Member
from bot.text.encoding import (
    MAX_FILE_BYTES,
    BadFile,
    FileTooLarge,
    escape_formula,
    is_formula,
    unescape_formula,
)
from bot.text.tables import (
    MAX_COLUMNS,
    MAX_LINE,
    MAX_ROWS,
)


def read(text: str) -> MemberFile:
    return read_member_file(text.encode())


def seen(text: str | bytes) -> list[tuple[str, str | None, str | None]]:
    """Address, name and segments of every row."""
    file = read_member_file(text if isinstance(text, bytes) else text.encode(), segments=("vip", "free"))
    return [(row.email, row.name, row.segments) for row in file.rows]


def member(email: str, *segments: str, **fields: Any) -> Member:
    return Member.model_validate({"email": email, "name": "N", "allowedSegments": list(segments)} | fields)


SITE = (
    member("anna@example.com", "free", name="Anna", createdAt=1736060959798),
    member("ben@example.com", "free", "vip"),
    member("Cara@example.com"),
    member("dan@example.com"),
    member("DAN@example.com"),
)


def plan(text: str, mode: Mode = Mode.ADD, known: tuple[str, ...] = ("premium",)) -> MemberPlan:
    return plan_members(read(text), mode, SITE, known)


def only(text: str, mode: Mode = Mode.ADD, known: tuple[str, ...] = ("premium",)) -> Any:
    (entry,) = plan(text, mode, known).entries
    return entry


def edits(found: MemberPlan) -> dict[int, Edit]:
    """What is to be changed, by the line of its row."""
    return {entry.row.line: entry.edit("blog") for entry in found.entries if isinstance(entry, Write)}


def reasons(found: MemberPlan) -> list[object]:
    return [entry.reason if isinstance(entry, Invalid) else type(entry) for entry in found.entries]


ANNA = [("anna@example.com", "Änna", "vip,free")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_separator_in_every_encoding(encoding: str, separator: str, end: str) -> None:
    lines = (["E-Mail", "Name", "Segments"], ["anna@example.com", '"Änna"', '"vip,free"'])
    text = end.join(separator.join(line) for line in lines) + end

    file = read_member_file(text.encode(encoding))

    assert [(row.email, row.name, row.segments) for row in file.rows] == ANNA
    assert (file.separator, file.header) == (separator, ("E-Mail", "Name", "Segments"))
    assert encoding.removesuffix("-sig") == file.encoding


@pytest.mark.parametrize(
    ("heading", "row", "expected"),
    [
        ("First Name,Last Name,mail", "Anna,Smith,a@b.co", ("a@b.co", "Anna Smith", None)),
        ("first,last,full name,e-mail", "Anna,Smith,Dr Anna Smith,a@b.co", ("a@b.co", "Dr Anna Smith", None)),
        ("First name,Name,Email", "Anna,Anna Smith,a@b.co", ("a@b.co", "Anna Smith", None)),
        ("EMAIL ADDRESS,Access", "a@b.co,vip", ("a@b.co", None, "vip")),
        ("Contact,Plan", "a@b.co,vip", ("a@b.co", None, "vip")),
        ("email, name", 'a@b.co, "Smith, Anna"', ("a@b.co", "Smith, Anna", None)),
        ('email,"no\nte",name', 'a@b.co,x,"Anna\nSmith"', ("a@b.co", "Anna Smith", None)),
        ("sep=;\nemail;name", "a@b.co;Anna, the first", ("a@b.co", "Anna, the first", None)),
    ],
)
def test_headings_as_people_write_them(heading: str, row: str, expected: tuple[str, str | None, str | None]) -> None:
    assert seen(f"{heading}\n{row}\n") == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a@b.co\nc@d.co\n", [("a@b.co", None, None), ("c@d.co", None, None)]),
        ("Anna Smith;a@b.co;vip\nBen;c@d.co;free, vip\n", [("a@b.co", None, "vip"), ("c@d.co", None, "free, vip")]),
        ("a@b.co,vip\nc@d.co,free\n", [("a@b.co", None, "vip"), ("c@d.co", None, "free")]),
        ("Kontakt\na@b.co\n", [("a@b.co", None, None)]),
        ("a@b.co, c@d.co; e@f.co", [("a@b.co", None, None), ("c@d.co", None, None), ("e@f.co", None, None)]),
        ("Anna Smith <a@b.co>\n<c@d.co>", [("a@b.co", "Anna Smith", None), ("c@d.co", None, None)]),
        ("mailto:e@f.co", [("e@f.co", None, None)]),
        ("<mailto:a@b.co|a@b.co>,vip\n", [("a@b.co", None, "vip")]),
        ("\n\n a@b.co \n , \n", [("a@b.co", None, None)]),
    ],
)  # fmt: skip
def test_without_headings_the_cells_tell(text: str, expected: list[tuple[str, str | None, str | None]]) -> None:
    assert seen(text) == expected


REFUSED: list[tuple[bytes, str]] = [
    (b"", "is empty"),
    (b"\xef\xbb\xbf\r\n", "is empty"),
    (b",,,\n", "is empty"),
    (b"a@b.co\n" * (MAX_FILE_BYTES // 7 + 1), "is too large: "),
    (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "not text"),
    (b"a@b.co,\0\0\n", "not text"),
    (b"a@b.co,\x81\x01\n", "encoding is unknown"),
    (b"hello\nworld\n", "No column of the table has emails"),
    (b"email\n" + b"a@b.co\n" * (MAX_ROWS + 1), "more than 20,000 rows"),
    (b"email\na@b.co" + b"," * MAX_COLUMNS, "at most 500 cells"),
    (b"email" + b"," * MAX_ROWS, "at most 500 cells"),
    (b"email" + b"," * (MAX_FILE_BYTES - 5), "at most 1,000,000 characters"),
    (b"email\n" + b'"\n",' * (MAX_FILE_BYTES // 4 - 2), "at most 500 cells"),
    (b"email\n" + b"a@b.co " * (MAX_LINE // 7 + 1), "at most 1,000,000 characters"),
    (b'email,name\na@b.co,"' + b"x" * 3_000_000 + b'"\n', "at most 1,000,000 characters"),
]


@pytest.mark.parametrize(
    ("content", "why"), REFUSED, ids=lambda value: repr(value[:30]) if isinstance(value, bytes) else ""
)
def test_what_is_no_table_of_members_is_refused_with_why(content: bytes, why: str) -> None:
    with pytest.raises(BadFile, match=why):
        read_member_file(content)


@pytest.mark.parametrize("blank", ["\n", "\r\n", " \t\n", ";;\n"])
def test_blank_lines_before_a_table_are_passed_over(blank: str) -> None:
    file = read(blank * 150 + "email;name\na@b.co;Anna\n")

    assert [(row.line, row.email, row.name) for row in file.rows] == [(152, "a@b.co", "Anna")]


def test_a_list_of_emails_on_one_line_may_be_as_long_as_a_table() -> None:
    many = [f"member{number}@example.com" for number in range(MAX_ROWS)]

    assert [row.email for row in read(", ".join(many)).rows] == many


def test_a_hundred_megabytes_are_not_even_looked_at() -> None:
    with pytest.raises(FileTooLarge, match=r"100 MB\. The limit is 10 MB"):
        read_member_file(bytes(100 * 1024 * 1024))


def test_quotes_that_do_not_close_are_pointed_at() -> None:
    with pytest.raises(BadFile, match="row in line 3 can’t be read"):
        read('email,name\nc@d.co,Ben\na@b.co,"Anna\nx@y.co,z\n')


@pytest.mark.parametrize("mark", [",", "a", " ", "<mailto:", "@", "a@", '"', "=", "\t", "a@b.co,", "{"])
def test_long_monotony_is_no_trap(mark: str) -> None:
    """What a careless pattern would take hours for."""
    for text in (f"x{mark * 120_000}y", f"email,name\na@b.co,x{mark * 120_000}>\n"):
        try:
            plan(text)
        except BadFile:
            continue


CELLS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        ["a@b.co", "A@b.co", "anna@example.com", "vip", "free;vip", "=cmd", "'=x", "add", "remove", "email", "-"]
    ),
)
TABLES = st.lists(st.lists(CELLS, max_size=5).map(",".join), max_size=8).map("\n".join)


@pytest.mark.slow
@given(
    st.one_of(st.binary(max_size=200), TABLES.map(lambda text: text.encode("utf-8", "replace"))), st.sampled_from(Mode)
)
@example(b'sep="\na', Mode.ADD)
@example(b"sep=\r\n", Mode.ADD)
@settings(deadline=None, max_examples=300)
def test_any_bytes_give_one_entry_and_one_outcome_a_row_or_a_typed_error(content: bytes, mode: Mode) -> None:
    try:
        file = read_member_file(content)
    except BadFile:
        return
    found = plan_members(file, mode, SITE, ())

    assert [entry.row for entry in found.entries] == list(file.rows)
    asked = [each.target.key for each in edits(found).values()]
    assert len(asked) == len({str(key).casefold() for key in asked})
    table = result_table(headings(file), [(row.cells, "done", "") for row in file.rows], file.separator)
    rows = list(csv.reader(io.StringIO(table.decode("utf-8-sig"), newline=""), delimiter=file.separator))
    assert len(rows) == len(file.rows) + 1
    assert all(row[-2] == "done" for row in rows[1:])
    assert not any(is_formula(cell) for row in rows[1:] for cell in row)


@given(st.text(max_size=20))
@example("'=x")
@example("'anna")
@example("\t=1")
def test_a_cell_comes_back_as_it_was(text: str) -> None:
    assert unescape_formula(escape_formula(text)) == text
    assert not is_formula(escape_formula(text))


@pytest.mark.parametrize("cell", ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(1)", "＝1"])
def test_a_formula_is_no_name(cell: str) -> None:
    assert only(f'email,name\na@b.co,"{cell}"\n').reason == "the column name has a formula, which is not read as text"


def test_what_our_own_export_defused_is_text_again() -> None:
    assert only("email,name\na@b.co,'=cmd\n").after["name"] == "=cmd"
    assert only("email,name\na@b.co,'Tis me\n").after["name"] == "'Tis me"


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (",Anna,vip", "the column email is empty"),
        ("a@b.co,Smith,Anna,vip", "1 cell too many: put texts with separators in quotes"),
        ("a@b.co,Smith,Anna,vip,free", "2 cells too many: put texts with separators in quotes"),
        ("a@b.co,A,vpi", "“vpi” (near: vip) is not a segment here; segments are created in the site’s dashboard"),
        ("a@b.co,A,zzz;vip", "“zzz” is not a segment here; segments are created in the site’s dashboard"),
        (
            "a@b.co,A,vpi;zza;zzb;zzc",
            "“vpi” (near: vip), “zza”, “zzb” and 1 more are not segments here; they are created in the site’s dashboard",
        ),
        ("ANNA@example.com,Anna,vip", "already a member, with another name or other segments"),
        ("anna@example.com,Other,", "already a member, with another name or other segments"),
        ("Dan@example.com,Dan,", "could be several members: dan@example.com, DAN@example.com"),
    ],
)
def test_a_row_that_cannot_be_says_why(row: str, reason: str) -> None:
    assert only(f"email,name,segments\n{row}\n").reason == reason


@pytest.mark.parametrize("address", ["anna", "a b@c.co", "a@b", "a@@b.co", "x" * 320 + "@b.co", "a@b.co."])
def test_an_address_is_judged_as_the_form_judges_it(address: str) -> None:
    (entry,) = plan(f"email,name\n{address},A\n").entries

    assert isinstance(entry, Invalid)
    assert entry.reason.startswith("not an email. ")


@pytest.mark.parametrize("address", ["a+b@c.co", "a%b@c.co", "a/b@c.co", "jürgen@example.com", "a@bücher.example"])
def test_unusual_addresses_are_addresses(address: str) -> None:
    assert only(f"email,name\n{address},A\n").after["email"] == address


def test_nothing_to_do_is_said() -> None:
    text = "email,segments\nanna@example.com,free\n"

    assert only(text) == only(text, Mode.GRANT) == only(text, Mode.SET)
    assert only(text).why == "nothing to change"
    assert only("email,segments\nanna@example.com,vip\n", Mode.REVOKE).why == "has none of these segments"


@pytest.mark.parametrize(
    ("mode", "cell", "kind", "after"),
    [
        (Mode.GRANT, "premium;vip", Kind.MEMBER_GRANT, ["free", "vip", "premium"]),
        (Mode.REVOKE, "vip,premium", Kind.MEMBER_REVOKE, ["free"]),
        (Mode.SET, "premium", Kind.MEMBER_UPDATE, ["premium"]),
        (Mode.SET, "-", Kind.MEMBER_UPDATE, []),
    ],
)
def test_segments_come_and_go(mode: Mode, cell: str, kind: Kind, after: list[str]) -> None:
    entry = only(f'email,name,segments\nBEN@example.com,Other,"{cell}"\n', mode)

    assert isinstance(entry, Alter)
    assert (entry.kind, entry.before, entry.after) == (
        kind,
        SITE[1].document(),
        SITE[1].document() | {"allowedSegments": after},
    )


@pytest.mark.parametrize("mode", [Mode.GRANT, Mode.SET, Mode.REVOKE])
def test_an_empty_cell_takes_nothing_away(mode: Mode) -> None:
    assert only("email,segments\nben@example.com,\n", mode).reason == "no segment given (use a dash for none at all)"


def test_a_row_may_say_what_is_to_be_done() -> None:
    said = (
        "anna@example.com,vip,Grant",
        "ben@example.com,vip,revoke",
        "cara@example.com,,remove",
        "new@b.co,,",
        "x@b.co,,boom",
    )

    found = plan("\n".join(["email,segments,action", *said]))

    assert [(line, each.kind, each.target.key) for line, each in edits(found).items()] == [
        (2, Kind.MEMBER_GRANT, "anna@example.com"),
        (3, Kind.MEMBER_REVOKE, "ben@example.com"),
        (4, Kind.MEMBER_REMOVE, "Cara@example.com"),
        (5, Kind.MEMBER_ADD, "new@b.co"),
    ]
    assert reasons(found)[-1] == "unknown action “boom”; use add, grant, set, revoke or remove"


def test_rows_that_contradict_each_other_are_both_left() -> None:
    found = plan(
        "email,segments,action\nben@example.com,vip,revoke\nben@example.com,,remove\nben@example.com,vip,revoke\n"
    )

    assert reasons(found) == [
        "contradicts line 3; neither is applied",
        "contradicts line 2; neither is applied",
        "the same as line 2",
    ]
    assert edits(found) == {}


def test_a_segment_with_a_comma_in_its_name_is_one() -> None:
    assert only('email,segments\na@b.co,"gold, old"\n', known=("gold, old",)).after["allowedSegments"] == ["gold, old"]


def rows(content: bytes, separator: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), delimiter=separator))


def test_the_result_is_the_table_with_an_outcome_a_row() -> None:
    text = (
        'E-Mail;name;segments;outcome\nanna@example.com;"A\nB";vip;old\nanna@example.com;;premium;old\nx@b.co;=cmd;;\n'
    )
    found = plan(text, Mode.GRANT)

    said = [("done", ""), ("done", ""), ("refused", "=formula")]
    table = [(entry.row.cells, *outcome) for entry, outcome in zip(found.entries, said, strict=True)]
    written = rows(result_table(headings(found.file), table, ";"), ";")

    assert written == [
        ["E-Mail", "name", "segments", "outcome", "reason"],
        ["anna@example.com", "A\nB", "vip", "done", ""],
        ["anna@example.com", "", "premium", "done", ""],
        ["x@b.co", "'=cmd", "", "refused", "'=formula"],
    ]


def test_a_result_without_headings_gets_some_and_can_be_imported_again() -> None:
    chosen = {Column.NAME: 0, Column.EMAIL: 1}
    file = read_member_file(b"Anna Smith,a@b.co,7 7\nBen Bold,c@d.co,9 9\n", chosen)

    written = result_table(headings(file), [(row.cells, "done", "") for row in file.rows])

    assert rows(written)[0] == ["name", "email", "column 3", "outcome", "reason"]
    again = read_member_file(written)
    assert [(row.email, row.name) for row in again.rows] == [("a@b.co", "Anna Smith"), ("c@d.co", "Ben Bold")]


def test_a_plan_is_made_of_plain_values() -> None:
    text = "email,segments,action\nanna@example.com,vip,grant\nnew@b.co,,add\n"

    json.dumps([each.model_dump() for each in edits(plan(text)).values()])


def test_a_row_that_would_only_rename_a_member_says_that_it_can_not() -> None:
    renamed = only("email,name,segments,action\nanna@example.com,Anja,free,update\n")
    same = only("email,name,segments,action\nanna@example.com,Anna,free,update\n")

    assert (renamed.why, same.why) == ("has another name, which a file can’t change", "nothing to change")
