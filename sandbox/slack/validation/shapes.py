"""Every composition object and element that an app may send: its properties, its rules, its surfaces."""

from __future__ import annotations

from typing import Final

from sandbox.slack.validation.kinds import (
    EVERYWHERE,
    Block,
    Bool,
    Elem,
    Enum,
    Form,
    Int,
    Kind,
    Many,
    Number,
    Obj,
    Rule,
    Shape,
    Str,
    Text,
    plain,
)
from sandbox.slack.validation.rules import any_of, check_initial_options, check_series, in_order, one_of

ID: Final = Str("id")
ACTION: Final[dict[str, Kind]] = {"action_id": Str("action_id")}
URL: Final = Str("url")
STYLE: Final = Enum(("primary", "danger"))
RICH_TEXT: Final = Elem(("rich_text",))

BUTTONS: Final = ("button", "workflow_button")
ONE_SELECTS: Final = tuple(f"{kind}_select" for kind in ("static", "external", "users", "conversations", "channels"))
SELECTS: Final = (*ONE_SELECTS, *(f"multi_{name}" for name in ONE_SELECTS))
PICKERS: Final = ("datepicker", "timepicker")
BOXES: Final = ("checkboxes", "radio_buttons")
IN_ACTIONS: Final = (*BUTTONS, *SELECTS, *PICKERS, "datetimepicker", "overflow", *BOXES)
IN_SECTION: Final = (*BUTTONS, *SELECTS, *PICKERS, "overflow", *BOXES, "image")
IN_INPUT: Final = (
    *SELECTS,
    *PICKERS,
    "datetimepicker",
    *BOXES,
    "plain_text_input",
    "email_text_input",
    "url_text_input",
    "number_input",
    "rich_text_input",
    "file_input",
)

SLACK_ICONS: Final = tuple(
    "archive book bookmark bot bug calendar call caret-left caret-right check clipboard code comment compass copy cube "  # noqa: SIM905  fifty lines otherwise
    "download edit email eye-closed eye-open file flag folder gear globe heart help image info key lightbulb link map "
    "mobile new-window pin plus refine refresh rocket save screen share sparkle star star-filled tag thumbs-down "
    "thumbs-up trash upload user warning".split()
)

OBJECTS: Final[dict[str, Shape]] = {
    "option": Shape(
        {"text": plain("option.text"), "value": Str("option.value")}, {"description": plain("option.description")}
    ),
    # Only checkboxes and radio buttons show markup, and only an overflow menu opens addresses.
    "boxed_option": Shape(
        {"text": Text("option.text"), "value": Str("option.value")}, {"description": Text("option.description")}
    ),
    "overflow_option": Shape(
        {"text": plain("option.text"), "value": Str("option.value")},
        {"description": plain("option.description"), "url": Str("option.url")},
    ),
    "option_group": Shape(
        {"label": plain("option_group.label"), "options": Many(Obj("option"), "option_group.options")}, {}
    ),
    "confirm": Shape(
        {
            "title": plain("confirm.title"),
            "text": Text("confirm.text"),
            "confirm": plain("confirm.confirm"),
            "deny": plain("confirm.deny"),
        },
        {"style": STYLE},
    ),
    "dispatch_action_config": Shape(
        {
            "trigger_actions_on": Many(
                Enum(("on_enter_pressed", "on_character_entered")), "dispatch_action_config.trigger_actions_on"
            )
        },
        {},
    ),
    "conversation_filter": Shape(
        {},
        {
            "include": Many(Enum(("im", "mpim", "private", "public")), "conversation_filter.include"),
            "exclude_external_shared_channels": Bool(),
            "exclude_bot_users": Bool(),
        },
        rules=(any_of("include", "exclude_external_shared_channels", "exclude_bot_users"),),
    ),
    "slack_file": Shape({}, {"id": ID, "url": URL}, rules=(one_of("id", "url"),)),
    "workflow": Shape({"trigger": Obj("trigger")}, {}),
    "trigger": Shape({"url": URL}, {"customizable_input_parameters": Many(Obj("workflow_input"), "workflow.inputs")}),
    "workflow_input": Shape({"name": Str(), "value": Str()}, {}),
    "feedback_button": Shape(
        {"text": plain("button.text"), "value": Str("button.value")},
        {"accessibility_label": Str("button.accessibility_label")},
    ),
    "style": Shape({}, {name: Bool() for name in ("bold", "italic", "strike", "code", "underline")}),
    "mention_style": Shape(
        {}, {name: Bool() for name in ("bold", "italic", "strike", "highlight", "client_highlight", "unlink")}
    ),
    "segment": Shape({"label": Str("chart.label"), "value": Number(above=0)}, {}),
    "series": Shape({"name": Str("chart.label"), "data": Many(Obj("point"), "chart.data")}, {}),
    "point": Shape({"label": Str("chart.label"), "value": Number()}, {}),
    # Old attachments have properties that nobody checks; blocks in them are blocks.
    "attachment": Shape({}, {"blocks": Many(Block(), "message.blocks")}, is_open=True),
    "axis_config": Shape(
        {"categories": Many(Str("chart.label"), "chart.data")},
        {"x_label": Str("chart.axis_label"), "y_label": Str("chart.axis_label")},
    ),
}

