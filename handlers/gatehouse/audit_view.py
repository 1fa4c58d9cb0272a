"""What was done, by whom and when: lines of the audit, and the digest of a period."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from bot.changes.model import Change, Kind, State
from bot.store.audit import GATEHOUSE, Entry, Filters
from bot.text.emails import masked
from bot.text.times import seconds_of
from handlers.blocks import messages
from handlers.blocks.messages import Block, ListPage, Message, code, esc, quoted
from handlers.changes.list_view import answer, row, rows, safe_title
from handlers.changes.sentences import ACCESS, STATES, VERBS_ALONE, subject, when, words
from handlers.explain.why_not import WHY_NOT
from handlers.gatehouse.commands import GatehouseAudit, GatehouseDigest, GatehousePending, GatehousePlanned
from handlers.gatehouse.views import DOES
from handlers.rules.commands import RulesHistory


def entries(
    page: ListPage[Entry],
    changes: Mapping[str, Change],
    links: Mapping[str, str],
    filters: Filters,
    *,
    public: bool,
    command: GatehouseAudit,
) -> Message:
    """A page of what happened, the newest first, and what was looked for: a row for each change, a line for anything else."""
    looked_for = _looked_for(filters, command)
    if not page.items:
        return messages.message(
            f"Nothing is on record{looked_for}", [messages.section(f":mag: *Nothing is on record{looked_for}.*")]
        )
    told = [
        row(change, links, public=public, more=_action_of_another(entry, change))
        if (change := changes.get(entry.change_id)) is not None
        else _line(entry, links.get(entry.change_id, ""), public=public)
        for entry in page.items
    ]
    return answer("What happened", [*map(messages.section, dict.fromkeys(told))], page, command, lead=looked_for)


def _looked_for(filters: Filters, command: GatehouseAudit) -> str:
    """How the filters were understood."""
    said = [
        f" by <@{filters.who}>" if filters.who else "",
        f" since {when(filters.since)}" if filters.since else "",
        f" about {quoted(command.ref, 100)}" if command.ref else "",
    ]
    return "".join(said)


ACTIONS: Final = {
    "agreed": "vote for another end",
    "asked": "asked about",
    "looked": "looked at",
    "made_permanent": "kept",
    "extended": "extended",
    "end_moved": "end moved",
}
"""What people do about the requests of others, besides deciding."""


def _action_of_another(entry: Entry, change: Change) -> str:
    """What somebody other than its requester did about *change*."""
    if entry.actor in {change.request.requester, GATEHOUSE} or entry.event not in ACTIONS:
        return ""
    return f"{ACTIONS[entry.event]} by <@{entry.actor}>"


def _line(entry: Entry, card: str, *, public: bool) -> str:
    """What happened that was no change: a refusal, an export, new settings."""
    link = f" · <{card}|card>" if card else ""
    return f"{_who(entry.actor)} {_told(entry, public=public)} · {when(entry.at)}{link}"


def _told(entry: Entry, *, public: bool) -> str:
    detail = entry.detail
    if entry.event == "refused":
        what = DOES.get(entry.target, entry.target.replace(".", " "))
        times = f" {int(detail['count']):,} times" if "count" in detail else ""
        why = str(detail.get("why") or "")
        because = f": {WHY_NOT[why].recorded if why in WHY_NOT else esc(why, 100)}" if why else ""
        return f"tried to {esc(what, 60)}{times}, refused{because}"
    if entry.event == "exported":
        return f"exported {esc(entry.target, 60)}: {esc(str(detail.get('kind') or 'a file'), 60)}"
    reason = str(detail.get("reason") or detail.get("why") or "")
    said = f": {words(reason, 120) if public else esc(reason, 120)}" if reason else ""
    return f"{esc(entry.event.replace('_', ' '), 40)} {target_name(entry.target, public=public)}{said}"


def target_name(target: str, *, public: bool) -> str:
    place, _, key = target.rpartition("/")
    return code(f"{place}/{masked(key)}" if public and "@" in key else target, 160) if target else ""


def history(
    page: ListPage[Change], links: Mapping[str, str], *, outside: int | None, public: bool, command: RulesHistory
) -> Message:
    """A page of the changes of one rule, newest first. *outside*: when others changed it since (epoch milliseconds)."""
    other = (
        f"The last change, {messages.moment(outside)}, wasn’t made through Gatehouse." if outside is not None else ""
    )
    if not page.items:
        none = f":mag: *No history.* Gatehouse hasn’t changed this rule. {other}".rstrip()
        return messages.message("No history", [messages.section(none)])
    lead = f"\n{other}" if other else ""
    title = f"History of {subject(page.items[0])}"
    return answer(title, rows(page.items, links, public=public), page, command, lead=lead)


ENDS: Final = (State.APPLIED, State.FAILED, State.STALE, State.UNSETTLED, State.DENIED, State.EXPIRED)
TOLD: Final[Mapping[str, str]] = {
    **{state.value: STATES[state].word for state in ENDS},
    "refused": "refused",
    "reviewed": "reviewed",
}
"""The events that a digest counts, and what it calls each."""
LONGEST: Final = 8


def digest(
    entries: Sequence[Entry],
    names: Mapping[str, str],
    changes: Sequence[Change],
    *,
    span: str,
    more: bool,
    waiting: int,
    ending: int,
    starting: int,
    public: bool,
    command: GatehouseDigest,
) -> Message:
    """The digest of *entries*; *more*: there were too many to count them all. Of a bulk change each item counts.

    *names*: what was changed, by its target. *changes*: those that were done, a bulk change as one.
    """
    entries = [entry for entry in entries if "/" in entry.target or entry.event not in TOLD or entry.event == "refused"]
    counts = Counter(entry.event for entry in entries)
    ends = [f"*{counts[event]:,}* {name}" for event, name in TOLD.items() if counts[event]]
    said = " · ".join(ends) or "Nothing was changed, and nobody was refused."
    many = f"\nThis counts only the last {len(entries):,} entries." if more else ""
    blocks: list[Block] = [messages.section(f":newspaper: *{_span(span)}*\n{said}{many}")]
    blocks += _done(entries, names, public=public)
    blocks += [messages.section(text) for text in messages.packed(_overrides(changes, public=public))]
    blocks += _reasons(changes, public=public)
    if left := _left(waiting, starting, ending):
        blocks.append(messages.section(left))
    buttons = [
        messages.run_button("Show pending", GatehousePending(), 0) if waiting else None,
        messages.run_button("Show what is planned", GatehousePlanned(), 1) if starting or ending else None,
        messages.run_button("Details", GatehouseAudit(since=span), 2) if entries else None,
        messages.share_button(command),
    ]
    return messages.message(_span(span), [*blocks, *messages.actions(buttons)])


def _span(text: str) -> str:
    """``Changes in the last 24h``, or since a day by its name."""
    shown = esc(text.removeprefix("since "), 20)
    return f"Changes in the last {shown}" if seconds_of(text) else f"Changes since {shown}"


def _done(entries: Sequence[Entry], names: Mapping[str, str], *, public: bool) -> list[Block]:
    """What was changed, by whom, and which things; nothing where nothing was."""
    done = [entry for entry in entries if entry.event == "applied"]
    if not done:
        return []
    askers = {one.change_id: one.actor for one in entries if one.event in {"requested", "begun"}}
    by = (
        _who(askers.get(one.change_id, one.actor)) for one in done
    )  # Gatehouse, where it was requested before that time
    return [
        messages.section(
            f"What: {_counted(map(_what, done))}\nBy: {_counted(by)}\n"
            f"Changed: {_counted(names.get(one.target) or target_name(one.target, public=public) for one in done)}"
        )
    ]


def _overrides(changes: Sequence[Change], *, public: bool) -> list[str]:
    """What somebody did alone: why, and who has looked at it since."""
    told = []
    for change in changes:
        decision = change.decision
        if not decision.glass_broken:
            continue
        why = words(decision.decision_reason, 120) if public else esc(decision.decision_reason, 120)
        review = f"reviewed by <@{decision.reviewed_by}>" if decision.reviewed_by else ""
        review = review or ("*review due*" if change.review_due else "undone")
        because = f" because “{why}”" if why else ""
        told.append(
            f":rotating_light: *Emergency override* by <@{decision.decided_by}>: {safe_title(change)}{because} · {review}"
        )
    return told


def _reasons(changes: Sequence[Change], *, public: bool) -> list[Block]:
    """Why people did it, the most frequent reasons first; what happened automatically has none."""
    given = [change.request.reason for change in changes if change.request.reason and not change.request.undoes]
    said = _counted(f"“{words(one, 120) if public else esc(one, 120)}”" for one in given)
    return [messages.section(f"Why: {said}")] if given else []


def _what(entry: Entry) -> str:
    """``rule changed``: the kind of a change as people say it."""
    kind = str(entry.detail.get("kind") or "")
    if kind not in {*Kind}:
        return esc(kind or "change", 40)
    done = VERBS_ALONE[Kind(kind)][1]
    return done if Kind(kind) in ACCESS else f"{kind.partition('.')[0]} {done}"


def _who(actor: str) -> str:
    return "Gatehouse" if actor == GATEHOUSE else f"<@{actor}>"


def _counted(names: Iterable[str]) -> str:
    """The most frequent ones, each with how often."""
    found = Counter(name for name in names if name)
    shown = [f"{name} × {many:,}" if many > 1 else name for name, many in found.most_common(LONGEST)]
    others = f"   and {len(found) - LONGEST:,} more" if len(found) > LONGEST else ""
    return ",  ".join(shown) + others


def _left(waiting: int, starting: int, ending: int) -> str:
    said = []
    if waiting:
        said.append(f"*{messages.plural(waiting, 'pending change')}*")
    if starting:
        said.append(f"*{messages.plural(starting, 'planned change')}*")
    if ending:
        said.append(f"*{messages.plural(ending, 'temporary change')}*")
    return " · ".join(said)
