"""The parts that every message is built of, and the one place that makes foreign text safe to show."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import unescape
from typing import Any, Final, Generic, TypeVar

from bot.clients.lists import Gap
from bot.rules.url import authority
from bot.text.lookalikes import HIDDEN, lookalikes
from handlers.grammar.tokens import escape_entities

Block = dict[str, Any]
T = TypeVar("T")

MAX_BLOCKS: Final = 50
MAX_CHARACTERS: Final = 12_000
"""Of all blocks of a message together: Slack refuses more than about 13,200 and says so nowhere."""
MAX_TEXT: Final = 3_000
FALLBACK: Final = 3_500

OPEN_TOKEN: Final = re.compile(r"(?:<[^<>]*|&[a-z]{0,3})$")
"""Matches the remainder of a mention, a link, a date or an escape that a cut went through."""
MARKS: Final = re.compile(r"[*_~`]")
EMOJI: Final = re.compile(r":(?=[A-Za-z0-9_+'-]+:)")
WORD_JOINER: Final = "\u2060"


@dataclass(frozen=True, slots=True)
class Message:
    """A message to post. *text* is what notifications and screen readers give instead of the blocks."""

    text: str
    blocks: tuple[Block, ...]


def row_hint(*, public: bool) -> str:
    """Return what the numbers of a list are for. Each person's are their own, so a list for all has none."""
    return "" if public else "   ·   `#n` in your next command means a row of this list"


def escape_invisible(text: str) -> str:
    r"""Return *text* with characters that hide, turn round or break lines written out, such as ``\u202e``."""
    return HIDDEN.sub(lambda found: _escape_character(found[0]), text)


def _escape_character(character: str) -> str:
    return " " if character in "\n\r\t" else f"\\u{ord(character):04x}"


def clip(text: str, limit: int, more: int = 0) -> str:
    """Return plain *text*, cut to *limit* characters, with how many are left out: *more* are left out of it already."""
    if len(text) <= limit and not more:
        return text
    tail = f"… (+{max(0, len(text) - limit) + more:,})"
    return text[: max(0, limit - len(tail))] + tail


def clip_visible(text: str, limit: int, more: int = 0) -> str:
    """Return *text* as `escape_invisible` writes it, cut; the rest is not looked at, since it may be a megabyte."""
    return clip(escape_invisible(text[:limit]), limit, more + max(0, len(text) - limit))


def as_sentence(text: str) -> str:
    """Return *text* as a sentence: what services say often has no full stop."""
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def plural(count: int, noun: str) -> str:
    """Return ``1 rule``, ``0 rules``, ``3,000 rules``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def join_words(texts: Sequence[str], link: str = "and", *, most: int | None = None) -> str:
    """Return ``a, b and c``; of more than *most* the first, and how many more there are."""
    more = [f"{len(texts) - most} more"] if most is not None and len(texts) > most else []
    *first, last = [*texts[:most], *more] or [""]
    return f"{', '.join(first)} {link} {last}" if first else last


def and_more(count: int, noun: str = "") -> str:
    """Return ``…and 3 more pairs``, for what a list leaves out; empty where that is nothing."""
    return f"…and {plural(count, f'more {noun}') if noun else f'{count:,} more'}" if count > 0 else ""


def first_few(texts: Sequence[str], most: int) -> list[str]:
    """Return the first *most* of *texts*; where there are others, what `and_more` says of them comes last."""
    return [*texts[:most], *filter(None, [and_more(len(texts) - most)])]


def esc(text: str, limit: int = 300, more: int = 0) -> str:
    """Return foreign text for mrkdwn: nothing in it is a mention, a link, a style or an emoji."""
    shown = clip_visible(str(text), limit, more)
    shown = EMOJI.sub(":" + WORD_JOINER, shown)
    return MARKS.sub(lambda match: WORD_JOINER + match[0] + WORD_JOINER, escape_entities(shown))


def code(text: str | None, limit: int = 300) -> str:
    """Return foreign text as code, the safest way to show an id or a URL exactly."""
    shown = clip_visible(str(text or ""), limit).replace("`", "ˋ").strip()
    return f"`{escape_entities(shown)}`" if shown else "_empty_"


CODE: Final = re.compile(r"(?<!\u2060)`([^`]*)`")
MARK: Final = re.compile(r"(?<!\u2060)[*_~]|(?<![\w:]):[a-z_]+: ?")
"""What makes a text bold or italic, and emoji: `esc` puts a word joiner before the same signs in foreign text."""


def strip_markup(markup: str) -> str:
    """Return *markup*, mrkdwn of ours, as plain text."""
    parts = CODE.split(markup)
    parts[::2] = [MARK.sub("", part).replace(WORD_JOINER, "") for part in parts[::2]]
    return unescape("".join(parts))


INNER_QUOTES: Final = str.maketrans("“”", "‘’")


def quote_plain(name: str, limit: int = 150) -> str:
    """Return the *name* of a thing in quotes, as plain text. Its own quotes become single ones, so they can't end it."""
    return f"“{clip(name.translate(INNER_QUOTES), limit)}”"


