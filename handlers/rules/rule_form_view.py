"""The modal that makes, edits and copies a rule: from a rule to a form, and to Slack's view, losing nothing.

Fields follow the chosen type. Pairs of types that the specification describes get a field each; those of others
are JSON. What a modal cannot hold (a sixtieth pair, a text of 20,000 characters) is not shown and kept as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Self

from bot.changes.model import canonical_form, fingerprint
from bot.rules.edit import Problem, source_reaching
from bot.rules.model import ACTIVE, INACTIVE, KNOWN_TYPES, TYPED, Groups, Rule, RuleDraft, why_group_is_off
from handlers.blocks import inputs
from handlers.blocks.messages import clip, code, esc, plural
from handlers.blocks.modals import View, frame, section, with_notes
from handlers.grammar.command import slash
from handlers.rules import form_fields_view
from handlers.rules.form_fields_view import (
    NEW_PAIR,
    Document,
    FormPair,
    button,
    fits,
    is_unusual,
    names_of,
    pack_keys,
    pair_blocks,
    pairs_of_body,
    size_of,
)
from handlers.rules.pairs_view import group_name, status_name
from handlers.rules.reasons import type_word

CALLBACK: Final = "v1.rule.form"
MOST_PAIRS: Final = 10
"""Pairs that get fields: six blocks each of the hundred that a modal may have."""

MOST_PAIR_TEXT: Final = 120_000
"""Characters of their texts, as JSON writes them: a view has 250,000 in all, and the head and the reason need theirs."""

LONGEST_TYPE: Final = 40
"""Characters of a rule's type that travel in the view; the rule itself knows the rest."""

HIDDEN_PAIRS: Final = (
    "{count} doesn’t fit here and is kept unchanged.",
    "{count} don’t fit here and are kept unchanged.",
)

MORE_OPTIONS: Final[View] = {
    "type": "actions",
    "block_id": "options",
    "elements": [button("More options", "v1.form.more", "more")],
}

STATUS_WORDS: Final = {ACTIVE: "On", INACTIVE: "Off"}
TITLES: Final = {"new": "New rule", "edit": "Edit rule", "copy": "Copy rule"}


