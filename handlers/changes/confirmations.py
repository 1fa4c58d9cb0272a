"""Slack’s confirm dialog before a click: its title, the consequence of the click, and the label of the button."""

from __future__ import annotations

from typing import Final

from bot.changes.model.change import Change
from bot.changes.model.edits import Kind
from bot.changes.model.states import State
from bot.text.emails import mask_email
from handlers.blocks import messages
from handlers.blocks.buttons import confirm
from handlers.blocks.messages import Block
from handlers.changes.phrases import phrases
from handlers.changes.subject import ACCESS, THINGS, VERBS, is_offboarding, new_status
from handlers.changes.titles import bare_text, bare_title

MAX_CONFIRM: Final = 30
"""Characters that Slack allows on a button of a confirm dialog."""


def question(change: Change, yes: str) -> Block | None:
    """Return the confirm dialog before *change* is made, with *yes* on its button; None unless it destroys, or changes many."""
    if not (change.is_bulk or change.edit.kind.destroys):
        return None
    follows, starts = _consequence(change), change.request.starts_at
    # A confirm dialog has plain text, in which no time follows the reader's zone.
    if change.state is State.PROPOSED and starts is not None:
        follows = follows.replace(" at once", f" on {messages.plain_moment(int(starts.timestamp()) * 1000)} UTC")
    return confirm(f"{messages.clip(bare_title(change), 90)}?", follows, yes, danger=change.edit.kind.destroys)


def _consequence(change: Change) -> str:
    """Return the consequence of a click, for Slack's confirm dialog."""
    before = change.edit.before or {}
    pairs, is_on = len(before.get("pairs") or ()), before.get("status") == "Active"
    if change.edit.kind is Kind.RULE_DELETE and change.is_bulk:
        if change.bulk.size == 1:
            return "1 rule stops working at once. Undo creates it again, under a new id."
        return f"{change.bulk.size:,} rules stop working at once. Undo creates them again, under new ids."
    if change.edit.kind is Kind.RULE_DELETE:
        goes = f"All {pairs:,} pairs are deleted. " if pairs > 1 else ""
        return f"{goes}{'It stops working at once. ' if is_on else ''}Undo creates it again, under a new id."
    if change.edit.kind is Kind.MEMBER_REMOVE and change.is_bulk:
        restored = "name and segments on each site" if is_offboarding(change) else "names and segments"
        return f"Access ends at once. Undo restores {restored}."
    if change.edit.kind is Kind.MEMBER_REMOVE:
        site = f" to {change.edit.target.site}" if change.edit.target.site else ""
        return f"{mask_email(change.edit.target.key or '')} loses all access{site}. Undo restores name and segments."
    if change.edit.kind is Kind.MEMBER_ADD and change.request.undoes:
        return "Restores name and segments at once. You can undo it."
    return "It takes effect at once. You can undo it."


def undo_question(change: Change) -> Block:
    """Return the confirm dialog before an undo that deletes; the policy decides whether that needs an approval."""
    gone = "removed" if change.edit.target.service == "members" else "deleted"
    goes = "All of it is" if change.is_bulk else f"The {thing_of(change)} is"
    return confirm(f"{messages.clip(bare_text(phrases(change).undo), 90)}?", f"{goes} {gone} again.", "Undo")


def confirm_label(change: Change) -> str:
    """Return the label of the button that confirms *change*: a verb and its object."""
    if change.is_bulk:
        title = bare_title(change)
        if len(title) <= MAX_CONFIRM and "@" not in title:
            return title
        if is_offboarding(change):
            return "Remove from every site" if change.edit.kind.destroys else "Put back on all sites"
        verb = VERBS[change.edit.kind][0].capitalize() if len(change.bulk.kinds) == 1 else "Change"
        return f"{verb} all {change.bulk.size:,}"
    if (switched := new_status(change.edit)) is not None:
        return f"Switch {switched}"
    if change.edit.kind in ACCESS:
        return "Grant access" if change.edit.kind is Kind.MEMBER_GRANT else "Revoke access"
    return f"{VERBS[change.edit.kind][0].capitalize()} {thing_of(change)}"


def thing_of(change: Change) -> str:
    """Return the word for the target of *change*: rule, member or group."""
    return THINGS[change.edit.target.service]
