"""The fields of a rule's pairs, by type: the one table that forms, `/rules set` and the texts of cards are made from.

The types that people write most have a field for each part; of all others the source has, and the rest is JSON. A field that
isn't here is preserved in every edit.
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
    CHANGES = "changes"
    """A list of objects, each of which adds, changes or removes something by its name; people edit one per line."""
    REST = "rest"
    """All of a pair beside its source, as JSON."""


@dataclass(frozen=True, slots=True)
class PairField:
    """One field of a pair. *path*: its place, such as ``modifications.Request``."""

    path: str
    label: str
    """The label of its input."""
    kind: FieldKind = FieldKind.LINE
    options: Mapping[str, str] = field(default_factory=dict)
    """For a choice, each value and its label, the default first. For changes, each operation and its verb."""
    noun: str = ""
    """Its name in a sentence, where the label doesn't fit."""
    start: Any = ""
    """The value in a new pair (empty: the default of a choice); None where a new pair does not have the field."""
    optional: bool = False
    rare: bool = False
    """Whether it is shown only under *More options*."""
    placeholder: str = ""
    hint: str = ""
    entry: str = ""
    """For changes, the field of each object that names what is changed."""
    joint: str = ""
    """For changes, the separator between the name and its value."""

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
HEADER_CHANGES: Final = {"Add": "Add", "Modify": "Change", "Remove": "Remove"}
PARAMETER_CHANGES: Final = {"Add": "Add", "Remove": "Remove", "Remove All": "Remove all"}
REQUEST_HEADERS: Final = PairField(
    "modifications.Request",
    "Request headers",
    FieldKind.CHANGES,
    HEADER_CHANGES,
    noun="request header",
    start=[],
    optional=True,
    placeholder="Add X-Debug: 1",
    hint="One per line: Add NAME: VALUE, Change NAME: VALUE or Remove NAME.",
    entry="header",
    joint=": ",
)
RESPONSE_HEADERS: Final = replace(
    REQUEST_HEADERS,
    path="modifications.Response",
    label="Response headers",
    noun="response header",
    placeholder="Remove Server",
)
PARAMETERS: Final = PairField(
    "modifications",
    "Parameters",
    FieldKind.CHANGES,
    PARAMETER_CHANGES,
    noun="modification",
    start=[],
    placeholder="Remove utm_source",
    hint="One per line: Add NAME=VALUE, Remove NAME or Remove all.",
    entry="param",
    joint="=",
)
REST: Final = PairField("rest", "Everything else, as JSON", FieldKind.REST, start=None)


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
        (REQUEST_HEADERS, RESPONSE_HEADERS),
        rule_fields={"version": 2},  # without it the engines read Headers in their oldest form
    ),
    "QueryParam": RuleType((PARAMETERS,)),
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
    f"{field.path}.*.type" if field.kind is FieldKind.CHANGES else field.path: field.options
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
    own = (REST,) if _is_flat(known, pair) else known.fields
    often, rarely = ([field for field in own if field.rare == rare] for rare in (False, True))
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


def _is_flat(known: RuleType, pair: Mapping[str, Any]) -> bool:
    """Whether *pair* is itself a change, as in the first version of Headers and QueryParam, and doesn't hold a list of them."""
    return pair.get("modifications") in EMPTY and any(
        pair.get(field.entry) not in EMPTY for field in known.fields if field.entry
    )


EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})
