"""What each of the two engines makes of a URL: a rule and a URL, and the outcome in the desktop app and in the extension."""

from __future__ import annotations

from typing import Any

import pytest

from bot.rules.engines import Engine
from bot.rules.matching import judge
from bot.rules.model import Rule
from bot.rules.outcomes import Match, Note, NoteKind
from bot.rules.url import Url

H = "https://h/"


def rule(kind: str, *pairs: dict[str, Any]) -> Rule:
    return Rule.model_validate({"id": f"{kind}_1", "status": "Active", "ruleType": kind, "pairs": list(pairs)})


def when(operator: str, value: str, key: str = "Url", *, active: Any = None, **pair: Any) -> dict[str, Any]:
    switch = {} if active is None else {"isActive": active}
    return {"source": {"key": key, "operator": operator, "value": value} | switch} | pair


def to(destination: str, operator: str = "Contains", value: str = "h", key: str = "Url", **more: Any) -> dict[str, Any]:
    return when(operator, value, key, destination=destination, **more)


def swap(find: str, put: str, operator: str = "Contains", value: str = "h", **more: Any) -> dict[str, Any]:
    return when(operator, value, **{"from": find, "to": put}, **more)


def params(*changes: dict[str, Any]) -> Rule:
    return rule("QueryParam", when("Contains", "h", modifications=list(changes)))


def adds(name: str, value: Any, action: str | None = None) -> dict[str, Any]:
    asked = {} if action is None else {"actionWhenParamExists": action}
    return {"type": "Add", "param": name, "value": value} | asked


MOCK = "https://mock.example/api?rq_uid=1"
A, B, C = "https://a.example/", "https://b.example/", "https://c.example/"
X = {"type": "Remove", "param": "x"}
ALL = {"type": "Remove All"}

