"""Read what people type before they know the grammar: things by what they are, in any order, and what is to happen to them.

Nothing is run from here. Whoever asks gets the commands that a text may mean, and `runs_at_once` says which of them
may be run without being shown first: a single one that changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlsplit

from bot.rules.model import USUAL_RULE_ID
from bot.text.times import DAYS, seconds_of
from handlers.gatehouse.commands import (
    GatehouseAudit,
    GatehouseDigest,
    GatehouseHelp,
    GatehousePending,
    GatehouseStatus,
    GatehouseTimers,
    GatehouseUndo,
    GatehouseWhoami,
)
from handlers.grammar.command import Command, Unclear
from handlers.grammar.fields import NUMBER
from handlers.grammar.known import MAX_READINGS, MIN_PART, Known
from handlers.grammar.parser import VERBS, parse
from handlers.grammar.recognised import FILLERS, IDLE, LOOSE, STATUSES, TYPES, Recognised
from handlers.grammar.tokens import MOST, Word, cleaned, split
from handlers.members.commands import (
    MembersAdd,
    MembersEdit,
    MembersGrant,
    MembersList,
    MembersOffboard,
    MembersRemove,
    MembersRevoke,
    MembersShow,
    MembersWhy,
)
from handlers.rules.commands import (
    REACHES,
    RulesCheck,
    RulesCopy,
    RulesDelete,
    RulesEdit,
    RulesGroup,
    RulesHistory,
    RulesList,
    RulesMake,
    RulesNew,
    RulesOff,
    RulesOn,
    RulesSet,
    RulesShow,
    RulesWhich,
)


def runs_at_once(readings: Sequence[Command]) -> Command | None:
    """The command that may be run without being shown first: the only reading, where it changes nothing."""
    return readings[0] if len(readings) == 1 and not readings[0].writes else None


@dataclass(frozen=True, slots=True)
class Readings:
    """The commands that a text may mean, and what it says besides that none of them takes up."""

    commands: tuple[Command, ...] = ()
    ignored: tuple[str, ...] = ()


def read(root: str, text: str, known: Known) -> Readings:
    """Return the commands that *text* after ``/root`` may mean, the likeliest first; nothing where nobody can tell.

    *root* is empty where none was given. Raises Unclear for a time that could mean several things.
    """
    if len(text) > MOST:
        return Readings()
    words = split(cleaned(text))
    while words and words[0].keyword.lstrip("/") in ROOTS:
        root, words = words[0].keyword.lstrip("/"), words[1:]
    if (spelled := _under_another_root(root, words)) is not None:
        return Readings((spelled,))
    found = Recognised(root, known)
    found.take(words)
    readings = list(dict.fromkeys(each for meant in _meant(found) if (each := _read_back(meant)) is not None))
    if found.cautious:
        readings = [each for each in readings if not each.writes] or list(dict.fromkeys(_shown(found)))
    elif _asks_for_a_change(root, words) and not any(each.writes for each in readings):
        return Readings()
    return Readings(tuple(readings), _ignored(found, readings)) if 0 < len(readings) <= MAX_READINGS else Readings()


def _ignored(found: Recognised, readings: Sequence[Command]) -> tuple[str, ...]:
    """What *found* says that is in none of *readings*: words, things that exist, a time, a reason."""
    text = " ".join(each.write() for each in readings).casefold()
    words = {*re.split(r"[\s\"':=,]+", text), *found.used, *FILLERS, *IDLE}
    if any(isinstance(each, RulesList) for each in readings):
        words |= {*STATUSES, *TYPES}
    things = [*found.urls, *found.emails, *found.rows, *found.rules, *found.groups, *found.segments]
    titles = found.known.titles
    left = [
        titles.get(thing, thing)
        for thing in things
        if thing not in found.used and not any(each.casefold() in text for each in (thing, titles.get(thing, thing)))
    ]
    left += [word for word in found.words if word not in words]
    if found.expiry and all(getattr(each, "expiry", None) != found.expiry for each in readings):
        left.append(found.expiry.as_typed)
    if found.reason and any(each.writes and getattr(each, "because", None) is None for each in readings):
        left.append(f"because {found.reason}")
    return tuple(dict.fromkeys(left))


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
    if found.question:
        return _asked(found)
    if found.act:
        return READERS[found.act](found)
    return _bare(found)


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
    text = found.text.casefold()
    if any(words in text for words in ("can i do", "may i", "who am i", "allowed to do")):
        return [GatehouseWhoami()]
    if any(words in text for words in ("changed", "happened", "did what")) and not found.rule_refs():
        since = _since(found)
        return [GatehouseAudit(since=since)] if found.question == "who" else [GatehouseDigest(since=since)]
    if found.act in {"pending", "timers"}:
        return READERS[found.act](found)
    everything = found.act == "status" or {"everything", "gatehouse"} & set(text.split())
    return [GatehouseStatus()] if everything and found.question in {"is", "are"} else []


def _about_names(found: Recognised) -> list[Command]:
    words = set(found.text.casefold().rstrip("?").split())
    if found.segments and not found.people(anywhere=True) and not found.rule_refs():
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


def _everything(found: Recognised, words: set[str]) -> list[Command]:
    """All members or all rules, where it is asked how many there are."""
    people = found.root == "members" or words & {"members", "users", "people", "customers", "accounts"}
    return [MembersList(site=found.site) if people else RulesList()]


def _since(found: Recognised) -> str | None:
    return next((word for word in found.words if word in DAYS or seconds_of(word)), None)


def _about_rules(found: Recognised, refs: Sequence[str]) -> list[Command]:
    """Who and when and why are on record; what it is, the rule shows."""
    past = found.question in {"who", "who's", "when"} or (found.question == "why" and _switched(found))
    kind: type[RulesHistory | RulesShow] = RulesHistory if past or found.act == "history" else RulesShow
    return [kind(ref) for ref in refs]


def _switched(found: Recognised) -> bool:
    return bool(set(found.text.casefold().rstrip("?").split()) & {*STATUSES, "changed", "deleted", "gone"})


IDENTITY: Final = frozenset({"who", "who's", "what", "is"})


def _why_people(found: Recognised, people: Sequence[str]) -> list[Command]:
    if found.question in IDENTITY and not found.segments:
        return _show_people(found, people)
    segment = next(iter(found.segments), None)
    return _for_people(found, lambda emails: MembersWhy(emails, segment, found.site), people)


LACKING: Final = frozenset({"without", "no", "not", "lacks", "lack"})


def _members_of(found: Recognised) -> list[Command]:
    if set(found.text.casefold().split()) & LACKING:
        return [MembersList(without_segment=found.segments[0], site=found.site)]
    return [MembersList(segment=found.segments[0], site=found.site)]


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
    if found.segments and set(words) <= LACKING:
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
    found.used |= {*found.words}
    near: list[Command] = [RulesShow(rule) for rule in found.known.rules.alike(text)]
    return near or [MembersShow((email,)) for email in found.known.members.alike(text)]


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
    """What a text is about, where what it says of it can't be told."""
    if found.urls:
        return _which(found)
    return _show_rules(found) or _show_people(found)


