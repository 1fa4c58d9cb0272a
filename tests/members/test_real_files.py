"""Files of members as programs write them, byte for byte: the names come out right, or people are asked, or it is refused."""

from __future__ import annotations

from typing import Final, NamedTuple

import pytest

from bot.members.csv import MemberFile, read_member_file
from bot.members.csv_columns import Column
from bot.text.encoding import BadFile

FIRST, LAST, NAME, EMAIL, SEGMENTS = (
    Column.FIRST_NAME,
    Column.LAST_NAME,
    Column.NAME,
    Column.EMAIL,
    Column.SEGMENTS,
)


class Asked(NamedTuple):
    """A file whose encoding people are asked for, and what they answer."""

    content: bytes
    for_columns: set[Column]
    """The columns that are asked for, beside the encoding."""
    encoding: str
    columns: dict[Column, int]
    """The answers."""
    people: list[str]
    """What comes out then."""


CERTAIN: Final[dict[str, tuple[bytes, list[str]]]] = {
    "Excel, CSV UTF-8": (
        b"\xef\xbb\xbfName;Email;Segments\r\n\xc5\x81ukasz \xc5\xbb\xc3\xb3\xc5\x82\xc4\x87;l@b.co;vip\r\n",
        ["l@b.co Łukasz Żółć vip"],
    ),
    "Excel, Unicode text": (
        b"\xff\xfeN\0a\0m\0e\0\t\0E\0m\0a\0i\0l\0\r\0\n\0\x18\x04\x32\x04\x30\x04\x3d\x04\t\0i\0@\0b\0.\0c\0o\0\r\0\n\0",
        ["i@b.co Иван"],
    ),
    "UTF-16, big end first": (
        b"\xfe\xff\0N\0a\0m\0e\0,\0E\0m\0a\0i\0l\0\r\0\n\x73\x8b\x4f\x1f\0,\0w\0@\0b\0.\0c\0o\0\r\0\n",
        ["w@b.co 王伟"],
    ),
    "Google Sheets": (b'Name,Email,Tags\nJos\xc3\xa9 N\xc3\xba\xc3\xb1ez,j@b.co,"vip, free"', ["j@b.co José Núñez vip, free"]),
    "LibreOffice, quoted": (b'"Full name","E-mail"\n"Zo\xc3\xab Gro\xc3\x9f","z@b.co"\n', ["z@b.co Zoë Groß"]),
    "Numbers": (b"First Name,Last Name,Email\r\nAnna,Berg,a@b.co\r\n", ["a@b.co Anna Berg"]),
    "Mailchimp": (
        b'"Email Address","First Name","Last Name","Address","Phone Number","Birthday","TAGS"\n'
        b'"a@b.co","Anna","Berg","","","","""vip"",""free"""\n'.replace(b'""\\"', b'"""'),
        ['a@b.co Anna Berg "vip","free"'],
    ),
    "Mailchimp's merge tags": (b"EMAIL,FNAME,LNAME,MEMBER_RATING\na@b.co,Anna,Berg,2\n", ["a@b.co Anna Berg"]),
    "HubSpot": (
        (b'"Record ID","First Name","Last Name","Email","Phone Number","Lead Status","Marketing contact status"\r\n'
        b'"101","Bj\xc3\xb8rk","Lie","b@b.co","","New","Marketing contact"\r\n'),
        ["b@b.co Bjørk Lie"],
    ),
    "Ghost": (
        (b"id,email,name,note,subscribed_to_emails,complimentary_plan,stripe_customer_id,created_at,deleted_at,labels,tiers\r\n"
        b"64f0,a@b.co,Anna Berg,,true,,,2026-01-02T03:04:05.000Z,,Gold,\r\n"),
        ["a@b.co Anna Berg Gold"],
    ),
    "WordPress": (
        b"user_login,user_email,display_name,first_name,last_name,role\nanna,a@b.co,Anna Berg,Anna,Berg,subscriber\n",
        ["a@b.co Anna Berg"],
    ),
    "Shopify": (
        (b"Customer ID,First Name,Last Name,Email,Accepts Email Marketing,Default Address Company,Default Address City,Tags\n"
        b"'7001,Anna,Berg,a@b.co,yes,Acme,Berlin,\"gold, vip\"\n"),
        ["a@b.co Anna Berg gold, vip"],
    ),
    "Stripe": (
        b"id,Description,Email,Name,Created (UTC),Plan,Status\ncus_1,,a@b.co,Anna Berg,2026-01-02 03:04,gold,active\n",
        ["a@b.co Anna Berg gold"],
    ),
    "Memberful": (
        b"Full Name,Email,Member ID,Plan,Country,City\nAnna Berg,a@b.co,7,Gold,DE,Berlin\n",
        ["a@b.co Anna Berg Gold"],
    ),
    "WooCommerce": (
        (b"Order Number,First Name (Billing),Last Name (Billing),Company (Billing),Email (Billing),City (Billing)\n"
        b"12,Anna,Berg,Acme,a@b.co,Berlin\n"),
        ["a@b.co Anna Berg"],
    ),
    "Google Contacts": (
        b"First Name,Middle Name,Last Name,Labels,E-mail 1 - Label,E-mail 1 - Value\nAnna,,Berg,* myContacts,*,a@b.co\n",
        ["a@b.co Anna Berg * myContacts"],
    ),
    "Outlook": (
        b'"Title","First Name","Middle Name","Last Name","Company","E-mail Address"\r\n"","Anna","","Berg","Acme","a@b.co"\r\n',
        ["a@b.co Anna Berg"],
    ),
    "Gumroad": (b"Item Name,Buyer Name,Buyer Email\nCourse,Anna Berg,a@b.co\n", ["a@b.co Anna Berg"]),
    "Substack": (b"Email,Name,Type,Stripe plan\na@b.co,Anna Berg,comp,\n", ["a@b.co Anna Berg"]),
    "a name, and its parts": (
        b"Name,First name,Last name,Email\nAnna Berg,Anna,Berg,a@b.co\n,Ben,Day,b@b.co\n",
        ["a@b.co Anna Berg", "b@b.co Ben Day"],
    ),
    "Eventbrite": (b"Order #,First Name,Surname,Email,Ticket Type\n7,Anna,Berg,a@b.co,Adult\n", ["a@b.co Anna Berg"]),
    "pasted from a mail": ("Jörg Groß <j@b.co>; Anna <a@b.co>".encode(), ["j@b.co Jörg Groß", "a@b.co Anna"]),
    "a code page that makes no difference": (
        b"Email,Name,City\na@b.co,Anna Berg,M\xfcnchen\n",
        ["a@b.co Anna Berg"],
    ),
    "links to emails": (b"mailto:a@b.co\nMAILTO:b@b.co?subject=Hi\n<mailto:c@b.co>\n", ["a@b.co", "b@b.co", "c@b.co"]),
    "capitals and marks": (
        "Name,Email\n“JOÃO” CAFÉ’S,j@b.co\nÅse « voilà » Ñuñez,v@b.co\nGROẞ ÄÖÜ…,g@b.co\n".encode(),
        ["j@b.co “JOÃO” CAFÉ’S", "v@b.co Åse « voilà » Ñuñez", "g@b.co GROẞ ÄÖÜ…"],
    ),
    "a database's words for nothing": (
        b"email,name\na@b.co,NULL\nb@b.co,\\N\nc@b.co,#N/A\nd@b.co,nan\ne@b.co,Null\nf@b.co,Nan Day\n",
        ["a@b.co", "b@b.co", "c@b.co", "d@b.co", "e@b.co Null", "f@b.co Nan Day"],
    ),
    "a web page's letters": (
        b"email,name\na@b.co,Pat O&#039;Neil\nb@b.co,Zo&euml; M&uuml;ller\nc@b.co,A&amp;B & C; D\n",
        ["a@b.co Pat O'Neil", "b@b.co Zo\u00eb M\u00fcller", "c@b.co A&B & C; D"],
    ),
    "an old Mac's line ends": (b"Name,Email\rAnna Berg,a@b.co\rBen Day,b@b.co\r", ["a@b.co Anna Berg", "b@b.co Ben Day"]),
}  # fmt: skip

