"""What every modal shares: its frame, and what it shows while it waits, when it is done and when something failed."""

from __future__ import annotations

import json
from typing import Any

from handlers.views.fields import Block, plain
from handlers.views.parts import Message, esc

View = dict[str, Any]


def frame(
    title: str,
    blocks: list[Block],
    *,
    callback_id: str,
    submit: str | None = None,
    metadata: dict[str, Any] | None = None,
) -> View:
    """A modal of *blocks*; with *submit*, one that can be sent."""
    view: View = {
        "type": "modal",
        "callback_id": callback_id,
        "title": plain(title),
        "close": plain("Cancel" if submit else "Close"),
        "blocks": blocks,
    }
    if submit:
        view["submit"] = plain(submit)
    if metadata:
        view["private_metadata"] = json.dumps(metadata, separators=(",", ":"))
    return view


def section(text: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def note(words: str) -> Block:
    """What is wrong, or what to know, right above the field that it is about."""
    return section(f":warning: {esc(words, 2500)}")


def loading(title: str) -> View:
    return frame(title, [section(":hourglass_flowing_sand: Reading it from the service…")], callback_id="v1.loading")


def working(title: str) -> View:
    return frame(
        title, [section(":hourglass_flowing_sand: Saving. You may close this; it goes on.")], callback_id="v1.working"
    )


def done(title: str, words: str) -> View:
    """The end of a form. *words* are mrkdwn."""
    return frame(title, [section(words)], callback_id="v1.done")


def notice(message: Message) -> View:
    """An answer shown where the person looks: in the modal that is open."""
    return frame("Gatehouse", list(message.blocks), callback_id="v1.notice")


def outdated() -> View:
    words = (
        ":arrows_counterclockwise: This form is from an older version of Gatehouse. Nothing was saved. Open it again."
    )
    return done("Gatehouse", words)


def metadata(view: View) -> dict[str, Any]:
    """What `frame` put into a view to find again; empty where there is none, or where it is not ours."""
    try:
        kept = json.loads(view.get("private_metadata") or "{}")
    except ValueError:
        return {}
    return kept if isinstance(kept, dict) else {}
