"""Buttons: those that run a command, turn a page or decide about a change; and Slack's own question before a click."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from handlers.blocks.messages import Block, ListPage, clip_visible, plain_text
from handlers.grammar.command import Command

MAX_VALUE: Final = 2_000


def button(
    label: str,
    action_id: str,
    value: str,
    *,
    style: str | None = None,
    confirm: Block | None = None,
    spoken: str = "",
) -> Block | None:
    """Return a button, or None where *value* is empty or too long for Slack. *spoken*: what screen readers say of it."""
    if not 0 < len(value) <= MAX_VALUE:
        return None
    element: Block = {"type": "button", "text": plain_text(label, 75), "action_id": action_id, "value": value}
    if style:
        element["style"] = style
    if spoken:
        element["accessibility_label"] = clip_visible(spoken, 75)
    return element | {"confirm": confirm} if confirm else element


def confirm(title: str, text: str, yes: str, *, danger: bool = True) -> Block:
    """Return Slack's own question before a click counts; *text* is shown as it is, without markup."""
    asked: Block = {
        "title": plain_text(title, 100),
        "text": plain_text(text, 300),
        "confirm": plain_text(yes, 30),
        "deny": plain_text("Cancel", 30),
    }
    return asked | {"style": "danger"} if danger else asked


def command_text(command: Command) -> str:
    """Return what people would type after the slash; empty where it can't be written."""
    try:
        return f"{command.service} {command.write()}"
    except ValueError:
        return ""


def run_button(
    label: str, command: Command, number: int | str, *, style: str | None = None, spoken: str = ""
) -> Block | None:
    """Return a button that runs *command*, the same as typing it."""
    return button(label, f"v1.run.{number}", command_text(command), style=style, spoken=spoken)


def ask_button(
    label: str, command: Command | type[Command], number: int | str, *, style: str | None = None, spoken: str = ""
) -> Block | None:
    """Return a button of the form that asks for what *command* doesn't say, and then does the same as typing it."""
    text = command_text(command) if isinstance(command, Command) else f"{command.service} {command.verb}"
    return button(label, f"v1.ask.{number}", text, style=style, spoken=spoken)


def ask_buttons(*kinds: type[Command]) -> list[Block | None]:
    """Return the button of the form of each of *kinds*."""
    return [ask_button(f"{kind.title()}…", kind, kind.verb) for kind in kinds]


def turn_button(label: str, command: Command, number: int | str) -> Block | None:
    """Return a button that runs *command*, whose answer takes the place of the message: pages, refresh."""
    return button(label, f"v1.turn.{number}", command_text(command))


def turn_buttons(page: ListPage[Any], command: Command) -> tuple[Block | None, Block | None]:
    """Return buttons for the pages of *command* before and after *page*."""
    return (
        turn_button("‹ Previous", command.with_fields(page=page.number - 1), "previous") if page.number > 1 else None,
        turn_button("Next ›", command.with_fields(page=page.number + 1), "next") if page.number < page.count else None,
    )


MORE: Final = "v1.more"
"""The action id of every menu of buttons, whose options have the action ids and the values of the buttons."""
MAX_IN_MENU: Final = 5
MAX_OPTION_VALUE: Final = 150


def menu(buttons: Iterable[Block | None]) -> Block | None:
    """Return a menu of *buttons* in place of a row of them; raises ValueError for one that no option can be.

    An option has no confirm dialog and a shorter value, and a menu has five.
    """
    options = [
        {"text": one["text"], "value": f"{one['action_id']} {one['value']}"} for one in buttons if one is not None
    ]
    if len(options) > MAX_IN_MENU or any(len(each["value"]) > MAX_OPTION_VALUE for each in options):
        raise ValueError(options)
    return {"type": "overflow", "action_id": MORE, "options": options} if options else None


VISIBLE: Final = 2
"""Buttons beside the menu."""


def with_menu(buttons: Iterable[Block | None], visible: int = VISIBLE) -> list[Block | None]:
    """Return the first of *buttons*, and a menu of the others; one with a confirm dialog or a long value can't be there."""
    drawn = [one for one in buttons if one is not None]
    long = [one for one in drawn if len(f"{one['action_id']} {one['value']}") > MAX_OPTION_VALUE]
    shown = [one for at, one in enumerate(drawn) if at < visible or "confirm" in one or one in long]
    return [*shown, menu(one for one in drawn if one not in shown)]


def options_of(element: Block) -> list[Block]:
    """Return the buttons that *element* has room for: itself, or as a menu one for each of its options."""
    if element["action_id"] != MORE:
        return [element]
    parts = [option["value"].partition(" ") for option in element["options"]]
    return [{"action_id": action_id, "value": value} for action_id, _, value in parts]


def share_button(command: Command) -> Block | None:
    """Return a button that runs *command* again for the whole channel to see."""
    return button("Share in channel", "v1.share", command_text(command))


def decide_button(
    label: str, decision: str, change_id: str, *, style: str | None = None, confirm: Block | None = None
) -> Block | None:
    """Return a button that takes *decision* about a change, after the question *confirm*."""
    return button(label, f"v1.decide.{decision}", change_id, style=style, confirm=confirm)
