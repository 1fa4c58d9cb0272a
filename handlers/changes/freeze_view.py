"""The texts about freezes: for a person whose request is frozen, for the freeze's channel, and for changes that wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from bot.changes.model.change import Change
from bot.policy.freezes import ChatFreeze, Freeze
from handlers.blocks import messages
from handlers.blocks.buttons import run_button
from handlers.blocks.messages import Block, ListPage, Message, esc, first_few, join_words, plural
from handlers.changes.list_view import empty_message, list_message
from handlers.changes.people import public_text
from handlers.changes.times import when
from handlers.errors import Words
from handlers.gatehouse.commands import GatehouseFreezes, GatehouseUnfreeze
from handlers.grammar.command import slash

MARK: Final = ":snowflake:"
EVERYTHING: Final = "Everything"
"""The name of a freeze that has no target."""


def scope_text(freeze: Freeze) -> str:
    """Return what *freeze* covers, as people call it."""
    if isinstance(freeze, ChatFreeze):
        return esc(freeze.title, 120)
    named = [*freeze.hosts, *freeze.rules, *freeze.groups, *freeze.sites, *freeze.segments]
    return join_words([esc(name, 60) for name in named], most=5) if named else EVERYTHING


def scope_in_sentence(freeze: ChatFreeze) -> str:
    """Return the same where something stands before it."""
    return "everything" if freeze.title == EVERYTHING else scope_text(freeze)


def clause(freeze: Freeze) -> str:
    """Return what is frozen from when until when, by whom and why, without a full stop."""
    excepted = f" (except {join_words([esc(name, 60) for name in freeze.excepted], most=5)})" if freeze.excepted else ""
    return f"{scope_text(freeze)}{excepted} is frozen {_period(freeze)} by {_author(freeze)}{_reason_suffix(freeze)}"


def _period(freeze: Freeze) -> str:
    """Return the start and the end of *freeze*; the end alone where it began when it was made."""
    until = f"until {when(freeze.until)}"
    began_at_once = isinstance(freeze, ChatFreeze) and freeze.starts <= freeze.made
    return until if began_at_once else f"from {when(freeze.starts)} {until}"


def _author(freeze: Freeze) -> str:
    return f"<@{freeze.by}>" if isinstance(freeze, ChatFreeze) else "the policy"


def _reason_suffix(freeze: Freeze) -> str:
    return f" (“{public_text(freeze.why, 160)}”)" if freeze.why else ""


def frozen_words(freeze: Freeze) -> Words:
    """Return the message to a person who requests a change of something that is frozen at that time."""
    return Words(f"{clause(freeze)}.")


def freeze_line(freeze: Freeze) -> str:
    """Return the same as a line of a card, with an emoji."""
    return f"{MARK} {clause(freeze)}"


def facts_before(counts: Mapping[str, int | None], plans: int) -> str:
    """Return what to know before a freeze is made: what it covers, for whom it holds, and who can lift it."""
    covered = [
        f"an unknown number of {noun}s" if count is None else plural(count, noun)
        for noun, count in {**counts, "planned change": plans}.items()
        if count != 0
    ]
    covers = f"It covers {join_words(covered)}.\n" if covered else ""
    return f"{MARK} {covers}It holds for you, too. You can lift it alone; anyone else needs a second person."


def freeze_message(freeze: ChatFreeze, plans: Sequence[Change], *, has_override: bool = False) -> Message:
    """Return the card of a new freeze for the channel: how many plans it blocks, and a way to lift it.

    *has_override*: the policy lets somebody override what blocks a change.
    """
    who = join_words(list(dict.fromkeys(f"<@{each.request.requester}>" for each in plans)), most=10)
    held = f"{plural(len(plans), 'planned change')} won’t start, planned by {who}."
    override = " Emergency overrides still pass." if has_override else ""
    blocks = [
        messages.section(
            f"{MARK} *{clause(freeze)}.*\nNobody can change it. <@{freeze.by}>, or two others, can lift it."
        ),
        *([messages.section(held)] if plans else []),
        messages.context(f"Temporary changes still revert, and what is under way goes on.{override}"),
        *messages.actions([_lift_button(freeze)]),
    ]
    return messages.message(f"{scope_text(freeze)} is frozen", blocks)


MAX_SHOWN: Final = 10


def lifted_message(freeze: ChatFreeze, by: str) -> Message:
    """Return what the channel sees once a freeze is lifted, *by* last; another one may still cover the same."""
    text = f"The freeze of {scope_in_sentence(freeze)} was lifted"
    who = join_words([f"<@{by}>", *(f"<@{vote.by}>" for vote in freeze.votes if vote.by != by)])
    return messages.message(text, [messages.section(f":unlock: *{text}* by {who}.")])


def lift_request_message(freeze: ChatFreeze, by: str) -> Message:
    """Return what the channel sees once one person wants a freeze lifted: a second one has to agree."""
    question = f"Lift the freeze of {scope_in_sentence(freeze)}?"
    facts = f"Requested by <@{by}>. Someone else has to agree."
    since = f"Frozen {_period(freeze)} by {_author(freeze)}{_reason_suffix(freeze)}."
    blocks = [
        messages.section(f"{MARK} *{question}*\n{facts}\n{since}"),
        *messages.actions([_lift_button(freeze, "Lift freeze")]),
    ]
    return messages.message(f"{question} Someone else has to agree.", blocks)


def replaced_card(freeze: ChatFreeze, by: str) -> Message:
    """Return the old card of a freeze once *by* asked to lift it: a newer card shows how it stands."""
    text = f"<@{freeze.by}> froze {scope_in_sentence(freeze)} {_period(freeze)}"
    asked = f"<@{by}> asked to lift it: see the newer card."
    return messages.message("Asked to lift it", [messages.section(f"{MARK} *{text}*{_reason_suffix(freeze)}\n{asked}")])


def _lift_button(freeze: ChatFreeze, label: str = "Lift") -> Block | None:
    return run_button(label, GatehouseUnfreeze(what=freeze.id), freeze.id)


def freeze_list(page: ListPage[Freeze], command: GatehouseFreezes) -> Message:
    """Return a page of the freezes of now and of later."""
    if not page.items:
        teaching = (
            f"Freeze a host with `{slash('gatehouse freeze shop.example.com until Monday 9:00 because cutover')}`."
        )
        return empty_message(MARK, "Nothing is frozen.", teaching)
    blocks = [
        messages.section(freeze_line(one), _lift_button(one) if isinstance(one, ChatFreeze) else None)
        for one in page.items
    ]
    return list_message(plural(page.total, "freeze"), blocks, page, command)


def short_list(freezes: Sequence[Freeze]) -> list[Block]:
    """Return the first of *freezes* in an answer about other things, and how many more there are."""
    lines = first_few([freeze_line(one) for one in freezes], MAX_SHOWN)
    return [messages.section(text) for text in messages.pack_lines(lines)]
