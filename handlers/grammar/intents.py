"""Read what people type before they know the grammar: things by what they are, in any order, and what is to happen to them.

Nothing is run from here. Whoever asks gets the commands that a text may mean, and `runs_at_once` says which of them
may be run without being shown first: a single one that changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final, cast
from urllib.parse import urlsplit

from bot.rules.model import USUAL_RULE_ID
from bot.text.names import MIN_PART
from handlers.gatehouse.commands import (
    GatehouseAudit,
    GatehouseDigest,
    GatehouseHelp,
    GatehousePending,
    GatehousePlanned,
    GatehouseSettings,
    GatehouseStatus,
    GatehouseUndo,
    GatehouseWhoami,
)
from handlers.grammar.command import Command, Unclear
from handlers.grammar.fields import MAX_ROWS, NUMBER, Start, time_in_reason
from handlers.grammar.known import MAX_READINGS, Known
from handlers.grammar.parser import VERBS, parse
from handlers.grammar.recognised import Recognised, Sort
from handlers.grammar.recognition import recognise, without_addressees, without_quotes
from handlers.grammar.roles import FORMS, idle_words, twists
from handlers.grammar.tokens import MAX_COMMAND, Word, cleaned, split
from handlers.grammar.vocabulary import (
    ACTS,
    AFTER_ALL,
    BECAUSE,
    CHANGING,
    COUNTS,
    ENDS,
    FILLERS,
    IDLE,
    LOOSE,
    MAIL,
    MOVED,
    NAMED,
    ORDINALS,
    PARTED,
    PERSONS,
    PRONOUNS,
    QUESTIONS,
    SAYS,
    STATUSES,
    TOPICS,
    TYPES,
    bare,
    points,
)
from handlers.members.commands import (
    MembersAdd,
    MembersEdit,
    MembersExport,
    MembersGrant,
    MembersImport,
    MembersList,
    MembersMove,
    MembersOffboard,
    MembersRemove,
    MembersRevoke,
    MembersSegments,
    MembersShow,
    MembersWhy,
)
from handlers.rules.commands import (
    REACHES,
    RulesCheck,
    RulesCopy,
    RulesDelete,
    RulesEdit,
    RulesExport,
    RulesGroup,
    RulesGroups,
    RulesHistory,
    RulesImport,
    RulesList,
    RulesMake,
    RulesNew,
    RulesOff,
    RulesOn,
    RulesSamples,
    RulesSet,
    RulesShow,
    RulesWhich,
)


def runs_at_once(readings: Sequence[Command]) -> Command | None:
    """The command that may be run without being shown first: the only reading, where it changes nothing."""
    return readings[0] if len(readings) == 1 and not readings[0].writes else None


@dataclass(frozen=True, slots=True)
class Readings:
    """The commands that a text may mean, and what it says besides that none of them takes up: what is *unread*.

    *meant*: the changes that it would be without what is unread; then *commands* only show what they are about.
    """

    commands: tuple[Command, ...] = ()
    unread: tuple[str, ...] = ()
    meant: tuple[Command, ...] = ()
    missing: tuple[str, ...] = ()
    """Whose names could not be read in time."""


def read(root: str, text: str, known: Known) -> Readings:
    """Return the commands that *text* after ``/root`` may mean, the likeliest first; nothing where nobody can tell.

    *root* is empty where none was given. Raises Unclear for a time that could mean several things.
    """
    if len(text) > MAX_COMMAND:
        return Readings()
    text, names = without_addressees(cleaned(text))
    words = split(text)
    while words and words[0].keyword.lstrip("/") in ROOTS:
        root, words = words[0].keyword.lstrip("/"), words[1:]
    if (spelled := _under_another_root(root, words)) is not None:
        return Readings((spelled,))
    found = recognise(root, words, known, names)
    readings = _read(found, words, root)
    return replace(readings, unread=_as_said(readings.unread, found))


def says_better(error: Unclear, readings: Readings, text: str) -> bool:
    """Whether *error* helps more than *readings* of *text*: a command that lacks something, or is a letter away, says so."""
    if not readings.unread or readings.meant:
        return False
    first = bare(text.partition(" ")[0])
    if first in QUESTIONS and readings.commands:
        return False  # “which colleague …” asks for no URL
    begins = any(each.casefold().startswith(first) for each in readings.unread)
    return error.has_verb or (error.suggestion is not None and begins)


def _as_said(unread: Sequence[str], found: Recognised) -> tuple[str, ...]:
    """What is *unread* as it was typed: words that stand together, with the fillers between them, are one."""
    single = {each for each in unread if " " not in each}
    runs: list[str] = []
    run: list[str] = []
    between: list[str] = []
    for typed in found.text.split():
        word = bare(typed)
        if word in single and points(word):
            runs += [" ".join(run), typed]
            run, between = [], []
        elif word in single:
            run += [*between, typed]
            between = []
        elif run and word in FILLERS and len(between) < MAX_BETWEEN:
            between.append(typed)
        else:
            runs.append(" ".join(run))
            run, between = [], []
    runs = list(filter(None, [*runs, " ".join(run)]))
    said = {bare(word) for each in runs for word in each.split()}
    others = [each for each in unread if each not in said]
    return tuple(dict.fromkeys([*(each.strip(AFTER_ALL) for each in runs), *others]))


MAX_BETWEEN: Final = 2
"""Fillers between two words that nobody understood, which are told with them."""


def _read(found: Recognised, words: Sequence[Word], root: str) -> Readings:
    all_meant = [_begun_at(found.start, each) for each in _meant(found)]
    readings = list(dict.fromkeys(each for meant in all_meant if (each := _read_back(meant)) is not None))
    if all(isinstance(each, RulesList | MembersList) for each in readings) and _pointed_at(found):
        readings = []
    unread = unread_of(found, readings)
    found.turned += twists(found, readings)
    if not 0 < len(readings) <= MAX_READINGS:
        looked = _looked_at(found, ())
        unread = tuple(dict.fromkeys([*looked.unread, *unread_of(found, looked.commands)]))
        return replace(looked, unread=unread or tuple(filter(None, [found.verb])))
    if not any(each.writes or isinstance(each, FORMS) for each in readings):
        unread = unread or tuple(filter(None, [found.verb]))  # what it says is to be done, and isn't
        asks_for_more = found.turned or _asks_for_a_change(root, words)
        return _looked_at(found, unread or (words[0].text,)) if asks_for_more else _with_more(found, readings, unread)
    if instead := _off_for_a_while(found, readings, unread):
        return Readings((instead, *readings))
    if found.turned or unread:
        return replace(_looked_at(found, unread), meant=() if found.turned else tuple(readings))
    return Readings(tuple(readings))


def _begun_at(start: Start | None, command: Command) -> Command:
    """*command* with its *start*, if it can have one."""
    return replace(cast("Any", command), start=start) if start is not None and hasattr(command, "start") else command


def _off_for_a_while(found: Recognised, readings: Sequence[Command], unread: Sequence[str]) -> Command | None:
    """What somebody wants who says until when rules are to be deleted: to have them switched off for so long."""
    match readings:
        case [RulesDelete(refs, because)] if found.expiry and not found.turned and unread == (found.expiry.as_typed,):
            return _read_back(RulesOff(refs, expiry=found.expiry, because=because))
    return None


def _with_more(found: Recognised, readings: Sequence[Command], unread: Sequence[str]) -> Readings:
    """What is asked, and beside it what else the text names."""
    looked = _looked_at(found, ()).commands if unread and not found.question else ()
    both = tuple(dict.fromkeys([*readings, *looked]))[:MAX_READINGS]
    left = unread_of(found, both)
    return Readings(both, left) if len(left) < len(unread) else Readings(tuple(readings), tuple(unread))


def _looked_at(found: Recognised, unread: Sequence[str]) -> Readings:
    """What a text is about, where what it says of it can't be told."""
    shown = list(dict.fromkeys(each for look in _shown(found) if (each := _read_back(look)) is not None))
    names_it = any(isinstance(each, RulesShow | MembersShow | MembersWhy | RulesWhich) for each in shown)
    pointed = [] if names_it else [word for word in found.words if word in PRONOUNS]
    shown = shown if names_it else [*(_pointed_at(found) or shown), *_views(found)]
    return Readings(tuple(shown[:MAX_READINGS]), tuple(dict.fromkeys([*found.turned, *pointed, *unread])))


