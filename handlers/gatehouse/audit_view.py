"""What was done, by whom and when: lines of the audit, and the digest of a period."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from bot.changes.model import Change, Guard, Kind, State
from bot.store.audit import GATEHOUSE, Entry, Filters
from bot.text.emails import masked
from bot.text.times import seconds_of
from handlers.blocks import messages
from handlers.blocks.messages import Block, Message, code, esc, listed, quoted
from handlers.changes.diff import around, differences, field_name
from handlers.changes.sentences import (
    EDITS,
    STATES,
    VERBS,
    approvers,
    author,
    is_switched,
    outcome_word,
    reason_of,
    when,
    words,
)
from handlers.explain.why_not import WHY_NOT
from handlers.gatehouse.commands import GatehouseAudit, GatehouseDigest, GatehousePending, GatehouseTimers
from handlers.gatehouse.views import DOES, safe_title
from handlers.grammar.command import Command


def entries(
    found: Sequence[Entry],
    changes: Mapping[str, Change],
    links: Mapping[str, str],
    filters: Filters,
    *,
    more: bool,
    public: bool,
    command: GatehouseAudit,
) -> Message:
    """One line a change, the newest first, and what was looked for. In a channel emails are masked."""
    if not found:
        looked_for = _looked_for(filters, command)
        nothing = f":mag: *Nothing is on record{looked_for}.*"
        return messages.message(f"Nothing is on record{looked_for}", [messages.section(nothing)])
    lines = (
        change_line(change, links, public=public, action=_action_of_another(entry, change))
        if (change := changes.get(entry.change_id)) is not None
        else _line(entry, links.get(entry.change_id, ""), public=public)
        for entry in found
    )
    page = command.page or 1
    buttons = (
        messages.turn_button("‹ Newer", replace(command, page=page - 1), "newer") if page > 1 else None,
        messages.turn_button("Older ›", replace(command, page=page + 1), "older") if more else None,
        messages.share_button(command),
    )
    title = messages.section(f"*What happened*{_looked_for(filters, command)}")
    blocks = [title, *map(messages.section, messages.packed(dict.fromkeys(f"• {line}" for line in lines)))]
    return messages.message("What happened", [*blocks, *messages.actions(buttons)])


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
}
"""What people do about the requests of others, besides deciding."""


def _action_of_another(entry: Entry, change: Change) -> str:
    """What somebody other than its requester did about *change*."""
    if entry.actor in {change.request.requester, GATEHOUSE} or entry.event not in ACTIONS:
        return ""
    return f"{ACTIONS[entry.event]} by <@{entry.actor}>"


def change_line(change: Change, links: Mapping[str, str], *, public: bool, action: str = "") -> str:
    """``2:14 AM @bob changed destination of Old shop: a → b because “…” · card``, and the outcome where it isn't done.

    *action*: what somebody else did about it.
    """
    moment = change.run.finished_at or change.decision.decided_at or change.created
    because = reason_of(change, 120, public=public)
    reason = f"{', ' if change.request.cause else ' because '}{because}" if because else ""
    about = f" · {action}" if action else ""
    done = _did(change, public=public) if change.state is State.APPLIED else f"requested: {safe_title(change)}"
    link = _link(links.get(change.id, ""))
    return f"{when(moment)} {author(change)} {done}{reason}{_decision_and_end(change)}{about}{link}"


def _decision_and_end(change: Change) -> str:
    """Return who decided, where somebody had to, and what became of *change* where it isn't simply done."""
    if change.state is State.DENIED:
        return f" · *denied* by <@{change.decision.decided_by}>"
    decision = ""
    if change.decision.glass_broken:
        decision = " · emergency override"
    elif _was_approved(change):
        decision = f" · approved by {approvers(change)}"
    if change.run.undone_by:
        return f"{decision} · {outcome_word(change)}"
    return decision if change.state is State.APPLIED else f"{decision} · *{outcome_word(change)}*"


def _link(card: str) -> str:
    return f" · <{card}|card>" if card else ""


MAX_NAMED: Final = 3
"""Fields of one change that a line names."""


def _was_approved(change: Change) -> bool:
    decided = change.decision.approvals or change.decision.decided_by
    return change.decision.guard is Guard.APPROVE and bool(decided) and change.state is not State.CANCELLED


def _did(change: Change, *, public: bool) -> str:
    """What *change* did, in the past tense, and to what."""
    if change.is_set:
        return f"made a bulk change: *{esc(change.bulk.title, 150)}*"
    kind, site, what = change.edit.kind, change.edit.target.site, subject(change, public=public)
    if kind is Kind.MEMBER_GRANT:
        return f"granted {what} access to {_segments_changed(change) or 'nothing new'}"
    if kind is Kind.MEMBER_REVOKE:
        return f"revoked access of {what} to {_segments_changed(change) or 'nothing'}"
    if kind not in EDITS:
        return f"{VERBS[kind][1]} {what}" + (f" in {esc(site, 60)}" if site else "")
    if (switched := is_switched(change)) is not None:
        return f"switched {switched} {what}"
    lines = differences(change.edit.before, change.edit.after)
    if len(lines) == 1 and lines[0].field != "allowedSegments":
        before, after = around(lines[0].before, lines[0].after, 60)
        return f"changed the {esc(_field(lines[0].field, change), 60)} of {what}: {before} → {after}"
    named = list(dict.fromkeys(_field(line.field, change) for line in lines))
    fields = f"the {', '.join(map(esc, named))} of " if 0 < len(named) <= MAX_NAMED else ""
    return f"changed {fields}{what}"


