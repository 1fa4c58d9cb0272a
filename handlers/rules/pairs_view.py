"""Describe in one line what a pair of a rule does, for every rule type."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

from bot.rules.edit import reach_of
from bot.rules.matching import filters_of
from bot.rules.model import INACTIVE, Groups, Pair, RuleDraft, why_group_is_off
from bot.rules.outcomes import matches_all
from bot.rules.pair_fields import EMPTY
from handlers.blocks.messages import code, esc, first_few, join_words, plural, url_code
from handlers.rules.reasons import off_words

Fields = Mapping[str, Any]

NOTHING: Final = "_unknown effect_"
SHORT: Final = 80
"""Characters of a name or a small value that are shown."""


def describe(rule_type: str | None, pair: Fields, limit: int = 160) -> list[str]:
    """Return what *pair* does, besides its source, for a type whose fields the specification leaves open.

    As mrkdwn lines, with values and bodies cut to *limit* characters and their size added.
    """
    reader, known = READERS.get(rule_type, (None, frozenset()))
    lines = list(reader(pair, limit)) if reader is not None else []
    own = {name: value for name, value in pair.items() if name != "source"}
    if rest := dict(_find_untold(own, {"id", *known} if lines else {"id"})):
        lines.append(f"{'also ' if lines else ''}{code(json.dumps(rest, ensure_ascii=False), limit)}")
    return lines or [NOTHING]


def _find_untold(value: Any, known: Collection[str], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what *value* has at any depth under a name that is not *known*, by its path; a body is told as a whole."""
    fields = value.items() if isinstance(value, Mapping) else enumerate(value, 1) if isinstance(value, list) else ()
    for name, inner in fields:
        if isinstance(name, int) or (name in known and name != "value"):
            yield from _find_untold(inner, known, f"{path}{name}.")
        elif name not in known and inner not in EMPTY:
            yield f"{path}{name}", inner


