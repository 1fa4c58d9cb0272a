"""The Home tab. Only its owner sees it, yet emails stay masked: others may look on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final

from bot.changes.model.change import Change
from bot.policy.freezes import Freeze
from handlers.blocks import messages, modals
from handlers.blocks.buttons import ask_buttons, button, run_button
from handlers.blocks.menus import member_menu, rule_menu
from handlers.blocks.messages import Block
from handlers.blocks.modals import View
from handlers.changes.freeze_view import short_list
from handlers.changes.list_view import RowFacts, more_line, open_button, rows
from handlers.changes.times import when
from handlers.gatehouse.commands import GatehouseHelp
from handlers.grammar.command import slash
from handlers.members.commands import MembersGrant, MembersMenu
from handlers.rules.commands import RulesMenu, RulesNew, RulesOff

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
    decidable = {each.id for each in found.decisions}
    nothing = ":white_check_mark: *Nothing is waiting for you.* Requests that you can decide appear here."
    nothing = "" if held or found.unlisted else nothing
    changes = partial(_change_list, facts=found.facts)
    blocks = [
        messages.header("Gatehouse"),
        *short_list(found.freezes),
        *changes("Waiting for you", [*found.decisions, *held], otherwise=nothing, decidable=decidable),
        *messages.actions([open_button(len(found.decisions))]),
        *_unlisted_line(found.unlisted),
        *changes("Yours, planned and temporary", [*found.own, *coming]),
        *([messages.context(found.elsewhere.strip())] if found.elsewhere else []),
        messages.header("Find"),
        *([messages.section("*A rule*", rule_menu("home"))] if found.reads_rules else []),
        *([messages.section("*A member*", member_menu("home"))] if found.reads_members else []),
        messages.header("Do"),
        *messages.actions(_buttons(found)),
        messages.context(f"As of {when(now)}"),
    ]
    return modals.home(blocks, channel)


def _unlisted_line(count: int) -> list[Block]:
    """Return a line with how many open changes were not looked through for the reader's; nothing for none."""
    if count <= 0:
        return []
    more = f"{messages.plural(count, 'more change')} {'is' if count == 1 else 'are'} open, and may wait for you"
    return [messages.context(f"{more}: `{slash('gatehouse pending')}`")]


def _change_list(
    title: str, changes: Sequence[Change], facts: RowFacts, otherwise: str = "", decidable: Collection[str] = ()
) -> list[Block]:
    """Return the changes under *title*, or *otherwise*; nothing at all where that is empty."""
    if not changes:
        return [messages.section(otherwise)] if otherwise else []
    shown = rows(changes[:MAX_OF_A_KIND], facts, public=True, decidable=decidable)
    return [messages.header(title), *shown, *more_line(len(changes) - MAX_OF_A_KIND)]


def _buttons(found: Home) -> list[Block | None]:
    create = run_button("Create rule…", RulesNew(), "new")
    rules = [create, *ask_buttons(RulesOff), run_button("Rules", RulesMenu(), 0)]
    members = [*ask_buttons(MembersGrant), run_button("Members", MembersMenu(), 1)]
    return [
        *(rules if found.reads_rules else []),
        *(members if found.reads_members else []),
        run_button("Show more", GatehouseHelp(), 2),
        button("Refresh", "v1.home.refresh", "refresh"),
    ]
