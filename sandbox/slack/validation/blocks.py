"""Every block that Gatehouse may send, where it may stand, and the messages and views that they stand in."""

from __future__ import annotations

from typing import Final

from sandbox.slack.validation.kinds import (
    EVERYWHERE,
    Block,
    Bool,
    Elem,
    Enum,
    Int,
    Kind,
    Many,
    Rule,
    Shape,
    Str,
    Text,
    plain,
)
from sandbox.slack.validation.rules import (
    any_of,
    check_focus,
    check_ids,
    check_submit,
    check_view_size,
)
from sandbox.slack.validation.shapes import BESIDE_TEXT, IN_INPUT


def _block(
    must: dict[str, Kind],
    may: dict[str, Kind] | None = None,
    surfaces: tuple[str, ...] = EVERYWHERE,
    rules: tuple[Rule, ...] = (),
) -> Shape:
    return Shape(must, (may or {}) | {"block_id": Str("block_id")}, surfaces, rules)


BLOCKS: Final[dict[str, Shape]] = {
    "section": _block(
        {},
        {
            "text": Text("section.text"),
            "fields": Many(Text("section.field"), "section.fields"),
            "accessory": Elem(BESIDE_TEXT),
            "expand": Bool(),
        },
        rules=(any_of("text", "fields"),),
    ),
    "divider": _block({}),
    "header": _block({"text": plain("header.text")}, {"level": Int("header.level")}),
    "context": _block({"elements": Many(Elem(("mrkdwn", "plain_text")), "context.elements")}),
    "actions": _block({"elements": Many(Elem(BESIDE_TEXT), "actions.elements")}),
    "input": _block(
        {"label": plain("input.label"), "element": Elem(IN_INPUT)},
        {"hint": plain("input.hint"), "optional": Bool(), "dispatch_action": Bool()},
    ),
    "alert": _block(
        {"text": Text("alert.text")},
        {"level": Enum(("default", "info", "warning", "error", "success"))},
        ("modal",),
    ),
}

VIEW: Final[dict[str, Kind]] = {
    "private_metadata": Str("view.private_metadata"),
    "callback_id": Str("view.callback_id"),
    "external_id": Str("view.external_id"),
}
SURFACES: Final[dict[str, Shape]] = {
    "message": Shape(
        {},
        {"blocks": Many(Block(), "message.blocks")},
        rules=(
            check_ids,
            check_focus,
        ),
    ),
    "modal": Shape(
        {"title": plain("view.title"), "blocks": Many(Block(), "modal.blocks")},
        {
            "submit": plain("view.submit"),
            "close": plain("view.close"),
            "clear_on_close": Bool(),
            "notify_on_close": Bool(),
            **VIEW,
        },
        rules=(check_ids, check_focus, check_submit, check_view_size),
    ),
    "home": Shape({"blocks": Many(Block(), "home.blocks")}, VIEW, rules=(check_ids, check_focus, check_view_size)),
}
