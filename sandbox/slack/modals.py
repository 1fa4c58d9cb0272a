"""Submit or close a modal, and show the app's answer to that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sandbox.slack import payloads
from sandbox.slack.answers import Answers
from sandbox.slack.delivery import Delivery
from sandbox.slack.filestore import form_refusal
from sandbox.slack.refusal import Refused
from sandbox.slack.state import MAX_VIEWS, State, View
from sandbox.slack.validation import check_response_action

Values = dict[str, Any]
TROUBLE: Final = "We had some trouble connecting. Try again?"


class Modals:
    """Tells the app of what is sent and closed, and shows what it answers."""

    def __init__(self, state: State, delivery: Delivery, answers: Answers) -> None:
        self._state = state
        self._delivery = delivery
        self._answers = answers

    async def submit(self, user: str, view_id: str, values: Values) -> dict[str, Any]:
        """Send a modal; what the app answers closes, replaces, stacks or marks it."""
        view = self._own_view(user, view_id)
        self._grant_files(user, view, values)
        ack = await self._delivery.send_interaction("submit", payloads.submission(self._state, user, view, values))
        stack = self._state.stack(user)
        if ack.failed:
            return {"ok": False, "error": ack.failed, "text": TROUBLE}
        if not ack.body:
            stack[:] = [one for one in stack if one["id"] != view["id"]]
            self._state.show_views(user)
            return {"ok": True}
        answer = ack.body if isinstance(ack.body, dict) else {}
        if check_response_action(answer, view):
            return {"ok": False, "error": "invalid_response_action", "text": TROUBLE}
        return self._apply_response(user, view, answer)

    def _grant_files(self, user: str, view: View, values: Values) -> None:
        """Let the app see the files that were chosen in a form; raises Refused where its inputs don't accept them."""
        for block in view["blocks"]:
            element = block.get("element") or {}
            if element.get("type") != "file_input":
                continue
            state = values.get(block["block_id"], {}).get(element["action_id"]) or {}
            files = self._state.files.chosen_files(state, user)
            if refusal := form_refusal(element, [(one.name, one.size) for one in files]):
                raise Refused(refusal)
            for file in files:
                file.is_granted = True
            state["files"] = [one.info() for one in files]

    def _apply_response(self, user: str, view: View, answer: Mapping[str, Any]) -> dict[str, Any]:
        stack = self._state.stack(user)
        match answer["response_action"]:
            case "errors":
                errors = dict(answer["errors"])
                self._state.notify({"type": "view_errors", "view_id": view["id"], "errors": errors}, only=user)
                return {"ok": False, "errors": errors}
            case "clear":
                stack.clear()
            case "update":
                # The app may have updated the view since; the acknowledgement that comes after wins all the same.
                place = next((n for n, one in enumerate(stack) if one["id"] == view["id"]), None)
                if place is not None:
                    stack[place] = self._state.make_view(answer["view"], user, old=stack[place])
            case "push" if len(stack) < MAX_VIEWS:
                stack.append(self._state.make_view(answer["view"], user))
        self._state.show_views(user)
        return {"ok": True}

    def close(self, user: str, view_id: str, *, clear: bool) -> None:
        """Close a modal, or all of them (*clear*)."""
        view = self._own_view(user, view_id)
        stack = self._state.stack(user)
        stack[:] = [] if clear else [one for one in stack if one is not view]
        self._state.show_views(user)

    def _own_view(self, user: str, view_id: str) -> View:
        found = self._state.find_view(view_id)
        if found is None or found[0] != user:
            raise Refused("view_not_found")
        return found[1]
