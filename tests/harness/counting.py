"""The steps that code of ours takes on a text, counted and not timed: lines of Python, and characters that expressions read.

An expression reads no further than its automaton can go on, and tests/test_linear.py proves that no character is read in more
than a few ways. What is not seen: text that the standard library copies, compares or searches in one call.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, Final

from tests.harness.linear import reach

OURS: Final = tuple(str(Path(__file__).parents[2] / folder) for folder in ("bot", "handlers"))


class TooMuch(BaseException):
    """More steps than a text may take; no `except` of ours may swallow it."""


class _Steps:
    """What is left of the steps of the block that is counted; one at a time."""

    def __init__(self) -> None:
        self.taken = 0
        self.most = 0
        self.is_counting = False

    def take(self, number: int) -> None:
        self.taken += number
        if self.is_counting and self.taken > self.most:
            frame: FrameType | None = sys._getframe()
            while frame is not None and not frame.f_code.co_filename.startswith(OURS):
                frame = frame.f_back
            raise TooMuch(f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else "")


_steps: Final = _Steps()


@contextmanager
def limiting_steps(most: int) -> Iterator[Callable[[], int]]:
    """Let no more than *most* steps of ours run in the block, or raise TooMuch; yields what tells how many ran."""

    def line(frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(OURS):
            return None
        if event == "line":
            _steps.take(1)
        return line

    before = sys.gettrace()
    _steps.taken, _steps.most, _steps.is_counting = 0, most, True
    sys.settrace(line)
    try:
        yield lambda: _steps.taken
    finally:
        sys.settrace(before)
        _steps.is_counting = False


def count_steps(most: int, read: Callable[[Any], object], text: Any) -> int:
    """Count the steps of ours that *read* takes on *text*, or what was made of one; raises TooMuch beyond *most*."""
    with limiting_steps(most) as ran:
        found = read(text)
        if inspect.isgenerator(found):
            for _ in found:
                pass
    return ran()


class CountedPattern:
    """An expression that counts the characters it reads as steps."""

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        self._pattern = pattern

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pattern, name)

    def match(self, text: Any, pos: int = 0, endpos: int = sys.maxsize) -> Any:
        _steps.take(reach(self._pattern, text, pos, min(endpos, len(text))))
        return self._pattern.match(text, pos, endpos)

    def fullmatch(self, text: Any, pos: int = 0, endpos: int = sys.maxsize) -> Any:
        _steps.take(reach(self._pattern, text, pos, min(endpos, len(text))))
        return self._pattern.fullmatch(text, pos, endpos)

    def search(self, text: Any, pos: int = 0, endpos: int = sys.maxsize) -> Any:
        found = self._pattern.search(text, pos, endpos)
        _steps.take(max((found.end() if found else min(endpos, len(text))) - pos, 0))
        return found

    def finditer(self, text: Any, pos: int = 0, endpos: int = sys.maxsize) -> Iterator[Any]:
        done = pos
        for found in self._pattern.finditer(text, pos, endpos):
            _steps.take(found.end() - done)
            done = found.end()
            yield found
        _steps.take(max(min(endpos, len(text)) - done, 0))

    def findall(self, text: Any, *where: int) -> Any:
        _steps.take(len(text))
        return self._pattern.findall(text, *where)

    def split(self, text: Any, maxsplit: int = 0) -> Any:
        _steps.take(len(text))
        return self._pattern.split(text, maxsplit)

    def sub(self, replacement: Any, text: Any, count: int = 0) -> Any:
        _steps.take(len(text))
        return self._pattern.sub(replacement, text, count)


@contextmanager
def counting_expressions(modules: Iterable[ModuleType]) -> Iterator[None]:
    """Let every expression that one of *modules* names, also in a table, count what it reads while the block lasts."""
    proxies: dict[int, CountedPattern] = {}

    def proxy(value: Any) -> Any:
        if isinstance(value, re.Pattern):
            return proxies.setdefault(id(value), CountedPattern(value))
        if isinstance(value, Mapping) and any(isinstance(each, re.Pattern) for each in value.values()):
            return {name: proxy(each) for name, each in value.items()}
        if isinstance(value, tuple) and not hasattr(value, "_fields"):
            return tuple(map(proxy, value))
        return value

    replaced = []
    for module in modules:
        for name, value in list(vars(module).items()):
            if (counting := proxy(value)) is not value and (counting != value):
                replaced.append((module, name, value))
                setattr(module, name, counting)
    try:
        yield
    finally:
        for module, name, value in replaced:
            setattr(module, name, value)
