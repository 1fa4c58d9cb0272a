"""The fields of a rule's pairs, by type: the one table that forms, `/rules set` and the texts of cards are made from.

Where one value is all that a pair of a type holds, it has a field; of all others the source has, and the rest is JSON. A field
that isn't here is preserved in every edit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

Document = dict[str, Any]


class FieldKind(StrEnum):
    """How a field is stored, which decides the input for it."""

    LINE = "line"
    CHOICE = "choice"
    REST = "rest"
    """All of a pair beside its source, as JSON."""


@dataclass(frozen=True, slots=True)
class PairField:
    """One field of a pair. *path*: its place, such as ``source.value``."""

    path: str
    label: str
    """The label of its input."""
    kind: FieldKind = FieldKind.LINE
    options: Mapping[str, str] = field(default_factory=dict)
    """For a choice, each value and its label, the default first."""
    noun: str = ""
    """Its name in a sentence, where the label doesn't fit."""
    optional: bool = False
    rare: bool = False
    """Whether it is shown only under *More options*."""
    placeholder: str = ""
    hint: str = ""

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]

    @property
    def usual(self) -> str:
        """Return the default of a choice, else an empty text."""
        return next(iter(self.options), "") if self.kind is FieldKind.CHOICE else ""


@dataclass(frozen=True, slots=True)
class RuleType:
    """The fields of one rule type. *fields*: those of a pair beside its source; *example*: what a new pair holds beside them."""

    fields: tuple[PairField, ...] = ()
    example: Mapping[str, Any] = field(default_factory=dict)
    source_label: str = "URL"
    rule_fields: Mapping[str, Any] = field(default_factory=dict)
    """Fields that a new rule needs beside its pairs."""
    needs_source: bool = False
    """Whether the real service's own forms refuse an empty source, which matches every URL."""
    is_closed: bool = False
    """Whether the specification names every field of its pairs."""


SHOP: Final = "https://shop.example.com"
SOURCE: Final = PairField(
    "source.value",
    "URL",
    noun="source",
    placeholder=f"{SHOP}/old",
    hint="The full URL, exactly as in the address bar.",
)
OPERATOR: Final = PairField(
    "source.operator",
    "How",
    FieldKind.CHOICE,
    {
        "Equals": "is exactly",
        "Contains": "contains",
        "Matches": "matches, as a regular expression",
        "Wildcard_Matches": "matches, with * for anything",
    },
    noun="operator",
    rare=True,
)
KEY: Final = PairField(
    "source.key",
    "Compare",
    FieldKind.CHOICE,
    {"Url": "the whole URL", "host": "the host", "path": "the path"},
    noun="part of the URL",
    rare=True,
)
DESTINATION_TYPE: Final = PairField(
    "destinationType",
    "Kind of destination",
    FieldKind.CHOICE,
    {
        "url": "a URL",
        "map_local": "a local file (desktop app only)",
        "mock_or_file_picker": "a mock, or a file that was picked",
    },
    noun="destination type",
    rare=True,
)
REST: Final = PairField("rest", "Everything else, as JSON", FieldKind.REST)
HEADERS_HINT: Final = (
    'A header: `{"type": "Add", "header": "X-Debug", "value": "1"}`. Types: Add, Modify, Remove. '
    "`Request` is what the browser sends, `Response` what it gets."
)
PARAMETERS_HINT: Final = (
    'A parameter: `{"type": "Add", "param": "lang", "value": "en"}`. Types: Add, Remove, Remove All.'
)


TYPES: Final[Mapping[str, RuleType]] = {
    "Redirect": RuleType(
        (PairField("destination", "To", placeholder=f"{SHOP}/new"), DESTINATION_TYPE),
        source_label="From",
        needs_source=True,
        is_closed=True,
    ),
    "Cancel": RuleType(needs_source=True, is_closed=True),
    "Replace": RuleType(
        (PairField("from", "Find", noun="from"), PairField("to", "Replace with", noun="to", optional=True)),
        is_closed=True,
    ),
    "Headers": RuleType(
        (replace(REST, hint=HEADERS_HINT),),
        {"modifications": {"Request": [{"header": "X-Debug", "type": "Add", "value": "1"}], "Response": []}},
        rule_fields={"version": 2},  # without it the engines read Headers in their oldest form
    ),
    "QueryParam": RuleType(
        (replace(REST, hint=PARAMETERS_HINT),),
        {"modifications": [{"param": "utm_source", "type": "Remove", "value": ""}]},
    ),
    "UserAgent": RuleType((REST,), {"userAgent": "Mozilla/5.0 (Phone)"}),
    "Request": RuleType((REST,), {"request": {"type": "static", "value": ""}}, needs_source=True),
    "Response": RuleType(
        (REST,),
        {"response": {"type": "static", "value": "", "statusCode": "", "statusText": "", "resourceType": "restApi"}},
        needs_source=True,
    ),
    "Delay": RuleType((REST,), {"delay": "2000"}, needs_source=True),
    "Script": RuleType(
        (REST,),
        {"scripts": [{"codeType": "js", "type": "code", "loadTime": "afterPageLoad", "value": "console.log('hello')"}]},
    ),
}
"""The types of the specification and of the real service."""

KNOWN_TYPES: Final = tuple(TYPES)
UNKNOWN: Final = RuleType((REST,))
PAIR_FIELDS: Final = {
    name: tuple(field.path for field in rule_type.fields) for name, rule_type in TYPES.items() if rule_type.is_closed
}
"""The fields of a pair beside its source, for the types whose pairs the specification describes."""
NOUNS: Final = {
    field.path: field.noun
    for rule_type in TYPES.values()
    for field in (SOURCE, OPERATOR, KEY, *rule_type.fields)
    if field.noun
}
"""The name of a field in a sentence, by its path."""
CHOICES: Final = {
    field.path: field.options
    for rule_type in TYPES.values()
    for field in (OPERATOR, KEY, *rule_type.fields)
    if field.options
}
"""The labels of the values of a choice, by the path of its field."""


def has_field(rule_type: str | None, name: str) -> bool:
    """Whether a pair of this type may have the field *name*; always for types that the specification leaves open."""
    own = PAIR_FIELDS.get(rule_type or "")
    return own is None or name in own


def fields_of(rule_type: str | None, pair: Mapping[str, Any]) -> list[PairField]:
    """Return the fields that *pair* has or may have, in the order of the form."""
    known = TYPES.get(rule_type or "", UNKNOWN)
    often, rarely = ([field for field in known.fields if field.rare == rare] for rare in (False, True))
    hint = SOURCE.hint if _is_whole_url(pair) else ""
    source = replace(SOURCE, label=known.source_label, hint=hint)
    if not known.needs_source:
        source = replace(source, optional=True, hint=f"{hint} Empty is every URL.".strip())
    return [source, *often, OPERATOR, KEY, *rarely]


def _is_whole_url(pair: Mapping[str, Any]) -> bool:
    """Whether the source of *pair* is a whole, literal URL, rather than a part of one or an expression."""
    source = pair.get("source")
    source = source if isinstance(source, Mapping) else {}
    return all(source.get(each.name) in (None, "", each.usual) for each in (OPERATOR, KEY))


EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})
