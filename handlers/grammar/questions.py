"""The commands that answer a question: none of them changes anything."""

from __future__ import annotations

import re
from typing import Final

from handlers.gatehouse.commands import GatehouseAudit, GatehouseHelp, GatehouseStatus, GatehouseWhoami
from handlers.grammar.acts import look_up
from handlers.grammar.command import Command
from handlers.grammar.lookups import (
    IDENTITY,
    VIEWS,
    explain_access,
    list_members,
    show_changes,
    show_urls,
)
from handlers.grammar.recognised import Recognised
from handlers.grammar.vocabulary import GIVEN, PAST, STATUSES, bare
from handlers.members.commands import MembersList
from handlers.rules.commands import RulesHistory, RulesList, RulesShow

LEADS_TO: Final = re.compile(r"\b(?:redirects?|goes?|leads?|points?|sends?) to ")


def answer(found: Recognised) -> list[Command]:
    """Return the commands that answer the question of a text."""
    if found.urls:
        return _leading_to(found) or show_urls(found)
    if _asks_who_did(found) and (people := found.people()):
        found.used |= found.plain & GIVEN
        return [GatehouseAudit(ref=email) for email in people]
    if found.emails:
        return explain_access(found, found.emails)
    if found.names_rules:
        return _about_rules(found)
    return _about_gatehouse(found) or _about_names(found) or look_up(found)


def _asks_who_did(found: Recognised) -> bool:
    """Whether a question is about who did something: “who changed Anna?”."""
    return found.question == "who" and not found.names_rules and not found.plain.isdisjoint(PAST | GIVEN)


def answer_how_to(found: Recognised) -> list[Command]:
    """Return the help, where a text asks how to do something."""
    start = found.text.casefold().split()[:3]
    asks = start[:1] == ["how"] and {"do", "to", "can", "would", "does"} & set(start[1:])
    return [GatehouseHelp(topic=found.text)] if asks and not found.urls else []


def _leading_to(found: Recognised) -> list[Command]:
    """Return the list of the rules that redirect to a URL, where a question asks for them."""
    asks = found.question in {"what", "which", "who"} and LEADS_TO.search(found.text.casefold())
    return [RulesList(url=found.urls[0])] if asks and len(found.urls) == 1 and " does " not in found.text else []


def _about_gatehouse(found: Recognised) -> list[Command]:
    text = " ".join(map(bare, found.text.split()))
    if any(words in text for words in ("can i do", "may i", "who am i", "allowed to do")):
        return [GatehouseWhoami()]
    if any(words in text for words in ("did what", "what did", "what's new")) and not found.rule_refs():
        return [show_changes(found)]
    if found.act in {"pending", "timers"}:
        return [VIEWS[found.act](found)]
    asks_status = found.act == "status" or {"everything", "gatehouse"} & found.plain
    return [GatehouseStatus()] if asks_status and found.question in {"is", "are"} else []


def _about_names(found: Recognised) -> list[Command]:
    words = found.plain
    if found.names_segments and not found.rule_refs():
        people = found.people(anywhere=True, loosely=True)
        return explain_access(found, people) if people else [list_members(found, MembersList)]
    status = next((STATUSES[word] for word in STATUSES if word in words), None)
    if found.question == "how" and not found.phrase and status is None:  # how many there are
        return [MembersList(site=found.site) if found.is_about_members else RulesList()]
    if status is not None and not found.phrase and ("on" not in words or {"rule", "rules"} & words):
        return [RulesList(status=status)]
    if people := found.people(anywhere=found.question not in IDENTITY):
        return explain_access(found, people)
    return _about_rules(found)


def _about_rules(found: Recognised) -> list[Command]:
    """Return the history of the rules that are named, where it is asked who, when or why; else the rules."""
    past = (
        found.act == "history"
        or found.question in {"who", "who's", "when"}
        or (found.question == "why" and _asks_about_change(found))
        or (found.question == "what" and "changed" in found.plain)
    )
    kind: type[RulesHistory | RulesShow] = RulesHistory if past else RulesShow
    return [kind(ref) for ref in found.rule_refs()]


def _asks_about_change(found: Recognised) -> bool:
    return bool(set(found.text.casefold().rstrip("?").split()) & {*STATUSES, "changed", "deleted", "gone"})
