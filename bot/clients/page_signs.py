"""Find the fields and headers in the answer of a list that may say that there are more records.

Services page in more ways than anybody can list. So the tables here name what is *harmless*: any other flag, number, URL or
cursor makes the list *perhaps cut*, and people see its name. Where that is wrong, an admin adds the field to a setting.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from bot.clients.json_stream import parse_json


class NamedValue(NamedTuple):
    """A value in an answer, and the path of names to it."""

    path: tuple[str, ...]
    value: Any


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


MORE: Final = _set("next more truncated continue")
"""Words of a flag that is false at the end of a list, and of a field that is empty there."""
PART: Final = _set("partial incomplete remaining remainder left omitted skipped limited capped overflow error errors")
"""Words of a field that says that something is missing, or why it may be, unless it is false, empty or 0."""
ERRORS: Final = _set("error errors")
"""Those of them that say it of this page, also where there is a next one."""
END: Final = _set("last done complete completed finished eof end final exhausted")
"""Words of a flag that is true at the end of a list."""
PLACES: Final = _set(
    "cursor cursors token continuation marker bookmark after scroll resume evaluated last offset since end"
)
"""Words of a position in the list: that of this page, or of the next one. An explicit end takes precedence."""
COUNTS: Final = _set(
    "total totals count counts range found match matches matched hits filtered length size records results"
)
"""Words of a number of records."""
PAGES: Final = (_set("pages"), _set("page count"), _set("last page"))
"""Sets of words that, all together, name a number of pages."""
LIMITS: Final = _set("limit max top take first rows batch per")
SIZES: Final = (_set("size"), _set("page size"))
"""SIZES: names of exactly these words are page sizes. LIMITS: so are names with any of those words."""
POSITIONS: Final = _set("page current number offset start skip index at from")
"""A name of only these words is the position of this page in the list."""
FRAMES: Final = frozenset({"x", "pagination"})
"""Words in the names of headers that carry no meaning."""
OTHERS: Final = _set(
    """
    csrf xsrf quota plan billing subscription seats revenue price cost currency sync trace span correlation request
    attempt rate ratelimit throttle retry reset time timing timestamp date datetime ms millis seconds duration elapsed
    took runtime latency created updated modified generated expires expiry cache cached version schema revision build
    release etag checksum hash signature auth session cookie nonce view views visit visits speed now ts ttl age
    """
)
"""Words of a field that is about something else, whatever other words its name has."""
AROUND: Final = _set("site account workspace organization organisation org tenant owner project team company")
"""Words of what the records belong to: a number under such a name counts only if it is one of RECORDS."""
RECORDS: Final = _set(
    """
    member members rule rules record records item items result results user users subscriber subscribers people contact
    contacts entry entries group groups
    """
)
QUIET: Final = _set(
    """
    id uuid guid name title label description slug type kind object status state code ok success message url uri href
    self prev previous before host server region zone locale lang language email sort order direction api env
    environment mode docs documentation help support terms privacy website homepage logo avatar image icon canonical
    path draw active enabled public private live livemode test sandbox debug admin verified archived first start errno
    result valid authenticated authorized jsonrpc msg can permission permissions scope scopes role roles
    feature features settings config segment segments
    """
)
"""Words of a field that says nothing about more records, unless its name also has a word of PLACES, PART or END."""
VOCABULARY: Final = MORE | PART | END | PLACES | COUNTS | LIMITS | _set("is has page pages url link records items")
"""Words that are also recognised inside ``nextpage`` and ``hasmore``."""
WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[^\W\d_A-Za-z]+")

OF_LISTS: Final = MORE | COUNTS | LIMITS | _set("page pages pagination cursor continuation content x size offset")
ALWAYS_OF_LISTS: Final = _set(
    "total totals next page pages pagination cursor continuation truncated more incomplete partial"
)
HEADERS_OF_OTHERS: Final = OTHERS | _set("query sql db length encoding security policy hop")
"""Words of headers that are about something else. Every gateway adds headers, so only those about lists count."""

FLAGS: Final = {"true": True, "yes": True, "false": False, "no": False}
NUMBER: Final = re.compile(r"-?(\d{1,15}|\d{1,3}(,\d{3}){1,4})(\.0{1,9})?")
RANGE: Final = re.compile(r"/(\d{1,15})$")
"""The total in ``items 0-49/120``."""
ONE_OF_MANY: Final = re.compile(r"(\d{1,15}) ?/ ?(\d{1,15})")
SO_MANY_OF: Final = re.compile(r"\b([\d,]{1,20}) of (?:about |over )?([\d,]{1,20})\b", re.IGNORECASE)
MISSING: Final = re.compile(r"\b(?:partial|incomplete|truncated|omitted)\b", re.IGNORECASE)
LEADING: Final = re.compile(r"(\d{1,15})\s")
DATE: Final = re.compile(r"\d{4}-\d\d-\d\d\b.*")
MAX_WORD: Final = 8
"""Characters: a longer text without spaces that contains digits may be a cursor, whatever its name."""
UNREAD: Final = object()
"""Stands for a value that was not inspected."""
FOREIGN: Final = re.compile(r"[^\w.-]", re.ASCII)
MAX_DEPTH, MAX_VALUES, MAX_NAME_LENGTH, MAX_TEXT_LENGTH = 16, 2_000, 60, 1_000
"""Limits of what is inspected: levels of an answer, values beside the records, characters of a name and of a text."""


@dataclass(frozen=True, slots=True)
class Signs:
    """The signs of more records on the last page, by their names in the answer."""

    promises: Sequence[str] = ()
    """Names of what says, or may say, that there are more records, but not how to get them."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Numbers that may be the total of the records, since their names say *total* or *count*."""
    numbers: Mapping[str, int] = field(default_factory=dict)
    """Numbers whose meaning is not known."""
    limits: Sequence[str] = ()
    """Names of page sizes that this page fills exactly."""
    is_flagged: bool = False
    """Whether a flag says that this is the end: then any position that is named is that of this page."""
    errors: Sequence[str] = ()
    """Those of the *promises* that are errors: this page may lack records, whatever comes after it."""

    def sign_of_more(self, read: int, *, is_counted: bool) -> str:
        """Return the name of the field that suggests more than the *read* records; empty where none does.

        *is_counted*: the service said how many there are, and that many were read.
        """
        missing = (name for name, many in self.counts.items() if many > read)
        other = (name for name, many in self.numbers.items() if many != read)
        full = () if is_counted else self.limits
        return next(iter((*self.promises, *missing, *other, *full)), "")


