"""The commands that a text may mean by the act it asks for; without one, things are looked up."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from bot.rules.model import USUAL_RULE_ID
from bot.text.names import MIN_PART
from handlers.gatehouse.commands import GatehouseAudit, GatehouseHelp, GatehousePending, GatehouseStatus, GatehouseUndo
from handlers.grammar import member_acts, rule_acts
from handlers.grammar.command import Command
from handlers.grammar.fallback import show_subjects
from handlers.grammar.fields import NUMBER
from handlers.grammar.lookups import (
    VIEWS,
    explain_access,
    for_people,
    list_members,
    search,
    show_people,
    show_rules,
    show_urls,
    take_since,
)
from handlers.grammar.recognised import Recognised
from handlers.grammar.tokens import Word
from handlers.grammar.vocabulary import (
    BECAUSE,
    CHANGING,
    COUNTS,
    COURTESY,
    EACH,
    PARTED,
    STATUSES,
    TYPES,
    bare,
)
from handlers.members.commands import MembersEdit, MembersExport, MembersImport, MembersList, MembersWhy
from handlers.rules.commands import (
    RulesCheck,
    RulesCopy,
    RulesEdit,
    RulesExport,
    RulesHistory,
    RulesImport,
    RulesList,
    RulesOff,
    RulesOn,
    RulesSet,
)

REFERENCE: Final = re.compile(r"(?=.*\d)[0-9a-f]{6,32}")
"""The beginning of a change's id, as cards show it."""
COURTEOUS: Final = re.compile(
    r",? (?:please|pls|bitte|por favor)[.!]*\Z|, (?:thanks|thank you|thx|cheers)[.!]*\Z", re.IGNORECASE
)
NAME_OF: Final = re.compile(r"(?:the )?name of ", re.IGNORECASE)
MORE: Final = re.compile(r"(?:,| and| then) (\w+)\b")
"""The beginning of another request after a new name, if its word is a verb."""


def read_act(found: Recognised) -> list[Command]:
    """Return the commands that the act of *found* may mean."""
    if not found.act:
        return look_up(found)
    return COMMANDS_OF[found.act](found) if found.act in COMMANDS_OF else [VIEWS[found.act](found)]


def look_up(found: Recognised) -> list[Command]:
    """Return the commands that show what *found* names, since it has no act; two URLs with an arrow are a redirect."""
    if len(found.urls) == 2 and found.rule_refs() == [] and {"to", "into"} & set(found.words):
        return rule_acts.redirect(found)
    if found.urls:
        return show_urls(found)
    if found.emails and found.segments:
        return member_acts.grant(found)
    if found.emails:
        return for_people(found, lambda emails: MembersWhy(emails, site=found.site))
    if found.names_rules:
        return show_rules(found)
    if found.groups:
        return [RulesList(group=found.known.titles[key]) for key in found.groups]
    if {"hi", "hello", "hey"} & set(found.text.casefold().split()) and not found.phrase:
        return [GatehouseHelp()]
    return search(found)


def _block(found: Recognised) -> list[Command]:
    if found.urls:
        return rule_acts.block(found)
    undone: list[Command] = (
        [GatehouseUndo(because=found.reason), GatehousePending()] if "cancel" in found.text.casefold() else []
    )
    return show_rules(found) or member_acts.offboard(found) or undone


def _offboard(found: Recognised) -> list[Command]:
    return rule_acts.block(found) if found.urls else member_acts.offboard(found)


def _make(found: Recognised) -> list[Command]:
    says_type = rule_acts.says_type(found)
    if found.urls and {"block", "cancel"} & {*found.words}:
        return rule_acts.block(found)
    if len(found.urls) == 2 and not says_type:
        return rule_acts.redirect(found)
    if len(found.urls) == 1 or (found.urls and says_type):
        return rule_acts.open_form(found)
    return member_acts.add(found)


def _delete(found: Recognised) -> list[Command]:
    return member_acts.remove(found) or rule_acts.delete(found)


def _set(found: Recognised) -> list[Command]:
    return rule_acts.redirect(found) if found.urls else _edit(found)


def _edit(found: Recognised) -> list[Command]:
    if " name to " in found.text or NAME_OF.search(found.text):
        return _rename(found)
    if found.emails or (found.root == "members" and found.people()):
        return [MembersEdit(email, site=found.site) for email in found.people()]
    return [RulesEdit(ref) for ref in found.rule_refs()]


def _rename(found: Recognised) -> list[Command]:
    """Return the new name for what is before “to”: the words after it, as they were typed."""
    verb = next((i for i, word in enumerate(found.typed) if bare(word.text) not in COURTESY), 0)
    words = found.typed[verb + 1 :]
    at = next((i for i in range(len(words) - 1, -1, -1) if words[i].keyword == "to"), len(words))
    said = NAME_OF.sub("", " ".join(word.text for word in words[:at]))
    old = said.removesuffix(" name").removesuffix("'s").strip()
    new = _new_name(found, words[at + 1 :])
    edits: list[Command] = [RulesEdit(ref) for ref in found.rule_refs()]
    renamed = _give_name(found, old, new) if new else edits
    found.used |= {*found.words} if renamed else set()
    return renamed


