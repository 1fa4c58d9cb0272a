"""Reads a payload against the tables of shapes, then checks the few rules that span several properties."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sandbox.slack.validation.kinds import Bool, Elem, Enum, Int, Kind, Many, Obj, Shape, Str, Text
from sandbox.slack.validation.shapes import BLOCKS, ELEMENTS, OBJECTS, VIEWS

MOST_IN_BLOCKS: Final = 13_200
"""Characters of all blocks of a message together; more is ``msg_blocks_too_long``."""
MOST_IN_VIEW: Final = 250_000
MOST_BLOCKS: Final = {"message": 50, "modal": 100, "home": 100}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that Slack would refuse: where, as a JSON pointer, and its words."""

    pointer: str
    text: str


def as_messages(problems: Sequence[Problem]) -> list[str]:
    """The lines of ``response_metadata.messages``."""
    return [f"[ERROR] {one.text} [json-pointer:{one.pointer}]" for one in problems]


def as_errors(problems: Sequence[Problem]) -> list[str]:
    """The lines of ``errors`` in answers of chat methods."""
    return [f"{one.text} [json-pointer:{one.pointer}]" for one in problems]


def check_message(payload: Mapping[str, Any]) -> list[Problem]:
    """What is wrong with the blocks and attachments of a message."""
    problems: list[Problem] = []
    if (blocks := payload.get("blocks")) is not None:
        problems += _blocks(blocks, "message", "/blocks")
    attachments = payload.get("attachments")
    if isinstance(attachments, list) and len(attachments) > 100:
        problems.append(Problem("/attachments", "no more than 100 items allowed"))
    return problems


def blocks_too_long(blocks: Any) -> bool:
    """Whether Slack would answer msg_blocks_too_long."""
    return len(json.dumps(blocks, ensure_ascii=False)) > MOST_IN_BLOCKS


def check_view(view: Any, *, prefix: str = "/view") -> list[Problem]:
    """What is wrong with a modal or a home tab."""
    if not isinstance(view, Mapping):
        return [Problem(prefix, "must be an object")]
    shape = VIEWS.get(str(view.get("type")))
    if shape is None:
        return [Problem(f"{prefix}/type", f"unsupported type: {view.get('type')}")]
    problems = list(_shaped(view, shape, prefix, own=("type",)))
    surface = str(view["type"])
    blocks = view.get("blocks")
    problems += _blocks(blocks, surface, f"{prefix}/blocks") if isinstance(blocks, list) else []
    if surface == "modal" and "submit" not in view and isinstance(blocks, list):
        problems += [
            Problem(f"{prefix}/blocks/{number}/input", "must define `submit` to use an `input` block in modals")
            for number, block in enumerate(blocks)
            if isinstance(block, Mapping) and block.get("type") == "input"
        ]
    if len(json.dumps(view, ensure_ascii=False)) > MOST_IN_VIEW:
        problems.append(Problem(prefix, "view_too_large"))
    return problems


def check_options(answer: Any) -> list[Problem]:
    """What is wrong with the reply to a block_suggestion."""
    if not isinstance(answer, Mapping) or not ({"options", "option_groups"} & set(answer)):
        return [Problem("", "missing required field: options")]
    name = "options" if "options" in answer else "option_groups"
    item = Obj("option" if name == "options" else "option_group")
    return list(_value(answer[name], Many(item, 100, 0), f"/{name}"))


def check_response_action(answer: Mapping[str, Any], view: Mapping[str, Any]) -> list[Problem]:
    """What is wrong with the answer to a view_submission of *view*."""
    action = answer.get("response_action")
    if action == "clear":
        return []
    if action in {"update", "push"}:
        return check_view(answer.get("view"))
    if action != "errors":
        return [Problem("/response_action", f"unsupported type: {action}")]
    errors = answer.get("errors")
    inputs = {block.get("block_id") for block in view.get("blocks", ()) if block.get("type") == "input"}
    if not isinstance(errors, Mapping) or not errors:
        return [Problem("/errors", "must provide at least 1 items")]
    return [
        Problem(f"/errors/{name}", "is not the block_id of an input block of this view")
        for name, words in errors.items()
        if name not in inputs or not isinstance(words, str) or not words
    ]


