"""The Web API's methods that open, stack and change modals, and publish home tabs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from sandbox.slack.directory import Arguments, Method
from sandbox.slack.refusal import Refused
from sandbox.slack.state import MAX_VIEWS, State, View
from sandbox.slack.validation import as_messages, check_view


class Views:
    """Keeps each person's modals and home in *state*, as *scopes* allow; *has_home*: the manifest has a home tab."""

    def __init__(self, state: State, scopes: Collection[str], *, has_home: bool) -> None:
        self._state = state
        self._scopes = scopes
        self._has_home = has_home

    def methods(self) -> dict[str, Method]:
        return {
            "views.open": self.open,
            "views.push": self.push,
            "views.update": self.update,
            "views.publish": self.publish,
        }

    async def open(self, arguments: Arguments) -> dict[str, Any]:
        view = self._parse_view(arguments, ("modal",))
        user = self._state.use_trigger(arguments.get("trigger_id"))
        if self._state.stack(user):
            self._state.stacks[user] = []
        return self._push(view, user)

    async def push(self, arguments: Arguments) -> dict[str, Any]:
        view = self._parse_view(arguments, ("modal",))
        return self._push(view, self._state.use_trigger(arguments.get("trigger_id"), to_push=True))

    def _push(self, view: View, user: str) -> dict[str, Any]:
        stack = self._state.stack(user)
        if len(stack) >= MAX_VIEWS:
            raise Refused("push_limit_reached")
        external = view.get("external_id")
        if external and any(
            external == one.get("external_id") for views in self._state.stacks.values() for one in views
        ):
            raise Refused("duplicate_external_id")
        kept = self._state.make_view(view, user)
        stack.append(kept)
        self._state.show_views(user)
        return {"view": kept}

    async def update(self, arguments: Arguments) -> dict[str, Any]:
        view = self._parse_view(arguments, ("modal",))
        found = self._state.find_view(str(arguments.get("view_id") or arguments.get("external_id") or ""))
        if found is None:
            raise Refused("not_found")
        user, old = found
        if arguments.get("hash") and arguments["hash"] != old["hash"]:
            raise Refused("hash_conflict")
        kept = self._state.make_view(view, user, old=old)
        stack = self._state.stack(user)
        stack[stack.index(old)] = kept
        self._state.show_views(user)
        return {"view": kept}

    async def publish(self, arguments: Arguments) -> dict[str, Any]:
        view = self._parse_view(arguments, ("home",))
        if not self._has_home:
            raise Refused("not_enabled")
        user, old = str(arguments.get("user_id") or ""), self._state.homes.get(str(arguments.get("user_id") or ""))
        if user not in self._state.users:
            raise Refused("user_not_found")
        if old is not None and arguments.get("hash") and arguments["hash"] != old["hash"]:
            raise Refused("hash_conflict")
        kept = self._state.make_view(view, user, old=old)
        self._state.homes[user] = kept
        self._state.notify({"type": "home", "view": kept}, only=user)
        return {"view": kept}

    def _parse_view(self, arguments: Arguments, kinds: tuple[str, ...]) -> View:
        view = arguments.get("view")
        problems = check_view(view)
        if isinstance(view, Mapping) and view.get("type") not in kinds:
            raise Refused(
                "invalid_arguments",
                response_metadata={"messages": ["[ERROR] unsupported type [json-pointer:/view/type]"]},
            )
        if not problems and "files:read" not in self._scopes and _asks_for_files(view):
            raise Refused("missing_scope", needed="files:read", provided=",".join(self._scopes))
        if any(problem.text == "view_too_large" for problem in problems):
            raise Refused("view_too_large")
        if problems or not isinstance(view, Mapping):
            schemas = "[ERROR] failed to match all allowed schemas [json-pointer:/view]"
            raise Refused("invalid_arguments", response_metadata={"messages": [schemas, *as_messages(problems)]})
        return dict(view)


def _asks_for_files(view: Any) -> bool:
    return any((block.get("element") or {}).get("type") == "file_input" for block in view["blocks"])