IN_UTF_8: Final = {
    "Google Forms": ("Timestamp,Email Address,What is your name?\n1/2/2026 3:04:05,a@b.co,Anna Berg\n", {NAME: 2}),
    "Bulgarian": ("Име,Фамилия,Имейл\nАнна,Петрова,a@b.co\n", {FIRST: 0, LAST: 1, EMAIL: 2}),
    "Romanian": ("Prenume,Nume,Email\nAna,Popescu,a@b.co\n", {FIRST: 0, LAST: 1, EMAIL: 2}),
    "Croatian": ("Ime,Prezime,E-pošta\nAna,Horvat,a@b.co\n", {FIRST: 0, LAST: 1, EMAIL: 2}),
    "Hungarian": ("Vezetéknév;Keresztnév;Email\nKovács;Anna;a@b.co\n", {FIRST: 1, LAST: 0, EMAIL: 2}),
    "Korean": ("이름,성,이메일\n철수,김,a@b.co\n", {FIRST: 0, LAST: 1, EMAIL: 2}),
    "Traditional Chinese": ("姓氏,名字,電子郵件\n陳,怡君,a@b.co\n", {FIRST: 1, LAST: 0, EMAIL: 2}),
    "German": ("Name;Vorname;E-Mail\nGroß;Jörg;a@b.co\n", {FIRST: 1, LAST: 0, EMAIL: 2}),
    "Arabic": ("الاسم,الكنية,Email\nمحمد,علي,a@b.co\n", {FIRST: 0, LAST: 1, EMAIL: 2}),
    "no headings": ("Anna,Berg,a@b.co\nBen,Day,b@b.co\n", {FIRST: 0, LAST: 1, EMAIL: 2}),
}


