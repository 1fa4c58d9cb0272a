"""Response URLs: where an app answers one request, without a token."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from sandbox.slack.acting import Acting
from sandbox.slack.refusal import Refused


class ResponseUrls:
    """Takes what an app sends to ``/response/…``."""

    def __init__(self, acting: Acting) -> None:
        self._acting = acting

    async def endpoint(self, request: Request) -> Response:
        name = request.path_params["name"]
        try:
            body = await request.json()
            self._acting.answers.respond(name, body)
        except Refused as refusal:
            self._acting.state.note("bot_to_slack", "response_url", refusal.code, 0, {}, refusal.more)
            status = 404 if refusal.code.endswith("_url") else 400
            return JSONResponse({"ok": False, "error": refusal.code, **refusal.more}, status)
        except ValueError:
            return JSONResponse({"ok": False, "error": "invalid_payload"}, 400)
        self._acting.state.note("bot_to_slack", "response_url", "ok", 0, body, "ok")
        return PlainTextResponse("ok")
