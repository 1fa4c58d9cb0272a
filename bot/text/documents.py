"""Documents that keep every field they came with, known to us or not: those of services, and those of our database."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict

M = TypeVar("M", bound=BaseModel)


def stored(model: BaseModel, *, exclude: set[str] | None = None) -> str:
    """*model* as JSON that `restored` reads back exactly, lone surrogates and infinite numbers of services too."""
    return json.dumps(model.model_dump(mode="json", exclude=exclude))


def restored(kind: type[M], text: str) -> M:
    """What `stored` wrote, as the *kind* of model that it was."""
    return kind.model_validate(json.loads(text))


class ServiceRecord(BaseModel):
    """A record of a service: frozen, and every field it came with is kept, known to us or not."""

    model_config = ConfigDict(
        extra="allow",
        frozen=True,
        populate_by_name=True,
        hide_input_in_errors=True,
        protected_namespaces=(),
        ser_json_inf_nan="constants",  # or an infinite number would become null
    )

    def document(self) -> dict[str, Any]:
        """The record as JSON-ready data, with just the fields it was built from, under the service's names."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)

    def changed(self, **fields: Any) -> Self:
        """A validated copy with *fields* (by the service's names) set and every other field as it was."""
        return type(self).model_validate(self.document() | fields)


class Stored(BaseModel):
    """A document, or a part of one. Fields that a newer release gave it stay in it, whatever this release does with it."""

    model_config = ConfigDict(frozen=True, extra="allow", ser_json_inf_nan="constants")

    @property
    def unknown_fields(self) -> frozenset[str]:
        """The names of set fields, here and in the parts of it, that this release doesn't know.

        Any of them may be a guard, so that nothing is done with such a document. The names in a field ``ignorable``
        are not among them: the release that wrote them says that nothing depends on them.
        """
        return frozenset(_unknown([self])) - set(self.__dict__.get("ignorable", ()))


def _unknown(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, Stored):
            yield from (name for name, extra in (value.model_extra or {}).items() if extra)
            yield from _unknown(value.__dict__.values())
        elif value and isinstance(value, tuple):
            yield from _unknown(value)
