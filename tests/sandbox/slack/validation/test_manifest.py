"""The rules of a manifest: each at its edge and one past it, and an app that is refused with pointer and words."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import pytest

from bot.server.manifest import document
from sandbox.gatehouse import SHOP
from sandbox.slack.running import running_slack
from sandbox.slack.validation import ManifestRefused, Problem, check_manifest
from sandbox.slack.validation.kinds import Bool, Enum, Form, Kind, Many, Obj, Str
from sandbox.slack.validation.manifest import LIMITS, NO_CLICKS_URL, NO_EVENTS_URL, OBJECTS

NUMBERS: Final = {
    "display_information.name": (1, 35),
    "display_information.description": (1, 140),
    "display_information.long_description": (175, 4000),
    "bot_user.display_name": (1, 80),
    "slash_commands": (1, 50),
    "slash_command.command": (2, 32),
    "slash_command.description": (1, 2000),
    "slash_command.usage_hint": (1, 1000),
    "shortcuts": (1, 10),
    "shortcut.name": (1, 24),
    "shortcut.callback_id": (1, 255),
    "shortcut.description": (1, 150),
    "scopes": (0, 255),
    "event_subscriptions.bot_events": (0, 100),
    "url": (1, 3000),
}
"""The schema's numbers a second time, as its text has them."""


def example(kind: Kind, name: str = "", size: int | None = None) -> Any:
    """Something of this kind that passes; *size*: as long, or as many."""
    match kind:
        case Str(limit):
            before = {"command": "/", "url": "https://", "request_url": "https://"}.get(name, "")
            before = before or ("https://" if limit == "url" else "")
            least = max(LIMITS[limit].low, len(before) + 1)
            return (before + "x" * max(0, (least if size is None else size) - len(before)))[:size]
        case Many(item, limit):
            return [example(item, name) for _ in range(max(LIMITS[limit].low, 1) if size is None else size)]
        case Obj(inner):
            shape = OBJECTS[inner]
            return {one: example(part, one) for one, part in {**shape.must, **shape.may}.items()}
        case Bool():
            return True
        case Enum(values):
            return values[0]
        case Form():
            return "#1f3a4d"
        case _:
            raise AssertionError(kind)


FULL: Final[dict[str, Any]] = example(Obj("manifest"))
"""A manifest with everything that there is."""


class Part(NamedTuple):
    """A property of the full manifest: where it is, and of which kind."""

    pointer: str
    kind: Kind

    def __str__(self) -> str:
        return self.pointer

    @property
    def name(self) -> str:
        return self.pointer.rpartition("/")[2]

    def problems(self, value: Any) -> list[Problem]:
        """What is said of a manifest with *value* there."""
        changed = copy.deepcopy(FULL)
        *above, last = self.pointer.split("/")[1:]
        place: Any = changed
        for name in above:
            place = place[_step(place, name)]
        place[_step(place, last)] = value
        return check_manifest(changed)


def _step(place: Any, name: str) -> str | int:
    return int(name) if isinstance(place, list) else name


def _parts(kind: Kind, pointer: str) -> Iterator[Part]:
    if isinstance(kind, Obj):
        for name, inner in {**OBJECTS[kind.name].must, **OBJECTS[kind.name].may}.items():
            yield Part(f"{pointer}/{name}", inner)
            yield from _parts(inner, f"{pointer}/{name}")
    if isinstance(kind, Many):
        yield Part(f"{pointer}/0", kind.item)
        yield from _parts(kind.item, f"{pointer}/0")


PARTS: Final = tuple(_parts(Obj("manifest"), ""))
COUNTED: Final = [(part, part.kind) for part in PARTS if isinstance(part.kind, Str | Many)]
TOO_MANY: Final = {Str: "must be less than {} characters", Many: "no more than {} items allowed"}
TOO_FEW: Final = {Str: "must be more than {} characters", Many: "must provide at least {} items"}
MOST: Final = [(part, kind) for part, kind in COUNTED if LIMITS[kind.limit].high is not None]
LEAST: Final = [(part, kind) for part, kind in COUNTED if LIMITS[kind.limit].low > 0]


def test_the_numbers_are_those_of_slacks_schema() -> None:
    bounded = {name: (one.low, one.high) for name, one in LIMITS.items() if one.high is not None}
    assert bounded == NUMBERS
    assert {kind.limit for _, kind in MOST} == NUMBERS.keys()


