"""The grammar: what people type becomes a command, or one helpful error; never a traceback, never a guess."""

from __future__ import annotations

import string
from contextlib import suppress
from datetime import UTC, datetime
from itertools import product
from operator import itemgetter
from typing import Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.text.wall_times import WallTime
from handlers.gatehouse.commands import GatehouseStatus, ToFreeze
from handlers.grammar.command import Certain, Command, Part, Rest, Unclear
from handlers.grammar.fields import KEYWORDS, Choice, Filter, First, Flag, Led, Page, Reason, Refs, Text, Urls
from handlers.grammar.parser import ALL, VERBS, check_reason, parse, parse_mention
from handlers.grammar.time_fields import AskedAt, Expiry, ForOrUntil, OnOrAt, Start
from handlers.members.commands import (
    Emails,
    MembersAdd,
    MembersGrant,
    MembersMove,
    MembersRemove,
    MembersShow,
    MembersWhy,
    NewEmail,
    Segment,
    Segments,
)
from handlers.rules.command_fields import Assignments, GroupName, OneOf
from handlers.rules.commands import (
    RulesGroup,
    RulesGroups,
    RulesList,
    RulesMake,
    RulesMenu,
    RulesNew,
    RulesOff,
    RulesSet,
    RulesShow,
    RulesWhich,
)
from handlers.slack.registry import COMMANDS, load

OLD = "https://shop.example.com/old"
RULES = [
    ("", RulesMenu()),
    ("list", RulesList()),
    ("ls", RulesList()),
    ("/rules list", RulesList()),
    ("list checkout type:redirect page:2", RulesList(text="checkout", type="redirect", page=2)),
    ("show Old shop", RulesShow("Old shop")),
    ("show <https://a.example/x|a.example/x>", RulesShow("https://a.example/x")),
    ("which <https://a.example/x?a=b&amp;c=d>", RulesWhich("https://a.example/x?a=b&c=d")),
    ("off #1 for 2h because it’s broken", RulesOff(("#1",), expiry=Expiry("for 2h", 7200), because="it's broken")),
    ("off Redirect_a1 because of the sale", RulesOff(("Redirect_a1",), because="because of the sale")),
    ("off Redirect_a1 —because it loops", RulesOff(("Redirect_a1",), because="it loops")),
    ("off X until 18:00", RulesOff(("X",), expiry=Expiry("until 18:00", wall=WallTime(18, 0)))),
    (
        "off X until 6pm CET, page 2",
        RulesOff(("X page 2",), expiry=Expiry("until 6pm CET", wall=WallTime(18, 0, "", "Europe/Berlin"))),
    ),
    ("off X for a while", RulesOff(("X for a while",))),
    ("off #1-3", RulesOff(("#1", "#2", "#3"))),
    ("off #1, #2 and #4", RulesOff(("#1", "#2", "#4"))),
    ("off Sale, spring and summer", RulesOff(("Sale, spring and summer",))),
    (
        "make block https://a.example/x/ match:below",
        RulesMake("Cancel", "https://a.example/x/", name="Block a.example/x", match="below"),
    ),
    ('set #1 pair2.to="a b"', RulesSet(("#1",), (("pair2.to", "a b"),))),
    ("on group: Sales", RulesGroup("on", "Sales")),
    ("create a new redirect rule", RulesNew("Redirect")),
    ('new "rule"', RulesNew(source="rule")),
    ("help", RulesMenu()),
    ('off "help"', RulesOff(("help",))),
    ("off help centre", RulesOff(("help centre",))),
    ("find help", RulesList("help")),
]
MEMBERS = [
    ("show <mailto:a@b.example|a@b.example>", MembersShow(("a@b.example",))),
    ("a@b.example", MembersWhy(("a@b.example",))),
    ("add a new member", MembersAdd()),
    ("add a@b.example named 'A B' to vip, free site:docs", MembersAdd("a@b.example", "A B", ("vip", "free"), "docs")),
    (
        "grant a@b.example,c@d.example, e@f.example vip",
        MembersGrant(("a@b.example", "c@d.example", "e@f.example"), ("vip",)),
    ),
    ("grant a@b.example and #2 to vip", MembersGrant(("a@b.example", "#2"), ("vip",))),
    ("remove a@b.example site:docs because gone", MembersRemove(("a@b.example",), "docs", because="gone")),
    ("remove a@b.example, c@d.example and #3", MembersRemove(("a@b.example", "c@d.example", "#3"))),
    ("rename #3 to c@d.example site:docs", MembersMove("#3", "c@d.example", "docs")),
]


