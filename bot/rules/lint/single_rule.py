"""Find the problems of one rule on its own, such as conditions that no URL fulfills."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from bot.rules.conditions import IN_WILDCARD, OPERATORS, holds, is_bare
from bot.rules.expressions import LOOSE, MAX_EXPRESSION, SLASHED
from bot.rules.lint.findings import Finding, FindingKind, Location, Reason
from bot.rules.matching import KEY_SPELLINGS, OPERATOR_SPELLINGS, judge, why_not_understood
from bot.rules.model import Pair, Rule, Source
from bot.rules.outcomes import Undecidable, is_switched_off
from bot.rules.url import SCHEME, Url, sent_text, url_of

SCHEMES: Final = ("http://", "https://", "ws://", "wss://")
NEVER_SENT: Final = {
    "Url": re.compile(r'[#"<>]|[^\x21-\x7e]'),
    "host": re.compile(r'[#"<>/?@A-Z]|[^\x21-\x7e]'),
    "path": re.compile(r'[#"<>?]|[^\x21-\x7e]'),
}
"""By the part of a URL, characters that a browser never sends there: it escapes or removes them."""
SAMPLE: Final = "x"
"""A sample text for a wildcard or a group."""
ANYTHING: Final = re.compile(r"\((?:\?:)?[.\\\[\]^/\w-]*[*+]\)|(?:\.|\\w|\\d|\[[^\[\]]*\])[*+]")


@dataclass(frozen=True, slots=True)
class Never:
    """Why a condition never holds, and a value that would (*better*); empty where none is known."""

    why: Reason
    better: str = ""


EMPTY_IS_EVERY_URL: Final = frozenset({"Replace", "UserAgent"})
"""Rule types of which an empty source is said to match every URL, though in the extension it only does with Contains."""


def why_never(rule_type: str | None, source: Source) -> Never | None:
    """Return why no URL fulfills *source*; None where one may, or where that isn't known."""
    if not source.value and rule_type in EMPTY_IS_EVERY_URL:
        return None
    key = source.key or ""
    if key not in NEVER_SENT:
        return Never(Reason.KEY, KEY_SPELLINGS.get(key.casefold(), ""))
    if source.operator not in OPERATORS:
        return Never(Reason.OPERATOR, OPERATOR_SPELLINGS.get((source.operator or "").casefold(), ""))
    value = source.value or ""
    if source.operator == "Matches":
        return None if is_bare(value) and not is_switched_off(source) else _expression(value)
    if source.operator == "Wildcard_Matches" and IN_WILDCARD.search(value):
        return None  # it is read as an expression, which may hold
    if source.operator == "Equals" or (source.operator == "Wildcard_Matches" and "*" not in value):
        return _whole(key, value)
    if (stray := NEVER_SENT[key].search(value)) is not None:
        return Never(Reason.CHARACTER, stray[0])
    return _wrong_start(key, value) if source.operator == "Wildcard_Matches" else None


def _expression(value: str) -> Never | None:
    if SLASHED.fullmatch(value):
        return None
    if (loose := LOOSE.fullmatch(value)) is not None:
        return Never(Reason.FLAGS, loose[2])
    return Never(Reason.SLASHES, f"/{value}/" if value.strip("/") else "")


def _whole(key: str, value: str) -> Never | None:
    """Return why a condition on the whole subject never holds: *value* must be exactly as a browser sends it."""
    if key == "path":
        return _whole_path(value)
    if key == "Url" and not SCHEME.match(value):
        return Never(Reason.SCHEME, sent_text("Url", f"https://{value}"))
    scheme = value.partition("://")[0].casefold() + "://"
    if key == "Url" and scheme not in SCHEMES:
        return None
    sent = sent_text(key, value)
    if not sent:
        return Never(Reason.NOT_A_URL)
    return None if sent == value else Never(Reason.SPELLING, sent)


