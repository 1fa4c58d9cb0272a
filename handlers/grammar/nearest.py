"""Rank the commands by how people ask for them. The words of each, with what they weigh, are counted: ``make nearest``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib.resources import files
from typing import Final

from handlers.grammar.command import Command
from handlers.grammar.parser import ALL

TABLE: Final = "nearest.tsv"
LEAST: Final = 20
"""What the words of a text weigh at least for a command, or it isn't one of those."""
EVERY: Final = "·"
"""A mark that every text has; its weight is how often a command is asked for."""


def _read_table(text: str) -> Mapping[type[Command], Mapping[str, int]]:
    kinds = {f"{kind.service} {kind.verb}": kind for kind in ALL}
    rows = (row.split("\t") for row in text.splitlines())
    weights = {name: (each.rpartition(" ") for each in words) for name, *words in rows}
    return {kinds[name]: {word: int(weight) for word, _, weight in words} for name, words in weights.items()}


WEIGHTS: Final = _read_table(files(__package__).joinpath(TABLE).read_text("utf-8"))
"""For each command the words that tell it, and how much each does."""


def rank_commands(words: Collection[str]) -> list[type[Command]]:
    """Return the commands that a text with these *words* may ask for, the likeliest first."""
    scores = {kind: sum(weights.get(word, 0) for word in (EVERY, *words)) for kind, weights in WEIGHTS.items()}
    return sorted((kind for kind in scores if scores[kind] > LEAST), key=lambda kind: -scores[kind])
