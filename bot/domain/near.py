"""Near misses: why a rule that somebody expected to act does not, in the first reason that is found."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from bot.domain.address import Address, NoAddress
from bot.domain.condition import SLASHED, CannotTell, condition
from bot.domain.rule import Rule, RuleDraft, Source
from bot.domain.rule_record import fit_draft, with_pairs
from bot.domain.verdict import NearMiss

MOST_APART: Final = 400
"""Characters by which two addresses may differ in length and still be taken for each other."""

KEYS: Final = {"url": "Url", "host": "host", "path": "path"}

Variants = Sequence[tuple[str, Address]]


def variants(address: Address) -> Iterator[tuple[str, Address]]:
    """Addresses that people take for the same one, each with what is different."""
    full = address.full
    scheme, _, rest = full.partition("://")
    bare, mark, query = full.partition("?")
    slash = f"{bare[:-1] if bare.endswith('/') else bare + '/'}{mark}{query}"
    other = {"https": "http", "http": "https", "wss": "ws", "ws": "wss"}[scheme]
    tries = [
        ("the slash at the end", slash),
        ("the scheme, http or https", f"{other}://{rest}"),
        ("www. before the host", full.replace("://www.", "://", 1) if "://www." in full else f"{scheme}://www.{rest}"),
    ]
    if query:
        tries.append(("the query behind the ?", bare))
    if (port := re.search(r":\d+$", address.host)) is not None:
        tries.append(("the port", full.replace(address.host, address.host[: port.start()], 1)))
    for what, text in tries:
        try:
            yield what, Address.of(text)
        except NoAddress:
            continue


def near_miss(rule: Rule, address: Address, others: Variants) -> NearMiss | None:
    """The first reason for which a condition of *rule* only just fails. *others*: the `variants` of *address*."""
    if not rule.pairs:
        return _without_pairs(rule, address)
    for number, pair in enumerate(rule.pairs or (), start=1):
        source = pair.source
        if source is not None and source.value and (why := _nearly(source, address, others)) is not None:
            return NearMiss(rule, number, why)
    return None


def _without_pairs(rule: Rule, address: Address) -> NearMiss | None:
    """A rule of the product's first version, where it would act if engines still read that."""
    draft = fit_draft(with_pairs(rule.document()))
    pairs = draft.pairs if isinstance(draft, RuleDraft) else ()
    sources = [pair.source for pair in pairs or () if pair.source is not None]
    acts = any(_holds(source.operator, source.value or "", address.subject(source.key)) for source in sources)
    return NearMiss(rule, 0, FIRST_FORM) if acts else None


FIRST_FORM: Final = "it has no pairs, and no engine reads the form of the first version: export it, and import it again"


def _nearly(source: Source, address: Address, others: Variants) -> str | None:
    key, value = KEYS.get((source.key or "").casefold()), source.value or ""
    if key is not None and key != source.key and _holds(source.operator, value, address.subject(key)):
        return f"the key is spelled {source.key}, which no engine knows: it is {key}"
    tested = address.subject(source.key)
    if tested is None:
        return None
    if (
        why := WORDED[source.operator](value, tested, source.key or "") if source.operator in WORDED else None
    ) is not None:
        return why
    if source.operator == "Equals" and abs(len(value) - len(tested)) > MOST_APART:
        return None
    for what, variant in others:
        if _holds(source.operator, value, variant.subject(source.key)):
            return f"only {what} differs"
    return None


CASE: Final = "only capital and small letters differ"


def _equals(value: str, tested: str, key: str) -> str | None:
    if tested.casefold() == value.casefold():
        return CASE
    if abs(len(value) - len(tested)) > MOST_APART or _sent(key, value) != tested:
        return None
    if value + "/" == tested:
        return f"the slash at the end is missing in the rule: a browser sends {tested}"
    return f"the rule has it as no browser sends it: that would be {tested}"


def _sent(key: str, value: str) -> str | None:
    """What a browser makes of a *value* that stands for the whole of what *key* names."""
    try:
        sent = Address.of(f"https://host{value}" if key == "path" else value)
    except NoAddress:
        return None
    return sent.subject(key)


def _contains(value: str, tested: str, key: str) -> str | None:  # noqa: ARG001  one shape for all operators
    return CASE if value.casefold() in tested.casefold() else None


def _matches(value: str, tested: str, key: str) -> str | None:  # noqa: ARG001
    found = SLASHED.fullmatch(value)
    return CASE if found and "i" not in found[2] and _holds("Matches", f"{value}i", tested) else None


def _wildcard(value: str, tested: str, key: str) -> str | None:  # noqa: ARG001
    if _holds("Wildcard_Matches", value.casefold(), tested.casefold()):
        return CASE
    covers = not value.endswith("*") and _holds("Wildcard_Matches", f"*{value}*", tested)
    return "it must cover the whole, from the first character to the last: a * is missing" if covers else None


WORDED: Final[dict[str | None, Callable[[str, str, str], str | None]]] = {
    "Equals": _equals,
    "Contains": _contains,
    "Matches": _matches,
    "Wildcard_Matches": _wildcard,
}


def _holds(operator: str | None, value: str, text: str | None) -> bool:
    if text is None:
        return False
    try:
        return condition(operator, value)(text) is not None
    except CannotTell:
        return False
