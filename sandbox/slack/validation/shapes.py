"""Every block, element and composition object that an app may send: its properties, their limits, its surfaces.

Numbers are Slack's own, as its documentation and SDKs have them.
"""

from __future__ import annotations

from typing import Final

from sandbox.slack.validation.kinds import Anything, Bool, Elem, Enum, Int, Kind, Many, Obj, Shape, Str, Text

EVERYWHERE: Final = ("message", "modal", "home")
ID: Final = Str(255)
STYLE: Final = Enum(("primary", "danger"))
BUTTONS: Final = ("button", "workflow_button")
SELECTS: Final = tuple(
    f"{many}{kind}_select"
    for many in ("", "multi_")
    for kind in ("static", "external", "users", "conversations", "channels")
)
PICKERS: Final = ("datepicker", "timepicker", "datetimepicker")
IN_ACTIONS: Final = (
    *BUTTONS,
    *(name for name in SELECTS if not name.startswith("multi_")),
    *PICKERS,
    "overflow",
    "checkboxes",
    "radio_buttons",
)
IN_SECTION: Final = (*BUTTONS, *SELECTS, *PICKERS, "overflow", "checkboxes", "radio_buttons", "image")
IN_INPUT: Final = (
    *SELECTS,
    *PICKERS,
    "checkboxes",
    "radio_buttons",
    "plain_text_input",
    "email_text_input",
    "url_text_input",
    "number_input",
    "rich_text_input",
    "file_input",
)

OBJECTS: Final[dict[str, Shape]] = {
    "option": Shape({"text": Text(75), "value": Str(150)}, {"description": Text(75), "url": Str(3000)}),
    "option_group": Shape({"label": Text(75, plain=True), "options": Many(Obj("option"), 100)}, {}),
    "confirm": Shape(
        {"title": Text(100, plain=True), "text": Text(300)},
        {"confirm": Text(30, plain=True), "deny": Text(30, plain=True), "style": STYLE},
    ),
    "dispatch_action_config": Shape(
        {"trigger_actions_on": Many(Enum(("on_enter_pressed", "on_character_entered")), 2)}, {}
    ),
    "conversation_filter": Shape(
        {},
        {
            "include": Many(Enum(("im", "mpim", "private", "public")), 4),
            "exclude_external_shared_channels": Bool(),
            "exclude_bot_users": Bool(),
        },
    ),
    "slack_file": Shape({}, {"id": ID, "url": Str(3000)}),
}


def _select(**more: Kind) -> Shape:
    common: dict[str, Kind] = {"placeholder": Text(150, plain=True), "confirm": Obj("confirm"), "focus_on_load": Bool()}
    return Shape({"action_id": ID}, common | more)


def _options(**more: Kind) -> dict[str, Kind]:
    return {"options": Many(Obj("option"), 100), "option_groups": Many(Obj("option_group"), 100), **more}


def _typed(**more: Kind) -> Shape:
    common: dict[str, Kind] = {
        "placeholder": Text(150, plain=True),
        "dispatch_action_config": Obj("dispatch_action_config"),
        "focus_on_load": Bool(),
    }
    return Shape({"action_id": ID}, common | more)


MOST: Final = Int(1)
OPTION: Final = Obj("option")
LIST_OF_OPTIONS: Final = Many(Obj("option"), 100)

