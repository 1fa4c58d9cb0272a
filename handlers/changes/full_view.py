"""Everything that a change does, for a person who decides about it: whole emails, every item, every field."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from bot.changes.model.change import Change
from bot.changes.model.documents import NOT_CONTENT
from bot.changes.model.edits import Kind
from bot.changes.model.items import Item
from bot.changes.model.states import State
from bot.rules.edit import reach_of
from bot.rules.model import Rule
from bot.rules.secrets import MARK
from bot.rules.url import authority
from handlers.blocks import messages, modals
from handlers.blocks.masking import masked_part
from handlers.blocks.messages import WORD_JOINER, Block, code, entities, esc, lookalike_warnings, visible
from handlers.changes.diff import Document, Line, every_field, field_name, words_of
from handlers.changes.people import needs_line, reason_of, requester_line
from handlers.changes.subject import THINGS, VERBS
from handlers.explain.why_not import NOT_SENT
from handlers.rules.pairs_view import REACH_WORDS

MAX_BLOCKS: Final = 95
MAX_CHARACTERS: Final = 40_000
"""Of a modal: Slack takes more, but a file is easier to read then."""
MAX_LINE: Final = messages.MOST_TEXT - 100
SHORT: Final = 50
"""Characters of a field that may share its line with others."""
PLAIN_URL: Final = 120
"""Characters of a URL after which its host is named beside it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that a change is about: what is done to it, and every field that this is about, whole."""

    number: int
    verb: str
    thing: str
    name: str
    key: str
    site: str
    lines: tuple[Line, ...]
    one_sided: bool
    """Whether there is only one version, because the thing is created or deleted: *lines* leave out its
    name and its email, which come first anyway, and what is empty."""
    unchanged: tuple[Line, ...] = ()
    """What an edited rule does besides, as far as its card says it."""
    note: str = ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What in it may be taken for something else."""
        return lookalike_warnings(_values(self.name, self.key, self.lines))


def entries(change: Change, listed: Iterable[Item] = ()) -> Iterator[Entry]:
    """What *change* is about; of a bulk change, each of its items, *listed* in order."""
    if not change.is_bulk:
        listed = [Item.of(0, change.edit)]
    for item in listed:
        yield _entry(item)


def _entry(item: Item) -> Entry:
    kind, target = item.kind, item.target
    verb = VERBS[kind][0].capitalize() if kind is not None else "Skipped:"
    name = str((item.before or item.after or {}).get("name") or "")
    differing = lines_of(kind, item.before, item.after)
    if target.service == "members" and kind is not None and (kind.creates or kind.destroys):
        differing = [_dated(line) for line in differing]
    key = target.key or str((item.after or {}).get("email") or "") or ("" if name else item.source)
    one_sided = kind is None or kind.creates or kind.destroys
    headed = {("name", name), ("email", key)} if one_sided else set()
    empty: list[Any] = ["", [], {}] if one_sided else []
    return Entry(
        number=item.number,
        verb=verb,
        thing=THINGS.get(target.service, ""),
        name=name,
        key=key,
        site=target.site or "",
        lines=tuple(
            line for line in differing if (line.field, str(line.after)) not in headed and line.after not in empty
        ),
        one_sided=one_sided,
        unchanged=tuple(_unchanged(item, differing)),
        note=NOT_SENT.get(item.why, item.why),
    )


MEMBER_SINCE: Final = "member since"


def _dated(line: Line) -> Line:
    """*line*, under its name in words where it says when somebody became a member."""
    is_moment = line.field == "createdAt" and isinstance(line.after, int) and not isinstance(line.after, bool)
    return replace(line, field=MEMBER_SINCE) if is_moment else line


def _unchanged(item: Item, differing: Iterable[Line]) -> Iterator[Line]:
    """What a rule that is switched does, or what limits the pairs of one that is edited."""
    if item.kind is not Kind.RULE_UPDATE:
        return
    changed = {line.field for line in differing}
    for line in every_field(None, item.after):
        is_needed = changed == {"status"} or ".filters." in line.field
        if is_needed and line.field not in {*changed, "name"} and line.after not in ("", [], {}):
            yield line


