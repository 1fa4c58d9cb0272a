"""Records of the services, which preserve every field, even unknown ones, and documents of the database."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Final, Self, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, PlainValidator, TypeAdapter, ValidationInfo

T = TypeVar("T")


def dump(stored: object, *, exclude: set[str] | None = None) -> str:
    """Return a dataclass as JSON that `load` reads back exactly, including lone surrogates and infinite numbers."""
    # Not in pydantic's mode for JSON, which makes null of an infinite number in a dataclass.
    return json.dumps(_adapter(type(stored)).dump_python(stored, exclude=exclude), default=_plain)


def _plain(value: object) -> object:
    return _adapter(type(value)).dump_python(value, mode="json")


def load(kind: type[T], text: str) -> T:
    """Return the dataclass of *kind* that `dump` wrote as *text*."""
    read: T = _adapter(kind).validate_python(json.loads(text))
    return read


_adapter: Final[Callable[[Any], TypeAdapter[Any]]] = cache(TypeAdapter)


class NumberAsText(str):
    """A number or boolean of a service in place of a text, as the text that JavaScript converts it to.

    *value*: the original, which is sent back.
    """

    __slots__ = ("value",)

    value: bool | float

    @classmethod
    def of(cls, value: Any) -> Self:
        """Return *value* as text; raises ValueError where it is neither a number nor a boolean."""
        if not isinstance(value, int | float):
            raise ValueError("neither a text nor a number")
        whole = isinstance(value, float) and value.is_integer() and abs(value) < FIRST_WITH_EXPONENT
        made = cls(str(value).lower() if isinstance(value, bool) else str(int(value) if whole else value))
        made.value = value
        return made


def _number_as_text(value: Any, info: ValidationInfo) -> NumberAsText:
    if info.context == TEXTS_ONLY:
        raise ValueError("not a text")
    return NumberAsText.of(value)


def _original_value(text: str) -> Any:
    return text.value if isinstance(text, NumberAsText) else text


TEXTS_ONLY: Final = {"texts_only": True}
"""The context of a validation that accepts no number in place of a text."""
FIRST_WITH_EXPONENT: Final = 1e21
"""The smallest integer that JavaScript writes with an exponent."""
Text: TypeAlias = Annotated[
    str | Annotated[NumberAsText, PlainValidator(_number_as_text)],
    Field(union_mode="left_to_right"),
    PlainSerializer(_original_value),
]
"""A text in a service's record. A number in its place is accepted, and sent back as a number."""


def without_choices(place: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """Return the *place* of a pydantic error without the suffix that pydantic adds for a `Text`."""
    end = str(place[-1]) if place else ""
    return place[:-1] if end == "str" or end.startswith("function-plain[") else place


@dataclass(eq=False)
class NestedTooDeep(Exception):
    """A record is nested too deep to be serialised: it can be shown, but neither changed nor exported."""

    name: str


class ServiceRecord(BaseModel):
    """A record of a service: frozen, with every field that it came with, even unknown ones."""

    model_config = ConfigDict(
        extra="allow",
        frozen=True,
        populate_by_name=True,
        hide_input_in_errors=True,
        protected_namespaces=(),
        ser_json_inf_nan="constants",  # otherwise an infinite number would become null
    )

    def document(self) -> dict[str, Any]:
        """Return the record as JSON-ready data, with only the fields that it was built from, under the service's names.

        Raises NestedTooDeep.
        """
        try:
            return self.model_dump(mode="json", by_alias=True, exclude_unset=True)
        except ValueError as error:  # pydantic's own limit, of some 250 levels
            raise NestedTooDeep(str(getattr(self, "name", "") or "")) from error

    def with_fields(self, **fields: Any) -> Self:
        """Return a validated copy with *fields* (by the service's names) set and every other field as it was."""
        return type(self).model_validate(self.document() | fields)
