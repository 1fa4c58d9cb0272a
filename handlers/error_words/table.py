"""The one table: every error that a person can meet, and the words for it.

An answer says what was asked, what was and was not done, the likely cause, the next step, and a reference that
stands in the log too.
"""

from __future__ import annotations

from typing import Final

from handlers.error_words import changes, files, gatehouse, members, rights, rules, services, slack
from handlers.error_words.words import Table, Words
from handlers.parsers.rest import Unclear
from handlers.refs import NotOne
from handlers.reply import Caller
from handlers.views import problems as views
from handlers.views.parts import Message

WORDS: Final[Table] = (
    changes.WORDS
    | files.WORDS
    | gatehouse.WORDS
    | members.WORDS
    | rights.WORDS
    | rules.WORDS
    | services.WORDS
    | slack.WORDS
)


def words_for(error: Exception) -> Words:
    """The words for *error*: its own, or those of the closest of its ancestors that has some."""
    kind = next(kind for kind in type(error).__mro__ if kind in WORDS)
    return WORDS[kind](error)


def expected(error: Exception) -> bool:
    """Whether *error* has words of its own: a part of the day's work, and no fault of ours."""
    return isinstance(error, Unclear | NotOne) or any(kind in WORDS for kind in type(error).__mro__[:-3])


def answer(error: Exception, *, asked: str, caller: Caller) -> Message:
    """What the person who asked is told about *error*."""
    if isinstance(error, Unclear):
        return views.unclear(error, asked=asked)
    if isinstance(error, NotOne):
        return views.not_one(error, asked=asked)
    words = words_for(error)
    return views.problem(
        asked=asked,
        what=words.what,
        cause=words.cause,
        then=words.next,
        unchanged=words.unchanged,
        reference=caller.request[:8],
        again=words.again,
    )
