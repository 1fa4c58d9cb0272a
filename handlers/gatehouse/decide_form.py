"""The form in which somebody decides about all requests that wait for them: each is shown whole, and none is decided unseen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from bot.changes.model.change import Change
from bot.changes.model.items import Item
from bot.changes.model.parts import Guard
from bot.changes.model.states import State
from bot.changes.rights import Decision, OfRequest
from bot.gatehouse import Gatehouse
from bot.policy.inquiry import NotAllowed
from handlers.blocks import inputs, messages, modals
from handlers.blocks.messages import Block, and_more
from handlers.blocks.modals import View, frame, metadata
from handlers.changes import full_view
from handlers.changes.decisions import can_decide
from handlers.changes.entries import entries_of
from handlers.changes.people import needs_line
from handlers.changes.titles import mark_of, request_title, title_of
from handlers.explain.table import is_expected, words_for
from handlers.gatehouse.answers import waiting_changes
from handlers.slack.registry import Click, Form, clicks, submits
from handlers.slack.reply import Caller, Modal, Reply

CALLBACK: Final = "v1.decide.form"
TITLE: Final = "Decide"
MAX_OPEN: Final = 50
"""Open changes that are looked through for those that wait for one person."""
MAX_BLOCKS: Final = 90
MAX_SIZE: Final = 120_000
"""Characters of all blocks, about half of what Slack takes in a view."""
MAX_ITEMS: Final = 50
"""Items of a bulk change that the form shows among other requests."""
GROUP: Final = timedelta(minutes=10)
OPEN: Final = "open"
CHOICES: Final[Mapping[bool, Mapping[str, str]]] = {
    False: {OPEN: "Leave open", Decision.APPROVE: "Approve", Decision.DENY: "Deny"},
    True: {OPEN: "Leave open", Decision.CONFIRM: "Confirm", Decision.WITHDRAW: "Withdraw"},
}
"""What can be decided about somebody else's request, and about one's own."""


TAKEN: Final[Mapping[str, OfRequest]] = {
    "approve": Decision.APPROVE,
    "deny": Decision.DENY,
    "confirm": Decision.CONFIRM,
    "withdraw": Decision.WITHDRAW,
}


def group_requests(changes: Sequence[Change]) -> list[list[Change]]:
    """Return *changes* in groups: what one person asked for within ten minutes, to be decided in the same way."""
    groups: list[list[Change]] = []
    for each in changes:
        who, own = each.request.requester, each.decision.guard is Guard.CONFIRM
        same = (
            group
            for group in groups
            if (group[0].request.requester, group[0].decision.guard is Guard.CONFIRM) == (who, own)
            and abs(each.created - group[0].created) <= GROUP
        )
        if (group := next(same, None)) is not None:
            group.append(each)
        else:
            groups.append([each])
    return groups


@clicks("decide.open")
async def ask(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Open the form; the list that it was opened from stays as it is."""
    waiting = await waiting_changes(gatehouse, most=MAX_OPEN)
    changes = [each for each in waiting.changes if await can_decide(each, caller.user, gatehouse)]
    items = {
        each.id: [item async for item in gatehouse.store.items.all(each.id)]
        for each in changes
        if each.is_bulk and each.bulk.size <= MAX_ITEMS
    }
    links = {each.id: await gatehouse.store.cards.link(each.id) for each in changes}
    form, shown = view(changes, items, links)
    return Modal(form, shows=shown)


