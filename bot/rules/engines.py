"""The two engines that execute rules, and the table of behaviour that only one of them has."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Engine(StrEnum):
    """An engine; the value is its name for people."""

    DESKTOP = "the desktop app"
    EXTENSION = "the extension"

    @property
    def other(self) -> Engine:
        return Engine.EXTENSION if self is Engine.DESKTOP else Engine.DESKTOP

    def does(self, trait: Trait) -> bool:
        return DOES[trait] is self


class Trait(StrEnum):
    """A behaviour that only one engine has; the comments in DOES describe each."""

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
    # the condition of a Replace or a User agent with an empty value is ignored, whatever its operator
    Trait.TAKES_EMPTY_SOURCE: Engine.DESKTOP,
    # a source with `isActive: false` does not hold
    Trait.MINDS_SWITCH: Engine.EXTENSION,
    # an expression without slashes is tested as if it had them, but has no captures
    Trait.ADDS_SLASHES: Engine.EXTENSION,
    # a wildcard is an expression: some characters are special, and its first stars are greedy rather than lazy
    Trait.READS_WILDCARD: Engine.EXTENSION,
    # `$1` is captured from the whole URL, even where the condition is on its host or its path
    Trait.CATCHES_FROM_URL: Engine.EXTENSION,
    # each pair of a Redirect, Replace or Cancel is applied to the result of those before it, not just the first that holds
    Trait.GOES_ON: Engine.DESKTOP,
    # a text to find in slashes is an expression
    Trait.READS_FIND: Engine.DESKTOP,
    # a Replace for every URL replaces the last occurrence, not the first
    Trait.REPLACES_LAST: Engine.EXTENSION,
    # a parameter is added beside those of the same name, and without escaping
    Trait.KEEPS_PARAMETERS: Engine.DESKTOP,
    # Headers without version 2 are read in their oldest form, in which pairs of the current form change nothing
    Trait.NEEDS_VERSION: Engine.DESKTOP,
}
"""The one engine that has each trait."""
