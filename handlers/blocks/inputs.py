"""Inputs of modals, as Block Kit wants them. Every id is given, so that what was typed survives a new rendering."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from handlers.blocks.messages import Block, escape_invisible, plain_text

MAX_TYPED: Final = 3000
"""Characters that a plain text input takes."""
MAX_OPTIONS: Final = 100
MAX_OPTION_LENGTH: Final = 75
MAX_VALUE_LENGTH: Final = 150
HALF: Final = re.compile("[\ud800-\udfff]")


def length(text: str) -> int:
    """Characters of *text* as browsers count them: an emoji is two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def fits_input(text: str) -> bool:
    """Return whether an input can show *text* and give it back whole: half a character would come back as another."""
    return length(text) <= MAX_TYPED and not HALF.search(text)


def fit_to_input(text: str) -> str:
    """Return as much of *text* as an input holds."""
    kept = text.encode("utf-16-le", "replace")[: 2 * MAX_TYPED]
    return kept.decode("utf-16-le", "ignore")


def action_id(block_id: str) -> str:
    return f"v1.form.{block_id}"


def label_text(text: str) -> Block:
    return {"type": "plain_text", "text": text, "emoji": True}


def _input(block_id: str, label: str, element: Block, *, optional: bool, hint: str | None = None) -> Block:
    block: Block = {
        "type": "input",
        "block_id": block_id,
        "label": label_text(label),
        "element": element,
        "optional": optional,
    }
    return block | {"hint": label_text(hint)} if hint else block


def text(
    block_id: str,
    label: str,
    value: str | None,
    *,
    optional: bool = False,
    multiline: bool = False,
    placeholder: str | None = None,
    hint: str | None = None,
    most: int = MAX_TYPED,
) -> Block:
    """Return a line, or several, of text of *most* characters. *value* must be short enough to be typed.

    A *value* of several lines gets several: an input of one line would join them.
    """
    about = {"multiline": multiline or len((value or "").splitlines()) > 1, "max_length": most}
    element: Block = {"type": "plain_text_input", "action_id": action_id(block_id), **about}
    if value:
        element["initial_value"] = value
    if placeholder:
        element["placeholder"] = label_text(placeholder)
    return _input(block_id, label, element, optional=optional, hint=hint)


START: Final = "start"


def start(value: str) -> Block:
    """Return an input for the time at which a change is to be made; empty for at once."""
    hint = "A time such as tomorrow 9:00 or Friday 18:00. Leave it empty to do it now."
    return text(START, "Start", value, optional=True, placeholder="tomorrow 9:00", hint=hint)


EXPIRY: Final = "expiry"


def expiry(value: str, label: str = "Until", *, optional: bool = True) -> Block:
    """Return an input for the time at which a change is to be reverted; empty for never."""
    hint = "A time such as Friday 18:00, or a duration such as 2h or 7d. It reverts automatically then."
    return text(EXPIRY, label, value, optional=optional, placeholder="Friday 18:00", hint=hint)


CHANNEL: Final = "channel"


def channel(opened_in: str) -> list[Block]:
    """Return an input for the channel that a change is announced in; nothing where the form was *opened_in* one."""
    if opened_in[:1] not in {"", "D"}:
        return []
    element: Block = {
        "type": "conversations_select",
        "action_id": action_id(CHANNEL),
        "default_to_current_conversation": True,
        "filter": {"include": ["public", "private"], "exclude_external_shared_channels": True},
    }
    hint = "A channel that Gatehouse is in. The change is announced there."
    return [_input(CHANNEL, "Announce in", element, optional=False, hint=hint)]


def chosen_channel(view: Mapping[str, Any]) -> str:
    """Return the channel that was chosen in a form, if it asked."""
    return str(_state(values_of(view), CHANNEL).get("selected_conversation") or "")


REASON: Final = "because"


def reason(value: str, *, most: int = MAX_TYPED, optional: bool = True) -> Block:
    """Return an input for the reason, of at most *most* characters, for the card and the audit."""
    hint = "Shown on the card and in the audit log."
    return text(REASON, "Why", fit_to_input(value), optional=optional, hint=hint, most=most)


def option(value: str, words: str = "") -> Block:
    """Return a choice that reads as *words*, or as its value, which is never cut: one that is too long must not get here."""
    shown = escape_invisible(words or value)
    shown = shown if len(shown) <= MAX_OPTION_LENGTH else f"{shown[: MAX_OPTION_LENGTH - 1]}…"
    return {"text": plain_text(shown, MAX_OPTION_LENGTH), "value": value}


