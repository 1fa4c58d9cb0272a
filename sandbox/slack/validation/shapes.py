"""Every composition object and element that an app may send: its properties, its rules, its surfaces."""

from __future__ import annotations

from typing import Final

from sandbox.slack.validation.kinds import (
    EVERYWHERE,
    Bool,
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
from sandbox.slack.validation.rules import any_of, check_initial_options, in_order, one_of

ID: Final = Str("id")
ACTION: Final[dict[str, Kind]] = {"action_id": Str("action_id")}
STYLE: Final = Enum(("primary", "danger"))

CHOICES: Final = (
    "static_select",
    "multi_static_select",
    "external_select",
    "multi_external_select",
    "conversations_select",
    "radio_buttons",
)
BESIDE_TEXT: Final = ("button", "overflow", *CHOICES)
IN_INPUT: Final = (*CHOICES, "plain_text_input", "file_input")

OBJECTS: Final[dict[str, Shape]] = {
    "option": Shape(
        {"text": plain("option.text"), "value": Str("option.value")}, {"description": plain("option.description")}
    ),
    # Only radio buttons show markup, and only an overflow menu opens addresses.
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
    "overflow": _action_element({"options": Many(Obj("overflow_option"), "overflow.options")}, CONFIRM),
    "radio_buttons": _action_element(
        {"options": Many(Obj("boxed_option"), "radio_buttons.options")},
        {"initial_option": Obj("boxed_option"), **CONFIRM, **FOCUS},
        rules=(check_initial_options,),
    ),
    "static_select": _action_element(
        {}, {**OPTIONS, "initial_option": OPTION, **SELECT}, rules=(one_of(*OPTIONS), check_initial_options)
    ),
    "multi_static_select": _action_element(
        {}, {**OPTIONS, "initial_options": CHOSEN, **SEVERAL, **SELECT}, rules=(one_of(*OPTIONS), check_initial_options)
    ),
    "external_select": _action_element({}, {"initial_option": OPTION, **QUERY, **SELECT}),
    "multi_external_select": _action_element({}, {"initial_options": CHOSEN, **QUERY, **SEVERAL, **SELECT}),
    "conversations_select": _action_element(
        {}, {"initial_conversation": ID, **CONVERSATIONS, **RESPONSE_URL, **SELECT}
    ),
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
    "file_input": _action_element(
        {},
        {"filetypes": Many(Str("id"), "file_input.filetypes"), "max_files": Int("file_input.max_files")},
        ("modal",),
    ),
    # Texts that stand among elements
    "plain_text": Shape({"text": Str("text")}, {"emoji": Bool()}),
    "mrkdwn": Shape({"text": Str("text")}, {"verbatim": Bool()}),
}
INTERACTIVE: Final = frozenset(name for name, shape in ELEMENTS.items() if "action_id" in shape.may)
"""Elements that a person acts with."""
