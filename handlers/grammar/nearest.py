"""Rank the commands by how people ask for them: a logistic regression over the words of a text, fitted by ``make nearest``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib.resources import files
from math import exp, inf
from typing import Final

from handlers.grammar.command import Command
from handlers.grammar.parser import ALL

TABLE: Final = "nearest.tsv"
UNIT: Final = 100
"""Of the weights in the table, this many are one."""
LEAST: Final = 0.05
"""How likely a command is at least, or it isn't one of those."""
EVERY: Final = "·"
"""A mark that every text has: its row is for how often each command is asked for."""

_HEAD, *_ROWS = (row.split("\t") for row in files(__package__).joinpath(TABLE).read_text("utf-8").splitlines())
KINDS: Final = [next(kind for kind in ALL if f"{kind.service} {kind.verb}" == name) for name in _HEAD[1:]]
WEIGHTS: Final = {word: tuple(map(int, weights)) for word, *weights in _ROWS}


def rank_commands(words: Collection[str]) -> Mapping[type[Command], float]:
    """Return the commands that a text with these *words* may ask for, each with how likely it does; the likeliest first."""
    said = [word for word in words if word in WEIGHTS]
    columns = zip(*(WEIGHTS[word] for word in (EVERY, *said)), strict=True)
    odds = {kind: exp(sum(column) / UNIT) for kind, column in zip(KINDS, columns, strict=True)}
    total = sum(odds.values()) if any(map(str.isalpha, said)) else inf
    likely = sorted(odds, key=lambda kind: -odds[kind])
    return {kind: odds[kind] / total for kind in likely if odds[kind] / total >= LEAST}
