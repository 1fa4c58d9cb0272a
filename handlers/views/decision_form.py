"""The small modal that asks for words: why a request is denied, what somebody wants to know, why nobody was asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.domain.change import Change
from handlers.views import fields
from handlers.views.forms import View, frame, metadata, section
from handlers.views.forms import working as saving


@dataclass(frozen=True, slots=True)
class _Words:
    title: str
    label: str
    submit: str
    hint: str
    intro: str


WORDS: Final = {
    "deny": _Words(
        "Deny", "Why not?", "Deny", "Everybody in the channel reads it.", ":no_entry_sign: Nothing will be changed."
    ),
    "ask": _Words(
        "Ask",
        "Your question",
        "Ask",
        "It goes into the thread of the card.",
        ":speech_balloon: The request stays open.",
    ),
    "glass": _Words(
        "Break the glass",
        "Why can nobody be asked?",
        "Do it now",
        "At least ten characters. Everybody in the channel reads it, and it is on record.",
        ":rotating_light: *You act alone.* It is done at once, those who could have approved are told, and somebody "
        "else has to sign it afterwards.",
    ),
}
LEAST: Final = {"deny": 1, "ask": 1, "glass": 10}
MOST: Final = 1000
BLOCK: Final = "words"


def callback(name: str) -> str:
    return f"v1.decision.{name}"


def opened(name: str, change: Change, *, title: str, channel: str) -> View:
    """The form about *change*; *title* (mrkdwn) says what it is about."""
    words = WORDS[name]
    blocks = [
        section(f"*{title}*\nasked by <@{change.requester}>"),
        section(words.intro),
        fields.text(BLOCK, words.label, None, multiline=True, hint=words.hint),
    ]
    about = {"name": name, "change": change.id, "channel": channel}
    return frame(words.title, blocks, callback_id=callback(name), submit=words.submit, metadata=about)


def read(view: View) -> tuple[str, str, str]:
    """Which form it is, the id of the change, and the words."""
    about = metadata(view)
    values = (view.get("state") or {}).get("values") or {}
    return str(about.get("name") or ""), str(about.get("change") or ""), (fields.typed(values, BLOCK) or "").strip()


def errors(view: View) -> dict[str, str]:
    """What is wrong with the words, under their input."""
    name, _, text = read(view)
    if len(text) < LEAST.get(name, 1):
        return {BLOCK: "A reason of at least ten characters, please." if name == "glass" else "Some words, please."}
    return {BLOCK: f"At most {MOST:,} characters, please."} if len(text) > MOST else {}


def working(view: View) -> View:
    return saving(str((view.get("title") or {}).get("text") or "Gatehouse"))
