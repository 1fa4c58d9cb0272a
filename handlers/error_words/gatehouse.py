"""Words for what is Gatehouse's own: its store, its settings, its faults."""

from __future__ import annotations

from typing import Final

from bot.store.channel_settings import SettingsMoved
from bot.store.errors import StoreError
from handlers.error_words.words import Table, Words
from handlers.errors import BadFilter, GivenUp
from handlers.views.parts import esc

WORDS: Final[Table] = {
    SettingsMoved: lambda _: Words(
        "Somebody else changed what this channel has set, after you opened the form.",
        next="Look with `/gatehouse settings` how it is now.",
    ),
    BadFilter: lambda e: Words(esc(e.words), next="As in `/gatehouse audit who:@anna since:24h`.", unchanged=None),
    GivenUp: lambda _: Words(
        "Gatehouse began on this many times and was stopped each time, so it has given up.",
        "Something about the request may be what stops it.",
        "See on the card, or with `/gatehouse pending`, how it stands, before you ask again.",
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
