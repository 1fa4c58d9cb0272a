"""What a channel has set: as a card, and as the form that changes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.domain.essence import fingerprint
from bot.domain.preferences import DELIMITER, NOTICES, Preferences
from handlers.commands.command import slash
from handlers.commands.rules import RulesSamples
from handlers.views import fields, parts
from handlers.views.forms import View, frame, metadata, section
from handlers.views.members import segments_line
from handlers.views.parts import Message, code

CALLBACK: Final = "v1.settings.form"
MY_CALLBACK: Final = "v1.settings.mine"
MY_TITLE: Final = "My notifications"
KINDS: Final = "kinds"
TITLE: Final = "Channel settings"
SITE, SEGMENTS = "site", "segment_names"
FIRST: Final = "(the first that is set up)"
"""The choice of no site."""


def card(
    held: Preferences, channel: str, *, sites: Sequence[str], everywhere: Sequence[str], may_change: bool
) -> Message:
    """What the channel has set, and what counts where it has not."""
    of_all = f"\nand everywhere {segments_line(everywhere)}" if everywhere else ""
    blocks = [
        parts.section(f":gear: *Settings of* <#{channel}>"),
        parts.section(f"*Site, where a command names none*\n{_site(held, sites)}"),
        parts.section(f"*Segments that exist though no member has them*\n{segments_line(held.segments)}{of_all}"),
        parts.section(f"*URLs to try changes on*\nThey are kept by `{slash('rules samples')}`."),
    ]
    if not may_change:
        blocks.append(parts.context(f"You may look at this, not change it: `{slash('gatehouse whoami')}` says why."))
    changing = parts.button("Change…", "v1.settings.change", channel) if may_change else None
    mine = parts.button("My notifications…", "v1.settings.mine", channel)
    blocks += parts.actions([changing, mine, parts.run_button("Samples", RulesSamples(), "samples")])
    return parts.message("What this channel has set", blocks)


def _site(held: Preferences, sites: Sequence[str]) -> str:
    if held.site and held.site not in sites:
        return f":warning: {code(held.site, 60)}, which is not set up any more: commands about members must name one."
    if held.site:
        return f"{code(held.site, 60)}, set for this channel"
    return f"{code(sites[0], 60)}, the first that is set up" if sites else "_none is set up (MEMBERS_SITES)_"


def form(held: Preferences, channel: str, *, sites: Sequence[str]) -> View:
    """The modal, ready for views.open or views.update."""
    hint = "Names with commas between. They are made in the site's dashboard first; here they are only named."
    blocks = [
        section(
            f"These count in <#{channel}>, for everybody. {FIRST} as the site stands for the first that is set up."
        ),
        fields.select(SITE, "Default site", [FIRST, *sites], held.site or FIRST),
        fields.text(SEGMENTS, "Extra segments", ", ".join(held.segments), optional=True, multiline=True, hint=hint),
    ]
    kept = {"channel": channel, "seen": fingerprint(held.stored())}
    return frame(TITLE, blocks, callback_id=CALLBACK, submit="Save", metadata=kept)


def read_form(view: View) -> Preferences:
    """The settings as a person left them."""
    values = (view.get("state") or {}).get("values") or {}
    site = fields.typed(values, SITE) or FIRST
    return Preferences("" if site == FIRST else site, _names(fields.typed(values, SEGMENTS) or ""))


def _names(text: str) -> tuple[str, ...]:
    names = text.replace("\n", DELIMITER).split(DELIMITER)
    return tuple(dict.fromkeys(name.strip() for name in names if name.strip()))


def unmoved(view: View, now: Preferences) -> bool:
    """Whether the settings are *now* as they were when the form opened."""
    return bool(metadata(view).get("seen") == fingerprint(now.stored()))


def my_form(wanted: Sequence[str], channel: str) -> View:
    """The modal in which a person chooses what they get direct messages about."""
    hint = (
        "What you decide or undo yourself is never sent to you. Questions and reminders stay in the thread of the card."
    )
    label = "Send me a direct message when my request is"
    blocks = [fields.choices(KINDS, label, NOTICES, wanted, hint=hint, thing="kinds")]
    return frame(MY_TITLE, blocks, callback_id=MY_CALLBACK, submit="Save", metadata={"channel": channel})


def read_my_form(view: View) -> tuple[str, ...]:
    """The kinds of direct messages that a person chose."""
    return fields.picked((view.get("state") or {}).get("values") or {}, KINDS) or ()