def test_a_manifest_with_everything_passes() -> None:
    assert check_manifest(FULL) == []


@pytest.mark.parametrize(("part", "kind"), MOST, ids=str)
def test_at_the_most_all_is_well_and_one_more_is_refused(part: Part, kind: Str | Many) -> None:
    most = LIMITS[kind.limit].high or 0

    assert part.problems(example(kind, part.name, most)) == []
    words = TOO_MANY[type(kind)].format(most + 1 if isinstance(kind, Str) else most)
    assert part.problems(example(kind, part.name, most + 1)) == [Problem(part.pointer, words)]


@pytest.mark.parametrize(("part", "kind"), LEAST, ids=str)
def test_at_the_least_all_is_well_and_one_less_is_refused(part: Part, kind: Str | Many) -> None:
    least = LIMITS[kind.limit].low

    assert part.problems(example(kind, part.name, None)) == []
    words = TOO_FEW[type(kind)].format(least - 1 if isinstance(kind, Str) else least)
    assert part.problems(example(kind, part.name, least - 1)) == [Problem(part.pointer, words)]


NEEDED: Final = [
    (part.pointer, name) for part in PARTS if isinstance(part.kind, Obj) for name in OBJECTS[part.kind.name].must
]


@pytest.mark.parametrize(("pointer", "name"), [("", "display_information"), *NEEDED])
def test_what_must_be_there_is_missed(pointer: str, name: str) -> None:
    if not pointer:
        assert check_manifest({}) == [Problem("", "missing required field: display_information")]
        return
    part = next(one for one in PARTS if one.pointer == pointer)
    without = {one: value for one, value in example(part.kind).items() if one != name}
    assert part.problems(without) == [Problem(pointer, f"missing required field: {name}")]


CLOSED: Final = [part for part in PARTS if isinstance(part.kind, Obj)]


@pytest.mark.parametrize("part", CLOSED, ids=str)
def test_what_nobody_knows_is_refused(part: Part) -> None:
    words = "invalid additional property: colour"
    assert part.problems(example(part.kind) | {"colour": "red"}) == [Problem(part.pointer, words)]
    assert check_manifest(FULL | {"colour": "red"}) == [Problem("", words)]


@pytest.mark.parametrize("part", PARTS, ids=str)
def test_a_number_where_there_should_be_something_else_is_refused(part: Part) -> None:
    assert [one.pointer for one in part.problems(1.5)] == [part.pointer]


@pytest.mark.parametrize(
    ("pointer", "value", "words"),
    [
        ("/display_information/background_color", "red", "must be in the format #rrggbb"),
        ("/features/slash_commands/0/command", "rules", "must be in the format /command"),
        ("/features/slash_commands/0/url", "ftp://example.com", "must be in the format https://…"),
        ("/features/shortcuts/0/type", "channel", "must be a valid enum value"),
        ("/settings/interactivity/request_url", "example.com", "must be in the format https://…"),
        ("/settings/interactivity/message_menu_options_url", "example.com", "must be in the format https://…"),
        ("/settings/event_subscriptions/request_url", "example.com", "must be in the format https://…"),
    ],
)
def test_forms(pointer: str, value: str, words: str) -> None:
    part = next(one for one in PARTS if one.pointer == pointer)
    assert part.problems(value) == [Problem(pointer, words)]


def test_without_a_websocket_events_and_clicks_need_an_address() -> None:
    settings = {"event_subscriptions": {"bot_events": ["app_mention"]}, "interactivity": {"is_enabled": True}}
    manifest = {"display_information": {"name": "Desk"}, "settings": settings}

    assert check_manifest(manifest) == [
        Problem("/settings/event_subscriptions", NO_EVENTS_URL),
        Problem("/settings/interactivity", NO_CLICKS_URL),
    ]
    assert check_manifest(manifest | {"settings": settings | {"socket_mode_enabled": True}}) == []


async def test_no_app_is_installed_from_a_wrong_manifest() -> None:
    manifest = document("https://gatehouse.example.com")
    manifest["features"]["slash_commands"][0]["description"] = ""

    with pytest.raises(ManifestRefused) as refused:
        async with running_slack(manifest, SHOP):
            pass

    pointer = "/features/slash_commands/0/description"
    assert refused.value.problems == [Problem(pointer, "must be more than 0 characters")]
    assert pointer in str(refused.value)
