"""The inputs of one pair in a rule's form, by its fields or as JSON, and the pair read back from what was typed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from bot.rules.pair_fields import Document, FieldKind, PairField, fields_of
from bot.rules.pair_values import BadValue, json_text, other_names, read_object, text_of, with_text
from handlers.blocks import inputs
from handlers.blocks.messages import code, context, join_words, section
from handlers.blocks.modals import View

JSON: Final = "json"
"""Used as a field's path for the whole pair."""
NEW_SOURCE: Final[Document] = {"key": "Url", "operator": "Equals", "value": ""}
MAX_OTHERS: Final = 5
EDIT_AS_JSON: Final = {False: "To change it, open *More options*.", True: "To change it, press *Edit as JSON*."}
"""The hint on how to change fields without an input, by whether all options are shown."""


class BadInputs(ValueError):
    """What was typed into some inputs can't be read. *words*: what is wrong with each, by its block id."""

    def __init__(self, words: Mapping[str, str]) -> None:
        super().__init__(*words)
        self.words = words


@dataclass(frozen=True, slots=True)
class FormPair:
    """One pair in the form. *key* is its place in block ids: ``o3`` was the rule's pair 3, ``n1`` is new."""

    key: str
    rule_type: str
    base: Document
    """The pair as stored, or as a new one is."""
    typed: Mapping[str, str] = field(default_factory=dict)
    """The content of the form when it was read: the text of each field by its path, or the pair as JSON."""

    @property
    def is_new(self) -> bool:
        return self.key.startswith("n")

    @property
    def number(self) -> int:
        return int(self.key[1:])

    @property
    def fields(self) -> list[PairField]:
        return fields_of(self.rule_type, self.base)

    def block_id(self, path: str) -> str:
        return f"p.{self.key}.{path}"

    def block_of(self, name: str) -> str:
        """Return the block id of the input of the field *name*; where it has none, that of the source."""
        if JSON in self.typed:
            return self.block_id(JSON)
        fields = self.fields
        return self.block_id(next((each for each in fields if each.name == name), fields[0]).path)

    def text(self, each: PairField) -> str | None:
        return self.typed.get(each.path, text_of(each, self.base))

    def document(self) -> Document:
        """Return the pair with what was typed; raises BadInputs."""
        if JSON in self.typed:
            try:
                return read_object(self.typed[JSON])
            except BadValue as error:
                raise BadInputs({self.block_id(JSON): str(error)[:300]}) from error
        pair, wrong = self.base, {}
        for each in self.fields:
            if each.path in self.typed:
                try:
                    pair = with_text(each, pair, self.typed[each.path])
                except BadValue as error:
                    wrong[self.block_id(each.path)] = str(error)[:300]
        if wrong:
            raise BadInputs(wrong)
        return pair

    def as_json(self) -> str | None:
        """Return the pair as JSON; None where no input can hold that, or something typed can't be read."""
        try:
            return _fitting_json(self.document())
        except BadInputs:
            return None


def _fitting_json(pair: Document) -> str | None:
    text = json_text(pair)
    return text if inputs.fits_input(text) else None


def pairs_of_body(document: Document) -> tuple[FormPair, ...]:
    """Return the pairs of a rule's body."""
    rule_type, pairs = str(document.get("ruleType") or ""), document.get("pairs") or ()
    return tuple(FormPair(f"o{number}", rule_type, pair) for number, pair in enumerate(pairs, start=1))


