"""Every limit of Block Kit, once: lengths, counts and values.

Slack's documentation, its SDKs and what people saw refused agree on them, unless a line says otherwise. Which kind of
thing is counted follows from the shape that names the limit: characters of a text, items of a list, or a value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Limit:
    """At most *high*, if there is a maximum, and at least *low*."""

    high: int | None
    low: int = 1


LIMITS: Final[dict[str, Limit]] = {
    "words": Limit(None),
    "block_id": Limit(255),
    "action_id": Limit(255),
    "id": Limit(255),
    # A message and a view as a whole
    "message.blocks": Limit(50, 0),
    "message.characters": Limit(13_200, 0),  # seen, not documented: bolt-js #2509
    "modal.blocks": Limit(100, 0),
    "home.blocks": Limit(100, 0),
    "view.title": Limit(24),
    "view.submit": Limit(24),
    "view.close": Limit(24),
    "view.private_metadata": Limit(3000, 0),
    "view.callback_id": Limit(255, 0),
    "view.external_id": Limit(255, 0),
    "view.characters": Limit(250_000, 0),
    "view.focused": Limit(1, 0),
    # Composition objects
    "text": Limit(3000),
    "confirm.title": Limit(100),
    "confirm.text": Limit(300),
    "confirm.confirm": Limit(30),
    "confirm.deny": Limit(30),
    "option.text": Limit(75),
    "option.value": Limit(150),  # @slack/types alone says 75
    "option.description": Limit(75),
    "option.url": Limit(3000),
    "option_group.label": Limit(75),
    "option_group.options": Limit(100),
    "dispatch_action_config.trigger_actions_on": Limit(2),
    "conversation_filter.include": Limit(4),
    # Elements
    "button.text": Limit(75),
    "button.value": Limit(2000),
    "button.url": Limit(3000),
    "button.accessibility_label": Limit(75),
    "button.agent_prompt": Limit(4000),
    "button.visible_to": Limit(10),
    "overflow.options": Limit(5),
    "radio_buttons.options": Limit(10),
    "select.options": Limit(100),
    "select.option_groups": Limit(100),
    "select.max_selected_items": Limit(None),
    "select.min_query_length": Limit(None, 0),
    "suggestions": Limit(100, 0),
    "placeholder": Limit(150),
    "plain_text_input.initial_value": Limit(3000, 0),
    "plain_text_input.min_length": Limit(3000, 0),
    "plain_text_input.max_length": Limit(3000),
    "file_input.filetypes": Limit(None),
    "file_input.max_files": Limit(10),
    # Blocks
    "section.text": Limit(3000),
    "section.fields": Limit(10),
    "section.field": Limit(2000),
    "header.text": Limit(150),
    "header.level": Limit(4),
    "context.elements": Limit(10),
    "actions.elements": Limit(25),
    "input.label": Limit(2000),
    "input.hint": Limit(2000),
    "alert.text": Limit(200),
}