def _whole_path(value: str) -> Never | None:
    if not value.startswith("/"):
        return Never(Reason.START, "/")
    sent = sent_text("path", value)
    return None if sent == value else Never(Reason.SPELLING, sent)


def _wrong_start(key: str, value: str) -> Never | None:
    """Return why the start of a wildcard can't match; None where it may. A wildcard must match the whole subject."""
    head = value.partition("*")[0]
    if key == "path":
        return None if not head or head.startswith("/") else Never(Reason.START, "/")
    if key == "host" or not head:
        return None
    if not any(scheme.startswith(head) or head.startswith(scheme) for scheme in SCHEMES):
        return Never(Reason.SCHEME, f"*{value}" if "://" not in head else "")
    scheme, _, rest = head.partition("://")
    host, slash, _ = rest.partition("/")
    if not (slash and host):
        return None
    start = f"{scheme}://{host}/"
    sent = sent_text("Url", start)
    return None if sent == start else Never(Reason.SPELLING, sent + value[len(start) :] if sent else "")


def example(source: Source) -> Url | None:
    """Return a URL that was verified to fulfil *source*; None where none is easily found."""
    for text in _guesses(source):
        url = url_of(text)
        if url is not None and holds(source.operator, source.value, url.subject(source.key)):
            return url
    return None


def _guesses(source: Source) -> Iterator[str]:
    text = source.value or ""
    if source.operator == "Matches":
        if len(text) > MAX_EXPRESSION:
            return
        text = _sample_text(text)
    text = text.replace("*", SAMPLE) if source.operator == "Wildcard_Matches" else text
    if source.key == "path":
        yield f"https://example.com{'' if text.startswith('/') else '/'}{text}"
        return
    yield text
    if not SCHEME.match(text):
        yield f"https://example.com{text}"
        yield f"https://example.com/{text}"


def _sample_text(value: str) -> str:
    """Return a text that a simple expression may match: repeated parts replaced by SAMPLE, escapes removed."""
    body = value.strip("/") if not SLASHED.fullmatch(value) else value[1 : value.rindex("/")]
    plain = ANYTHING.sub(SAMPLE, body.removeprefix("^").removesuffix("$"))
    return re.sub(r"\\(\W)", r"\1", plain)


def literal(source: Source) -> str:
    """Return a text that is part of everything that *source* matches; empty where none is known, as of an expression."""
    value = source.value or ""
    if source.operator in {"Equals", "Contains"}:
        return value
    if source.operator == "Wildcard_Matches":
        return "" if IN_WILDCARD.search(value) else max(value.split("*"), key=len)
    return ""


def check_alone(rule: Rule) -> Iterator[Finding]:
    """Findings about *rule* on its own, pair by pair."""
    for number, pair in enumerate(rule.pairs or (), start=1):
        if (source := pair.source) is None:
            continue
        place = Location(rule, number)
        if (found := why_never(rule.rule_type, source)) is not None:
            yield Finding(FindingKind.NEVER, (place,), value=condition_text(source), why=found.why, better=found.better)
        elif rule.rule_type == "Redirect" and _is_self_redirect(pair, source):
            yield Finding(FindingKind.ITSELF, (place,), value=source.value or "")


ANY_URL: Final = Url.of("https://example.com/")


def find_unjudged(rules: Iterable[Rule]) -> list[Rule]:
    """Return those of *rules* of which nothing can be said, such as those with an expression that isn't supported."""
    return [rule for rule in rules if why_not_understood(rule) or isinstance(judge(rule, ANY_URL), Undecidable)]


def condition_text(source: Source) -> str:
    """Return the condition as one text, which is equal for equal conditions in any pair."""
    return f"{source.key} {source.operator} {source.value or ''}"


def _is_self_redirect(pair: Pair, source: Source) -> bool:
    is_whole = (source.key, source.operator) == ("Url", "Equals")
    return is_whole and pair.leads_to_url and source.value == (pair.destination or "").strip()
