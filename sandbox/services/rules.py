"""The rules service as its specification has it, every row."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sandbox.services.answers import Problem, Stage, list_response, make_app, make_endpoint, path_segments
from sandbox.services.database import Database, Record
from sandbox.services.groups import GroupsService
from sandbox.services.openapi import RULES

ROOT = "/v1/rules"
PAIR_FIELDS = {"Redirect": ("destinationType", "destination"), "Cancel": (), "Replace": ("from", "to")}
DOCUMENTED = {"name", "description", "status", "ruleType", "pairs", "objectType", "groupId"}
"""The fields of a rule that the specification or the vendor names, without those that the service sets itself."""
ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"


class RulesService:
    """Five operations on rules. A rule belongs to the key that made it."""

    def __init__(self, database: Database, stage: Stage, *, keys: tuple[str, ...], now: Callable[[], float]) -> None:
        self._database = database
        self._stage = stage
        self._keys = keys
        self._now = now

    def app(self) -> Starlette:
        one = ROOT + "/{rule_id:path}"
        routes = [
            Route("/openapi.json", lambda _: JSONResponse(RULES)),
            Route(ROOT, make_endpoint(self._stage, self.list), methods=["GET"]),
            Route(ROOT, make_endpoint(self._stage, self.create), methods=["POST"]),
            *GroupsService(self._database, self._stage, key_of=self._require_key, now=self._now).routes(),
            Route(one, make_endpoint(self._stage, self.get), methods=["GET"]),
            Route(one, make_endpoint(self._stage, self.update), methods=["PUT"]),
            Route(one, make_endpoint(self._stage, self.delete), methods=["DELETE"]),
        ]
        return make_app(self._stage, routes)

    def _require_key(self, request: Request) -> str:
        key = request.headers.get("x-api-key", "")
        if key not in self._keys:
            raise Problem(401, "Unauthorized action")
        return key

    def _require_own_rule(self, request: Request) -> Record:
        """Return the rule of the path, if this key may have it."""
        key, found = self._require_key(request), self._database.rule(_rule_id(request))
        if found is None:
            raise Problem(404, "Rule not found")
        if found[0] != key:
            raise Problem(401, "Unauthorized action")
        return found[1]

    async def list(self, request: Request, _: Any) -> Response:
        return list_response(request, self._stage, self._database.rules(self._require_key(request)))

    async def get(self, request: Request, _: Any) -> Response:
        return JSONResponse({"success": True, "data": self._require_own_rule(request)})

    async def create(self, request: Request, body: Any) -> Response:
        key, record = self._require_key(request), self._parse_rule(body)
        rule_id = f"{record['ruleType']}_{''.join(secrets.choice(ALPHABET) for _ in range(5))}"
        moment = int(self._now() * 1000)
        made = record | {"id": rule_id, "creationDate": moment, "modificationDate": moment}
        self._database.put_rule(key, made)
        self._stage.stored("", None, made)
        return JSONResponse({"success": True, "data": made})

    async def update(self, request: Request, body: Any) -> Response:
        stored = self._require_own_rule(request)
        record = self._parse_rule(body, stored)
        if record["ruleType"] != stored["ruleType"]:
            raise Problem(405, "Rule Type update not allowed")
        dates = {"creationDate": stored.get("creationDate"), "modificationDate": int(self._now() * 1000)}
        made = record | {"id": stored["id"]} | {name: value for name, value in dates.items() if value is not None}
        self._database.put_rule(self._require_key(request), made)
        self._stage.stored("", stored, made)
        return JSONResponse({"success": True, "data": made})

    async def delete(self, request: Request, _: Any) -> Response:
        _rule_id(request)  # a path that names no rule is another error than a missing rule
        try:
            gone = self._require_own_rule(request)
            self._database.delete_rule(gone["id"])
            self._stage.stored("", gone, None)
        except Problem as problem:
            if problem.status != 404 or self._stage.switches.delete_missing == "error":
                raise
        return JSONResponse({"success": True, "message": "Rule deleted successfully"})

    def _parse_rule(self, body: Any, stored: Record | None = None) -> Record:
        """Return the rule to be stored: unknown fields are kept, and so are wrong ones that were *stored* before."""
        if not isinstance(body, dict) or not _are_texts(body, "name", "description", "status", "ruleType"):
            raise Problem(400, "Rule Payload is invalid")
        if not body.get("name") or not _is_type(body.get("ruleType")) or not self._has_right_keys(body, stored):
            raise Problem(400, "Rule Payload is invalid")
        pairs = body.get("pairs")
        if not isinstance(pairs, list) or not pairs or not all(_is_pair(body["ruleType"], pair) for pair in pairs):
            raise Problem(400, "Rule pairs are invalid")
        if _foreign_fields(body["ruleType"], pairs) - _foreign_fields(body["ruleType"], (stored or {}).get("pairs")):
            raise Problem(400, "Rule pairs are invalid")
        strange = body.get("groupId") and self._database.group(str(body["groupId"])) is None
        if strange and self._stage.switches.unknown_group == "refused":
            raise Problem(404, "Group not found")
        kept = {name: value for name, value in body.items() if name not in {"id", "creationDate", "modificationDate"}}
        return self._stage.alter({"description": "", "status": "Active"} | kept)

    def _has_right_keys(self, body: Record, stored: Record | None) -> bool:
        """Whether *body* has the fields that the switches require, and none that they forbid: the specification is silent."""
        switches = self._stage.switches
        has_type = stored is None or "objectType" in stored  # a rule older than the requirement may go on without it
        lacks = switches.object_type == "required" and has_type and body.get("objectType") != "rule"
        return not lacks and (switches.unknown_keys == "taken" or body.keys() <= DOCUMENTED)


def _rule_id(request: Request) -> str:
    """Return the id in the path, which must be all of it: a longer path names no rule, least of all the one it begins with."""
    rest = path_segments(request, ROOT)
    if len(rest) != 1 or not rest[0]:
        raise Problem(404, "Not found")
    return rest[0]


def _are_texts(body: Record, *names: str) -> bool:
    return all(isinstance(body.get(name, ""), str) for name in names)


def _is_type(name: Any) -> bool:
    return isinstance(name, str) and name.isascii() and name.isalnum() and name[:1].isalpha() and len(name) <= 32


def _foreign_fields(rule_type: str, pairs: Any) -> set[str]:
    """Return the fields of *pairs* that belong to another of the types whose pairs the specification shows."""
    if rule_type not in PAIR_FIELDS:
        return set()
    others = {name for fields in PAIR_FIELDS.values() for name in fields} - {*PAIR_FIELDS[rule_type]}
    found = [pair for pair in pairs if isinstance(pair, dict)] if isinstance(pairs, list) else []
    return {name for pair in found for name in others if pair.get(name) not in (None, "")}


def _is_pair(rule_type: str, pair: Any) -> bool:
    """Whether *pair* fits the schema of its type: the specification shows three, of the others only the source."""
    if not isinstance(pair, dict) or not isinstance(pair.get("source"), dict):
        return False
    if not all(isinstance(pair["source"].get(name), str) for name in ("key", "operator", "value")):
        return False
    if rule_type == "Redirect":
        return (
            isinstance(pair.get("destination"), str)
            and bool(pair["destination"])
            and _are_texts(pair, "destinationType")
        )
    if rule_type == "Replace":
        return isinstance(pair.get("from"), str) and isinstance(pair.get("to"), str)
    return True
