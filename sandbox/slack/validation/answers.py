"""Validate what an app sends as a whole: messages, views, options, and answers to submissions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sandbox.slack.validation.judge import Judge, Problem
from sandbox.slack.validation.kinds import Many, Obj
from sandbox.slack.validation.limits import LIMITS

VIEWS: Final = ("modal", "home")


def as_messages(problems: Sequence[Problem]) -> list[str]:
    """The lines of ``response_metadata.messages``."""
    return [f"[ERROR] {line}" for line in as_errors(problems)]


def as_errors(problems: Sequence[Problem]) -> list[str]:
    """The lines of ``errors`` in answers of chat methods."""
    return [f"{one.text} [json-pointer:{one.pointer}]" for one in problems]


def check_message(payload: Mapping[str, Any], *, prefix: str = "") -> list[Problem]:
    """What is wrong with the blocks of a message; pointers begin with *prefix*."""
    judged = {"blocks": payload["blocks"]} if payload.get("blocks") is not None else {}
    return list(Judge("message").check_payload(judged, prefix))


def are_blocks_too_long(blocks: Sequence[Any]) -> bool:
    """Whether Slack would answer msg_blocks_too_long."""
    return len(json.dumps(blocks, ensure_ascii=False)) > (LIMITS["message.characters"].high or 0)


def check_view(view: Any, *, prefix: str = "/view") -> list[Problem]:
    """What is wrong with a modal or a home tab."""
    if not isinstance(view, Mapping):
        return [Problem(prefix, "must provide an object")]
    if view.get("type") not in VIEWS:
        return [Problem(f"{prefix}/type", f"unsupported type: {view.get('type')}")]
    return list(Judge(view["type"]).check_payload(view, prefix))


def check_options(answer: Any) -> list[Problem]:
    """What is wrong with the reply to a block_suggestion."""
    items = {"options": "option", "option_groups": "option_group"}
    if not isinstance(answer, Mapping) or not items.keys() & answer.keys():
        return [Problem("", "missing required field: options")]
    name = "options" if "options" in answer else "option_groups"
    return list(Judge("message").check_value(answer[name], Many(Obj(items[name]), "suggestions"), f"/{name}"))


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