def _pointed_at(found: Recognised) -> list[Command]:
    """What a text points at that names no thing: “it” is what was shown or changed last, “the second one” a row of the list."""
    if found.urls or found.emails or found.rows or found.rules or found.groups:
        return []
    words = [bare(word) for word in found.text.split()]
    rows = [f"#{ORDINALS[word]}" for word, after in pairwise(words) if word in ORDINALS and after in COUNTS]
    if rows:
        return [MembersShow((row,)) if found.root == "members" else RulesShow(row) for row in rows]
    if PRONOUNS.isdisjoint(words):
        return []
    about_people = not PERSONS.isdisjoint(words)
    return [
        RulesShow(each.key) if each.service == "rules" else MembersShow((each.key,), each.site)
        for each in found.known.shown
        if each.key and each.service in {"members", *(() if about_people else ("rules",))}
    ]


def unread_of(found: Recognised, readings: Sequence[Command]) -> tuple[str, ...]:
    """What *found* says that is in none of *readings*: words, things that exist, a time.

    Of what only asks, words that name nothing may be left; what would change something takes up all that counts.
    """
    text = " ".join(_without_reason(each).write() for each in readings).casefold()
    writes = any(each.writes or isinstance(each, FORMS) for each in readings)
    words = {*re.split(r"[\s\"':=,]+", text), *found.used, *(idle_words(found, readings) if writes else FILLERS | IDLE)}
    if any(isinstance(each, RulesList) for each in readings):
        words |= {*STATUSES, *TYPES}
    words |= _types_of(found, readings)
    words -= NAMED if any(isinstance(each, RulesMake) for each in readings) else frozenset()
    things = [*found.urls, *found.emails, *found.rows, *found.rules, *found.groups]
    things += [*found.segments, *found.having, *found.lacking]
    titles = found.known.titles
    left = [
        titles.get(thing, thing)
        for thing in things
        if thing not in found.used and not any(each.casefold() in text for each in (thing, titles.get(thing, thing)))
    ]
    many = {str(len(getattr(each, "refs", ()))) for each in readings}
    left += [word for word in found.words if word not in words | many]
    left += [] if writes else found.asides
    if found.expiry and all(getattr(each, "expiry", None) != found.expiry for each in readings):
        left.append(found.expiry.as_typed)
    if found.start and all(getattr(each, "start", None) != found.start for each in readings):
        left.append(found.start.as_typed)
    left += found.times
    left += [time for each in readings if each.writes and (time := time_in_reason(each))]
    if found.named and all(getattr(each, "name", None) != found.named for each in readings):
        left.append(found.named)
    if found.since is not None and found.since.text not in found.used:
        left.append(found.since.text.rstrip(AFTER_ALL))
    if found.site and readings and all(getattr(each, "site", None) != found.site for each in readings):
        left.append(found.site)
    return tuple(dict.fromkeys(left))


