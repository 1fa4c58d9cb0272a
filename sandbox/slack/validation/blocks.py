"""Every block that an app may send, where it may stand, and the messages and views that they stand in."""

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
    Obj,
    Rule,
    Shape,
    Str,
    Text,
    plain,
)
from sandbox.slack.validation.rules import (
    any_of,
    at_most_of,
    check_focus,
    check_ids,
    check_markdown,
    check_submit,
    check_view_size,
    not_both,
    one_of,
    only_with,
)
from sandbox.slack.validation.shapes import ELEMENTS, IN_ACTIONS, IN_INPUT, IN_SECTION, RICH_TEXT, URL

MESSAGE: Final = ("message",)
NOWHERE: Final[tuple[str, ...]] = ()
IMAGE: Final = Elem(("image",))
IN_CONTAINER: Final = (
    "actions",
    "context",
    "divider",
    "header",
    "image",
    "input",
    "rich_text",
    "section",
    "video",
)


def _block(
    must: dict[str, Kind],
    may: dict[str, Kind] | None = None,
    surfaces: tuple[str, ...] = EVERYWHERE,
    rules: tuple[Rule, ...] = (),
) -> Shape:
    return Shape(must, (may or {}) | {"block_id": Str("block_id")}, surfaces, rules)


# Where people saw another surface refuse what the documentation allows (card in modals), it is refused.
BLOCKS: Final[dict[str, Shape]] = {
    "section": _block(
        {},
        {
            "text": Text("section.text"),
            "fields": Many(Text("section.field"), "section.fields"),
            "accessory": Elem(IN_SECTION),
            "expand": Bool(),
        },
        rules=(any_of("text", "fields"),),
    ),
    "divider": _block({}),
    "header": _block({"text": plain("header.text")}, {"level": Int("header.level")}),
    "context": _block({"elements": Many(Elem(("mrkdwn", "plain_text", "image")), "context.elements")}),
    "actions": _block({"elements": Many(Elem(IN_ACTIONS), "actions.elements")}),
    "image": _block(
        {"alt_text": Str("image.alt_text")},
        {"image_url": Str("image.image_url"), "slack_file": Obj("slack_file"), "title": plain("image.title")},
        rules=(one_of("image_url", "slack_file"),),
    ),
    "input": _block(
        {"label": plain("input.label"), "element": Elem(IN_INPUT)},
        {"hint": plain("input.hint"), "optional": Bool(), "dispatch_action": Bool()},
    ),
    "rich_text": ELEMENTS["rich_text"],
    "video": _block(
        {
            "alt_text": Str("image.alt_text"),
            "title": plain("video.title"),
            "thumbnail_url": URL,
            "video_url": URL,
        },
        {
            "author_name": Str("video.author_name"),
            "description": plain("video.description"),
            "provider_icon_url": URL,
            "provider_name": Str("video.provider_name"),
            "title_url": URL,
        },
    ),
    "alert": _block(
        {"text": Text("alert.text")},
        {"level": Enum(("default", "info", "warning", "error", "success"))},
        ("modal",),
    ),
    "card": _block(
        {},
        {
            "hero_image": IMAGE,
            "icon": IMAGE,
            "slack_icon": Elem(("icon",)),
            "title": Text("card.title"),
            "subtitle": Text("card.subtitle"),
            "body": Text("card.body"),
            "subtext": Text("card.subtext"),
            "actions": Many(Elem(("button",)), "card.actions"),
        },
        ("message", "home"),
        (any_of("hero_image", "title", "actions", "body"), not_both("icon", "slack_icon")),
    ),
    "carousel": _block({"elements": Many(Block(("card",)), "carousel.elements")}, surfaces=("message", "home")),
    "container": _block(
        {"child_blocks": Many(Block(IN_CONTAINER), "container.child_blocks")},
        {
            "title": plain("container.title"),
            "rich_text_title": RICH_TEXT,
            "subtitle": Text("container.subtitle"),
            "width": Enum(("narrow", "standard", "wide", "full")),
            "icon": IMAGE,
            "is_collapsible": Bool(),
            "default_collapsed": Bool(),
            "has_header_divider": Bool(),
        },
        MESSAGE,
        (
            any_of("title", "rich_text_title"),
            only_with("default_collapsed", "is_collapsible", true=True),
            only_with("has_header_divider", "is_collapsible", true=False),
        ),
    ),
    "context_actions": _block(
        {"elements": Many(Elem(("feedback_buttons", "icon_button")), "context_actions.elements")}, surfaces=MESSAGE
    ),
    "markdown": _block({"text": Str("markdown.text")}, surfaces=MESSAGE),
    "plan": _block({"title": Str()}, {"tasks": Many(Block(("task_card",), is_typed=False), "plan.tasks")}, MESSAGE),
    "task_card": _block(
        {
            "task_id": Str("id"),
            "title": Str(),
            "status": Enum(("pending", "in_progress", "complete", "error")),
        },
        {"details": RICH_TEXT, "output": RICH_TEXT, "sources": Many(Elem(("url",)), "task_card.sources")},
        MESSAGE,
    ),
    "data_visualization": _block(
        {"title": Str("data_visualization.title"), "chart": Elem(("pie", "bar", "area", "line"))}, surfaces=MESSAGE
    ),
    # Apps read these in messages of others, and cannot send them.
    "file": _block({"external_id": Str(), "source": Enum(("remote",))}, surfaces=NOWHERE),
    "call": _block({"call_id": Str()}, surfaces=NOWHERE),
}

VIEW: Final[dict[str, Kind]] = {
    "private_metadata": Str("view.private_metadata"),
    "callback_id": Str("view.callback_id"),
    "external_id": Str("view.external_id"),
}
SURFACES: Final[dict[str, Shape]] = {
    "message": Shape(
        {},
        {
            "blocks": Many(Block(), "message.blocks"),
            "attachments": Many(Obj("attachment"), "message.attachments"),
        },
        rules=(
            check_ids,
            check_focus,
            check_markdown,
            at_most_of("message.charts", ("data_visualization",)),
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
