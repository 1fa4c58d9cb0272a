"""Check the prepositions and fillers of a change: which of them it accepts, and which would make it another change.

A change ignores only words that can never alter its meaning. A preposition is accepted where that kind of change has a role
for it: “from” before the person who loses a segment, never before one who gets it. Any other word is shown to the person as
not understood, and no change is offered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import groupby, pairwise, takewhile
from typing import Final

from handlers.gatehouse.commands import GatehouseUndo
from handlers.grammar.command import Command
from handlers.grammar.known import word_set
from handlers.grammar.recognised import Recognised, Sort, Token
from handlers.grammar.vocabulary import (
    AWAY,
    CHANGING,
    COUNTS,
    COURTESY,
    EMPTY,
    ENDS,
    FILLERS,
    LATELY,
    LEADING,
    MOVED,
    PAST,
    PRONOUNS,
)
from handlers.members.commands import (
    MembersAdd,
    MembersEdit,
    MembersGrant,
    MembersMove,
    MembersOffboard,
    MembersRemove,
    MembersRevoke,
)
from handlers.rules.commands import (
    RulesCommand,
    RulesCopy,
    RulesDelete,
    RulesEdit,
    RulesGroup,
    RulesMake,
    RulesNew,
    RulesOff,
    RulesOn,
    RulesSet,
)

AND: Final = Token(Sort.AND, "and")


class Led(StrEnum):
    """The role in a change of what a preposition leads."""

    SOURCE = "source"
    DESTINATION = "destination"
    URL = "url"
    THING = "thing"
    """A rule, a group or a member: by its name, its row or its email."""
    OLD_EMAIL = "old email"
    NEW_EMAIL = "new email"
    SEGMENT = "segment"
    SITE = "site"
    OTHER = "other"


def _roles(text: str, *led: Led) -> dict[str, frozenset[Led]]:
    return {word: frozenset(led) for word in word_set(text)}


ON_A_SITE: Final = _roles("on in at auf en", Led.SITE)
ROLES: Final[Mapping[type[Command], Mapping[str, frozenset[Led]]]] = {
    RulesOff: _roles("from for on at", Led.URL),
    RulesDelete: _roles("from for on at", Led.URL),
    RulesOn: _roles("from for at", Led.URL) | _roles("on", *Led),
    RulesGroup: _roles("in", Led.THING),
    RulesMake: _roles("from for", Led.SOURCE) | _roles("to into", Led.DESTINATION) | _roles("on at", Led.URL),
    RulesSet: _roles("from for", Led.SOURCE, Led.THING) | _roles("to into at", Led.DESTINATION),
    MembersGrant: ON_A_SITE
    | _roles("to", Led.THING, Led.SEGMENT, Led.SITE)
    | _roles("into", Led.SEGMENT)
    | _roles("for", Led.THING),
    MembersRevoke: ON_A_SITE | _roles("from", Led.THING, Led.SEGMENT, Led.SITE) | _roles("for", Led.THING),
    MembersRemove: ON_A_SITE | _roles("from", Led.SITE),
    MembersOffboard: ON_A_SITE | _roles("from", Led.SITE),
    MembersMove: ON_A_SITE | _roles("from", Led.OLD_EMAIL) | _roles("to", Led.NEW_EMAIL) | _roles("for", Led.THING),
}
"""The prepositions of each kind of change, with the roles that they may lead there."""

FORMS: Final = (RulesNew, RulesEdit, RulesCopy, MembersAdd, MembersEdit)
"""Commands that open a form with what was understood filled in: the person sees and submits all of it."""
BESIDE: Final[Mapping[type[Command], frozenset[str]]] = {
    RulesOff: word_set("redirecting"),
    RulesMake: word_set("able open instead everyone everybody"),
    RulesSet: word_set("instead destination target"),
    MembersRevoke: word_set("away out"),
    MembersRemove: word_set("away out"),
    MembersOffboard: word_set("away out"),
    GatehouseUndo: LATELY | PRONOUNS,
}
"""Words that belong to the verb of a kind of change, or name a part of it, and so are ignored there."""
IN_FORMS: Final = (FILLERS | AWAY) - COUNTS - LATELY
AT_ONCE: Final = word_set("now right jetzt asap")
FOR_A_WHILE: Final = word_set("temporarily temporary temporal")
POINTING: Final = word_set("that this")
SEVERAL: Final = word_set("all every rules members users customers accounts people")
REACHES: Final = word_set("all every everything any anything")
"""Words for how much of a URL to block, which the card asks anyway."""
STATES: Final = word_set("an ein")
"""German articles that mean “on” where nothing follows them."""


def may_change(command: Command) -> bool:
    """Whether *command* changes something, or opens a form for it."""
    return command.writes or isinstance(command, FORMS)


def find_idle_words(found: Recognised, readings: Sequence[Command]) -> frozenset[str]:
    """Return the words that *readings*, which change something, may ignore wherever they stand."""
    if any(isinstance(each, FORMS) for each in readings):
        return IN_FORMS
    changes = [each for each in readings if each.writes]
    most = max((len(getattr(each, "refs", getattr(each, "emails", ()))) for each in changes), default=0)
    idle = EMPTY | COURTESY | LEADING | frozenset[str]().union(*(BESIDE.get(type(each), ()) for each in changes))
    idle |= AT_ONCE if found.start is None else frozenset()
    idle |= FOR_A_WHILE if found.expiry is not None else frozenset()
    idle |= SEVERAL if most > 1 or any(isinstance(each, RulesGroup) for each in changes) else frozenset()
    idle |= POINTING if _points_at_what_follows(found.tokens) else frozenset()
    idle |= {"both"} if most == 2 else frozenset()
    asks_reach = len(changes) > 1 and all(isinstance(each, RulesMake) and not each.destination for each in changes)
    return idle | (REACHES if asks_reach else frozenset())


def _points_at_what_follows(tokens: Sequence[Token]) -> bool:
    """Whether each “that” and “this” refers to what is named next (“this URL”), and none to what was shown before."""
    nothing = (FILLERS - EMPTY) | {AND.text}
    return not any(each.text in POINTING and after.text in nothing for each, after in pairwise([*tokens, AND]))


def find_twists(found: Recognised, readings: Sequence[Command]) -> tuple[str, ...]:
    """Return the words that may mean another change than *readings*, each with the words that it leads."""
    changes = [each for each in readings if each.writes]
    if not changes:
        return ()
    apart = [*_find_misplaced(found, changes)] or [*_in_pairs(found, changes)]
    asides = [each.text for each in found.tokens if found.question and each.text in PAST - MOVED]
    return tuple(dict.fromkeys([*apart, *_find_idle_joined(found), *asides]))


def _find_misplaced(found: Recognised, changes: Sequence[Command]) -> Iterator[str]:
    """Yield the prepositions that lead something that *changes* have no role for, and those that lead nothing."""
    tokens = [
        each
        for each, after in pairwise([*found.tokens, AND])
        if not _is_empty(each) or (each.text in STATES and after == AND)
    ]
    turns_on = any(isinstance(each, RulesOn) or getattr(each, "switch", "") == "on" for each in changes)
    small = (LEADING | STATES) - (STATES | {"on"} if turns_on else frozenset()) - found.used
    for at, token in enumerate(tokens):
        if token.sort is not Sort.WORD or token.text not in small:
            continue
        led = next(iter(tokens[at + 1 : at + 2]), AND)
        if led == AND:
            yield f"{_named_before(found, tokens, at)} {token.text}".strip()
        elif not _is_in_name(found, tokens, at, changes) and not _is_placed(found, token.text, led, changes):
            yield f"{token.text} {_whole(tokens, at + 1)}"


def _named_before(found: Recognised, tokens: Sequence[Token], at: int) -> str:
    """Return the name before *at*, if there is one."""
    is_name = [token.sort is Sort.NAME or (token.sort is Sort.WORD and token.text in found.used) for token in tokens]
    first = next((i for i in range(at, 0, -1) if not is_name[i - 1]), 0)
    return " ".join(token.text for token in tokens[first:at])


def _is_in_name(found: Recognised, tokens: Sequence[Token], at: int, changes: Sequence[Command]) -> bool:
    """Whether the word is inside a description of a rule: “page for pricing”."""
    around = [*tokens[at - 1 : at], *tokens[at + 1 : at + 2]]
    of_rules = all(isinstance(each, RulesCommand) for each in changes)
    return of_rules and len(around) == 2 and all(each.sort is Sort.WORD and each.text in found.used for each in around)


def _is_empty(token: Token) -> bool:
    return token.sort is Sort.WORD and token.text in EMPTY | COURTESY


def _whole(tokens: Sequence[Token], at: int) -> str:
    """Return the text at *at*; where a name begins there, all of its words."""
    name = [token.text for token in takewhile(lambda token: token.sort is Sort.NAME, tokens[at:])]
    return " ".join(name) or tokens[at].text


def _is_placed(found: Recognised, word: str, led: Token, changes: Sequence[Command]) -> bool:
    """Whether each of *changes* has a role for *led* after the preposition *word*."""
    is_unknown = led.sort is Sort.WORD and not _is_known(found, led.text) and led.text not in FILLERS
    if is_unknown and (led.text in found.words or (word == "to" and led.text in CHANGING - ENDS)):
        return True  # what follows stays unread, or is the verb
    return all(ROLES.get(type(each), {}).get(word, frozenset()) & _leads(found, led, each) for each in changes)


def _is_known(found: Recognised, word: str) -> bool:
    return found.segment(word) is not None or word in found.known.sites or word in found.used


def _leads(found: Recognised, led: Token, change: Command) -> frozenset[Led]:
    """Return the roles that *led* has in *change*."""
    match led.sort, change:
        case (Sort.URL, RulesMake(source=source, destination=destination)):
            ends = {Led.SOURCE: source, Led.DESTINATION: destination} if destination else {Led.DESTINATION: source}
            return frozenset({Led.URL, *(role for role, url in ends.items() if _is_end(led.text, url))})
        case (Sort.URL, RulesSet(fields=((_, destination), *_))):
            return frozenset({Led.URL, Led.DESTINATION if _is_end(led.text, destination) else Led.SOURCE})
        case (Sort.URL, _):
            return frozenset({Led.URL})
        case (Sort.EMAIL, MembersMove(new=new)):
            return frozenset({Led.NEW_EMAIL if led.text.casefold() == new.casefold() else Led.OLD_EMAIL})
        case (Sort.NAME | Sort.EMAIL | Sort.ROW, _):
            return frozenset({Led.THING, Led.OLD_EMAIL})
        case (Sort.WORD, _) if found.segment(led.text) is not None:
            return frozenset({Led.SEGMENT})
        case (Sort.WORD, _) if led.text in found.known.sites:
            return frozenset({Led.SITE})
        case (Sort.WORD, _) if led.text in found.used:
            return frozenset({Led.THING, Led.OLD_EMAIL})
        case _:
            return frozenset({Led.OTHER})


def _is_end(typed: str, url: str) -> bool:
    """Whether *url* is what was *typed*, which may be a path, or have no scheme."""
    return url.casefold().rstrip("/").endswith(typed.casefold().rpartition("://")[2].rstrip("/"))


def _in_pairs(found: Recognised, changes: Sequence[Command]) -> Iterator[str]:
    """Yield segments that may be meant for one person each, or one to replace another, with the words between them."""
    tokens = found.tokens
    places = [i for i, token in enumerate(tokens) if token.sort is Sort.WORD and found.segment(token.text)]
    if len(places) < 2 or not any(hasattr(each, "segments") for each in changes):
        return
    is_for_several = any(len(getattr(each, "emails", ())) > 1 for each in changes)
    for first, second in pairwise(places):
        between = [token for token in tokens[first + 1 : second] if not _is_empty(token)]
        others = [token for token in between if token.sort is not Sort.AND]
        leads = [token for token in others if token.text in LEADING]
        if (is_for_several and others) or (leads and len(others) == len(between)):
            yield " ".join(token.text for token in tokens[places[0] : places[-1] + 1])
            return


def _find_idle_joined(found: Recognised) -> Iterator[str]:
    """Yield words that “and” or a comma joins to the rest and that name nothing: “and that rule”, “and back”."""
    for is_and, some in groupby(found.tokens, key=lambda token: token.sort is Sort.AND):
        words = {token.text: None for token in some}
        is_polite = words.keys() <= COURTESY | AT_ONCE
        names = words.keys() - (EMPTY | COURTESY | POINTING) or any(_is_known(found, word) for word in words)
        if not (is_and or is_polite or names):
            yield " ".join(words)
