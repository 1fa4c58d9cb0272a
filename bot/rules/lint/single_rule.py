"""Find the problems of one rule on its own, such as conditions that no URL fulfills."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from bot.rules.actions import replace_text
from bot.rules.conditions import IN_WILDCARD, OPERATORS, holds, is_bare
from bot.rules.edit import is_destination
from bot.rules.expressions import LOOSE, MAX_EXPRESSION, SLASHED, CannotTell, compile_expression
from bot.rules.lint.findings import Finding, FindingKind, Location, Reason
from bot.rules.matching import KEY_SPELLINGS, OPERATOR_SPELLINGS, why_not_understood
from bot.rules.model import Pair, Rule, Source
from bot.rules.outcomes import is_switched_off
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


def undecidable(source: Source) -> str:
    """Return why *source* can't be judged; empty where it can, or is known never to hold."""
    if source.operator != "Matches" or (found := SLASHED.fullmatch(source.value or "")) is None:
        return ""
    try:
        compile_expression(found[1], ignore_case="i" in found[2])
    except CannotTell as error:
        return str(error)
    return ""


def groups_of(source: Source) -> int | None:
    """Return the number of captures of *source* (``$1``, ``$2`` …); None where that isn't known."""
    if source.operator == "Wildcard_Matches":
        return (source.value or "").count("*")
    if source.operator != "Matches":
        return 0
    if (found := SLASHED.fullmatch(source.value or "")) is None:
        return None
    try:
        return int(compile_expression(found[1]).groups)
    except CannotTell:
        return None


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


NUMBER: Final = re.compile(r"\$([1-9])")
STAR: Final = "*"


def check_alone(rule: Rule) -> Iterator[Finding]:
    """Findings about *rule* on its own, pair by pair."""
    if why := why_not_understood(rule):
        yield Finding(FindingKind.UNDECIDABLE, (Location(rule),), undecidable=why)
    for number, pair in enumerate(rule.pairs or (), start=1):
        place = Location(rule, number)
        if pair.source is not None:
            yield from _condition(place, pair.source)
        if rule.rule_type == "Redirect":
            yield from _redirect(place, pair)
        if rule.rule_type == "Replace":
            yield from _replace(place, pair)


def _condition(place: Location, source: Source) -> Iterator[Finding]:
    if (found := why_never(place.rule.rule_type, source)) is not None:
        yield Finding(FindingKind.NEVER, (place,), value=condition_text(source), why=found.why, better=found.better)
    elif why := undecidable(source):
        yield Finding(FindingKind.UNDECIDABLE, (place,), value=source.value or "", undecidable=why)


def condition_text(source: Source) -> str:
    """Return the condition as one text, which is equal for equal conditions in any pair."""
    return f"{source.key} {source.operator} {source.value or ''}"


def _redirect(place: Location, pair: Pair) -> Iterator[Finding]:
    text = (pair.destination or "").strip()
    if not text or not pair.leads_to_url:
        return
    if not is_destination(text):
        yield Finding(FindingKind.NOT_A_URL, (place,), value=text)
    if pair.source is None:
        return
    groups = groups_of(pair.source)
    if groups is not None and any(int(number) > groups for number in NUMBER.findall(text)):
        yield Finding(FindingKind.NO_GROUP, (place,), value=text, better=str(groups))
    if _is_self_redirect(pair.source, text):
        yield Finding(FindingKind.ITSELF, (place,), value=text)


def _is_self_redirect(source: Source, destination: str) -> bool:
    """Whether every URL that *source* matches is redirected to itself."""
    if source.key != "Url" or why_never("Redirect", source) is not None:
        return False
    if source.operator == "Equals":
        return source.value == destination
    if source.operator != "Wildcard_Matches" or not 0 < (source.value or "").count(STAR) < 10:
        return False
    head, *rest = (source.value or "").split(STAR)
    return destination == head + "".join(f"${number}{text}" for number, text in enumerate(rest, start=1))


def _replace(place: Location, pair: Pair) -> Iterator[Finding]:
    find, to = pair.find or "", pair.replacement or ""
    source = pair.source
    if SLASHED.fullmatch(find):
        return  # the documentation reads it as an expression, which the extension doesn't
    if find == to:
        yield Finding(FindingKind.NO_EFFECT, (place,), value=find)
        return
    if source is None or source.key != "Url" or source.operator != "Equals":
        return
    if (only := example(source)) is None:
        return
    try:
        idle = replace_text(pair, only.full) == only.full
    except CannotTell:
        return
    if idle:
        yield Finding(FindingKind.NO_EFFECT, (place,), (only.full,), value=find)