def _without_reason(command: Command) -> Command:
    return replace(cast("Any", command), because=None) if getattr(command, "because", None) else command


def _types_of(found: Recognised, readings: Sequence[Command]) -> set[str]:
    """The words for the types of the rules that *readings* are about: “the old shop redirect”."""
    refs = [ref for each in readings for ref in (*getattr(each, "refs", ()), getattr(each, "ref", None))]
    rules = [found.known.by_id[ref] for ref in refs if ref in found.known.by_id]
    kinds = {rule.rule_type for rule in rules} | {getattr(each, "type", None) for each in readings}
    return {word for word, kind in TYPES.items() if kind in kinds}


ROOTS: Final = frozenset(VERBS)


def _read_back(command: Command) -> Command | None:
    """*command* as its own text is read: what a button does is what was shown. None where it can't be written."""
    try:
        found = parse(command.service, command.write())
    except (Unclear, ValueError):
        return None
    return found if type(found) is type(command) else None


def _asks_for_a_change(root: str, words: Sequence[Word]) -> bool:
    """Whether the verb is one that changes something, spelled right: to show something instead would be no answer."""
    kind = VERBS.get(root, {}).get(words[0].keyword) if words else None
    return kind is not None and kind.writes


def _under_another_root(root: str, words: Sequence[Word]) -> Command | None:
    """The command that the words are, spelled right, under whichever root takes them; that of *root* comes first."""
    verb = words[0].keyword if words else ""
    text = " ".join(f'"{word.text}"' if word.quoted else word.text for word in words)
    for service in sorted(ROOTS, key=lambda one: (one != root, one)):
        kind = VERBS[service].get(verb)
        if kind is None or kind.verb in LOOSE:
            continue
        try:
            return parse(service, text)
        except Unclear:
            continue
    return None


def _meant(found: Recognised) -> list[Command]:
    if _is_how_to(found):
        return [GatehouseHelp(topic=found.text)]
    if moves := _move(found):
        return moves
    if found.act in LOOKING and not found.verb and not _names_something(found) and (views := _views(found)):
        return views
    if SAMPLES.search(found.text.casefold()):
        return _samples(found)
    if found.question:
        return _asked(found)
    if found.act:
        return READERS[found.act](found)
    return _bare(found)


def _names_something(found: Recognised) -> bool:
    named = found.urls or found.emails or found.rows or found.groups or _is_of_segments(found)
    return bool(named or found.rule_refs() or found.people())


LOOKING: Final = frozenset({"", "show", "history", "status", "why"})
"""Acts of a text that may only speak of what there is a view of."""


def _views(found: Recognised) -> list[Command]:
    """The views of what a text speaks of: what changed, what waits, what is wrong."""
    words = {bare(word) for word in found.text.split()}
    topics = {topic for word, topic in TOPICS.items() if word in words}
    found.used |= words & TOPICS.keys()
    return [view(found) for topic, view in VIEWS.items() if topic in topics]


def _changed(found: Recognised) -> Command:
    since = _since(found)
    return GatehouseAudit(since=since) if found.question == "who" else GatehouseDigest(since=since)


VIEWS: Final[Mapping[str, Callable[[Recognised], Command]]] = {
    "check": lambda _: RulesCheck(),
    "segments": lambda found: MembersSegments(site=found.site),
    "groups": lambda _: RulesGroups(),
    "pending": lambda _: GatehousePending(),
    "timers": lambda _: GatehousePlanned(),
    "changed": _changed,
    "status": lambda _: GatehouseStatus(),
    "settings": lambda _: GatehouseSettings(),
    "whoami": lambda _: GatehouseWhoami(),
}


SAMPLES: Final = re.compile(r"\btest(?:ed)? urls?\b")


def _samples(found: Recognised) -> list[Command]:
    """The test URLs of a channel, or one more of them, or one less."""
    action = None if not found.urls else "remove" if found.act in {"delete", "take"} else "add"
    return [RulesSamples(action, tuple(found.urls))]


def _is_how_to(found: Recognised) -> bool:
    start = found.text.casefold().split()[:3]
    return start[:1] == ["how"] and bool({"do", "to", "can", "would", "does"} & set(start[1:])) and not found.urls


