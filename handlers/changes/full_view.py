"""Everything that a change does, for a person who decides about it: whole emails, every item, every field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from bot.changes.model.change import Change
from bot.changes.model.states import State
from handlers.blocks import messages, modals
from handlers.blocks.messages import Block, code, esc
from handlers.changes.entries import Entry
from handlers.changes.field_text import MAX_LINE, field_line, plain_value, value_code, whole, with_whole_pairs
from handlers.changes.people import needs_line, reason_of, requester_line
from handlers.changes.subject import VERBS
from handlers.changes.titles import bare_title, request_title, title_of

MAX_BLOCKS: Final = 95
MAX_CHARACTERS: Final = 40_000
"""Characters that a modal shows at most: Slack accepts more, but a file is easier to read then."""


def modal(
    change: Change,
    listed: Sequence[Entry],
    below: Sequence[Block] = (),
    *,
    places: Mapping[str, str],
) -> modals.View | None:
    """Return a modal with everything about *change*; None where that is too much for one.

    *below*: the buttons of a person who can decide about it. *places*: the host of each service.
    """
    if not (found := texts(change, listed)):
        return None
    is_open = change.state is State.PROPOSED
    where = " Decide on the card in the channel." if is_open and not below else ""
    blocks = [
        *map(messages.section, found),
        messages.context(f"This is everything.{where}"),
        *below,
        messages.context(_reference(change, places)),
    ]
    about = {"channel": change.request.channel}
    return modals.frame("Details", blocks, callback_id=modals.FULL_CHANGE, metadata=about)


def texts(change: Change, listed: Iterable[Entry]) -> list[str]:
    """Return everything about *change*, each text for a section; nothing where that is too much for a modal."""
    found = [*_request_texts(change)]
    for entry in listed:
        found += messages.pack_lines(_section_lines(entry), MAX_LINE)
    is_long = (
        len(found) > MAX_BLOCKS or sum(map(len, found)) > MAX_CHARACTERS or max(map(len, found)) > messages.MAX_TEXT
    )
    return [] if is_long else found


def _request_texts(change: Change) -> Iterator[str]:
    """Yield who requests *change* and why, and its warnings."""
    request = change.request
    title = request_title(change) if change.is_bulk else title_of(change)
    needs = [needs_line(change, f"<#{request.channel}>")] if change.state is State.PROPOSED else []
    yield "\n".join([f"*{title}*", requester_line(change), *needs])
    if request.reason:
        yield f"*Reason* {value_code(request.reason)}"
    if request.cause:
        yield f"*Why*  {reason_of(change)}"
    yield from messages.pack_lines((f"*Warning:* {esc(line, MAX_LINE)}" for line in request.warnings), MAX_LINE)


def _section_lines(entry: Entry) -> Iterator[str]:
    named = "".join(f" {value_code(one)}" for one in (entry.name, entry.key) if one)
    site = f" on {value_code(entry.site)}" if entry.site else ""
    yield f"*{entry.action}*{named}{site}"
    yield from _field_lines(entry, "• ", marked=True)
    yield from (f"*Warning:* {esc(line, MAX_LINE)}" for line in entry.warnings)
    if entry.note:
        yield esc(entry.note, MAX_LINE)


def _field_lines(entry: Entry, lead: str, *, marked: bool) -> Iterator[str]:
    """Yield each field of *entry* in a line that begins with *lead*; *marked*: as for `field_line`."""
    for line in with_whole_pairs(entry.lines) if entry.one_sided else entry.lines:
        yield f"{lead}{field_line(line, one_sided=entry.one_sided, marked=marked)}"
    if entry.unchanged:
        yield "Unchanged:" if marked else f"{lead}Unchanged:"
    for line in with_whole_pairs(entry.unchanged):
        yield f"{lead}{field_line(line, one_sided=True, marked=marked)}"


def _reference(change: Change, places: Mapping[str, str]) -> str:
    """Return the host and the id of the target, and the id by which commands, log and audit name the change."""
    target = change.edit.target
    place = places.get(target.service)
    about = [f"{target.service} at {esc(place, 80)}" if place else target.service]
    about += [code(target.key, 100)] if target.service != "members" and target.key else []
    return " · ".join([*about, f"change {code(change.id[:8])}"])


def file_pieces(change: Change, listed: Iterable[Entry]) -> Iterator[bytes]:
    """Yield everything as text, piece by piece. What people or services wrote never begins a line."""
    reason = f"Reason: {whole(change.request.reason)}\n" if change.request.reason else ""
    title = bare_title(change) if change.is_bulk else VERBS[change.edit.kind][0].capitalize()
    yield f"{title}\nChange {change.id}\n{reason}".encode(errors="replace")
    for line in change.request.warnings:
        yield f"{whole(line)}\n".encode(errors="replace")
    for entry in listed:
        lines = [f"\n{entry.action} {plain_value(entry.name)}", f"    id: {plain_value(entry.key)}"]
        lines += [f"    site: {whole(entry.site)}"] if entry.site else []
        lines += _field_lines(entry, "    ", marked=False)
        lines += [f"    Warning: {whole(line)}" for line in entry.warnings]
        lines += [f"    {whole(entry.note)}"] if entry.note else []
        yield ("\n".join(lines) + "\n").encode(errors="replace")


def file_name(change: Change) -> str:
    return f"gatehouse-change-{change.id[:8]}.txt"
