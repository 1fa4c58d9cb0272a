"""Files of members as programs write them: imported, or refused with the heading to rename or remove."""

from __future__ import annotations

import pytest

from bot.members.member_import_plan import read_member_table
from bot.text.encoding import MAX_FILE_BYTES, BadFile, FileTooLarge
from bot.text.tables import MAX_LINE, MAX_ROWS

ANNA = {"email": "a@b.co", "name": "Änna", "segments": "", "site": ""}

IMPORTED: dict[str, tuple[bytes, dict[str, str]]] = {
    "our export": (
        '\ufeffemail,name,segments,site\r\na@b.co,Änna,"vip,free",blog\r\n'.encode(),
        ANNA | {"segments": "vip,free", "site": "blog"},
    ),
    "Excel, CSV UTF-8": ("\ufeffName;Email;Segments\r\nÄnna;a@b.co;vip\r\n".encode(), ANNA | {"segments": "vip"}),
    "pasted from a spreadsheet": ("name\temail\nÄnna\ta@b.co\n".encode(), ANNA),
    "quoted": (b'"EMAIL", "Name"\n"a@b.co", "Smith, ""A"""\n', ANNA | {"name": 'Smith, "A"'}),
    "blank lines": ("\n\nemail;name\n;\na@b.co;Änna\n\n".encode(), ANNA),
    "an old Mac's line ends": ("Name,Email\rÄnna,a@b.co\r".encode(), ANNA),
    "a cell that an export escaped": (b"email,name\na@b.co,'=x\n", ANNA | {"name": "=x"}),
}


@pytest.mark.parametrize(("content", "expected"), IMPORTED.values(), ids=IMPORTED)
def test_the_one_shape_is_read(content: bytes, expected: dict[str, str]) -> None:
    (row,) = read_member_table(content)

    assert (row.values, row.flaw) == (expected, "")


REFUSED: dict[str, tuple[bytes, str]] = {
    "Google Contacts": (
        b"First Name,Last Name,Labels,E-mail 1 - Value\nAnna,Berg,* myContacts,a@b.co\n",
        "Rename the column “E-mail 1 - Value” to “email”. Remove: “First Name”, “Last Name”, “Labels”.",
    ),
    "Stripe": (
        b"id,Email,Name,Plan,Status\ncus_1,a@b.co,Anna Berg,gold,canceled\n",
        "Remove: “id”, “Plan”, “Status”.",
    ),
    "Gumroad": (
        b"Item Name,Buyer Email,Refunded?\nCourse,a@b.co,1\n",
        "Rename the column “Buyer Email” to “email”. Remove: “Item Name”, “Refunded[?]”.",
    ),
    "Mailchimp": (
        b'"Email Address",TAGS\na@b.co,vip\n',
        "Rename the column “Email Address” to “email”. Remove: “TAGS”.",
    ),
    "German": (b"Name;Vorname;E-Mail\nBerg;Anna;a@b.co\n", "“E-Mail” to “email”. Remove: “Vorname”."),
    "no headings": (b"a@b.co,Anna\nb@b.co,Ben\n", "No column is called “email”. Remove: “a@b.co”, “Anna”."),
    "no emails": (b"name,phone\nAnna,1\n", "No column is called “email”. Remove: “phone”."),
    "a heading twice": (b"email,Email\na@b.co,b@b.co\n", "Remove: “Email”.* each once"),
    "a column without a heading": (b"email,\na@b.co,x\n", "Remove: “column 2”."),
    "the result of an import": (b"email,outcome,reason\na@b.co,done,\n", "Remove: “outcome”, “reason”."),
    "Excel, not Unicode": (b"Name;Email\r\nJos\xe9;j@b.co\r\n", "save it as CSV UTF-8"),
    "Excel, Unicode text": ("\ufeffName\tEmail\r\nAnna\ta@b.co\r\n".encode("utf-16-le"), "save it as CSV UTF-8"),
    "UTF-16 without a mark": ("Name\tEmail\r\n".encode("utf-16-le"), "save it as CSV UTF-8"),
    "xlsx": (b"PK\x03\x04\x14\x00\x06\x00\xd1xl/workbook.xml", "save it as CSV UTF-8"),
    "JSON": (b'[{"email":"a@b.co"}]', "No column is called “email”"),
    "many columns": (b",".join(b"c%d" % n for n in range(60)) + b",email\n", "“c19”, and 40 more"),
    "nothing": (b"\xef\xbb\xbf\r\n", "is empty"),
    "separators alone": (b",,,\n", "No column is called “email”"),
    "a heading alone": (b"email\r\n", "is empty"),
    "an open quote": (b'email,name\nc@d.co,Ben\na@b.co,"Anna\nx@y.co,z\n', "row in line 3 can’t be read"),
    "too many rows": (b"email\n" + b"a@b.co\n" * (MAX_ROWS + 1), "more than 20,000 rows"),
    "a long line": (b"email\n" + b"a" * (MAX_LINE + 1), "Line 2 is too long"),
    "a long heading": (b"email" + b"," * (MAX_FILE_BYTES - 5), "Line 1 is too long"),
}


@pytest.mark.parametrize(("content", "why"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused_with_what_to_change(content: bytes, why: str) -> None:
    with pytest.raises(BadFile, match=why):
        read_member_table(content)


def test_a_hundred_megabytes_are_not_even_looked_at() -> None:
    with pytest.raises(FileTooLarge, match=r"100 MB\. The limit is 10 MB"):
        read_member_table(bytes(100 * 1024 * 1024))