@pytest.mark.parametrize(("text", "command"), RULES, ids=[text for text, _ in RULES])
def test_rules_are_understood(text: str, command: Command) -> None:
    assert parse("rules", text) == command


@pytest.mark.parametrize(("text", "command"), MEMBERS, ids=[text for text, _ in MEMBERS])
def test_members_are_understood(text: str, command: Command) -> None:
    assert parse("members", text) == command


def test_a_command_without_a_handler_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    load()
    monkeypatch.delitem(COMMANDS, RulesGroups)
    with pytest.raises(NotImplementedError, match="RulesGroups"):
        load()


@pytest.mark.parametrize("root", VERBS)
@pytest.mark.parametrize("kind", ALL, ids=lambda kind: f"{kind.service} {kind.verb}")
def test_each_of_the_three_takes_the_commands_of_all(kind: type[Command], root: str) -> None:
    command = parse(kind.service, kind.example)

    for text in (f"{kind.service} {kind.example}", f"/{kind.service} {kind.example}"):
        assert parse(root, text) == command
        assert parse_mention(f"<@U0BOT> {text}") == command


def test_a_mention_speaks_the_same_grammar() -> None:
    assert parse_mention("<@U0BOT|gatehouse> rules list type:cancel") == RulesList(type="cancel")
    assert parse_mention("<@U0BOT> status") == GatehouseStatus()


@pytest.mark.parametrize(
    "text",
    [
        "set #1",
        "off",
        "list page:x",
        "off X because",
        "list sort:x",
        "group Sales",
        "group off",
        "make redirect https://a.example/x named X",
        "make cancel https://a.example/x to https://b.example named X",
        "make cancel https://a.example/x",
        "make cancel /x named X",
        "make cancel https://a.example/x named X match:y",
    ],
)
def test_what_is_missing_is_named(text: str) -> None:
    with pytest.raises(Unclear) as caught:
        parse("rules" if "whoami" not in text else "gatehouse", text)
    assert caught.value.about


@pytest.mark.parametrize(
    ("service", "typo", "meant"),
    [
        ("rules", "liist", ["list", "lint"]),
        ("rules", "shwo #1", ["show"]),
        ("rules", "ofn #1", ["on"]),
        ("members", "grnat anna@example.com vip", ["grant"]),
        ("gatehouse", "pendign", ["pending"]),
    ],
)
def test_a_typo_is_taken_for_what_it_is_close_to(service: str, typo: str, meant: list[str]) -> None:
    with pytest.raises(Unclear) as caught:
        parse(service, typo)
    assert set(caught.value.about) <= {VERBS[service][name] for name in meant}
    assert caught.value.about[0] in {VERBS[service][meant[0]], VERBS[service][meant[-1]]}


def test_a_reason_with_an_exception_is_asked_about() -> None:
    with pytest.raises(Unclear, match="“but not the blog” say only why"):
        check_reason(parse("gatehouse", "freeze everything until 18:00 because of the move, but not the blog"))


@pytest.mark.parametrize("service", VERBS)
@pytest.mark.parametrize("word", ["bogus", "x", "turn", "flurbl", "everything", "лист"])
def test_a_word_that_is_close_to_nothing_gets_no_suggestion(service: str, word: str) -> None:
    with pytest.raises(Unclear) as caught:
        parse(service, f"{word} me")
    assert not caught.value.about


