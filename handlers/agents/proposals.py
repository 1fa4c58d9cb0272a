"""What an agent proposes: it is tried, and its person gets a direct message with what it would do and *Request it*.

Nothing is recorded before their click, which requests it as if they had typed it in the channel that the message names.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final

from bot.changes.model.items import Tally
from bot.changes.model.parts import Guard
from bot.gatehouse import Gatehouse
from bot.policy.limits import Rate
from handlers.blocks import messages
from handlers.blocks.buttons import button, command_text
from handlers.blocks.messages import Message, quote
from handlers.changes import card_view, items_view
from handlers.changes.cards import as_shown, groups_of
from handlers.changes.diff import without_secrets
from handlers.changes.requests import Rehearsed, zone_of
from handlers.changes.titles import request_title
from handlers.grammar.command import Certain, Command
from handlers.grammar.command_sentences import Context, sentence
from handlers.grammar.parser import expand, parse
from handlers.grammar.time_fields import Expiry, Start
from handlers.rules.rule_refs import look_up
from handlers.slack.registry import Click, Elsewhere, clicks
from handlers.slack.reply import Caller, Private, ShownFirst
from handlers.slack.running import run

PROPOSALS: Final = Rate("proposals of agents", per_person=10, seconds=600)
LIFETIME_SECONDS: Final = 24 * 3600
WAITS: Final = {
    Guard.NONE: "It is done as soon as you request it.",
    Guard.CONFIRM: "Once you request it, you confirm it on its card.",
    Guard.APPROVE: "Once you request it, its card waits for approval.",
}

Post = Callable[[str, Message], Awaitable[object]]
"""Posts a direct message to a person."""


async def propose(command: Command, caller: Caller, gatehouse: Gatehouse, post: Post) -> tuple[Message, dict[str, Any]]:
    """Send *caller* what *command* would do; return what their agent is told of that, and the same as data.

    Raises TooFast, Certain where it is too long, and as the request itself does.
    """
    gatehouse.limits.take(PROPOSALS, caller.user)
    command = expand(command, await look_up(command, caller, gatehouse))
    tried = await _rehearse(command, caller, gatehouse)
    card = await _card(_exact(command, tried), tried, caller, gatehouse)
    await post(caller.user, card)
    head = messages.section(f"*Nothing was changed.* <@{caller.user}> got this as a direct message, and decides.")
    rules = [item.target.key for item in tried.proposal.items if item.target.service == "rules" and item.target.key]
    return replace(card, blocks=(head, *card.blocks)), {"guard": tried.change.decision.guard, "rules": rules}


async def _rehearse(command: Command, caller: Caller, gatehouse: Gatehouse) -> Rehearsed:
    """Return what *command* would request, with nothing written; raises as its handler does."""
    try:
        await run(command, replace(caller, public=False, rehearses=True, confirmed=True), gatehouse)
    except Rehearsed as tried:
        return tried
    except ShownFirst as first:  # a host stands for its rules
        return await _rehearse(first.command, caller, gatehouse)
    raise Certain("This isn’t one request.")


def _exact(command: Command, tried: Rehearsed) -> Command:
    """Return *command* with ids for names and moments for times: it means the same whenever it is run."""
    request, keys = tried.change.request, tuple(item.target.key for item in tried.proposal.items)
    exact: dict[str, Any] = {"refs": keys} if command.refs else {}
    if request.starts_at is not None:
        exact["start"] = Start.at_moment(request.starts_at)
    if request.reverts_at is not None:  # also that of a start such as from 9:00 to 17:00
        exact["expiry"] = Expiry.at_moment(request.reverts_at)
    return command.with_fields(**exact)


def _seal(tried: Rehearsed) -> str:
    """Return a hash of all that would be changed, from what to what, and of its guard."""
    edits, decision = tried.proposal.edits, tried.change.decision
    shown = [[str(edit.target), edit.kind, edit.before, edit.after] for edit in edits]
    text = json.dumps([shown, decision.guard, decision.approvals_needed], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


async def _card(command: Command, tried: Rehearsed, caller: Caller, gatehouse: Gatehouse, lead: str = "") -> Message:
    """Return the message that shows what *command* would do, as its card in the channel will; raises Certain.

    *lead*: what to say first.
    """
    change, items = without_secrets(tried.change), tried.proposal.items
    tally, first = Tally(item.outcome for item in items), [*map(as_shown, items[: items_view.SHOWN])]
    progress = items_view.Progress(tally, first) if change.is_bulk else None
    names = {key: item.name for item in items if (key := item.target.key) and item.name}
    zone = zone_of((await gatehouse.access.directory.person(caller.user)).tz)
    until = int(gatehouse.now().timestamp()) + LIFETIME_SECONDS
    value = json.dumps([caller.agent, caller.channel, command_text(command), _seal(tried), until], ensure_ascii=False)
    if (do := button("Request it", "v1.proposal.do", value, style="primary")) is None:
        raise Certain("That is too long for one proposal.", about=(type(command),))
    agent = f"The agent {quote(caller.agent)} proposes"
    return messages.message(
        f"{agent}: {request_title(change)}".replace("`", ""),
        [
            messages.section(
                f"{lead}*{agent} in <#{caller.channel}>:*\n{sentence(command, Context(names, zone, people=names))}"
            ),
            *card_view.preview(change, progress, await groups_of(change, gatehouse.groups.groups)),
            messages.context(f"{WAITS[change.decision.guard]} Nothing happens without your click."),
            *messages.actions([do]),
        ],
    )


@clicks("proposal.do", stored=True)
async def request_proposed(click: Click, caller: Caller, gatehouse: Gatehouse) -> Elsewhere:
    """Request what an agent proposed; where it isn't any more what was shown, show it again."""
    agent, channel, text, seal, until = json.loads(click.value)
    if until < gatehouse.now().timestamp():
        raise Certain("This proposal is more than a day old. Ask the agent for another one.")
    if channel not in await gatehouse.channels_of(caller.user):
        raise Certain(f"You aren’t in <#{channel}> any more, so you can’t request this there.")
    there = replace(caller, channel=channel, agent=agent, confirmed=True, replacing=True)
    command = parse(*text.partition(" ")[::2])
    tried = await _rehearse(command, there, gatehouse)
    if _seal(tried) == seal:
        return Elsewhere(command, there)
    lead = ":warning: This has changed since. Look at it again.\n"
    return Elsewhere(Private(await _card(command, tried, there, gatehouse, lead)), there)
