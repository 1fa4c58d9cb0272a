"""Words for what is Gatehouse's own: its store, its settings, its faults."""

from __future__ import annotations

from typing import Final

from bot.domain.limits import StillRunning, TooFast
from bot.store.channel_settings import SettingsMoved
from bot.store.errors import StoreError
from handlers.commands.command import slash
from handlers.error_words.words import Table, Words
from handlers.errors import BadFilter, EndIsPast, GivenUp
from handlers.views.parts import code, esc, plural


def _too_fast(error: TooFast) -> Words:
    rate = error.rate
    span = "minute" if rate.seconds == 60 else "hour"
    who = f"This channel has used its {rate.per_channel}" if error.channel else f"You have used your {rate.per_person}"
    number, unit = (error.seconds, "second") if error.seconds < 120 else (-(-error.seconds // 60), "minute")
    return Words(
        f"{who} {rate.what} for this {span}.",
        next=f"Try again in {plural(number, unit)}. You can still approve, deny, withdraw and undo.",
    )


WORDS: Final[Table] = {
    TooFast: _too_fast,
    StillRunning: lambda e: Words(
        f"Your last {code(e.what)} is still running.", next="Wait for its answer.", unchanged=None
    ),
    SettingsMoved: lambda _: Words(
        "Somebody else changed what this channel has set, after you opened the form.",
        next=f"Look with `{slash('gatehouse settings')}` how it is now.",
    ),
    BadFilter: lambda e: Words(
        esc(e.words), next=f"As in `{slash('gatehouse audit who:@anna since:24h')}`.", unchanged=None
    ),
    EndIsPast: lambda e: Words(
        f"Gatehouse was restarted before it could do this, and {code(str(e))} is over.",
        next="Ask again if you still want it.",
    ),
    GivenUp: lambda _: Words(
        "Gatehouse began on this many times and was stopped each time, so it has given up.",
        "Something about the request may be what stops it.",
        f"See on the card, or with `{slash('gatehouse pending')}`, how it stands, before you ask again.",
        unchanged=None,
    ),
    StoreError: lambda _: Words(
        "Gatehouse's own database did not take the request.",
        "It is full, locked or away.",
        "Try again in a minute; tell whoever runs Gatehouse.",
    ),
    Exception: lambda _: Words(
        "Something broke on Gatehouse's side.",
        "A fault of ours, not of yours.",
        "Tell whoever runs Gatehouse the reference below.",
        unchanged=None,
    ),
}
