"""What is said of a file: the line that introduces it, and the private note that it is there."""

from __future__ import annotations

from handlers.views import parts
from handlers.views.parts import Message, code, esc


def rules_comment(count: int, *, place: str, narrowed: bool, unreadable: int) -> str:
    """Introduces an export of rules; *place*: the service's host."""
    found = f"*{count:,} rule{'' if count == 1 else 's'}*{' that you asked for' if narrowed else ''}"
    lines = [f":outbox_tray: {found} from {code(place)}. Requestly's own import takes this file."]
    if unreadable:
        lines.append(f":warning: {unreadable:,} of the service's records could not be read and are not in it.")
    return "\n".join(lines)


def members_comment(count: int, *, site: str, narrowed: bool) -> str:
    """Introduces an export of members."""
    found = f"*{count:,} member{'' if count == 1 else 's'}*{' that you asked for' if narrowed else ''}"
    return f":outbox_tray: {found} of *{esc(site)}*. Whole addresses: pass it on with care."


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