@dataclass(frozen=True)
class RuleForm:
    """What the modal holds. *document* is the body it starts from: fields without an input stay as they are there."""

    mode: str
    document: Document
    pairs: tuple[FormPair, ...]
    channel: str = ""
    rule_id: str | None = None
    """The rule that is edited, or copied."""
    seen: str | None = None
    """Fingerprint of the rule as it was when the form opened; if it has moved since, nothing is overwritten."""
    reason: str = ""
    expiry: str = ""
    """``2h`` or ``18:00``, as typed."""
    group: str = ""
    """The group that the rule is in and whether that holds it back, in words; empty where there is nothing to say."""
    pairs_text: str | None = None
    """The pairs as typed, where they are JSON."""
    held: frozenset[str] = frozenset()
    """The keys of the pairs whose fields were shown when the form was read: what was typed stands there and nowhere else."""
    announce: str = ""
    """The channel that was chosen in the form, where it was opened from none."""
    warned: str = ""
    """Fingerprint of the warnings that the form shows: sent again as it is, it is saved in spite of them."""
    more: bool = False
    """Whether the inputs that are rarely used were opened."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Block id -> what was refused about it; the empty id is the whole form."""

    @classmethod
    def blank(
        cls,
        *,
        type: str | None = None,  # noqa: A002  the field's own name
        source: str | None = None,
        destination: str | None = None,
        name: str | None = None,
        reason: str = "",
        expiry: str = "",
        channel: str = "",
        reach: str | None = None,
    ) -> Self:
        """An empty form, with whatever the command already said."""
        known = {each.casefold(): each for each in KNOWN_TYPES}
        rule_type = known.get((type or "Redirect").casefold(), type) or ""
        pair = NEW_PAIR | {"source": source_reaching(source or "", reach)}
        if rule_type not in TYPED:
            pair = form_fields_view.skeleton(rule_type, pair["source"])
        if destination:
            pair = pair | {"destination": destination}
        document = {"name": name or "", "description": "", "status": ACTIVE, "ruleType": rule_type}
        form = cls("new", document, (FormPair("n1", pair),), channel=channel, reason=reason, expiry=expiry)
        return form if form.typed else form.with_pairs([pair])

    @classmethod
    def of(cls, rule: Rule, *, channel: str, groups: Groups | None = None) -> Self:
        """The form that edits *rule*."""
        seen = fingerprint(canonical_form(rule.document()))
        words = _group_words(rule, groups)
        return cls("edit", rule.body(), pairs_of_body(rule.body()), channel, rule.id, seen, group=words)

    @classmethod
    def copy_of(cls, rule: Rule, *, channel: str) -> Self:
        """A form for a new rule like *rule*; it starts Inactive, since two equal active rules help nobody."""
        document = rule.content() | {"name": f"{rule.title} (copy)", "status": INACTIVE}
        seen = fingerprint(canonical_form(rule.document()))
        return cls("copy", document, pairs_of_body(document), channel, rule.id, seen)

    @property
    def rule_type(self) -> str:
        return str(self.document.get("ruleType") or "")

    @property
    def typed(self) -> bool:
        return self.rule_type in TYPED

    @cached_property
    def shown(self) -> tuple[FormPair, ...]:
        """The pairs that get fields: those that had them, then the first ones whose texts fit into the form."""
        kept = {pair.key for pair in self.pairs if pair.key in self.held}
        room = MOST_PAIR_TEXT - sum(size_of(pair, self.rule_type) for pair in self.pairs if pair.key in kept)
        for pair in self.pairs:
            if pair.key in kept or not fits(pair, self.rule_type):
                continue
            room -= size_of(pair, self.rule_type)
            if room < 0 or len(kept) >= MOST_PAIRS:
                break
            kept.add(pair.key)
        return tuple(pair for pair in self.pairs if pair.key in kept)

    @cached_property
    def shown_keys(self) -> frozenset[str]:
        return frozenset(pair.key for pair in self.shown)

    @cached_property
    def shows_more(self) -> bool:
        """Whether the inputs that are rarely used are shown: somebody asked for them, or one holds more than its default."""
        document = self.document
        own = document.get("description") or str(document.get("status") or ACTIVE) != ACTIVE or self.expiry
        return self.more or bool(own) or (self.typed and any(is_unusual(pair, self.rule_type) for pair in self.shown))

    @property
    def pairs_block(self) -> str:
        """The block id of the pairs as JSON: one a type, or Slack would show the text of the type before."""
        return f"pairs.{self.rule_type}" if self.mode == "new" else "pairs"

    def draft(self) -> RuleDraft:
        """The rule as the form says; raises NotPairs where the pairs' JSON is none."""
        own = form_fields_view.RULE_FIELDS.get(self.rule_type, {}) if self.mode == "new" else {}
        return RuleDraft.model_validate({**self.document, **own, "pairs": self._documents()})

    def _documents(self) -> list[Document]:
        if not self.typed:
            return (
                [pair.document for pair in self.pairs]
                if self.pairs_text is None
                else form_fields_view.read(self.pairs_text)
            )
        names = names_of(self.rule_type)
        return [pair.document if self._keeps(pair) else pair.only(names) for pair in self.pairs]

    def _keeps(self, pair: FormPair) -> bool:
        """Whether *pair* is the rule's own, of which nothing is taken away that nobody was shown."""
        return self.mode == "edit" and not pair.is_new

    def block_of(self, problem: Problem) -> str:
        """The block id of the input that *problem* is about; one that is always there, where it has none."""
        if problem.field == "name":
            return "name"
        if problem.field == "ruleType":
            return "type" if self.mode == "new" else "name"
        return self.block_of_pair(problem.pair or 0, problem.field if problem.field != "source" else "value") or "name"

    def block_of_pair(self, number: int, *fields: str) -> str:
        """The block id of the first of *fields* that this type has, in the pair of that *number*; empty where none is shown."""
        if not self.typed:
            return self.pairs_block
        field = next((field for field in fields if field in names_of(self.rule_type)), "value")
        keys = [pair.key for pair in self.pairs]
        shown = 0 < number <= len(keys) and keys[number - 1] in self.shown_keys
        return self.pairs[number - 1].block_id(field) if shown else ""

    def named(self) -> Self:
        """With a suggested name, where a new rule has none and one can be told from its first pair."""
        if self.mode != "new" or not self.typed or not self.pairs or str(self.document.get("name") or "").strip():
            return self
        name = self._suggestion
        return replace(self, document=self.document | {"name": name}) if name else self

    @property
    def _suggestion(self) -> str:
        """A name for the rule that its first pair suggests; empty where it suggests none."""
        if not self.pairs:
            return ""
        source, destination = (str(self.pairs[0].read(name) or "") for name in ("value", "destination"))
        return suggested_name(self.rule_type, source, destination)

    def noted(self, notes: Mapping[str, str]) -> Self:
        return replace(self, notes=notes)

    def with_pair(self) -> RuleForm:
        """One more, empty pair."""
        taken = [int(pair.key[1:]) for pair in self.pairs if pair.is_new]
        return replace(self, pairs=(*self.pairs, FormPair(f"n{max(taken, default=0) + 1}", NEW_PAIR)))

    def without_pair(self, key: str) -> RuleForm:
        """Without that pair; the last one stays, since a rule without pairs is none."""
        left = tuple(pair for pair in self.pairs if pair.key != key)
        return replace(self, pairs=left) if left else self

    def with_pairs(self, pairs: Sequence[Document]) -> Self:
        """With new *pairs*, as many as the form holds; it says how many it leaves out."""
        if self.typed:
            kept = [pair for pair in pairs if fits(FormPair("n1", pair), self.rule_type)][:MOST_PAIRS]
            numbered = enumerate(kept or [NEW_PAIR], start=1)
            form = replace(self, pairs=tuple(FormPair(f"n{number}", pair) for number, pair in numbered))
        else:
            kept = form_fields_view.pairs_that_fit(pairs)
            blank = form_fields_view.skeleton(self.rule_type, NEW_PAIR["source"])
            form = replace(self, pairs_text=form_fields_view.json_of_pairs(kept or [blank]))
        if len(kept) == len(pairs):
            return form
        words = f"Left out: {len(pairs) - len(kept):,} of {plural(len(pairs), 'pair')}. The form has no room for more."
        return form.noted({"": words})

    def view(self) -> View:
        """The modal, ready for views.open or views.update."""
        submit = "Save" if self.mode == "edit" else "Create"
        if self.warned and "" in self.notes and inputs.REASON not in self.notes:
            submit += " anyway"
        kept = {"mode": self.mode, "id": self.rule_id, "seen": self.seen, "channel": self.channel}
        about = {
            "keys": pack_keys(pair.key for pair in self.pairs),
            "type": self.rule_type[:LONGEST_TYPE],
            "group": self.group,
        }
        metadata = kept | about | {"warned": self.warned, "more": self.shows_more}
        return frame(TITLES[self.mode], self._blocks(), callback_id=CALLBACK, submit=submit, metadata=metadata)

    def _blocks(self) -> list[View]:
        expiry = () if self.mode == "edit" else (inputs.expiry(self.expiry),)
        where = () if self.channel else (inputs.channel(self.announce),)
        reason = inputs.reason(self.reason, loops=True)
        name, *rest = self._head()
        more = (*rest, *expiry) if self.shows_more else (MORE_OPTIONS,)
        blocks = [self._type_block(), *self._pair_blocks(), name, reason, *more, *where]
        return with_notes(blocks, self.notes)

    def _head(self) -> list[View]:
        document = self.document
        blocks = []
        for name, label in (("name", "Name"), ("description", "Description")):
            value = str(document.get(name) or "")
            if not inputs.holds(value):
                blocks.append(
                    section(f"*{label}* is too long for a form ({len(value):,} characters) and is kept unchanged.")
                )
            else:
                suggested = name == "name" and self.mode == "new" and self.typed
                proposed = (self._suggestion or "shop.example.com/old → /new") if suggested else None
                optional = suggested or name == "description"
                blocks.append(inputs.text(name, label, value, optional=optional, placeholder=proposed))
        status = str(document.get("status") or ACTIVE)
        if len(status) <= inputs.LONGEST_OPTION:
            blocks.append(
                inputs.radios("status", "Status", STATUS_WORDS | {status: STATUS_WORDS.get(status, status)}, status)
            )
        return blocks

    def _type_block(self) -> View:
        if self.mode == "new":
            types = {each: type_word(each) for each in (*KNOWN_TYPES, self.rule_type[:LONGEST_TYPE])}
            return inputs.menu("type", "Type", types, self.rule_type, dispatch=True)
        about = f" {code(self.rule_id)}" if self.rule_id else ""
        group = f"\n{self.group}" if self.group else ""
        return section(f"*{esc(type_word(self.rule_type))}*{about}{group}")

    def _pair_blocks(self) -> list[View]:
        if not self.typed:
            return [self._json_block()]
        blocks: list[View] = []
        for number, pair in enumerate(self.pairs, start=1):
            if pair.key in self.shown_keys:
                blocks += pair_blocks(pair, number, self.rule_type, removable=len(self.pairs) > 1, more=self.shows_more)
        if hidden := len(self.pairs) - len(self.shown):
            field = names_of(self.rule_type)[-1]
            blocks.append(
                section(
                    f":lock: {HIDDEN_PAIRS[hidden > 1].format(count=plural(hidden, 'more pair'))} "
                    f"Change one by its number: `{slash(f'rules set REF pair12.{field}=…')}`"
                )
            )
        if len(self.shown) < MOST_PAIRS:
            blocks.append(
                {"type": "actions", "block_id": "more", "elements": [button("Add pair", "v1.form.add", "add")]}
            )
        return blocks

    def _json_block(self) -> View:
        pairs = [pair.document for pair in self.pairs]
        text = form_fields_view.json_of_pairs(pairs) if self.pairs_text is None else self.pairs_text
        if text is None:
            size = len(json.dumps(pairs, ensure_ascii=False))
            return section(
                f":lock: The pairs of this rule are too long for a form: {size:,} characters of JSON, and the limit is "
                f"{inputs.MOST_TYPED:,}. They are kept unchanged; you can change name, description and status here."
            ) | {"block_id": "pairs.kept"}
        hint = f"A list of objects, each with a source. {type_word(self.rule_type)} pairs are saved exactly as written."
        return inputs.text(self.pairs_block, "Pairs, as JSON", text, multiline=True, hint=clip(hint, 2000))


def suggested_name(rule_type: str, source: str, destination: str) -> str:
    """A name for a rule that nobody named: its type and its URLs; the destination without the host that they share."""
    start, end = _short(source), _short(destination)
    if rule_type == "Cancel":
        return f"Block {start}" if start else ""
    if rule_type == "Replace":
        return f"Replace on {start}" if start else "Replace everywhere"
    if start.partition("/")[0] == end.partition("/")[0] and "/" in end:
        end = end[end.index("/") :]
    return f"{start} → {end}" if start and end else ""


def _short(url: str) -> str:
    """The host, path and query of *url*."""
    return clip(url.strip().partition("://")[2].rstrip("/") or url.strip(), 60)


def _group_words(rule: Rule, groups: Groups | None) -> str:
    """mrkdwn, short enough to travel in the view's metadata."""
    if not rule.group_id:
        return ""
    held = f"   {status_name(rule, groups)}" if why_group_is_off(rule, groups) else ""
    return f"{group_name(rule, groups)}{held}"
