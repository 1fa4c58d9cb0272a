"""Words for what the rules and the membership service answer with."""

from __future__ import annotations

from typing import Final

from bot.clients import errors as client
from bot.clients.listing import Incomplete
from handlers.commands.command import slash
from handlers.error_words.words import Table, Words
from handlers.views.parts import clock_time, code, esc

WORDS: Final[Table] = {
    client.NotFound: lambda e: Words(
        f"The {e.service} service has no such entry.", "It was deleted, or the id has a typo."
    ),
    client.BadIdentifier: lambda e: Words(
        f"{code(e.value)} cannot be {esc(e.what)}.",
        "It holds characters that are not allowed there.",
        "Use the id or the name from a list.",
    ),
    client.Unauthorized: lambda e: Words(
        f"The {e.service} service says: {esc(str(e) or 'Unauthorized action')}.",
        "The rule belongs to another key, or Gatehouse's key is wrong."
        if e.service == "rules"
        else "Gatehouse's key is wrong, or not for this site (MEMBERS_API_KEYS).",
        "Ask whoever runs Gatehouse to check the key.",
    ),
    client.RateLimited: lambda e: Words(
        f"The {e.service} service is busy and refused for now.",
        "Too many requests.",
        f"It takes requests again at {clock_time(e.until)}." if e.until and e.retry_after else "Try again in a minute.",
    ),
    client.Unreachable: lambda e: Words(
        f"The {e.service} service is not answering.",
        "It is down, or the network to it is.",
        f"Try again in a moment; `{slash('gatehouse status')}` looks again.",
    ),
    client.Unreadable: lambda e: Words(
        f"The {e.service} service answered with something that cannot be read.",
        "A proxy's page, or a fault of the service.",
        "Try again; if it stays so, tell whoever runs the service.",
    ),
    client.TooLarge: lambda e: Words(
        f"The answer of the {e.service} service is larger than Gatehouse reads.",
        next="Whoever runs Gatehouse can raise SERVICE_MAX_BYTES.",
    ),
    Incomplete: lambda e: Words(
        f"The {e.service} service did not give its whole list. {esc(e.gap.sentence('records'))}",
        "What you asked for needs the rest, too: something may be in it that would change the answer.",
        "Try again. If it stays so, tell whoever runs the service; what you name by its id still works.",
    ),
    client.OutcomeUnknown: lambda e: Words(
        f"The {e.service} service gave no clear answer. It may have happened.",
        next="Look at it before you ask again.",
        unchanged=None,
    ),
    client.ClientError: lambda e: Words(f"The {e.service} service refused: {esc(str(e))}"),
}
