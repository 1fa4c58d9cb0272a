"""Slack's no."""

from __future__ import annotations

from typing import Any


class Refused(Exception):
    """Slack's ``ok: false``. *code* is its ``error``; *more* what else stands in the answer."""

    def __init__(self, code: str, **more: Any) -> None:
        super().__init__(code)
        self.code = code
        self.more = more
