"""The modal that creates, edits and copies a rule: from a rule to a form, and to Slack's view, losing nothing.

Fields follow the chosen type, by the table in `bot.rules.pair_fields`; anything without a field is edited as JSON. What a
modal can't hold (a sixtieth pair, a text of 20,000 characters) is not shown, and kept as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Self

from bot.changes.model.documents import canonical_form, fingerprint
from bot.rules.edit import Problem, source_reaching
from bot.rules.model import ACTIVE, INACTIVE, Rule, RuleDraft
from bot.rules.pair_fields import KNOWN_TYPES, PAIR_FIELDS, TYPES, UNKNOWN, Document, has_field
from bot.rules.pair_values import new_pair
from handlers.blocks import inputs
from handlers.blocks.messages import code, esc, plural, section
from handlers.blocks.modals import View, frame, with_notes
from handlers.grammar.command import slash
from handlers.rules.commands import name_of_urls
from handlers.rules.form_fields_view import (
    NEW_SOURCE,
    BadInputs,
    FormPair,
    button,
    count_blocks,
    is_unusual,
    pair_blocks,
    pairs_of_body,
    size_of,
)
from handlers.rules.reasons import type_word

CALLBACK: Final = "v2.rule.form"
MAX_PAIR_BLOCKS: Final = 70
"""Blocks for pairs, of the hundred that a modal may have: the head, the reason and the errors need theirs."""

MAX_PAIR_TEXT: Final = 120_000
"""Characters of the texts of pairs, as JSON: a view may have 250,000 in all, and the head and the reason need theirs."""

MAX_TYPE_LENGTH: Final = 40
"""Characters of a rule's type that the view's metadata holds; the rule itself has the rest."""

STATUS_WORDS: Final = {ACTIVE: "On", INACTIVE: "Off"}
HEAD: Final = ("name", "description", "status")
"""The fields of the rule itself that have an input."""
TITLES: Final = {"new": "New rule", "edit": "Edit rule", "copy": "Copy rule"}


@dataclass(frozen=True)
class RuleForm:
    """The content of the modal. *document*: the body that it starts from; fields without an input stay as they are there."""

    mode: str
    document: Document
    pairs: tuple[FormPair, ...]
    channel: str = ""
    rule_id: str | None = None
    """The rule that is edited, or copied."""
    seen: str | None = None
    """Fingerprint of the rule as it was when the form opened; if it has changed since, nothing is overwritten."""
    reason: str = ""
    start: str = ""
    """``tomorrow 9:00``, as typed."""
    expiry: str = ""
    """``2h`` or ``18:00``, as typed."""
    as_json: bool = False
    """Whether pairs are edited as JSON rather than by their fields."""
    warned: str = ""
    """Fingerprint of the warnings that the form shows: submitted again with the same ones, it is saved in spite of them."""
    more: bool = False
    """Whether the inputs that are rarely used were opened."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Block id -> what is wrong with its input; the empty id is the whole form."""

    @classmethod
    def blank(
        cls,
        *,
        type: str | None = None,  # noqa: A002  the field's own name
        source: str | None = None,
        destination: str | None = None,
        name: str | None = None,
        reach: str | None = None,
        **more: Any,
    ) -> Self:
        """Return an empty form, with what the command already has; *more*: other fields of a form."""
        known = {each.casefold(): each for each in KNOWN_TYPES}
        rule_type = known.get((type or "Redirect").casefold(), type) or ""
        pair = new_pair(rule_type, source_reaching(source or "", reach))
        if destination:
            pair = pair | {"destination": destination}
        if not name and source and (destination or rule_type == "Cancel"):
            name = name_of_urls(source, destination)
        document = {"name": name or "", "description": "", "status": ACTIVE, "ruleType": rule_type}
        return cls("new", document, (FormPair("n1", rule_type, pair),), **more)

    @classmethod
    def of(cls, rule: Rule, *, channel: str) -> Self:
        """Return the form that edits *rule*."""
        seen = fingerprint(canonical_form(rule.document()))
        return cls("edit", rule.body(), pairs_of_body(rule.body()), channel, rule.id, seen)

    @classmethod
    def copy_of(cls, rule: Rule, *, channel: str) -> Self:
        """Return a form for a new rule like *rule*; it is off at first, since two equal active rules help nobody."""
        document = body_to_copy(rule) | {"name": f"{rule.title} (copy)", "status": INACTIVE}
        seen = fingerprint(canonical_form(rule.document()))
        return cls("copy", document, pairs_of_body(document), channel, rule.id, seen)

    @property
    def rule_type(self) -> str:
        return str(self.document.get("ruleType") or "")

    @cached_property
    def shown(self) -> tuple[FormPair, ...]:
        """Return the pairs that get inputs: those that had them, then the first ones for which the form has room."""
        blocks, text = MAX_PAIR_BLOCKS, MAX_PAIR_TEXT
        keys: set[str] = set()
        for pair in sorted(self.pairs, key=lambda pair: not pair.typed):
            blocks -= count_blocks(pair)
            text -= size_of(pair)
            if not pair.typed and min(blocks, text) < 0:
                break
            keys.add(pair.key)
        return tuple(pair for pair in self.pairs if pair.key in keys)

    @cached_property
    def shown_keys(self) -> frozenset[str]:
        return frozenset(pair.key for pair in self.shown)

    @cached_property
    def shows_more(self) -> bool:
        """Whether the inputs that are rarely used are shown: somebody asked for them, or one holds more than its default."""
        document = self.document
        own = document.get("description") or head_text(document, "status") != ACTIVE or self.start or self.expiry
        return self.more or self.as_json or bool(own) or any(is_unusual(pair) for pair in self.shown)

    def draft(self) -> RuleDraft:
        """Return the rule as the form has it; raises BadInputs where something typed can't be read."""
        own = TYPES.get(self.rule_type, UNKNOWN).rule_fields if self.mode == "new" else {}
        return RuleDraft.model_validate({**self.document, **own, "pairs": self._pair_documents()})

    def _pair_documents(self) -> list[Document]:
        """Return the pairs as the form has them; raises BadInputs."""
        documents: list[Document] = []
        wrong: dict[str, str] = {}
        for pair in self.pairs:
            try:
                documents.append(pair.document())
            except BadInputs as error:
                wrong |= error.words
        if wrong:
            raise BadInputs(wrong)
        return documents

    def block_of(self, problem: Problem) -> str:
        """Return the block id of the input that *problem* is about; where it has none, one that is always there."""
        if problem.field == "name":
            return "name"
        if problem.field == "ruleType":
            return "type" if self.asks_type else "name"
        pair = self.pairs[problem.pair - 1] if problem.pair else None
        is_shown = pair is not None and pair.key in self.shown_keys
        return pair.block_of("value" if problem.field == "source" else problem.field) if pair and is_shown else "name"

    def with_notes(self, notes: Mapping[str, str]) -> Self:
        return replace(self, notes=notes)

    def with_json(self) -> Self:
        """Return the form with each pair as JSON; where something typed can't be read, the form as it is, with a note."""
        try:
            self.draft()
        except BadInputs as error:
            return self.with_notes(error.words)
        return replace(self, as_json=True)

    def with_pair(self) -> RuleForm:
        """Return the form with one more, empty pair."""
        taken = [pair.number for pair in self.pairs if pair.is_new]
        pair = FormPair(f"n{max(taken, default=0) + 1}", self.rule_type, new_pair(self.rule_type, NEW_SOURCE))
        return replace(self, pairs=(*self.pairs, pair))

    def without_pair(self, key: str) -> RuleForm:
        """Return the form without that pair; the last pair stays, since a rule needs one."""
        left = tuple(pair for pair in self.pairs if pair.key != key)
        return replace(self, pairs=left) if left else self

    def with_new_pairs(self, pairs: Sequence[FormPair]) -> Self:
        """Return the form with these new *pairs*, as many as it has room for; a note counts the others."""
        form = replace(self, pairs=tuple(pairs))
        left = len(pairs) - len(form.shown)
        note = f"Left out: {left:,} of {plural(len(pairs), 'pair')}. The form has no room for more."
        return replace(form, pairs=form.shown, notes={"": note} if left else {})

    def view(self) -> View:
        """Return the modal, ready for views.open or views.update."""
        submit = "Save" if self.mode == "edit" else "Create"
        if self.warned and "" in self.notes and inputs.REASON not in self.notes:
            submit += " anyway"
        kept = {"mode": self.mode, "id": self.rule_id, "seen": self.seen, "channel": self.channel}
        left = {pair.key for pair in self.pairs}
        removed = [pair.key for pair in pairs_of_body(self.document) if pair.key not in left]
        about = {"removed": removed, "type": self.rule_type[:MAX_TYPE_LENGTH]}
        metadata = kept | about | {"warned": self.warned, "more": self.shows_more, "json": self.as_json}
        return frame(TITLES[self.mode], self._blocks(), callback_id=CALLBACK, submit=submit, metadata=metadata)

    def _blocks(self) -> list[View]:
        until = () if self.mode == "edit" else (inputs.expiry(self.expiry),)
        reason = inputs.reason(self.reason)
        name, *rest = self._head()
        options = {
            "type": "actions",
            "block_id": "options",
            "elements": [button("More options", "v1.form.more", "more")],
        }
        more = (*rest, inputs.start(self.start), *until) if self.shows_more else (options,)
        blocks = [self._type_block(), *self._pair_blocks(), name, reason, *more, *inputs.channel(self.channel)]
        return with_notes(blocks, self.notes)

    def _head(self) -> list[View]:
        name = self._line("name", "Name", optional=False)
        description = self._line("description", "Description", optional=True)
        status = head_text(self.document, "status")
        if len(status) > inputs.MAX_OPTION_LENGTH:
            return [name, description]
        options = STATUS_WORDS | {status: STATUS_WORDS.get(status, status)}
        return [name, description, inputs.radios("status", "Status", options, status)]

    def _line(self, name: str, label: str, *, optional: bool) -> View:
        value = head_text(self.document, name)
        if inputs.fits_input(value):
            return inputs.text(name, label, value, optional=optional)
        return section(f"*{label}* is too long for a form ({len(value):,} characters) and is kept unchanged.")

    @property
    def asks_type(self) -> bool:
        """Whether the type can be chosen: JSON belongs to the type that it was written for."""
        return self.mode == "new" and not self.as_json

    def _type_block(self) -> View:
        if self.asks_type:
            types = {each: type_word(each) for each in (*KNOWN_TYPES, self.rule_type[:MAX_TYPE_LENGTH])}
            return inputs.menu("type", "Type", types, self.rule_type, dispatch=True)
        about = f" {code(self.rule_id)}" if self.rule_id else ""
        return section(f"*{esc(type_word(self.rule_type))}*{about}")

    def _pair_blocks(self) -> list[View]:
        blocks: list[View] = []
        shown_as = {"removable": len(self.pairs) > 1, "more": self.shows_more, "as_json": self.as_json}
        for number, pair in enumerate(self.pairs, start=1):
            if pair.key in self.shown_keys:
                blocks += pair_blocks(pair, number, **shown_as)
        if hidden := len(self.pairs) - len(self.shown):
            stay = "don’t fit here and are" if hidden > 1 else "doesn’t fit here and is"
            how = f"Change one by its number: `{slash('rules set REF pair12.source=…')}`"
            blocks.append(section(f":lock: {plural(hidden, 'more pair')} {stay} kept unchanged. {how}"))
        more = self.with_pair()
        buttons = [button("Add pair", "v1.form.add", "add")] if more.pairs[-1].key in more.shown_keys else []
        if self.shows_more and not self.as_json and self.shown:
            buttons.append(button("Edit as JSON", "v1.form.json", "json"))
        return [*blocks, {"type": "actions", "block_id": "more", "elements": buttons}] if buttons else blocks


def head_text(document: Document, name: str) -> str:
    """Return what the form shows of the field *name* of a rule itself; a rule without a status is off."""
    return str(document.get(name) or (INACTIVE if name == "status" else ""))


SPECIFIED: Final = {name for names in PAIR_FIELDS.values() for name in names}


def body_to_copy(rule: Rule) -> Document:
    """Return the body that a copy of *rule* starts from: its content, without fields of pairs that belong to another type."""
    foreign = {name for name in SPECIFIED if not has_field(rule.rule_type, name)}
    content = rule.content()
    pairs = [{name: pair[name] for name in pair if name not in foreign} for pair in content.get("pairs") or ()]
    return content | {"pairs": pairs}
