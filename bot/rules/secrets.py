"""Find secrets in rules, and hide them for channels.

Stored, sent and exported rules keep their secrets.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from bot.rules.model import Rule
from bot.text.secrets import MARK, Label, hide_in_text, names_secret

NAMED_BY: Final = ("header", "param", "name", "key")
"""Fields that name the ``value`` beside them."""
MAX_SEARCHED: Final = 20_000
"""Characters of a value that are searched: no card shows what comes later, so the rest is hidden as a whole."""


def hide_secrets(*documents: Mapping[str, Any] | None) -> list[Any]:
    """Return *documents* with a label in place of each secret; the same secret has the same label in all of them."""
    labels: dict[str, str] = {}

    def label(secret: str) -> str:
        return labels.setdefault(secret, f"{MARK}-{len(labels) + 1}]" if labels else f"{MARK}]")

    return [None if document is None else _hide(document, label) for document in documents]


def without_secrets(rule: Rule, shown: Collection[int] | None = None) -> Rule:
    """Return *rule* with its secrets hidden. *shown*: the numbers, from 1, of the pairs to keep; the others become empty."""
    document = rule.document()
    if shown is not None and rule.pairs:
        document["pairs"] = only_pairs(document["pairs"], shown)
    return Rule.model_validate(hide_secrets(document)[0])


def only_pairs(pairs: Sequence[Any], numbers: Collection[int]) -> list[Any]:
    """Return *pairs* with all but those of *numbers* (from 1) emptied, so that each keeps its number."""
    return [pair if number in numbers else {} for number, pair in enumerate(pairs, 1)]


def holds_secret(rule: Rule) -> bool:
    """Whether *rule* has a secret in it."""
    return without_secrets(rule) != rule


def _hide(value: Any, label: Label) -> Any:
    if isinstance(value, str):
        rest = value[MAX_SEARCHED:]
        return hide_in_text(value[:MAX_SEARCHED], label) + (label(rest) if rest else "")
    if isinstance(value, list):
        return [_hide(one, label) for one in value]
    if not isinstance(value, Mapping):
        return value
    is_named = "value" in value and any(names_secret(str(value.get(name, ""))[:MAX_SEARCHED]) for name in NAMED_BY)
    return {
        name: _hide_field(inner, label) if _is_secret(name, is_named=is_named) else _hide(inner, label)
        for name, inner in value.items()
    }


def _is_secret(field: str, *, is_named: bool) -> bool:
    return is_named if field == "value" else field not in NAMED_BY and names_secret(field)


def _hide_field(value: Any, label: Label) -> Any:
    """Return the *value* of a secret field: a label for a text or a number, else the value with the secrets inside it hidden."""
    if isinstance(value, bool) or value in (None, "") or not isinstance(value, str | int | float):
        return _hide(value, label)
    return value if str(value).startswith(MARK) else label(str(value))
