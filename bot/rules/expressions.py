"""Run JavaScript's regular expressions on RE2, which takes linear time, and expand replacements as JavaScript does."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import Any, Final

import re2

from bot.rules.url import MAX_URL_LENGTH

SLASHED: Final = re.compile(r"/(.+)/(|i|g|ig|gi)")
"""A regular expression in the form that the engines accept: in slashes, with no flags but ``i`` and ``g``."""
LOOSE: Final = re.compile(r"/(.+)/([a-z]*)")
MAX_EXPRESSION: Final = 4_000
"""Characters of an expression that is compiled: a megabyte of them takes RE2 many seconds."""
MAX_EXPRESSION_WORK: Final = 5_000_000
"""Characters of the text times steps of the compiled expression, at some nanoseconds each: an ordinary one has 50 steps."""
Captures = tuple[str | None, ...]
"""The values of ``$1``, ``$2`` …; None for a group that did not take part."""


class CannotTell(Exception):
    """A condition, or the effect of a rule, that Gatehouse can't evaluate, or that no engine can; the text says why."""


class BrokenExpression(CannotTell):
    """An expression that is invalid, or too much for RE2."""

    def __init__(self) -> None:
        super().__init__("its expression is invalid or too large to evaluate")


@lru_cache(maxsize=8192)
def compile_expression(expression: str, *, ignore_case: bool = False) -> Any:
    """Compile *expression* for RE2; raises CannotTell where it is invalid, or where RE2 can't express it."""
    require_short(expression)
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    options.never_nl = False
    try:
        return re2.compile(_translate(expression), options)
    except (re2.error, UnicodeError, ValueError) as error:
        raise BrokenExpression from error


def _translate(expression: str) -> str:
    """Translate *expression* from JavaScript's syntax to RE2's; raises CannotTell where RE2 has no equivalent."""

    def translate(match: re.Match[str]) -> str:
        part = match[0]
        if match["place"]:
            raise BrokenExpression
        if part == "(" or (part[0] == "\\" and part[1:] in SHARED_ESCAPES):
            return part
        if match["inner"] is not None:
            return _translate_class(part, match["start"], match["inner"])
        if part in LOOKS or _refers_back(match, expression):
            raise CannotTell("its expression uses lookarounds or backreferences")
        if part.startswith("(?") and part not in {"(?<", "(?:"}:
            raise CannotTell(f"browsers read {part} in its expression differently")
        return ESCAPE.sub(_translate_escape, part) if part[0] == "\\" else part

    return TOKEN.sub(translate, expression)


def _refers_back(match: re.Match[str], expression: str) -> bool:
    """Whether an escape is a back reference: where there is no such group, JavaScript reads it as a character."""
    if not match["number"] and match[0] != r"\k":
        return False
    starts = [each[0] for each in TOKEN.finditer(expression)]
    named = starts.count("(?<")
    return int(match["number"]) <= starts.count("(") + named if match["number"] else named > 0


def _translate_class(part: str, start: str, inner: str) -> str:
    if part == f"{start}{inner}":
        raise BrokenExpression
    if not inner:
        return ANY if start == "[^" else NONE
    return f"{start}{ESCAPE.sub(_translate_escape, inner)}]"


def _translate_escape(match: re.Match[str]) -> str:
    """Translate the escape of a character code, or of a character that is literal since browsers know no other meaning."""
    escaped = match[1]
    if escaped is None or escaped == "b":  # in a class
        return r"\[" if escaped is None else r"\x08"
    if escaped in SHARED_ESCAPES - {"B"}:
        return match[0]
    if escaped[0] in "ux" and len(escaped) > 1:
        return f"\\x{{{escaped[1:]}}}"
    if escaped[0] in "01234567":
        return f"\\x{{{int(escaped, 8):x}}}"
    if escaped[0] == "c":
        return f"\\x{{{ord(escaped[1]) % 32:x}}}" if len(escaped) > 1 else r"\\c"
    return str(re2.escape(escaped))


def require_short(expression: str) -> None:
    """Raise CannotTell for an expression or a wildcard that is too long to compile."""
    if (length := len(expression)) > MAX_EXPRESSION:
        raise CannotTell(f"its expression has {length:,} characters; the limit here is {MAX_EXPRESSION:,}")


def require_url_length(length: int) -> None:
    """Raise CannotTell for a result longer than any URL: a few letters of a rule can expand to gigabytes."""
    if length > MAX_URL_LENGTH:
        raise CannotTell("the resulting URL is too long to work out")


def require_little_work(expression: Any, text: str) -> None:
    """Raise CannotTell where matching *expression* on *text* could take too long: linear time is long if both are large."""
    if expression.programsize * len(text) > MAX_EXPRESSION_WORK:
        raise CannotTell("its expression is too large to evaluate on a URL this long")


TOKEN: Final = re.compile(
    r"(?P<place>[\^$]|\\[bB])(?=[*+?]|\{[0-9])|\\(?P<number>[1-9][0-9]*)|\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[a-zA-Z]|[0-7]{1,3}|.)"
    r"|(?P<start>\[\^?)(?P<inner>(?:[^\]\\]|\\.)*)\]?|\((?:\?(?:<?[=!]|[<:P]|[a-zA-Z-]+[:)]))?",
    re.DOTALL,
)
"""Syntax that RE2 may read differently from browsers: escapes, character classes, starts of groups; and a repeated
assertion (*place*), which is invalid."""
ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[a-zA-Z]|[0-3][0-7]{0,2}|[4-7][0-7]?|.)|\[", re.DOTALL)
SHARED_ESCAPES: Final = frozenset(r"dDwWsSbBtnvfr/.-?+*()[]{}|^$\\")
LOOKS: Final = frozenset({"(?=", "(?!", "(?<=", "(?<!"})
ANY: Final = r"[\x00-\x{10ffff}]"
NONE: Final = r"[^\x00-\x{10ffff}]"
SUBSTITUTE: Final = re.compile(r"\$[$&`']")


def substitute(template: str, text: str, start: int, end: int) -> str:
    """Return JavaScript's replacement of the text ``text[start:end]`` by *template*; raises CannotTell where it is too long."""
    values = {"$$": "$", "$&": text[start:end], "$`": text[:start], "$'": text[end:]}
    require_url_length(len(text) + len(template))
    counts = Counter(match[0] for match in SUBSTITUTE.finditer(template))
    require_url_length(len(text) + sum(len(values[mark]) * count for mark, count in counts.items()))
    return SUBSTITUTE.sub(lambda match: values[match[0]], template)


def fill_captures(template: str, captures: Captures) -> str:
    """Fill ``$1``, ``$2`` … in *template*, one after the other; ``$`` in a capture is expanded, too. Raises CannotTell."""
    for number, caught in enumerate(captures, start=1):
        mark = f"${number}"
        if mark in template:
            template = _fill_capture(template, mark, caught or "")
    return template


def _fill_capture(template: str, mark: str, caught: str) -> str:
    first, *rest = template.split(mark)
    made, start, length = [first], len(first), len(template)
    for part in rest:
        put = substitute(caught, template, start, start + len(mark)) if "$" in caught else caught
        made += [put, part]
        start += len(mark) + len(part)
        length += len(put)
        require_url_length(length)
    return "".join(made)