CONFIRM: Final[dict[str, Kind]] = {"confirm": Obj("confirm")}
FOCUS: Final[dict[str, Kind]] = {"focus_on_load": Bool()}
PLACEHOLDER: Final[dict[str, Kind]] = {"placeholder": plain("placeholder")}
SELECT: Final = CONFIRM | FOCUS | PLACEHOLDER
TYPED: Final = FOCUS | PLACEHOLDER | {"dispatch_action_config": Obj("dispatch_action_config")}
OPTION: Final = Obj("option")
OPTIONS: Final[dict[str, Kind]] = {
    "options": Many(OPTION, "select.options"),
    "option_groups": Many(Obj("option_group"), "select.option_groups"),
}
CHOSEN: Final = Many(OPTION, "select.options")
SEVERAL: Final[dict[str, Kind]] = {"max_selected_items": Int("select.max_selected_items")}
QUERY: Final[dict[str, Kind]] = {"min_query_length": Int("select.min_query_length")}
RESPONSE_URL: Final[dict[str, Kind]] = {"response_url_enabled": Bool()}
CONVERSATIONS: Final[dict[str, Kind]] = {
    "default_to_current_conversation": Bool(),
    "filter": Obj("conversation_filter"),
}
LABEL: Final[dict[str, Kind]] = {"accessibility_label": Str("button.accessibility_label")}
SHOWN_TO: Final[dict[str, Kind]] = {"visible_to_user_ids": Many(ID, "button.visible_to")}
NUMERAL: Final = Form("a number", r"-?\d+(\.\d+)?")


STYLED: Final[dict[str, Kind]] = {"style": Obj("style")}
MENTION: Final[dict[str, Kind]] = {"style": Obj("mention_style")}
IN_LINE: Final[dict[str, Shape]] = {
    "text": Shape({"text": Str()}, STYLED),
    "link": Shape({"url": URL}, {"text": Str(), "unsafe": Bool(), **STYLED}),
    "emoji": Shape({"name": Str()}, {"unicode": Str(), "url": URL, **STYLED}),
    "user": Shape({"user_id": ID}, MENTION),
    "usergroup": Shape({"usergroup_id": ID}, MENTION),
    "channel": Shape({"channel_id": ID}, MENTION),
    "team": Shape({"team_id": ID}, STYLED),
    "broadcast": Shape({"range": Enum(("here", "channel", "everyone"))}, STYLED),
    "color": Shape({"value": Form("#rrggbb", r"#[0-9A-Fa-f]{6}")}, STYLED),
    "date": Shape(
        {"timestamp": Int("rich_text.timestamp"), "format": Str()}, {"url": URL, "fallback": Str(), **STYLED}
    ),
}
BORDER: Final[dict[str, Kind]] = {"border": Int("rich_text.border")}
RICH_TEXT_WORDS: Final = Many(Elem(tuple(IN_LINE)), "rich_text.elements")
IN_RICH_TEXT: Final[dict[str, Shape]] = {
    "rich_text_section": Shape({"elements": RICH_TEXT_WORDS}, {}),
    "rich_text_list": Shape(
        {
            "elements": Many(Elem(("rich_text_section",)), "rich_text.elements"),
            "style": Enum(("bullet", "ordered")),
        },
        {"indent": Int("rich_text.indent"), "offset": Int("rich_text.offset"), **BORDER},
    ),
    "rich_text_preformatted": Shape({"elements": Many(Elem(("text", "link")), "rich_text.elements")}, BORDER),
    "rich_text_quote": Shape({"elements": RICH_TEXT_WORDS}, BORDER),
}


def _chart() -> Shape:
    return Shape(
        {"series": Many(Obj("series"), "chart.series"), "axis_config": Obj("axis_config")}, {}, rules=(check_series,)
    )


def _action_element(
    must: dict[str, Kind], may: dict[str, Kind], surfaces: tuple[str, ...] = EVERYWHERE, rules: tuple[Rule, ...] = ()
) -> Shape:
    """Return the shape of an interactive element; Slack makes up its action_id where the app gives none."""
    return Shape(must, {**may, **ACTION}, surfaces, rules)


