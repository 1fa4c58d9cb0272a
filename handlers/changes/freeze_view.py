"""What is frozen, in words: for whoever asks for it, for the channel in which it was made, and on what waits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from bot.changes.model import Change
from bot.policy.freezes import ChatFreeze, Freeze
from handlers.blocks import messages
from handlers.blocks.messages import Block, Message, esc, listed, plural
from handlers.changes.list_view import nothing, rows
from handlers.changes.sentences import when, words
from handlers.errors import Words
from handlers.gatehouse.commands import GatehouseFreeze, GatehouseUnfreeze
from handlers.grammar.command import slash

MARK: Final = ":snowflake:"
LOCK: Final = ":lock:"
GO_ON: Final = "Temporary changes still end, and what was let through before still goes on."


def what_is_frozen(freeze: Freeze) -> str:
    """What it covers, as people call it."""
    if isinstance(freeze, ChatFreeze):
        return esc(freeze.title, 120)
    named = [*freeze.hosts, *freeze.rules, *freeze.groups, *freeze.sites, *freeze.segments]
    return listed([esc(name, 60) for name in named], most=5) if named else "Everything"


def clause(freeze: Freeze) -> str:
    """What is frozen from when until when, by whom and why, without a full stop."""
    state = "locked" if isinstance(freeze, ChatFreeze) and freeze.is_lock else "frozen"
    by = f" by <@{freeze.by}>" if isinstance(freeze, ChatFreeze) else " by the policy"
    why = f" (“{words(freeze.why, 160)}”)" if freeze.why else ""
    excepted = f", except {listed([esc(name, 60) for name in freeze.excepted], most=5)}" if freeze.excepted else ""
    return (
        f"{what_is_frozen(freeze)}{excepted} is {state} from {when(freeze.starts)} until {when(freeze.until)}{by}{why}"
    )


def frozen_words(freeze: Freeze) -> Words:
    """What somebody is told who asks for what is frozen at its time."""
    return Words(f"{clause(freeze)}.", next="Within that time, only an emergency override passes.")


def freeze_line(freeze: Freeze) -> str:
    """The same as a line that is seen."""
    return f"{mark_of(freeze)} {clause(freeze)}"


def mark_of(freeze: Freeze) -> str:
    return LOCK if isinstance(freeze, ChatFreeze) and freeze.is_lock else MARK


def made(freeze: ChatFreeze, plans: Sequence[Change], links: Mapping[str, str]) -> Message:
    """What the channel sees of a new freeze: what it holds back, and a way to lift it."""
    who = f"Only <@{freeze.by}> can change it." if freeze.is_lock else "Nobody can change it."
    lifts = f"<@{freeze.by}>, or two others, can lift it." if freeze.is_lock else "Two people can lift it."
    blocks = [
        messages.section(f"{mark_of(freeze)} *{clause(freeze)}.*\n{who} {lifts}"),
        *_held(plans, links),
        messages.context(f"{GO_ON} The emergency override passes, where the policy has one."),
        *messages.actions([_lift(freeze)]),
    ]
    return messages.message(f"{what_is_frozen(freeze)} is {'locked' if freeze.is_lock else 'frozen'}", blocks)


def preview(freeze: ChatFreeze, plans: Sequence[Change], links: Mapping[str, str], command: GatehouseFreeze) -> Message:
    """What a freeze would hold back, before it is made."""
    blocks = [
        messages.section(
            f"{MARK} *Freeze {what_is_frozen(freeze)} from {when(freeze.starts)} until {when(freeze.until)}?*"
        ),
        *_held(plans, links),
        *messages.actions([messages.run_button("Freeze", command, 0, style="primary")]),
    ]
    return messages.message("Freeze?", blocks)


def _held(plans: Sequence[Change], links: Mapping[str, str]) -> list[Block]:
    """What was to begin within a freeze."""
    if not plans:
        return []
    who = listed(list(dict.fromkeys(f"<@{each.request.requester}>" for each in plans)), most=10)
    head = f"{plural(len(plans), 'planned change')} won’t start, planned by {who}:"
    return [messages.section(head), *rows(plans[:MOST_SHOWN], links, public=True)]


MOST_SHOWN: Final = 10


def lifted(freeze: ChatFreeze, by: str) -> Message:
    """What the channel sees once a freeze is lifted."""
    undone = "unlocked" if freeze.is_lock else "no longer frozen"
    others = [f"<@{one}>" for one in freeze.lifted_by if one != by]
    who = listed([f"<@{by}>", *others])
    text = f"{what_is_frozen(freeze)} is {undone}"
    return messages.message(text, [messages.section(f":unlock: *{text}.* Lifted by {who}.")])


def one_more(freeze: ChatFreeze, by: str) -> Message:
    """What the channel sees once one person wants a freeze lifted: a second one has to agree."""
    text = f"<@{by}> wants to lift it: {clause(freeze)}."
    blocks = [
        messages.section(f"{mark_of(freeze)} {text} *Someone else has to agree.*"),
        *messages.actions([_lift(freeze)]),
    ]
    return messages.message("Someone else has to agree to lift a freeze.", blocks)


def _lift(freeze: ChatFreeze) -> Block | None:
    return messages.run_button("Unlock" if freeze.is_lock else "Lift", GatehouseUnfreeze(what=freeze.id), freeze.id)


def listing(freezes: Sequence[Freeze]) -> Message:
    """What is frozen, and will be."""
    if not freezes:
        teaching = (
            f"Freeze a host with `{slash('gatehouse freeze shop.example.com until Monday 9:00 because cutover')}`."
        )
        return nothing(MARK, "Nothing is frozen.", teaching)
    blocks = [
        messages.section(freeze_line(one), _lift(one) if isinstance(one, ChatFreeze) else None) for one in freezes
    ]
    return messages.message(plural(len(freezes), "freeze"), blocks[:MOST_LISTED])


MOST_LISTED: Final = 45
"""Rows that one message holds."""
