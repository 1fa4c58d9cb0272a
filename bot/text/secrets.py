"""Find secrets in a text: what a name such as ``token`` or a word such as ``Bearer`` announces, and what looks random.

This is the one list for channels, logs and settings.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote

MARK: Final = "[hidden"
"""The start of every label that replaces a secret."""
NAME: Final = re.compile(
    "token|secret|passw|passphrase|apikey|accesskey|privatekey|credential|authorization|cookie|sessi|signature"
    r"|(?<![a-z0-9])(?:auth|bearer|csrf|hmac|jwt|key|otp|pass|pin|pwd|sid|sig|xsrf)(?![a-z0-9])|(?<![\w.-])code(?![\w.-])"
)
"""In names of credentials: a part (also of ``PHPSESSID``), a whole word (``X-Api-Key``, but not ``keyword``), or all of it."""
CORS: Final = "access-control-"
"""The prefix of headers that are about credentials but don't hold any."""
ANNOUNCED: Final = re.compile(
    r"""["']?(?:=|%(?:25)*3[Dd]|(?P<colon>:(?=[ "'“]) ?))["'“]?|(?P<scheme>\b(?i:basic|bearer|token)(?: |%20|\+)+)"""
)
"""What stands between a name and its value, or in place of a name."""
NAME_BACKWARDS: Final = re.compile(r"[\w%.\[\]-]+")
MAX_NAME: Final = 64
VALUE: Final = re.compile(r"(?!\[hidden)[^\s&;#<>|\"`…\ue000]+")
"""A value that is not hidden yet, up to what ends it in a query, in markup or in a shortened text (see `masking.AMPERSAND`)."""
NO_PATTERN: Final = re.compile(r"(?:[\W_]*[^\W_]){3}")
"""Matches a value of three letters or digits: ``*``, ``$1`` and ``(.*)`` have fewer."""
NO_WORD: Final = re.compile(r"(?=\S{8})\S*?(?:[0-9]|[a-z][A-Z])")
"""Matches a value that is no word of a sentence: ``token: see the wiki`` and ``basic plan`` announce nothing."""
PASSWORD: Final = re.compile(r"(://[^\s/?#<>|\"`:@]*:)(?!\[hidden)([^\s/?#<>|\"`…]+)(?=@|…)")
"""The user name and the password in front of a host."""
UNANNOUNCED: Final = re.compile(
    r"\b(?:xox[a-z]|xapp)-[A-Za-z0-9-]+"
    r"|(?<![\w-])(?![A-Z][A-Za-z]*_)(?=[\w-]*[A-Z])(?=[\w-]*[a-z])(?=[\w-]*[0-9])[A-Za-z0-9_-]{20,}"
)
"""Slack's tokens, and what may be random: long, of upper and lower case and digits, and no id such as ``Redirect_x1``."""
SAME_KIND: Final = re.compile("[A-Z]+|[a-z]+|[0-9]+")
SECRET_SIGN: Final = re.compile(rf"=|%(?:25)*3[Dd]|://[^\s/?#]*:|(?i:basic|{NAME.pattern})|{UNANNOUNCED.pattern}")
"""What every text with a secret has in it: most texts of a card have none, and are not searched."""

Label = Callable[[str], str]


def names_secret(name: str) -> bool:
    """Whether *name*, of a header, a parameter or a field, is that of a credential."""
    plain = unquote(name).casefold()
    return not plain.startswith(CORS) and NAME.search(plain) is not None


def hide_in_text(text: str, label: Label = lambda _: f"{MARK}]") -> str:
    """Return *text* with a label in place of each secret in it."""
    shown, done, run_end, last_end = [], 0, 0, 0
    for sign in ANNOUNCED.finditer(text):
        (start, end), last = sign.span(), last_end
        last_end = end
        if end >= run_end:  # a value may contain further signs with the same end; searching each time is quadratic
            run_end = value.end() if (value := VALUE.match(text, end)) else end
        if start < done or end == run_end:
            continue
        # A name begins after the sign before it, so that no part of the text is looked at twice.
        name = NAME_BACKWARDS.match(text[max(done, last, start - MAX_NAME) : start][::-1])
        is_named = sign["scheme"] or (name is not None and names_secret(name[0][::-1]))
        is_sentence = sign["scheme"] or (sign["colon"] and name is not None and name[0].isalpha())
        if is_named and (NO_WORD if is_sentence else NO_PATTERN).match(text, end, run_end):
            shown += [text[done:end], label(text[end:run_end])]
            done = run_end
    found = PASSWORD.sub(lambda each: each[1] + label(each[2]), "".join([*shown, text[done:]]))
    return hide_unannounced(found, label)


def hide_unannounced(text: str, label: Label) -> str:
    """Return *text* with a label in place of each secret that looks like one, whatever is before it."""
    return UNANNOUNCED.sub(lambda each: label(each[0]) if _looks_random(each[0]) else each[0], text)


def _looks_random(text: str) -> bool:
    """Whether letters and digits alternate as often as they do by chance: about twice as often as in words."""
    return text.startswith(("xox", "xapp-")) or len(SAME_KIND.findall(text)) * 3 >= len(text)