def _asked(found: Recognised) -> list[Command]:
    """What a question is about: none of it changes anything."""
    if found.urls:
        return _leading_to(found) or _which(found)
    if found.emails:
        return _why_people(found, found.emails)
    if found.several:
        return _about_rules(found, found.rule_refs())
    return _about_gatehouse(found) or _about_names(found) or _bare(found)


LEADS_TO: Final = re.compile(r"\b(?:redirects?|goes?|leads?|points?|sends?) to ")


def _leading_to(found: Recognised) -> list[Command]:
    """The rules that lead to a URL, where a question asks for what does."""
    asks = found.question in {"what", "which", "who"} and LEADS_TO.search(found.text.casefold())
    return [RulesList(url=found.urls[0])] if asks and len(found.urls) == 1 and " does " not in found.text else []


def _about_gatehouse(found: Recognised) -> list[Command]:
    text = " ".join(map(bare, found.text.split()))
    if any(words in text for words in ("can i do", "may i", "who am i", "allowed to do")):
        return [GatehouseWhoami()]
    if any(words in text for words in ("did what", "what's new")) and not found.rule_refs():
        return [_changed(found)]
    if found.act in {"pending", "timers"}:
        return READERS[found.act](found)
    everything = found.act == "status" or {"everything", "gatehouse"} & set(text.split())
    return [GatehouseStatus()] if everything and found.question in {"is", "are"} else []


def _about_names(found: Recognised) -> list[Command]:
    words = {bare(word) for word in found.text.split()}
    if _is_of_segments(found) and not found.people(anywhere=True) and not found.rule_refs():
        return _members_of(found)
    if found.question == "how" and not found.phrase and not STATUSES.keys() & words:
        return _everything(found, words)
    if (
        not found.phrase
        and ("on" not in words or {"rule", "rules"} & words)
        and (status := next((STATUSES[word] for word in STATUSES if word in words), None))
    ):
        return [RulesList(status=status)]
    if people := found.people(anywhere=found.question not in IDENTITY):
        return _why_people(found, people)
    return _about_rules(found, found.rule_refs())


def _is_of_segments(found: Recognised) -> bool:
    return bool(found.segments or found.having or found.lacking)


def _everything(found: Recognised, words: set[str]) -> list[Command]:
    """All members or all rules, where it is asked how many there are."""
    people = found.root == "members" or words & {"members", "users", "people", "customers", "accounts"}
    return [MembersList(site=found.site) if people else RulesList()]


def _since(found: Recognised) -> str | None:
    if found.since is None:
        weekend = next((each for each in found.times if WEEKEND.search(each)), None)
        found.times = [each for each in found.times if each != weekend]
        return "last saturday" if weekend else None
    found.used.add(found.since.text)
    return found.since.text.rstrip(AFTER_ALL).removeprefix("since ")


WEEKEND: Final = re.compile(r"weekend|wochenende", re.IGNORECASE)


def _about_rules(found: Recognised, refs: Sequence[str]) -> list[Command]:
    """Who and when and why are on record; what it is, the rule shows."""
    past = found.question in {"who", "who's", "when"} or (found.question == "why" and _switched(found))
    kind: type[RulesHistory | RulesShow] = RulesHistory if past or found.act == "history" else RulesShow
    return [kind(ref) for ref in refs]


def _switched(found: Recognised) -> bool:
    return bool(set(found.text.casefold().rstrip("?").split()) & {*STATUSES, "changed", "deleted", "gone"})


IDENTITY: Final = frozenset({"who", "who's", "what", "is"})


def _why_people(found: Recognised, people: Sequence[str]) -> list[Command]:
    found.take_as_theirs()
    if found.question in IDENTITY and not found.segments:
        return _show_people(found, people)
    segment = next(iter(found.segments), None)
    return _for_people(found, lambda emails: MembersWhy(emails, segment, found.site), people)


def _members_of(found: Recognised) -> list[Command]:
    """The members with a segment, and without another."""
    having = [*found.having, *found.segments, None][0]
    return [MembersList(segment=having, without_segment=[*found.lacking, None][0], site=found.site)]


def _bare(found: Recognised) -> list[Command]:
    """Things without a word on what to do: they are looked up; two URLs with an arrow are a redirect."""
    if len(found.urls) == 2 and found.rule_refs() == [] and {"to", "into"} & set(found.words):
        return _redirect(found)
    if found.urls:
        return _which(found)
    if found.emails and found.segments:
        return _for_people(found, lambda emails: _grant(found, emails))
    if found.emails:
        return _for_people(found, lambda emails: MembersWhy(emails, site=found.site))
    if found.several:
        return _show_rules(found)
    if found.groups:
        return [RulesList(group=found.known.titles[key]) for key in found.groups]
    if {"hi", "hello", "hey"} & set(found.text.casefold().split()) and not found.phrase:
        return [GatehouseHelp(topic="hi")]
    return _search(found)