URLS = [
    # a mock of the service is a URL like any other
    (rule("Redirect", to(MOCK, destinationType="mock_or_file_picker")), H, MOCK, MOCK),
    (rule("Redirect", to(MOCK, destinationType="url")), H, MOCK, MOCK),
    # the desktop app goes on from pair to pair, to the end; the extension takes the first
    (rule("Redirect", to(B, "Equals", A), to(C, "Equals", B)), A, C, B),
    (rule("Redirect", to(B, "Equals", A), to(C, "Equals", B), to(H, "Equals", C)), A, H, B),
    (rule("Redirect", to(B, "Equals", A), to(A, "Equals", B)), A, None, B),
    (rule("Redirect", to(B, "Equals", A), to(C, "Equals", A)), A, B, B),
    (rule("Redirect", to(A, "Equals", A), to(C, "Equals", A)), A, C, None),
    # the desktop app fails on a pair after what is no URL, and nothing is redirected to nothing
    (rule("Redirect", to("nonsense"), to(C, "Equals", B)), H, None, "nonsense"),
    (rule("Redirect", to("a.example"), to(C)), H, None, "a.example"),
    (rule("Redirect", to("")), H, None, None),
    # captures
    (rule("Redirect", to("https://x/$1", "Matches", "/a=(.*)/")), H + "?a=$$b", "https://x/$b", "https://x/$b"),
    (rule("Redirect", to("https://x/$1$2", "Matches", "/a=(..)(.)/")), H + "?a=$2z", "https://x/zz", "https://x/zz"),
    (rule("Redirect", to(B, "Wildcard_Matches", H + "[a]*")), H + "ab", None, B),
    (rule("Redirect", to(B, "Wildcard_Matches", H + "[a]*")), H + "[a]b", B, None),
    (rule("Redirect", to(B, "Wildcard_Matches", H + "a(*")), H + "a(b", B, None),
    (rule("Redirect", to(B, "Wildcard_Matches", H + "?q=x")), H + "?q=x|y", B, None),
    (rule("Redirect", to("https://x/$1", "Matches", "/(.)$/", "host")), H, "https://x/h", "https://x//"),
    (rule("Redirect", to("https://x/$1", "Matches", "/^(.)$/", "host")), H, "https://x/h", "https://x/$1"),
    # an expression without slashes: the extension adds them, and fills in nothing
    (rule("Redirect", to("https://x/$1", "Matches", "(h)/a")), H + "a", None, "https://x/$1"),
    (rule("Redirect", to("https://x/", "Matches", "/h")), H, "absent", "absent"),
    (rule("Redirect", to("https://x/", "Matches", "h", active=False)), H, "absent", "absent"),
    # a pair that is switched off
    (rule("Redirect", to(B, active=False)), H, B, None),
    (rule("Redirect", to(B, active=True)), H, B, B),
    (rule("Redirect", to(B, "Equals", A, active=False), to(C, "Equals", A)), A, B, C),
    (rule("Redirect", to(B, active=False), to(C)), H, C, C),
    (rule("Replace", swap("a", "b", active=False)), H + "a", H + "b", None),
    # an empty source of a Replace
    (rule("Replace", swap("a", "b", "Matches", "")), H + "a", H + "b", None),
    (rule("Replace", swap("a", "b", "Equals", "")), H + "a", H + "b", None),
    (rule("Replace", swap("a", "b", "Wildcard_Matches", "")), H + "a", H + "b", None),
    (rule("Replace", swap("a", "b", "Regex", "", key="URL")), H + "a", H + "b", None),
    (rule("Replace", swap("a", "b", "Contains", "")), H + "a", H + "b", H + "b"),
    (rule("Replace", swap("a", "b", "Contains", "")), H + "a/a", H + "b/a", H + "a/b"),
    (rule("Redirect", to(B, "Matches", "")), H, "absent", "absent"),
    # pairs of a Replace are tried in a row by the desktop app
    (rule("Replace", swap("a", "b"), swap("b", "c", "Contains", "/b")), H + "a", H + "c", H + "b"),
    (rule("Replace", swap("a", "b"), swap("b", "c", "Contains", "/a")), H + "a", H + "b", H + "b"),
    (rule("Replace", swap("//h", "//i"), swap("i", "j", "Equals", "i", key="host")), H, "https://j/", "https://i/"),
    (rule("Replace", swap("z", "y"), swap("a", "b")), H + "a", H + "b", None),
    (rule("Replace", swap("/a/", "b")), H + "a", H + "b", None),
    (rule("Replace", swap("a", "$$$&")), H + "a", H + "$a", H + "$a"),
    (rule("Replace", swap("/(?<n>a)/", "$<n>$01")), H + "a", H + "aa", None),
    (rule("Replace", swap("", "b")), H, "b" + H, "b" + H),
    # parameters: added, put over others, ignored
    (params(adds("a", "1")), H, H + "?a=1", H + "?a=1"),
    (params(adds("a", "1")), H + "?", H + "?a=1", H + "?a=1"),
    (params(adds("a", "2")), H + "?a=1&b", H + "?a=1&a=2&b", H + "?a=2&b"),
    (params(adds("a", "2", "Overwrite")), H + "?a=1&b", H + "?a=2&b", H + "?a=2&b"),
    (params(adds("a", "2", "Overwrite")), H + "?a=2&b", None, None),
    (params(adds("a", "2", "Ignore")), H, None, H + "?a=2"),
    (params(adds("a", "2", "Ignore")), H + "?a=1", None, H + "?a=2"),
    (params(adds("a", "2", "Ignore"), adds("b", "1")), H + "?a=1", H + "?a=1&b=1", H + "?a=2&b=1"),
    (params(adds("a", None)), H, H + "?a", H + "?a"),
    (params(adds("a", 1)), H, H + "?a=1", H + "?a=1"),
    (params(adds("a b", "é c")), H, H + "?a%20b=%C3%A9%20c", H + "?a%20b=%C3%A9%20c"),
    (params(adds("a", "x&y=z")), H, H + "?a=x&y=z", H + "?a=x%26y%3Dz"),
    # parameters that are there stay as they are, byte for byte
    (params(X), H + "?q=&", None, None),
    (params(X), H + "?a=1&&b=2", None, None),
    (params(X), H + "?&=&a==&", None, None),
    (params(X), H + "?", None, None),
    (params(X), H, None, None),
    (params(X), H + "?X=1&xx=2", None, None),
    (params(X), H + "?x=1&a&x=2&b=", H + "?a&b=", H + "?a&b="),
    (params(X), H + "?x=1", H, H),
    (params(X), H + "?x", H, H),
    (params(X), H + "?x=1&&b=2", H + "?&b=2", H + "?&b=2"),
    (params(adds("x", "1")), H + "?q=&", H + "?q=&&x=1", H + "?q=&&x=1"),
    (params(adds("x", "1")), H + "?t=ab==", H + "?t=ab&x=1", H + "?t=ab==&x=1"),
    (params(adds("9", "z")), H + "?b=1&2=x&1=y", H + "?1=y&2=x&9=z&b=1", H + "?b=1&2=x&1=y&9=z"),
    (params(adds("02", "z")), H + "?b=1&2=x", H + "?2=x&b=1&02=z", H + "?b=1&2=x&02=z"),
    (params(adds("x", "1"), X), H + "?q=&", None, H + "?q=&&x=1"),
    (params(ALL), H + "a?a=1&b", H + "a", H + "a"),
    (params(ALL), H + "a", None, None),
    (params(ALL, adds("x", "1")), H + "?a=1", H + "?x=1", H),
    (params({"type": "Modify", "param": "a", "value": "1"}), H + "?a=2", None, H),
    (rule("QueryParam", when("Contains", "h", modifications="none")), H + "?a=2&&", None, None),
    (rule("QueryParam", when("Contains", "h", active=False, modifications=[ALL])), H + "?a", H, None),
]


