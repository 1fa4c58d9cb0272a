"""Parse Slack's payloads into typed requests, once, at the edge: no other module reads a raw body."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from handlers.blocks.buttons import MORE
from handlers.blocks.inputs import chosen_channel
from handlers.blocks.modals import View, metadata
from handlers.grammar import parser
from handlers.grammar.command import Command, Unclear, command_prefix
from handlers.grammar.tokens import MAX_COMMAND, clean_text
from handlers.slack.registry import (
    CLICKS,
    FORMS,
    RUNNING,
    Click,
    EventHandler,
    Form,
    Heard,
    Route,
    action_name,
    find_event,
    menu_name,
)
from handlers.slack.reply import Caller

Body = Mapping[str, Any]


def _get_path(body: Body, *path: str) -> Any:
    found: Any = body
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def natural_key(kind: str, body: Body) -> str:
    """Return a key that is the same for each delivery of one act of one person: a hash of its trigger and of what was done."""
    view = body.get("view") or {}
    done = {
        "command": [body.get("command"), body.get("text")],
        "click": [body.get("actions")],
        "submission": [view.get("id"), view.get("hash"), _get_path(view, "state", "values")],
        "event": [body.get("event_id")],
        "shortcut": [body.get("callback_id"), body.get("message_ts")],
        "typed": [body.get("action_id"), body.get("value")],
    }[kind]
    who = body.get("user_id") or _get_path(body, "user", "id") or ""
    # The trigger tells apart two acts that are the same in every other way.
    text = json.dumps([kind, who, body.get("trigger_id"), done], sort_keys=True, default=str)
    # JSON may hold half of a surrogate pair, which plain UTF-8 can't encode.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def caller_of(kind: str, body: Body) -> Caller:
    """Return the person who did something, where, and the means to answer that Slack sent with it."""
    if kind == "event":
        return _caller_of_event(body)
    thread = ("container", "thread_ts") if "container" in body else ("message", "thread_ts")
    return Caller(
        user=str(body.get("user_id") or _get_path(body, "user", "id") or ""),
        channel=_channel(kind, body),
        request=natural_key(kind, body),
        response_url=body.get("response_url") or None,
        trigger=body.get("trigger_id") or None,
        view=body.get("view") or None,
        message=str(_get_path(body, "container", "message_ts") or _get_path(body, "message", "ts") or ""),
        ephemeral=bool(_get_path(body, "container", "is_ephemeral")),
        thread=str(_get_path(body, *thread) or ""),
    )


def _channel(kind: str, body: Body) -> str:
    """Return the channel of an act; in a view, the one in the view's metadata, or the one chosen in it."""
    # Commands, clicks and messages each name the channel in another place.
    said = body.get("channel_id") or _get_path(body, "channel", "id") or _get_path(body, "container", "channel_id")
    view = body.get("view") or {}
    chosen = chosen_channel(view) if kind == "submission" else ""
    return str(said or chosen or metadata(view).get("channel") or "")


def _caller_of_event(body: Body) -> Caller:
    """Return the person whom the event is about. A message in a channel is answered for the channel to see."""
    event: Body = body.get("event") or {}
    channel = str(event.get("channel") or "")
    # The ids of direct messages begin with D; without a ts, nothing was said, such as for the home.
    mentioned = bool(event.get("ts")) and not channel.startswith("D")
    return Caller(
        user=str(event.get("user") or ""),
        channel=channel,
        request=natural_key("event", body),
        public=mentioned,
        message=str(event.get("ts") or ""),
        thread=str(event.get("thread_ts") or ""),
        mentioned=mentioned,
    )


SPOKEN = frozenset({"text", "url", "value", "title", "title_link", "from_url", "pretext", "fallback"})
"""The fields of messages, blocks and attachments that hold text."""


MAX_SAID: Final = 40_000
"""Characters of a message that are searched: Slack's own limit for a text. Its blocks and attachments may hold more."""


def text_of_message(message: Any) -> str:
    """Return all texts of a message, a line each: apps put into blocks and attachments what people write as text."""
    text = "\n".join(dict.fromkeys(_texts_of(message)))
    # Cut between words, or half a URL would be found, which is another one.
    return text if len(text) <= MAX_SAID else (text[:MAX_SAID].rsplit(maxsplit=1) or [""])[0]


