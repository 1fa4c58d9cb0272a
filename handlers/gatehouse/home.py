"""The app's home."""

from __future__ import annotations

from functools import partial

from bot.gatehouse import Gatehouse
from handlers.blocks.modals import View
from handlers.changes.decisions import can_decide
from handlers.gatehouse import home_view
from handlers.gatehouse.answers import DAY, coming_changes, facts_of, readable, unreadable_services, waiting_changes
from handlers.gatehouse.decide_form import MAX_OPEN
from handlers.rules.past import elsewhere_line
from handlers.slack.registry import Click, Heard, clicks, hears
from handlers.slack.reply import Caller, HomeTab, Reply


@hears("app_home_opened", stored=False)
async def show_home(heard: Heard, caller: Caller, gatehouse: Gatehouse) -> Reply | None:
    """Draw the home again each time it is opened; until then it shows what it showed the last time."""
    if heard.event.get("tab") != "home":
        return None
    skeleton = None if heard.event.get("view") else home_view.loading_view(caller.channel)
    return HomeTab(skeleton, partial(_draw, caller, gatehouse))


@clicks("home.refresh")
async def refresh_home(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return HomeTab(None, partial(_draw, caller, gatehouse))


async def _draw(caller: Caller, gatehouse: Gatehouse) -> View:
    unreadable = await unreadable_services(caller, gatehouse)
    waiting = await waiting_changes(gatehouse, most=MAX_OPEN)
    decisions = [each for each in waiting.changes if await can_decide(each, caller.user, gatehouse)]
    theirs = [each for each in waiting.changes if each.request.requester == caller.user and each not in decisions]
    own = readable(theirs, unreadable)
    coming = readable(await coming_changes(gatehouse), unreadable)
    coming = [each for each in coming if each.request.requester == caller.user]
    found = home_view.Home(
        decisions=decisions,
        own=own,
        coming=coming,
        unlisted=waiting.unlisted,
        facts=await facts_of((*decisions, *own, *coming), gatehouse),
        reads_rules="rules" not in unreadable,
        reads_members="members" not in unreadable,
        freezes=await gatehouse.changes.freezes.all(),
        elsewhere=await elsewhere_line(gatehouse.now() - DAY, unreadable, gatehouse),
    )
    return home_view.home(found, caller.channel, now=gatehouse.now())
