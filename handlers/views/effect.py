"""What a pair of a rule does, in one line: the same words in lists, cards and differences."""

from __future__ import annotations

from typing import Final

from bot.domain.engines import BOTH, Engine, holding_everywhere
from bot.domain.group import Groups, held_back
from bot.domain.matching import filters_of
from bot.domain.rule import Pair, RuleDraft, Source
from handlers.views.other_types import described
from handlers.views.parts import code, esc
from handlers.views.urls import url_code

TYPE_MARK: Final = {
    "Redirect": ":arrow_right_hook:",
    "Cancel": ":no_entry:",
    "Replace": ":twisted_rightwards_arrows:",
    "Headers": ":label:",
    "QueryParam": ":mag_right:",
    "UserAgent": ":bust_in_silhouette:",
    "Request": ":outbox_tray:",
    "Response": ":inbox_tray:",
    "Delay": ":hourglass:",
    "Script": ":scroll:",
}


def type_name(rule: RuleDraft) -> str:
    """The type with its mark: never the mark alone."""
    name = rule.rule_type or "no type"
    return f"{TYPE_MARK.get(name, ':gear:')} {esc(name, 40)}"


def status_name(rule: RuleDraft, groups: Groups | None = None) -> str:
    """In force or not, as a sign and words; what is on, but held back by its group, says so."""
    why = held_back(rule, groups)
    if rule.active:
        return f":double_vertical_bar: on, but {esc(why, 120)}" if why else ":large_green_circle: Active"
    off = f":white_circle: {esc(rule.status or 'no status', 40)}"
    return f"{off}, and {esc(why, 120)}" if why else off


def group_name(rule: RuleDraft, groups: Groups | None) -> str:
    """The group that the rule is in, by name where that is known; empty for none."""
    if not rule.group_id:
        return ""
    name = groups.names.get(rule.group_id) if groups is not None else None
    return f":file_folder: {esc(name, 80)}" if name else f":file_folder: {code(rule.group_id, 60)}"


def source_line(rule_type: str | None, pair: Pair, limit: int = 160) -> str:
    """The condition: where, how and what."""
    if pair.source is None:
        return "_no source_"
    if engines := holding_everywhere(rule_type, pair.source):
        return _every_url(pair.source, engines)
    key, operator = pair.source.key or "?", (pair.source.operator or "?").replace("_", " ").lower()
    where = "" if key == "Url" else f"{esc(key, 40)} "
    how = "" if operator == "equals" else f"{esc(operator, 40)} "
    return f"{where}{how}{url_code(pair.source.value, limit)}"


def _every_url(source: Source, engines: frozenset[Engine]) -> str:
    where = "" if engines == BOTH else f" in {next(iter(engines))}"
    names = ", ".join(esc(name, 40) for name in dict.fromkeys(filters_of((source.model_extra or {}).get("filters"))))
    return f"every URL{where}" + (f" that fits its filters ({names})" if names else "")


def effect_line(rule_type: str | None, pair: Pair, limit: int = 160) -> str:
    """What happens to what matches."""
    if rule_type == "Redirect":
        return f"→ {url_code(pair.destination, limit)}"
    if rule_type == "Cancel":
        return "is blocked"
    if rule_type == "Replace":
        return f"{url_code(pair.find, limit)} becomes {url_code(pair.replacement, limit)}"
    lines = other_lines(rule_type, pair, limit)
    more = f"; …and {len(lines) - MOST_EFFECTS} more" if len(lines) > MOST_EFFECTS else ""
    return "; ".join(lines[:MOST_EFFECTS]) + more


MOST_EFFECTS: Final = 3


def other_lines(rule_type: str | None, pair: Pair, limit: int = 160) -> list[str]:
    """What a pair of a type without fields of its own in the specification does, line by line."""
    own = {name: value for name, value in pair.document().items() if name != "source"}
    return described(rule_type, own, limit)