def _show_rules(found: Recognised) -> list[Command]:
    return [RulesShow(ref) for ref in found.rule_refs()]


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
        RulesMake("Cancel", url, name=f"Block {_short(url)}", expiry=found.expiry, because=found.reason)
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
            RulesSet((ref,), (("destination", url),), found.expiry, found.reason)
            for ref in named
            if ref.startswith("#") or ref in found.known.redirects
        ]
        if sets or url.startswith("/"):
            return sets
        return [RulesNew("Redirect", url, expiry=found.expiry, because=found.reason)] if not named else []
    if len(found.urls) != 2:
        return []
    first, second = reversed(found.urls) if _is_turned(found) else found.urls
    made: list[Command] = []
    for source in _whole(first, found, second):
        there = [rule for rule in found.known.sources.get(source.casefold(), ()) if rule in found.known.redirects]
        destination = _whole(second, found, source)[0]
        made += [RulesSet((rule,), (("destination", destination),), found.expiry, found.reason) for rule in there]
        name = f"{_short(source)} to {_short(destination)}"
        made.append(RulesMake("Redirect", source, destination, name, expiry=found.expiry, because=found.reason))
    return made


def _is_turned(found: Recognised) -> bool:
    """Whether the destination was said first: “redirect to B from A”."""
    words = found.text.casefold().split()
    return "to" in words and "from" in words and words.index("to") < words.index("from")


def _make(found: Recognised) -> list[Command]:
    if found.urls and {"block", "cancel"} & set(found.words):
        return _block(found)
    if len(found.urls) == 2:
        return _redirect(found)
    if len(found.urls) == 1:
        return [RulesNew(source=url, expiry=found.expiry, because=found.reason) for url in _whole(found.urls[0], found)]
    if found.segments and all(email in found.known.sites_of for email in found.emails):
        return _give(found)
    return [
        MembersAdd(email, None, tuple(found.segments), found.site, found.expiry, found.reason) for email in found.emails
    ]


Acting = Callable[["Recognised"], list[Command]]


