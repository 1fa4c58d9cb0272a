"""The Home tab. Only its owner sees it, yet emails stay masked: others may look on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final

from bot.changes.model.change import Change
from bot.changes.model.states import State
from bot.policy.freezes import Freeze
from handlers.blocks import messages, modals
from handlers.blocks.buttons import button, run_button
from handlers.blocks.menus import member_menu, rule_menu
from handlers.blocks.messages import Block
from handlers.blocks.modals import View
from handlers.changes.freeze_view import short_list
from handlers.changes.list_view import RowFacts, more_line, open_button, rows
from handlers.changes.times import when
from handlers.gatehouse.commands import GatehouseHelp, GatehouseInspect, GatehousePending, GatehouseWhoami
from handlers.grammar.command import slash
from handlers.members.commands import MembersList
from handlers.rules.commands import RulesList

MAX_OF_A_KIND: Final = 8


def loading_view(channel: str) -> View:
    return modals.home([messages.section(":hourglass_flowing_sand: Loading…")], channel)


@dataclass(frozen=True, slots=True)
class Home:
    """What the Home tab tells its reader."""

    reads_rules: bool
    reads_members: bool
    decisions: Sequence[Change] = ()
    """The requests that they can decide."""
    own: Sequence[Change] = ()
    """Their requests that wait for others."""
    coming: Sequence[Change] = ()
    """Their changes that start or revert automatically, or could not start."""
    unlisted: int = 0
    """The number of further open changes, of anybody, which were not looked through."""
    facts: RowFacts = field(default_factory=RowFacts)
    freezes: Sequence[Freeze] = ()
    elsewhere: str = ""
    """The line about rules that were changed elsewhere since yesterday."""


def home(found: Home, channel: str, *, now: datetime) -> View:
    """Return the Home tab. What waits for its reader comes first: it is what somebody else is waiting for."""
    held = [each for each in found.coming if each.run.held]
    coming = [each for each in found.coming if not each.run.held]
    changes = partial(_change_list, facts=found.facts)
    nothing = ":white_check_mark: *Nothing is waiting for you.* Requests that you can decide appear here."
    nothing = "" if held or found.unlisted else nothing
    blocks = [
        messages.header("Gatehouse"),
        *short_list(found.freezes),
        *changes("Waiting for you", found.decisions, otherwise=nothing, is_decidable=True),
        *messages.actions([open_button(len(found.decisions))]),
        *changes("Yours, waiting for you to say when", held),
        *changes("Yours, waiting for others", found.own),
        *_unlisted_line(found.unlisted),
        *([messages.context(found.elsewhere.strip())] if found.elsewhere else []),
        messages.divider(),
        *([messages.section("*Find a rule*", rule_menu("home"))] if found.reads_rules else []),
        *([messages.section("*Find a member*", member_menu("home"))] if found.reads_members else []),
        *messages.actions(_buttons(found)),
        messages.divider(),
        *changes("Yours, planned", coming),
        messages.context(f"As of {when(now)}"),
    ]
    return modals.home(blocks, channel)


def _unlisted_line(count: int) -> list[Block]:
    """Return a line with how many open changes were not looked through for the reader's; nothing for none."""
    if count <= 0:
        return []
    more = f"{messages.plural(count, 'more change')} {'is' if count == 1 else 'are'} open, and may wait for you"
    return [messages.context(f"{more}: `{slash('gatehouse pending')}`")]


def _details_button(change: Change) -> Block | None:
    if change.state is not State.PROPOSED:
        return None
    return run_button("Details", GatehouseInspect(change.id), f"inspect.{change.id[:8]}")


def _change_list(
    title: str,
    changes: Sequence[Change],
    facts: RowFacts,
    otherwise: str = "",
    *,
    is_decidable: bool = False,
) -> list[Block]:
    """Return the changes under *title*, or *otherwise*; nothing at all where that is empty."""
    if not changes:
        return [messages.section(otherwise)] if otherwise else []
    first = changes[:MAX_OF_A_KIND]
    if is_decidable:
        shown = rows(first, facts, public=True, decidable={each.id for each in first})
    else:
        shown = rows(first, facts, public=True, button=_details_button)
    return [messages.header(title), *shown, *more_line(len(changes) - MAX_OF_A_KIND)]


def _buttons(found: Home) -> list[Block | None]:
    return [
        run_button("List rules", RulesList(), "rules") if found.reads_rules else None,
        button("Create rule…", "v1.home.new", "new") if found.reads_rules else None,
        run_button("List members", MembersList(), "members") if found.reads_members else None,
        run_button("Show pending", GatehousePending(), "pending") if found.reads_rules else None,
        run_button("Show what I can do", GatehouseWhoami(), "whoami"),
        run_button("Help", GatehouseHelp(), "help"),
        button("Refresh", "v1.home.refresh", "refresh"),
    ]