def _search(found: Recognised) -> list[Command]:
    """What words alone are: a filter, a name, a part of one; of nearly a name, what has it."""
    words = [word for word in (*found.words, *([found.act] if found.act in STATUSES else [])) if word not in FILLERS]
    if _is_of_segments(found) and not words:
        return _members_of(found)
    if words and all(word in STATUSES or word in TYPES for word in words):
        status = next((STATUSES[word] for word in words if word in STATUSES), None)
        return [RulesList(status=status, type=next((TYPES[word] for word in words if word in TYPES), None))]
    if len(text := found.phrase) < MIN_PART:
        return []
    order = (_find_members, _find_rules) if found.root == "members" else (_find_rules, _find_members)
    for find in order:
        if commands := find(found, text):
            return commands
    near: list[Command] = [RulesShow(rule) for rule in found.known.rules.alike(text)]
    near = near or [MembersShow((email,)) for email in found.known.members.alike(text)]
    found.used |= {*found.words} if near else set()
    return near


def _find_rules(found: Recognised, text: str) -> list[Command]:
    rules = found.part_of(found.known.rules)
    if len(rules) > 1:
        return [RulesList(text=text)]
    if not rules and (groups := found.part_of(found.known.groups)):
        return [RulesList(group=found.known.titles[key]) for key in groups]
    return [RulesShow(rule) for rule in rules]


def _find_members(found: Recognised, text: str) -> list[Command]:
    people = found.people()
    if len(people) > 1:
        return [MembersList(text=text, site=found.site)]
    return _show_people(found, people)


def _shown(found: Recognised) -> list[Command]:
    """What a text is about, where what it says of it can't be told: each thing that it names, then what it only describes."""
    found = without_quotes(found)
    hosts: list[Command] = [RulesList(url=urlsplit(url).netloc) for url in found.urls if _is_host(url)]
    things = hosts or (_which(found) if found.urls else [])
    if {*found.text.casefold().split()} & GETTING_IN and (people := found.people(loosely=True)):
        return things + _why_people(found, people)
    rules: list[Command] = [RulesShow(ref) for ref in found.mentioned(found.known.rules)]
    people = found.mentioned(found.known.members)
    members: list[Command] = [MembersShow((email,), found.site) for email in people]
    things += [*members, *rules] if found.root == "members" else [*rules, *members]
    things += [RulesList(group=found.known.titles[key]) for key in found.mentioned(found.known.groups)]
    tells_which = found.turned or {*found.words} & EACH
    return things if things and not tells_which else things + _described(found)


def _is_host(url: str) -> bool:
    return not url.startswith("/") and not urlsplit(url).path


def _described(found: Recognised) -> list[Command]:
    """The lists of what a text doesn't name, but describes: rules of a type, on or off, members with a
    segment, and what changed where something is to be undone.
    """
    kind = next((TYPES[word] for word in found.words if word in TYPES), None)
    status = next((STATUSES[word] for word in found.words if word in STATUSES and word not in ENDS), None)
    lists: list[Command] = [RulesList(type=kind, status=status)] if kind or status else []
    lists += [GatehouseAudit()] if found.act in {"undo", "restore"} else []
    lists += [MembersList(site=found.site)] if found.site and not (lists or _is_of_segments(found)) else []
    return lists + (_members_of(found) if _is_of_segments(found) else [])


GETTING_IN: Final = frozenset(
    {"can", "open", "enter", "see", "access", "get", "login", "log", "rein", "kommt", "entrar"}
)
"""Words of somebody who says that somebody gets in, or doesn't."""


def _show_rules(found: Recognised) -> list[Command]:
    return [RulesShow(ref) for ref in found.rule_refs(loosely=True)]


def _whole(url: str, found: Recognised, beside: str = "") -> list[str]:
    """*url* as a whole URL: a path is one of the host of *beside*, or of each host that is known."""
    if not url.startswith("/"):
        return [url if urlsplit(url).path else f"{url}/"]
    if beside and not beside.startswith("/"):
        return [f"https://{urlsplit(beside).netloc}{url}"]
    return [f"https://{host}{url}" for host in found.known.hosts[:MAX_READINGS]]


def _which(found: Recognised) -> list[Command]:
    if len(found.urls) > 1 and not any(url.startswith("/") for url in found.urls):
        return [RulesWhich(found.urls[0], tuple(found.urls[1:]))]
    url = found.urls[0]
    return [RulesWhich(each) for each in (_whole(url, found) if url.startswith("/") else [url])]


def _block(found: Recognised) -> list[Command]:
    """How much is blocked is asked: exactly this URL, with any query, everything below."""
    if len(found.urls) != 1:
        if found.urls:
            return []
        undone: list[Command] = [GatehouseUndo(), GatehousePending()] if "cancel" in found.text.casefold() else []
        return _show_rules(found) or _offboard(found) or undone
    made = [
        RulesMake("Cancel", url, name=found.named or f"Block {_short(url)}", expiry=found.expiry, because=found.reason)
        for url in _whole(found.urls[0], found)
    ]
    return [replace(one, match=reach) for one in made for reach in (None, *REACHES)] if len(made) == 1 else [*made]


def _short(url: str) -> str:
    return url.partition("://")[2].rstrip("/")[:120]


