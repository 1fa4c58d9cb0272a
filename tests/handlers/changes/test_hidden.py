"""What a card hides: every shape of a secret, wherever somebody or a service wrote it, and with little work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from bot.changes.model.change import Change
from bot.changes.model.edits import Kind
from bot.changes.model.states import State
from bot.text import secrets
from handlers.blocks.masking import mask_message
from handlers.changes import card_view
from handlers.changes.diff import without_secrets
from tests.harness.channels import SHAPES, find_secrets
from tests.texts.cards import ANNA, HEADERS, MOVED, SALE, change

GROUP = {"id": "Group_1", "name": "Experiments", "status": "Active"}


def texts_in(value: Any) -> Iterator[tuple[str | int, ...]]:
    """The place of each text in a document."""
    inner = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    yield from ((name, *place) for name, each in inner for place in texts_in(each))
    if isinstance(value, str):
        yield ()


def planted(value: Any, place: tuple[str | int, ...], text: str) -> Any:
    if not place:
        return text
    copy = value.copy()
    copy[place[0]] = planted(value[place[0]], place[1:], text)
    return copy


def changes_with(text: str) -> Iterator[Change]:
    """A change of every kind with *text* in each of its fields, in its reason, and in what the service said of it."""
    for kind in Kind:
        rules = (GROUP,) if kind is Kind.GROUP_UPDATE else (SALE | {"description": "x"}, HEADERS, MOVED)
        for document in (ANNA,) if kind.value.startswith("member") else rules:
            before, after = None if kind.creates else document, None if kind.destroys else document
            yield change(kind, State.FAILED, before, after, reason=text, why_not={"code": "Refused", "words": text})
            for place in texts_in(document):
                if place in {("email",), ("id",)}:
                    continue
                odd = planted(document, place, text)
                yield change(kind, State.APPLIED, before and odd, after and document)
                yield change(kind, State.APPLIED, before and document, after and odd)


def drawn(shown: Change) -> Any:
    return mask_message(card_view.card(without_secrets(shown)))


@pytest.mark.threat("E7")
@pytest.mark.first(3)
@pytest.mark.parametrize("shape", SHAPES)
def test_no_card_tells_a_secret_of_any_shape_in_any_place(shape: str) -> None:
    for shown in changes_with(shape):
        card = drawn(shown)
        assert find_secrets([card.text, card.blocks]) == [], shown.edit


@pytest.mark.first(1)
@pytest.mark.parametrize("unit", ["aB3", "token=abc&", "a%3D"])
def test_a_card_searches_no_more_than_it_can_show(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    searched = 0
    for name in ("hide_in_text", "names_secret"):
        real = getattr(secrets, name)

        def counted(text: str, *more: Any, real: Any = real) -> Any:
            nonlocal searched
            searched += len(text)
            return real(text, *more)

        for module in ("bot.text.secrets", "bot.rules.secrets", "handlers.blocks.masking"):
            monkeypatch.setattr(f"{module}.{name}", counted, raising=False)
    huge = unit * (60_000 // len(unit))
    for shown in changes_with(huge):
        searched = 0
        drawn(shown)
        assert searched < 110_000, "three versions of a text, and its names"


@pytest.mark.parametrize("at", [10, 19_000, 25_000, 299_999])
def test_what_is_not_searched_still_differs(at: int) -> None:
    huge = "x" * 300_000
    before, after = (SALE | {"description": text} for text in (huge, f"{huge[:at]}y{huge[at + 1 :]}"))

    shown = without_secrets(change(Kind.RULE_UPDATE, State.PROPOSED, before, after)).edit

    assert shown.before != shown.after
