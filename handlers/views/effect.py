"""What a pair of a rule does, in one line: the same words in lists, cards and differences."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from bot.domain.group import Groups, held_back
from bot.domain.rule import Pair, RuleDraft
from handlers.views.parts import code, esc

TYPE_MARK: Final = {
    "Redirect": ":arrow_right_hook:",
    "Cancel": ":no_entry:",
    "Replace": ":twisted_rightwards_arrows:",
    "Headers": ":label:",
    "Delay": ":hourglass:",
    "Script": ":scroll:",
}


def type_name(rule: RuleDraft) -> str:
    """The type with its mark: never the mark alone."""
    name = rule.rule_type or "no type"
    return f"{TYPE_MARK.get(name, ':gear:')} {esc(name, 40)}"


def status_name(rule: RuleDraft, groups: Groups | None = None) -> str:
    """In force or not, as a sign and words; what is on, but held back by its group, says so."""
    if why := held_back(rule, groups) if rule.active else "":
        return f":double_vertical_bar: on, but {esc(why, 120)}"
    if rule.active:
        return ":large_green_circle: Active"
    return f":white_circle: {esc(rule.status or 'no status', 40)}"


def group_name(rule: RuleDraft, groups: Groups | None) -> str:
    """The group that the rule is in, by name where that is known; empty for none."""
    if not rule.group_id:
        return ""
    name = groups.names.get(rule.group_id) if groups is not None else None
    return f":file_folder: {esc(name, 80)}" if name else f":file_folder: {code(rule.group_id, 60)}"


def source_line(pair: Pair, limit: int = 160) -> str:
    """The condition: where, how and what."""
    if pair.source is None:
        return "_no source_"
    key, operator = pair.source.key or "?", (pair.source.operator or "?").replace("_", " ").lower()
    where = "" if key == "Url" else f"{esc(key, 40)} "
    how = "" if operator == "equals" else f"{esc(operator, 40)} "
    return f"{where}{how}{code(pair.source.value, limit)}"


def effect_line(rule_type: str | None, pair: Pair, limit: int = 160) -> str:
    """What happens to what matches."""
    if rule_type == "Redirect":
        return f"→ {code(pair.destination, limit)}"
    if rule_type == "Cancel":
        return "is blocked"
    if rule_type == "Replace":
        return f"{code(pair.find, limit)} becomes {code(pair.replacement, limit)}"
    extra = pair.model_extra or {}
    return OTHERS.get(rule_type or "", _anything)(extra, limit)


def _modifications(extra: dict[str, Any], limit: int) -> str:
    found = extra.get("modifications") or extra.get("header") or {}
    parts = found.items() if isinstance(found, dict) else [("", found)]
    lines = []
    for side, changes in parts:
        for each in changes if isinstance(changes, list) else []:
            if isinstance(each, dict):
                what = each.get("header") or each.get("param") or "?"
                value = f": {code(str(each.get('value')), 80)}" if each.get("value") else ""
                lines.append(
                    f"{esc(side, 20).lower()} {esc(str(each.get('type', '')), 20).lower()} {code(str(what), 80)}{value}".strip()
                )
    return "; ".join(lines[:6]) if lines else _anything(extra, limit)


def _anything(extra: dict[str, Any], limit: int) -> str:
    shown = {name: value for name, value in extra.items() if name != "id"}
    return code(json.dumps(shown, ensure_ascii=False), limit) if shown else "_nothing that Gatehouse knows_"


OTHERS: Final[dict[str, Callable[[dict[str, Any], int], str]]] = {
    "Headers": _modifications,
    "QueryParam": _modifications,
    "Delay": lambda extra, limit: (
        f"waits {code(str(extra.get('delay')), 20)} ms" if "delay" in extra else _anything(extra, limit)
    ),
    "UserAgent": lambda extra, limit: (
        f"sends {code(str(extra.get('userAgent')), limit)}" if "userAgent" in extra else _anything(extra, limit)
    ),
}
