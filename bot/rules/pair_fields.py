"""The fields of a rule's pairs, by type: the one table that forms, `/rules set` and the texts of cards are made from.

A type or a field that isn't here is preserved in every edit, and edited as JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

Document = dict[str, Any]


class FieldKind(StrEnum):
    """How a field is stored, which decides the input for it."""

    LINE = "line"
    TEXT = "text"
    """Several lines."""
    NUMBER = "number"
    """Stored as digits or as a number; an edit keeps the type that it has."""
    CHOICE = "choice"
    FLAG = "flag"
    """A choice between ``false`` and ``true``."""
    CHANGES = "changes"
    """A list of objects, each of which adds, changes or removes something by its name; people edit one per line."""


@dataclass(frozen=True, slots=True)
class PairField:
    """One field of a pair. *path*: its place, such as ``response.statusCode``; ``*`` stands for each entry of a list."""

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
    least: int = 0
    most: int = 999_999_999
    """The largest value of a number."""

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]

    @property
    def usual(self) -> str:
        """Return the default of a choice or a flag, else an empty text."""
        is_menu = self.kind in {FieldKind.CHOICE, FieldKind.FLAG}
        return next(iter(self.options), "") if is_menu else ""


@dataclass(frozen=True, slots=True)
class RuleType:
    """The fields of one rule type. *fields*: those of a pair beside its source. *older*: the same in a form no longer written."""

    fields: tuple[PairField, ...] = ()
    older: tuple[PairField, ...] = ()
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
MADE_HOW: Final = {"static": "the text as it stands", "code": "what the JavaScript returns"}


def _body(path: str, noun: str) -> tuple[PairField, ...]:
    """Return the fields of the body of a request or a response, under *path*."""
    return (
        PairField(f"{path}value", "Body", FieldKind.TEXT, noun=noun, optional=True, placeholder="{}"),
        PairField(f"{path}type", "The body is", FieldKind.CHOICE, MADE_HOW, noun=f"kind of {noun}", rare=True),
    )


def _response(path: str) -> tuple[PairField, ...]:
    body, made_how = _body(path, "answer's body")
    kinds = {"restApi": "a REST API", "graphqlApi": "a GraphQL API", "static": "a file", "unknown": "unknown"}
    asked = {"false": "yes", "true": "no, answer at once"}
    return (
        body,
        PairField(
            f"{path}statusCode",
            "Status code",
            FieldKind.NUMBER,
            noun="answer's status",
            optional=True,
            least=100,
            most=599,
        ),
        replace(made_how, options=MADE_HOW | {"local_file": "a local file (desktop app only)"}),
        PairField(f"{path}statusText", "Status text", noun="answer's status text", optional=True, rare=True),
        PairField(
            f"{path}resourceType",
            "It answers for",
            FieldKind.CHOICE,
            kinds,
            noun="kind of request",
            rare=True,
        ),
        PairField(
            f"{path}serveWithoutRequest",
            "Ask the server",
            FieldKind.FLAG,
            asked,
            noun="ask the server",
            start=None,
            rare=True,
        ),
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
        (REQUEST_HEADERS, RESPONSE_HEADERS),
        older=(
            PairField("header", "Header"),
            PairField("value", "Value", optional=True),
            PairField("type", "What to do", FieldKind.CHOICE, HEADER_CHANGES),
            PairField("target", "Headers of", FieldKind.CHOICE, {"Request": "the request", "Response": "the response"}),
        ),
        rule_fields={"version": 2},  # without it the engines read Headers in their oldest form
    ),
    "QueryParam": RuleType(
        (PARAMETERS,),
        older=(
            PairField("param", "Parameter", optional=True),
            PairField("value", "Value", optional=True),
            PairField("type", "What to do", FieldKind.CHOICE, PARAMETER_CHANGES),
        ),
    ),
    "UserAgent": RuleType(
        (
            PairField("userAgent", "User agent", noun="user agent", placeholder="Mozilla/5.0 (Phone)"),
            PairField("env", "Device or browser", noun="device or browser", start=None, optional=True, rare=True),
            PairField(
                "envType",
                "The user agent is",
                FieldKind.CHOICE,
                {"custom": "its own text", "device": "that of a device", "browser": "that of a browser"},
                noun="kind of user agent",
                start=None,
                rare=True,
            ),
        )
    ),
    "Request": RuleType(_body("request.", "request body"), older=_body("", "request body"), needs_source=True),
    "Response": RuleType(_response("response."), older=_response(""), needs_source=True),
    "Delay": RuleType(
        (
            PairField(
                "delay",
                "Delay in milliseconds",
                FieldKind.NUMBER,
                noun="delay",
                placeholder="2000",
                hint="At most 10,000: the extension waits no longer.",
                most=10_000,
            ),
        ),
        needs_source=True,
    ),
    "Script": RuleType(
        (
            PairField(
                "scripts.*.value",
                "Code, or its URL",
                FieldKind.TEXT,
                noun="script * code",
                placeholder="console.log('hello')",
            ),
            PairField(
                "scripts.*.codeType",
                "Language",
                FieldKind.CHOICE,
                {"js": "JavaScript", "css": "CSS"},
                noun="script * language",
            ),
            PairField(
                "scripts.*.type",
                "Given as",
                FieldKind.CHOICE,
                {"code": "code", "url": "a URL"},
                noun="script * given as",
            ),
            PairField(
                "scripts.*.loadTime",
                "Run it",
                FieldKind.CHOICE,
                {
                    "afterPageLoad": "after the page has loaded",
                    "beforePageLoad": "before the page loads",
                    "asSoonAsPossible": "as soon as possible",
                },
                noun="script * runs",
            ),
        )
    ),
}
"""The types of the specification and of the real service."""

KNOWN_TYPES: Final = tuple(TYPES)
UNKNOWN: Final = RuleType()
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
    own = sorted((one for field in _layout(known, pair) for one in _expand_entries(field, pair)), key=_number)
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


def _number(field: PairField) -> int:
    """Return the index of the list entry that *field* belongs to; 0 for a field outside of a list."""
    return next((int(part) for part in field.path.split(".") if part.isdigit()), 0)


def _layout(known: RuleType, pair: Mapping[str, Any]) -> tuple[PairField, ...]:
    """Return the fields in the form that *pair* has: the older one only where it has no field of the newer."""
    tops = ({field.path.partition(".")[0] for field in layout} for layout in (known.fields, known.older))
    newer, older = ({name for name in top if pair.get(name) not in EMPTY} for top in tops)
    return known.older if older and not newer else known.fields


EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})


def _expand_entries(field: PairField, pair: Mapping[str, Any]) -> Iterator[PairField]:
    """Yield the field, or one field for each entry of the list that it is in; for an empty list, the first entry's."""
    place, star, rest = field.path.partition(".*")
    if not star:
        yield field
        return
    found = pair.get(place)
    count = len(found) if isinstance(found, list) and found else 1
    for number in range(count):
        lead = f"{number + 1}. " if count > 1 else ""
        yield replace(field, path=f"{place}.{number}{rest}", label=f"{lead}{field.label}")
