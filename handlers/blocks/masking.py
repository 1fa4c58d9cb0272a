"""What a channel may see: every message, title and file name that leaves for one goes through here, and comes out
without whole emails, passwords in URLs and values of parameters such as ``token``.

Direct messages, private answers and forms show all of it: they never come here.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Mapping
from typing import Any, Final

from bot.text.emails import AT, mask_emails
from bot.text.secrets import SECRET_SIGN, hide_in_text
from handlers.blocks.messages import Message, clip, clip_markup, esc
from handlers.blocks.messages import message as fitted

STARS: Final = "***@"
AMPERSAND: Final = "\ue000"
"""Stands for ``&amp;`` while emails are looked for: an email may hold an ampersand, but no semicolon."""
MASKED: Final = re.compile(r"(?<!\w)([\w\"])\*\*\*@")
HIDDEN: Final = "\ue001"
"""Stands for the stars of an email that a view has masked: what is written before it, such as ``members/``, is not part of it."""
URL: Final = re.compile(r"([a-z][a-z0-9+.-]{0,20}://[^\s<>|\"`/?#]*)([^\s<>|\"`]*)", re.IGNORECASE)
"""Where a URL leads, and the rest of it."""
PIECE: Final = re.compile(r"[^/?#=&\ue000]+")
"""Of that rest. An email may hold any of these signs, and would swallow all before it."""
BARE: Final = re.compile(r"[/?#=&\ue000](?:[@＠﹫]|%40)")
"""An email in a URL that does end in such a sign."""
CUT: Final = re.compile(r'(?:"[^"@\n]{1,64}"|[^\s@<>|:;,()\[\]"]{1,64})(?:[@＠﹫]|%40)([\w.-]{0,63})(?=…)')
"""An email that was cut off after its @: it still names a person."""
SIGN: Final = re.compile(rf"(?<!<)[@＠﹫]|%40|{SECRET_SIGN.pattern}")
"""What every text with an email or a secret has in it; a mention has its @ right behind a <."""
LIMITS: Final = (30, 75, 100, 150, 300, 2000, 3000)
"""Slack's limits for a text, in characters: a mask may be longer than what it hides, and the text must still fit."""
CHOICES: Final = ("elements", "options")


def is_public(channel: str) -> bool:
    """Return whether several people read *channel*: it is neither a direct message nor the id of a person."""
    return not channel.startswith(("D", "U", "W"))


def mask_message(message: Message) -> Message:
    """Return *message* with every email and every secret masked, still within Slack's limits."""
    return fitted(_mask_unclipped(message.text), mask_part(list(message.blocks)))


def mask_part(part: Any) -> Any:
    """Return *part* of a payload with every email and secret masked; None for a button that would carry one.

    The value of a button is a command, and a mask would make it another one.
    """
    if isinstance(part, str):
        return mask_text(part)
    if not isinstance(part, list | tuple | Mapping) or not SIGN.search(json.dumps(part, ensure_ascii=False)):
        return part  # most of a card: nothing to mask in any of its texts
    if not isinstance(part, Mapping):
        return [found for one in part if (found := mask_part(one)) is not None]
    if part.get("type") == "mrkdwn":
        return {**part, "text": mask_text(part["text"], is_markup=True)}
    shown = {name: found for name, value in part.items() if (found := mask_part(value)) is not None}
    is_broken = "text" in part and shown.get("value") != part.get("value")
    is_empty = any(part.get(name) and not shown.get(name) for name in CHOICES)
    return None if is_broken or is_empty else shown


def mask_text(text: str, *, is_markup: bool = False) -> str:
    """Return *text* with every email and secret masked, also where Slack's escapes are in it.

    *is_markup*: stars must stay stars.
    """
    if not SIGN.search(text):
        return text
    found = _mask_unclipped(text)
    if found == text:
        return text
    found = found.replace(STARS, esc(STARS)) if is_markup else found
    fits = bisect_left(LIMITS, len(text))
    if fits == len(LIMITS):
        return found
    return (clip_markup if is_markup else clip)(found, LIMITS[fits])


def _mask_unclipped(text: str) -> str:
    """Return *text* with every email and secret masked, however long that makes it."""
    found = hide_in_text(text.replace("&amp;", AMPERSAND))
    if AT.search(found):
        parts = URL.split(MASKED.sub(rf"\1{HIDDEN}", found))
        parts[::3], parts[1::3] = map(_mask_emails, parts[::3]), map(_mask_emails, parts[1::3])
        parts[2::3] = map(_mask_path, parts[2::3])
        found = "".join(parts).replace(HIDDEN, STARS)
    return found.replace(AMPERSAND, "&amp;")


def _mask_path(text: str) -> str:
    return _mask_emails(text) if BARE.search(text) else PIECE.sub(lambda piece: _mask_emails(piece[0]), text)


def _mask_emails(text: str) -> str:
    return CUT.sub(lambda cut: f"{cut[0][0]}{STARS}{cut[1]}", mask_emails(text))


def has_email(content: bytes) -> bool:
    """Return whether there is an email in a file."""
    return any(mask_emails(line) != line for line in content.decode("utf-8", "replace").splitlines())
