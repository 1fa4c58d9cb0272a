"""What is said of a file: the line that introduces it, and the private note that it is there."""

from __future__ import annotations

from bot.clients.listing import Gap
from handlers.views import parts
from handlers.views.parts import Message, code, esc, plural


def rules_comment(count: int, *, total: int, place: str, gap: Gap | None) -> str:
    """Introduces an export of *count* of the *total* rules; *place*: the service's host."""
    lines = [
        f":outbox_tray: *{_some(count, total, 'rule')}* from {code(place)}. Requestly's own import takes this file."
    ]
    return "\n".join([*lines, *_left_out(gap, "rules")])


def members_comment(count: int, *, total: int, site: str, gap: Gap | None) -> str:
    """Introduces an export of *count* of the *total* members of *site*."""
    found = f":outbox_tray: *{_some(count, total, 'member')}* of *{esc(site)}*."
    lines = [f"{found} The addresses are whole: pass it on with care.", *_left_out(gap, "members")]
    return "\n".join(lines)


def _left_out(gap: Gap | None, plural: str) -> list[str]:
    return [f":warning: {gap.sentence(plural)} The others are not in it."] if gap else []


def _some(count: int, total: int, what: str) -> str:
    """``25 rules``, or of some of them ``3 of 25 rules``."""
    return f"{'' if count == total else f'{count:,} of '}{plural(total, what)}"


def sent(name: str, link: str, *, here: bool, shown: bool) -> Message:
    """The private note to whoever asked, elsewhere than where the file went."""
    place = "into this channel" if here else "to you in a direct message"
    opened = f" <{link}|Open it>" if link else ""
    if shown:
        return parts.message(
            f"{name} was sent {place}", [parts.section(f":outbox_tray: {code(name)} was sent {place}.{opened}")]
        )
    words = (
        f":warning: Slack took {code(name)}, but has not shown it yet. It should come {place};"
        f" if it does not within a minute, ask again.{opened}"
    )
    return parts.message(f"{name} is not shown yet", [parts.section(words)])
