"""Words for files: those that people hand over, and those that they ask for."""

from __future__ import annotations

from typing import Final

from bot.domain.file_text import BadFile
from handlers.error_words.words import Table, Words
from handlers.errors import EmailsInFile, NothingToExport
from handlers.slackfiles import FileGone, FileTooLarge, FileUnreadable
from handlers.views.import_words import file_words
from handlers.views.parts import esc


def _megabytes(size: int) -> str:
    return f"{size / 1024 / 1024:,.1f} MB"


WORDS: Final[Table] = {
    NothingToExport: lambda e: Words(
        f"No {e.what} is there for that, so there is no file.",
        next=f"`/{e.what}s list` with the same words shows what is.",
    ),
    EmailsInFile: lambda e: Words(
        "These rules contain emails or secrets, so the file can't go into a channel.",
        next="Get it in a direct message.",
        unchanged=None,
        again={"Send it to me": e.privately},
    ),
    FileGone: lambda _: Words("That file is gone, or Gatehouse may not see it.", next="Upload it again."),
    FileTooLarge: lambda e: Words(
        f"That file is too large: {_megabytes(e.size)}, and at most {_megabytes(e.most)} are read.",
        next="Split it, or leave out what need not be in it.",
    ),
    FileUnreadable: lambda e: Words(
        f"Slack did not give that file: it answered with {esc(str(e))}.",
        "The app may lack the scope `files:read`.",
        "Ask whoever runs Gatehouse to install the app again with the present manifest.",
    ),
    BadFile: lambda e: Words(esc(file_words(e)[0]), next=esc(file_words(e)[1])),
}