def lines_of(kind: Kind | None, before: Document, after: Document) -> list[Line]:
    """Every field that differs; all of them where something is created or deleted."""
    if kind is not None and kind.destroys:
        return every_field(None, before)
    return every_field(None, after) if kind is not None and kind.creates else every_field(before, after)


def change_warnings(change: Change, listed: Iterable[Item] = ()) -> tuple[str, ...]:
    """What in a change, in the items of it that are *listed*, or in the reason for it may be taken for something else."""
    found = [
        f"Item {entry.number}: {line}" if entry.number else line
        for entry in entries(change, listed)
        for line in entry.warnings
    ]
    return (*lookalike_warnings([("reason", change.request.reason)]), *found)


def draft_warnings(before: Document, after: Document) -> dict[str, str]:
    """The same for a rule that is not saved yet, each with the path of its field; *before*: the rule that it replaces."""
    kind = Kind.RULE_CREATE if before is None else Kind.RULE_UPDATE
    name = str((after or {}).get("name") or "")
    found = dict.fromkeys(lookalike_warnings([("name", name)]), "name")
    for line in lines_of(kind, before, after):
        found |= dict.fromkeys(lookalike_warnings(_values_of(line, name)), line.field)
    return found


def _values(name: str, key: str, lines: Iterable[Line]) -> Iterator[tuple[str, str]]:
    yield "name", name
    yield ("email" if "@" in key else "id"), key
    for line in lines:
        yield from _values_of(line, name, key)


def _values_of(line: Line, *told: str) -> Iterator[tuple[str, str]]:
    for value in line.after if isinstance(line.after, list) else [line.after]:
        if isinstance(value, str) and value not in told:
            yield field_name(line.field), value


def text_of(value: Any) -> list[str]:
    """A value as its texts: those of a list one by one, everything but text as JSON."""
    if isinstance(value, list):
        return [text for each in value for text in text_of(each)]
    return [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)]


def whole(text: str) -> str:
    """*text* with nothing cut: line breaks, and spaces at its ends, are visible too."""
    kept = text.strip(" ")
    start = len(text) - len(text.lstrip(" "))
    shown = "␣" * start + kept + "␣" * (len(text) - len(kept) - start) if kept else "␣" * len(text)
    return visible(shown.replace("\r\n", "↵").replace("\n", "↵").replace("\r", "␍").replace("\t", "⇥"))


def _code(text: str) -> str:
    return f"`{entities(whole(text).replace('`', 'ˋ'))}`" if text else "_empty_"


def _plain(text: str) -> str:
    return whole(text) or "(empty)"


def _host(value: Any) -> str:
    """The host of a URL in which it is hard to see."""
    if not isinstance(value, str) or (place := authority(value)) is None:
        return ""
    clear = len(value) <= PLAIN_URL and not place.user_info and place.host in value.casefold()
    return "" if clear else place.host


def _said(line: Line, *, one_sided: bool, marked: bool) -> str:
    """One field in one line, for a message or for a file."""
    name = field_name(line.field)
    name = f"*{esc(name, MAX_LINE)}* " if marked else f"{whole(name)}:"
    if one_sided:
        return f"{name} {_named(line.field, line.after, marked=marked)}"
    before, after = (_named(line.field, value, marked=marked) for value in (line.before, line.after))
    return f"{name} {before} {'→' if marked else '->'} {after}"


@dataclass(frozen=True, slots=True)
class WholePair:
    """A pair that one line says all of: ``the whole URL is exactly SOURCE → DESTINATION``."""

    condition: str
    source: str
    destination: str | None


def _with_whole_pairs(lines: Iterable[Line]) -> Iterator[Line]:
    """The *lines* of a single version, with one for each pair that one line says all of."""
    for place, of_place in groupby(lines, key=lambda line: line.field.partition(".")[0]):
        fields = [*of_place]
        pair = _whole_pair(fields) if place.startswith("pair ") else None
        yield from fields if pair is None else [Line(place, None, pair)]


def _whole_pair(lines: Iterable[Line]) -> WholePair | None:
    values = {line.field.partition(".")[2]: line.after for line in lines}
    if values.pop("destinationType", "url") != "url" or not all(isinstance(one, str) for one in values.values()):
        return None
    if not {"source.key", "source.operator", "source.value"} <= values.keys() or "" in values.values():
        return None
    words = [words_of(name, values.pop(name)) for name in ("source.key", "source.operator")]
    source, destination = values.pop("source.value"), values.pop("destination", None)
    return None if None in words or values else WholePair(" ".join(filter(None, words)), source, destination)


