"""Fit how strongly words suggest commands: ``make nearest`` writes what `handlers.grammar.nearest` reads.

`SAID` has what people typed to earlier readers, each with the commands that come nearest to it, the likelier first. The corpus
is fitted to, too, but for what is held out.
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from handlers.grammar import nearest
from handlers.grammar.readings import clues_of, take_apart
from tests.harness.corpus import CORPUS, KNOWN, Sentence, parse_exact, sentences

SAID: Final = CORPUS / "said.tsv"
LEAST: Final = 4
"""How often a word is said at least, or it suggests nothing."""
ROUNDS: Final = 12
STEP: Final = 0.05
SHRINK: Final = 1e-3
"""How much a weight is drawn back to nothing at each step."""
SAME: Final = {"rules make": "rules new", "rules set": "rules edit", "gatehouse inspect": "gatehouse pending"}
PEOPLE: Final = frozenset({"alice", "bob", "cara", "dan"})
"""Colleagues of those who typed it."""
Asked = tuple[frozenset[str], Sequence[str]]
"""The clues of a sentence, and the names of the commands that it may ask for, the likelier first."""


def asked_in_corpus(some: Iterable[Sentence]) -> Iterator[Asked]:
    for one in some:
        means = [parse_exact(each) for each in one.means]
        if names := [SAME.get(name, name) for name in (f"{each.service} {each.verb}" for each in means)]:
            yield clues(one.where, one.says), names


def asked_before() -> Iterator[Asked]:
    for row in SAID.read_text("utf-8").splitlines():
        where, names, says = row.split("\t")
        yield clues(where, says), names.split(", ")


def clues(where: str, says: str) -> frozenset[str]:
    return clues_of(take_apart("" if where.startswith("@") else where.removeprefix("/"), says, KNOWN)) - PEOPLE


def fit(some: Sequence[Asked]) -> tuple[Sequence[str], Mapping[str, Sequence[float]]]:
    """Fit a logistic regression: return the commands, and how strongly each word that is said often suggests each."""
    found = Counter(word for words, _ in some for word in words)
    names = sorted({first for _, (first, *_) in some})
    weights = {word: [0.0] * len(names) for word in (nearest.EVERY, *sorted(found)) if found.get(word, LEAST) >= LEAST}
    for words, (first, *_) in [*some] * ROUNDS:
        of_sentence = [weights[word] for word in (nearest.EVERY, *sorted(words)) if word in weights]
        odds = [math.exp(sum(column)) for column in zip(*of_sentence, strict=True)]
        misses = [each / sum(odds) - (name == first) for each, name in zip(odds, names, strict=True)]
        for of_word in of_sentence:
            of_word[:] = [one - STEP * (miss + SHRINK * one) for one, miss in zip(of_word, misses, strict=True)]
    return names, weights


def main() -> None:
    asked = [*asked_before(), *asked_in_corpus(one for one in sentences() if not one.is_held_out)]
    random.Random(0).shuffle(asked)
    names, table = fit(asked)
    rows = [[word, *(str(round(nearest.UNIT * weight)) for weight in weights)] for word, weights in table.items()]
    text = "".join("\t".join(row) + "\n" for row in [["", *names], *rows])
    Path(nearest.__file__).with_name(nearest.TABLE).write_text(text, "utf-8")
    sys.stdout.write(f"{len(names)} commands, {len(table)} words\n")


if __name__ == "__main__":
    main()
