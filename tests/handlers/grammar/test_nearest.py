"""What is offered where a text isn't understood as a whole: the commands that people ask for in such words."""

from __future__ import annotations

from typing import Final

import pytest

from handlers.blocks.buttons import command_text
from handlers.changes.command_form import read_begun
from handlers.grammar.command import Command
from handlers.grammar.nearest import KINDS, rank_commands
from handlers.grammar.parser import ALL
from handlers.grammar.readings import begin, read, take_apart
from tests.harness.corpus import KNOWN, sentences
from tests.harness.nearest import SAME, asked_in_corpus

LEAST: Final = 75
"""Per cent of the sentences held out whose command is among the first three; with other languages than English among them."""
NAMED: Final = (
    "",
    "old shop",
    "anna ito vip on docs",
    "sales campaigns",
    "/old to /new for 2h because of “a test”",
    "“'\"",
)


def name_of(kind: type[Command]) -> str:
    return f"{kind.service} {kind.verb}"


def test_most_commands_are_among_the_nearest_three_of_what_is_held_out() -> None:
    asked = list(asked_in_corpus(one for one in sentences() if one.is_held_out))
    found = [not {*names}.isdisjoint(map(name_of, [*rank_commands(words)][:3])) for words, names in asked]

    assert 100 * sum(found) >= LEAST * len(asked) > 0


def test_every_command_has_its_words_but_menus_and_those_that_are_counted_with_others() -> None:
    assert {name_of(kind) for kind in ALL if kind.verb} - SAME.keys() == {*map(name_of, KINDS)}


@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_each_command_is_begun_with_what_a_text_names_as_its_form_reads_it(kind: type[Command]) -> None:
    for text in NAMED:
        for begun in begin(take_apart("", text, KNOWN), kind):
            said = {name: value for name in kind.parts() if (value := getattr(begun, name))}

            assert read_begun(command_text(begun) or "").said == said, text


def test_nothing_is_near_to_words_that_nobody_says() -> None:
    assert read("rules", "asdf qwer yxcv", KNOWN).nearest == ()
