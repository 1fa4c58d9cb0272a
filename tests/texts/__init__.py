"""Everything that people read, as text: each module here is a room whose `samples` builds messages and views.

`python -m tests.texts` prints all of them as one page, and `test_<room>.py` keeps them as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from handlers.blocks.messages import Message
from sandbox.slack import rendering
from sandbox.slack.validation import Problem, check_message, check_view

Shown: TypeAlias = Message | Mapping[str, Any] | Sequence[Mapping[str, Any]] | str
"""A message, a modal or home view, blocks, or plain text such as that of a file or of the command line."""
Sample: TypeAlias = tuple[str, Shown]
"""What a person looks at, called by its situation."""

NAMES: Final = {"@U0ALICE01": "@alice", "@U0BOB0001": "@bob", "@U0CARA001": "@cara", "!subteam^S0ONCALL": "@oncall"}
EMOJI: Final = re.compile(r"(?<![\w:]):[a-z][a-z0-9_+-]+:(?![\w:])")


def as_text(shown: Shown) -> str:
    """Return *shown* as people read it, with the questions of its buttons.

    What a notification says of a message stands before it, where that isn't its first lines.
    """
    if isinstance(shown, str):
        return shown
    if isinstance(shown, Message):
        notice, body = _named(shown.text), _body(shown.blocks)
        return body if _repeats(body, notice) else f"{notice}\n{body}"
    if isinstance(shown, Mapping):
        return _with_questions(_named(rendering.view(_marked(shown))), shown)
    return _body(shown)


def texts(samples: Iterable[Sample]) -> dict[str, str]:
    """Return the text of each sample; raises ValueError where two have one title, or Slack would refuse one."""
    found: dict[str, str] = {}
    for title, shown in samples:
        if title in found:
            raise ValueError(title)
        if refused := _refused(shown):
            raise ValueError(title, refused)
        found[title] = as_text(shown)
    return found


def _refused(shown: Shown) -> list[Problem]:
    """What Slack would not take of it."""
    match shown:
        case str():
            return []
        case Message():
            return check_message({"text": shown.text, "blocks": list(shown.blocks)})
        case Mapping():
            return check_view(shown)
        case _:
            return check_message({"blocks": list(shown)})


def _repeats(body: str, notice: str) -> bool:
    """Whether *body* begins with *notice*, which says its whole first line at least."""
    first = body.partition("\n")[0]
    return _plain(body).startswith(_plain(notice)) and _plain(notice).startswith(_plain(first))


def _plain(text: str) -> str:
    """*text* without what only a message can show: emoji, styles, dates of the reader, and its lines."""
    return " ".join(re.sub(r"\([a-z0-9_+-]+\) |[`*]|<!date\^[^|]*\||>", "", text).split())


def _body(blocks: Sequence[Mapping[str, Any]]) -> str:
    return _with_questions(_named(rendering.message("", _marked(list(blocks)))), blocks)


def _marked(part: Any) -> Any:
    """*part* with emoji as ``(name)``, which the rendering would leave out."""
    if isinstance(part, str):
        return EMOJI.sub(lambda match: f"({match[0].strip(':')})", part)
    if isinstance(part, Mapping):
        return {name: _marked(value) for name, value in part.items()}
    return [_marked(one) for one in part] if isinstance(part, list | tuple) else part


def _named(text: str) -> str:
    for one, name in NAMES.items():
        text = text.replace(f"<{one}>", name).replace(one, name)
    return text


def _with_questions(text: str, part: Any) -> str:
    return "\n".join([text, *_questions(part)])


def _questions(part: Any) -> Iterator[str]:
    """The question that a button asks before it does anything."""
    if isinstance(part, Mapping):
        asked = part.get("confirm")
        if asked and "title" in asked:
            said = {
                name: _named(rendering.plain_text(asked[name]["text"])) for name in ("title", "text", "confirm", "deny")
            }
            button = part["text"]["text"]
            yield f"  [{button}] asks: {said['title']} / {said['text']} [{said['deny']}] [{said['confirm']}]"
        for value in part.values():
            yield from _questions(value)
    elif isinstance(part, list | tuple):
        for one in part:
            yield from _questions(one)