def _texts_of(message: Any) -> Iterator[str]:
    parts = [message]
    while parts:
        part = parts.pop()
        if isinstance(part, Mapping):
            yield from (text for name, text in part.items() if name in SPOKEN and isinstance(text, str) and text)
            # Any field may hold blocks, and Slack adds types of them, so texts are found by the names of their fields.
            part = list(part.values())
        if isinstance(part, list):
            parts += reversed(part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One act of a person, parsed from Slack's payload. *body*: the part of the payload that is stored.

    *asked*: the words that they typed, to be quoted in a private answer; empty where they typed none.
    """

    kind: ClassVar[str]
    body: Body
    caller: Caller
    asked: str = ""
    typed_text: tuple[str, str] | None = None
    """The root of a command, none in a message, and the text after it; None where nothing was typed."""
    acts_at_once: bool = True
    """Whether what it asks to change is changed without being shown first."""

    @property
    def could_change(self) -> bool:
        """Whether it could change something, and so is stored before it is acknowledged."""
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRequest(Request):
    """A slash command; *command*: as parsed, or the error where it can't be."""

    kind = "command"
    command: Command | Exception

    @property
    def could_change(self) -> bool:
        return self.acts_at_once and isinstance(self.command, Command) and self.command.writes


@dataclass(frozen=True, slots=True, kw_only=True)
class ClickRequest(Request):
    """A click; *click* is None for a button that this release doesn't know, *command* what the button stands for, if any."""

    kind = "click"
    click: Click | None
    command: Command | Exception | None

    @property
    def could_change(self) -> bool:
        if self.click is None or self.command is not None:
            return isinstance(self.command, Command) and self.command.writes
        return CLICKS[self.click.action].stored


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortcutRequest(Request):
    """A shortcut of the manifest, on a message or not."""

    kind = "shortcut"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRequest(Request):
    """An event; *route* is None where no handler takes it."""

    kind = "event"
    heard: Heard
    route: Route[EventHandler] | None

    @property
    def could_change(self) -> bool:
        return self.route is not None and self.route.stored

    @property
    def is_home(self) -> bool:
        """Whether somebody opened the Home tab."""
        return self.heard.event.get("type") == "app_home_opened"


@dataclass(frozen=True, slots=True, kw_only=True)
class FormRequest(Request):
    """A submitted form; *form* is None where this release doesn't know it.

    *sent*: what was read from it, or the error where it can't be read.
    """

    kind = "submission"
    view: View
    form: Form[Any] | None
    sent: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class TypingRequest(Request):
    """Letters typed into a menu; *menu* is None for one that this release doesn't know."""

    kind = "typed"
    menu: str | None
    text: str


def read(kind: str, body: Body) -> Request:
    """Return the request in a payload of *kind*."""
    return READERS[kind](body)


def text_without_mention(heard: Heard) -> str:
    """Return what a message says to Gatehouse, without the mention."""
    text = str(heard.event.get("text") or "")
    before, mention, after = text.partition(f"<@{heard.us}") if heard.us else (text, "", "")
    return (after.partition(">")[2].strip() or before.strip()) if mention else text


def _root(command: str) -> str:
    return command.lstrip("/").removeprefix(command_prefix.get())


def _own_user(body: Body) -> str:
    """Return the id of Gatehouse's own user."""
    return str(_get_path((body.get("authorizations") or [{}])[0], "user_id") or "")


def read_command(body: Body) -> CommandRequest:
    service, text = str(body.get("command", "")), str(body.get("text") or "")
    asked = clean_text(f"{service} {text}"[:MAX_COMMAND])
    typed = _root(service), text
    return CommandRequest(
        body=body,
        caller=caller_of("command", body),
        asked=asked,
        typed_text=typed,
        acts_at_once=parser.is_spelled(*typed),
        command=_parse_typed(*typed),
    )


def read_click(body: Body) -> ClickRequest:
    """Return the click in a block_actions payload; its value is that of the button, or of the option that was chosen."""
    action = (body.get("actions") or [{}])[0]
    action_id = str(_get_path(action, "action_id") or "")
    value = str(_get_path(action, "value") or _get_path(action, "selected_option", "value") or "")
    if action_id == MORE:
        action_id, _, value = value.partition(" ")
    name = action_name(action_id)
    number = action_id.removeprefix(f"v1.{name}").lstrip(".")
    click = None if name is None else Click(name, value, body.get("view") or None, number)
    command = _parse(*value.partition(" ")[::2]) if name in RUNNING else None
    return ClickRequest(body=body, caller=caller_of("click", body), click=click, command=command)


def read_shortcut(body: Body) -> ShortcutRequest:
    return ShortcutRequest(body=body, caller=caller_of("shortcut", body), name=str(body.get("callback_id") or ""))


def read_event(body: Body) -> EventRequest:
    """Return the event in a payload; the bot's own messages have no route."""
    event: Body = body.get("event") or {}
    us = _own_user(body)
    # Or an answer of ours that mentions Gatehouse would be answered, and so on.
    route = None if event.get("user") == us else find_event(event)
    typed = str(event.get("text") or "")[:MAX_COMMAND]
    asked = clean_text(typed.replace(f"<@{us}>", "@Gatehouse") if us else typed)
    heard = Heard(event, us)
    said = ("", text_without_mention(heard)) if event.get("type") in {"app_mention", "message"} else None
    return EventRequest(
        body=body,
        caller=caller_of("event", body),
        asked=asked,
        typed_text=said,
        acts_at_once=False,
        heard=heard,
        route=route,
    )


def read_form(body: Body) -> FormRequest:
    view: View = body.get("view") or {}
    form = FORMS.get(str(view.get("callback_id")))
    try:
        sent = None if form is None else form.read(view)
    except Exception as error:  # noqa: BLE001  the one that sent it hears of it, in words
        sent = error
    return FormRequest(body=body, caller=caller_of("submission", body), view=view, form=form, sent=sent)


def read_typing(body: Body) -> TypingRequest:
    menu = menu_name(str(body.get("action_id") or ""))
    return TypingRequest(body=body, caller=caller_of("typed", body), menu=menu, text=str(body.get("value") or ""))


def _parse_typed(service: str, text: str) -> Command | Exception:
    command = _parse(service, text)
    try:
        return parser.check_reason(command) if isinstance(command, Command) else command
    except Unclear as error:
        return error


def _parse(service: str, text: str) -> Command | Exception:
    try:
        return parser.parse(service, text)
    except Exception as error:  # noqa: BLE001  the one that asked hears of it, in words
        return error


READERS: Final[Mapping[str, Callable[[Body], Request]]] = {
    "command": read_command,
    "click": read_click,
    "shortcut": read_shortcut,
    "event": read_event,
    "submission": read_form,
}
