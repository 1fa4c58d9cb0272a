"""The base of every model that comes from a service and may have to go back to it."""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict


class Wire(BaseModel):
    """A record of a service: frozen, and every field it came with is kept, known to us or not."""

    model_config = ConfigDict(
        extra="allow", frozen=True, populate_by_name=True, hide_input_in_errors=True, protected_namespaces=()
    )

    def document(self) -> dict[str, Any]:
        """The record as JSON-ready data, with just the fields it was built from, under the service's names."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)

    def changed(self, **fields: Any) -> Self:
        """A validated copy with *fields* (by the service's names) set and every other field as it was."""
        return type(self).model_validate(self.document() | fields)
