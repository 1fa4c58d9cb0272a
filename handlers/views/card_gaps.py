"""What a card does not show: known before somebody approves it, so that they look at the rest first."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from bot.domain.change import Change, Kind, State
from bot.domain.essence import NOT_CONTENT
from bot.domain.rule import Rule
from bot.domain.secrets import MARK
from handlers.commands.gatehouse import GatehouseInspect
from handlers.masking import masked_part
from handlers.views import parts
from handlers.views.diff import Document, every_field
from handlers.views.full_view import THINGS, text_of
from handlers.views.parts import WORD_JOINER, Block, visible

UNSAID: Final = frozenset({("source.key", "Url"), ("source.operator", "Equals"), ("destinationType", "url")})
"""Fields and values that a card leaves out because they go without saying."""
SHOWN: Final = NOT_CONTENT | {field.alias or name for name, field in Rule.model_fields.items()}
"""Fields of a rule that its deletion's card shows in words, or that say nothing."""


def hides(change: Change, blocks: Iterable[Block]) -> bool:
    """Whether a card made of *blocks* leaves out or masks anything that its change does.

    Whatever is cut leaves a ``…``, so one that somebody typed only makes us ask for a look that was not needed.
    """
    drawn = list(blocks)
    text = "\n".join(_texts(drawn))
    if is_masked(drawn):
        return True
    if change.target.service == "members" or "…" in text:
        return True
    if change.kind is Kind.RULE_DELETE:
        return not says(text, {name: value for name, value in (change.before or {}).items() if name not in SHOWN}, None)
    return not (change.is_set or change.kind.destroys or says(text, change.before, change.after))


def is_masked(blocks: list[Block]) -> bool:
    """Whether a channel sees less of *blocks* than is in them, or a secret was left out of them."""
    return masked_part(blocks) != blocks or any(MARK in text for text in _texts(blocks))


def says(text: str, before: Document, after: Document) -> bool:
    """Whether each value that differs between *before* and *after* is in *text*, a message's mrkdwn, somewhere whole."""
    shown = _comparable(html.unescape(text).replace(WORD_JOINER, "").replace("ˋ", "`"))
    for line in every_field(before, after):
        for value in filter(None, (line.before, line.after)):
            if any(line.field.endswith(field) and value == known for field, known in UNSAID):
                continue
            if any(_comparable(visible(one)) not in shown for one in text_of(value)):
                return False
    return True


def _comparable(text: str) -> str:
    return text.replace("_", " ").casefold().strip()


def _texts(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        if block["type"] in {"section", "context"}:
            yield from (one["text"] for one in (block.get("text"), *block.get("elements", ())) if one)


def label(change: Change) -> str:
    """What the button that shows everything is called."""
    if change.state is not State.PROPOSED and not change.review_owed:
        return "Show to me"
    if not change.is_set:
        return "Show full change"
    thing = THINGS.get(change.target.service, "part")
    return f"Show all {change.size:,} {thing}s" if change.size > 1 else f"Show the {thing}"


def actions(change: Change, blocks: Iterable[Block], buttons: Sequence[Block | None]) -> list[Block]:
    """The buttons below *blocks*, with the one that opens everything: while somebody has to decide, and where a rule is masked.

    Where the card is not everything, that one comes first while somebody has to decide, below a line that says so.
    """
    drawn = list(blocks)
    full = parts.run_button(label(change), GatehouseInspect(change.id), "full")
    if change.state is State.PROPOSED and hides(change, drawn):
        words = f":mag: This card doesn’t show everything. Press *{label(change)}* before you decide."
        return [parts.context(words), *parts.actions([full, *buttons])]
    is_open = change.state is State.PROPOSED or change.review_owed
    is_needed = is_open or (change.target.service == "rules" and is_masked(drawn))
    return parts.actions([*buttons, full if is_needed else None])
