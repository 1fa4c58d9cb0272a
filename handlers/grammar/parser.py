"""Read the text of a slash command into a Command, or raise one helpful error; nothing unknown is run.

The short forms of a command (``#n`` of its person's last list, their last change, the default site) are resolved when
the request comes in, and stored with it. By the time that the request is executed, or executed again after a crash, the
person may have another list and another last change, and the settings another default site.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

from pydantic import BaseModel, ConfigDict
from rapidfuzz import process
from rapidfuzz.distance import OSA

from handlers.blocks.messages import code
from handlers.errors import Refusal, Words
from handlers.gatehouse.commands import (
    GatehouseCommand,
    GatehouseHelp,
    GatehouseUndo,
)
from handlers.grammar.command import Command, Rest, Unclear, command_prefix, slash
from handlers.grammar.fields import NUMBER, is_reference
from handlers.grammar.time_fields import wish_in_reason
from handlers.grammar.tokens import IN_EMAIL, MAX_COMMAND, WEB, Word, clean_text, split
from handlers.grammar.vocabulary import ASKING
from handlers.members.commands import MembersCommand, MembersList, MembersMenu, MembersShow, MembersWhy
from handlers.rules.command_fields import MADE
from handlers.rules.commands import RulesCommand, RulesList, RulesMenu, RulesNew, RulesShow, RulesWhich

ALL: tuple[type[Command], ...] = tuple(
    kind for base in (RulesCommand, MembersCommand, GatehouseCommand) for kind in base.__subclasses__()
)
"""Every command, in the order of help."""


def commands_of(service: str) -> tuple[type[Command], ...]:
    """Return the commands of one service, in the same order."""
    return tuple(kind for kind in ALL if kind.service == service)


HELP: Final = frozenset({"help", "?"})
WANTED: Final = frozenset({"me", "how", "what", "why", "with", "about", "please"})
"""Words after “help” where it is wanted, and not a name’s first word."""


def parse(service: str, text: str) -> Command:
    """Return the command in *text* after ``/service``; raises Unclear, and nothing else."""
    if len(text) > MAX_COMMAND:
        raise Unclear(f"That command has {len(text):,} characters; the limit is {MAX_COMMAND:,}.")
    service, words = _split_typed(service, text)
    if service not in {"rules", "members", "gatehouse"}:
        raise Unclear(f"Gatehouse answers to {slash('rules')}, {slash('members')} and {slash('gatehouse')}.")
    if not words:
        return EMPTY[service]()
    verb, rest = words[0].keyword, words[1:]
    if verb in HELP and (not rest[1:] or rest[0].keyword in WANTED):  # “help centre should go to …” wants none
        return EMPTY[service]()
    if (kind := VERBS[service].get(verb) or VERBS["gatehouse"].get(verb)) is not None:
        is_search = "text" in kind.parts()
        if len(rest) == 1 and rest[0].keyword in HELP and not is_search:  # quoted, it names a thing that is called so
            return EMPTY[service]()
        return kind.read(Rest(kind, rest))
    if len(words) == 1 and (alone := _verbless_command(service, words[0])) is not None:
        return alone
    raise _unknown_command(service, words[0], rest)


def split_verb(service: str, text: str) -> tuple[type[Command], Rest] | None:
    """Return the command whose verb begins *text* after ``/service``, and the words after it; None where no verb does."""
    service, words = _split_typed(service, text)
    kind = VERBS.get(service, {}).get(words[0].keyword) if words else None
    return (kind, Rest(kind, words[1:])) if kind is not None else None


def is_spelled(service: str, text: str) -> bool:
    """Whether *text* after ``/service`` has the verb of its command as help spells it, and no synonym."""
    service, words = _split_typed(service, text)
    return bool(words) and any(words[0].keyword == kind.verb for kind in commands_of(service))


def _split_typed(service: str, text: str) -> tuple[str, list[Word]]:
    """Return the service and the words, from the verb on, of *text* after ``/service``."""
    words = split(clean_text(text))
    # Any of the three will do for the commands of the others: ``/gatehouse rules list``.
    while words and (named := words[0].keyword.lstrip("/").removeprefix(command_prefix.get())) in EMPTY:
        service, words = named, words[1:]
    # Some type the site before the verb: ``/members site:blog list``.
    if service == "members" and words and words[0].keyword.startswith("site:"):
        words = [*words[1:], words[0]]
    return service, words


def _verbless_command(service: str, word: Word) -> Command | None:
    """Return the command for a single word that is no verb: where a URL goes, why somebody gets in, a rule, a member, a form."""
    if service == "rules" and word.keyword in {"block", "redirect"}:
        return RulesNew(MADE[word.keyword])
    if service == "rules" and WEB.fullmatch(word.text):
        return RulesWhich.read(Rest(RulesWhich, [word]))
    if service == "rules" and is_reference(word):
        return RulesShow(ref=word.text)
    if service == "members" and NUMBER.fullmatch(word.text):
        return MembersShow((word.text,))
    if service == "members" and "@" in word.text:
        return MembersWhy((word.text,))
    return None


def parse_mention(text: str) -> Command:
    """Return the command in ``@Gatehouse rules which …``; raises Unclear."""
    words = re.sub(r"^\s*<@[UW][A-Z0-9]*(\|[^>]*)?>\s*", "", text).strip()
    return parse(_root_of(split(clean_text(words))), words)


def check_reason(command: Command) -> Command:
    """Return *command* as it is; raises Unclear where its reason ends in what may be meant for the command."""
    if wish := wish_in_reason(command):
        what = f"Does “{wish[:60]}” say only why? Put what else is wanted before “because”, or the reason in quotes."
        raise Unclear(what, about=(type(command),), has_verb=True)
    return command


def _root_of(words: Sequence[Word]) -> str:
    """Return the service that the first word is a verb of; where that is several or none, the one whose things are named.

    Raises Unclear.
    """
    verb = words[0].keyword.lstrip("/") if words else ""
    known = [service for service, verbs in VERBS.items() if verb in verbs]
    known = [each for each in known if each != "gatehouse"] or known  # “why anna” is about anna
    if len(known) == 1:
        return known[0]
    if any(is_reference(word) for word in words):
        return "rules"
    if any(IN_EMAIL.search(word.text) for word in words):
        return "members"
    if known:
        choice = " or ".join(f"“{service} {verb}”" for service in known)
        raise Unclear(f"Do you mean {choice}?", about=[VERBS[service][verb] for service in known])
    return "gatehouse"


def _unknown_command(service: str, first: Word, rest: Sequence[Word]) -> Unclear:
    """Return the error for a *first* word that is no verb: with the commands that it may be a typo of.

    A typo never suggests a command that destroys.
    """
    verb = first.keyword
    gentle = {name: kind for name, kind in VERBS[service].items() if not kind.destroys}
    near = process.extract(verb, gentle.keys(), scorer=OSA.distance, score_cutoff=_wrong_letters(verb), limit=6)
    about = list(dict.fromkeys(gentle[name] for name, _, _ in near))[:3]
    what = f"Unknown command “{_clip(first.text)}”."
    if rest and (
        not about or verb in ASKING
    ):  # a sentence, of which the first word is no more to blame than the others
        what = f"I don’t understand “{_clip(' '.join(word.text for word in (first, *rest)))}”."
    return Unclear(what, about=about)


def _clip(text: str) -> str:
    return text if len(text) <= MAX_QUOTED else f"{text[: MAX_QUOTED - 1]}…"


MAX_QUOTED: Final = 60


def _wrong_letters(word: str) -> int:
    """Return how many letters of *word* may be wrong, missing, extra or swapped, for it to be a typo of another word."""
    return 0 if len(word) < 2 else 1 if len(word) < 6 else 2


EMPTY: Final[dict[str, Callable[[], Command]]] = {
    "rules": RulesMenu,
    "members": MembersMenu,
    "gatehouse": GatehouseHelp,
}

VERBS: Final[dict[str, dict[str, type[Command]]]] = {
    service: {name: kind for kind in commands_of(service) if kind.verb for name in (kind.verb, *kind.synonyms)}
    for service in EMPTY
}


class Shorthand(BaseModel):
    """What the short forms of one command stand for. It is stored, so fields that another release added are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    rows: Mapping[str, str] = {}
    """``#n`` -> what that row was about: the id of a rule, or a `member_row`. Numbers beyond the list are left out."""
    shown: int = 0
    """How many rows the list had."""
    in_sight: bool = True
    """Whether the person still sees the list, as far as that is known."""
    act: str | None = None
    """The reference of the last thing that the person did in the channel."""
    site: str | None = None