def _redirect(found: Recognised) -> list[Command]:
    """A rule that there is gets another destination; of two URLs a new one is made."""
    if len(found.urls) == 1:
        url = found.urls[0]
        named = [*found.rows, *found.rules] or found.part_of(found.known.rules)
        sets: list[Command] = [
            RulesSet((ref,), (("destination", url),), expiry=found.expiry, because=found.reason)
            for ref in named
            if ref.startswith("#") or found.known.is_redirect(ref)
        ]
        if sets or url.startswith("/"):
            return sets
        return [RulesNew("Redirect", url, expiry=found.expiry, because=found.reason)] if not named else []
    if len(found.urls) != 2:
        return []
    first, second = reversed(found.urls) if _is_turned(found) else found.urls
    made: list[Command] = []
    for source in _whole(first, found, second):
        there = filter(found.known.is_redirect, found.known.rules.with_url(source))
        destination = _whole(second, found, source)[0]
        made += [
            RulesSet((rule,), (("destination", destination),), expiry=found.expiry, because=found.reason)
            for rule in there
        ]
        name = found.named or f"{_short(source)} to {_short(destination)}"
        made.append(RulesMake("Redirect", source, destination, name, expiry=found.expiry, because=found.reason))
    return made


def _is_turned(found: Recognised) -> bool:
    """Whether the destination was said first: “redirect to B from A”."""
    words = found.text.casefold().split()
    return "to" in words and "from" in words and words.index("to") < words.index("from")


def _make(found: Recognised) -> list[Command]:
    if found.urls and {"block", "cancel"} & set(found.words):
        return _block(found)
    if found.urls and "redirect" not in found.words and (kinds := [TYPES[one] for one in found.words if one in TYPES]):
        to = [*found.urls[1:], None][0]
        return [
            RulesNew(kind, found.urls[0], to, found.named, expiry=found.expiry, because=found.reason) for kind in kinds
        ]
    if len(found.urls) == 2:
        return _redirect(found)
    if len(found.urls) == 1:
        return [
            RulesNew(source=url, name=found.named, expiry=found.expiry, because=found.reason)
            for url in _whole(found.urls[0], found)
        ]
    found.take_as_theirs()
    if found.segments and all(email in found.known.sites_of for email in found.emails):
        return _give(found)
    return [
        MembersAdd(
            email,
            found.named or found.names.get(email),
            tuple(found.segments),
            found.site,
            expiry=found.expiry,
            because=found.reason,
        )
        for email in found.emails
    ]


Acting = Callable[["Recognised"], list[Command]]


def _switch(kind: type[RulesOn | RulesOff]) -> Acting:
    def reader(found: Recognised) -> list[Command]:
        if many := _every(found, active=kind is RulesOff):
            return [kind(many, expiry=found.expiry, because=found.reason)]
        if len(found.urls) == 1 and not found.rule_refs():
            return _which(found)
        groups: list[Command] = [RulesGroup(kind.verb, key, found.expiry, found.reason) for key in _groups_of(found)]
        return [*groups, *_each(found, lambda refs: kind(refs, expiry=found.expiry, because=found.reason))]

    return reader


def _take_down(found: Recognised) -> list[Command]:
    """A rule is switched off, a URL that no rule is about is blocked."""
    return _block(found) if len(found.urls) == 1 and not found.rule_refs() else READERS["off"](found)


def _groups_of(found: Recognised) -> list[str]:
    if found.groups or found.several:
        return found.groups
    rules = found.part_of(found.known.rules)
    return [] if rules else found.part_of(found.known.groups)


def _every(found: Recognised, *, active: bool | None = None) -> tuple[str, ...]:
    """The rules that are meant by what they are: of a host, of a type, on or off; none where that isn't said, or of too many."""
    hosts = [urlsplit(url).netloc for url in found.urls]
    types = [TYPES[word] for word in found.words if word in TYPES]
    led = {before.text for before, after in pairwise(found.tokens) if after.sort is Sort.URL}
    if "to" in led:
        return ()  # rules that lead there, which nobody looks up here
    if not {*found.words} & EACH or not (hosts or types) or any(urlsplit(url).path.strip("/") for url in found.urls):
        return ()
    status = next((STATUSES[word] for word in found.words if word in STATUSES), None)
    meant = found.known.rules_that(hosts=hosts, types=types, active=active if status is None else status == "on")
    if not 0 < len(meant) <= MAX_ROWS:
        return ()
    found.used |= {*found.urls, *(word for word in found.words if word in TYPES or word in STATUSES or word in EACH)}
    return tuple(meant)


EACH: Final = frozenset({"alle", "alles", "jede", "todos", "todas", "all", "every", "everything", "each", "both"})
ALL_OF: Final = re.compile(r"\b(?:all|every|both)\b")


def _each(found: Recognised, command: Callable[[tuple[str, ...]], Command]) -> list[Command]:
    """One command for all rules that are named; where a name or a part of one fits several, one for each."""
    refs = tuple(dict.fromkeys(found.rule_refs(loosely=True)))
    every = len(refs) <= MAX_READINGS and ALL_OF.search(found.text.casefold())
    if refs and ((found.several and not found.namesakes) or every):
        return [command(refs)]
    return [command((ref,)) for ref in refs]


