"""What a pair does, in words, for the rule types whose pairs the specification does not describe.

The shapes are those of the real service and of its older versions and documents, which differ. Whatever does not fit
is shown as JSON, so that nothing is hidden; nothing here is ever needed to keep or to send a pair.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from handlers.views.parts import code, esc

Fields = Mapping[str, Any]

NOTHING: Final = "_nothing that Gatehouse knows_"
SHORT: Final = 80
"""Characters of a name or a small value that are shown."""


def described(rule_type: str | None, pair: Fields, limit: int = 160) -> list[str]:
    """What *pair*, less its source, does: mrkdwn lines, values and bodies cut to *limit* with their size told."""
    lines: list[str] = []
    known: frozenset[str] = frozenset()
    if rule_type in READERS:
        reader, known = READERS[rule_type]
        lines = list(reader(pair, limit))
    if not lines:
        known = frozenset()
    rest = {name: value for name, value in pair.items() if name not in known | {"id"} and value not in EMPTY}
    if rest:
        also = "also " if lines else ""
        lines.append(f"{also}{code(json.dumps(rest, ensure_ascii=False), limit)}")
    return lines or [NOTHING]


EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})


def sized(value: Any, limit: int) -> str:
    """A body or a script: its beginning, and how long it is where that is not all."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) <= limit:
        return code(text, limit)
    return f"{code(text[:limit] + '…', limit + 1)} ({len(text):,} characters)"


def plain_change(change: Fields) -> str | None:
    """One changed header or parameter without markup, ``Add X-Debug: 1``; None for what is neither."""
    name = change.get("header") or change.get("param") or change.get("name")
    if not isinstance(name, str):
        return None
    value = change.get("value")
    return f"{change.get('type') or 'Set'} {name}" + (f": {value}" if value not in EMPTY else "")


def _headers(pair: Fields, limit: int) -> Iterator[str]:
    for side, change in _sided(pair):
        name = change.get("header") or change.get("name") or "?"
        header = f"{f'{esc(side, 20).lower()} ' if side else ''}header {code(_text(name), SHORT)}"
        yield _changed(header, change, limit)


def _sided(pair: Fields) -> Iterator[tuple[str, Fields]]:
    """Each header with the side it is of: by side, in one list, or the pair itself in the oldest form."""
    found = pair.get("modifications") or pair.get("headers")
    if isinstance(found, Mapping) and not any(name in found for name in ("header", "name")):
        for side, changes in found.items():
            yield from ((str(side), change) for change in _each(changes))
    elif found:
        yield from ((_text(change.get("target")), change) for change in _each(found))
    elif pair.get("header"):
        yield _text(pair.get("target")), pair


def _parameters(pair: Fields, limit: int) -> Iterator[str]:
    for change in _each(pair.get("modifications") or ([pair] if pair.get("param") else [])):
        kind = _text(change.get("type")).casefold().replace("_", " ")
        if kind == "remove all":
            yield "removes all parameters"
            continue
        there = _text(change.get("actionWhenParamExists")).casefold() if kind == "add" else ""
        tail = {"overwrite": ", also over one that is there", "ignore": IGNORED}.get(there, "")
        yield _changed(f"parameter {code(_text(change.get('param')), SHORT)}", change, limit) + tail


IGNORED: Final = "; the desktop app never adds it, since the rule says Ignore"


def _changed(what: str, change: Fields, limit: int) -> str:
    kind, value = _text(change.get("type")), code(_text(change.get("value")), limit)
    match kind.casefold():
        case "remove":
            return f"removes {what}"
        case "add":
            return f"adds {what}: {value}"
        case "modify" | "replace":
            return f"changes {what} to {value}"
    return f"{esc(kind, 20).lower() or 'sets'} {what}: {value}"


def _user_agent(pair: Fields, limit: int) -> Iterator[str]:
    if (agent := _text(pair.get("userAgent"))) or pair.get("env"):
        device = " ".join(filter(None, (_text(pair.get("envType")), _text(pair.get("env")))))
        yield f"calls itself {code(agent, limit)}" + (f" ({esc(device, SHORT)})" if device else "")


def _request(pair: Fields, limit: int) -> Iterator[str]:
    nested = pair.get("request")
    if (body := nested if isinstance(nested, Mapping) else pair).get("value") is not None:
        yield f"the request's body becomes {_made(body, limit)}"


def _response(pair: Fields, limit: int) -> Iterator[str]:
    nested = pair.get("response")
    answer = nested if isinstance(nested, Mapping) else pair
    status = " ".join(filter(None, (_text(answer.get("statusCode")), _text(answer.get("statusText")))))
    if status:
        yield f"answers with status {code(status, SHORT)}"
    if answer.get("value") is not None:
        yield f"the answer's body becomes {_made(answer, limit)}"
    if answer.get("serveWithoutRequest") is True:
        yield "the server is not asked at all"


def _made(body: Fields, limit: int) -> str:
    how = {"code": "what this JavaScript makes: ", "local_file": "a local file: "}.get(_text(body.get("type")), "")
    return f"{how}{sized(body['value'], limit)}"


def _delay(pair: Fields, _: int) -> Iterator[str]:
    delay = _text(pair.get("delay"))
    if delay:
        number = f"{int(delay):,}" if delay.isascii() and delay.isdigit() and len(delay) < 10 else code(delay, 20)
        yield f"waits {number} ms"


LANGUAGES: Final = {"js": "JavaScript", "css": "CSS"}
MOMENTS: Final = {
    "beforePageLoad": "before the page loads",
    "afterPageLoad": "after the page has loaded",
    "asSoonAsPossible": "as soon as possible",
}


def _scripts(pair: Fields, limit: int) -> Iterator[str]:
    if libraries := pair.get("libraries"):
        names = libraries if isinstance(libraries, list) else [libraries]
        more = f" …and {len(names) - 8} more" if len(names) > 8 else ""
        yield "with " + ", ".join(code(_text(name), 40) for name in names[:8]) + more
    found = pair.get("scripts")
    for script in found if isinstance(found, list) else []:
        yield _script(script, limit) if isinstance(script, Mapping) else sized(script, limit)


def _script(script: Fields, limit: int) -> str:
    language = _text(script.get("codeType"))
    shown = LANGUAGES.get(language.casefold()) or esc(language or "script", 20)
    moment = _text(script.get("loadTime"))
    when = MOMENTS.get(moment) or esc(moment, 40)
    where = "from " if script.get("type") == "url" else ""
    return f"runs {shown} {where}{sized(script.get('value') or '', limit)} {when}".strip()


def _each(found: Any) -> list[Fields]:
    """The objects in a list, or the one object that stands where a list should."""
    if isinstance(found, Mapping):
        return [found]
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


Reader = Callable[[Fields, int], Iterator[str]]
READERS: Final[Mapping[str | None, tuple[Reader, frozenset[str]]]] = {
    "Headers": (_headers, frozenset({"modifications", "headers", "header", "type", "target", "value"})),
    "QueryParam": (_parameters, frozenset({"modifications", "param", "type", "value", "actionWhenParamExists"})),
    "UserAgent": (_user_agent, frozenset({"userAgent", "env", "envType"})),
    "Request": (_request, frozenset({"request", "type", "value", "resourceType"})),
    "Response": (
        _response,
        frozenset({"response", "type", "value", "statusCode", "statusText", "resourceType", "serveWithoutRequest"}),
    ),
    "Delay": (_delay, frozenset({"delay"})),
    "Script": (_scripts, frozenset({"scripts", "libraries"})),
}
"""Rule type -> what reads its pairs, and the fields that it has read once it finds anything."""
