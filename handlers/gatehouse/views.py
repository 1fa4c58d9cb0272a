"""Help, status, who somebody is, and what is pending."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, TypeVar

from bot import __version__
from bot.changes.model.change import Change
from bot.changes.model.parts import Guard
from bot.health import Health, Level
from bot.policy.access import Standing
from bot.policy.freezes import Freeze
from bot.policy.model import GuardRule, Person, Why
from handlers.blocks import messages
from handlers.blocks.buttons import ask_buttons, button, run_button
from handlers.blocks.messages import ListPage, Message, as_sentence, code, esc, join_words, quote
from handlers.changes.freeze_view import short_list
from handlers.changes.list_view import RowFacts, empty_message, list_message, more_line, nothing_text, open_button, rows
from handlers.changes.people import mention
from handlers.changes.titles import STATES
from handlers.explain.why_not import WHY_NOT
from handlers.gatehouse.commands import (
    GatehouseAudit,
    GatehouseDigest,
    GatehouseFreeze,
    GatehouseFreezes,
    GatehousePending,
    GatehousePlanned,
    GatehouseStatus,
    GatehouseToken,
    GatehouseWhoami,
    GatehouseWhy,
)
from handlers.grammar.command import slash
from handlers.members.commands import MembersMenu
from handlers.rules.commands import RulesMenu

K = TypeVar("K")
EXAMPLES: Final = (
    ("rules which https://shop.example.com/old", "where a URL goes, and why"),
    ("rules off Old shop for 2h", "switch a rule off; it turns back on automatically"),
    ("members why anna vip", "why someone has access or doesn’t"),
    ("members grant anna vip for 7d", "grant access for a week"),
)
"""What people type on most days, and what it does. No emails: a channel sees them masked."""
OWN_WORDS: Final = "Or use your own words. Gatehouse shows what would change, and waits for your click."


def menu(*, agents: bool = False) -> Message:
    """Return what can be done with Gatehouse, by clicks and by everyday examples of what can be typed.

    *agents*: they are let in.
    """
    lines = [f"`{slash(text)}`  {does}" for text, does in EXAMPLES]
    rows = (
        [run_button("Rules", RulesMenu(), "rules"), run_button("Members", MembersMenu(), "members")],
        [
            run_button("Waiting for you", GatehousePending(), "pending", style="primary"),
            run_button("Planned", GatehousePlanned(), "planned"),
            run_button("What changed", GatehouseAudit(), "audit"),
            *ask_buttons(GatehouseAudit),
            run_button("Handover", GatehouseDigest(), "digest"),
        ],
        [
            button("Undo my last change…", "v1.undo", "last"),
            *ask_buttons(GatehouseFreeze),
            run_button("What is frozen", GatehouseFreezes(), "freezes"),
            run_button(GatehouseWhoami.title(), GatehouseWhoami(), "whoami"),
            *ask_buttons(GatehouseWhy),
            run_button("Status", GatehouseStatus(), "status"),
            *(ask_buttons(GatehouseToken) if agents else []),
        ],
    )
    buttons = chain.from_iterable(map(messages.actions, rows))
    examples = messages.section("\n".join(["*Or type*", *lines]))
    head = messages.section("*What do you want to do?*")
    return messages.message("Gatehouse", [head, *buttons, examples, messages.context(OWN_WORDS)])


PARTS: Final = {
    "slack": "Slack",
    "socket mode": "Socket Mode",
    "clock": "Clock",
    "store": "Database",
    "policy": "Policy file",
    "messages": "Cards and messages",
}


LEVELS: Final = {
    Level.FAILS: (":red_circle:", "✗"),
    Level.NEEDS_ATTENTION: (":large_yellow_circle:", "!"),
    Level.WORKS: (":large_green_circle:", "✓"),
}
"""For each level, the worst first: the mark of the whole, and that of a part."""


def status(parts_of: Mapping[str, Health], *, places: Mapping[str, str], counts: Mapping[str, int]) -> Message:
    """Return the parts that don't work first, then each part in a line, and how many changes are in each state."""
    text = _headline(parts_of)
    ordered = sorted(parts_of.items(), key=lambda part: [*LEVELS].index(part[1].level))
    lines = [_part(name, part, place=places.get(name, "")) for name, part in ordered]
    mark, _ = LEVELS[ordered[0][1].level]
    standing = Counter[str]()
    for state, count in sorted(counts.items()):
        standing[STATES[state].word if state in STATES else state] += count
    so_far = ", ".join(f"{count:,} {word}" for word, count in standing.items()) or "none yet"
    blocks = [messages.section(f"{mark} {text}"), messages.section("\n".join(lines))]
    return messages.message(
        text.replace("*", ""), [*blocks, messages.context(f"Changes: {so_far}", f"Gatehouse {__version__}")]
    )