def quote(name: str, limit: int = 150) -> str:
    """Return the same for mrkdwn. A name that begins its own row is bold and has no quotes; people's names never have any."""
    return f"“{esc(name.translate(INNER_QUOTES), limit)}”"


def plain_text(text: str, limit: int) -> Block:
    return {"type": "plain_text", "text": clip_visible(text, limit) or "–", "emoji": False}


def moment(milliseconds: int, style: str = "{date_short_pretty} {time}") -> str:
    """Return a time of a service, in the zone of the reader and in a *style* of Slack's; notifications show it in UTC."""
    plain = plain_moment(milliseconds)
    if plain.lstrip("-").isdigit():
        return code(plain, 40)
    return f"<!date^{milliseconds // 1000}^{style}|{plain} UTC>"


def plain_moment(milliseconds: int) -> str:
    """Return a time of a service in UTC, where no zone can follow the reader; a time that no calendar has, as it is."""
    try:
        return f"{datetime.fromtimestamp(milliseconds // 1000, UTC):%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError, OSError):
        return str(milliseconds)


def clock_time(seconds: float) -> str:
    """Return a time of today to the second, in the zone of the reader; *seconds*: since 1970."""
    whole = math.ceil(seconds)
    return f"<!date^{whole}^{{time_secs}}|{datetime.fromtimestamp(whole, UTC):%H:%M:%S} UTC>"


def gap_lines(gap: Gap | None, plural: str) -> list[Block]:
    """Return a line on how much of a list of *plural* was read, where that is not all of it."""
    return [context(f":warning: {gap.sentence(plural)}")] if gap else []


def filters_line(text: str | None, filters: Mapping[str, str]) -> str:
    """Return what a list is narrowed to, for its title."""
    said = [quote(text, 60)] if text else []
    said += [f"{name} {quote(value, 60)}" for name, value in filters.items()]
    return "".join(f" · {each}" for each in said)


def mrkdwn(text: str) -> Block:
    return {"type": "mrkdwn", "text": clip_markup(text, MAX_TEXT), "verbatim": True}


def clip_markup(text: str, limit: int) -> str:
    """Return *text*, which is mrkdwn, cut to *limit* characters with a ``…``, and never within a token or an escape."""
    return text if len(text) <= limit else OPEN_TOKEN.sub("", text[: limit - 1]) + "…"


def section(text: str, accessory: Block | None = None) -> Block:
    block: Block = {"type": "section", "text": mrkdwn(text)}
    return block | {"accessory": accessory} if accessory else block


def pack_lines(texts: Iterable[str], limit: int = MAX_TEXT) -> list[str]:
    """Return the *texts* as few texts of several lines, each shorter than *limit* unless one alone is longer."""
    found: list[str] = []
    for text in texts:
        if found and len(found[-1]) + len(text) < limit:
            found[-1] += f"\n{text}"
        else:
            found.append(text)
    return found


MAX_ELEMENTS: Final = 10
"""Texts side by side in one block."""


def context(*texts: str) -> Block:
    """Return a small line of *texts*; of more than fit side by side, each has a line of its own."""
    shown = [text for text in texts if text]
    return {"type": "context", "elements": [*map(mrkdwn, shown if len(shown) <= MAX_ELEMENTS else pack_lines(shown))]}


def divider() -> Block:
    return {"type": "divider"}


def header(text: str) -> Block:
    return {"type": "header", "text": plain_text(text, 150)}


def actions(buttons: Iterable[Block | None]) -> list[Block]:
    """Return a row of the buttons that there are; no block where there are none."""
    elements = [one for one in buttons if one is not None]
    return [{"type": "actions", "elements": elements[:25]}] if elements else []


def without_buttons(blocks: Iterable[Block]) -> list[Block]:
    """Return *blocks* for all of a channel to read: what only one person is to do has no button there."""
    kept = (block for block in blocks if block["type"] != "actions")
    return [{name: part for name, part in block.items() if name != "accessory"} for block in kept]


