"""Groups of rules: not in the specification, but in the real service that it was made from."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sandbox.services.answers import Answer, Problem, Stage, list_response, make_endpoint, path_segments
from sandbox.services.database import Database, Record

ROOT = "/v1/groups"
ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
STATUSES = ("Active", "Inactive")


class GroupsService:
    """Four operations on groups, where the switch has them. The rules of a group are active only while the group is on."""

    def __init__(
        self, database: Database, stage: Stage, *, key_of: Callable[[Request], str], now: Callable[[], float]
    ) -> None:
        self._database = database
        self._stage = stage
        self._key_of = key_of
        self._now = now

    def routes(self) -> list[Route]:
        one = ROOT + "/{group_id:path}"
        return [
            self._route(ROOT, self.list, "GET"),
            self._route(ROOT, self.create, "POST"),
            self._route(one, self.update, "PUT"),
            self._route(one, self.delete, "DELETE"),
        ]

    def _route(self, path: str, answer: Answer, method: str) -> Route:
        async def answer_if_on(request: Request, body: Any) -> Response:
            self._key_of(request)
            if self._stage.switches.groups == "off":
                raise Problem(404, "Not found")
            return await answer(request, body)

        return Route(path, make_endpoint(self._stage, answer_if_on), methods=[method])

    async def list(self, request: Request, _: Any) -> Response:
        strangers = self._database.rules(self._key_of(request))[:1] if self._stage.switches.groups == "mixed" else []
        return list_response(request, self._stage, [*strangers, *self._database.groups()])

    async def create(self, _: Request, body: Any) -> Response:
        moment = int(self._now() * 1000)
        made = _parse_group(body) | {
            "id": f"Group_{''.join(secrets.choice(ALPHABET) for _ in range(5))}",
            "creationDate": moment,
            "modificationDate": moment,
        }
        self._database.put_group(made)
        self._stage.stored("", None, made)
        return JSONResponse({"success": True, "data": made})

    async def update(self, request: Request, body: Any) -> Response:
        """Replace the group as a whole: fields that the body leaves out get their defaults."""
        stored = self._require_group(request)
        dates = {"creationDate": stored.get("creationDate"), "modificationDate": int(self._now() * 1000)}
        made = _parse_group(body) | {"id": stored["id"]} | dates
        self._database.put_group(made)
        self._stage.stored("", stored, made)
        return JSONResponse({"success": True, "data": made})

    async def delete(self, request: Request, _: Any) -> Response:
        self._database.delete_group(self._require_group(request)["id"])
        return JSONResponse({"success": True, "message": "Group deleted successfully"})

    def _require_group(self, request: Request) -> Record:
        rest = path_segments(request, ROOT)
        found = self._database.group(rest[0]) if len(rest) == 1 else None
        if found is None:
            raise Problem(404, "Group not found")
        return found


def _parse_group(body: Any) -> Record:
    if not isinstance(body, dict) or not isinstance(body.get("name"), str) or not body["name"]:
        raise Problem(400, "Group Payload is invalid")
    if body.get("status", "Active") not in STATUSES or not isinstance(body.get("isFavourite", False), bool):
        raise Problem(400, "Group Payload is invalid")
    kept = {name: value for name, value in body.items() if name not in {"id", "creationDate", "modificationDate"}}
    return {"objectType": "group", "status": "Active", "isFavourite": False} | kept