def _headline(parts_of: Mapping[str, Health]) -> str:
    bad = {name: part for name, part in parts_of.items() if not part.is_ready}
    warnings = sum(part.level is Level.NEEDS_ATTENTION for part in parts_of.values())
    but = f", with {messages.plural(warnings, 'warning')}" if warnings else ""
    if not bad:
        return f"*Everything works{but}.*"
    if len(bad) == len(parts_of):
        return "*Nothing works.*"
    if len(bad) > 1:
        return f"*{messages.plural(len(bad), 'problem')}.* Everything else works{but}."
    (name, part), *_ = bad.items()
    said = as_sentence(f"{_part_name(name)}: {esc(part.detail, 400)}")
    return f"*{said}* Everything else works{but}."


def _part_name(name: str) -> str:
    return PARTS.get(name) or esc(name[:1].upper() + name[1:], 60)


def _part(name: str, part: Health, *, place: str) -> str:
    _, mark = LEVELS[part.level]
    detail = f": {esc(part.detail, 400)}" if part.detail else ""
    where = f" · {code(place, 80)}" if place else ""
    return f"{mark} {_part_name(name)}{detail}{where}"


DOES: Final = {
    "rule.read": "read rules",
    "member.read": "read members",
    "audit.read": "read the audit",
    "rule.create": "create rules",
    "rule.update": "change rules",
    "rule.delete": "delete rules",
    "member.add": "add members",
    "member.update": "rename members",
    "member.grant": "grant access",
    "member.revoke": "revoke access",
    "member.remove": "remove members",
    "approve": "approve requests",
    "freeze": "freeze hosts and sites",
}


def whoami(
    person: Person,
    channel: str,
    allowed: Mapping[str, Why | None],
    guards: Mapping[str, GuardRule],
    *,
    sites: Sequence[str],
    act: Sequence[str],
    freezes: Sequence[Freeze] = (),
    is_self: bool = True,
) -> Message:
    """Return what somebody can do in this channel, what a second person must approve, and why not the rest.

    *is_self*: whether they ask about themselves.
    """
    you, head = ("You", "You") if is_self else ("They", f"<@{person.id}>")
    may = [name for name, why in allowed.items() if why is None]
    barred = _group_operations((why, name) for name, why in allowed.items() if why is not None)
    if not barred:
        lines = [f"*{head} can do everything in* <#{channel}>."]
    elif may:
        lines = [f"*In* <#{channel}> *{'you' if is_self else head} can* {join_words([DOES[name] for name in may])}."]
    else:
        lines = [f"*{head} can’t use Gatehouse in* <#{channel}>."]
    guarded = {name: rule for name in may if (rule := guards.get(name)) is not None and rule.guard is not Guard.NONE}
    needed = _group_operations((_guard_words(rule), name) for name, rule in guarded.items())
    lines += [f"{you} need {needs} to {join_words(names)}." for needs, names in needed.items()]
    for why, names in barred.items():
        because = WHY_NOT[why].what if is_self else as_sentence(WHY_NOT[why].recorded)
        lines.append(because if len(names) == len(allowed) else f"{you} can’t {join_words(names, 'or')}. {because}")
    known = f"Sites: {', '.join(esc(site, 40) for site in sites)}" if sites else "No sites are set up"
    where = f"Changes are allowed in {', '.join(f'<#{each}>' for each in act)}" if act else ""
    small = " · ".join(
        filter(None, (known, f"{'Your' if is_self else 'Their'} time zone: {esc(person.tz, 40)}", where))
    )
    blocks = [messages.section("\n".join(lines)), *short_list(freezes), messages.context(f"<@{person.id}> · {small}")]
    return messages.message(f"What {'you' if is_self else 'they'} can do with Gatehouse here", blocks)


