"""``/gatehouse settings``: what a channel has set, and the form that changes it."""

from __future__ import annotations

from bot.domain.policy import SETTINGS
from bot.domain.preferences import LONGEST_SEGMENT, MOST_SEGMENTS, NOTICES_OFF, stored_notices, wanted_notices
from bot.gatehouse import Gatehouse
from bot.store.channel_settings import SettingsMoved
from handlers.commands.gatehouse import GatehouseSettings
from handlers.reply import Caller, Modal, Private, Reply, View
from handlers.routes import Click, Form, clicks, handles, submits
from handlers.sites import preferences
from handlers.views import forms
from handlers.views import settings as views


@handles(GatehouseSettings)
async def show_settings(command: GatehouseSettings, caller: Caller, gatehouse: Gatehouse) -> Reply:
    may = await gatehouse.access.refusal(SETTINGS, caller.user, caller.channel) is None
    return Private(
        views.card(
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
        return views.form(await preferences(caller, gatehouse), caller.channel, sites=tuple(gatehouse.sites))

    return Modal(forms.loading(views.TITLE), fill)


@clicks("settings.mine")
async def change_mine(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """What a person gets is theirs to choose: it takes no right."""

    async def fill() -> View:
        stored = await gatehouse.store.channel_settings.get(caller.user)
        return views.my_form(wanted_notices(stored), caller.channel)

    return Modal(forms.loading(views.MY_TITLE), fill)


async def _save_mine(view: View, caller: Caller, gatehouse: Gatehouse) -> View:
    settings = gatehouse.store.channel_settings
    held = (await settings.get(caller.user)).get(NOTICES_OFF, "")
    await settings.change(caller.user, {NOTICES_OFF: held}, stored_notices(views.read_my_form(view)), by=caller.user)
    return forms.done(views.MY_TITLE, ":white_check_mark: Saved for you.")


def _errors(view: View) -> dict[str, str]:
    typed = views.read_form(view).segments
    if len(typed) > MOST_SEGMENTS:
        return {views.SEGMENTS: f"Name at most {MOST_SEGMENTS} segments."}
    if any(len(name) > LONGEST_SEGMENT for name in typed):
        return {views.SEGMENTS: f"The name of a segment has at most {LONGEST_SEGMENT} characters."}
    return {}


async def _save(view: View, caller: Caller, gatehouse: Gatehouse) -> View:
    """The right is looked at again: the form may have been open for long."""
    await gatehouse.access.require(SETTINGS, caller.user, caller.channel)
    wanted, now = views.read_form(view), await preferences(caller, gatehouse)
    if now == wanted:
        return forms.done(views.TITLE, f":white_check_mark: <#{caller.channel}> has this set.")
    if not views.unmoved(view, now):
        raise SettingsMoved(caller.channel)
    settings = gatehouse.store.channel_settings
    await settings.change(caller.channel, now.stored(), wanted.stored(), by=caller.user)
    return forms.done(views.TITLE, f":white_check_mark: Saved for <#{caller.channel}>. It is on record.")


submits(views.CALLBACK, Form(_errors, lambda _: forms.working(views.TITLE), _save))
submits(views.MY_CALLBACK, Form(lambda _: {}, lambda _: forms.working(views.MY_TITLE), _save_mine))
