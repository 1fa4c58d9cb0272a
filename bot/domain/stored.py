"""Documents of the database, which several releases may read and write at a time."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict


class Stored(BaseModel):
    """A document, or a part of one. Fields that a newer release gave it stay in it, whatever this release does with it."""

    model_config = ConfigDict(frozen=True, extra="allow", ser_json_inf_nan="constants")

    @property
    def unknown_fields(self) -> frozenset[str]:
        """The names of set fields, here and in the parts of it, that this release doesn't know.

        Any of them may be a guard, so that nothing is done with such a document. The names in a field ``ignorable``
        are not among them: the release that wrote them says that nothing depends on them.
        """
        own = {name for name, value in (self.model_extra or {}).items() if value}
        own -= set(self.__dict__.get("ignorable", ()))
        return frozenset(own).union(*(part.unknown_fields for part in _parts(self.__dict__.values())))


def _parts(values: object) -> Iterator[Stored]:
    for value in values if isinstance(values, list | tuple | type({}.values())) else ():
        if isinstance(value, Stored):
            yield value
        elif isinstance(value, tuple):
            yield from _parts(value)