class NoSuchNumber(Refusal):
    """``#n`` beyond the last list of *service*, or without one; *shown*: how many numbers it had."""

    ref: str
    shown: int
    service: str

    def words(self) -> Words:
        again: Command = MembersList() if self.service == "members" else RulesList()
        what = f"{code(self.ref)} means nothing: you haven’t seen a numbered list of {self.service} lately."
        then = "List them first"
        if self.shown:
            what = f"You haven’t seen row {code(self.ref)}: your last list goes to `#{self.shown}` so far."
            then = "Turn its page first"
        return Words(what, next=f"{then}. The numbers are yours alone.", again={f"List {self.service}": again})


def listed_service(command: Command) -> str:
    """Return the service whose last list ``#n`` of *command* is a row of."""
    return "members" if command.service == "members" else "rules"


def refs_of(command: Command) -> list[str]:
    """Return everything by which *command* names rules or members."""
    return [*command.refs, *command.emails, *filter(None, (command.ref, command.email))]


LISTS: Final = (RulesList, MembersList)


def numbers_in(command: Command) -> set[str]:
    """Return every ``#n`` of *command*."""
    return set(filter(NUMBER.fullmatch, refs_of(command)))


def needs_last_act(command: Command) -> bool:
    return isinstance(command, GatehouseUndo) and command.change is None


