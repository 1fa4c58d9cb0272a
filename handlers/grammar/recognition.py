"""Recognise what a text names by what it looks like, in any order: things that exist, URLs, emails, times, and a reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from bot.rules.model import USUAL_RULE_ID
from bot.text.names import fold_name
from bot.text.times import Kind, ParsedTime, parse_time
from handlers.grammar.fields import JOINING, NUMBER, expand_rows, reason_in
from handlers.grammar.known import Known, word_set
from handlers.grammar.recognised import MAX_NAME_WORDS, Recognised, Sort, Token
from handlers.grammar.time_fields import Expiry, Start, expiry_in, time_at
from handlers.grammar.tokens import WEB, Word, split, strip_email, urls_typed
from handlers.grammar.verbs import find_question, take_verb, without_request
from handlers.grammar.vocabulary import (
    AFTER_ALL,
    ARROWS,
    BECAUSE,
    CAUTIOUS,
    FILLERS,
    GREETINGS,
    HAVING,
    LACKING,
    NAMED,
    QUESTIONS,
    bare,
)

MAX_WORDS: Final = 60
"""Nothing in a longer text is looked up, since names are searched for at each of its words."""
AND: Final = frozenset({"+", "&"})
ANDS: Final = AND | JOINING
SAYS_SOMETHING: Final = re.compile(r"[^:\w]*\w.*")
"""A word that isn't only a sign, or an emoji in either of its spellings."""
HOST: Final = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?(?:[/?#]\S*)?", re.IGNORECASE)
COMMON_ENDS: Final = word_set("com net org io dev app de eu uk fr us co ch at nl shop example test")
PATH: Final = re.compile(r"/[^\s/]\S*")
EMAIL: Final = re.compile(r"[^\s@<>]+@[^\s@<>.]+(?:\.[^\s@<>.]+)+")
ADDRESSEE: Final = re.compile(r"""(?:"([^"]{1,80})"\s*|((?:[^\W\d_][\w.'-]{0,40}\s+){1,3}))<([^<>\s@]+@[^<>\s]+)>""")
"""A person as mail programs write one: ``Tom Meier <tom@example.com>``."""
PREPOSITIONS: Final = word_set("since until till to from at on in for by of")
BY: Final = re.compile(r"by\b", re.IGNORECASE)
"""Before a deadline, which isn't the end of a temporary change."""
MAX_SPACE: Final = 2
"""Characters between two adjacent words."""

Sorts = dict[tuple[int, str], Sort]
"""What each word was taken for, by its place and its text: the parts of one word share its place."""


def without_addressees(text: str) -> tuple[str, Mapping[str, str]]:
    """Return *text* with the email alone in the place of ``Tom Meier <tom@example.com>``, and the names by their emails."""
    names: dict[str, str] = {}

    def email(match: re.Match[str]) -> str:
        words = (match[1] or match[2]).split()
        first = 0 if match[1] else next((at for at, word in enumerate(words) if word[:1].isupper()), len(words))
        names[match[3]] = " ".join(words[first:])
        return " ".join([*words[:first], match[3]])

    return ADDRESSEE.sub(email, text), names


def recognise(root: str, words: Sequence[Word], known: Known, names: Mapping[str, str]) -> Recognised:
    """Return what *words* after ``/root`` name, and what is to be done. *names*: what people are called, by their emails."""
    words = _without_preposition(words)
    found = Recognised(root, known, " ".join(word.text for word in words), words, names)
    clauses = left = _take_new_name(found, _take_reason(found, words))
    if sum(len(_split_at_commas(word)) for word in left) > MAX_WORDS:
        return found
    sorts: Sorts = {}
    # Twice, since a name may contain a comma: first the words as they were typed, then the parts between commas.
    left = _take_names(found, left, sorts)
    left = _take_names(found, [part for word in left for part in _split_at_commas(word)], sorts)
    left = _take_times(found, left, sorts)
    left = _take_things(found, left, sorts)
    found.tokens = [*_tokens(clauses, left, sorts)]
    plain = [each for word in left for each in (bare(word.text), *(["and"] if word.text.endswith(",") else []))]
    says = AND | CAUTIOUS
    plain = ["and" if word in AND else word for word in plain if word in says or SAYS_SOMETHING.fullmatch(word)]
    plain = without_request(plain)
    found.question = find_question(plain)
    found.words = take_verb(found, _take_segments(found, plain))
    _take_site(found)
    return found


def _without_preposition(words: Sequence[Word]) -> Sequence[Word]:
    """Return *words* without a preposition before a question: “since when” asks when."""
    at = next((at for at, word in enumerate(words[:-1]) if bare(word.text) not in GREETINGS), 0)
    asks = len(words) > 1 and words[at].keyword in PREPOSITIONS and words[at + 1].keyword in QUESTIONS
    return [*words[:at], *words[at + 1 :]] if asks else words


def without_quotes(found: Recognised) -> Recognised:
    """Return what the same text names if nothing in it is in quotes: what is quoted may name things, too."""
    if not any(word.quoted for word in found.typed):
        return found
    words = [part for word in found.typed for part in (split(word.text) if word.quoted else [word])]
    return recognise(found.root, words, found.known, found.names)


def _take_reason(found: Recognised, words: Sequence[Word]) -> Sequence[Word]:
    """Take “because” and all that follows it out of *words*, and return those before it."""
    at = next((i for i, word in enumerate(words) if word.keyword in BECAUSE and 0 < i < len(words) - 1), None)
    if at is None or parse_time([word.text for word in words], at) is not None:  # “since yesterday”
        return words
    found.reason = reason_in([replace(words[at], text="because"), *words[at + 1 :]])
    return words[:at]


def _take_new_name(found: Recognised, words: Sequence[Word]) -> Sequence[Word]:
    """Take ``named "NAME"``."""
    at = next((i for i, word in enumerate(words[:-1]) if word.keyword in NAMED and words[i + 1].quoted), None)
    if at is None:
        return words
    found.new_name = words[at + 1].text
    return [*words[:at], *words[at + 2 :]]


def _split_at_commas(word: Word) -> list[Word]:
    if word.quoted or WEB.match(word.text) or "," not in word.text.strip(AFTER_ALL):
        return [word]
    *first, last = [part for part in word.text.split(",") if part]
    return [*(replace(word, text=f"{part},") for part in first), replace(word, text=last)]


def _take_names(found: Recognised, words: Sequence[Word], sorts: Sorts) -> Sequence[Word]:
    """Take names of several words, or in quotes, the longest first: the words in them mean nothing else."""
    left: list[Word] = []
    lines = [fold_name(word.text) for word in words]
    at = 0
    while at < len(words):
        least = 1 if words[at].quoted else 2
        for length in range(min(MAX_NAME_WORDS, len(words) - at), least - 1, -1):
            if _is_name(found, " ".join(lines[at : at + length]).rstrip("?!,").removesuffix("'s")):
                sorts |= {(word.start, word.text): Sort.NAME for word in words[at : at + length]}
                at += length
                break
        else:
            left.append(words[at])
            at += 1
    return left


def _is_name(found: Recognised, name: str) -> bool:
    """Whether something is called *name*, which is noted then."""
    known = found.known
    rules, groups = known.rules.find_exact(name), known.groups.find_exact(name)
    people = [] if rules or groups else known.members.find_exact(name)
    found.rules += rules
    found.groups += groups
    found.emails += people
    found.has_namesakes = found.has_namesakes or len(people) > 1 or len(rules) > 1
    return bool(rules or groups or people)


def _take_times(found: Recognised, words: Sequence[Word], sorts: Sorts) -> Sequence[Word]:
    """Take times: an end or a length, a start, a since, and others, which nothing uses."""
    left: list[Word] = []
    for some in _adjacent(words):
        at, texts = 0, ["" if word.quoted else word.text for word in some]
        while at < len(some):
            time = time_at(texts, at)
            count = time.count if time is not None else 1
            if time is None:
                left.append(some[at])
            else:
                _note_time(found, time)
                sorts |= {(word.start, word.text): Sort.TIME for word in some[at : at + count]}
            at += count
    return left


def _adjacent(words: Sequence[Word]) -> Iterator[list[Word]]:
    """Yield *words* in runs that stood side by side: a time doesn't continue after a name that was taken out."""
    run: list[Word] = []
    for word in words:
        if run and word.start > run[-1].start + len(run[-1].text) + MAX_SPACE:
            yield run
            run = []
        run.append(word)
    yield run


def _note_time(found: Recognised, time: ParsedTime) -> None:
    if time.kind is Kind.SINCE and found.since is None:
        found.since = time
    elif found.expiry is None and (ends := _expiry(time)) is not None and not BY.match(time.text):
        found.expiry = ends
    elif found.start is None and (starts := Start.of(time)) is not None:
        found.start = starts
    else:
        found.times.append(time.text.rstrip(AFTER_ALL))


def _expiry(time: ParsedTime) -> Expiry | None:
    """Return the end or the length that *time* is, as commands take it."""
    if time.kind not in {Kind.LENGTH, Kind.END}:
        return None
    keyword = "for" if time.kind is Kind.LENGTH else "until"
    words = time.text.rstrip(AFTER_ALL).split()
    read = filter(None, (expiry_in(keyword, " ".join(some)) for some in (words, words[1:])))
    return next((ends for ends in read if (ends.seconds, ends.wall) == (time.seconds, time.wall)), None)


def _take_things(found: Recognised, words: Sequence[Word], sorts: Sorts) -> Sequence[Word]:
    """Take URLs, emails, rows and ids, which are recognised by their form."""
    lists = {Sort.URL: found.urls, Sort.EMAIL: found.emails, Sort.ROW: found.rows, Sort.NAME: found.rules}
    left: list[Word] = []
    for word in words:
        sort, things = _things_in(word.text, found.known.hosts)
        if things:
            lists[sort] += things
            sorts[word.start, word.text] = sort
        elif word.text in ARROWS:
            found.act = "redirect"
        else:
            left.append(word)
    return left


def _things_in(text: str, hosts: Sequence[str]) -> tuple[Sort, Sequence[str]]:
    """Return what *text* looks like, and the things in it; of a word, none."""
    plain = text.rstrip(AFTER_ALL)
    if WEB.match(text):
        return Sort.URL, urls_typed(text)
    if EMAIL.fullmatch(plain):
        return Sort.EMAIL, [strip_email(plain)]
    if all(NUMBER.fullmatch(row) for row in expand_rows(plain)):
        return Sort.ROW, expand_rows(plain)
    if USUAL_RULE_ID.fullmatch(plain):
        return Sort.NAME, [plain]
    host = plain.casefold()
    if HOST.fullmatch(host) and ("/" in host or host in hosts or host.rpartition(".")[2] in COMMON_ENDS):
        return Sort.URL, [f"https://{plain}"]
    if PATH.fullmatch(plain):
        return Sort.URL, [plain]
    return Sort.WORD, []


def _tokens(typed: Sequence[Word], left: Sequence[Word], sorts: Sorts) -> Iterator[Token]:
    """Yield *typed* with what each word was taken for; *left*: those that are plain words."""
    words = {(word.start, word.text) for word in left}
    for whole in typed:
        for word in [whole] if (whole.start, whole.text) in sorts else _split_at_commas(whole):
            sort = sorts.get((word.start, word.text))
            if sort is not None:
                urls = urls_typed(word.text) if sort is Sort.URL else []
                yield Token(sort, urls[0] if urls else word.text.rstrip(AFTER_ALL))
            elif (word.start, word.text) in words:
                plain = bare(word.text)
                yield Token(Sort.AND, "and") if plain in ANDS else Token(Sort.WORD, plain)
            if word.text.endswith(","):
                yield Token(Sort.AND, "and")


def _take_segments(found: Recognised, words: Sequence[str]) -> list[str]:
    """Take the words that name segments, and those before them such as “without”: they narrow, and reverse nothing."""
    left: list[str] = []
    led: list[str] = []  # fillers and the like since the last other word: they lead a segment, or else stay words
    segments = found.segments
    for word in words:
        if (name := found.segment(word)) is not None:
            segments += [] if name in segments else [name]
            left += [each for each in led if each not in LACKING and each not in HAVING]
            led = []
        elif word in HAVING and segments is found.lacking and led[-1:] != ["but"]:
            led.append(word)  # “who don't have”
        elif word in LACKING or word in HAVING:
            segments = found.lacking if word in LACKING else found.having
            joins = led[-1:] == ["but"]  # “vip but not beta”
            left += led[: -1 if joins else None]
            led = [*led[-1:], word] if joins else [word]
        elif word in FILLERS:
            led.append(word)
        else:
            segments = found.segments
            left += [*led, word]
            led = []
    return [*left, *led]


def _take_site(found: Recognised) -> None:
    """Take the site that is named; in a text about rules, only after a preposition."""
    leads = {"on", "in", "at", "site", "from", "of", "to"}
    for at, word in enumerate(found.words):
        if word in found.known.sites and (found.is_about_members or (at and found.words[at - 1] in leads)):
            found.site = found.known.sites[word]
            found.words = [*found.words[:at], *found.words[at + 1 :]]
            return
