"""Documents that keep every field they came with, known to us or not: those of services, and those of our database."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

M = TypeVar("M", bound=BaseModel)


def stored(model: BaseModel, *, exclude: set[str] | None = None) -> str:
    """*model* as JSON that `restored` reads back exactly, lone surrogates and infinite numbers of services too."""
    return json.dumps(model.model_dump(mode="json", exclude=exclude))


def restored(kind: type[M], text: str, *, unknown: bool = False) -> M:
    """What `stored` wrote, as the *kind* of model that it was; raises ValueError where only a newer release can tell.

    *unknown*: also with set fields that this release doesn't know. Empty ones guard nothing, and are always kept.
    """
    document = json.loads(text)
    try:
        return kind.model_validate(document, extra="forbid")
    except ValidationError as error:
        for each in error.errors(include_url=False):
            if each["type"] != "extra_forbidden" or (each["input"] and not unknown):
                raise
    return kind.model_validate(document)


class NestedTooDeep(Exception):
    """A record holds lists within lists, deeper than can be written: it can be shown, and neither changed nor exported."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@lru_cache(maxsize=1024)
def _share(names: frozenset[str]) -> set[str]:
    """The same set for the same names."""
    return set(names)


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

    def model_post_init(self, _: Any, /) -> None:
        # In a list of a hundred thousand, a set of names for each record takes half of its memory; all have the same names.
        object.__setattr__(self, "__pydantic_fields_set__", _share(frozenset(self.model_fields_set)))

    def document(self) -> dict[str, Any]:
        """The record as JSON-ready data, with just the fields it was built from, under the service's names.

        Raises NestedTooDeep.
        """
        try:
            return self.model_dump(mode="json", by_alias=True, exclude_unset=True)
        except ValueError as error:  # pydantic's own limit, of some 250 levels
            raise NestedTooDeep(str(getattr(self, "name", "") or "")) from error

    def changed(self, **fields: Any) -> Self:
        """A validated copy with *fields* (by the service's names) set and every other field as it was."""
        return type(self).model_validate(self.document() | fields)


class Stored(BaseModel):
    """A document of our database, or a part of one. Fields that this release doesn't know stay in it."""

    model_config = ConfigDict(frozen=True, extra="allow", ser_json_inf_nan="constants")