def values_beside(document: Any, records: list[Any], ignored: frozenset[str]) -> Iterator[NamedValue]:
    """Yield every value in an answer beside the *records*, with its path; UNREAD for a value that was not inspected.

    A link in a list of links is named by its ``rel``. A first or last record that shares no field name with the others is
    a note about the list. *ignored*: names, in lower case, that are skipped together with everything under them.
    """
    names = _names_of(records[len(records) // 2]) if records else frozenset()
    ends = (*records[:1], *records[-1:]) if len(records) > 2 and names else ()
    notes = [each for each in ends if _names_of(each) and names.isdisjoint(_names_of(each))]
    walk = _Walk(records, names, ignored)
    for each in (document, *notes):
        yield from walk.values(each, ())


def _names_of(record: Any) -> frozenset[str]:
    return frozenset(record) if isinstance(record, dict) else frozenset()


@dataclass(slots=True)
class _Walk:
    """A walk through an answer, up to MAX_VALUES values, since it blocks the event loop."""

    records: list[Any]
    names: frozenset[str]
    ignored: frozenset[str]
    left: int = MAX_VALUES

    def values(self, value: Any, path: tuple[str, ...]) -> Iterator[NamedValue]:
        if value is self.records or is_ignored(path, self.ignored) or not self.left:
            return
        self.left -= 1
        if not self.left or (isinstance(value, dict | list) and len(path) >= MAX_DEPTH):
            yield NamedValue(path, UNREAD)
        elif isinstance(value, dict) and value:
            for name, part in value.items():
                rel = value.get("rel") if name == "href" else None
                yield from self.values(part, (*path, rel if isinstance(rel, str) else name))
        elif isinstance(value, list) and value:
            yield from self._list_values(value, path)
        elif path:
            yield NamedValue(path, value)

    def _list_values(self, items: list[Any], path: tuple[str, ...]) -> Iterator[NamedValue]:
        if self.names and self.names == _names_of(items[0]):
            if items != self.records:
                yield NamedValue(path, UNREAD)  # records of the same kind, in another list
            return
        for item in items:
            for each in self.values(item, path):
                if not isinstance(item, dict) or _is_about_more(each):
                    yield each


def _is_about_more(each: NamedValue) -> bool:
    """Whether a value of an object in a list counts: most such lists are about other things, but some hold links."""
    return each.value is UNREAD or bool(words_of(each.path) & (MORE | PART | {"total"}))


def values_in_headers(headers: Mapping[str, str], ignored: frozenset[str]) -> Iterator[NamedValue]:
    """Yield the values in those *headers* that are about lists, each with its path."""
    for name, value in headers.items():
        words = words_of((name,))
        if is_ignored((name,), ignored) or words & HEADERS_OF_OTHERS:
            continue
        if name == "warning" or words & ALWAYS_OF_LISTS or (words <= OF_LISTS and words & COUNTS):
            yield from _Walk([], frozenset(), ignored).values(_document_in(value), (name,))


def _document_in(header: str) -> Any:
    """Return the JSON object in a header such as X-Pagination, or its text where it is not one."""
    try:
        return parse_json(header.encode()) if header.startswith("{") else header
    except ValueError:
        return header


def is_ignored(path: Sequence[str], ignored: frozenset[str]) -> bool:
    """Whether the admin has set that the field at *path* is not about pages."""
    return bool(ignored) and not ignored.isdisjoint({display_name(path).lower(), ".".join(path).lower()})


def signs_of(values: Iterable[NamedValue], *, size: int, page: int, has_followed: bool) -> Signs:
    """Return the signs in the *values* of a page of more records than the *size* records on it.

    *page*: its number; 0 where it has none. *has_followed*: the page before named this one, so naming none means the end.
    """
    return _Reader(size, page, has_followed, is_at_end=has_followed).read(values)


@dataclass(slots=True)
class _Reader:
    """Sorts the values of one page into signs."""

    size: int
    page: int
    has_followed: bool
    is_at_end: bool
    """Whether any value says that this is the end."""
    promises: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    """Names of weak signs, which an explicit end overrides: positions in the list, and values of unknown meaning."""
    counts: dict[str, int] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    limits: list[str] = field(default_factory=list)
    is_flagged: bool = False
    errors: list[str] = field(default_factory=list)

    def read(self, values: Iterable[NamedValue]) -> Signs:
        for path, value in values:
            words = words_of(path)
            is_promise = value is True and words & (MORE | PART)
            if is_promise or not _is_of_others(words, words_of(path[-1:])):
                before = len(self.promises)
                self._sort(path, words, value)
                self.errors += self.promises[before:] if words & ERRORS else []
        if self.is_at_end:
            return Signs(self.promises, self.counts, is_flagged=self.is_flagged, errors=self.errors)
        return Signs([*self.promises, *self.doubts], self.counts, self.numbers, self.limits, errors=self.errors)

    def _sort(self, path: tuple[str, ...], words: frozenset[str], value: Any) -> None:
        name, own = display_name(path), words_of(path[-1:]) - FRAMES
        if isinstance(value, str):
            value = value.strip()[:MAX_TEXT_LENGTH]
            value = FLAGS.get(value.lower(), value)
        if value is UNREAD:
            self.promises.append(name)
        elif value is None or value in ("", [], {}):
            self.is_at_end |= bool(own & (MORE | PLACES - END))
        elif isinstance(value, bool):
            self._sort_flag(name, words, is_true=value)
        elif (many := _number(value)) is not None:
            self._sort_number(name, words, own, many)
        elif isinstance(value, str):
            self._sort_text(name, words, own, value)

    def _sort_flag(self, name: str, words: frozenset[str], *, is_true: bool) -> None:
        if words & (MORE | END):
            if is_true == bool(words & END):
                self.is_at_end = self.is_flagged = True
            else:
                self.promises.append(name)
        elif words & PART:
            self.promises += [name] if is_true else []
        elif not words & QUIET:
            self.doubts.append(name)

    def _sort_number(self, name: str, words: frozenset[str], own: frozenset[str], many: int) -> None:
        if any(all_of <= words for all_of in PAGES):
            self.promises += [name] if many > max(1, self.page) else []
            self.is_at_end |= 0 < many == self.page
        elif many == 0:
            return
        elif own and own <= POSITIONS:
            self.doubts += [] if self.has_followed or many == 1 else [name]
        elif own & LIMITS or own in SIZES:
            self.limits += [name] if many == self.size else []
            self.numbers |= {name: many} if many != self.size and own == {"size"} else {}
        else:
            self._sort_count(name, words, many)

    def _sort_count(self, name: str, words: frozenset[str], many: int) -> None:
        if words & (MORE | PART):
            self._promise(name, words)
        elif words & COUNTS:
            self.counts[name] = many
            self.promises += [name] if many < 0 else []
        elif words & PLACES:
            self.doubts.append(name)
        elif not words & QUIET and many != self.size:
            self.numbers[name] = many

    def _promise(self, name: str, words: frozenset[str]) -> None:
        """Record a sign of more records: a weak one for a position in the list, since a flag may say that this is the end."""
        (self.doubts if words & PLACES else self.promises).append(name)

    def _sort_text(self, name: str, words: frozenset[str], own: frozenset[str], text: str) -> None:
        if is_url(text):
            self._sort_url(name, words, text)
        elif parts := ONE_OF_MANY.fullmatch(text) or SO_MANY_OF.search(text):
            self.promises += [name] if _digits(parts[1]) < _digits(parts[2]) else []
        elif words & {"range"}:
            found = RANGE.search(text)
            self.counts |= {name: int(found[1])} if found else {}
            self.doubts += [name] if not found and "/" in text else []
        elif MISSING.search(text) or words & (MORE | PART):
            self._promise(name, words)
        elif own & {"total", "count"}:
            found = LEADING.match(text)
            self.counts |= {name: int(found[1])} if found else {}
            self.promises += [] if found else [name]
        elif words & PLACES or (not words & QUIET and _may_be_a_cursor(text)):
            self.doubts.append(name)

    def _sort_url(self, name: str, words: frozenset[str], url: str) -> None:
        if words & (MORE | PART):
            self.promises.append(name)
        elif "last" in words:
            last = next(
                (int(value) for key, value in parse_query(url) if "page" in words_of((key,)) and value.isdigit()), 0
            )
            self.promises += [name] if last > max(1, self.page) and not self.has_followed else []
            self.doubts += [] if last else [name]
        elif words & PLACES or not words & QUIET:
            self.doubts.append(name)


def _is_of_others(words: frozenset[str], own: frozenset[str]) -> bool:
    return bool(words & OTHERS or (words & AROUND and not own & RECORDS))


def is_url(text: str) -> bool:
    return text.startswith(("http://", "https://", "/", "?"))


def parse_query(url: str) -> list[tuple[str, str]]:
    """Return the query of an untrusted URL; empty where it can't be parsed."""
    try:
        return parse_qsl(urlsplit(url).query)
    except ValueError:
        return []


def _may_be_a_cursor(text: str) -> bool:
    if len(text) <= MAX_WORD or " " in text or "@" in text or DATE.fullmatch(text):
        return False
    return any(map(str.isdigit, text)) or text.endswith("=")


def _number(value: Any) -> int | None:
    """Return the whole number in *value*, such as ``120``, ``120.0`` or ``1,200``; None where it is not one."""
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return int(value.partition(".")[0].replace(",", "")) if isinstance(value, str) and NUMBER.fullmatch(value) else None


def _digits(text: str) -> int:
    return int(text.replace(",", "") or 0)


def words_of(path: Iterable[str]) -> frozenset[str]:
    """Return the words in the names of *path*, in lower case."""
    found = (word.lower() for name in path for word in WORD.findall(name[:MAX_NAME_LENGTH]))
    return frozenset(part for word in found for part in _parts(word))


@lru_cache(maxsize=1024)
def _parts(word: str) -> Sequence[str]:
    return [word] if word in VOCABULARY else _split(word) or [word]


@lru_cache(maxsize=1024)
def _split(text: str) -> Sequence[str] | None:
    """Return the words of VOCABULARY that *text* is made of; None where it has any other part."""
    if not text:
        return ()
    for word in sorted(VOCABULARY):
        if text.startswith(word) and (rest := _split(text.removeprefix(word))) is not None:
            return (word, *rest)
    return None


def display_name(path: Sequence[str]) -> str:
    """Return *path* as one name that is safe to show to people, since its parts come from the service."""
    return FOREIGN.sub("", ".".join(path))[-MAX_NAME_LENGTH:].strip(".") or "(unnamed)"
