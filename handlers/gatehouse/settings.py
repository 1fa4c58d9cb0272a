"""``/gatehouse settings``: what a channel has set, and the form that changes it."""

from __future__ import annotations

from bot.gatehouse import Gatehouse
from bot.policy.model import SETTINGS
from bot.store.settings import (
    MAX_SEGMENT_LENGTH,
    MAX_SEGMENTS,
    NOTICES_OFF,
    SettingsMoved,
    stored_notices,
    wanted_notices,
)
from handlers.blocks import modals
from handlers.gatehouse import home_view
from handlers.gatehouse.commands import GatehouseSettings
from handlers.members.refs import preferences
from handlers.slack.registry import Click, Form, clicks, handles, submits
from handlers.slack.reply import Caller, Modal, Private, Reply, View


@handles(GatehouseSettings)
async def show_settings(command: GatehouseSettings, caller: Caller, gatehouse: Gatehouse) -> Reply:
    may = await gatehouse.access.refusal(SETTINGS, caller.user, caller.channel) is None
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
async def change(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    await gatehouse.access.require(SETTINGS, caller.user, caller.channel)

    async def fill() -> View:
        return home_view.form(await preferences(caller, gatehouse), caller.channel, sites=tuple(gatehouse.sites))

    return Modal(modals.loading(home_view.TITLE), fill)


@clicks("settings.mine")
async def change_mine(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """What a person gets is theirs to choose: it takes no right."""

    async def fill() -> View:
        stored = await gatehouse.store.channel_settings.get(caller.user)
        return home_view.my_form(wanted_notices(stored), caller.channel)

    return Modal(modals.loading(home_view.MY_TITLE), fill)


async def _save_mine(view: View, caller: Caller, gatehouse: Gatehouse) -> View:
    settings = gatehouse.store.channel_settings
    held = (await settings.get(caller.user)).get(NOTICES_OFF, "")
    await settings.change(
        caller.user, {NOTICES_OFF: held}, stored_notices(home_view.read_my_form(view)), by=caller.user
    )
    return modals.done(home_view.MY_TITLE, ":white_check_mark: Saved for you.")


def _errors(view: View) -> dict[str, str]:
    typed = home_view.read_form(view).segments
    if len(typed) > MAX_SEGMENTS:
        return {home_view.SEGMENTS: f"Name at most {MAX_SEGMENTS} segments."}
    if any(len(name) > MAX_SEGMENT_LENGTH for name in typed):
        return {home_view.SEGMENTS: f"The name of a segment has at most {MAX_SEGMENT_LENGTH} characters."}
    return {}


async def _save(view: View, caller: Caller, gatehouse: Gatehouse) -> View:
    """The right is looked at again: the form may have been open for long."""
    await gatehouse.access.require(SETTINGS, caller.user, caller.channel)
    wanted, now = home_view.read_form(view), await preferences(caller, gatehouse)
    if now == wanted:
        return modals.done(home_view.TITLE, f":white_check_mark: <#{caller.channel}> has this set.")
    if not home_view.unmoved(view, now):
        raise SettingsMoved(caller.channel)
    settings = gatehouse.store.channel_settings
    await settings.change(caller.channel, now.stored(), wanted.stored(), by=caller.user)
    return modals.done(home_view.TITLE, f":white_check_mark: Saved for <#{caller.channel}>. It is on record.")


submits(home_view.CALLBACK, Form(_errors, lambda _: modals.working(home_view.TITLE), _save))
submits(home_view.MY_CALLBACK, Form(lambda _: {}, lambda _: modals.working(home_view.MY_TITLE), _save_mine))