def _delete(found: Recognised) -> list[Command]:
    if found.people() and (found.segments or "access" in found.words):
        return _take(found)
    if found.emails or (found.root == "members" and found.people()):
        return _for_people(found, lambda emails: MembersRemove(emails, found.site, found.reason))
    if many := _every(found):
        return [RulesDelete(many, found.reason)]
    return _each(found, lambda refs: RulesDelete(refs, found.reason))


def _for_people(
    found: Recognised, command: Callable[[tuple[str, ...]], Command], people: Sequence[str] | None = None
) -> list[Command]:
    """One command for all *people* who are named; where a name or a part of one fits several, one for each."""
    people = found.people(loosely=True) if people is None else people
    if not people and (found.having or found.lacking):
        people = found.known.members_with(found.site or found.known.site, found.having, found.lacking)
        made = [command(tuple(people))] if 0 < len(people) <= MAX_ROWS else []
        if not any(each.writes for each in made):
            return _members_of(found)
        found.used |= {*found.having, *found.lacking, *({*found.words} & COUNTS)}
        return made
    if people and (found.emails or found.rows) and not found.namesakes:
        return [command(tuple(dict.fromkeys(people)))]
    return [command((email,)) for email in people]


def _show_people(found: Recognised, people: Sequence[str] | None = None) -> list[Command]:
    return _for_people(found, lambda emails: MembersShow(emails, found.site), people)


def _grant(found: Recognised, emails: tuple[str, ...]) -> MembersGrant:
    return MembersGrant(emails, tuple(found.segments), found.site, expiry=found.expiry, because=found.reason)


def _give(found: Recognised) -> list[Command]:
    if found.urls:
        return _which(found)
    if found.people():
        found.take_as_theirs()
    if not found.segments:
        return _for_people(found, lambda emails: MembersWhy(emails, site=found.site))
    return _for_people(found, lambda emails: _grant(found, emails))


def _take(found: Recognised) -> list[Command]:
    if not found.segments or {bare(word) for word in found.text.split()} & DOWN_TO:
        return _show_people(found)
    return _for_people(found, lambda emails: MembersRevoke(emails, tuple(found.segments), found.site, found.reason))


DOWN_TO: Final = frozenset({"to", "only", "just"})
"""Words of what somebody is to be left with: “downgrade ben to free”."""


def _offboard(found: Recognised) -> list[Command]:
    if found.urls:
        return _block(found)
    if found.segments:
        return _take(found)
    people = found.people(anywhere=not found.site)
    everywhere = _for_people(found, lambda emails: MembersOffboard(emails, found.reason), people)
    if "offboard" in found.text.casefold():
        return everywhere
    here = _for_people(found, lambda emails: MembersRemove(emails, found.site, found.reason), people)
    return here if found.site else [*everywhere, *here]


def _move(found: Recognised) -> list[Command]:
    """Another email for a member: “anna@example.com is now anna.berg@example.com”, “change anna's email to …”."""
    words = {bare(word) for word in found.text.split()}
    act = ACTS.get(found.verb, found.act)
    is_new_email = found.verb == "new" and words & MAIL
    if found.asks:
        return []
    says = (act in MOVING and found.verb != "send") or (words & MOVED and act in {"", "history"}) or is_new_email
    if not found.emails or found.urls or found.segments or not says or found.question not in {"", *SAYS}:
        return []
    emails = list(dict.fromkeys(found.emails))
    old = [email for email in emails if email in found.known.sites_of] or emails[:-1]
    new = [email for email in emails if email not in old]
    typed, found.words = found.words, [word for word in found.words if word not in MOVED]
    if not old and words & MAIL:
        old = [email for email in found.people(anywhere=not found.site) if email not in new]
    if len(new) != 1 or not old or (len(emails) > 1 and len(old) > 1):
        found.words = typed
        return []
    return [MembersMove(email, new[0], found.site, found.reason) for email in old]


MOVING: Final = frozenset({"rename", "set", "edit", "redirect"})
"""Acts that give somebody another email, where two are named."""


def _rename(found: Recognised) -> list[Command]:
    """What follows “to” is the new name, as it was typed, up to a reason and to what can't be a part of it."""
    found.used |= {*found.words}
    words = found.typed[1:]
    at = next((i for i in range(len(words) - 1, -1, -1) if words[i].keyword == "to"), len(words))
    old = " ".join(word.text for word in words[:at]).removesuffix(" name").removesuffix("'s")
    new = _new_name(found, words[at + 1 :])
    if not new:
        return [RulesEdit(ref) for ref in found.rule_refs()]
    rules = found.known.rules.holding(old) if len(old.strip()) >= MIN_PART else []
    refs = [old.strip()] if NUMBER.fullmatch(old.strip()) or USUAL_RULE_ID.fullmatch(old.strip()) else rules
    if not refs:
        return [MembersEdit(email, new) for email in found.known.members.holding(old)]
    return [RulesSet((ref,), (("name", new),), None, found.reason) for ref in refs]


