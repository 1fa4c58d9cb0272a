"""The form of a rule as a person left it: from Slack's view and its state back to a form, losing nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.rules.model import ACTIVE, Rule
from handlers.blocks import inputs
from handlers.blocks.modals import View, metadata
from handlers.rules import form_fields_view
from handlers.rules.form_fields_view import LABELS, NEW_PAIR, OPTIONS, Document, FormPair, numbered, unpacked
from handlers.rules.form_view import RuleForm


def read_form(view: View, base: Rule | None = None) -> RuleForm:
    """The form as a person left it: *view* with its state. *base*: the rule that it edits or copies.

    What the form does not show comes from *base*; without it, the form can be checked, but not shown again or saved.
    """
    about = metadata(view)
    values = (view.get("state") or {}).get("values") or {}
    form = RuleForm(
        mode=about.get("mode", "new"),
        document=_document(about, values, base),
        pairs=(),
        channel=str(about.get("channel") or ""),
        rule_id=about.get("id"),
        seen=about.get("seen"),
        reason=inputs.typed(values, inputs.REASON) or "",
        warned=str(about.get("warned") or ""),
        lasts=inputs.typed(values, inputs.LASTS) or "",
        group=str(about.get("group") or ""),
        announce=inputs.chosen_channel(view),
    )
    if form.pairs_block in values:
        form = replace(form, pairs_text=inputs.typed(values, form.pairs_block) or "")
    originals = {pair.key: pair.document for pair in numbered(form.document)}
    keys = unpacked(about.get("keys") or "")
    pairs = [FormPair(key, originals.get(key, NEW_PAIR)) for key in keys]
    left: Mapping[str, str] = about.get("aside") or {}
    held = frozenset(pair.key for pair in pairs if pair.block_id("value") in values)
    form = replace(form, pairs=tuple(_typed_pair(pair, values, left) for pair in pairs), held=held)
    before = str(about.get("type") or "")
    other = form.mode == "new" and form.rule_type != before
    return _of_other_type(form, before, values, left) if other else form


def _document(about: Mapping[str, Any], values: Mapping[str, Any], base: Rule | None) -> Document:
    """The body of the rule with its head as typed."""
    document: Document = {"ruleType": about.get("type")}
    if base is not None:
        document = base.content() if about.get("mode") == "copy" else base.body()
    head = {name: inputs.typed(values, name) for name in ("name", "description", "status")}
    absent = {} if base is None else {"description": "", "status": ACTIVE}
    present = {
        name: value or ""
        for name, value in head.items()
        if name in values and (name in document or (value or "") != absent.get(name))
    }
    rule_type = inputs.typed(values, "type") or document.get("ruleType")
    return document | present | {"ruleType": rule_type}


def _typed_pair(pair: FormPair, values: Mapping[str, Any], left: Mapping[str, str]) -> FormPair:
    for name in LABELS:
        block_id = pair.block_id(name)
        if block_id in values:
            pair = _changed(pair, name, inputs.typed(values, block_id) or "")
        elif block_id in left:
            pair = pair.with_field(name, left[block_id])
    return pair


def _of_other_type(form: RuleForm, before: str, values: Mapping[str, Any], left: Mapping[str, str]) -> RuleForm:
    """Another type was chosen: what was typed for the one *before* is carried over as far as it means the same here."""
    typed_before = inputs.typed(values, f"pairs.{before}")
    if typed_before is not None:
        read = _out_of_json(form, before, typed_before)
        form = replace(form, pairs=tuple(_typed_pair(pair, {}, left) for pair in read))
    if form.typed:
        return form.with_shown()
    sources = [pair.document.get("source") for pair in form.pairs]
    known = [source if isinstance(source, dict) else NEW_PAIR["source"] for source in sources]
    return form.with_json([form_fields_view.skeleton(form.rule_type, source) for source in known])


def _out_of_json(form: RuleForm, before: str, text: str) -> tuple[FormPair, ...]:
    """The pairs that were typed as JSON, less what belongs to the type *before*; those of before where it is none."""
    try:
        typed = form_fields_view.read(text)
    except form_fields_view.NotPairs:
        return form.pairs
    foreign = form_fields_view.SKELETONS.get(before, {})
    kept = [NEW_PAIR | {name: value for name, value in pair.items() if name not in foreign} for pair in typed]
    kept = [pair if isinstance(pair["source"], dict) else pair | {"source": NEW_PAIR["source"]} for pair in kept]
    return tuple(FormPair(f"n{number}", pair) for number, pair in enumerate(kept, start=1)) or form.pairs


def _changed(pair: FormPair, name: str, value: str) -> FormPair:
    """With the field set, unless it was absent and still says no more than its default."""
    is_kept = name == "destinationType" or pair.key.startswith("o")
    if is_kept and pair.read(name) is None and value == OPTIONS.get(name, ("",))[0]:
        return pair
    return pair.with_field(name, value)