def typed_pairs(values: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the texts typed into the inputs of pairs: by the key of each pair, and by the path of each field."""
    typed: dict[str, dict[str, str]] = {}
    for block_id in values:
        place, _, rest = block_id.partition(".")
        key, _, path = rest.partition(".")
        if place == "p" and path:
            typed.setdefault(key, {})[path] = inputs.typed_value(values, block_id) or ""
    return typed


def size_of(pair: FormPair) -> int:
    """Return how many characters the texts of *pair* take in a view at most, however Slack encodes them and it is shown."""
    texts = [pair.text(each) for each in pair.fields]
    fields = sum(len(json.dumps(text)) for text in texts if text is not None and inputs.fits_input(text))
    return max(fields, len(json.dumps(pair.typed.get(JSON) or _fitting_json(pair.base) or "")))


def count_blocks(pair: FormPair) -> int:
    """Return how many blocks *pair* takes in a view with all its inputs and hints, its head, and its fields without input."""
    return len(pair.fields) + sum(_has_hint_above(each) for each in pair.fields) + 2


def is_unusual(pair: FormPair) -> bool:
    """Whether a rarely used input of *pair* holds something else than its default."""
    return any(each.rare and pair.text(each) not in {each.usual, None} for each in pair.fields)


def pair_blocks(pair: FormPair, number: int, *, removable: bool, more: bool, as_json: bool) -> list[View]:
    """Return the inputs of *pair*, under its *number* where it is not the only one, and so *removable*.

    *more*: also those that are rarely used. *as_json*: one input with all of it, where one can hold it.
    """
    text = pair.typed.get(JSON) or (pair.as_json() if as_json else None)
    if text is not None:
        label = f"Pair {number}, as JSON" if removable else "Pair, as JSON"
        hint = "Saved exactly as written."
        blocks: list[View] = [inputs.text(pair.block_id(JSON), label, text, multiline=True, hint=hint)]
    else:
        blocks = [block for each in pair.fields if more or not each.rare for block in _field_blocks(pair, each, more)]
        others = join_words([code(name, 40) for name in other_names(pair.rule_type, pair.base)], most=MAX_OTHERS)
        words = f"Also holds {others}, kept unchanged. {EDIT_AS_JSON[more]}" if others else ""
        words = "Too long to be edited as JSON here." if as_json else words
        blocks += [context(words) | {"block_id": f"others.{pair.key}"}] if words else []
    if not removable:
        return blocks
    head: View = section(f"*Pair {number}*") | {"block_id": f"head.{pair.key}"}
    head["accessory"] = button("Remove pair", f"v1.form.remove.{pair.key}", pair.key)
    return [head, *blocks]


def _has_hint_above(each: PairField) -> bool:
    """Whether the hint of the field comes before its input: below many lines of JSON, nobody would look for it."""
    return each.kind is FieldKind.REST and bool(each.hint)


def _field_blocks(pair: FormPair, each: PairField, more: bool) -> list[View]:
    if not _has_hint_above(each):
        return [_field(pair, each, more)]
    hint = context(each.hint) | {"block_id": f"hint.{pair.key}"}
    return [hint, _field(pair, replace(each, hint=""), more)]


def _field(pair: FormPair, each: PairField, more: bool) -> View:
    block_id, text = pair.block_id(each.path), pair.text(each)
    if each.kind is FieldKind.CHOICE and text is not None and len(text) <= inputs.MAX_OPTION_LENGTH:
        return inputs.menu(block_id, each.label, {**each.options} | {text: each.options.get(text, text)}, text)
    if text is None or not inputs.fits_input(text) or each.kind is FieldKind.CHOICE:
        if not pair.is_new:
            return section(f"*{each.label}*  {_kept_text(text, more)}") | {"block_id": f"kept.{pair.key}.{each.path}"}
        text = ""
    optional = each.optional or not (pair.is_new or text_of(each, pair.base))
    return inputs.text(
        block_id,
        each.label,
        text,
        optional=optional,
        multiline=each.kind is FieldKind.REST,
        placeholder=each.placeholder or None,
        hint=each.hint or None,
    )


def _kept_text(text: str | None, more: bool) -> str:
    if text is None:
        return f"can’t be shown as a field here, and is kept unchanged. {EDIT_AS_JSON[more]}"
    return f"is too long for a form ({len(text):,} characters) and is kept unchanged."


def button(label: str, action_id: str, value: str) -> View:
    return {"type": "button", "action_id": action_id, "value": value, "text": inputs.label_text(label)}