def view(
    changes: Sequence[Change], items: Mapping[str, Sequence[Item]], links: Mapping[str, str]
) -> tuple[View, tuple[Change, ...]]:
    """Return the form for *changes*, and those that it shows whole, which alone can be decided there: who may decide may see all.

    *items*: of bulk changes, unless there are too many; *links*: to the cards.
    """
    blocks: list[Block] = []
    shown: list[Change] = []
    asked: list[list[str]] = []
    left = 0
    for group in group_requests(changes):
        here: list[str] = []
        for each in group:
            drawn = _facts(each, items, links.get(each.id, ""))
            if len(blocks) + len(drawn) + 1 > MAX_BLOCKS or len(str([*blocks, *drawn])) > MAX_SIZE:
                left += 1
                continue
            blocks += drawn
            if len(drawn) > 1:
                here.append(each.id)
                shown.append(each)
        if here:
            which = "this" if len(here) == 1 else f"all {len(here)}, requested together"
            choices = CHOICES[group[0].decision.guard is Guard.CONFIRM]
            blocks += [inputs.radios(f"group{len(asked)}", f"Decide about {which}", choices), messages.divider()]
            asked.append(here)
    if not blocks:
        blocks = [messages.section(":white_check_mark: *Nothing is waiting for you.*")]
    if left:
        blocks.append(messages.context(f"{and_more(left, 'request')}: decide about these first."))
    if asked:
        blocks.append(
            inputs.text(inputs.REASON, "Reason", None, optional=True, hint="Needed for what you deny.", most=1_000)
        )
    about = {"groups": asked}
    return frame(TITLE, blocks, callback_id=CALLBACK, submit=TITLE if asked else None, metadata=about), tuple(shown)


def _facts(change: Change, items: Mapping[str, Sequence[Item]], link: str) -> list[Block]:
    """Return everything about *change*, closed by a line; one block alone where that is too much for a form of several."""
    texts = (
        []
        if change.is_bulk and change.id not in items
        else full_view.texts(change, entries_of(change, items.get(change.id, ())))
    )
    if not texts or len(texts) > MAX_BLOCKS // 2:
        card = f"<{link}|its card>" if link else "its card"
        return [messages.section(f"*{request_title(change)}*\nNot shown here: open {card}.")]
    return [*map(messages.section, texts), messages.context("This is everything.")]


@dataclass(frozen=True, slots=True)
class Decided:
    """What somebody chose: the *decisions*, by the ids of the changes; and why they deny."""

    decisions: Mapping[str, OfRequest]
    reason: str


def read(sent: View) -> Decided:
    values = inputs.values_of(sent)
    chosen: dict[str, OfRequest] = {}
    for number, ids in enumerate(metadata(sent).get("groups") or ()):
        if (decision := TAKEN.get(inputs.typed_value(values, f"group{number}") or OPEN)) is not None:
            chosen |= dict.fromkeys(ids, decision)
    return Decided(chosen, (inputs.typed_value(values, inputs.REASON) or "").strip())


def errors(sent: Decided) -> dict[str, str]:
    if not sent.decisions:
        return {"group0": "Decide about one request, or close this."}
    is_missing = Decision.DENY in sent.decisions.values() and not sent.reason
    return {inputs.REASON: "Enter a reason: you deny a request."} if is_missing else {}


async def _save(sent: Decided, caller: Caller, gatehouse: Gatehouse) -> View:
    """Take each decision on its own: one that is refused keeps none of the others from being taken."""
    lines = [await _decide(one, decision, sent.reason, caller, gatehouse) for one, decision in sent.decisions.items()]
    return modals.done_view(TITLE, "\n".join(lines))


async def _decide(one: str, decision: OfRequest, reason: str, caller: Caller, gatehouse: Gatehouse) -> str:
    """Return what became of one change."""
    title = f"Change {one[:8]}"
    try:
        change = await gatehouse.changes.journal.get(one)
        title = request_title(change)
        change = await gatehouse.changes.decisions.decide(change, decision, caller.user, reason=reason)
    except Exception as error:
        if not is_expected(error):
            raise
        if isinstance(error, NotAllowed):
            await gatehouse.changes.refusals.add(error.operation, caller.user, caller.channel, error.why)
        why = words_for(error).what
        return f":warning: {why}" if "\n" in why else f":warning: *{title}:* {why}"
    more = f"\n{needs_line(change, 'its channel')}" if change.state is State.PROPOSED else ""
    return f"{mark_of(change)} *{title_of(change)}*{more}"


submits(CALLBACK, Form(read, _save, errors))