def _blocks(blocks: Any, surface: str, pointer: str) -> list[Problem]:
    if not isinstance(blocks, list):
        return [Problem(pointer, "must be an array")]
    problems: list[Problem] = []
    if len(blocks) > MOST_BLOCKS[surface]:
        problems.append(Problem(pointer, f"no more than {MOST_BLOCKS[surface]} items allowed"))
    for number, block in enumerate(blocks):
        problems += _block(block, surface, f"{pointer}/{number}")
    return problems + list(_unique(blocks, pointer)) + list(_one_only(blocks, pointer))


def _block(block: Any, surface: str, pointer: str) -> Iterator[Problem]:
    if not isinstance(block, Mapping):
        yield Problem(pointer, "must be an object")
        return
    shape = BLOCKS.get(str(block.get("type")))
    if shape is None or surface not in shape.surfaces:
        yield Problem(f"{pointer}/type", f"unsupported type: {block.get('type')}")
        return
    yield from _shaped(block, shape, pointer, own=("type", "block_id"))
    if "block_id" in block:
        yield from _value(block["block_id"], Str(255), f"{pointer}/block_id")
    if block["type"] == "section" and not ({"text", "fields"} & set(block)):
        yield Problem(pointer, "missing required field: text")
    if block["type"] == "image" and not ({"image_url", "slack_file"} & set(block)):
        yield Problem(pointer, "missing required field: image_url")
    if surface != "modal" and block["type"] == "input" and _type(block.get("element")) == "file_input":
        yield Problem(f"{pointer}/element/type", "unsupported type: file_input")


def _type(value: Any) -> str:
    return str(value.get("type")) if isinstance(value, Mapping) else ""


def _shaped(value: Mapping[str, Any], shape: Shape, pointer: str, *, own: tuple[str, ...] = ()) -> Iterator[Problem]:
    for name in shape.must:
        if name not in value:
            yield Problem(pointer, f"missing required field: {name}")
    for name, found in value.items():
        kind = shape.must.get(name) or shape.may.get(name)
        if kind is not None:
            yield from _value(found, kind, f"{pointer}/{name}")
        elif name not in own:
            yield Problem(pointer, f"invalid additional property: {name}")


def _value(value: Any, kind: Kind, pointer: str) -> Iterator[Problem]:
    if (wrong := _plain_value(value, kind)) is not None:
        yield Problem(pointer, wrong)
    yield from _inside(value, kind, pointer)


def _plain_value(value: Any, kind: Kind) -> str | None:
    """What is wrong with a value that has no parts."""
    if isinstance(kind, Bool) and not isinstance(value, bool):
        return "must be a boolean"
    if isinstance(kind, Enum) and value not in kind.values:
        return f"must be one of: {', '.join(kind.values)}"
    if isinstance(kind, Obj) and not isinstance(value, Mapping):
        return "must be an object"
    return None


def _inside(value: Any, kind: Kind, pointer: str) -> Iterator[Problem]:
    match kind:
        case Str():
            yield from _string(value, kind.low, kind.high, pointer)
        case Text():
            yield from _text(value, kind, pointer)
        case Int():
            yield from _number(value, kind, pointer)
        case Obj() if isinstance(value, Mapping):
            yield from _shaped(value, OBJECTS[kind.name], pointer)
        case Elem():
            yield from _element(value, kind, pointer)
        case Many():
            yield from _list(value, kind, pointer)


def _string(value: Any, low: int, high: int | None, pointer: str) -> Iterator[Problem]:
    if not isinstance(value, str):
        yield Problem(pointer, "must be a string")
    elif len(value) < low:
        yield Problem(pointer, f"must be more than {low - 1} characters")
    elif high is not None and len(value) > high:
        yield Problem(pointer, f"must be less than {high + 1} characters")