@dataclass(frozen=True, slots=True)
class ListPage(Generic[T]):
    """One page of a list: its *items*, the *first* of them by its number, and which page it is of how many."""

    items: Sequence[T]
    number: int
    count: int
    total: int
    first: int

    @classmethod
    def of(cls, found: Sequence[T], number: int | None, size: int) -> ListPage[T]:
        """Return the page *number* of what was *found*, or the nearest that there is."""
        count = max(1, -(-len(found) // size))
        number = min(max(number or 1, 1), count)
        start = (number - 1) * size
        return cls(found[start : start + size], number, count, len(found), start + 1)

    @classmethod
    def of_part(cls, found: Sequence[T], number: int | None, size: int) -> ListPage[T]:
        """Return the page *number* of a list that is read a page at a time: *found* begins there, with one more if it goes on."""
        number = number or 1
        first = (number - 1) * size
        return cls(found[:size], number, number + (len(found) > size), first + len(found), first + 1)

    @property
    def last(self) -> int:
        """Return the number of its last item: ``#n`` goes no further, for nobody was shown what comes then."""
        return self.first - 1 + len(self.items)

    @property
    def label(self) -> str:
        return f"Page {self.number} of {self.count}"


def message(text: str, blocks: Sequence[Block]) -> Message:
    """Return a message within Slack's limits: the last texts of too many are left out, and that is said; buttons stay."""
    kept = [block for block in blocks if block]
    last = None
    while is_too_long(kept):
        last = _last_text(kept)
        kept.pop(last)
    if last is not None:
        kept.insert(last, context("Some of this was left out to fit Slack’s limit."))
    return Message(clip_markup(text, FALLBACK), tuple(kept))


def is_too_long(blocks: Sequence[Block]) -> bool:
    """Whether `message` leaves out some of *blocks*."""
    return len(blocks) > MAX_BLOCKS - 1 or _size(blocks) > MAX_CHARACTERS


def join_messages(parts: Sequence[Message]) -> Message:
    """Return *parts* one after the other, as one message."""
    if len(parts) == 1:
        return parts[0]
    return message("\n".join(part.text for part in parts), [block for part in parts for block in part.blocks])


def _last_text(blocks: Sequence[Block]) -> int:
    """Return which block can be missed first: the last text but the footer, then the last block."""
    texts = [at for at, block in enumerate(blocks[:-1]) if at and block["type"] != "actions"]
    return texts[-1] if texts else len(blocks) - 1


def _size(blocks: Sequence[Block]) -> int:
    return sum(len(repr(block)) for block in blocks)


ROWS_PER_PAGE: Final = 20
"""Rows of a list in one message: as many as fit, however long their texts are."""
MAX_ROW: Final = 440
MAX_ROWS_CHARACTERS: Final = 10_000
"""Characters of rows with a button each, which leave room in a message for what stands around them."""


def list_rows(rows: Sequence[tuple[str, Block | None]], *, first: int | None) -> list[Block]:
    """Return a section for each row, a text and its button; without buttons where that is too long.

    *first*: the number of the first row for ``#n``, where they have numbers.
    """
    sections = [
        section(clip_markup(text if first is None else f"#{first + at} {text}", MAX_ROW), button)
        for at, (text, button) in enumerate(rows)
    ]
    if _size(sections) <= MAX_ROWS_CHARACTERS:
        return sections
    return [section(text) for text in pack_lines(row["text"]["text"] for row in sections)]


MAX_HOST: Final = 260
"""Characters of a host and its port: DNS has no longer ones, and of anything longer the end counts."""
MAX_SHORTENED: Final = 600
MIN_PATH: Final = 20
"""Characters of the path that are shown even after a long host."""


def shorten_url(text: str, limit: int, at: int = 0) -> str:
    """Return *text* in about *limit* characters, the true host of a URL always whole, and the rest from near *at*.

    What is left out shows as ``…``. A user name before the host is masked, so that it can't pass for the host.
    """
    if len(text) <= limit:
        return text
    place = authority(text)
    if place is None:
        return _window(text, limit, at)
    scheme = text[: place.end].partition(":")[0].strip()
    host = place.host if len(place.host) <= MAX_HOST else f"…{place.host[-MAX_HOST:]}"
    head = f"{scheme}://{'…***@' if place.user_info else ''}{host}"
    return head + _window(text[place.end :], max(MIN_PATH, limit - len(head)), at - place.end)


def url_code(text: str | None, limit: int) -> str:
    """Return a URL as code, in about *limit* characters."""
    return code(shorten_url(text or "", limit), MAX_SHORTENED)


def _window(text: str, limit: int, at: int) -> str:
    start = max(0, at - limit // 3) if len(text) > limit else 0
    return clip(("…" if start else "") + text[start:], limit)


def file_sent_note(name: str, link: str, *, here: bool, shown: bool) -> Message:
    """Return the private note to the person who asked for a file that went elsewhere."""
    place = "into this channel" if here else "to you in a direct message"
    opened = f" <{link}|Open it>" if link else ""
    if shown:
        return message(f"{name} was sent {place}", [section(f":outbox_tray: {code(name)} was sent {place}.{opened}")])
    words = (
        f":warning: Slack took {code(name)}, but has not shown it yet. It should come {place};"
        f" if it does not within a minute, ask again.{opened}"
    )
    return message(f"{name} is not shown yet", [section(words)])


def lookalike_warnings(values: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return a sentence for each thing that may mislead in the *values*, pairs of a field's name and its text; each once."""
    return tuple(dict.fromkeys(f"In “{field}”: {words}" for field, text in values for words in lookalikes(text)))
