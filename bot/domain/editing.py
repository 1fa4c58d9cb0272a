"""Single fields of a rule by the names that people type: ``destination=…``, ``status=off``, ``pair2.to=…``."""

from __future__ import annotations

import re
from typing import Any, Final

from bot.domain.checks import STATUSES, has_field, no_field, unknown
from bot.domain.rule import ACTIVE, INACTIVE, Rule

Document = dict[str, Any]

HEAD: Final = {
    "name": "name",
    "description": "description",
    "status": "status",
    "group": "groupId",
    "groupid": "groupId",
}
IN_PAIR: Final = {
    "destination": "destination",
    "destinationtype": "destinationType",
    "from": "from",
    "to": "to",
}
IN_SOURCE: Final = {"source": "value", "url": "value", "value": "value", "key": "key", "operator": "operator"}
SWITCHES: Final = {
    "on": ACTIVE,
    "active": ACTIVE,
    "enabled": ACTIVE,
    "off": INACTIVE,
    "inactive": INACTIVE,
    "disabled": INACTIVE,
}
FIELD: Final = re.compile(r"(?:pair(?P<pair>[1-9][0-9]{0,3})\.)?(?:source\.)?(?P<name>[a-z]+)", re.IGNORECASE)

SETTABLE: Final = ("name", "description", "status", "destination", "source", "operator", "key", "from", "to", "group")


class BadField(ValueError):
    """A field that cannot be set so. *words* say why and what can be."""

    def __init__(self, field: str, words: str) -> None:
        super().__init__(words)
        self.field = field
        self.words = words


def with_fields(rule: Rule, fields: tuple[tuple[str, str], ...]) -> Document:
    """The body of *rule* with *fields* set and all else as it was; raises BadField."""
    body = rule.body()
    for field, value in fields:
        _set(body, field, value)
    return body


def switched(rule: Rule, *, on: bool) -> Document:
    """The body of *rule*, switched on or off."""
    return rule.body() | {"status": ACTIVE if on else INACTIVE}


def _set(body: Document, field: str, value: str) -> None:
    match = FIELD.fullmatch(field.strip())
    name = match["name"].lower() if match else ""
    if name in {"type", "ruletype"}:
        raise BadField(field, "The type of a rule cannot be changed. Copy the rule, or make a new one.")
    if match is None or name not in {*HEAD, *IN_PAIR, *IN_SOURCE}:
        raise BadField(
            field, f"There is no field {field}. You can set: {', '.join(SETTABLE)}, and pair2.to and the like."
        )
    if name in IN_PAIR and not has_field(body.get("ruleType"), IN_PAIR[name]):
        raise BadField(field, no_field(body.get("ruleType"), IN_PAIR[name]))
    if name in HEAD and match["pair"] is None:
        body[HEAD[name]] = _status(field, value) if name == "status" else value
        return
    pair = _pair(body, field, match["pair"])
    if name in IN_PAIR:
        pair[IN_PAIR[name]] = value
    elif name in IN_SOURCE:
        pair["source"] = {**(pair.get("source") or {}), IN_SOURCE[name]: value}
    else:
        raise BadField(field, f"{name} belongs to the rule, not to one of its pairs.")


def _status(field: str, value: str) -> str:
    if (status := SWITCHES.get(value.strip().lower())) is None:
        raise BadField(field, unknown("status", value, STATUSES))
    return status


def _pair(body: Document, field: str, number: str | None) -> Document:
    pairs: list[Document] = body.get("pairs") or []
    if number is None and len(pairs) > 1:
        raise BadField(field, f"This rule has {len(pairs)} pairs. Say which: pair1.{field}=…")
    index = int(number or 1) - 1
    if index >= len(pairs):
        raise BadField(field, f"This rule has {len(pairs)} pair{'s' if len(pairs) != 1 else ''}, no pair {index + 1}.")
    return pairs[index]
