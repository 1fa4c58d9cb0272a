"""Which rules act on an address, what they make of it, and why the others do not.

The services only store rules; engines elsewhere apply them. Two of those exist and differ here and there: where they
do, what is documented counts, and the note says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import quote, unquote_plus

from bot.domain.address import Address, NoAddress
from bot.domain.condition import SLASHED, CannotTell, Hit, NeverHolds, compiled, condition, filled
from bot.domain.group import Groups, held_back
from bot.domain.rule import Pair, Rule

MOST_APART: Final = 400
"""Characters by which two addresses may differ in length and still be taken for each other."""

KEYS: Final = {"url": "Url", "host": "host", "path": "path"}
ENGINES_DIFFER: Final = "the desktop app and the extension differ here"
OTHER_CAPTURES: Final = f"{ENGINES_DIFFER}: with the extension it is {{}}"
CHAINS: Final = f"{ENGINES_DIFFER}: the desktop app goes on with the next pair, to {{}}"


@dataclass(frozen=True, slots=True)
class Acts:
    """A rule that acts on the address. *result*: what the address becomes, None where it stays or is blocked."""

    rule: Rule
    pair: int
    tested: str
    captures: tuple[str | None, ...] = ()
    result: str | None = None
    blocks: bool = False
    idle: bool = False
    """It applies, and changes nothing."""
    off: str = ""
    """Why it is not in force; nothing where it is."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A rule that would act if one thing were different."""

    rule: Rule
    pair: int
    why: str


@dataclass(frozen=True, slots=True)
class Untold:
    """A rule that cannot be judged here."""

    rule: Rule
    pair: int
    why: str


@dataclass(frozen=True, slots=True)
class Explained:
    """What happens to an address: rules that act, rules that nearly do, rules that cannot be judged."""

    address: Address
    acting: tuple[Acts, ...]
    near: tuple[NearMiss, ...]
    untold: tuple[Untold, ...]

    @property
    def in_force(self) -> tuple[Acts, ...]:
        return tuple(each for each in self.acting if not each.off)


def explain(rules: Iterable[Rule], address: Address, groups: Groups | None = None) -> Explained:
    """What *rules* do to *address*, in the order in which they come."""
    acting: list[Acts] = []
    near: list[NearMiss] = []
    untold: list[Untold] = []
    variants = tuple(_variants(address))
    for rule in rules:
        found = judged(rule, address, groups)
        if isinstance(found, Acts):
            acting.append(found)
            continue
        if found is not None:
            untold.append(found)
        elif rule.active and (miss := _near_miss(rule, address, variants)) is not None:
            near.append(miss)
    return Explained(address, tuple(acting), tuple(near), tuple(untold))


def judged(rule: Rule, address: Address, groups: Groups | None = None) -> Acts | Untold | None:
    """What *rule* does to *address*: None where no condition of it holds."""
    hits: list[tuple[int, Pair, Hit, str]] = []
    untold: Untold | None = None
    for number, pair in enumerate(rule.pairs or (), start=1):
        try:
            tested, hit = _tried(pair, address)
        except NeverHolds:
            continue
        except CannotTell as error:
            untold = untold or Untold(rule, number, error.words)
            continue
        if hit is not None:
            hits.append((number, pair, hit, tested))
    if not hits:
        return untold
    number, _, hit, tested = hits[0]
    notes = (*_filters(rule, [h[1] for h in hits]), *_silent(rule, groups))
    acts = Acts(rule, number, tested, hit.captures, off=_off(rule, groups), notes=notes)
    try:
        return EFFECTS.get(rule.rule_type or "", _as_described)(acts, hits, address)
    except CannotTell as error:
        return Untold(rule, number, error.words)


def _tried(pair: Pair, address: Address) -> tuple[str, Hit | None]:
    source = pair.source
    if source is None:
        raise CannotTell("it has no condition")
    tested = address.subject(source.key)
    if tested is None:
        return "", None
    return tested, condition(source.operator, source.value)(tested)


def _off(rule: Rule, groups: Groups | None) -> str:
    if not rule.active:
        return f"the rule is {rule.status or 'without a status'}"
    return held_back(rule, groups)


def _silent(rule: Rule, groups: Groups | None) -> tuple[str, ...]:
    """That nobody says whether the rule's group is in force, where it has one."""
    told = groups is not None or not rule.active or not rule.group_id
    return () if told else (f"it acts only if its group {rule.group_id} is on, which the service does not tell",)


def _filters(rule: Rule, pairs: Sequence[Pair]) -> tuple[str, ...]:
    """Conditions that depend on the page, the method or the payload, which an address alone does not tell."""
    found = [(pair.source.model_extra or {}).get("filters") for pair in pairs if pair.source is not None]
    names = sorted({str(name) for each in found if each for name in _names(each)})
    notes = [f"only where its filters fit as well: {', '.join(names)}"] if names else []
    if rule.group_id is None and any(pair.source and pair.source.key == "path" for pair in pairs):
        notes.append(f"{ENGINES_DIFFER}: the compiled form in the extension does not look at the path")
    return tuple(notes)


def _names(filters: Any) -> Iterator[str]:
    for each in filters if isinstance(filters, list) else [filters]:
        if isinstance(each, Mapping):
            yield from (name for name, value in each.items() if value)


Hits = Sequence[tuple[int, Pair, Hit, str]]


