"""Text that others write, in each hostile shape, to everything that reads it in several steps: the work grows with the text.

Single functions are judged by `test_growth.py`, expressions by `test_linear.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import pytest

from bot.clients.errors import refusal
from bot.clients.json_text import _unique_names as answer_object
from bot.clients.json_text import parse_json
from bot.members.csv import read_member_file
from bot.members.csv_columns import Mode
from bot.members.member_import_plan import plan_members
from bot.rules.edit import new_problems
from bot.rules.expressions import MAX_EXPRESSION
from bot.rules.files import _unique_names as file_object
from bot.rules.files import read_rule_file
from bot.rules.model import Rule
from bot.rules.pair_fields import OPERATOR
from bot.rules.url import MAX_URL_LENGTH, NotAUrl, Url
from bot.server.logs import redact_text
from bot.text.emails import BadEmail, checked_email, mask_emails
from bot.text.encoding import BadFile, escape_formula, unescape_formula
from bot.text.search import SearchIndex, search, text_of_rule
from bot.text.times import seconds_of
from handlers.blocks.messages import code, esc, plain_text
from handlers.changes.diff import differences, render
from handlers.changes.people import public_text
from handlers.grammar.command import Unclear
from handlers.grammar.parser import parse, parse_mention
from handlers.grammar.time_fields import parse_expiry
from handlers.grammar.tokens import MAX_COMMAND, emails_in, urls_in
from handlers.slack.payloads import read_event, text_of_message
from tests.harness.counting import TooMuch, count_steps
from tests.rules.whole import check, explain, introduced_by, plan_rules

pytestmark = pytest.mark.slow

MEGABYTE: Final = 1024 * 1024
PIECES: Final = (
    "a", "é", "@", "a@", "@a.", "a@b.c ", "a.", ".", "[", "(", "(a", "(?:", "{", ",", ";", "|", '"', "'", '"a"', "\\", "%", "%40",
    "a%40b.c", "/", "//", "https://", "https://a.b ", " ", " \n", "\n", "\t", "*", "_", "~", "`", "*_~`", ":a", "-", "—", "<",
    "<a", "<mailto:", "<mailto:a@b.c|", "&amp;", "&", "$1", "$", "#", "=",
    "-1", "\u0315\u0300", "\u200b", "9", "1h", "a=", "\ud800",
)  # fmt: skip
SHORT: Final = 5_000
"""Characters of the shorter text: more than any source of a rule that is checked, less than a message may have."""
MAX_GROWTH: Final = 2.1
"""Times the lines of Python that a text of twice the length takes; four times would be the square."""
OTHER_LINES: Final = 2_000
"""Lines that may come on top, in what a text of the other length happens to be."""
MAX_LINES_PER_CHARACTER: Final = 400
"""Lines of Python for each character, at most: five readings of a table with a row for every two characters."""


def rule(source: str, operator: str, **pair: Any) -> Rule:
    kind = "Replace" if "from" in pair else "Redirect"
    pairs = [{"source": {"key": "Url", "operator": operator, "value": source}, "destination": "https://a.b/"} | pair]
    return Rule.model_validate({"id": f"{kind}_x", "name": "x", "ruleType": kind, "status": "Active", "pairs": pairs})


HERE: Final = Url.of("https://shop.example.com/" + "a" * 2_000)


def judge(*rules: Rule) -> None:
    """All that is made of rules that somebody saved, or wants to."""
    for one in rules:
        new_problems(one, one)
        check([one, rule("https://shop.example.com/", "Contains")])
        explain([one], HERE)


def read_message(text: str) -> None:
    for message in ({"text": text}, {"blocks": [{"text": text[at : at + 3_000]} for at in range(0, len(text), 3_000)]}):
        said = text_of_message(message)
        urls_in(said)
        emails_in(said)


def read_command(text: str) -> None:
    read_event({"event": {"text": text}})
    for typed in (text, text[:MAX_COMMAND], f"set x {text[: MAX_COMMAND - 6]}", f"on {text[: MAX_COMMAND - 3]}"):
        with suppress(Unclear):
            parse("rules", typed)
        with suppress(Unclear):
            parse_mention(typed)


def read_url(text: str) -> None:
    reads: tuple[Callable[[str], object], ...] = (Url.from_typed, Url.of, checked_email)
    for read in reads:
        with suppress(NotAUrl, BadEmail):
            read(text)
    with suppress(NotAUrl):
        Url.of(f"https://{text[: MAX_URL_LENGTH - 8]}")


def show(text: str) -> None:
    for shown in (public_text, esc, code):
        shown(text)
    plain_text(text, 75)
    render(differences({"name": text}, {"name": f"{text}x"}), mask_emails)


def show_headers(text: str) -> None:
    old = [text[at : at + 200] for at in range(0, len(text), 200)]
    new = [f"{header}{number}" for number, header in enumerate(old)]
    differences({"pairs": [{"modifications": old}]}, {"pairs": [{"modifications": new}]})


def find(text: str) -> None:
    shop = text_of_rule(rule(text, "Equals"))
    for index, typed in ((SearchIndex(["x"], ["\nold shop\n"]), text), (SearchIndex(["x"], [shop]), "old shop")):
        list(search(index, typed, most=5))


def import_members(text: str) -> None:
    cell = text[:100_000].replace('"', "")
    headed = f'email,segments,"{cell}"\na@b.co,"{cell}",x\n'
    for table in (text, f"email{text}", f"email\n{text}", headed):
        with suppress(BadFile):
            plan_members(read_member_file(table.encode("utf-8", "replace")), Mode.ADD, (), ("free", "vip"))


def import_rules(text: str) -> None:
    record = rule(text, "Matches").model_dump(by_alias=True)
    for content in (text.encode("utf-8", "replace"), json.dumps([record]).encode()):
        with suppress(BadFile):
            plan_rules(read_rule_file(content), ())


def read_answer(text: str) -> None:
    refusal("rules", 400, text)
    with suppress(ValueError):
        parse_json(text.encode("utf-8", "replace"))


ENTRIES: Final[dict[str, Callable[[str], Any]]] = {
    "a message": read_message,
    "a command": read_command,
    "a duration": lambda text: (parse_expiry(text), seconds_of(text)),
    "an address": read_url,
    "a log value": redact_text,
    "a reason, a name": show,
    "all emails of a text": mask_emails,
    "headers": show_headers,
    "a search": find,
    "a source": lambda text: judge(*(rule(text, operator) for operator in OPERATOR.options)),
    "an expression": lambda text: judge(
        *(rule(f"/{text[:most]}/", "Matches") for most in (MAX_EXPRESSION // 8, MEGABYTE))
    ),
    "a destination": lambda text: judge(
        rule("*a*", "Wildcard_Matches", destination=f"https://a.b/{text}"),
        rule("/(.*)/", "Matches", destination=f"https://a.b/{text}"),
    ),
    "a replacement": lambda text: judge(
        *(rule("a", "Contains", **{"from": old, "to": text}) for old in ("a", "/(a*)/g", "/a/g")),
        *(rule("a", "Contains", **{"from": old, "to": "b"}) for old in (text, f"/{text}/g")),
    ),
    "a file of members": import_members,
    "a file of rules": import_rules,
    "a cell": lambda text: (escape_formula(text), unescape_formula(text)),
    "an answer of a service": read_answer,
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_work_grows_with_the_text_and_no_faster(entry: str) -> None:
    read = ENTRIES[entry]
    for piece in PIECES:
        once, twice = (piece * (length // len(piece)) for length in (SHORT, 2 * SHORT))
        lines = 0
        try:
            lines = count_steps(MAX_LINES_PER_CHARACTER * SHORT, read, once)
            count_steps(int(MAX_GROWTH * lines) + OTHER_LINES, read, twice)
        except TooMuch as error:
            pytest.fail(f"{piece!r} again and again takes too many lines, {lines:,} for half as often: {error}")


def of_many_pairs(kind: str, operator: str, value: str, count: int) -> Rule:
    """A rule whose pairs begin alike, each leading to where another one may take over."""
    pairs = [
        {
            "source": {"key": "Url", "operator": operator, "value": value.format(number)},
            "destination": f"https://a.b/new/{number + 1}/",
            "from": "old",
            "to": "new",
        }
        for number in range(1_000, 1_000 + count)
    ]
    return Rule.model_validate({"id": f"{kind}_x", "name": "x", "ruleType": kind, "status": "Active", "pairs": pairs})


@pytest.mark.parametrize("kind", ["Redirect", "Replace", "Cancel"])
@pytest.mark.parametrize(
    ("operator", "value"),
    [
        ("Equals", "https://a.b/old/{}/"),
        ("Contains", "/old/{}/"),
        ("Wildcard_Matches", "*/old/{}/*"),
        ("Matches", r"/old\/{}\/(.*)/"),
    ],
)
def test_the_work_grows_with_the_pairs_of_a_rule_and_no_faster(kind: str, operator: str, value: str) -> None:
    fewer, more = (of_many_pairs(kind, operator, value, count) for count in (50, 100))
    other = rule("https://a.b/old/1007/", "Contains")
    for judged in (lambda one: check([one, other]), lambda one: introduced_by([other], one, one)):
        lines = count_steps(500_000, judged, fewer)
        count_steps(int(MAX_GROWTH * lines) + OTHER_LINES, judged, more)


class Name(str):
    """A name that counts how often it is compared with another."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return str.__eq__(self, str(other))

    __hash__ = str.__hash__


@pytest.mark.parametrize("read", [file_object, answer_object])
def test_a_name_that_comes_twice_is_found_in_one_go(read: Callable[[list[tuple[str, Any]]], Any]) -> None:
    names = [(Name(number), None) for number in range(2_000)]
    Name.compared = 0

    with pytest.raises(ValueError, match=r"1999|twice"):
        read([*names, (Name(1_999), None)])

    assert Name.compared < 2 * len(names)
