"""The two engines that carry out rules, and the one table of what only one of them does."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Engine(StrEnum):
    """By the name that people know it by."""

    DESKTOP = "the desktop app"
    EXTENSION = "the extension"

    @property
    def other(self) -> Engine:
        return Engine.EXTENSION if self is Engine.DESKTOP else Engine.DESKTOP

    def does(self, trait: Trait) -> bool:
        return DOES[trait] is self


class Trait(StrEnum):
    """What only one engine does."""

    TAKES_EMPTY_SOURCE = "takes empty source"
    MINDS_SWITCH = "minds switch"
    ADDS_SLASHES = "adds slashes"
    READS_WILDCARD = "reads wildcard"
    CATCHES_FROM_URL = "catches from URL"
    GOES_ON = "goes on"
    READS_FIND = "reads find"
    REPLACES_LAST = "replaces last"
    KEEPS_PARAMETERS = "keeps parameters"
    NEEDS_VERSION = "needs version"


DOES: Final = {
    # the condition of a Replace or a User agent with an empty value is not looked at, whatever its operator
    Trait.TAKES_EMPTY_SOURCE: Engine.DESKTOP,
    # a source with `isActive: false` does not hold
    Trait.MINDS_SWITCH: Engine.EXTENSION,
    # an expression without slashes is tried as if it had them, but catches nothing
    Trait.ADDS_SLASHES: Engine.EXTENSION,
    # a wildcard is an expression: some characters are special, and its first stars catch as much as they can, not as little
    Trait.READS_WILDCARD: Engine.EXTENSION,
    # `$1` stands for what the whole URL has there, also where the condition is on its host or its path
    Trait.CATCHES_FROM_URL: Engine.EXTENSION,
    # each pair of a Redirect, Replace or Cancel is tried on what those before it made, not just the first that holds
    Trait.GOES_ON: Engine.DESKTOP,
    # a text to find in slashes is an expression
    Trait.READS_FIND: Engine.DESKTOP,
    # a Replace for every URL replaces the last occurrence, not the first
    Trait.REPLACES_LAST: Engine.EXTENSION,
    # a parameter is added beside those of its name, and as it is written
    Trait.KEEPS_PARAMETERS: Engine.DESKTOP,
    # Headers without version 2 are read in their oldest form, in which the pairs of today change nothing
    Trait.NEEDS_VERSION: Engine.DESKTOP,
}
"""The engine that does it, while the other doesn't."""
