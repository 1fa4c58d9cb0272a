"""The app's home: what waits for whoever opens it, what they did and what ends by itself, and a search."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from functools import partial
from typing import Any, Final

from bot.changes.model import Change, Guard, State
from bot.clients.errors import ClientError
from bot.clients.lists import Listing
from bot.gatehouse import Gatehouse
from bot.policy.access import DirectoryUnavailable, NotAllowed
from bot.store.queues import TimerKind
from handlers.gatehouse import home_view
from handlers.gatehouse.answers import changes_of, waiting
from handlers.rules.form_view import RuleForm
from handlers.slack.registry import Click, Heard, clicks, hears
from handlers.slack.reply import Caller, HomeTab, Modal, Reply, View

PATIENCE: Final = 2.0
"""Seconds that a service has to say that it is there."""
LAST: Final = 5
MOST_OPEN: Final = 50
"""Open changes that are looked through for those that wait for one person."""


@hears("app_home_opened", stored=False)
async def opened(heard: Heard, caller: Caller, gatehouse: Gatehouse) -> Reply | None:
    """Drawn anew whenever it is opened; what it showed the last time stays until then."""
    if heard.event.get("tab") != "home":
        return None
    skeleton = None if heard.event.get("view") else home_view.loading(caller.channel)
    return HomeTab(skeleton, partial(_drawn, caller, gatehouse))


@clicks("home.refresh")
async def refreshed(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return HomeTab(None, partial(_drawn, caller, gatehouse))


@clicks("home.new")
async def new_rule(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """From nowhere in particular: the form asks where it is to be announced."""
    await gatehouse.access.require_somewhere("rule.create", caller.user)
    return Modal(RuleForm.blank().view())


async def _drawn(caller: Caller, gatehouse: Gatehouse) -> View:
    allowed = await gatehouse.access.all(caller.user, caller.channel)
    open_changes, due = await waiting(gatehouse, most=MOST_OPEN)
    decisions = [each for each in open_changes if await _waits_for(each, caller.user, gatehouse)]
    reviews = [each for each in due if await _may_review(each, caller.user, gatehouse)]
    reverts = await changes_of(TimerKind.REVERT, gatehouse)
    ending = [each for each in reverts if each.temporary and each.requester == caller.user]
    last = await gatehouse.store.changes.of_requester(caller.user, limit=LAST)
    links = {each.id: await gatehouse.store.cards.link(each.id) for each in (*decisions, *reviews, *ending, *last)}
    return home_view.home(
        decisions=decisions,
        reviews=reviews,
        ending=ending,
        last=last,
        links=links,
        services=await _services(gatehouse),
        reads_rules=allowed["rule.read"] is None,
        reads_members=allowed["member.read"] is None,
        channel=caller.channel,
        now=gatehouse.now(),
    )


async def _waits_for(change: Change, user: str, gatehouse: Gatehouse) -> bool:
    """Whether *user* is one of those who can settle *change* now."""
    if change.state is not State.PROPOSED or user in {one.by for one in change.approvals}:
        return False
    if change.guard is Guard.CONFIRM:
        return change.requester == user
    return await _is_let(gatehouse.access.require_approver(change, user, change.channel))


async def _may_review(change: Change, user: str, gatehouse: Gatehouse) -> bool:
    """Whether *user* is one of those who can sign what somebody did alone."""
    return user != change.decided_by and await _is_let(gatehouse.access.require_reviewer(change, user))


async def _is_let(asked: Awaitable[None]) -> bool:
    try:
        await asked
    except (NotAllowed, DirectoryUnavailable):
        return False
    return True


async def _services(gatehouse: Gatehouse) -> dict[str, str]:
    """What each service says to a plain question: "ok" and how many, or what is wrong."""
    asked: dict[str, Awaitable[Listing[Any]]] = {"rules": gatehouse.rules.recent()}
    asked |= {f"members of {site.name}": site.members.recent() for site in gatehouse.sites.values()}
    return dict(zip(asked, await asyncio.gather(*map(_says, asked.values())), strict=True))


async def _says(asked: Awaitable[Listing[Any]]) -> str:
    try:
        async with asyncio.timeout(PATIENCE):
            found = await asked
    except ClientError:
        return "does not answer"
    except TimeoutError:
        return "takes its time"
    return f"only {found.gap} could be read" if found.gap else f"ok, {len(found.known):,}"
