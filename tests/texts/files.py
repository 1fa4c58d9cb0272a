"""What is read about files: the forms and previews of imports, what introduces an export, and why a file is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from bot.clients.lists import Gap
from bot.members.member_import_plan import Mode, plan_members, read_member_table
from bot.members.model import Member
from bot.rules.files import MAX_RULES, read_rule_file
from bot.rules.model import Groups
from bot.rules.redirect_table import plan_redirects, read_redirect_table
from bot.text.encoding import BadFile
from bot.text.tables import MAX_LINE, MAX_ROWS
from handlers.files import exports
from handlers.files.import_form_view import MEMBER_FORMS, MOVED, RULE_FORMS, Handed, file_form, plan_form
from handlers.files.imports import member_plan, rule_plan
from handlers.rules.reasons import first_problem
from tests.rules.whole import plan_rules
from tests.texts import Sample
from tests.texts.rules import FILTERED, OFF, OLD, SHOP, pair, rule

MEMBERS: Final = b"""email,name,segments
anna@example.com,Anna Berg,vip
emil@example.com,Emil Noor,vip
ben@example.com,Ben,free
ben@example.com,Ben,vip
not an email,Carl,free
dora@example.com,Dora,platinum
nia@example.com,Nia New,"vip,free"
"""


def imports() -> Iterator[Sample]:
    """The forms of an import, and its preview."""
    file = Handed("C0OPS0001", "rules.json")
    yield "rules: the file", file_form(RULE_FORMS, file)
    wrong = _refusal(read_rule_file, b"[]")
    yield "rules: the file was refused", file_form(RULE_FORMS, file, wrong)
    moved = rule(1, "Old shop to new shop", pair(f"{SHOP}/old", f"{SHOP}/landing"))
    records = [rule(20, "Jobs", pair(f"{SHOP}/jobs", f"{SHOP}/careers")), FILTERED, OFF, moved]
    documents: list[Any] = [
        *(one.document() for one in records),
        OFF.document(),
        {"objectType": "group", "name": "Sales"},
        {**rule(21, "Sales", pair(f"{SHOP}/sales", f"{SHOP}/sale")).document(), "groupId": "Group_gone"},
        7,
    ]
    plan = rule_plan(plan_rules(documents, [OLD, OFF], Groups({}, frozenset())), "record")
    yield "rules: the preview", plan_form(RULE_FORMS, plan, file)
    same = rule_plan(plan_rules([OFF.document()], [OFF]), "record")
    yield "rules: nothing to import by now", plan_form(RULE_FORMS, same, file, MOVED)
    paths = read_redirect_table(b"from,to\n/a,https://shop.example.com/b\n")
    redirects = rule_plan([*plan_redirects(paths, [], first_problem)], "line")
    looping = replace(redirects, warnings=["Line 2 loops."])
    yield "redirects: the preview", plan_form(RULE_FORMS, looping, Handed("C0OPS0001", "paths.csv"))
    table = Handed("C0OPS0001", "m.csv", site="blog")
    yield "members: the file", file_form(MEMBER_FORMS, table)
    anna = Member.model_validate({"email": "anna@example.com", "name": "Anna Berg", "allowedSegments": ["free"]})
    emil = Member.model_validate({"email": "emil@example.com", "name": "Emil", "allowedSegments": ["vip"]})
    people = read_member_table(MEMBERS)
    for mode in (Mode.GRANT, Mode.ADD):
        rows = plan_members(people, mode, "blog", [anna, emil], ("vip", "free"))
        yield f"members: the preview ({mode})", plan_form(MEMBER_FORMS, member_plan(rows, "blog"), table)


def introductions() -> Iterator[Sample]:
    """The line that comes with an exported file."""
    yield "all rules", exports.rules_comment(25, total=25, place="rules.example.com", gap=None)
    yield "some rules", exports.rules_comment(1, total=25, place="rules.example.com", gap=None)
    yield "not all could be read", exports.rules_comment(25, total=25, place="rules.example.com", gap=Gap(25, 40))
    yield "members", exports.members_comment(3, total=20, site="blog", gap=None)


REFUSED: Final[dict[Callable[[bytes], Any], list[bytes]]] = {
    read_member_table: [
        b"",
        bytes(100 * 1024 * 1024),
        b"ab,\x81\x01",
        b'email,name\na@b.co,Anna\nb@b.co,"Ben',
        b"name,plan\nAnna,vip",
        b"First Name,E-mail 1 - Value\nAnna,a@b.co",
        b"email\n" + b"a@b.co\n" * (MAX_ROWS + 1),
        b"email\na@b.co\n" + b"b" * (MAX_LINE + 1),
    ],
    read_rule_file: [
        b'[\n {\n  "status":    x}]',
        "[{“pairs”: []}]".encode(),
        b'[{"status": "Active", "status": "Inactive"}]',
        b"[" * 100_000,
        b'{"rules": []}',
        b"[]",
        b'[{"pairs":[]}' + b',{"pairs":[]}' * MAX_RULES + b"]",
    ],
    read_redirect_table: [b"name,age\nBo,3", b"from,to,group\na,b,c"],
}


def _refusal(read: Callable[[bytes], Any], content: bytes) -> str:
    try:
        read(content)
    except BadFile as error:
        return str(error)
    raise ValueError(content[:60])


def refusals() -> Iterator[Sample]:
    """Why a file is refused, and what to do."""
    yield "files", "\n".join(_refusal(read, content) for read, contents in REFUSED.items() for content in contents)


def samples() -> Iterator[Sample]:
    """All of them."""
    for part in (imports, introductions, refusals):
        yield from ((f"{part.__name__}: {title}", shown) for title, shown in part())