def _give_name(found: Recognised, old: str, new: str) -> list[Command]:
    if NUMBER.fullmatch(old) or USUAL_RULE_ID.fullmatch(old):
        refs = [old]
    else:
        refs = found.known.rules.find_mentioned(old) if len(old) >= MIN_PART else []
    if not refs:
        return [MembersEdit(email, new) for email in found.known.members.find_mentioned(old)]
    return [RulesSet((ref,), (("name", new),), because=found.reason) for ref in refs]


def _new_name(found: Recognised, words: Sequence[Word]) -> str:
    """Return the name that *words* begin with.

    What follows it stays unread, except for a reason, a time after a name in quotes, and a “please”.
    """
    if words and words[0].quoted:
        if words[1:] and not (found.start or found.expiry):
            found.times.append(" ".join(word.text for word in words[1:]))
        return words[0].text
    end = next((i for i, word in enumerate(words) if i and word.keyword in BECAUSE), len(words))
    name = COURTEOUS.sub("", " ".join(word.text for word in words[:end]))
    more = next((each for each in MORE.finditer(name) if each[1].casefold() in CHANGING | PARTED.keys()), None)
    times = [each.as_typed for each in (found.start, found.expiry) if each]
    times += [found.since.text] if found.since else []
    ends = [at for text in times if (at := name.find(text)) > 0] + ([more.start()] if more else [])
    if ends:
        found.times.append(name if times else name[min(ends) :].strip(" ,"))
    return name[: min(ends, default=len(name))].strip(" ,")


def _show(found: Recognised) -> list[Command]:
    if found.emails:
        return show_people(found)
    if not (found.urls or found.groups or found.names_rules or found.names_segments or found.phrase):
        return [MembersList()] if found.root == "members" else [RulesList()]
    return look_up(found)


def _why(found: Recognised) -> list[Command]:
    if found.urls:
        return show_urls(found)
    return show_rules(found) or explain_access(found, found.people(anywhere=True)) or look_up(found)


def _history(found: Recognised) -> list[Command]:
    if refs := found.rule_refs():
        return [RulesHistory(ref) for ref in refs]
    people: list[Command] = [GatehouseAudit(ref=email) for email in found.people()]
    return people or ([] if found.phrase else [GatehouseAudit(since=take_since(found))])


def _restore(found: Recognised) -> list[Command]:
    return rule_acts.switch(RulesOn, found) or [GatehouseUndo(because=found.reason)]


def _undo(found: Recognised) -> list[Command]:
    """Return the undo of a change, by its reference or of the last one; for a rule its history, with what can be undone."""
    if refs := found.rule_refs():
        return [RulesHistory(ref) for ref in refs]
    reference = next((word for word in found.words if REFERENCE.fullmatch(word)), None)
    return [GatehouseUndo(reference, because=found.reason)]


def _export(found: Recognised) -> list[Command]:
    """Return the export of the rules or members that a list would show."""
    found.used |= {*found.words} & {*STATUSES, *TYPES, *EACH, *COUNTS, "list"}
    if found.is_about_members:
        return [list_members(found, MembersExport)]
    return [RulesExport(type=found.type_filter, status=found.status)]


def _status(found: Recognised) -> list[Command]:
    """Return the check of the rules, where a text asks whether they are broken, and the status of Gatehouse."""
    if shown := show_subjects(found):
        return shown
    asks_for_rules = found.root == "rules" and "broken" in found.text.casefold()
    return [RulesCheck(), GatehouseStatus()] if asks_for_rules else [GatehouseStatus()]


COMMANDS_OF: Final[Mapping[str, Callable[[Recognised], list[Command]]]] = {
    "off": partial(rule_acts.switch, RulesOff),
    "down": rule_acts.take_down,
    "on": partial(rule_acts.switch, RulesOn),
    "restore": _restore,
    "delete": _delete,
    "block": _block,
    "redirect": rule_acts.redirect,
    "make": _make,
    "rename": _rename,
    "set": _set,
    "edit": _edit,
    "copy": lambda found: [RulesCopy(ref) for ref in found.rule_refs()],
    "why": _why,
    "export": _export,
    "import": lambda found: [MembersImport(found.site) if found.is_about_members else RulesImport()],
    "show": _show,
    "history": _history,
    "give": member_acts.give,
    "take": member_acts.take,
    "offboard": _offboard,
    "undo": _undo,
    "status": _status,
    "help": lambda found: show_subjects(found) or [GatehouseHelp(topic=found.text)],
}
"""For each act of the vocabulary, what makes commands of a text; acts that only show a view are in `VIEWS`."""
