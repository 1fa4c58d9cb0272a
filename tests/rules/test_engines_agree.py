"""The bot makes of a URL what the extension makes of it: thousands of rules and URLs, with `engines.js` as the oracle."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from bot.rules.lint.rule_set import RuleSet
from bot.rules.matching import judge
from bot.rules.model import Rule
from bot.rules.outcomes import Match, NoteKind, Undecidable
from bot.rules.url import Url

Pair = dict[str, Any]
Case = tuple[Rule, Url]
NODE = shutil.which("node") or ""
URLS = [
    "https://w.example/",
    "https://w.example/ab",
    "https://w.example/aab",
    "https://w.example/a+b",
    "https://w.example/[a]b",
    "https://w.example/a$",
    "https://w.example/a(b)",
    "https://w.example/a.b-c?d=e",
    "https://w.example/a?u=$$b&v=$1$2",
    "https://w.example/a?u=$&-$'-$`-$3",
    "https://w.example/a?q=x|y|z",
    "https://w.example:8443/a{1}^\\b",
]
SOURCES = [
    ("Equals", "https://w.example/ab"),
    ("Contains", "w.example"),
    ("Contains", ""),
    ("Contains", "/a"),
    # wildcards of which some characters mean something in the extension
    ("Wildcard_Matches", ""),
    ("Wildcard_Matches", "*"),
    ("Wildcard_Matches", "https://w.example/*"),
    ("Wildcard_Matches", "*a*b*"),
    ("Wildcard_Matches", "*a+b"),
    ("Wildcard_Matches", "*a+b*"),
    ("Wildcard_Matches", "https://w.example/[a]*"),
    ("Wildcard_Matches", "*/a$"),
    ("Wildcard_Matches", "*a*$"),
    ("Wildcard_Matches", "^https*"),
    ("Wildcard_Matches", "*/a(b)"),
    ("Wildcard_Matches", "http(s|)://w.example/*"),
    ("Wildcard_Matches", "*a(*"),
    ("Wildcard_Matches", "*{1}*"),
    ("Wildcard_Matches", "*}*"),
    ("Wildcard_Matches", "*]*"),
    ("Wildcard_Matches", "*a|b*"),
    ("Wildcard_Matches", "https://w.example/a?q=x"),
    ("Wildcard_Matches", "y*"),
    ("Wildcard_Matches", "*\\b*"),
    ("Wildcard_Matches", "*a.b-c?*"),
    # expressions as browsers read them
    ("Matches", "/(.*)/"),
    ("Matches", "/.(a+)(b)?/"),
    ("Matches", "/a|(b)/g"),
    ("Matches", "/(W)\\.EXAMPLE/i"),
    ("Matches", "w.example"),
    ("Matches", "w(.)example"),
    ("Matches", "/w"),
    ("Matches", "/a/m"),
    ("Matches", "/\\u0061/"),
    ("Matches", "/(\\x61)\\u{2}/"),
    ("Matches", "/[^]b/"),
    ("Matches", "/[]b/"),
    ("Matches", "/[[:alpha:]]/"),
    ("Matches", "/([[a])\\]/"),
    ("Matches", "/a|[\\]/"),
    ("Matches", "/a|\\b?/"),
    ("Matches", "/\\Qa\\E/"),
    ("Matches", "/\\Aa|\\z|\\p{L}/"),
    ("Matches", "/\\8|\\141/"),
    ("Matches", "/\\_a|\\-c|\\ca/"),
    ("Matches", "/[\\b\\101-\\x62]b/"),
    ("Matches", "/(?<first>a)(?:b)/"),
    ("Matches", "/\\k<x>|a{|b{,2}/"),
    ("Matches", "/\\0|a\\+/"),
    ("Matches", "/[\\w-]+$/"),
    ("Matches", "/\\/a\\b/"),
    # what cannot be told, or is no expression
    ("Matches", "/(?=a)/"),
    ("Matches", "/(a)\\1/"),
    ("Matches", "/(?P<n>a)/"),
    ("Matches", "/(?i)a/"),
    ("Matches", "/(/"),
    ("Matches", "/a{1001}/"),
]
TARGETS = ["https://d.example/?u=$1", "https://d.example/$2-$1-$10", "$1", "", "nonsense", "https://w.example/$$1&$&"]
CHANGES = [
    ("a", "b"),
    ("a", "$$-$&-$1-$'-$`"),
    ("/(a)(b)?/", "[$1$2$3$01$10]"),
    ("/a/g", "<$`|$&|$'>"),
    ("/(?<n>a)/", "$<n>$<m>$1"),
    ("/(a)/g", "$<n>"),
    ("/a*/g", "-"),
    ("/\\u0061/", "$$"),
    ("/w.example/", "d.example"),
    ("//w", "nonsense"),
    ("/(/", "x"),
    ("nowhere", "x"),
    ("", "$$"),
]
DOUBTFUL = re.compile(r"\(\?(?!<[a-z])|\\[1-9]|\{1001")
"""What is more of an expression than the linear engine reads."""
UNDECIDED = re.compile("its expression (is invalid|uses lookarounds)|browsers read .* differently")


def rule(kind: str, *pairs: Pair) -> Rule:
    return Rule.model_validate({"id": f"{kind}_1", "status": "Active", "ruleType": kind, "pairs": list(pairs)})


def when(operator: str, value: str, key: str = "Url", **pair: Any) -> Pair:
    return {"source": {"key": key, "operator": operator, "value": value}} | pair


def written() -> Iterator[Rule]:
    """Each source with each destination, on each key, and rules of several pairs."""
    for operator, value in SOURCES:
        yield rule("Cancel", when(operator, value))
        for key, target in product(("Url", "host", "path"), TARGETS):
            yield rule("Redirect", when(operator, value, key, destination=target))
        off = when(operator, value, destination="https://off.example/")
        off["source"]["isActive"] = False
        yield rule("Redirect", off, when("Contains", "w", destination="https://on.example/"))
        for target in TARGETS:
            first = when(operator, value, destination=target)
            yield rule("Redirect", first, when("Contains", "d.example", destination="https://c.example/"))
            yield rule("Redirect", first, when("Contains", "example", "host", destination="https://c.example/$1"))
        yield rule("Cancel", when(operator, value), when("Contains", "w"))
        yield rule("Cancel", when("Contains", "nowhere"), when(operator, value))
        if value:
            for find, to in CHANGES:
                change = when(operator, value, **{"from": find, "to": to})
                yield rule("Replace", change)
                yield rule("Replace", change, when("Contains", "example", "host", **{"from": "b", "to": "$&$&"}))


SIGNS = ["a", "b", "+", "(", ")", "[", "]", "$", "^", "|", "?", ".", "{1}", "\\", "\\1", "-", "/a", "$1", "$&"]


def random_rules(count: int) -> Iterator[Rule]:
    """Rules of texts that nobody would write."""
    random = Random(7)

    def text() -> str:
        return "".join(random.choices(SIGNS, k=random.randint(1, 6))).replace(")+", ")")  # slow in JavaScript

    for _ in range(count):
        operator = random.choice(["Wildcard_Matches", "Matches", "Contains"])
        value = {"Wildcard_Matches": f"*a{text()}*", "Matches": f"/{text()}/", "Contains": "a"}[operator]
        if random.random() < 0.5:
            yield rule("Redirect", when(operator, value, destination=f"https://d.example/{text()}"))
        else:
            yield rule("Replace", when(operator, value, **{"from": text(), "to": text()}))


def ask(cases: list[Case]) -> list[tuple[str | None, bool]]:
    """What the extension makes of each, and whether that is hard to tell: see DOUBTFUL."""
    asked = json.dumps([[one.document(), url.full] for one, url in cases])
    script = Path(__file__).with_name("engines.js")
    done = subprocess.run([NODE, script], input=asked, capture_output=True, check=True, text=True)  # noqa: S603  ours
    answers = zip(cases, json.loads(done.stdout), strict=True)
    return [(right, broken or is_doubtful(one)) for (one, _), (right, broken) in answers]


def differences(rules: Iterable[Rule]) -> Iterator[str]:
    """Where the bot says otherwise than the extension; what it cannot tell is one where it should be able to."""
    cases = list(product(rules, map(Url.of, URLS)))
    for (one, url), (right, doubtful) in zip(cases, ask(cases), strict=True):
        found = judge(one, url)
        match found:
            case Match() if any(note.kind is NoteKind.UNTRIED_PAIR for note in found.notes):
                says: Any = right if doubtful else found.notes
            case Match():
                says = "" if found.blocks else found.result
            case Undecidable(why=why):
                says = right if UNDECIDED.match(why) and doubtful else why
            case _:
                says = None
        if says != right:
            pairs = json.dumps([pair.document() for pair in one.pairs or ()])
            yield f"{one.rule_type} {pairs} on {url.full}: {says}, the extension {right}"


def is_doubtful(one: Rule) -> bool:
    pairs = one.pairs or ()
    texts = [*(pair.source.value or "" for pair in pairs if pair.source), *(pair.find or "" for pair in pairs)]
    return any(map(DOUBTFUL.search, texts))


@pytest.mark.skipif(not NODE, reason="needs node")
@pytest.mark.parametrize(
    "rules", [pytest.param(written, id="written"), pytest.param(lambda: random_rules(400), id="random")]
)
def test_a_rule_makes_of_a_url_what_the_extension_makes_of_it(rules: Any) -> None:
    assert list(differences(rules())) == []


@pytest.mark.parametrize(("operator", "value"), [source for source in SOURCES if source[1]])
def test_a_condition_that_holds_is_looked_up(operator: str, value: str) -> None:
    for key in ("Url", "host", "path"):
        one = rule("Cancel", when(operator, value, key))
        together = RuleSet([one])
        for url in map(Url.of, URLS):
            if isinstance(judge(one, url), Match):
                assert [acts.rule for acts in together.matches(url)] == [one], url
