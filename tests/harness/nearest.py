"""Count the words with which people ask for each command: ``make nearest`` writes what `handlers.grammar.nearest` reads.

`SAID` has what people typed to earlier readers, each with the commands that come nearest to it, the likelier first. The corpus
is counted, too, but for what is held out.
"""

from __future__ import annotations

import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from handlers.grammar import nearest
from handlers.grammar.readings import clues_of, take_apart
from tests.harness.corpus import CORPUS, KNOWN, Sentence, parse_exact, sentences

SAID: Final = CORPUS / "said.tsv"
KEPT: Final = 100
"""Words of each command."""
OFTEN: Final = 0.2
"""How much it counts how often a command is asked for."""
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


def count_words(some: Sequence[Asked]) -> Mapping[str, Mapping[str, int]]:
    """For each command the words that tell it, and what they weigh: of a sentence, its rare words weigh most."""
    found = Counter(word for words, _ in some for word in words)
    rare = {word: math.log((1 + len(some)) / count) for word, count in found.items() if count > 1}
    weights: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for words, names in some:
        of_sentence = {word: rare[word] for word in sorted(words) if word in rare}
        length = math.hypot(*of_sentence.values())
        for word, weight in of_sentence.items():
            weights[names[0]][word] += weight / length
    often = Counter(names[0] for _, names in some)
    table = {}
    for name, of_command in sorted(weights.items()):
        length = math.hypot(*of_command.values())
        most = sorted(of_command, key=lambda word: (-of_command[word], word))[:KEPT]
        kept = {word: round(100 * rare[word] * of_command[word] / length) for word in most}
        table[name] = {nearest.EVERY: round(100 * OFTEN * math.log(often[name] / len(some)))} | kept
    return table


def main() -> None:
    worked_with = [one for one in sentences() if not one.is_held_out]
    table = count_words([*asked_before(), *asked_in_corpus(worked_with)])
    rows = ("\t".join([name, *(f"{word} {weight}" for word, weight in words.items())]) for name, words in table.items())
    Path(nearest.__file__).with_name(nearest.TABLE).write_text("\n".join(rows) + "\n", "utf-8")
    sys.stdout.write(f"{len(table)} commands\n")


if __name__ == "__main__":
    main()
