"""The work of our own code, counted in lines of Python that run rather than in time."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

OURS: Final = tuple(str(Path(__file__).parents[2] / folder) for folder in ("bot", "handlers"))


class TooMuch(BaseException):
    """More lines than the work may take; no `except` of ours may swallow it."""


@contextmanager
def limiting_steps(most: int) -> Iterator[Callable[[], int]]:
    """Let no more than *most* lines of ours run in the block, or raise TooMuch; yields what tells how many ran."""
    taken = 0

    def line(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal taken
        if not frame.f_code.co_filename.startswith(OURS):
            return None
        taken += event == "line"
        if taken > most:
            raise TooMuch(f"{frame.f_code.co_filename}:{frame.f_lineno}")
        return line

    before = sys.gettrace()
    sys.settrace(line)
    try:
        yield lambda: taken
    finally:
        sys.settrace(before)


def count_steps(most: int, read: Callable[[Any], object], text: Any) -> int:
    """Count the lines of ours that *read* takes on *text*, or what was made of one; raises TooMuch beyond *most*."""
    with limiting_steps(most) as ran:
        read(text)
    return ran()