def _named(path: str, value: Any, *, marked: bool) -> str:
    """The value, or what it is called where there are only some."""
    if isinstance(value, WholePair):
        where = f"{value.condition} {_value(value.source, marked=marked)}"
        to = "→" if marked else "->"
        return where if value.destination is None else f"{where} {to} {_value(value.destination, marked=marked)}"
    if path == MEMBER_SINCE and isinstance(value, int):
        return messages.moment(value, "{date_long}") if marked else f"{messages.plain_moment(value)} UTC"
    return words_of(path, value) or _value(value, marked=marked)


def _value(value: Any, *, marked: bool) -> str:
    if value is None:
        return "_not set_" if marked else "(not set)"
    if value == []:
        return "_none_" if marked else "(none)"
    joint, quoted = (" ", _code) if marked else (", ", _plain)
    host = f" (host: {quoted(found)})" if (found := _host(value)) else ""
    return joint.join(map(quoted, text_of(value))) + host


def _section_lines(entry: Entry) -> Iterator[str]:
    number = f"{entry.number}. " if entry.number else ""
    site = f" on {_code(entry.site)}" if entry.site else ""
    name = f" {_code(entry.name)}" if entry.name else ""
    key = f" {_code(entry.key)}" if entry.key else ""
    yield f"*{number}{entry.verb} {entry.thing}*{name}{key}{site}"
    yield from (f"• {' · '.join(texts)}" for texts in _grouped(entry.lines, one_sided=entry.one_sided))
    if entry.unchanged:
        yield "Unchanged:"
        yield from (f"• {' · '.join(texts)}" for texts in _grouped(entry.unchanged, one_sided=True))
    yield from (f"*Warning:* {esc(line, MAX_LINE)}" for line in entry.warnings)
    if entry.note:
        yield esc(entry.note, MAX_LINE)