@pytest.mark.parametrize("service", VERBS)
@pytest.mark.parametrize("text", ["Bogus", "--", '"two words"', '"two words" more', "--bogus it"])
def test_what_is_not_understood_is_said_as_it_was_typed(service: str, text: str) -> None:
    with pytest.raises(Unclear) as caught:
        parse(service, text)

    words = text.replace('"', "")
    assert f"“{words}”" in caught.value.what


@pytest.mark.parametrize(("service", "verb"), [(s, v) for s in VERBS for v, k in VERBS[s].items() if k.destroys])
def test_no_typo_leads_to_something_that_takes_away(service: str, verb: str) -> None:
    for typo in (verb + "x", verb[1:] + verb[0], verb[0] + verb):
        if typo in VERBS[service]:
            continue
        with pytest.raises(Unclear) as caught:
            parse(service, f"{typo} Redirect_a1")
        assert not any(kind.destroys for kind in caught.value.about)


def test_a_novel_is_refused_quickly_and_in_words() -> None:
    with pytest.raises(Unclear, match="10,000"):
        parse("rules", "x" * 10_000)


NOISE = st.text(alphabet=string.printable + "“”’—–\u00a0\u200b\u202e<>&|#@:=é😀", max_size=120)


@pytest.mark.slow
@settings(max_examples=3000, deadline=None)
@given(service=st.sampled_from(sorted(VERBS)), text=NOISE)
def test_any_text_is_a_command_or_unclear(service: str, text: str) -> None:
    with suppress(Unclear):
        assert isinstance(parse(service, text), Command)


@pytest.mark.slow
@settings(max_examples=3000, deadline=None)
@given(service=st.sampled_from(sorted(VERBS)), verb=st.integers(0, 40), text=NOISE)
@example(service="members", verb=0, text="SITE:")
def test_any_words_after_a_verb_read_back_or_are_unclear(service: str, verb: int, text: str) -> None:
    names = sorted(VERBS[service])
    try:
        command = parse(service, f"{names[verb % len(names)]} {text}")
        written = command.write()
    except (Unclear, ValueError):
        return
    assert parse(command.service, written) == command


def test_every_command_has_its_words() -> None:
    for kind in ALL:
        assert kind.summary
        assert isinstance(parse(kind.service, kind.example), kind) or not kind.verb


MARKED = sorted({part.name for kind in ALL for part in kind.parts().values() if isinstance(part, Filter)})
ODD = [
    *sorted({part.shown.split()[0] for kind in ALL for part in kind.parts().values()}),
    *sorted(KEYWORDS),
    *VERBS["rules"],
    *(f"{name}:x" for name in MARKED),
    "#1",
    "redirect",
    "a,b",
    "yesterday",
    "tomorrow",
    "at 18:00",
    "24h",
    "for 2h",
]
LETTERS = string.ascii_letters + string.digits + " <>&|'\":=,.#@/ж"
TEXTS = st.sampled_from(ODD) | st.text(LETTERS, min_size=1, max_size=9).map(str.strip).filter(bool)
NAMES = st.from_regex(r"[a-z]{1,5}( [a-z]{2,5}){0,2}", fullmatch=True)
URLS = st.sampled_from(["https://a.example/x", "https://b.example/?c=d", "https://b.example/y"])


EMAILS = st.sampled_from(["a@b.example", "o'brien@c.example", "_d+e@f.example", "#3"])


