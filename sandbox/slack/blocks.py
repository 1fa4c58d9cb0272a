"""The Web API's method that says what is wrong with blocks, a message or a view, and does nothing with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from sandbox.slack.directory import Arguments
from sandbox.slack.refusal import Refused
from sandbox.slack.validation import Problem, as_findings, check_message, check_view


async def validate(arguments: Arguments) -> dict[str, Any]:
    """``blocks.validate``: nothing for what Slack takes, else what is wrong with it."""
    given = [name for name in VALIDATED if name in arguments]
    if len(given) != 1:
        raise Refused(
            "invalid_arguments",
            response_metadata={"messages": ["must provide exactly one of `blocks`, `view`, or `message`"]},
        )
    if problems := VALIDATED[given[0]](arguments[given[0]]):
        raise Refused(f"invalid_{given[0]}", errors=as_findings(problems))
    return {}


def _check_blocks(blocks: Any) -> list[Problem]:
    """Return what is wrong with a list of blocks: pointers begin at the list."""
    problems = check_message({"blocks": blocks})
    return [Problem(one.pointer.removeprefix("/blocks"), one.text, one.expected) for one in problems]


def _check_message(message: Any) -> list[Problem]:
    return check_message(message) if isinstance(message, Mapping) else [Problem("", "must provide an object")]


def _check_view(view: Any) -> list[Problem]:
    return check_view(view, prefix="")


VALIDATED: Final[dict[str, Callable[[Any], list[Problem]]]] = {
    "blocks": _check_blocks,
    "message": _check_message,
    "view": _check_view,
}
"""The arguments of blocks.validate, of which it takes one, each with its check."""
