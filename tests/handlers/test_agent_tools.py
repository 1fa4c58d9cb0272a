"""Commands as tools: what is written as JSON is the same command again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from handlers.agents.tools import TOOLS, command_of
from handlers.grammar.command import Command
from handlers.grammar.fields import Choice
from handlers.grammar.parser import numbers_in
from handlers.grammar.time_fields import TypedTime
from handlers.grammar.tokens import unquote_reason
from tests.harness.corpus import parse_exact, sentences

OF_KIND = {tool.kind: tool for tool in TOOLS.values()}
COMMANDS = {
    text: command
    for sentence in sentences()
    for text in sentence.means
    if type(command := parse_exact(text)) in OF_KIND and not numbers_in(command)
}


def arguments_of(command: Command) -> Mapping[str, Any]:
    """The JSON that a client would send for *command*."""
    given: dict[str, Any] = {}
    for name, part in command.parts().items():
        match getattr(command, name):
            case None | "" | ():
                continue
            case TypedTime(as_typed=text):
                given[name] = text
            case ((str(), str()), *_) as pairs:
                given[name] = dict(pairs)
            case tuple() as several:
                given[name] = list(several)
            case str() as text if isinstance(part, Choice):
                given[name] = next(word for word, meant in part.choices.items() if meant == text)
            case value:
                given[name] = unquote_reason(value) if name == "because" else value
    return given


def plain(command: Command) -> Command:
    return command.with_fields(because=unquote_reason(command.because)) if command.because else command


@pytest.mark.parametrize("text", COMMANDS)
def test_a_command_of_the_corpus_is_the_same_as_a_call(text: str) -> None:
    command = COMMANDS[text]
    assert plain(command_of(OF_KIND[type(command)], arguments_of(command))) == plain(command)