def needs_site(command: Command) -> bool:
    """Whether *command* writes to the default site, whichever that is."""
    return command.writes and command.has("site") and command.site is None


def member_row(site: str, email: str) -> str:
    """Return a row of a list of members as it is stored: the site of the list, and the email."""
    return f"{site}\n{email}"


def expand(command: Command, short: Shorthand) -> Command:
    """Return *command* with what its short forms stand for; raises NoSuchNumber."""
    given = {field.name: getattr(command, field.name) for field in fields(command)}
    rows = {ref: _row(ref, command, short) for ref in refs_of(command)}
    full: dict[str, Any] = {name: rows[given[name]][1] for name in ("ref", "email") if given.get(name)}
    for name in {"refs", "emails"} & given.keys():
        full[name] = tuple(dict.fromkeys(rows[ref][1] for ref in given[name]))
    if "site" in given:
        listed = next((site for site, _ in rows.values() if site), None)  # one list, so one site
        full["site"] = given["site"] or listed or (short.site if needs_site(command) else given["site"])
    if needs_last_act(command):
        full["change"] = short.act
    return command.with_fields(**full)


def _row(ref: str, command: Command, short: Shorthand) -> tuple[str, str]:
    """Return what *ref* of *command* stands for, after the site of the list that it is a row of, if that has one."""
    if not NUMBER.fullmatch(ref):
        return "", ref
    service = listed_service(command)
    if ref not in short.rows:
        raise NoSuchNumber(ref, short.shown, service)
    site, _, key = short.rows[ref].rpartition("\n") if service == "members" else ("", "", short.rows[ref])
    return site, key
