"""The membership service as its specification has it: six operations, with its trailing slashes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sandbox.services.answers import Problem, Stage, make_app, make_endpoint, number_param, path_segments
from sandbox.services.database import Database, Record
from sandbox.services.openapi import MEMBERS

ROOT = "/api/v1/sites"
PAGE = 8


class MembersService:
    """Members of sites and their segments. One key for all sites, but for those in *keys*, by their ids."""

    def __init__(
        self,
        database: Database,
        stage: Stage,
        *,
        key: str,
        keys: Mapping[str, str],
        now: Callable[[], float],
        header: str = "Authorization",
    ) -> None:
        self._database = database
        self._stage = stage
        self._key = key
        self._keys = keys
        self._header = header
        self._now = now

    def app(self) -> Starlette:
        routes = [
            Route("/openapi.json", lambda _: JSONResponse(MEMBERS)),
            Route(
                ROOT + "/{rest:path}",
                make_endpoint(self._stage, self._dispatch),
                methods=["GET", "POST", "PATCH", "DELETE"],
            ),
        ]
        return make_app(self._stage, routes)

    async def _dispatch(self, request: Request, body: Any) -> Response:
        parts = path_segments(request, ROOT)
        if len(parts) < 3 or parts[1] != "members" or len(parts) > 4:
            raise Problem(404, "Not found")
        site = parts[0]
        if request.headers.get(self._header, "") != self._credentials(site):
            raise Problem(401, "Invalid API key")
        if site not in self._database.sites():
            raise Problem(404, f"Site not found: {site}")
        shape = (
            "list"
            if parts[2:] == [""]
            else "segments"
            if parts[3:] == ["segments"]
            else "one"
            if len(parts) == 3
            else ""
        )
        operation = OPERATIONS.get((request.method, shape))
        if operation is None:
            raise Problem(405 if shape else 404, "Method not allowed" if shape else "Not found")
        return operation(self, site, request, body)

    def _credentials(self, site: str) -> str:
        key = self._keys.get(site, self._key)
        return f"Bearer {key}" if self._header == "Authorization" else key

    def _list_members(self, site: str, request: Request, __: Any) -> Response:
        members, shape = self._database.members(site), self._stage.switches.member_list
        if shape in PAGED:
            page, headers = PAGED[shape](request, members)
            return JSONResponse(self._stage.alter_page(page), headers=headers)
        shapes: dict[str, Any] = {
            "array": members,
            "data": {"data": members},
            "members": {"members": members},
            "success_data": {"success": True, "data": members},
        }
        return JSONResponse(self._stage.alter_page(shapes[shape]))

    def _add_member(self, site: str, _: Request, body: Any) -> Response:
        record = _parse_member(body)
        email = record.get("email")
        if not isinstance(email, str) or "@" not in email or len(email) > 320:
            raise Problem(400, "email is invalid")
        self._check_segments(site, record)
        known = self._find(site, email)
        if known is not None and self._stage.switches.duplicate_email == "error":
            raise Problem(409, "Member already exists")
        made = (known or {"createdAt": int(self._now() * 1000)}) | {
            "name": record.get("name", ""),
            "email": (known or record)["email"],
            "allowedSegments": _deduplicate(record.get("allowedSegments", [])),
        }
        self._put(site, known, made)
        return JSONResponse({"success": True, "data": made})

    def _update_member(self, site: str, request: Request, body: Any) -> Response:
        member, record = self._require_member(site, request), _parse_member(body)
        self._check_segments(site, record)
        if "allowedSegments" in record:
            merged = self._stage.switches.patch_segments == "merge"
            kept = member["allowedSegments"] if merged else []
            record["allowedSegments"] = _deduplicate([*kept, *record["allowedSegments"]])
        made = member | {name: record[name] for name in ("name", "allowedSegments") if name in record}
        self._put(site, member, made)
        return JSONResponse({"success": True, "data": made})

    def _grant_segments(self, site: str, request: Request, body: Any) -> Response:
        member, record = self._require_member(site, request), _parse_member(body)
        self._check_segments(site, record)
        made = member | {
            "allowedSegments": _deduplicate([*member["allowedSegments"], *record.get("allowedSegments", [])])
        }
        self._put(site, member, made)
        return JSONResponse({"success": True, "data": made})

    def _revoke_segments(self, site: str, request: Request, body: Any) -> Response:
        member = self._require_member(site, request)
        switch = self._stage.switches.delete_nothing
        nothing = {"ok": [], "all": member["allowedSegments"]}.get(switch)
        gone = nothing if body is None and nothing is not None else _parse_member(body).get("allowedSegments", [])
        _check_names(gone)
        if self._stage.switches.revoke_unknown == "error":
            self._check_segments(site, {"allowedSegments": gone})
        made = member | {"allowedSegments": [name for name in member["allowedSegments"] if name not in gone]}
        self._put(site, member, made)
        return self._deleted_answer("Segments removed")

    def _remove_member(self, site: str, request: Request, _: Any) -> Response:
        try:
            gone = self._require_member(site, request)
            self._database.delete_member(site, gone["email"])
            self._stage.stored(site, gone, None)
        except Problem:
            if self._stage.switches.delete_missing == "error":
                raise
        return self._deleted_answer("Member removed")

    def _put(self, site: str, before: Record | None, made: Record) -> None:
        self._database.put_member(site, made)
        self._stage.stored(site, before, made)

    def _deleted_answer(self, message: str) -> Response:
        if self._stage.switches.delete_answer == "empty":
            return Response(status_code=204)
        return JSONResponse({"success": True, "message": message})

    def _find(self, site: str, email: str) -> Record | None:
        return self._database.member(site, email, any_case=self._stage.switches.email_case == "insensitive")

    def _require_member(self, site: str, request: Request) -> Record:
        if (member := self._find(site, path_segments(request, ROOT)[2])) is None:
            raise Problem(404, "Member not found")
        return member

    def _check_segments(self, site: str, record: Record) -> None:
        names = record.get("allowedSegments", [])
        _check_names(names)
        known = self._database.segments(site)
        if unknown := [name for name in names if name not in known]:
            raise Problem(400, f"Unknown segment: {', '.join(unknown)[:200]}")


def _check_names(names: Any) -> None:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise Problem(400, "allowedSegments is not a list of names")


def _page_by_number(request: Request, members: list[Record]) -> tuple[Any, dict[str, str]]:
    page, last = max(1, number_param(request, "page", 1)), -(-len(members) // PAGE)
    some = members[(page - 1) * PAGE : page * PAGE]
    more = {"page": page, "totalPages": last, "total": len(members), "hasMore": page < last}
    return {"members": some, **more}, {}


def _page_by_cursor(request: Request, members: list[Record]) -> tuple[Any, dict[str, str]]:
    start = number_param(request, "cursor", 0)
    following = str(start + PAGE) if start + PAGE < len(members) else ""
    return {"data": members[start : start + PAGE], "response_metadata": {"next_cursor": following}}, {}


def _page_by_link(request: Request, members: list[Record]) -> tuple[Any, dict[str, str]]:
    page = max(1, number_param(request, "page", 1))
    following = request.url.include_query_params(page=page + 1)
    link = {"Link": f'<{following}>; rel="next"'} if page * PAGE < len(members) else {}
    return members[(page - 1) * PAGE : page * PAGE], {"X-Total-Count": str(len(members)), **link}


PAGED: dict[str, Callable[[Request, list[Record]], tuple[Any, dict[str, str]]]] = {
    "pages": _page_by_number,
    "cursor": _page_by_cursor,
    "link": _page_by_link,
}
"""Pages as services of this kind have them; the specification shows none."""


def _parse_member(body: Any) -> Record:
    if not isinstance(body, dict):
        raise Problem(400, "Request body is not an object")
    if not isinstance(body.get("name", ""), str):
        raise Problem(400, "name is not a text")
    return dict(body)


def _deduplicate(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))


OPERATIONS: dict[tuple[str, str], Callable[[MembersService, str, Request, Any], Response]] = {
    ("GET", "list"): MembersService._list_members,
    ("POST", "list"): MembersService._add_member,
    ("PATCH", "one"): MembersService._update_member,
    ("DELETE", "one"): MembersService._remove_member,
    ("POST", "segments"): MembersService._grant_segments,
    ("DELETE", "segments"): MembersService._revoke_segments,
}