def _switch(kind: type[RulesOn | RulesOff]) -> Acting:
    def reader(found: Recognised) -> list[Command]:
        if len(found.urls) == 1 and not found.rule_refs():
            return _which(found)
        groups: list[Command] = [RulesGroup(kind.verb, key, found.expiry, found.reason) for key in _groups_of(found)]
        return [*groups, *_each(found, lambda refs: kind(refs, found.expiry, found.reason))]

    return reader


def _take_down(found: Recognised) -> list[Command]:
    """A rule is switched off, a URL that no rule is about is blocked."""
    return _block(found) if len(found.urls) == 1 and not found.rule_refs() else READERS["off"](found)


def _groups_of(found: Recognised) -> list[str]:
    if found.groups or found.several:
        return found.groups
    rules = found.part_of(found.known.rules)
    return [] if rules else found.part_of(found.known.groups)


ALL_OF: Final = re.compile(r"\b(?:all|every|both)\b")


def _each(found: Recognised, command: Callable[[tuple[str, ...]], Command]) -> list[Command]:
    """One command for all rules that are named; where a part of a name fits several, one for each."""
    refs = tuple(dict.fromkeys(found.rule_refs()))
    every = len(refs) <= MAX_READINGS and ALL_OF.search(found.text.casefold())
    if refs and (found.several or every):
        return [command(refs)]
    return [command((ref,)) for ref in refs]


def _delete(found: Recognised) -> list[Command]:
    if found.segments and found.people():
        return _take(found)
    if found.emails or (found.root == "members" and found.people()):
        return _for_people(found, lambda emails: MembersRemove(emails, found.site, found.reason))
    return _each(found, lambda refs: RulesDelete(refs, found.reason))


def _for_people(
    found: Recognised, command: Callable[[tuple[str, ...]], Command], people: Sequence[str] | None = None
) -> list[Command]:
    """One command for all *people* who are named; where a name or a part of one fits several, one for each."""
    people = found.people() if people is None else people
    if people and (found.emails or found.rows) and not found.namesakes:
        return [command(tuple(dict.fromkeys(people)))]
    return [command((email,)) for email in people]


def _show_people(found: Recognised, people: Sequence[str] | None = None) -> list[Command]:
    return _for_people(found, lambda emails: MembersShow(emails, found.site), people)


def _grant(found: Recognised, emails: tuple[str, ...]) -> MembersGrant:
    return MembersGrant(emails, tuple(found.segments), found.site, found.expiry, found.reason)


def _give(found: Recognised) -> list[Command]:
    if found.urls:
        return _which(found)
    if not found.segments:
        return _for_people(found, lambda emails: MembersWhy(emails, site=found.site))
    return _for_people(found, lambda emails: _grant(found, emails))


def _take(found: Recognised) -> list[Command]:
    if not found.segments:
        return _show_people(found)
    return _for_people(found, lambda emails: MembersRevoke(emails, tuple(found.segments), found.site, found.reason))


def _offboard(found: Recognised) -> list[Command]:
    if found.urls:
        return _block(found)
    if found.segments:
        return _take(found)
    people = found.people(anywhere=True)
    everywhere = _for_people(found, lambda emails: MembersOffboard(emails, found.reason), people)
    if "offboard" in found.text.casefold():
        return everywhere
    here = _for_people(found, lambda emails: MembersRemove(emails, found.site, found.reason), people)
    return [*everywhere, *here]


def _rename(found: Recognised) -> list[Command]:
    """Everything after “to” is the new name, as it was typed."""
    found.used |= {*found.words}
    _, _, rest = found.text.partition(" ")
    old, to, new = rest.rpartition(" to ")
    old = old.removesuffix(" name").removesuffix("'s")
    if not to or not new.strip():
        return [RulesEdit(ref) for ref in found.rule_refs()]
    rules = found.known.rules.holding(old) if len(old.strip()) >= MIN_PART else []
    refs = [old.strip()] if NUMBER.fullmatch(old.strip()) or USUAL_RULE_ID.fullmatch(old.strip()) else rules
    if not refs:
        return [MembersEdit(email, new.strip()) for email in found.known.members.holding(old)]
    return [RulesSet((ref,), (("name", new.strip()),), None, found.reason) for ref in refs]


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
    if not found.urls and not found.groups and not found.several and not found.segments and not found.phrase:
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
    "show": _show,
    "history": _history,
    "give": _give,
    "take": _take,
    "offboard": _offboard,
    "undo": _undo,
    "pending": lambda _: [GatehousePending()],
    "timers": lambda _: [GatehouseTimers()],
    "status": _status,
    "help": lambda found: [GatehouseHelp(topic=found.text)],
}
"""What a text comes to that says what is to be done: an act, with what it may mean."""
