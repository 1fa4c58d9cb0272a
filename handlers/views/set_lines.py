"""One line for each part of a change set: what it is about, and what is done to it or has become of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from bot.domain.address import authority
from bot.domain.change import Kind
from bot.domain.change_set import Outcome, Part
from bot.domain.member import all_masked, masked
from bot.domain.rule import RuleDraft
from handlers.views import parts
from handlers.views.card_gaps import says
from handlers.views.diff import differences, rendered
from handlers.views.effect import effect_line, source_line
from handlers.views.members import segments_line
from handlers.views.parts import code, esc
from handlers.views.sentences import words

NAME: Final = 70
MAX_URL: Final = 100
MAX_FIELDS: Final = 2
MAX_HOSTS: Final = 4
OUTCOMES: Final[Mapping[Outcome, tuple[str, str]]] = {
    Outcome.APPLIED: (":white_check_mark:", "done"),
    Outcome.UNDONE: (":leftwards_arrow_with_hook:", "taken back"),
    Outcome.FAILED: (":x:", "failed"),
    Outcome.STALE: (":arrows_counterclockwise:", "changed meanwhile, left alone"),
    Outcome.BUSY: (":lock:", "held by another change, left alone"),
    Outcome.UNKNOWN: (":grey_question:", "not known yet"),
    Outcome.UNSETTLED: (":grey_question:", "not known, look yourself"),
    Outcome.STOPPED: (":octagonal_sign:", "not begun"),
    Outcome.APPLYING: (":hourglass_flowing_sand:", "under way"),
    Outcome.WAITING: (":small_blue_diamond:", "to do"),
    Outcome.SKIPPED: (":heavy_minus_sign:", "left out"),
}
VERBS: Final[Mapping[Kind, str]] = {
    Kind.RULE_CREATE: "create",
    Kind.RULE_UPDATE: "change",
    Kind.RULE_DELETE: "delete",
    Kind.MEMBER_ADD: "add",
    Kind.MEMBER_UPDATE: "change",
    Kind.MEMBER_GRANT: "give access",
    Kind.MEMBER_REVOKE: "take access",
    Kind.MEMBER_REMOVE: "remove",
}


def packed(lines: Sequence[str]) -> list[str]:
    """Lines as few texts, each short enough for a section."""
    texts = [""]
    for line in lines:
        if len(texts[-1]) + len(line) >= parts.MOST_TEXT:
            texts.append("")
        texts[-1] = f"{texts[-1]}\n{line}".strip()
    return texts


def line_of(part: Part) -> str:
    mark, name = OUTCOMES[part.outcome]
    what = part_name(part)
    if part.outcome is Outcome.WAITING:
        return f"{mark} {what}   {_what(part)}"
    if part.outcome is Outcome.SKIPPED:
        return f"{mark} {what}   {words(part.why, 160) or name}"
    why = f": {words(part.why, 120)}" if part.why else ""
    return f"{mark} {what}   {_what(part) if part.outcome is Outcome.APPLIED else name}{why}"


def part_name(part: Part) -> str:
    """What a part is about, as a channel may see it."""
    site = f" at {esc(part.target.site, 40)}" if part.target.site else ""
    if part.target.service == "members":
        who = code(masked(part.target.key)) if part.target.key else esc(part.source or "a member", 40)
        return f"{who}{site}"
    key = f" {code(part.target.key, 100)}" if part.target.key and part.name != part.target.key else ""
    return f"*{esc(part.name or 'a rule', NAME)}*{key}"


def _what(part: Part) -> str:
    """What is done to it, in one line; a ``…`` stands for what has no room there."""
    if part.kind is None:
        return ""
    if part.target.service == "members":
        return _what_of_member(part, VERBS[part.kind])
    if part.kind.destroys or part.kind.creates:
        return _whole_rule(part, VERBS[part.kind])
    at = f"   at {hosts}" if (hosts := _hosts(part.before)) else ""
    return f"{_differing(part)}{at}"


def _what_of_member(part: Part, verb: str) -> str:
    document = part.before if part.kind is Kind.MEMBER_REMOVE else part.after
    if part.kind in {Kind.MEMBER_REMOVE, Kind.MEMBER_ADD} and document is not None:
        segments = [all_masked(str(one)) for one in document.get("allowedSegments") or ()]
        return f"{verb}   segments {segments_line(segments)}"
    return _differing(part)


def _differing(part: Part) -> str:
    lines = differences(part.before, part.after) if part.before and part.after else []
    if not lines:
        return VERBS[part.kind] if part.kind is not None else ""
    if len(lines) == 1 and lines[0].field == "status":
        return "switch on" if lines[0].after == "Active" else "switch off"
    shown = all_masked if part.target.service == "members" else str
    left = len(lines) - MAX_FIELDS
    more = f"   …and {parts.plural(left, 'more field')}" if left > 0 else ""
    return rendered(lines[:MAX_FIELDS], shown=shown).replace("\n", "   ") + more


def _whole_rule(part: Part, verb: str) -> str:
    """A rule that comes or goes: its first pair, and a mark where there is more to it."""
    document = part.before if part.before is not None else part.after
    rule = RuleDraft.model_validate(document or {})
    pairs = rule.pairs or ()
    first = (
        f"   {source_line(rule.rule_type, pairs[0], MAX_URL)} {effect_line(rule.rule_type, pairs[0], MAX_URL)}"
        if pairs
        else ""
    )
    more = f"   …and {parts.plural(len(pairs) - 1, 'more pair')}" if len(pairs) > 1 else ""
    kind = f" {esc(rule.status or '', 40)} {esc(rule.rule_type or '', 40)}" if verb == "create" else ""
    line = f"{verb}{kind}{first}{more}"
    told = more or verb != "create" or says(f"{part_name(part)} {line}", None, part.after)
    return line if told else f"{line}   …"


def _hosts(document: Mapping[str, Any] | None) -> str:
    """The hosts that the URLs of a rule's pairs have, as code."""
    found = tuple(dict.fromkeys(_hosts_of(RuleDraft.model_validate(document or {}))))
    more = f" and {len(found) - MAX_HOSTS} more hosts" if len(found) > MAX_HOSTS else ""
    return ", ".join(code(host) for host in found[:MAX_HOSTS]) + more


def _hosts_of(rule: RuleDraft) -> Iterator[str]:
    for pair in rule.pairs or ():
        for text in (pair.source.value if pair.source else None, pair.destination):
            if text and (place := authority(text)) is not None:
                yield place.host