def _text(value: Any, kind: Text, pointer: str) -> Iterator[Problem]:
    if not isinstance(value, Mapping):
        yield Problem(pointer, "must be an object")
        return
    allowed = ("plain_text",) if kind.plain else ("plain_text", "mrkdwn")
    if value.get("type") not in allowed:
        yield Problem(f"{pointer}/type", f"unsupported type: {value.get('type')}")
        return
    extra = {"plain_text": "emoji", "mrkdwn": "verbatim"}[value["type"]]
    yield from _shaped(value, Shape({"text": Str(kind.high)}, {extra: Bool()}), pointer, own=("type",))


def _number(value: Any, kind: Int, pointer: str) -> Iterator[Problem]:
    if not isinstance(value, int) or isinstance(value, bool):
        yield Problem(pointer, "must be an integer")
    elif value < kind.low or (kind.high is not None and value > kind.high):
        yield Problem(pointer, f"must be between {kind.low} and {kind.high}")


def _list(value: Any, kind: Many, pointer: str) -> Iterator[Problem]:
    if not isinstance(value, list):
        yield Problem(pointer, "must be an array")
        return
    if len(value) < kind.low:
        yield Problem(pointer, f"must provide at least {kind.low} items")
    if kind.high is not None and len(value) > kind.high:
        yield Problem(pointer, f"no more than {kind.high} items allowed")
    for number, item in enumerate(value):
        yield from _value(item, kind.item, f"{pointer}/{number}")


def _element(value: Any, kind: Elem, pointer: str) -> Iterator[Problem]:
    if not isinstance(value, Mapping):
        yield Problem(pointer, "must be an object")
        return
    name = str(value.get("type"))
    if name not in kind.types:
        yield Problem(f"{pointer}/type", f"unsupported type: {name}")
        return
    yield from _shaped(value, ELEMENTS[name], pointer, own=("type",))
    if name.endswith("static_select") and ("options" in value) == ("option_groups" in value):
        yield Problem(pointer, "must provide either options or option_groups")
    if name == "image" and not ({"image_url", "slack_file"} & set(value)):
        yield Problem(pointer, "missing required field: image_url")
    yield from _initial(value, pointer)


def _initial(element: Mapping[str, Any], pointer: str) -> Iterator[Problem]:
    """What is chosen at first must be among the options, to the letter."""
    groups = element.get("option_groups") or ()
    options = [*(element.get("options") or ()), *(one for group in groups for one in group.get("options") or ())]
    if element.get("type", "").endswith("external_select"):
        return
    single = [element["initial_option"]] if "initial_option" in element else []
    for chosen in (*single, *(element.get("initial_options") or ())):
        if chosen not in options:
            name = "initial_option" if single else "initial_options"
            yield Problem(f"{pointer}/{name}", f"{name} must exactly match one of the options")


def _elements(block: Any) -> list[Any]:
    if not isinstance(block, Mapping):
        return []
    several = block.get("elements")
    return [block.get("accessory"), block.get("element"), *(several if isinstance(several, list) else [])]


def _unique(blocks: list[Any], pointer: str) -> Iterator[Problem]:
    """block_id and action_id are unique in a message or view."""
    seen: dict[str, set[str]] = {"block_id": set(), "action_id": set()}
    for number, block in enumerate(blocks):
        for name, holder in [("block_id", block), *(("action_id", element) for element in _elements(block))]:
            value = holder.get(name) if isinstance(holder, Mapping) else None
            if not isinstance(value, str):
                continue
            if value in seen[name]:
                yield Problem(f"{pointer}/{number}", f"`{name}` {value} already exists")
            seen[name].add(value)


def _one_only(blocks: list[Any], pointer: str) -> Iterator[Problem]:
    focused = sum(
        1 for block in blocks for one in _elements(block) if isinstance(one, Mapping) and one.get("focus_on_load")
    )
    if focused > 1:
        yield Problem(pointer, "only one element may have focus_on_load")
    if sum(_type(block) in {"table", "data_table"} for block in blocks) > 1:
        yield Problem(pointer, "only_one_table_allowed")
    texts = [block.get("text") for block in blocks if _type(block) == "markdown"]
    if sum(len(text) for text in texts if isinstance(text, str)) > 12_000:
        yield Problem(pointer, "must be less than 12001 characters")
