"""Whether a card shows all that its change does."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from bot.changes.model.change import Change
from bot.changes.model.documents import NOT_CONTENT
from bot.changes.model.edits import Kind
from bot.rules.edit import reach_of
from bot.rules.model import Rule
from bot.rules.secrets import MARK
from handlers.blocks.masking import mask_part
from handlers.blocks.messages import WORD_JOINER, Block, escape_invisible
from handlers.changes.diff import Version, every_field, value_words
from handlers.changes.field_text import texts_of
from handlers.rules.pairs_view import REACH_WORDS

UNSAID: Final = frozenset(
    {
        ("source.key", "Url"),
        ("source.operator", "Equals"),
        ("destinationType", "url"),
        ("status", "Active"),
        ("status", "Inactive"),
    }
)
"""Fields and values that a card leaves out because they go without saying."""
SHOWN_IN_WORDS: Final = NOT_CONTENT | {field.alias or name for name, field in Rule.model_fields.items()}
"""Fields of a rule that its deletion's card shows in words, or that say nothing."""


def hides(change: Change, blocks: Iterable[Block]) -> bool:
    """Whether a card made of *blocks* leaves out or masks anything that its change does.

    Every cut leaves a ``…``. One that somebody typed counts as a cut, too, which only asks for a look that was not needed.
    """
    drawn = list(blocks)
    text = "\n".join(_texts_of(drawn))
    edit = change.edit
    # A card always masks the emails of members.
    if edit.target.service == "members" or "…" in text or is_masked(drawn):
        return True
    if edit.kind is Kind.RULE_DELETE:
        rest = {name: value for name, value in (edit.before or {}).items() if name not in SHOWN_IN_WORDS}
        return not says(text, rest, None)
    return not says(text, edit.before, edit.after)


def is_masked(blocks: list[Block]) -> bool:
    """Whether a channel sees less of *blocks* than is in them, or a secret was left out of them."""
    return mask_part(blocks) != blocks or any(MARK in text for text in _texts_of(blocks))


def says(text: str, before: Version, after: Version) -> bool:
    """Whether each value that differs between *before* and *after* is in *text*, a message's mrkdwn, somewhere whole."""
    # Takes back what `esc` and `code` do to a value.
    shown = _normalize(html.unescape(text).replace(WORD_JOINER, "").replace("ˋ", "`"))
    for line in every_field(_as_shown(before), _as_shown(after)):
        for value in filter(None, (line.before, line.after)):
            if any(line.field == field and value == known for field, known in UNSAID):
                continue
            if (words := value_words(line.field, value)) and _normalize(words) in shown:
                continue
            if any(_normalize(escape_invisible(one)) not in shown for one in texts_of(value)):
                return False
    return True


def _as_shown(document: Version) -> Version:
    """Return *document* with expressions replaced by the words that cards show for them."""
    pairs = (document or {}).get("pairs")
    if document is None or not isinstance(pairs, list):
        return document
    return {**document, "pairs": [_with_reach(pair) for pair in pairs]}


def _with_reach(pair: Any) -> Any:
    source = pair.get("source") if isinstance(pair, Mapping) else None
    if not isinstance(source, Mapping) or not isinstance(source.get("value"), str):
        return pair
    found = reach_of(source.get("key"), source.get("operator"), source["value"])
    if found is None:
        return pair
    url, reach = found
    return {**pair, "source": {**source, "operator": "Equals", "value": [url, REACH_WORDS[reach]]}}


def _normalize(text: str) -> str:
    return text.replace("_", " ").casefold().strip()


def _texts_of(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        if block["type"] in {"section", "context"}:
            yield from (one["text"] for one in (block.get("text"), *block.get("elements", ())) if one)