def _group_operations(named: Iterable[tuple[K, str]]) -> dict[K, list[str]]:
    """Return what operations do, by what is said of them."""
    found: dict[K, list[str]] = {}
    for key, operation in named:
        found.setdefault(key, []).append(DOES[operation])
    return found


def _guard_words(rule: GuardRule) -> str:
    if rule.guard is Guard.CONFIRM:
        return "to confirm once more"
    return "a second person’s approval" if rule.approvals == 1 else f"{rule.approvals} other people’s approval"


def outlook(title: str, lines: Sequence[str]) -> Message:
    """Return what changes of the thing called *title* would meet, in *lines*."""
    head = f"Guards of {quote(title, 100)}"
    blocks = [messages.section("\n".join([f"*{head}*", *lines])), messages.context("For you, in this channel, now.")]
    return messages.message(head, blocks)


def requirement(standing: Standing) -> str:
    """Return what a change requires that has this *standing*, and who could approve it."""
    rule = standing.rule
    people = ", ".join(map(mention, standing.summoned) if rule.notify is None else map(esc, rule.approvers))
    approval = f"{_guard_words(rule)}{', by ' * bool(people)}{people}"
    needs = {Guard.NONE: "done at once", Guard.CONFIRM: "your confirmation"}.get(rule.guard, approval)
    hint = f" ({esc(rule.hint, 100)})" if rule.hint else ""
    return f"{needs}{f', with a reason{hint}' if rule.reason else ''}"


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits for somebody: open *changes*."""

    changes: Sequence[Change] = ()
    unlisted: int = 0
    """The number of further open changes, which were not looked through."""
    unread: str = ""
    """The line that says that there may be some that the reader may not read."""

    @property
    def count(self) -> int:
        """Return how many changes are open."""
        return len(self.changes) + self.unlisted


def pending_list(
    page: ListPage[Change],
    waiting: Waiting,
    facts: RowFacts,
    command: GatehousePending,
    *,
    public: bool,
    decidable: Collection[str] = (),
) -> Message:
    """Return a page of what is *waiting*. *decidable*: ids of the changes that the reader can decide."""
    if not page.items:
        teaching = f"Requests that wait for a decision appear here.{waiting.unread}"
        return empty_message(":white_check_mark:", f"{nothing_text(waiting.unread)} is pending.", teaching, command)
    title = messages.plural(waiting.count, "pending change")
    drawn = rows(page.items, facts, public=public, decidable=decidable)
    blocks = [
        *messages.actions([open_button(len(decidable))]),
        *drawn,
        *(more_line(waiting.unlisted) if page.number == page.count else []),
    ]
    return list_message(title, blocks, page, command, lead=waiting.unread)


def planned_list(
    page: ListPage[Change], facts: RowFacts, command: GatehousePlanned, *, planned: int, public: bool, unread: str = ""
) -> Message:
    """Return a page of what starts and reverts automatically, the next first.

    *planned*: how many on all pages are yet to start. *unread*: the line that says that the reader may not read all.
    """
    if not page.items:
        teaching = (
            "Add `tomorrow 9:00` to a change, and Gatehouse makes it then. Add `for 2h` or `until 18:00`, and Gatehouse"
            f" reverts it then.{unread}"
        )
        return empty_message(":alarm_clock:", f"{nothing_text(unread)} is planned right now.", teaching, command)
    temporary = page.total - planned
    named = [messages.plural(planned, "planned change")] * bool(planned)
    named += [messages.plural(temporary, "temporary change")] * bool(temporary)
    return list_message(", ".join(named), rows(page.items, facts, public=public), page, command, lead=unread)
