"""What became of each row of an import, as a file for whoever asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.domain.change import Change
from bot.domain.change_set import DONE, Outcome, Part
from bot.domain.result_table import result_table
from handlers.views.parts import code, esc
from handlers.views.set_lines import OUTCOMES


def table(whole: Change, parts: Sequence[Part]) -> bytes:
    """The rows as they came, each with its outcome; one that was done together with another has that one's."""
    by_number = {part.number: part for part in parts}
    rows = [(part.cells, *_outcome(part, by_number)) for part in parts]
    return result_table(whole.columns, rows, whole.separator)


def _outcome(part: Part, by_number: Mapping[int, Part]) -> tuple[str, str]:
    done_with = by_number.get(part.follows, part) if part.follows else part
    if done_with is not part:
        return OUTCOMES[done_with.outcome][1], part.why
    return OUTCOMES[part.outcome][1], part.why


def file_name(whole: Change) -> str:
    return f"gatehouse-{whole.target.service}-result-{whole.id[:8]}.csv"


def comment(whole: Change, parts: Sequence[Part]) -> str:
    """What goes with the file, mrkdwn."""
    meant = sum(part.kind is not None for part in parts)
    done = sum(part.outcome in DONE for part in parts)
    left_out = sum(part.outcome is Outcome.SKIPPED and not part.follows for part in parts)
    others = f" {left_out:,} more were left out; the file says why." if left_out else ""
    return f"*{esc(whole.title, 150)}*: {done:,} of {meant:,} done.{others} Change {code(whole.id[:8])}"