EXCEL: Final = {
    "Polish": Asked(
        b"Imi\xea;Nazwisko;E-mail;Grupa\r\n\xa3ukasz;\xaf\xf3\xb3\xe6;l@b.co;vip\r\n"
        b"\x8cwi\xeatos\xb3awa;G\xb9sior;s@b.co;vip\r\n",
        {NAME, SEGMENTS}, "cp1250", {FIRST: 0, LAST: 1, SEGMENTS: 3},
        ["l@b.co Łukasz Żółć vip", "s@b.co Świętosława Gąsior vip"],
    ),
    "Polish with English headings": Asked(
        b"Name;Email\r\n\xa3ukasz \xaf\xf3\xb3\xe6;l@b.co\r\n", set(), "cp1250", {NAME: 0}, ["l@b.co Łukasz Żółć"]
    ),
    "Czech": Asked(
        b"Jm\xe9no;P\xf8\xedjmen\xed;Email\r\nJi\xf8\xed;Dvo\xf8\xe1k;j@b.co\r\n",
        {NAME}, "cp1250", {FIRST: 0, LAST: 1}, ["j@b.co Jiří Dvořák"],
    ),
    "Russian": Asked(
        b"\xc8\xec\xff;\xd4\xe0\xec\xe8\xeb\xe8\xff;\xcf\xee\xf7\xf2\xe0\r\n\xc8\xe2\xe0\xed;\xcf\xe5\xf2\xf0\xee\xe2;i@b.co\r\n",
        {NAME, SEGMENTS}, "cp1251", {FIRST: 0, LAST: 1}, ["i@b.co Иван Петров"],
    ),
    "Greek": Asked(
        b"\xbc\xed\xef\xec\xe1;Email\r\n\xcd\xdf\xea\xef\xf2;n@b.co\r\n", {NAME}, "cp1253", {NAME: 0}, ["n@b.co Νίκος"]
    ),
    "Turkish": Asked(
        b"Ad Soyad;E-posta\r\nI\xfe\xfdk \xd6z;i@b.co\r\n", {NAME, SEGMENTS}, "cp1254", {NAME: 0}, ["i@b.co Işık Öz"]
    ),
    "Chinese": Asked(
        b"\xd0\xd5\xc3\xfb,Email\r\n\xcd\xf5\xce\xb0,w@b.co\r\n", {NAME}, "gbk", {NAME: 0}, ["w@b.co 王伟"]
    ),
    "Chinese, Taiwan": Asked(
        b"Name,Email\r\n\xb3\xaf\xa9\xc9\xa7g,c@b.co\r\n", set(), "cp950", {NAME: 0}, ["c@b.co 陳怡君"]
    ),
    "Japanese": Asked(
        b"\x8e\x81\x96\xbc,Email\r\n\x8eR\x93c \x91\xbe\x98Y,y@b.co\r\n",
        {NAME}, "cp932", {NAME: 0}, ["y@b.co 山田 太郎"],
    ),
    "Korean": Asked(
        b"Name,Email\r\n\xb1\xe8\xc3\xb6\xbc\xf6,k@b.co\r\n", set(), "cp949", {NAME: 0}, ["k@b.co 김철수"]
    ),
    "Western": Asked(
        b"Name;Email\r\nJos\xe9 O\x92Brien;j@b.co\r\n", set(), "cp1252", {NAME: 0}, ["j@b.co José O’Brien"]
    ),
    "Western, Mac": Asked(
        b"Name;Email\rJos\x8e N\x9c\x96ez;j@b.co\r", set(), "mac_roman", {NAME: 0}, ["j@b.co José Núñez"]
    ),
    "Russian, Mac": Asked(
        b"Name;Email\r\x88\xe2\xe0\xed \x8f\xe5\xf2\xf0\xee\xe2;i@b.co\r",
        set(), "mac_cyrillic", {NAME: 0}, ["i@b.co Иван Петров"],
    ),
    "UTF-8, encoded twice": Asked(
        "Name,Email\nJosÃ© MÃ¼ller,j@b.co\nÅ\x81ukasz Oâ€™Neil,l@b.co\nGro\u00df,g@b.co\nÐ\u02dcÐ²Ð°Ð½,i@b.co\n".encode(),
        set(), "utf-8 twice", {NAME: 0},
        ["j@b.co José Müller", "l@b.co Łukasz O’Neil", "g@b.co Groß", "i@b.co Иван"],
    ),
    "UTF-8, as odd as it is": Asked(
        "Name,Email\nJosÃ© MÃ¼ller,j@b.co\n".encode(), set(), "utf-8", {NAME: 0}, ["j@b.co JosÃ© MÃ¼ller"]
    ),
    "Hebrew": Asked(b"Name,Email\r\n\xe3\xe5\xe3 \xeb\xe4\xef,d@b.co\r\n", set(), "cp1255", {NAME: 0}, ["d@b.co דוד כהן"]),
    "Russian, KOI8": Asked(b"Name,Email\n\xe9\xd7\xc1\xce,i@b.co\n", set(), "koi8_r", {NAME: 0}, ["i@b.co Иван"]),
    "Polish, Linux": Asked(b"Name,Email\n\xa6wi\xeatos\xb3awa,s@b.co\n", set(), "iso8859_2", {NAME: 0}, ["s@b.co Świętosława"]),
}  # fmt: skip