def _redirect(acts: Acts, hits: Hits, address: Address) -> Acts:
    """The first condition that holds counts; ``$1`` stands for what it caught."""
    number, pair, hit, _ = hits[0]
    if pair.destination_type not in {None, "url"}:
        return acts
    target = destination(pair, hit)
    notes = list(acts.notes)
    if hit.otherwise is not None and (other := destination(pair, replace(hit, captures=hit.otherwise))) != target:
        notes.append(OTHER_CAPTURES.format(other))
    if target == address.full:
        return replace(acts, idle=True, notes=(*notes, "it leads to the address itself, so nothing happens"))
    if (further := _chained(acts.rule, number, target)) is not None:
        notes.append(CHAINS.format(further))
    return replace(acts, result=target, notes=tuple(notes))


def destination(pair: Pair, hit: Hit) -> str:
    """Where a redirect leads once its captures are filled in."""
    template = pair.destination or ""
    return filled(template, hit.captures) if hit.has_groups else template


def _chained(rule: Rule, number: int, target: str) -> str | None:
    """Where the later pairs of the rule would take *target* on to."""
    try:
        address = Address.of(target)
    except NoAddress:
        return None
    for pair in (rule.pairs or ())[number:]:
        try:
            _, hit = _tried(pair, address)
        except CannotTell:
            continue
        if hit is not None and (further := destination(pair, hit)) != target:
            return further
    return None


def _cancel(acts: Acts, hits: Hits, address: Address) -> Acts:  # noqa: ARG001  blocked whatever it is
    return replace(acts, blocks=True)


def _replace(acts: Acts, hits: Hits, address: Address) -> Acts:
    """Every condition that holds takes its turn, on what the one before it left."""
    text, first = address.full, None
    for _, pair, _, _ in hits:
        text = replaced(pair, text)
        first = text if first is None else first
    notes = acts.notes if first == text else (*acts.notes, OTHER_CAPTURES.format(first))
    if text == address.full:
        return replace(acts, idle=True, notes=(*notes, "what it looks for is not in the address, so nothing changes"))
    return replace(acts, result=text, notes=notes)


def replaced(pair: Pair, text: str) -> str:
    """*text* with the first occurrence replaced; all of them for an expression with the flag g."""
    find, to = pair.find or "", pair.replacement or ""
    if (found := SLASHED.fullmatch(find)) is None:
        return text.replace(find, to, 1) if find else text
    expression = compiled(found[1], ignore_case="i" in found[2])
    done, rest = "", text
    while (match := expression.search(rest)) is not None:
        done += rest[: match.start()] + filled(to, tuple(match.groups()))
        step = match.end() if match.end() > match.start() else match.end() + 1
        done += rest[match.end() : step]
        rest = rest[step:]
        if "g" not in found[2] or not rest:
            break
    return done + rest


def _query(acts: Acts, hits: Hits, address: Address) -> Acts:
    """All that hold, in order."""
    base, mark, query = address.full.partition("?")
    for _, pair, _, _ in hits:
        for change in (pair.model_extra or {}).get("modifications") or ():
            if isinstance(change, Mapping):
                query = _changed_query(query, change)
    result = f"{base}?{query}" if query or (mark and address.full == f"{base}?") else base
    return replace(acts, idle=True) if result == address.full else replace(acts, result=result)


def _changed_query(query: str, change: Mapping[str, Any]) -> str:
    parts = [part for part in query.split("&") if part]
    name, value = str(change.get("param") or ""), str(change.get("value") or "")
    kind = str(change.get("type") or "").casefold().replace(" ", "_")
    if kind == "remove_all":
        return ""
    kept = [part for part in parts if unquote_plus(part.partition("=")[0]) != name]
    if kind == "remove":
        return "&".join(kept)
    added = f"{quote(name, safe='')}={quote(value, safe='')}"
    overwrite = str(change.get("actionWhenParamExists") or "").casefold().startswith("over")
    return "&".join([*(kept if overwrite else parts), added])


def _as_described(acts: Acts, hits: Hits, address: Address) -> Acts:  # noqa: ARG001  the rule says what it does
    return acts


EFFECTS: Final[dict[str, Callable[[Acts, Hits, Address], Acts]]] = {
    "Redirect": _redirect,
    "Cancel": _cancel,
    "Replace": _replace,
    "QueryParam": _query,
}


def _variants(address: Address) -> Iterator[tuple[str, Address]]:
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


def _near_miss(rule: Rule, address: Address, variants: Sequence[tuple[str, Address]]) -> NearMiss | None:
    """The first reason for which a condition of *rule* only just fails."""
    for number, pair in enumerate(rule.pairs or (), start=1):
        if (why := _nearly(pair, address, variants)) is not None:
            return NearMiss(rule, number, why)
    return None


def _nearly(pair: Pair, address: Address, variants: Sequence[tuple[str, Address]]) -> str | None:
    source = pair.source
    if source is None or not source.value:
        return None
    key = KEYS.get((source.key or "").casefold())
    if key is not None and key != source.key and _holds(source.operator, source.value, address.subject(key)):
        return f"the key is spelled {source.key}, which no engine knows: it is {key}"
    if source.operator == "Equals":
        tested = address.subject(source.key) or ""
        if tested.casefold() == source.value.casefold():
            return "only capital and small letters differ"
        if abs(len(source.value) - len(tested)) > MOST_APART:
            return None
    if source.operator == "Matches" and _holds("Matches", f"/{source.value}/", address.subject(source.key)):
        return "the expression has no slashes around it: /…/"
    for what, variant in variants:
        if _holds(source.operator, source.value, variant.subject(source.key)):
            return f"only {what} differs"
    return None


def _holds(operator: str | None, value: str, text: str | None) -> bool:
    if text is None:
        return False
    try:
        return condition(operator, value)(text) is not None
    except CannotTell:
        return False