ELEMENTS: Final[dict[str, Shape]] = {
    "button": _action_element(
        {"text": plain("button.text")},
        {
            "url": Str("button.url"),
            "value": Str("button.value"),
            "style": STYLE,
            "agent_prompt": Str("button.agent_prompt"),
            "agent_prompt_display": Str(),
            **CONFIRM,
            **LABEL,
            **SHOWN_TO,
        },
    ),
    "workflow_button": _action_element(
        {"text": plain("button.text"), "workflow": Obj("workflow")}, {"style": STYLE, **LABEL}
    ),
    "feedback_buttons": _action_element(
        {"positive_button": Obj("feedback_button"), "negative_button": Obj("feedback_button")}, {}
    ),
    "icon_button": _action_element(
        {"icon": Enum(("trash",)), "text": plain("button.text")},
        {"value": Str("button.value"), **CONFIRM, **LABEL, **SHOWN_TO},
    ),
    "overflow": _action_element({"options": Many(Obj("overflow_option"), "overflow.options")}, CONFIRM),
    "image": Shape(
        {"alt_text": Str("image.alt_text")},
        {"image_url": Str("image.image_url"), "slack_file": Obj("slack_file")},
        rules=(one_of("image_url", "slack_file"),),
    ),
    "checkboxes": _action_element(
        {"options": Many(Obj("boxed_option"), "checkboxes.options")},
        {"initial_options": Many(Obj("boxed_option"), "checkboxes.options"), **CONFIRM, **FOCUS},
        rules=(check_initial_options,),
    ),
    "radio_buttons": _action_element(
        {"options": Many(Obj("boxed_option"), "radio_buttons.options")},
        {"initial_option": Obj("boxed_option"), **CONFIRM, **FOCUS},
        rules=(check_initial_options,),
    ),
    "datepicker": _action_element(
        {}, {"initial_date": Form("YYYY-MM-DD", r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"), **SELECT}
    ),
    "timepicker": _action_element(
        {}, {"initial_time": Form("HH:mm", r"([01]\d|2[0-3]):[0-5]\d"), "timezone": Str("id"), **SELECT}
    ),
    "datetimepicker": _action_element(
        {}, {"initial_date_time": Int("datetimepicker.initial_date_time"), **CONFIRM, **FOCUS}
    ),
    "static_select": _action_element(
        {}, {**OPTIONS, "initial_option": OPTION, **SELECT}, rules=(one_of(*OPTIONS), check_initial_options)
    ),
    "multi_static_select": _action_element(
        {}, {**OPTIONS, "initial_options": CHOSEN, **SEVERAL, **SELECT}, rules=(one_of(*OPTIONS), check_initial_options)
    ),
    "external_select": _action_element({}, {"initial_option": OPTION, **QUERY, **SELECT}),
    "multi_external_select": _action_element({}, {"initial_options": CHOSEN, **QUERY, **SEVERAL, **SELECT}),
    "users_select": _action_element({}, {"initial_user": ID, **SELECT}),
    "multi_users_select": _action_element({}, {"initial_users": Many(ID, "select.chosen"), **SEVERAL, **SELECT}),
    "conversations_select": _action_element(
        {}, {"initial_conversation": ID, **CONVERSATIONS, **RESPONSE_URL, **SELECT}
    ),
    "multi_conversations_select": _action_element(
        {}, {"initial_conversations": Many(ID, "select.chosen"), **CONVERSATIONS, **SEVERAL, **SELECT}
    ),
    "channels_select": _action_element({}, {"initial_channel": ID, **RESPONSE_URL, **SELECT}),
    "multi_channels_select": _action_element({}, {"initial_channels": Many(ID, "select.chosen"), **SEVERAL, **SELECT}),
    "plain_text_input": _action_element(
        {},
        {
            "initial_value": Str("plain_text_input.initial_value"),
            "multiline": Bool(),
            "min_length": Int("plain_text_input.min_length"),
            "max_length": Int("plain_text_input.max_length"),
            **TYPED,
        },
        rules=(in_order("min_length", "max_length"),),
    ),
    "email_text_input": _action_element({}, {"initial_value": Str("plain_text_input.initial_value"), **TYPED}),
    "url_text_input": _action_element({}, {"initial_value": Str("plain_text_input.initial_value"), **TYPED}),
    "number_input": _action_element(
        {"is_decimal_allowed": Bool()},
        {"initial_value": NUMERAL, "min_value": NUMERAL, "max_value": NUMERAL, **TYPED},
        rules=(in_order("min_value", "max_value"),),
    ),
    "rich_text_input": _action_element(
        {},
        {
            "initial_value": RICH_TEXT,
            "min_lines": Int("rich_text_input.lines"),
            "max_lines": Int("rich_text_input.lines"),
            **TYPED,
        },
        rules=(in_order("min_lines", "max_lines"),),
    ),
    "file_input": _action_element(
        {},
        {"filetypes": Many(Str("id"), "file_input.filetypes"), "max_files": Int("file_input.max_files")},
        ("modal",),
    ),
    # Texts that stand among elements
    "plain_text": Shape({"text": Str("text")}, {"emoji": Bool()}),
    "mrkdwn": Shape({"text": Str("text")}, {"verbatim": Bool()}),
    "icon": Shape({"name": Enum(SLACK_ICONS)}, {}),
    "url": Shape({"url": URL, "text": Str()}, {}),
    "pie": Shape({"segments": Many(Obj("segment"), "chart.segments")}, {}),
    "bar": _chart(),
    "area": _chart(),
    "line": _chart(),
    # A block of its own, and also what a title or an input holds.
    "rich_text": Shape(
        {"elements": Many(Elem(tuple(IN_RICH_TEXT)), "rich_text.elements")}, {"block_id": Str("block_id")}
    ),
    **IN_LINE,
    **IN_RICH_TEXT,
}
INTERACTIVE: Final = frozenset(name for name, shape in ELEMENTS.items() if "action_id" in shape.may)
"""Elements that a person acts with."""
