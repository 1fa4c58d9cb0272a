"""The error of a call that Slack refuses."""

from __future__ import annotations

from typing import Any


class Refused(Exception):
    """Slack's ``ok: false``. *code*: its ``error``; *more*: other fields of the answer."""

    def __init__(self, code: str, **more: Any) -> None:
        super().__init__(code)
        self.code = code
        self.more = more
