"""Views of the audit: who did what and when, and the history of a rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from bot.changes.model.change import Change
from bot.changes.model.moves import GATEHOUSE
from bot.store.audit import Entry, Filters
from bot.text.emails import mask_email
from handlers.blocks import messages
from handlers.blocks.messages import ListPage, Message, code, esc, plural, quote
from handlers.changes.list_view import RowFacts, empty_message, list_message, nothing_text, row, rows, unshown_line
from handlers.changes.people import public_text
from handlers.changes.subject import subject
from handlers.changes.times import when
from handlers.explain.why_not import WHY_NOT
from handlers.gatehouse.commands import GatehouseAudit
from handlers.gatehouse.views import DOES
from handlers.grammar.command import slash
from handlers.rules.commands import RulesHistory


def entries(
    page: ListPage[Entry],
    changes: Mapping[str, Change],
    facts: RowFacts,
    filters: Filters,
    elsewhere: str = "",
    *,
    public: bool,
    command: GatehouseAudit,
) -> Message:
    """Return a page of what happened, the newest first: a row for each change, a line for anything else.

    *elsewhere*: the line about what was changed elsewhere.
    """
    looked_for, unread = _filters_text(filters, command), unshown_line(filters.unreadable)
    if not page.items:
        more = f"Only what Gatehouse did is.{unread}{elsewhere}"
        return empty_message(":mag:", f"{nothing_text(unread)} is on record{looked_for}.", more)
    told = [
        row(change, facts, public=public, more=_action_of_another(entry, change))
        if (change := changes.get(entry.change_id)) is not None
        else _event_line(entry, public=public)
        for entry in page.items
    ]
    return list_message(
        "On record",
        [*map(messages.section, dict.fromkeys(told))],
        page,
        command,
        lead=looked_for + unread + elsewhere,
    )


def _filters_text(filters: Filters, command: GatehouseAudit) -> str:
    """Return how the filters were understood."""
    said = [
        f" by <@{filters.who}>" if filters.who else "",
        f" since {when(filters.since)}" if filters.since else "",
        f" about {quote(command.ref, 100)}" if command.ref else "",
    ]
    return "".join(said)


ACTIONS: Final = {
    "made_permanent": "kept",
    "end_moved": "end moved",
    "end_restored": "end restored",
}
"""What people do about the requests of others, besides deciding."""


def _action_of_another(entry: Entry, change: Change) -> str:
    """Return what somebody other than its requester did about *change*."""
    if entry.actor in {change.request.requester, GATEHOUSE} or entry.event not in ACTIONS:
        return ""
    return f"{ACTIONS[entry.event]} by <@{entry.actor}>"


def _event_line(entry: Entry, *, public: bool) -> str:
    """Return an event that is not a change: a refusal, an export, a freeze."""
    who = "Gatehouse" if entry.actor == GATEHOUSE else f"<@{entry.actor}>"
    return f"{who} {event_text(entry, public=public)} · {when(entry.at)}"


def event_text(entry: Entry, *, public: bool) -> str:
    """Return what somebody did that is not a change, as a clause without a subject."""
    detail = entry.detail
    if entry.event == "refused":
        what = DOES.get(entry.target, entry.target.replace(".", " "))
        times = f" {int(detail['count']):,} times" if "count" in detail else ""
        why = str(detail.get("why") or "")
        because = f": {WHY_NOT[why].recorded if why in WHY_NOT else esc(why, 100)}" if why else ""
        return f"tried to {esc(what, 60)}{times}, refused{because}"
    if entry.event in EXPORTS:
        return _export_text(entry)
    reason = str(detail.get("reason") or detail.get("why") or "")
    shown = public_text(reason, 120) if public else esc(reason, 120)
    kind, _, name = entry.target.partition("/")
    if entry.event in OTHER_ACTS and kind in {"freeze", "agent"}:
        return f"{OTHER_ACTS[entry.event].format(name=esc(name, 120))}{f' (“{shown}”)' if reason else ''}"
    said = f": {shown}" if reason else ""
    return f"{esc(entry.event.replace('_', ' '), 40)} {target_name(entry.target, public=public)}{said}"


OTHER_ACTS: Final = {
    "froze": "froze {name}",
    "wants_to_lift": "asked to lift the freeze of {name}",
    "lifted": "lifted the freeze of {name}",
    "token_made": "made a token for the agent {name}",
    "token_ended": "ended the token of the agent {name}",
}
"""What people do to freezes, and about agents."""


EXPORTS: Final = {"exporting": "began to export", "exported": "exported"}
RECORDS: Final = {"rules": "rule", "members": "member", "audit": "audit event"}
"""What one record of an export is called."""


def _export_text(entry: Entry) -> str:
    """Return how much of what left in a file, and who has it."""
    what, _, site = entry.target.partition("/")
    count, record = entry.detail.get("count"), RECORDS.get(what)
    many = plural(count, record) if isinstance(count, int) and record else esc(what, 60)
    of = f" of {esc(site, 60)}" if site else ""
    whose = "into the channel" if entry.detail.get("here") else f"sent only to <@{entry.actor}>"
    return f"{EXPORTS[entry.event]} {many}{of} ({whose})"


def target_name(target: str, *, public: bool) -> str:
    place, _, key = target.rpartition("/")
    return code(f"{place}/{mask_email(key)}" if public and "@" in key else target, 160) if target else ""


def history(
    page: ListPage[Change],
    facts: RowFacts,
    *,
    outside: int | None,
    of_group: Change | None = None,
    state: str = "",
    is_cut: bool = False,
    public: bool,
    command: RulesHistory,
) -> Message:
    """Return a page of the changes of one rule, newest first. *outside*: when others changed it since (epoch milliseconds).

    *of_group*: the newest change of its group, which may be why it is off, as *state* says; *is_cut*: there may be more changes.
    """
    other = (
        f"The last change, {messages.moment(outside)}, wasn’t made through Gatehouse." if outside is not None else ""
    )
    more = [messages.section(f"Last change of its group:\n{row(of_group, facts, public=public)}")] if of_group else []
    if not page.items:
        empty = empty_message(
            ":mag:", "No history.", f"{state and f'{state} now. '}Gatehouse hasn’t changed this rule. {other}"
        )
        return replace(empty, blocks=(*empty.blocks, *more))
    lead = f"\n{other}" if other else ""
    if is_cut and page.number == page.count:
        more.append(
            messages.context(f"Older changes aren’t listed here. `{slash('gatehouse audit')}` has all of them.")
        )
    title = f"History of {subject(page.items[0])}"
    listed = rows(page.items, facts, public=public)
    return list_message(title, [*listed, *more], page, command, lead=lead)
