"""People for tests: they say, click, fill in and look, through the same Slack that the page uses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sandbox.slack import filling, rendering
from sandbox.slack.elements import elements_of
from sandbox.slack.filestore import File, form_refusal
from sandbox.slack.message import Message
from sandbox.slack.onlooker import Onlooker
from sandbox.slack.state import View


@dataclass(slots=True)
class Person(Onlooker):
    """A person who types, clicks and fills in forms."""

    typed: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What was typed into each modal, by its id: Slack keeps it in the client, too."""

    async def types(self, text: str, channel: str | None = None) -> dict[str, Any]:
        """Send *text* and wait for nothing but Slack's own answer."""
        return await self.slack.acting.say(self.id, channel or self.channel, text)

    async def says(self, text: str, channel: str | None = None) -> Message:
        """Send *text*; return the first message of the bot after it that this person sees.

        A direct message doesn't count as an answer to what was typed in a channel: it may be about something earlier.
        """
        known = {one.ts for one in self._bot_messages()}
        elsewhere = {self._direct} - {channel or self.channel}

        def answer() -> Message | None:
            return next(
                (one for one in self._bot_messages() if one.ts not in known and one.channel not in elsewhere), None
            )

        async with self._watch() as watch:
            await self.types(text, channel)
            return await watch.until(answer, text)

    async def opens(self, text: str, channel: str | None = None) -> View:
        """Send *text*; return the modal that opens, once it is filled; one that was open before doesn't count."""
        before = self.modal["id"] if self.modal else None

        def opened() -> View | None:
            view = self._filled_modal()
            return None if view is None or view["id"] == before else view

        async with self._watch() as watch:
            await self.types(text, channel)
            return await watch.until(opened, text)

    async def replied(self, text: str) -> Message | View:
        """Send *text*; return the message or modal that comes back; a direct message doesn't count, as in `says`."""
        known = {one.ts for one in self._bot_messages()}
        elsewhere = {self._direct} - {self.channel}
        async with self._watch() as watch:
            await self.types(text)

            def answer() -> Message | View | None:
                new = (one for one in self._bot_messages() if one.ts not in known and one.channel not in elsewhere)
                return next(new, None) or self._filled_modal()

            found: Message | View = await watch.until(answer, text)
            return found

    async def clicks(
        self, where: Message | View, label: str, *, confirm: bool = False, opens: str | None = None
    ) -> None:
        """Click the button called *label*; *confirm* must say whether it has a confirm dialog.

        *opens*: the click leads to a modal that says this; waits for it, so that it can be filled in at once.
        """
        block_id, found = self._button(where, label)
        assert ("confirm" in found) == confirm, f"{label}: confirm dialog is {'confirm' in found}"
        chosen = next(({"selected_option": one} for one in found.get("options", ()) if _is_called(one, label)), {})
        values = {} if isinstance(where, Message) else self._values()
        before = self.modal
        async with self._watch() as watch:
            ack = await self.slack.acting.act(self.id, _place(where), block_id, found["action_id"], chosen, values)
            assert not ack.failed, ack
            if opens is not None:
                await watch.until(lambda: self._opened(before, opens), opens)

    def _opened(self, before: View | None, containing: str) -> View | None:
        """The modal on top, filled, if it is not the one from *before* and says *containing*."""
        view = self._filled_modal()
        return view if view is not before and containing in self.form else None

    async def offered(self, where: Message | View, action_id: str, typed: str) -> dict[str, dict[str, Any]]:
        """Return what the menu *action_id* offers when *typed* is typed into it: options by their labels."""
        block_id, _ = self._button(where, action_id)
        answer = await self.slack.acting.load_options(self.id, _place(where), block_id, action_id, typed)
        return {option["text"]["text"]: option for option in answer["options"]}

    async def chooses(self, where: Message | View, action_id: str, option: dict[str, Any]) -> None:
        """Take *option*, one that the menu *action_id* offered."""
        block_id, _ = self._button(where, action_id)
        chosen = {"selected_option": option}
        ack = await self.slack.acting.act(self.id, _place(where), block_id, action_id, chosen, self._values())
        assert not ack.failed, ack

    async def finds(self, label: str, typed: str) -> None:
        """Type into the modal's menu called *label*, which asks the bot, and choose the first that it offers."""
        block, view = self._input(label), self.modal
        assert view is not None
        element = block["element"]
        found = await self.offered(view, element["action_id"], typed)
        assert found, f"{label}: nothing is offered for {typed!r}"
        first, many = next(iter(found.values())), element["type"].startswith("multi_")
        chosen = {"selected_options": [first]} if many else {"selected_option": first}
        self._typed()[block["block_id"]] = {element["action_id"]: {"type": element["type"], **chosen}}

    async def uses(self, callback_id: str, message: Message) -> None:
        """Use a shortcut on *message*."""
        answer = await self.slack.acting.use_shortcut(self.id, callback_id, message.channel, message.ts)
        assert answer["ok"], answer

    async def opens_home(self, containing: str) -> View:
        """Open the app's home; the home once it says *containing*."""
        async with self._watch() as watch:
            await self.slack.acting.open_home(self.id, "home")
            return await watch.until(lambda: self._home_saying(containing), containing)

    async def sees_home(self, containing: str) -> View:
        """The app's home once it says *containing*, without being opened again."""
        return await self._waits(lambda: self._home_saying(containing), containing)

    def _home_saying(self, containing: str) -> View | None:
        return self.home if self.home and containing in rendering.view(self.home) else None

    async def picks(self, label: str, option: str) -> None:
        """Choose *option* in the modal's dispatching input called *label*, which sends it to the bot at once."""
        block = self._input(label)
        view = self.modal
        assert view is not None
        chosen = {"selected_option": filling.find_option(block["element"], option)}
        self._typed()[block["block_id"]] = {block["element"]["action_id"]: {"type": block["element"]["type"], **chosen}}
        if block.get("dispatch_action"):
            action_id = block["element"]["action_id"]
            await self.slack.acting.act(self.id, _place(view), block["block_id"], action_id, chosen, self._values())

    def fills(self, **texts: str | list[str]) -> None:
        """Type into inputs by their labels; underscores stand for spaces. A list chooses several options."""
        for name, value in texts.items():
            block = self._input(name.replace("_", " "))
            element = block["element"]
            self._typed()[block["block_id"]] = {element["action_id"]: filling.element_state(element, value)}

    def attaches(self, label: str, **files: bytes) -> None:
        """Choose files in the modal's file input called *label*, by their names: ``**{"rules.json": b"[]"}``.

        Raises AssertionError with Slack's word where the input does not take them.
        """
        block = self._input(label.replace("_", " "))
        element = block["element"]
        refusal = form_refusal(element, [(name, len(content)) for name, content in files.items()])
        assert refusal is None, refusal
        shown = [self._uploaded(name, content).info() for name, content in files.items()]
        self._typed()[block["block_id"]] = {element["action_id"]: {"type": "file_input", "files": shown}}

    async def uploads(self, name: str, content: bytes, text: str = "", channel: str | None = None) -> Message:
        """Post a file in a channel; return the message that it is in."""
        file = self._uploaded(name, content)
        await self.slack.acting.upload(self.id, channel or self.channel, text, [file])
        return next(one for one in reversed(self.slack.state.messages) if file in one.files)

    def _uploaded(self, name: str, content: bytes) -> File:
        state = self.slack.state
        return state.files.add_upload(state.number(), name, content, self.id, state.clock())

    async def submits(self) -> dict[str, str]:
        """Send the modal; the errors under its inputs, by label."""
        view = self.modal
        assert view is not None, "no modal is open"
        answer = await self.slack.acting.submit(self.id, view["id"], self._values())
        assert "error" not in answer, answer
        labels = filling.labels(view["blocks"])
        return {labels[name]: words for name, words in answer.get("errors", {}).items()}

    def _typed(self) -> dict[str, Any]:
        view = self.modal
        assert view is not None, "no modal is open"
        return self.typed.setdefault(view["id"], {})

    def _values(self) -> dict[str, Any]:
        """Return the state of the modal: what was typed, else the initial values."""
        return filling.values(self.modal["blocks"], self.typed.get(self.modal["id"], {})) if self.modal else {}

    def _input(self, label: str) -> dict[str, Any]:
        assert self.modal is not None, "no modal is open"
        found = filling.find_input(self.modal["blocks"], label)
        assert found is not None, f"no input {label!r} in:\n{self.form}"
        return found

    def _button(self, where: Message | View, label: str) -> tuple[str, dict[str, Any]]:
        blocks = where.blocks if isinstance(where, Message) else where["blocks"]
        for block in blocks:
            for one in elements_of(block):
                if label in {one.get("action_id"), (one.get("text") or {}).get("text")}:
                    return block["block_id"], one
                if one["type"] == "overflow" and any(_is_called(option, label) for option in one["options"]):
                    return block["block_id"], one
        shown = rendering.message(where.text if isinstance(where, Message) else "", blocks)
        raise AssertionError(f"no button {label!r} in:\n{shown}")


def _is_called(option: dict[str, Any], label: str) -> bool:
    """Whether an option of an overflow menu has this label, or a value that begins with it."""
    return label in {option["text"]["text"], option["value"].partition(" ")[0]}


def _place(where: Message | View) -> dict[str, Any]:
    return {"channel": where.channel, "ts": where.ts} if isinstance(where, Message) else {"view_id": where["id"]}