def code_with_size(value: Any, limit: int) -> str:
    """Return a body or a script as code: its beginning, and its size where it is cut."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) <= limit:
        return code(text, limit)
    return f"{code(text[:limit] + '…', limit + 1)} ({len(text):,} characters)"


def plain_change(change: Fields) -> str | None:
    """Return one changed header or parameter without markup, ``Add X-Debug: 1``; None for anything else."""
    name = change.get("header") or change.get("param") or change.get("name")
    if not isinstance(name, str):
        return None
    value = change.get("value")
    return f"{change.get('type') or 'Set'} {name}" + (f": {value}" if value not in EMPTY else "")


def _headers(pair: Fields, limit: int) -> Iterator[str]:
    for side, change in _headers_by_side(pair):
        name = change.get("header") or change.get("name") or "?"
        header = f"{f'{esc(side, 20).lower()} ' if side else ''}header {code(_text(name), SHORT)}"
        yield _change_text(header, change, limit)


def _headers_by_side(pair: Fields) -> Iterator[tuple[str, Fields]]:
    """Yield each header with its side; a pair has them by side, in one list, or (the oldest form) is a header itself."""
    found = pair.get("modifications") or pair.get("headers")
    if isinstance(found, Mapping) and not any(name in found for name in ("header", "name")):
        for side, changes in found.items():
            yield from ((str(side), change) for change in _objects_in(changes))
    elif found:
        yield from ((_text(change.get("target")), change) for change in _objects_in(found))
    elif pair.get("header"):
        yield _text(pair.get("target")), pair


def _parameters(pair: Fields, limit: int) -> Iterator[str]:
    for change in _objects_in(pair.get("modifications") or ([pair] if pair.get("param") else [])):
        kind = _text(change.get("type")).casefold().replace("_", " ")
        if kind == "remove all":
            yield "removes all parameters"
            continue
        there = _text(change.get("actionWhenParamExists")).casefold() if kind == "add" else ""
        tail = ", replacing the existing one" if there == "overwrite" else ""
        yield _change_text(f"parameter {code(_text(change.get('param')), SHORT)}", change, limit) + tail


def _change_text(what: str, change: Fields, limit: int) -> str:
    kind, value = _text(change.get("type")), code(_text(change.get("value")), limit)
    match kind.casefold():
        case "remove":
            return f"removes {what}"
        case "add":
            return f"adds {what}: {value}"
        case "modify" | "replace":
            return f"changes {what} to {value}"
        case _:
            return f"{esc(kind, 20).lower() or 'sets'} {what}: {value}"


def _user_agent(pair: Fields, limit: int) -> Iterator[str]:
    if (agent := _text(pair.get("userAgent"))) or pair.get("env"):
        device = " ".join(filter(None, (_text(pair.get("envType")), _text(pair.get("env")))))
        yield f"sends the user agent {code(agent, limit)}" + (f" ({esc(device, SHORT)})" if device else "")


def _request(pair: Fields, limit: int) -> Iterator[str]:
    nested = pair.get("request")
    if (body := nested if isinstance(nested, Mapping) else pair).get("value") is not None:
        yield f"the request's body becomes {_body_text(body, limit)}"


def _response(pair: Fields, limit: int) -> Iterator[str]:
    nested = pair.get("response")
    answer = nested if isinstance(nested, Mapping) else pair
    status = " ".join(filter(None, (_text(answer.get("statusCode")), _text(answer.get("statusText")))))
    if status:
        yield f"answers with status {code(status, SHORT)}"
    if answer.get("value") is not None:
        yield f"the answer's body becomes {_body_text(answer, limit)}"
    if answer.get("serveWithoutRequest") is True:
        yield "the request never reaches the server"


def _body_text(body: Fields, limit: int) -> str:
    how = {"code": "the output of this JavaScript: ", "local_file": "a local file: "}.get(_text(body.get("type")), "")
    return f"{how}{code_with_size(body['value'], limit)}"


def _delay(pair: Fields, _: int) -> Iterator[str]:
    delay = _text(pair.get("delay"))
    if delay:
        number = f"{int(delay):,}" if delay.isascii() and delay.isdigit() and len(delay) < 10 else code(delay, 20)
        yield f"waits {number} ms"


LANGUAGES: Final = {"js": "JavaScript", "css": "CSS"}
MOMENTS: Final = {
    "afterPageLoad": "after the page has loaded",
    "beforePageLoad": "before the page loads",
    "asSoonAsPossible": "as soon as possible",
}


def _scripts(pair: Fields, limit: int) -> Iterator[str]:
    if libraries := pair.get("libraries"):
        names = libraries if isinstance(libraries, list) else [libraries]
        yield f"with {join_words([code(_text(name), 40) for name in names], most=8)}"
    found = pair.get("scripts")
    for script in found if isinstance(found, list) else []:
        yield _script(script, limit) if isinstance(script, Mapping) else code_with_size(script, limit)


def _script(script: Fields, limit: int) -> str:
    language = _text(script.get("codeType"))
    shown = LANGUAGES.get(language.casefold()) or esc(language or "script", 20)
    moment = _text(script.get("loadTime"))
    when = MOMENTS.get(moment) or esc(moment, 40)
    where = "from " if script.get("type") == "url" else ""
    return f"runs {shown} {where}{code_with_size(script.get('value') or '', limit)} {when}".strip()


def _objects_in(found: Any) -> list[Fields]:
    """Return the objects in a list, or the single object that is there in place of a list."""
    if isinstance(found, Mapping):
        return [found]
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


Reader = Callable[[Fields, int], Iterator[str]]
READERS: Final[Mapping[str | None, tuple[Reader, frozenset[str]]]] = {
    "Headers": (
        _headers,
        frozenset({"modifications", "headers", "Request", "Response", "header", "name", "type", "target", "value"}),
    ),
    "QueryParam": (_parameters, frozenset({"modifications", "param", "type", "value", "actionWhenParamExists"})),
    "UserAgent": (_user_agent, frozenset({"userAgent", "env", "envType"})),
    "Request": (_request, frozenset({"request", "type", "value", "resourceType"})),
    "Response": (
        _response,
        frozenset({"response", "type", "value", "statusCode", "statusText", "resourceType", "serveWithoutRequest"}),
    ),
    "Delay": (_delay, frozenset({"delay"})),
    "Script": (_scripts, frozenset({"scripts", "libraries", "codeType", "loadTime", "type", "value"})),
}
"""Rule type -> the reader of its pairs, and the names of the fields, at any depth, that it covers once it finds anything."""


def status_mark(rule: RuleDraft, groups: Groups | None = None) -> str:
    """Return a sign for whether the rule is on; words have to say so next to it."""
    if not rule.active:
        return ":white_circle:"
    return ":double_vertical_bar:" if why_group_is_off(rule, groups) else ":large_green_circle:"


def status_words(rule: RuleDraft, groups: Groups | None = None) -> str:
    """Return whether the rule is on, in words, and whether its group is off."""
    held = why_group_is_off(rule, groups)
    why = esc(off_words([held]), 120) if held else ""
    if rule.active:
        return f"On, but {why}" if why else "On"
    other = "" if rule.status == INACTIVE else f" ({esc(rule.status or 'no status', 40)})"
    return f"Off{other}, and {why}" if why else f"Off{other}"


def status_name(rule: RuleDraft, groups: Groups | None = None) -> str:
    """Return whether the rule is on or off, as a sign and words."""
    return f"{status_mark(rule, groups)} {status_words(rule, groups)}"


def group_name(rule: RuleDraft, groups: Groups | None) -> str:
    """Return the group that the rule is in, by name where that is known."""
    name = groups.names.get(rule.group_id or "") if groups is not None else None
    return f":file_folder: {esc(name, 80)}" if name else f":file_folder: {code(rule.group_id, 60)}"


def source_line(pair: Pair, limit: int = 160) -> str:
    """Return the condition of *pair*: which part of the request, the operator, and the value."""
    if pair.source is None:
        return "_no source_"
    if matches_all(pair.source):
        return "every URL"
    if (found := reach_of(pair.source.key, pair.source.operator, pair.source.value or "")) is not None:
        url, reach = found
        return f"{url_code(url, limit)} {REACH_WORDS[reach]}"
    key, operator = pair.source.key or "?", (pair.source.operator or "?").replace("_", " ").lower()
    how = "" if operator == "equals" else f"{esc(operator, 40)} "
    where = ("URL " if how else "") if key == "Url" else f"{esc(key, 40)} "
    return f"{where}{how}{url_code(pair.source.value, limit)}"


REACH_WORDS: Final = {"query": "with any query", "below": "and everything below"}
FILTER_WORDS: Final = {
    "pageDomains": "page domain",
    "pageUrl": "page URL",
    "requestMethod": "method",
    "resourceType": "resource type",
    "requestPayload": "payload",
}
MAX_FILTER_VALUES: Final = 3


def filters_words(pair: Pair, limit: int = 60) -> str:
    """Return the conditions of *pair* besides its URL, as mrkdwn; empty where there are none."""
    found = [
        f"{FILTER_WORDS.get(name) or code(name, 40)} {_filter_value(value, limit)}".rstrip()
        for name, value in filters_of(pair)
    ]
    return f"only for {', '.join(dict.fromkeys(found))}" if found else ""


def _filter_value(value: Any, limit: int) -> str:
    """Return the value of a filter: a text, a list of texts, or a condition of its own."""
    if isinstance(value, Mapping):
        operator = _text(value.get("operator")).replace("_", " ").lower()
        words = [code(_text(value.get("key")), limit)] if value.get("key") else []
        words += [esc(operator, 30)] if operator not in {"", "equals"} else []
        return " ".join([*words, code(_text(value.get("value")), limit)])
    values = [code(_text(one), limit) for one in (value if isinstance(value, list) else [value])]
    return join_words(values, "or", most=MAX_FILTER_VALUES)


def effect_line(rule_type: str | None, pair: Pair, limit: int = 160) -> str:
    """Return the effect of *pair* on a URL that matches."""
    if rule_type == "Redirect":
        return f"→ {url_code(pair.destination, limit)}"
    if rule_type == "Cancel":
        return "blocked"
    if rule_type == "Replace":
        return f"replaces {url_code(pair.find, limit)} with {url_code(pair.replacement, limit)}"
    return "; ".join(first_few(describe(rule_type, pair.document(), limit), MAX_EFFECTS))


MAX_EFFECTS: Final = 3


def pair_line(rule_type: str | None, pair: Pair, limit: int = 160) -> str:
    """Return the pair in one line: its condition, its effect, and its filters."""
    source, effect = source_line(pair, limit), effect_line(rule_type, pair, limit)
    joined = f"{source} {effect}" if rule_type == "Redirect" else f"{source}: {effect}"
    filters = filters_words(pair, 40)
    return f"{joined} · {filters}" if filters else joined


def first_pair_line(rule: RuleDraft, limit: int) -> str:
    """Return the first pair in one line, and how many more there are."""
    pairs = rule.pairs or ()
    more = f" · _and {plural(len(pairs) - 1, 'more pair')}_" if len(pairs) > 1 else ""
    return pair_line(rule.rule_type, pairs[0], limit) + more if pairs else "_no pairs_"
