"""What is said of a rule and an address: it acts, it nearly does, or nobody here can tell."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.address import Address
from bot.domain.engines import Engine
from bot.domain.rule import Rule


@dataclass(frozen=True, slots=True)
class Acts:
    """A rule that acts on the address. *result*: what the address becomes, None where it stays or is blocked."""

    rule: Rule
    pair: int
    """The pair that decides; counted from 1."""
    tested: str
    captures: tuple[str | None, ...] = ()
    result: str | None = None
    blocks: bool = False
    idle: bool = False
    """It applies, and changes nothing."""
    off: str = ""
    """Why it is not in force; nothing where it is."""
    notes: tuple[str, ...] = ()
    depends: bool = False
    """Whether it acts only if something holds that an address does not tell: filters, a group nobody knows."""
    also: tuple[int, ...] = ()
    """Further pairs that act as well, for types of which all that hold do."""
    desktop: str | None = None
    extension: str | None = None
    """What the address becomes in either engine; None where it stays. *result* is what is documented."""
    only: Engine | None = None
    """The one engine in which the rule does anything."""

    def leads(self, engine: Engine) -> str | None:
        """Return what the address becomes in *engine*; None where it stays."""
        return self.desktop if engine is Engine.DESKTOP else self.extension


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A rule that would act if one thing were different."""

    rule: Rule
    pair: int
    why: str


@dataclass(frozen=True, slots=True)
class Untold:
    """A rule that cannot be judged here."""

    rule: Rule
    pair: int
    why: str


@dataclass(frozen=True, slots=True)
class Explained:
    """What happens to an address: rules that act, rules that nearly do, rules that cannot be judged."""

    address: Address
    acting: tuple[Acts, ...]
    near: tuple[NearMiss, ...]
    untold: tuple[Untold, ...]

    @property
    def in_force(self) -> tuple[Acts, ...]:
        return tuple(each for each in self.acting if not each.off)

    @property
    def changing(self) -> tuple[Acts, ...]:
        """Those in force that do change something."""
        return tuple(each for each in self.in_force if not each.idle)
