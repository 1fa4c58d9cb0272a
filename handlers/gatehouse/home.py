"""The app's home, and ``/gatehouse settings``: what a channel has set."""

from __future__ import annotations

from functools import partial

from bot.gatehouse import Gatehouse
from bot.policy.model import SETTINGS
from bot.store.channel_settings import (
    MAX_SEGMENT_LENGTH,
    MAX_SEGMENTS,
    SettingsMoved,
)
from handlers.blocks import modals
from handlers.blocks.modals import View
from handlers.changes.decisions import can_decide
from handlers.gatehouse import home_view
from handlers.gatehouse.answers import DAY, coming_changes, facts_of, readable, unreadable_services, waiting_changes
from handlers.gatehouse.commands import GatehouseSettings
from handlers.gatehouse.decide_form import MAX_OPEN
from handlers.members.member_refs import preferences
from handlers.rules.past import elsewhere_line
from handlers.rules.rule_form_view import RuleForm
from handlers.slack.registry import Click, Form, Heard, clicks, handles, hears, submits
from handlers.slack.reply import Caller, HomeTab, Modal, Private, Reply


@hears("app_home_opened", stored=False)
async def show_home(heard: Heard, caller: Caller, gatehouse: Gatehouse) -> Reply | None:
    """Draw the home again each time it is opened; until then it shows what it showed the last time."""
    if heard.event.get("tab") != "home":
        return None
    skeleton = None if heard.event.get("view") else home_view.loading_view(caller.channel)
    return HomeTab(skeleton, partial(_draw, caller, gatehouse))


@clicks("home.new")
async def new_rule(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Open the form for a new rule from outside any channel: it asks for the channel of its card, whose policy applies."""
    await gatehouse.access.require(caller.user, None, "rule.create")
    return Modal(RuleForm.blank().view())


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


@handles(GatehouseSettings)
async def show_settings(command: GatehouseSettings, caller: Caller, gatehouse: Gatehouse) -> Reply:
    may = await gatehouse.access.is_allowed(caller.user, caller.channel, SETTINGS)
    return Private(
        home_view.card(
            await preferences(caller, gatehouse),
            caller.channel,
            sites=tuple(gatehouse.sites),
            everywhere=gatehouse.extra_segments,
            may_change=may,
        )
    )


@clicks("settings.change")
async def change_settings(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    await gatehouse.access.require(caller.user, caller.channel, SETTINGS)

    async def fill() -> View:
        return home_view.form(await preferences(caller, gatehouse), caller.channel, sites=tuple(gatehouse.sites))

    return Modal(modals.loading_view(home_view.TITLE), fill)


def _errors(sent: home_view.SettingsForm) -> dict[str, str]:
    typed = sent.wanted.segments
    if len(typed) > MAX_SEGMENTS:
        return {home_view.SEGMENTS: f"Name at most {MAX_SEGMENTS} segments."}
    if any(len(name) > MAX_SEGMENT_LENGTH for name in typed):
        return {home_view.SEGMENTS: f"A segment name has at most {MAX_SEGMENT_LENGTH} characters."}
    return {}


async def _save(sent: home_view.SettingsForm, caller: Caller, gatehouse: Gatehouse) -> View:
    """Save the settings of a channel; the right is checked again, since the form may have been open for long."""
    await gatehouse.access.require(caller.user, caller.channel, SETTINGS)
    wanted, now = sent.wanted, await preferences(caller, gatehouse)
    if now == wanted:
        return modals.done_view(
            home_view.TITLE, f":white_check_mark: *<#{caller.channel}> already has these settings.*"
        )
    if not sent.is_current(now):
        raise SettingsMoved(caller.channel)
    settings = gatehouse.store.channel_settings
    await settings.change(caller.channel, now.dump(), wanted.dump(), by=caller.user)
    return modals.done_view(home_view.TITLE, f":white_check_mark: *Settings of <#{caller.channel}> saved.*")


submits(home_view.CALLBACK, Form(home_view.read_form, _save, _errors))
