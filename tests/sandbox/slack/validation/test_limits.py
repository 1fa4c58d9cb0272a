"""Every limit of Block Kit, wherever it holds: at its edge all is well, one past it Slack's words are there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import pytest

from sandbox.slack.validation import Problem, are_blocks_too_long, check_message, check_options, check_view
from sandbox.slack.validation.kinds import Int, Kind, Many, Str, Text
from sandbox.slack.validation.limits import LIMITS
from tests.sandbox.slack.validation.examples import SENDABLE, TABLES, Key, Slot, example, place, settle, slots

pytestmark = pytest.mark.slow

WORDS: Final[dict[type, tuple[str, str]]] = {
    Str: ("must be more than {least} characters", "must be less than {most} characters"),
    Text: ("must be more than {least} characters", "must be less than {most} characters"),
    Many: ("must provide at least {low} items", "no more than {high} items allowed"),
    Int: ("must be between {low} and {high}", "must be between {low} and {high}"),
}
"""What Slack says below the least and above the most."""


class Edge(NamedTuple):
    """One end of a limit in one property: *fine* passes, *past* is refused."""

    key: Key
    name: str
    slot: Slot
    limit: str
    fine: int
    past: int

    def __str__(self) -> str:
        return f"{self.key} {self.name}{self.slot.at} {self.fine}"

    def sent(self, size: int) -> tuple[list[Problem], str]:
        """What is said of that many, and the pointer of the property."""
        there = place(self.key)
        there.thing[self.name] = self.slot.wrap(_sized(self.slot.kind, size))
        if size >= self.fine:
            settle(there.payload)
        at = "/text" if isinstance(self.slot.kind, Text) else ""
        return there.problems(), f"{there.pointer}/{self.name}{self.slot.at}{at}"

    def refusal(self) -> str:
        low, high = LIMITS[self.limit].low, LIMITS[self.limit].high
        if isinstance(self.slot.kind, Int) and high is None:
            return f"must be more than {low - 1}"
        words = WORDS[type(self.slot.kind)][self.past > self.fine]
        return words.format(low=low, high=high, least=low - 1, most=(high or 0) + 1)


def _sized(kind: Kind, size: int) -> Any:
    match kind:
        case Str():
            return "x" * size
        case Text(_, types):
            return {"type": types[0], "text": "x" * size}
        case Many(item, _):
            return [example(item) for _ in range(size)]
        case _:
            return size


def _edges() -> Iterator[Edge]:
    for key in SENDABLE:
        for name, kind in {**key.shape.must, **key.shape.may}.items():
            for slot in slots(kind):
                if isinstance(slot.kind, Str | Text | Many | Int):
                    limit = slot.kind.limit
                    low, high = LIMITS[limit].low, LIMITS[limit].high
                    if low > 0 or isinstance(slot.kind, Int):
                        yield Edge(key, name, slot, limit, low, low - 1)
                    if high is not None:
                        yield Edge(key, name, slot, limit, high, high + 1)


EDGES: Final = tuple(_edges())


class Whole(NamedTuple):
    """A limit of a whole payload: what is said of so many, and the refusal of one too many."""

    said: Callable[[int], list[Problem]]
    refusal: Problem


def _of_message(*blocks: dict[str, Any]) -> list[Problem]:
    return check_message({"blocks": list(blocks)})


def _focused(number: int) -> list[Problem]:
    inputs = [place(Key("element", "plain_text_input")).payload["blocks"][0] for _ in range(number)]
    for block in inputs:
        block["element"]["focus_on_load"] = True
    return _of_message(*inputs)


def _long_view(characters: int) -> list[Problem]:
    """A view whose JSON has so many characters."""
    line = {"type": "section", "text": {"type": "mrkdwn", "text": "x" * 2600}}
    view: dict[str, Any] = {"type": "home", "blocks": [line] * 93, "private_metadata": ""}
    short = characters - len(json.dumps(view))
    view["private_metadata"] = "x" * short
    return check_view(view)


def _long_blocks(characters: int) -> list[Problem]:
    """Blocks whose JSON has so many characters: chat.postMessage answers with an error of its own."""
    return [Problem("", "msg_blocks_too_long")] if are_blocks_too_long(["x" * (characters - 4)]) else []


def _suggested(number: int) -> list[Problem]:
    return check_options({"options": [example(TABLES["object"]["option_group"].must["options"])[0]] * number})


WHOLES: Final = {
    "message.characters": Whole(_long_blocks, Problem("", "msg_blocks_too_long")),
    "view.characters": Whole(_long_view, Problem("/view", "view_too_large")),
    "view.focused": Whole(_focused, Problem("/blocks", "only one element may have focus_on_load")),
    "suggestions": Whole(_suggested, Problem("/options", "no more than 100 items allowed")),
}


@pytest.mark.parametrize("limit", sorted({edge.limit for edge in EDGES}))
def test_at_a_limit_all_is_well_and_one_past_it_is_refused_in_slacks_words(limit: str) -> None:
    for edge in (each for each in EDGES if each.limit == limit):
        assert edge.sent(edge.fine)[0] == [], edge
        problems, pointer = edge.sent(edge.past)
        assert Problem(pointer, edge.refusal()) in problems, edge


@pytest.mark.parametrize("name", WHOLES)
def test_a_whole_payload_has_limits_too(name: str) -> None:
    most = LIMITS[name].high
    assert most is not None
    assert WHOLES[name].said(most) == []
    assert WHOLES[name].said(most + 1) == [WHOLES[name].refusal]


def test_every_limit_of_the_table_holds_somewhere(record_property: Callable[[str, object], None]) -> None:
    """A number that nothing names would be a limit that nobody keeps."""
    bounded = {name for name, limit in LIMITS.items() if limit.high is not None or limit.low > 0}
    assert {edge.limit for edge in EDGES} | set(WHOLES) >= bounded
    assert not {edge.limit for edge in EDGES} & set(WHOLES)
    cases = len(EDGES) + len(WHOLES)
    record_property("figure", f"Slack limits: {cases} at the limit pass, {cases} past it are refused")