@pytest.mark.parametrize(("one", "url", "desktop", "extension"), URLS)
def test_each_engine_makes_of_a_url_what_it_does(
    one: Rule, url: str, desktop: str | None, extension: str | None
) -> None:
    found = judge(one, Url.of(url))

    if desktop == "absent":
        assert found is None
        return
    assert isinstance(found, Match)
    assert (found.ways.get(Engine.DESKTOP), found.ways.get(Engine.EXTENSION)) == (desktop, extension)
    assert found.idle == (desktop is extension is None)
    assert found.result in {desktop, extension}
    told = [note for note in found.notes if note.kind in {NoteKind.OTHER_URL, NoteKind.NOTHING}]
    assert len(told) == (desktop != extension)
    moved = [engine for engine in Engine if found.ways.get(engine) is not None]
    assert found.only == (moved[0] if len(moved) == 1 else None)
    other = {desktop, extension} - {found.result}
    assert all(
        (told[0].kind, told[0].value) == (NoteKind.OTHER_URL if url else NoteKind.NOTHING, url or "") for url in other
    )


HIT, MISS, OFF = when("Contains", "h"), when("Contains", "nowhere"), when("Contains", "h", active=False)
ELSEWHERE = [
    (rule("Cancel", HIT), None, None),
    (rule("Cancel", OFF), Engine.DESKTOP, Note(NoteKind.NOTHING, engine=Engine.EXTENSION)),
    (rule("Cancel", when("Matches", "h/$")), Engine.EXTENSION, Note(NoteKind.NOTHING, engine=Engine.DESKTOP)),
    (rule("Cancel", MISS, HIT), None, None),
    (rule("Cancel", HIT, MISS), Engine.EXTENSION, Note(NoteKind.SEVERAL_BLOCKS)),
    (rule("Headers", OFF), Engine.DESKTOP, Note(NoteKind.NOTHING, engine=Engine.EXTENSION)),
    (rule("Headers", HIT, OFF), None, Note(NoteKind.ONE_PAIR, engine=Engine.DESKTOP, pair=2)),
    (rule("UserAgent", when("Equals", "")), Engine.DESKTOP, Note(NoteKind.NOTHING, engine=Engine.EXTENSION)),
    (rule("UserAgent", when("Contains", "")), None, None),
    (rule("Delay", OFF), Engine.DESKTOP, Note(NoteKind.NOTHING, engine=Engine.EXTENSION)),
]


@pytest.mark.parametrize(("one", "only", "told"), ELSEWHERE)
def test_a_rule_that_acts_in_one_engine_says_in_which(one: Rule, only: Engine | None, told: Note | None) -> None:
    found = judge(one, Url.of(H))

    assert isinstance(found, Match)
    assert found.only is only
    assert list(found.notes) == ([told] if told else [])