DOUBTFUL: Final = {
    "a first name, and a word": ("First Name,Family,Email\nAnna,berg,a@b.co\n", {LAST}),
    "a last name, and a word": ("Surname,Called,Email\nBerg,Anna,a@b.co\n", {FIRST}),
    "a name and a last name": ("Name,Last name,Email\nAnna,Berg,a@b.co\n", {NAME}),
    "a nickname, and a whole name": ("Display name,First name,Last name,Email\nann42,Anna,Berg,a@b.co\n", {NAME}),
    "two columns of names": ("Name,Name,Email\nAnna,Berg,a@b.co\n", {NAME}),
    "segments under a word that says nothing": ("Email,Zugang\na@b.co,vip\n", {SEGMENTS}),
    "tags and segments": ("Email,Tags,allowedSegments\na@b.co,x,vip\n", {SEGMENTS}),
    "tiers beside labels that are empty": ("Email,Labels,Tiers\na@b.co,,vip\n", set()),
    "the number of an order, and a name": ("Name,Email,Billing name\n#1001,a@b.co,Anna Berg\n", {NAME}),
    "a first name, and a city": ("First name,Email,City\nAnna,a@b.co,Berlin\n", {LAST}),
    "family names that come again": (
        "First name,Apellidos,Email,Groups\n" + "".join(f"N{n}a,García,a{n}@b.co,vip\n" for n in range(9)),
        {LAST},
    ),
    "names in lower case": ("name,cognome,email\nanna,rossi,a@b.co\nluca,bianchi,b@b.co\n", {NAME}),
    "names with digits and strokes": ("Name,Family,Email\nAnna,Berg/Lie,a@b.co\nBen,Day 2,b@b.co\n", {NAME}),
    "names in Thai": ("ชื่อ,นามสกุล,อีเมล\nสมชาย,ใจดี,a@b.co\n", {NAME, SEGMENTS}),
    "whole names, and a city": ("Name,Email,City\nAnna Berg,a@b.co,Berlin\n", set()),
    "labels and tiers": ("id,email,name,labels,tiers\n1,a@b.co,A B,vip,premium\n2,b@b.co,B C,,premium\n", {SEGMENTS}),
    "tags and a plan": ("Email,Name,Tags,Plan\na@b.co,A B,vip,premium\nb@b.co,B C,,premium\n", {SEGMENTS}),
    "emails alone": ("Email,Joined\na@b.co,2026-01-02\n", set()),
}