SEVERAL = st.lists(TEXTS, min_size=1, max_size=3, unique=True).map(tuple)
VALUES: dict[type[Part], st.SearchStrategy[object]] = {
    **dict.fromkeys((Filter, Led, Text, First, GroupName, Segment), TEXTS),
    **dict.fromkeys((Refs, Segments, Urls), SEVERAL),
    Emails: TEXTS.map(lambda text: (text,)) | st.lists(EMAILS, min_size=1, unique=True).map(tuple),
    ToFreeze: st.sampled_from(
        ["shop.example.com", "a.example.com *.b.example", "group:Sales", 'site:"b c"', "everything"]
    ),
    NewEmail: st.sampled_from(["a@b.example", "o'brien@c.example", "_d+e@f.example"]),
    Page: st.integers(1, 999_999),
    Flag: st.just(value=True),
    ForOrUntil: st.sampled_from([Expiry("for 2h", 7200), Expiry("until 18:00", wall=WallTime(18, 0))]),
    AskedAt: st.sampled_from(["at 02:10", "an hour ago", "yesterday 18:00", "at 2026-11-28T01:10Z"]),
    OnOrAt: st.sampled_from(
        [
            Start("tomorrow 9:00", wall=WallTime(9, 0, "tomorrow")),
            Start("in 2h", seconds=7200),
            Start.at_moment(datetime(2026, 11, 27, 8, tzinfo=UTC)),
        ]
    ),
    Reason: NAMES.filter(lambda text: text.split()[0] != "of"),  # “because of the sale” is the reason as a whole
    Assignments: st.lists(st.tuples(st.sampled_from(["name", "pair2.to"]), NAMES), min_size=1, max_size=3).map(tuple),
}
"""What a field may hold, by the kind of field that it is; one that is not here and is like none of them fails."""


def values_of(kind: type[Command], part: Part) -> st.SearchStrategy[object]:
    if isinstance(part, OnOrAt | AskedAt):
        return VALUES[AskedAt if isinstance(part, AskedAt) else OnOrAt]
    if kind is RulesWhich and part.shown == "REF":
        return st.sampled_from(["Old shop", "#1", "Redirect_x1old", "it's"])
    if kind is RulesWhich:
        return st.lists(URLS, min_size=1, unique=True).map(tuple) if isinstance(part, Urls) else st.just(OLD)
    if isinstance(part, OneOf):
        return st.sampled_from(part.options)
    if isinstance(part, Choice):
        return st.sampled_from(sorted(set(part.choices.values())))
    return next(VALUES[each] for each in type(part).__mro__ if each in VALUES)


@pytest.mark.parametrize(
    "text",
    [
        "rules off #1{}#2",
        "members show a@example.com{}b@example.com",
        "members grant a@example.com{}b@example.com vip",
        "members grant a@example.com vip{}beta",
        "members revoke a@example.com vip{}beta",
        "members add a@example.com to vip{}beta",
    ],
)
def test_the_things_of_a_list_may_be_joined_by_words(text: str) -> None:
    service, text = text.split(" ", 1)

    listed = {parse(service, text.format(joined)) for joined in (" ", ", ", " and ", ", and ", " & ", " und ", " y ")}

    assert len(listed) == 1


FIELDS: Final = [(at, kind, name) for kind in ALL for at, name in enumerate(kind.parts())]


@pytest.mark.first(sum(at == 0 for at, _, _ in FIELDS))
@pytest.mark.parametrize(("kind", "name"), [each[1:] for each in sorted(FIELDS, key=itemgetter(0))])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_every_field_is_written_and_reads_back(kind: type[Command], name: str, data: st.DataObject) -> None:
    """Of every command, by its own declaration; the other fields are there or not."""
    wanted = {each for each, part in kind.parts().items() if each == name or part.missing or data.draw(st.booleans())}
    command = kind(**{each: data.draw(values_of(kind, kind.parts()[each]), each) for each in sorted(wanted)})
    try:
        command.check(Rest(kind, []))
        written = command.write()
    except (Unclear, ValueError):
        return  # fields that do not go together, or both kinds of quotes
    with suppress(Certain):  # the words of an option that there was
        assert parse(kind.service, written) == command


@pytest.mark.parametrize("kind", [kind for kind in ALL if kind.parts() and kind is not RulesWhich])
def test_a_text_that_looks_like_something_else_reads_back(kind: type[Command]) -> None:
    parts, example = kind.parts(), parse(kind.service, kind.example)
    required = {name: getattr(example, name) for name, part in parts.items() if part.missing}
    texts = [name for name, part in parts.items() if values_of(kind, part) is TEXTS]
    for name, text in product(texts, ODD):
        command = kind(**required | {name: text})
        with suppress(Unclear):
            command.check(Rest(kind, []))
            assert parse(kind.service, command.write()) == command, command
