"""The digest of a period: what changed, what waits and what comes, as a message and as a file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Final, TypeVar

from bot.changes.model.change import Change
from bot.changes.model.states import State
from bot.policy.freezes import Freeze
from bot.policy.model import Why
from bot.rules.lint.findings import Finding
from bot.store.audit import Entry
from bot.store.channel_settings import DigestTimes
from bot.text.times import duration_words
from handlers.blocks import messages
from handlers.blocks.buttons import run_button, share_button
from handlers.blocks.masking import mask_text
from handlers.blocks.messages import Message, and_more, esc, plural
from handlers.changes.freeze_view import freeze_line
from handlers.changes.list_view import RowFacts, row
from handlers.changes.times import when
from handlers.changes.titles import STATES, is_partly_done
from handlers.gatehouse.commands import A_DAY, OFF, GatehouseAudit, GatehouseDigest, GatehousePending, GatehousePlanned
from handlers.gatehouse.views import Waiting
from handlers.grammar.command import slash
from handlers.rules import check_view

T = TypeVar("T")
ENDS: Final = (State.APPLIED, State.FAILED, State.STALE, State.UNSETTLED, State.DENIED, State.EXPIRED)
PARTLY: Final = "partly"
TOLD: Final[dict[str, str]] = {
    PARTLY: "partly done",
    **{state.value: STATES[state].word for state in ENDS},
    "refused": "refused",
    "reviewed": "reviewed",
    "replanned": "planned for another time",
    "made_permanent": "kept",
    "froze": "frozen",
    "settings": "settings changed",
    "exported": "exported",
    "exporting": "not confirmed as exported",
}
"""What a digest calls events, the first to be told first; others have their own names."""
UNTOLD: Final = frozenset(
    {
        "requested",
        "approval",
        "approved",
        "asked",
        "agreed",
        "looked",
        "started",
        "begun",
        "applying",
        "deferred",
        "unknown",
    }
)
"""Events that a digest leaves out, since the state of the change says as much. Any other event is listed, even an unknown one."""
MAX_ROWS: Final = 10
"""Changes in each part of a digest in Slack."""
MAX_ROWS_IN_FILE: Final = 500
SUMMARY: Final = "What changed, what is waiting, and what comes"
"""The digest in a notification."""


@dataclass(frozen=True, slots=True)
class Digest:
    """What a digest tells, all of it such as its reader may read."""

    entries: Sequence[Entry] = ()
    """What happened; of a bulk change, an entry for each item."""
    has_all: bool = True
    """Whether these are all entries of its time."""
    changes: Sequence[Change] = ()
    """The finished changes, newest first; a bulk change as one."""
    waiting: Waiting = field(default_factory=Waiting)
    coming: Sequence[Change] = ()
    """What starts or reverts in the day to come, the next first; before it what could not start."""
    findings: Sequence[Finding] | None = ()
    """What `/rules check` finds now about rules that changed; None where they could not be read."""
    freezes: Sequence[Freeze] = ()
    """The freezes of now and of the next day."""
    facts: RowFacts = field(default_factory=RowFacts)


def digest(found: Digest, *, since: datetime, public: bool, command: GatehouseDigest) -> Message:
    """Return the digest as a message."""
    texts = digest_texts(found, since=since, public=public)
    buttons = [
        run_button("Show pending", GatehousePending(), 0) if found.waiting.changes or found.waiting.reviews else None,
        run_button("Show what is planned", GatehousePlanned(), 1) if found.coming else None,
        run_button("Details", GatehouseAudit(since=command.since or A_DAY), 2) if found.entries else None,
        share_button(command),
    ]
    blocks = [messages.section(text) for text in texts]
    return messages.message(SUMMARY, [*blocks, *messages.actions(buttons)])


def digest_texts(found: Digest, *, since: datetime, public: bool, most: int = MAX_ROWS) -> list[str]:
    """Return the parts of a digest, each with at most so many changes; one line where there is nothing to tell."""
    title = f"Since {when(since)}"
    line = partial(row, facts=found.facts, public=public)
    waiting, findings = found.waiting, found.findings or ()
    wrong = f"*{plural(len(findings), 'finding')} about rules that changed* (`{slash('rules check')}`)"
    unread = f"*The rules can’t be read right now*, so `{slash('rules check')}` has to say whether they are all right."
    parts = [
        _part("", _sort_by_urgency(found), line, most),
        _part(f"*{plural(waiting.count, 'pending change')}*", waiting.changes, line, most, waiting.unlisted),
        _part(f"*{plural(len(waiting.reviews), 'review')} due*", waiting.reviews, line, most),
        _part("*In the next 24 hours*", found.coming, line, most),
        _part("*Frozen*", found.freezes, freeze_line, most),
        _part(wrong, findings, lambda each: esc(check_view.words(each), 300), most),
        [unread] if found.findings is None else [],
    ]
    said = _counts_text(found)
    if not said and not any(parts):
        return [
            f":newspaper: *{title}:* nothing happened, nothing is waiting, and nothing is planned for the next 24 hours."
        ]
    many = "" if found.has_all else f"\nThis counts only the last {len(found.entries):,} entries."
    head = f":newspaper: *{title}*\n{said or 'Nothing happened.'}{many}"
    return [head, *(text for part in parts for text in part)]


def channel_digest(found: Digest, *, since: datetime, late: timedelta | None) -> Message:
    """Return the digest that a channel gets at its time; *late*: by how much, if that is to be said."""
    texts = digest_texts(found, since=since, public=True)
    notes = (
        [messages.context(f"{duration_words(late.total_seconds())} late: Gatehouse or Slack was down")] if late else []
    )
    return messages.message(SUMMARY, [*map(messages.section, texts), *notes])


def times_words(times: DigestTimes) -> str:
    """``weekdays at 9:00 (Europe/Berlin), set by @alice``."""
    days = "every day" if times.days == "daily" else "on weekdays"
    return f"{days} at {times.hour}:{times.minute:02} ({times.zone}), set by <@{times.by}>"


def times_message(times: DigestTimes | None, channel: str, *, now: datetime) -> Message:
    """Return the message that a channel gets its digest at these *times*, or no more."""
    if times is None:
        text = f":white_check_mark: *No digest is posted in <#{channel}>.*"
        return messages.message("No digest is posted", [messages.section(text)])
    text = f":white_check_mark: *The digest is posted in <#{channel}> {times_words(times)}.*\nNext: {when(times.next_after(now))}"
    zone = f"It follows the clocks in {times.zone}, also when they change."
    off = run_button("Remove digest", GatehouseDigest(at=OFF), 0)
    return messages.message(
        "The digest is set", [messages.section(text), messages.context(zone), *messages.actions([off])]
    )


def digest_off_message(times: DigestTimes, channel: str, refused: Why) -> Message:
    """Return the message that a *channel* gets no digest any more: others read it now, or who set it may not read the audit."""
    if refused is Why.SHARED_CHANNEL:
        why = f"<#{channel}> is shared with another company now."
    else:
        again = slash(f"gatehouse digest {times.days} at {times.hour}:{times.minute:02}")
        why = f"<@{times.by}>, who set it, can’t read the audit here any more. To set it again: `{again}`"
    text = f":warning: *The digest is off.* {why}"
    return messages.message("The digest is off", [messages.section(text)])


def _counts_text(found: Digest) -> str:
    """Return how many of what is listed came to which end, and how many else there is of each event."""
    counts = Counter(
        PARTLY if is_partly_done(each, found.facts.tallies.get(each.id)) else each.state.value for each in found.changes
    )
    counts.update(each.event for each in found.entries if each.event not in ENDS)
    # Each export has an entry before it is sent, too: what is left had no clear answer.
    counts["exporting"] = max(0, counts["exporting"] - counts["exported"])
    names = TOLD | {event: esc(event.replace("_", " "), 40) for event in counts if event not in TOLD}
    return " · ".join(
        f"*{counts[event]:,}* {name}" for event, name in names.items() if counts[event] and event not in UNTOLD
    )


FAILED: Final = frozenset({State.FAILED, State.STALE, State.UNSETTLED})


def _sort_by_urgency(found: Digest) -> list[Change]:
    """Return the changes: what somebody did alone, then what failed, wholly or in part, then the others."""

    def rank(change: Change) -> int:
        if change.decision.glass_broken:
            return 0
        return 1 if change.state in FAILED or is_partly_done(change, found.facts.tallies.get(change.id)) else 2

    return sorted(found.changes, key=rank)


def _part(title: str, found: Sequence[T], line_of: Callable[[T], str], most: int, unlisted: int = 0) -> list[str]:
    """Return a line for each of the first *most* that were *found* below *title*, as few texts; nothing where there are none."""
    lines = [f"• {line_of(each)}" for each in found[:most]]
    lines += filter(None, [and_more(len(found) - len(lines) + unlisted)])
    return messages.pack_lines(filter(None, [title, *lines])) if lines else []


DATE: Final = re.compile(r"<!date\^[^<|>]*\|([^<>]*)>")
LINK: Final = re.compile(r"<(https?://[^<|>]*)\|([^<>]*)>")
CHANNEL: Final = re.compile(r"<#(\w+)(?:\|[^<>]*)?>")
GROUP: Final = re.compile(r"<!subteam\^(\w+)(?:\|[^<>]*)?>")
PERSON: Final = re.compile(r"<@(\w+)>")
BOLD: Final = re.compile(r"(?<![\w*\u2060])\*(?=[^\s\u2060])([^*\n]+)\*(?![\w*])")
FOREIGN: Final = re.compile("\u2060?([^\\w\\s])\u2060")
"""A sign that stands for itself, as `esc` leaves it."""
SECOND_LINE: Final = re.compile(r"\n(?!• |…)")


def people_in(texts: Iterable[str]) -> set[str]:
    """Return the ids of the people that *texts* mention."""
    return {user for text in texts for user in PERSON.findall(text)}


def digest_file(texts: Sequence[str], names: Mapping[str, str]) -> str:
    """Return the digest as Markdown, with the *names* of people by their ids; no email and no secret in it is whole."""
    head, *parts = (_markdown(text, names) for text in texts)
    title, _, rest = head.replace(":newspaper: ", "").partition("\n")
    return mask_text("\n\n".join([f"# {title.replace('**', '')}", *filter(None, [rest.strip()]), *parts]) + "\n")


def _markdown(text: str, names: Mapping[str, str]) -> str:
    """Slack's *text* as Markdown: a list item for each row, with its second line below it."""
    text = LINK.sub(r"[\2](\1)", DATE.sub(r"\1", text))
    text = GROUP.sub(r"@\1", CHANNEL.sub(r"#\1", PERSON.sub(lambda found: names.get(found[1]) or f"@{found[1]}", text)))
    text = FOREIGN.sub(r"\\\1", BOLD.sub(r"**\1**", text))
    return SECOND_LINE.sub("\n  ", text.replace("&amp;", "&")).replace("• ", "- ")
