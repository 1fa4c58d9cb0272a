"""The base of every model that comes from a service and may have to go back to it."""

from __future__ import annotations

import json
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict

M = TypeVar("M", bound=BaseModel)


def stored(model: BaseModel, *, exclude: set[str] | None = None) -> str:
    """*model* as JSON that `restored` reads back exactly, lone surrogates and infinite numbers of services too."""
    return json.dumps(model.model_dump(mode="json", exclude=exclude))


def restored(kind: type[M], text: str) -> M:
    """What `stored` wrote, as the *kind* of model that it was."""
    return kind.model_validate(json.loads(text))


class Wire(BaseModel):
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
