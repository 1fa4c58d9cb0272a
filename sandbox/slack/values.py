"""What people choose and type: Slack's ``state.values``, the action of a click, and what Slack's client checks itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from sandbox.slack.elements import elements_of
from sandbox.slack.records import Block, Refused, Values

Element = Mapping[str, Any]

HELD: Final = {
    "plain_text_input": ("value", "initial_value"),
    "email_text_input": ("value", "initial_value"),
    "url_text_input": ("value", "initial_value"),
    "number_input": ("value", "initial_value"),
    "rich_text_input": ("rich_text_value", "initial_value"),
    "static_select": ("selected_option", "initial_option"),
    "external_select": ("selected_option", "initial_option"),
    "radio_buttons": ("selected_option", "initial_option"),
    "users_select": ("selected_user", "initial_user"),
    "conversations_select": ("selected_conversation", "initial_conversation"),
    "channels_select": ("selected_channel", "initial_channel"),
    "datepicker": ("selected_date", "initial_date"),
    "timepicker": ("selected_time", "initial_time"),
    "datetimepicker": ("selected_date_time", "initial_date_time"),
    "checkboxes": ("selected_options", "initial_options"),
    "multi_static_select": ("selected_options", "initial_options"),
    "multi_external_select": ("selected_options", "initial_options"),
    "multi_users_select": ("selected_users", "initial_users"),
    "multi_conversations_select": ("selected_conversations", "initial_conversations"),
    "multi_channels_select": ("selected_channels", "initial_channels"),
    "file_input": ("files", "initial_files"),
}
"""What an element holds, and what it holds at first. Elements that are not here hold nothing."""

MANY: Final = frozenset(name for name, (held, _) in HELD.items() if held.endswith("s"))
ECHOED: Final = ("text", "value", "style", "confirm", "placeholder", "url")


def first_held(element: Element) -> dict[str, Any]:
    """What *element* holds before anybody touched it."""
    kind = element["type"]
    held, initial = HELD[kind]
    return {"type": kind, held: element.get(initial) or ([] if kind in MANY else None)} | _zone(element)


def _zone(element: Element) -> dict[str, Any]:
    return {"timezone": element["timezone"]} if element["type"] == "timepicker" and "timezone" in element else {}


def values_of(blocks: Iterable[Block], given: Mapping[str, Any]) -> Values:
    """The state of *blocks* after what was *given*: of every element that can hold something, and of no other.

    Refused where an option is given that the element does not offer.
    """
    values: Values = {}
    for block, element in elements_of(blocks):
        if element["type"] in HELD:
            given_here = (given.get(block["block_id"]) or {}).get(element["action_id"])
            values.setdefault(block["block_id"], {})[element["action_id"]] = held_by(element, given_here)
    return values


def held_by(element: Element, given: Any) -> dict[str, Any]:
    """What *element* holds after what was *given*; what it held at first, where that is nothing."""
    if not isinstance(given, Mapping):
        return first_held(element)
    kind = element["type"]
    name = HELD[kind][0]
    return {"type": kind, name: _offered(element, given.get(name)) or ([] if kind in MANY else None)} | _zone(element)


def _offered(element: Element, value: Any) -> Any:
    """*value*, its options as the element itself has them."""
    if not ({"options", "option_groups"} & set(element)) or not value:
        return value
    options = {one.get("value"): one for one in options_of(element)}
    wanted = value if isinstance(value, list) else [value]
    if any(not isinstance(one, Mapping) or one.get("value") not in options for one in wanted):
        raise Refused("no_such_option")
    found = [options[one["value"]] for one in wanted]
    return found if isinstance(value, list) else found[0]


def options_of(element: Element) -> list[dict[str, Any]]:
    """What *element* offers, groups laid flat."""
    groups = element.get("option_groups") or ()
    return [*(element.get("options") or ()), *(one for group in groups for one in group["options"])]


def action(element: Element, block_id: str, given: Mapping[str, Any], ts: str) -> dict[str, Any]:
    """The entry of ``actions`` for using *element*: what it echoes, and what was chosen."""
    kind = element["type"]
    done: dict[str, Any] = {"type": kind, "action_id": element["action_id"], "block_id": block_id, "action_ts": ts}
    done |= {name: element[name] for name in ECHOED if name in element}
    if kind == "overflow":
        done["selected_option"] = _offered(element, given.get("selected_option"))
    elif kind in HELD:
        done |= held_by(element, given)
    return done


REQUIRED: Final = "Please complete this required field."


def problems(blocks: Iterable[Block], values: Values) -> dict[str, str]:
    """What Slack's client refuses before the app hears of it: a text for each block_id."""
    found: dict[str, str] = {}
    for block, element in elements_of(blocks):
        if block["type"] != "input" or element["type"] not in HELD:
            continue
        value = values[block["block_id"]][element["action_id"]].get(HELD[element["type"]][0])
        wrong = _problem(element, value, optional=bool(block.get("optional")))
        if wrong:
            found[block["block_id"]] = wrong
    return found


def _problem(element: Element, value: Any, *, optional: bool) -> str | None:
    if not value:
        return None if optional else REQUIRED
    check = CHECKS.get(element["type"])
    return check(element, value) if check else None


def _length(element: Element, value: str) -> str | None:
    if len(value) < element.get("min_length", 0):
        return f"Please enter at least {element['min_length']} characters (now {len(value)})."
    most = element.get("max_length", 3000)
    return f"Please enter at most {most} characters (now {len(value)})." if len(value) > most else None


def _email(_: Element, value: str) -> str | None:
    good = re.fullmatch(r"[^\s@]+@[^\s@]+\.[^\s@]+", value)
    return None if good else "Enter a valid email address, such as name@example.com."


def _link(_: Element, value: str) -> str | None:
    return None if re.match(r"[a-z][a-z0-9+.-]*:\S", value, re.IGNORECASE) else "Enter a valid link."


def _number(element: Element, value: str) -> str | None:
    try:
        number = float(value)
    except ValueError:
        return "Enter a number."
    if not element.get("is_decimal_allowed") and not number.is_integer():
        return "Enter a whole number."
    if number < float(element.get("min_value", number)):
        return f"Enter {element['min_value']} or more."
    return f"Enter {element['max_value']} or less." if number > float(element.get("max_value", number)) else None


CHECKS: Final[dict[str, Callable[[Element, str], str | None]]] = {
    "plain_text_input": _length,
    "email_text_input": _email,
    "url_text_input": _link,
    "number_input": _number,
}
