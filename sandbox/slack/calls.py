"""Parse a call of the Web API: its arguments and its token, wherever in the request they are."""

from __future__ import annotations

import json
from typing import Any, Final
from urllib.parse import parse_qsl

from starlette.requests import Request

from sandbox.slack.directory import Arguments
from sandbox.slack.methods import READS

NESTED: Final = ("blocks", "view", "message", "files")
"""Arguments that are JSON, also where the rest is a form."""


async def call_arguments(request: Request, method: str) -> dict[str, Any]:
    """Return the arguments of a call: from the query, a form, or JSON where the method takes it. Raises ValueError."""
    arguments: dict[str, Any] = dict(request.query_params)
    body = await request.body()
    if "application/json" in request.headers.get("content-type", "") and method not in READS:
        document = json.loads(body or b"{}")
        if not isinstance(document, dict):
            raise ValueError("no object")
        return arguments | document
    arguments |= dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
    return {name: _parse_nested(name, value) for name, value in arguments.items()}


def _parse_nested(name: str, value: str) -> Any:
    if name not in NESTED:
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


async def call_token(request: Request) -> str:
    """Return the token of a call, from its header, form or query."""
    form = dict(parse_qsl((await request.body()).decode("utf-8", "replace")))
    return token_of(request, {**request.query_params, **form})


def token_of(request: Request, arguments: Arguments) -> str:
    header = request.headers.get("authorization", "")
    return header.removeprefix("Bearer ").strip() or str(arguments.get("token") or "")
