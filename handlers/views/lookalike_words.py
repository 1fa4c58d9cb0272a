"""Warnings about text that looks like something else, in plain words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from bot.domain.lookalike import Kind, Lookalike, lookalikes
from handlers.views.parts import visible


def warnings(values: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """One sentence for each thing in the *values*, pairs of a field's name and its text, that may mislead; each once."""
    found = ((field, one) for field, text in values for one in lookalikes(text))
    return tuple(dict.fromkeys(f"In “{field}”: {WORDS[one.kind](one)}" for field, one in found))


def _invisible(found: Lookalike) -> str:
    shown = " ".join(f"U+{ord(one):04X}" for one in found.shown[:8])
    return f"invisible characters ({shown})."


def _user_info(found: Lookalike) -> str:
    return f"the URL leads to {found.host}. What comes before the @ is a user name, not a host."


def _foreign_host(found: Lookalike) -> str:
    letters = f" with {_scripts(found.scripts)} letters" if set(found.scripts) - {"LATIN"} else ""
    return f"the host {found.host} is displayed as {visible(found.shown)}{letters}. Check that it is the one you mean."


def _mixed(found: Lookalike) -> str:
    return f"a word mixes {_scripts(found.scripts)} letters, so it may look like another word."


def _scripts(names: tuple[str, ...]) -> str:
    return " and ".join(name.capitalize() for name in names)


WORDS: Final[dict[Kind, Callable[[Lookalike], str]]] = {
    Kind.INVISIBLE: _invisible,
    Kind.USER_INFO: _user_info,
    Kind.FOREIGN_HOST: _foreign_host,
    Kind.MIXED_SCRIPTS: _mixed,
}
