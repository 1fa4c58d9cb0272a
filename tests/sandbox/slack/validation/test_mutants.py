"""What the bot really sends passes; the same with any one thing wrong with it never does."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import pytest

from sandbox.slack.validation import Problem, check_message, check_view
from tests.sandbox.slack.validation.sent import Payload, messages, views

pytestmark = pytest.mark.slow

Path = tuple[str | int, ...]
LONGEST: Final = 3000
"""No text of what the bot sends may be longer anywhere: Slack's longest limit but for markdown, which it does not send."""

TEXT: Final = ("type", "text")
REQUIRED: Final[dict[str, tuple[str, ...]]] = {
    "plain_text": TEXT,
    "mrkdwn": TEXT,
    "section": ("type",),
    "context": ("type", "elements"),
    "actions": ("type", "elements"),
    "input": ("type", "label", "element"),
    "button": ("type", "text"),
    "plain_text_input": ("type",),
    "static_select": ("type", "options"),
    "external_select": ("type",),
    "conversations_select": ("type",),
    "multi_static_select": ("type", "options"),
    "radio_buttons": ("type", "options"),
    "modal": ("type", "title", "blocks"),
    "confirm": ("title", "text", "confirm", "deny"),
    "filter": (),
    "option": ("text", "value"),
    "message": (),
}
"""What each thing that the bot sends must have, by Slack's documentation and not by our tables."""


class Mutant(NamedTuple):
    """A payload with one thing wrong at *path*."""

    path: Path
    payload: Payload


def _parts(found: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Everything in *found*, with the way to it."""
    yield path, found
    inner = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    for name, one in inner:
        yield from _parts(one, (*path, name))


def _changed(payload: Payload, path: Path, change: Callable[[Any, str | int], None]) -> Mutant:
    mutant = copy.deepcopy(payload)
    holder = mutant
    for name in path[:-1]:
        holder = holder[name]  # type: ignore[index]  # lists have numbers, objects have names
    change(holder, path[-1])
    return Mutant(path, mutant)


def _too_long(holder: Any, name: str | int) -> None:
    holder[name] = "x" * (LONGEST + 1)


def _dropped(holder: Any, name: str | int) -> None:
    del holder[name]


def _added(holder: Any, name: str | int) -> None:
    holder[name] = True


def _kind(part: Payload, path: Path) -> str:
    """What *part* is: its type, or for things without one the place where they stand."""
    if "type" in part:
        return str(part["type"])
    if not path:
        return "message"
    return str(path[-1]) if path[-1] in {"confirm", "filter"} else "option"


def _required(part: Payload, path: Path) -> tuple[str, ...]:
    kind = _kind(part, path)
    own = ("text" if "text" in part else "fields",) if kind == "section" else ()
    asks = kind == "modal" and any(block["type"] == "input" for block in part["blocks"])
    return REQUIRED[kind] + own + (("submit",) if asks else ())


def too_long(payload: Payload) -> Iterator[Mutant]:
    """Each text made longer than any may be."""
    return (_changed(payload, path, _too_long) for path, found in _parts(payload) if isinstance(found, str))


def one_more(payload: Payload) -> Iterator[Mutant]:
    """Each object with a property that Slack does not know."""
    objects = (
        (path, found) for path, found in _parts(payload) if isinstance(found, dict) and (path or "type" in found)
    )
    return (_changed(payload, (*path, "sparkle"), _added) for path, _ in objects)


def one_less(payload: Payload) -> Iterator[Mutant]:
    """Each object without one property that it must have."""
    for path, found in _parts(payload):
        if isinstance(found, dict):
            for name in _required(found, path):
                yield _changed(payload, (*path, name), _dropped)


def is_about(problem: Problem, mutant: Mutant) -> bool:
    """Whether the problem is said of what was mutated: at it, at what it stands in, or by its name."""
    pointer = problem.pointer.removeprefix("/view")
    places = ["".join(f"/{name}" for name in path) for path in (mutant.path, mutant.path[:-1])]
    return pointer in places or f"`{mutant.path[-1]}`" in problem.text


MUTATIONS: Final[dict[str, Callable[[Payload], Iterator[Mutant]]]] = {
    "made too long": too_long,
    "dropped": one_less,
    "added": one_more,
}
SENT: Final[dict[str, tuple[Callable[[], list[Payload]], Callable[[Payload], list[Problem]]]]] = {
    "messages": (messages, check_message),
    "views": (views, check_view),
}


@pytest.mark.parametrize("what", SENT)
def test_what_the_bot_sends_passes(what: str) -> None:
    built, judged = SENT[what]
    payloads = built()
    assert len(payloads) > 10
    assert [problem for one in payloads for problem in judged(one)] == []


@pytest.mark.parametrize("what", SENT)
@pytest.mark.parametrize("mutation", MUTATIONS)
def test_every_mutant_of_it_is_refused(
    what: str, mutation: str, record_property: Callable[[str, object], None]
) -> None:
    built, judged = SENT[what]
    mutants = [mutant for payload in built() for mutant in MUTATIONS[mutation](payload)]
    survivors = [mutant.path for mutant in mutants if not any(is_about(one, mutant) for one in judged(mutant.payload))]
    record_property("figure", f"Slack mutants of the bot's {what}, {mutation}: {len(mutants) - len(survivors)} refused")
    assert len(mutants) > 100
    assert Counter(survivors) == {}


def test_the_bots_payloads_have_every_kind_of_thing_that_the_mutations_know() -> None:
    """A kind that the bot no longer sends would make its line a dead one."""
    sent = {
        _kind(part, path)
        for payload in [*messages(), *views()]
        for path, part in _parts(payload)
        if isinstance(part, dict)
    }
    assert sent == set(REQUIRED)
