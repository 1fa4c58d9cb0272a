"""Find secrets in rules, and hide them for channels.

Only this module decides what is hidden in channels. Stored, sent and exported rules keep their secrets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice
from typing import Any, Final
from urllib.parse import unquote

from bot.rules.model import Rule

MARK: Final = "[hidden"
"""The start of every label that replaces a secret."""
SECRET_PARTS: Final = re.compile(
    "token|secret|passw|passphrase|apikey|accesskey|privatekey|credential|authorization|cookie|session|signature"
)
"""Parts of the names of credentials, without dashes and underscores."""
SECRET_WORDS: Final = frozenset({"auth", "bearer", "jwt", "key", "pass", "pwd", "sid", "sig"})
"""Names of credentials that count only as a whole word: ``X-Api-Key``, but not ``keyword``."""
CORS: Final = "access-control-"
"""The prefix of headers that are about credentials but don't hold any."""
NAMED_BY: Final = ("header", "param", "name", "key")
"""Fields that name the ``value`` beside them."""
WORD: Final = re.compile(r"[a-z0-9]+")
ASSIGNED: Final = re.compile(r"=|%3[Dd]")
NAME_BACKWARDS: Final = re.compile(r"[\w%-]+")
MAX_NAME: Final = 64
VALUE: Final = re.compile(r"[^\s&;#<>|\"`…\ue000]+")
"""A value, up to a character that ends it in a query, in Slack's markup or in a shortened text (see `masking.AMPERSAND`)."""
MIN_SECRET: Final = 3
"""Letters and digits that a secret has at least: ``*``, ``$1`` and ``(.*)`` are patterns."""
PASSWORD: Final = re.compile(r"(://[^\s/?#<>|\"`:@]*:)([^\s/?#<>|\"`…]+)(?=@|…)")
"""The user name and the password in front of a host."""

Label = Callable[[str], str]


def names_secret(name: str) -> bool:
    """Whether *name*, of a header, a parameter or a field, is that of a credential."""
    plain = unquote(name).casefold()
    if plain.startswith(CORS):
        return False
    joined = plain.replace("-", "").replace("_", "")
    return SECRET_PARTS.search(joined) is not None or not SECRET_WORDS.isdisjoint(WORD.findall(plain))


def hide_secrets(*documents: Mapping[str, Any] | None) -> list[Any]:
    """Return *documents* with a label in place of each secret; the same secret has the same label in all of them."""
    labels: dict[str, str] = {}

    def label(secret: str) -> str:
        return labels.setdefault(secret, f"{MARK}-{len(labels) + 1}]" if labels else f"{MARK}]")

    return [None if document is None else _hide(document, label) for document in documents]


def without_secrets(rule: Rule, shown: Collection[int] | None = None) -> Rule:
    """Return *rule* with its secrets hidden. *shown*: the numbers, from 1, of the pairs to keep; the others become empty."""
    document = rule.document()
    if shown is not None and rule.pairs:
        document["pairs"] = only_pairs(document["pairs"], shown)
    return Rule.model_validate(hide_secrets(document)[0])


def only_pairs(pairs: Sequence[Any], numbers: Collection[int]) -> list[Any]:
    """Return *pairs* with all but those of *numbers* (from 1) emptied, so that each keeps its number."""
    return [pair if number in numbers else {} for number, pair in enumerate(pairs, 1)]


def holds_secret(rule: Rule) -> bool:
    """Whether *rule* has a secret in it."""
    return without_secrets(rule) != rule


def _hide(value: Any, label: Label) -> Any:
    if isinstance(value, str):
        return hide_in_text(value, label)
    if isinstance(value, list):
        return [_hide(one, label) for one in value]
    if not isinstance(value, Mapping):
        return value
    is_named = "value" in value and any(names_secret(str(value.get(name, ""))) for name in NAMED_BY)
    return {
        name: _hide_field(inner, label) if _is_secret(name, is_named=is_named) else _hide(inner, label)
        for name, inner in value.items()
    }


def _is_secret(field: str, *, is_named: bool) -> bool:
    return is_named if field == "value" else field not in NAMED_BY and names_secret(field)


def _hide_field(value: Any, label: Label) -> Any:
    """Return the *value* of a secret field: a label for a text or a number, else the value with the secrets inside it hidden."""
    if isinstance(value, bool) or value in (None, "") or not isinstance(value, str | int | float):
        return _hide(value, label)
    return value if str(value).startswith(MARK) else label(str(value))


def hide_in_text(text: str, label: Label = lambda _: f"{MARK}]") -> str:
    """Return *text* with a label in place of each password in a URL and of each ``token=value``."""
    shown, done, run_end = [], 0, 0
    for sign in ASSIGNED.finditer(text):
        start = sign.end()
        if start >= run_end:  # a value may contain further signs with the same end; searching each time is quadratic
            run_end = value.end() if (value := VALUE.match(text, start)) else start
        if sign.start() < done or start == run_end:
            continue
        name = NAME_BACKWARDS.match(text[max(done, sign.start() - MAX_NAME) : sign.start()][::-1])
        if name is not None and names_secret(name[0][::-1]) and _may_be_secret(text, start, run_end):
            shown += [text[done:start], label(text[start:run_end])]
            done = run_end
    return PASSWORD.sub(lambda found: found[1] + _label_password(found[2], label), "".join([*shown, text[done:]]))


def _may_be_secret(text: str, start: int, end: int) -> bool:
    """Whether a value is more than a pattern or a label of ours; reads only as much of it as needed."""
    if text.startswith(MARK, start):
        return False
    letters = (place for place in range(start, end) if text[place].isalnum())
    return next(islice(letters, MIN_SECRET - 1, None), None) is not None


def _label_password(password: str, label: Label) -> str:
    return password if password.startswith(MARK) else label(password)