def _new_name(found: Recognised, words: Sequence[Word]) -> str:
    """The name that *words* begin with. What follows it is told, but for a reason, for a time after a name in quotes,
    and for a “please”.
    """
    if words and words[0].quoted:
        name, rest = words[0].text, words[1:]
        found.times += [] if found.start or found.expiry else [" ".join(word.text for word in rest)] if rest else []
        return name
    end = next((i for i, word in enumerate(words) if i and word.keyword in BECAUSE), len(words))
    name = COURTEOUS.sub("", " ".join(word.text for word in words[:end]))
    more = next((each for each in MORE.finditer(name) if each[1].casefold() in CHANGING | PARTED.keys()), None)
    times = [each.as_typed for each in (found.start, found.expiry) if each] + (
        [found.since.text] if found.since else []
    )
    ends = [at for text in times if (at := name.find(text)) > 0] + ([more.start()] if more else [])
    if ends:
        found.times.append(name if times else name[min(ends) :].strip(" ,"))
    elif found.asides:
        found.times += found.asides  # they are in the name as well
    return name[: min(ends, default=len(name))].strip(" ,")


COURTEOUS: Final = re.compile(
    r",? (?:please|pls|bitte|por favor)[.!]*\Z|, (?:thanks|thank you|thx|cheers)[.!]*\Z", re.IGNORECASE
)
MORE: Final = re.compile(r"(?:,| and| then) (\w+)\b")
"""What may ask for something else behind a new name, if its word is a verb."""


def _set(found: Recognised) -> list[Command]:
    return _redirect(found) if found.urls else _edit(found)


def _edit(found: Recognised) -> list[Command]:
    if " name to " in found.text:
        return _rename(found)
    if found.emails or (found.root == "members" and found.people()):
        return [MembersEdit(email, site=found.site) for email in found.people()]
    return [RulesEdit(ref) for ref in found.rule_refs()]


def _show(found: Recognised) -> list[Command]:
    if found.emails:
        return _show_people(found)
    if not found.urls and not found.groups and not found.several and not _is_of_segments(found) and not found.phrase:
        return [MembersList()] if found.root == "members" else [RulesList()]
    return _bare(found)


def _why(found: Recognised) -> list[Command]:
    if found.urls:
        return _which(found)
    return _show_rules(found) or _why_people(found, found.people(anywhere=True)) or _bare(found)


def _history(found: Recognised) -> list[Command]:
    if refs := found.rule_refs():
        return [RulesHistory(ref) for ref in refs]
    people: list[Command] = [GatehouseAudit(ref=email) for email in found.people()]
    return people or ([] if found.phrase else [GatehouseAudit(since=_since(found))])


def _restore(found: Recognised) -> list[Command]:
    return _switch(RulesOn)(found) or [GatehouseUndo()]


def _undo(found: Recognised) -> list[Command]:
    """A change is undone by its card or reference: of a rule, its history shows which there are."""
    if refs := found.rule_refs():
        return [RulesHistory(ref) for ref in refs]
    return [GatehouseUndo(next((word for word in found.words if REFERENCE.fullmatch(word)), None))]


def _export(found: Recognised) -> list[Command]:
    """A file of what is listed otherwise."""
    status = next((STATUSES[word] for word in found.words if word in STATUSES), None)
    kind = next((TYPES[word] for word in found.words if word in TYPES), None)
    found.used |= {*found.words} & {*STATUSES, *TYPES, *EACH, *COUNTS, "list"}
    if found.root == "members" or _is_of_segments(found):
        having = [*found.having, *found.segments, None][0]
        return [MembersExport(segment=having, without_segment=[*found.lacking, None][0], site=found.site)]
    return [RulesExport(type=kind, status=status)]


def _status(found: Recognised) -> list[Command]:
    """Whether rules are broken is one question, whether Gatehouse and the services are, another."""
    if shown := _shown(found):
        return shown
    asks_for_rules = found.root == "rules" and "broken" in found.text.casefold()
    return [RulesCheck(), GatehouseStatus()] if asks_for_rules else [GatehouseStatus()]


REFERENCE: Final = re.compile(r"(?=.*\d)[0-9a-f]{6,32}")
"""The beginning of a change's id, as cards show it."""


READERS: Final[Mapping[str, Acting]] = {
    "off": _switch(RulesOff),
    "down": _take_down,
    "on": _switch(RulesOn),
    "restore": _restore,
    "delete": _delete,
    "block": _block,
    "redirect": _redirect,
    "make": _make,
    "rename": _rename,
    "set": _set,
    "edit": _edit,
    "copy": lambda found: [RulesCopy(ref) for ref in found.rule_refs()],
    "why": _why,
    "export": _export,
    "import": lambda found: [MembersImport(found.site) if found.root == "members" else RulesImport()],
    "show": _show,
    "history": _history,
    "give": _give,
    "take": _take,
    "offboard": _offboard,
    "undo": _undo,
    "pending": lambda _: [GatehousePending()],
    "timers": lambda _: [GatehousePlanned()],
    "status": _status,
    "whoami": lambda _: [GatehouseWhoami()],
    "help": lambda found: _shown(found) or [GatehouseHelp(topic=found.text)],
}
"""What a text comes to that says what is to be done: an act, with what it may mean."""
