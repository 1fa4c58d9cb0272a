"""What a person does in the local Slack, and what Slack makes of it: the same for the page and for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from sandbox.slack import payloads
from sandbox.slack.chat import checked_content
from sandbox.slack.delivery import Ack, Delivery
from sandbox.slack.files import share
from sandbox.slack.filestore import File, form_refusal
from sandbox.slack.state import RESPONSE_USES, Message, Refused, ResponseUrl, State, View
from sandbox.slack.validation import check_options, check_response_action

Values = dict[str, Any]
FAILED: Final = {
    "operation_timeout": '{command} failed with the error "operation_timeout"',
    "dispatch_failed": '{command} failed with the error "dispatch_failed"',
}
TROUBLE: Final = "We had some trouble connecting. Try again?"
NO_MESSAGES: Final = "Sending messages to this app has been turned off."
MOST_STACKED: Final = 3
USUAL_QUERY: Final = 3
"""Characters that an external select waits for, unless it says how many."""


class Acting:
    """Turns what people do into deliveries, and what the app answers into what they see."""

    def __init__(
        self,
        state: State,
        delivery: Delivery,
        manifest: Mapping[str, Any],
        address: str = "",
        *,
        is_installed: Callable[[], bool] = lambda: True,
    ) -> None:
        self.state = state
        self.delivery = delivery
        self._manifest = manifest
        self.address = address
        self._is_installed = is_installed

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What the app offers here: nothing, while it is not installed in this workspace."""
        return self._manifest if self._is_installed() else {}

    @property
    def commands(self) -> list[dict[str, Any]]:
        return list(self.manifest.get("features", {}).get("slash_commands", ()))

    async def say(self, user: str, channel: str, text: str, thread_ts: str | None = None) -> dict[str, Any]:
        """Say something; a text that begins with a slash is a command."""
        if channel not in self.state.channels or user not in self.state.channels[channel].members:
            raise Refused("channel_not_found")
        if self.state.channels[channel].kind == "im" and not self._takes_messages():
            return self._private(user, channel, NO_MESSAGES, failed="messages_tab_disabled")
        if not text.startswith("/"):
            return await self._message(user, channel, text, thread_ts)
        name, _, rest = text.partition(" ")
        entry = next((one for one in self.commands if one["command"] == name), None)
        if thread_ts is not None:
            return self._private(user, channel, f"{name} is not supported in threads. Sorry!", failed="not_in_threads")
        if entry is None:
            return self._private(user, channel, f"{name} is not a valid command.", failed="invalid_command")
        return await self._command(user, channel, entry, rest.strip())

    async def upload(self, user: str, channel: str, text: str, files: list[File]) -> dict[str, Any]:
        """Post uploaded *files* with a *text*, as people do it in their client."""
        if channel not in self.state.channels or user not in self.state.channels[channel].members:
            raise Refused("channel_not_found")
        if self.state.channels[channel].kind == "im" and not self._takes_messages():
            raise Refused("messages_tab_disabled")
        return await self._message(user, channel, text, None, files)

    def _takes_messages(self) -> bool:
        """Whether people may write to the app: its messages tab is there, and not for reading alone."""
        tabs = self._manifest.get("features", {}).get("app_home", {})
        return bool(tabs.get("messages_tab_enabled", True) and not tabs.get("messages_tab_read_only_enabled"))

    async def _message(
        self, user: str, channel: str, text: str, thread_ts: str | None, files: Sequence[File] = ()
    ) -> dict[str, Any]:
        typed = payloads.as_typed(text, self.state, should_escape=True)
        root = self.state.thread_of(channel, thread_ts)
        message = share(self.state, Message(self.state.new_ts(), channel, user, typed, [], thread_ts=root), list(files))
        place = self.state.channels[channel]
        if not place.bot_is_member:
            return {"ok": True}
        event: dict[str, Any] = {
            "user": user,
            "text": typed,
            "ts": message.ts,
            "channel": channel,
            "event_ts": message.ts,
            **({"thread_ts": root} if root else {}),
        }
        if files:
            event |= {"files": [one.shown() for one in files], "upload": False}
        if f"<@{self.state.workspace.bot.id}" in typed and place.kind != "im":
            await self._event("app_mention", {"type": "app_mention", **event})
        kind = "im" if place.kind == "im" else "group" if place.is_private else "channel"
        plural = "im" if kind == "im" else f"{kind}s"
        subtype = {"subtype": "file_share"} if files else {}
        await self._event(f"message.{plural}", {"type": "message", **subtype, **event, "channel_type": kind})
        return {"ok": True}

    async def _event(self, subscription: str, event: dict[str, Any]) -> None:
        if self._is_installed():
            await self.told(subscription, event)

    async def told(self, subscription: str, event: dict[str, Any]) -> None:
        """Tell the app of *event*, if its manifest asks for such; also of the end of its installation."""
        events = self._manifest.get("settings", {}).get("event_subscriptions", {}).get("bot_events", ())
        if subscription in events:
            await self.delivery.event(payloads.event(self.state, event))

    async def _command(self, user: str, channel: str, entry: Mapping[str, Any], text: str) -> dict[str, Any]:
        typed = payloads.as_typed(text, self.state, should_escape=bool(entry.get("should_escape")))
        url = self._response_url(user, channel, None)
        fields = payloads.command(self.state, user, channel, entry["command"], typed, url)
        ack = await self.delivery.form(f"{entry['command']} {text}".strip(), fields)
        if ack.failed:
            return self._private(user, channel, FAILED[ack.failed].format(command=entry["command"]), failed=ack.failed)
        if ack.body:
            body = ack.body if isinstance(ack.body, dict) else {"text": str(ack.body)}
            self._answer(user, channel, body)
        return {"ok": True}

    def _private(self, user: str, channel: str, text: str, *, failed: str) -> dict[str, Any]:
        """Something that Slack itself says to one person."""
        self.state.add(Message(self.state.new_ts(), channel, "USLACKBOT", text, [], visible_to=user, kind="system"))
        return {"ok": False, "error": failed, "text": text}

    def _response_url(self, user: str, channel: str, source: str | None) -> str:
        return f"{self.address}/response/{self.state.new_response_url(user, channel, source)}"

    def respond(self, name: str, body: Mapping[str, Any]) -> None:
        """The app uses a response URL; raises Refused where it may not."""
        url = self.state.response_urls.get(name)
        if url is None or self.state.clock() > url.expires:
            raise Refused("expired_url")
        if url.uses >= RESPONSE_USES:
            raise Refused("used_url")
        self._use(url, body)
        url.uses += 1

    def _use(self, url: ResponseUrl, body: Mapping[str, Any]) -> None:
        source = self.state.find(url.channel, url.source) if url.source else None
        if body.get("delete_original"):
            if source is not None:
                self.state.delete(source)
            return
        if body.get("replace_original") and source is not None:
            source.text, source.blocks = checked_content(self.state, body.get("text"), body.get("blocks"), body)
            source.edited = source.visible_to is None
            self.state.changed(source)
            return
        self._answer(url.user, url.channel, body)

    def _answer(self, user: str, channel: str, body: Mapping[str, Any]) -> None:
        """A message of the app: private, unless it says in_channel."""
        text, blocks = checked_content(self.state, body.get("text"), body.get("blocks"), body)
        only = None if body.get("response_type") == "in_channel" else user
        root = self.state.thread_of(channel, body.get("thread_ts"))
        self.state.add(
            Message(
                self.state.new_ts(), channel, self.state.workspace.bot.id, text, blocks, visible_to=only, thread_ts=root
            )
        )

    async def act(
        self, user: str, place: Mapping[str, Any], block_id: str, action_id: str, element: Values, values: Values
    ) -> Ack:
        """Use an element of a message or a modal. Refused where there is no such element for this person."""
        message, view = self._place(user, place)
        holder = message.blocks if message else view["blocks"] if view else []
        found = find_element(holder, block_id, action_id)
        if found is None:
            raise Refused("no_such_action")
        action = {
            **_echo(found),
            **element,
            "action_id": action_id,
            "block_id": block_id,
            "type": found["type"],
            "action_ts": self.state.new_ts(),
        }
        if message is not None:
            url = self._response_url(user, message.channel, message.ts)
            payload = payloads.message_click(self.state, user, message, action, values, url)
        elif view is not None:
            payload = payloads.view_click(self.state, user, view, action, values)
        return await self.delivery.payload(f"click {action_id}", payload)

    def _place(self, user: str, place: Mapping[str, Any]) -> tuple[Message | None, View | None]:
        if place.get("view_id"):
            found = self.state.find_view(str(place["view_id"]))
            home = self.state.homes.get(user)
            if found and found[0] == user:
                return None, found[1]
            if home and home["id"] == place["view_id"]:
                return None, home
            raise Refused("view_not_found")
        message = self.state.find(str(place.get("channel")), str(place.get("ts")))
        if message is None or message.visible_to not in {None, user}:
            raise Refused("message_not_found")
        return message, None

    async def submit(self, user: str, view_id: str, values: Values) -> dict[str, Any]:
        """Send a modal; what the app answers closes, replaces, stacks or marks it."""
        view = self._own(user, view_id)
        self._hand_over(user, view, values)
        urls = self._response_urls(user, view, values)
        ack = await self.delivery.payload("submit", payloads.submission(self.state, user, view, values, urls))
        stack = self.state.stack(user)
        if ack.failed:
            return {"ok": False, "error": ack.failed, "text": TROUBLE}
        if not ack.body:
            stack[:] = [one for one in stack if one["id"] != view["id"]]
            self.state.show_views(user)
            return {"ok": True}
        answer = ack.body if isinstance(ack.body, dict) else {}
        if check_response_action(answer, view):
            return {"ok": False, "error": "invalid_response_action", "text": TROUBLE}
        return self._response_action(user, view, answer)

    def _hand_over(self, user: str, view: View, values: Values) -> None:
        """Let the app see the files that were chosen in a form; refused where its inputs do not take them."""
        for block in view["blocks"]:
            element = block.get("element") or {}
            if element.get("type") != "file_input":
                continue
            state = values.get(block["block_id"], {}).get(element["action_id"]) or {}
            files = self.state.files.chosen(state, user)
            if refusal := form_refusal(element, [(one.name, one.size) for one in files]):
                raise Refused(refusal)
            for file in files:
                file.is_granted = True
            state["files"] = [one.shown() for one in files]

    def _response_urls(self, user: str, view: View, values: Values) -> list[dict[str, str]]:
        """Where the app may answer a form: in the conversations that were chosen in it, if it asked for that."""
        found = []
        for block in view["blocks"]:
            element = block.get("element") or {}
            chosen = values.get(block["block_id"], {}).get(element.get("action_id")) or {}
            channel = chosen.get("selected_conversation") or chosen.get("selected_channel")
            if element.get("response_url_enabled") and channel in self.state.channels:
                url = self._response_url(user, channel, None)
                names = {"block_id": block["block_id"], "action_id": element["action_id"]}
                found.append({**names, "channel_id": channel, "response_url": url})
        return found

    def _response_action(self, user: str, view: View, answer: Mapping[str, Any]) -> dict[str, Any]:
        stack = self.state.stack(user)
        match answer["response_action"]:
            case "errors":
                errors = dict(answer["errors"])
                self.state.tell({"type": "view_errors", "view_id": view["id"], "errors": errors}, only=user)
                return {"ok": False, "errors": errors}
            case "clear":
                stack.clear()
            case "update":
                # The app may have updated the view since; the acknowledgement that comes after wins all the same.
                place = next((n for n, one in enumerate(stack) if one["id"] == view["id"]), None)
                if place is not None:
                    stack[place] = self.state.kept_view(answer["view"], user, old=stack[place])
            case "push" if len(stack) < MOST_STACKED:
                stack.append(self.state.kept_view(answer["view"], user))
        self.state.show_views(user)
        return {"ok": True}

    async def close(self, user: str, view_id: str, *, clear: bool) -> None:
        """Close a modal, or all of them (*clear*, or as the modal itself says); the app hears of it if it asked to."""
        view = self._own(user, view_id)
        clear = clear or bool(view.get("clear_on_close"))
        stack = self.state.stack(user)
        gone = list(stack) if clear else [view]
        stack[:] = [one for one in stack if one not in gone]
        self.state.show_views(user)
        heard = gone[0] if clear else view
        if heard.get("notify_on_close"):
            await self.delivery.payload("close", payloads.closed(self.state, user, heard, cleared=clear))

    def _own(self, user: str, view_id: str) -> View:
        found = self.state.find_view(view_id)
        if found is None or found[0] != user:
            raise Refused("view_not_found")
        return found[1]

    async def options(
        self, user: str, place: Mapping[str, Any], block_id: str, action_id: str, value: str
    ) -> dict[str, Any]:
        """What an external select offers for *value*; nothing, and nobody is asked, while that is too short."""
        message, view = self._place(user, place)
        holder = message or view
        blocks = message.blocks if message else view["blocks"] if view else []
        found = find_element(blocks, block_id, action_id)
        if holder is None or found is None or not found["type"].endswith("external_select"):
            raise Refused("no_such_action")
        if len(value) < found.get("min_query_length", USUAL_QUERY):
            return {"options": []}
        payload = payloads.suggestion(self.state, user, holder, block_id, action_id, value)
        ack = await self.delivery.payload("options", payload)
        if ack.failed or check_options(ack.body):
            return {"options": []}
        return dict(ack.body)

    async def shortcut(self, user: str, callback_id: str, channel: str = "", ts: str = "") -> dict[str, Any]:
        """Use a shortcut of the manifest: one of the *channel*'s message *ts*, or a global one where there is none."""
        kind = "message" if ts else "global"
        known = self.manifest.get("features", {}).get("shortcuts", ())
        if not any((one["type"], one["callback_id"]) == (kind, callback_id) for one in known):
            raise Refused("no_such_shortcut")
        if ts:
            message, _ = self._place(user, {"channel": channel, "ts": ts})
            if message is None or message.visible_to is not None:  # Slack offers none on what one person sees
                raise Refused("message_not_found")
            url = self._response_url(user, channel, None)
            payload = payloads.message_action(self.state, user, message, callback_id, url)
        else:
            payload = payloads.shortcut(self.state, user, callback_id)
        ack = await self.delivery.payload(f"shortcut {callback_id}", payload)
        return {"ok": False, "error": ack.failed, "text": TROUBLE} if ack.failed else {"ok": True}

    async def home(self, user: str, tab: str) -> None:
        """Open the app's home or its messages."""
        direct = self.state.direct(user) or self.state.open_direct(user)
        event: dict[str, Any] = {
            "type": "app_home_opened",
            "user": user,
            "channel": direct.id,
            "tab": tab,
            "event_ts": self.state.new_ts(),
        }
        if user in self.state.homes:
            event["view"] = self.state.homes[user]
        await self._event("app_home_opened", event)


def elements_of(block: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The interactive parts of a block."""
    for one in (block.get("accessory"), block.get("element"), *(block.get("elements") or ())):
        if isinstance(one, dict) and "action_id" in one:
            yield one


def find_element(blocks: list[dict[str, Any]], block_id: str, action_id: str) -> dict[str, Any] | None:
    for block in blocks:
        if block.get("block_id") == block_id:
            return next((one for one in elements_of(block) if one["action_id"] == action_id), None)
    return None


def _echo(element: Mapping[str, Any]) -> dict[str, Any]:
    """What Slack repeats of an element in the action."""
    return {name: element[name] for name in ("value", "text", "style", "confirm", "placeholder") if name in element}