ELEMENTS: Final[dict[str, Shape]] = {
    "button": Shape(
        {"text": Text(75, plain=True), "action_id": ID},
        {
            "url": Str(3000),
            "value": Str(2000),
            "style": STYLE,
            "confirm": Obj("confirm"),
            "accessibility_label": Str(75),
        },
    ),
    "workflow_button": Shape(
        {"text": Text(75, plain=True), "action_id": ID, "workflow": Anything()},
        {"style": STYLE, "accessibility_label": Str(75)},
    ),
    "overflow": Shape({"action_id": ID, "options": Many(OPTION, 5)}, {"confirm": Obj("confirm")}),
    "image": Shape({"alt_text": Str(2000)}, {"image_url": Str(3000), "slack_file": Obj("slack_file")}),
    "checkboxes": Shape(
        {"action_id": ID, "options": Many(OPTION, 10)},
        {"initial_options": Many(OPTION, 10), "confirm": Obj("confirm"), "focus_on_load": Bool()},
    ),
    "radio_buttons": Shape(
        {"action_id": ID, "options": Many(OPTION, 10)},
        {"initial_option": OPTION, "confirm": Obj("confirm"), "focus_on_load": Bool()},
    ),
    "datepicker": _select(initial_date=Str(10, 10)),
    "timepicker": _select(initial_time=Str(5, 5), timezone=Str(100)),
    "datetimepicker": Shape(
        {"action_id": ID}, {"initial_date_time": Int(), "confirm": Obj("confirm"), "focus_on_load": Bool()}
    ),
    "static_select": _select(**_options(initial_option=OPTION)),
    "multi_static_select": _select(**_options(initial_options=LIST_OF_OPTIONS, max_selected_items=MOST)),
    "external_select": _select(initial_option=OPTION, min_query_length=Int()),
    "multi_external_select": _select(initial_options=LIST_OF_OPTIONS, min_query_length=Int(), max_selected_items=MOST),
    "users_select": _select(initial_user=ID),
    "multi_users_select": _select(initial_users=Many(ID), max_selected_items=MOST),
    "conversations_select": _select(
        initial_conversation=ID,
        default_to_current_conversation=Bool(),
        response_url_enabled=Bool(),
        filter=Obj("conversation_filter"),
    ),
    "multi_conversations_select": _select(
        initial_conversations=Many(ID),
        default_to_current_conversation=Bool(),
        max_selected_items=MOST,
        filter=Obj("conversation_filter"),
    ),
    "channels_select": _select(initial_channel=ID, response_url_enabled=Bool()),
    "multi_channels_select": _select(initial_channels=Many(ID), max_selected_items=MOST),
    "plain_text_input": _typed(
        initial_value=Str(3000, 0), multiline=Bool(), min_length=Int(0, 3000), max_length=Int(1, 3000)
    ),
    "email_text_input": _typed(initial_value=Str(3000, 0)),
    "url_text_input": _typed(initial_value=Str(3000, 0)),
    "number_input": Shape(
        {"action_id": ID, "is_decimal_allowed": Bool()},
        {
            "initial_value": Str(100, 0),
            "min_value": Str(100),
            "max_value": Str(100),
            "placeholder": Text(150, plain=True),
            "dispatch_action_config": Obj("dispatch_action_config"),
            "focus_on_load": Bool(),
        },
    ),
    "rich_text_input": _typed(initial_value=Anything()),
    "file_input": Shape({"action_id": ID}, {"filetypes": Many(Str(50)), "max_files": Int(1, 10)}),
    "mrkdwn": Shape({"text": Str(3000)}, {"verbatim": Bool()}),
    "plain_text": Shape({"text": Str(3000)}, {"emoji": Bool()}),
}

MESSAGE: Final = ("message",)
BLOCKS: Final[dict[str, Shape]] = {
    "section": Shape(
        {}, {"text": Text(3000), "fields": Many(Text(2000), 10), "accessory": Elem(IN_SECTION), "expand": Bool()}
    ),
    "divider": Shape({}, {}),
    "header": Shape({"text": Text(150, plain=True)}, {"level": Int(1, 4)}),
    "context": Shape({"elements": Many(Elem(("mrkdwn", "plain_text", "image")), 10)}, {}),
    "actions": Shape({"elements": Many(Elem(IN_ACTIONS), 25)}, {}),
    "image": Shape(
        {"alt_text": Str(2000)},
        {"image_url": Str(3000), "slack_file": Obj("slack_file"), "title": Text(2000, plain=True)},
    ),
    "input": Shape(
        {"label": Text(2000, plain=True), "element": Elem(IN_INPUT)},
        {"hint": Text(2000, plain=True), "optional": Bool(), "dispatch_action": Bool()},
    ),
    "rich_text": Shape({"elements": Many(Anything())}, {}),
    "video": Shape(
        {"alt_text": Str(2000), "title": Text(200, plain=True), "thumbnail_url": Str(3000), "video_url": Str(3000)},
        {
            "author_name": Str(50),
            "description": Text(200, plain=True),
            "provider_icon_url": Str(3000),
            "provider_name": Str(50),
            "title_url": Str(3000),
        },
    ),
    "alert": Shape(
        {"text": Text(200)}, {"level": Enum(("default", "info", "warning", "error", "success"))}, ("modal",)
    ),
    "markdown": Shape({"text": Str(12_000)}, {}, MESSAGE),
    "table": Shape({"rows": Many(Many(Anything(), 20), 100)}, {"column_settings": Many(Anything(), 20)}, MESSAGE),
    "context_actions": Shape({"elements": Many(Anything(), 5)}, {}, MESSAGE),
}

VIEWS: Final[dict[str, Shape]] = {
    "modal": Shape(
        {"title": Text(24, plain=True), "blocks": Many(Anything(), 100, 0)},
        {
            "submit": Text(24, plain=True),
            "close": Text(24, plain=True),
            "private_metadata": Str(3000, 0),
            "callback_id": Str(255, 0),
            "external_id": Str(255, 0),
            "clear_on_close": Bool(),
            "notify_on_close": Bool(),
            "submit_disabled": Bool(),
        },
    ),
    "home": Shape(
        {"blocks": Many(Anything(), 100, 0)},
        {"private_metadata": Str(3000, 0), "callback_id": Str(255, 0), "external_id": Str(255, 0)},
    ),
}