def _grouped(lines: Iterable[Line], *, one_sided: bool) -> Iterator[list[str]]:
    """The fields as they stand in lines: short ones of a single version share one."""
    group: list[str] = []
    for line in _with_whole_pairs(lines) if one_sided else lines:
        said = _said(line, one_sided=one_sided, marked=True)
        short = one_sided and len(said) <= SHORT and "/" not in str(line.after)
        if group and not (short and sum(map(len, group)) < messages.MOST_TEXT // 20):
            yield group
            group = []
        group.append(said)
        if not short:
            yield group
            group = []
    if group:
        yield group


def modal(
    change: Change,
    listed: Sequence[Entry],
    title: str,
    below: Sequence[Block] = (),
    *,
    places: Mapping[str, str],
    opened_by: str = "",
) -> modals.View | None:
    """Everything in one modal; None where it is too much for one.

    *below*: the buttons of a person who can decide about it. *places*: the host of each service. *opened_by*: the id of
    the request that it answers.
    """
    lead = [f"*{title}*", requester_line(change)]
    texts = [
        "\n".join(
            [*lead, needs_line(change, f"<#{change.request.channel}>")] if change.state is State.PROPOSED else lead
        )
    ]
    texts += [f"*Reason* {_code(change.request.reason)}"] if change.request.reason else []
    texts += [f"*Why*  {reason_of(change)}"] if change.request.cause else []
    texts += messages.packed((f"{lead}{esc(line, MAX_LINE)}" for lead, line in _remarks(change)), MAX_LINE)
    for entry in listed:
        texts += messages.packed(_section_lines(entry), MAX_LINE)
    if len(texts) > MAX_BLOCKS or sum(map(len, texts)) > MAX_CHARACTERS or max(map(len, texts)) > messages.MOST_TEXT:
        return None
    blocks: list[Block] = [messages.section(text) for text in texts]
    is_open = change.state is State.PROPOSED or change.review_due
    where = " Decide on the card in the channel." if is_open and not below else ""
    blocks += [messages.context(f"This is everything.{where}"), *below, messages.context(_reference(change, places))]
    about = {"channel": change.request.channel, modals.OPENED_BY: opened_by}
    return modals.frame("Full change", blocks, callback_id=modals.FULL_CHANGE, metadata=about)


def _reference(change: Change, places: Mapping[str, str]) -> str:
    """Where the target is, and what the change is called in commands, in the log and on record."""
    target = change.edit.target
    place = places.get(target.service)
    about = [f"{target.service} at {esc(place, 80)}" if place else target.service]
    about += [code(target.key, 100)] if target.service != "members" and target.key else []
    return " · ".join([*about, f"change {code(change.id[:8])}"])


def _remarks(change: Change) -> Iterator[tuple[str, str]]:
    """What Gatehouse says of the change."""
    yield from (("*Warning:* ", line) for line in change.request.warnings)
    yield from (("• ", line) for line in change.request.preview)


def file_pieces(change: Change, listed: Iterable[Entry]) -> Iterator[bytes]:
    """Everything as text, piece by piece. What people or services wrote never begins a line."""
    reason = f"Reason: {whole(change.request.reason)}\n" if change.request.reason else ""
    title = whole(change.bulk.title) if change.is_bulk else VERBS[change.edit.kind][0].capitalize()
    yield f"{title}\nChange {change.id}\n{reason}".encode(errors="replace")
    for _, line in _remarks(change):
        yield f"{whole(line)}\n".encode(errors="replace")
    for entry in listed:
        number = f"{entry.number}. " if entry.number else ""
        lines = [f"\n{number}{entry.verb} {entry.thing} {_plain(entry.name)}", f"    id: {_plain(entry.key)}"]
        lines += [f"    site: {whole(entry.site)}"] if entry.site else []
        fields = _with_whole_pairs(entry.lines) if entry.one_sided else entry.lines
        lines += [f"    {_said(line, one_sided=entry.one_sided, marked=False)}" for line in fields]
        lines += ["    Unchanged:"] if entry.unchanged else []
        unchanged = _with_whole_pairs(entry.unchanged)
        lines += [f"    {_said(line, one_sided=True, marked=False)}" for line in unchanged]
        lines += [f"    Warning: {whole(line)}" for line in entry.warnings]
        lines += [f"    {whole(entry.note)}"] if entry.note else []
        yield ("\n".join(lines) + "\n").encode(errors="replace")


def file_name(change: Change) -> str:
    return f"gatehouse-change-{change.id[:8]}.txt"


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

    Whatever is cut leaves a ``…``, so one that somebody typed only makes us ask for a look that was not needed.
    """
    drawn = list(blocks)
    text = "\n".join(_texts(drawn))
    if is_masked(drawn):
        return True
    if change.edit.target.service == "members" or "…" in text:
        return True
    before = change.edit.before
    if change.edit.kind is Kind.RULE_DELETE:
        rest = {name: value for name, value in (before or {}).items() if name not in SHOWN_IN_WORDS}
        return not says(text, rest, None)
    return not (change.edit.kind.destroys or says(text, before, change.edit.after))


def is_masked(blocks: list[Block]) -> bool:
    """Whether a channel sees less of *blocks* than is in them, or a secret was left out of them."""
    return masked_part(blocks) != blocks or any(MARK in text for text in _texts(blocks))


def says(text: str, before: Document, after: Document) -> bool:
    """Whether each value that differs between *before* and *after* is in *text*, a message's mrkdwn, somewhere whole."""
    shown = _comparable(html.unescape(text).replace(WORD_JOINER, "").replace("ˋ", "`"))
    for line in every_field(_as_shown(before), _as_shown(after)):
        for value in filter(None, (line.before, line.after)):
            if any(line.field.endswith(field) and value == known for field, known in UNSAID):
                continue
            if (words := words_of(line.field, value)) and _comparable(words) in shown:
                continue
            if any(_comparable(visible(one)) not in shown for one in text_of(value)):
                return False
    return True


def _as_shown(document: Document) -> Document:
    """*document* with the words of cards in the place of an expression that they stand for."""
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


def _comparable(text: str) -> str:
    return text.replace("_", " ").casefold().strip()


def _texts(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        if block["type"] in {"section", "context"}:
            yield from (one["text"] for one in (block.get("text"), *block.get("elements", ())) if one)