REFUSED: Final[dict[str, tuple[bytes, str]]] = {
    "HTML table": (b"<table><tr><td>a@b.co</td></tr></table>", "a web page"),
    "Excel's web page": (b'<html xmlns:x="urn:schemas-microsoft-com:office:excel">', "a web page"),
    "vCard": (b"BEGIN:VCARD\r\nVERSION:3.0\r\nEMAIL:a@b.co\r\nEND:VCARD\r\n", "a contact card"),
    "xlsx": (b"PK\x03\x04\x14\x00\x06\x00xl/workbook.xml", "a spreadsheet"),
    "ods": (b"PK\x03\x04\x14\x00mimetypecontent.xml", "a spreadsheet"),
    "xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a spreadsheet"),
    "UTF-8 with one bad byte": (
        "Name,Email\nJosé Müller,j@b.co\nZoë ".encode() + b"M\xfcller,z@b.co\n",
        "Line 3 is damaged",
    ),
    "gzip": (b"\x1f\x8b\x08\x00", "not text"),
    "JSON": (b'[{"email":"a@b.co"}]', "is JSON"),
    "a heading alone": (b"email\r\n", "is empty"),
    "no emails": (b"name,phone\nAnna,1\n", "No column of the table has emails"),
    "an open quote": (b'email,name\na@b.co,"Anna\n', "can’t be read"),
}


def people(file: MemberFile) -> list[str]:
    return [" ".join(filter(None, (row.email, row.name, row.segments))) for row in file.rows]


@pytest.mark.parametrize(("content", "expected"), CERTAIN.values(), ids=CERTAIN)
def test_what_is_certain_is_read(content: bytes, expected: list[str]) -> None:
    file = read_member_file(content, segments=("vip", "free"))

    assert (people(file), file.readings, {*file.layout.claimed}) == (expected, (), set())


@pytest.mark.parametrize("asked", EXCEL.values(), ids=EXCEL)
def test_names_in_a_code_page_are_asked_for(asked: Asked) -> None:
    file = read_member_file(asked.content, encoding=asked.encoding, segments=("vip",))
    assert file.layout.claimed == asked.for_columns

    offered = [reading.encoding for reading in file.readings]
    email = file.columns[Column.EMAIL]
    answered = read_member_file(asked.content, {Column.EMAIL: email, **asked.columns}, asked.encoding)

    assert (asked.encoding in offered, people(answered)) == (True, asked.people)


@pytest.mark.parametrize(("text", "answer"), IN_UTF_8.values(), ids=IN_UTF_8)
def test_headings_that_say_nothing_are_asked_for(text: str, answer: dict[Column, int]) -> None:
    file = read_member_file(text.encode())
    assert ({*file.layout.claimed} - {SEGMENTS}, [row.name for row in file.rows if row.name]) == ({NAME}, [])

    rows = read_member_file(text.encode(), {EMAIL: file.columns[EMAIL], NAME: None, **answer}).rows

    cells = rows[0].cells
    parts = [answer[column] for column in (FIRST, NAME, LAST) if column in answer]
    assert rows[0].name == " ".join(cells[at] for at in parts)


@pytest.mark.parametrize(("text", "expected"), DOUBTFUL.values(), ids=DOUBTFUL)
def test_half_a_name_is_asked_for(text: str, expected: set[Column]) -> None:
    assert read_member_file(text.encode(), segments=("VIP",)).layout.claimed == expected


@pytest.mark.parametrize(("content", "why"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_table_of_members_is_refused(content: bytes, why: str) -> None:
    with pytest.raises(BadFile, match=why):
        read_member_file(content)


def test_a_question_stays_open_until_it_is_answered() -> None:
    text = "Имя,Фамилия,Email\nИван,Петров,i@b.co\n".encode()

    answered_another = read_member_file(text, {EMAIL: 2, FIRST: 0})
    answered = read_member_file(text, {EMAIL: 2, FIRST: 0, LAST: 1, NAME: None})

    assert answered_another.layout.claimed == {NAME}
    assert not answered.layout.claimed