def _field(path: str, change: Change) -> str:
    """A field as people call it; where there is one pair, without its number."""
    single = len((change.edit.after or {}).get("pairs") or ()) == 1
    return field_name(path).removeprefix("pair 1 ") if single else field_name(path)


def _segments_changed(change: Change) -> str:
    had, has = ({*(document or {}).get("allowedSegments", ())} for document in (change.edit.before, change.edit.after))
    return listed([quoted(str(name), 60) for name in sorted(had ^ has, key=str)], most=MAX_NAMED)


def subject(change: Change, *, public: bool = True) -> str:
    """What *change* is about, by its name: of a member, also the email as a channel may see it."""
    name = str((change.edit.before or change.edit.after or {}).get("name") or "")
    if change.edit.target.service != "members":
        kind = "the group " if change.edit.target.service == "groups" else ""
        return f"{kind}{quoted(named, 100)}" if (named := name or change.edit.target.key) else "a rule"
    shown = f"{esc(name, 80)} " if name and "@" not in name else ""
    key = change.edit.target.key or ""
    return f"{shown}{code(masked(key) if public else key)}"


def _line(entry: Entry, card: str, *, public: bool) -> str:
    """What happened that was no change: a refusal, an export, new settings."""
    who, detail = _who(entry.actor), entry.detail
    link = _link(card)
    if entry.event == "refused":
        what = DOES.get(entry.target, entry.target.replace(".", " "))
        times = f" {int(detail['count']):,} times" if "count" in detail else ""
        why = str(detail.get("why") or "")
        because = f": {WHY_NOT[why].recorded if why in WHY_NOT else esc(why, 100)}" if why else ""
        return f"{when(entry.at)} {who} tried to {esc(what, 60)}{times}, refused{because}{link}"
    if entry.event == "exported":
        kind = esc(str(detail.get("kind") or "a file"), 60)
        return f"{when(entry.at)} {who} exported {esc(entry.target, 60)}: {kind}"
    reason = str(detail.get("reason") or detail.get("why") or "")
    said = f": {words(reason, 120) if public else esc(reason, 120)}" if reason else ""
    about = target_name(entry.target, public=public)
    return f"{when(entry.at)} {who} {esc(entry.event.replace('_', ' '), 40)} {about}{said}{link}"


def target_name(target: str, *, public: bool) -> str:
    place, _, key = target.rpartition("/")
    return code(f"{place}/{masked(key)}" if public and "@" in key else target, 160) if target else ""


def history(changes: Sequence[Change], links: Mapping[str, str], *, outside: int | None, command: Command) -> Message:
    """The changes of one rule, newest first. *outside*: when others changed it since (epoch milliseconds)."""
    other = (
        f"The last change, {messages.moment(outside)}, wasn’t made through Gatehouse." if outside is not None else ""
    )
    if not changes:
        none = f":mag: *No history.* Gatehouse hasn’t changed this rule. {other}".rstrip()
        return messages.message("No history", [messages.section(none)])
    name = subject(changes[0])
    lines = [f"• {change_line(change, links, public=False)}" for change in changes]
    head = "\n".join(filter(None, [f"*History of {name}*", other]))
    blocks = [messages.section(head), *map(messages.section, messages.packed(lines))]
    return messages.message(f"History of {name}", [*blocks, *messages.actions([messages.share_button(command)])])


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
    if left := _left(waiting, ending):
        blocks.append(messages.section(left))
    buttons = [
        messages.run_button("Show pending", GatehousePending(), 0) if waiting else None,
        messages.run_button("Show temporary changes", GatehouseTimers(), 1) if ending else None,
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
    done = next((words[1] for each, words in VERBS.items() if each.value == kind), "")
    if done.startswith("access") or done.endswith("access"):
        return "access granted" if done.startswith("granted") else done
    return f"{kind.partition('.')[0]} {done}" if done else esc(kind or "change", 40)


def _who(actor: str) -> str:
    return "Gatehouse" if actor == GATEHOUSE else f"<@{actor}>"


def _counted(names: Iterable[str]) -> str:
    """The most frequent ones, each with how often."""
    found = Counter(name for name in names if name)
    shown = [f"{name} × {many:,}" if many > 1 else name for name, many in found.most_common(LONGEST)]
    others = f"   and {len(found) - LONGEST:,} more" if len(found) > LONGEST else ""
    return ",  ".join(shown) + others


def _left(waiting: int, ending: int) -> str:
    said = []
    if waiting:
        said.append(f"*{messages.plural(waiting, 'pending change')}*")
    if ending:
        said.append(f"*{messages.plural(ending, 'temporary change')}*")
    return " · ".join(said)
