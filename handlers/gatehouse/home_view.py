"""The Home tab and the settings card. Only its owner sees it, yet emails stay masked: others may look on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final

from bot.changes.model.change import Change
from bot.changes.model.documents import fingerprint
from bot.changes.model.states import State
from bot.policy.freezes import Freeze
from bot.store.channel_settings import DELIMITER, Preferences
from handlers.blocks import inputs, messages, modals
from handlers.blocks.buttons import button, run_button
from handlers.blocks.menus import member_menu, rule_menu
from handlers.blocks.messages import Block, Message, code, section
from handlers.blocks.modals import View, frame, metadata
from handlers.changes.freeze_view import short_list
from handlers.changes.list_view import RowFacts, more_line, open_button, rows
from handlers.changes.times import when
from handlers.gatehouse.commands import GatehouseHelp, GatehouseInspect, GatehousePending, GatehouseWhoami
from handlers.grammar.command import slash
from handlers.members.commands import MembersList
from handlers.members.views import segments_line
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


CALLBACK: Final = "v1.settings.form"
TITLE: Final = "Channel settings"
SITE, SEGMENTS = "site", "segment_names"
FIRST: Final = "(first site)"
"""The choice of no site."""


def card(
    held: Preferences,
    channel: str,
    *,
    sites: Sequence[str],
    everywhere: Sequence[str],
    may_change: bool,
) -> Message:
    """Return the settings of the channel, and the defaults for the others."""
    of_all = f"\nIn every channel: {segments_line(everywhere)}" if everywhere else ""
    blocks = [
        messages.section(f":gear: *Settings of <#{channel}>*"),
        messages.section(f"*Default site*\n{_site(held, sites)}"),
        messages.section(f"*Extra segments*\n{segments_line(held.segments)}{of_all}"),
    ]
    if not may_change:
        blocks.append(messages.context(f"You can’t change these settings; `{slash('gatehouse whoami')}` says why."))
    blocks += messages.actions([button("Change…", "v1.settings.change", channel) if may_change else None])
    return messages.message("Channel settings", blocks)


def _site(held: Preferences, sites: Sequence[str]) -> str:
    if held.site and held.site not in sites:
        return f":warning: {code(held.site, 60)}, which no longer exists: commands about members must name a site."
    if held.site:
        return code(held.site, 60)
    return f"{code(sites[0], 60)} (the first site)" if sites else "_no sites are set up (MEMBERS_SITES)_"


def form(held: Preferences, channel: str, *, sites: Sequence[str]) -> View:
    """Return the modal, ready for views.open or views.update."""
    hint = "Segments that exist in the site’s dashboard but no member has yet. Separate them with commas."
    chosen = held.site or FIRST
    offered = list(dict.fromkeys((FIRST, chosen, *sites)))[: inputs.MAX_OPTIONS]
    few = " The menu has no room for all sites." if {*sites} - {*offered} else ""
    blocks = [
        section(f"These settings are for everyone in <#{channel}>.{few}"),
        inputs.menu(SITE, "Default site", {each: each for each in offered}, chosen),
        inputs.text(SEGMENTS, "Extra segments", ", ".join(held.segments), optional=True, multiline=True, hint=hint),
    ]
    kept = {"channel": channel, "seen": fingerprint(held.dump())}
    return frame(TITLE, blocks, callback_id=CALLBACK, submit="Save", metadata=kept)


@dataclass(frozen=True, slots=True)
class SettingsForm:
    """What a person wants to be set. *seen*: fingerprint of what was set when the form opened."""

    wanted: Preferences
    seen: str

    def is_current(self, held: Preferences) -> bool:
        """Return whether *held*, what is set now, is what was set when the form opened."""
        return self.seen == fingerprint(held.dump())


def read_form(view: View) -> SettingsForm:
    """Return the settings as a person left them."""
    values = inputs.values_of(view)
    site = inputs.typed_value(values, SITE) or FIRST
    wanted = Preferences("" if site == FIRST else site, _names(inputs.typed_value(values, SEGMENTS) or ""))
    return SettingsForm(wanted, str(metadata(view).get("seen") or ""))


def _names(text: str) -> tuple[str, ...]:
    names = text.replace("\n", DELIMITER).split(DELIMITER)
    return tuple(dict.fromkeys(name.strip() for name in names if name.strip()))