def _choice(
    kind: str, block_id: str, label: str, options: Mapping[str, str], chosen: str | None, *, optional: bool = False
) -> Block:
    """Return an input for one of *options*, of which the *chosen* one is proposed: at most MAX_OPTIONS."""
    offered = {str(value): option(str(value), words) for value, words in options.items()}
    element: Block = {"type": kind, "action_id": action_id(block_id), "options": [*offered.values()]}
    if chosen in offered:
        element["initial_option"] = offered[chosen]
    return _input(block_id, label, element, optional=optional)


def menu(
    block_id: str,
    label: str,
    options: Mapping[str, str],
    chosen: str | None,
    *,
    optional: bool = False,
    dispatch: bool = False,
) -> Block:
    """Return a menu of one choice. *options*: what each value is called."""
    block = _choice("static_select", block_id, label, options, chosen, optional=optional)
    return block | {"dispatch_action": True} if dispatch else block


def search(block_id: str, label: str, action_id: str, *, several: bool, optional: bool) -> Block:
    """Return a menu that finds while one types, by the `offers` of *action_id*."""
    element = {
        "type": "multi_external_select" if several else "external_select",
        "action_id": action_id,
        "placeholder": label_text("Type to search"),
        "min_query_length": 0,
    }
    return _input(block_id, label, element, optional=optional)


def radios(block_id: str, label: str, options: Mapping[str, str], chosen: str | None = None) -> Block:
    """Return a choice of one, of which the first is chosen where no other is. *options*: what each value is called."""
    return _choice("radio_buttons", block_id, label, options, chosen if chosen in options else str(next(iter(options))))


def choice_names(options: Iterable[str], chosen: Sequence[str]) -> list[str]:
    """Return the names that a menu of several choices can hold: those chosen first, then the others, a hundred in all."""
    return [name for name in dict.fromkeys([*chosen, *options]) if 0 < len(name) <= MAX_OPTION_LENGTH][:MAX_OPTIONS]


def choices(block_id: str, label: str, options: Iterable[str], chosen: Sequence[str], *, hint: str) -> Block:
    """Return a menu of which several may be chosen; what is chosen is offered first, so that it is always among the hundred."""
    known = dict.fromkeys(choice_names(options, chosen))
    element: Block = {
        "type": "multi_static_select",
        "action_id": action_id(block_id),
        "options": [option(name) for name in known],
        "placeholder": label_text("Choose segments"),
    }
    if picked := [option(name) for name in dict.fromkeys(chosen) if name in known]:
        element["initial_options"] = picked
    return _input(block_id, label, element, optional=True, hint=hint)


FILE: Final = "file"


def file(types: Sequence[str]) -> Block:
    """Return an input for one file whose name ends in one of *types* (without the dot). What comes has to be checked all the
    same: Slack looks at nothing but the name.
    """
    element: Block = {
        "type": "file_input",
        "action_id": action_id(FILE),
        "filetypes": list(types),
        "max_files": 1,
    }
    return _input(FILE, "File", element, optional=False)


def values_of(view: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the values of a view's inputs, by block id."""
    return (view.get("state") or {}).get("values") or {}


def _state(values: Mapping[str, Any], block_id: str) -> Mapping[str, Any]:
    """Return the value of one input as Slack sends it; empty where the form has no such input."""
    return next(iter((values.get(block_id) or {}).values()), None) or {}


def find_untouched(view: Mapping[str, Any]) -> frozenset[str]:
    """Return the block ids of the texts and menus of a sent *view* that hold what they were drawn with."""
    values = values_of(view)
    elements = {block["block_id"]: block["element"] for block in view.get("blocks") or () if block["type"] == "input"}
    drawn = {
        block_id: element.get("initial_value") or (element.get("initial_option") or {}).get("value") or ""
        for block_id, element in elements.items()
    }
    return frozenset(block_id for block_id, text in drawn.items() if (typed_value(values, block_id) or "") == text)


def file_name(values: Mapping[str, Any]) -> str:
    """Return the name of the file that was chosen; empty where none was."""
    files = _state(values, FILE).get("files") or ()
    return next((str(one.get("name") or one.get("id") or "")[:200] for one in files), "")


def file_id(values: Mapping[str, Any]) -> str:
    """Return the id of the file that was chosen, for `Gatehouse.files.read`; empty where none was."""
    return next((str(one["id"]) for one in _state(values, FILE).get("files") or () if one.get("id")), "")


def typed_value(values: Mapping[str, Any], block_id: str) -> str | None:
    """Return the value of one input in a submission's state: its text or the chosen value; None where it is empty or absent."""
    state = _state(values, block_id)
    if "selected_option" in state:
        return (state["selected_option"] or {}).get("value")
    found = state.get("value")
    return found if isinstance(found, str) else None


def picked_values(values: Mapping[str, Any], block_id: str) -> tuple[str, ...]:
    """Return the values chosen of a multiple choice."""
    return tuple(one["value"] for one in _state(values, block_id).get("selected_options") or ())
