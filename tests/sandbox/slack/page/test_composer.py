"""What runs with one click, what is typed by hand, and in which tab the answer opens."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from tests.sandbox.slack.desk import ALICE, OPS, Desk
from tests.sandbox.slack.page.test_page import form, opened, say

pytestmark = pytest.mark.browser

GENERAL = "C0GENERAL"


async def test_a_suggestion_runs_with_one_click_and_leaves_the_draft_alone(browser: Browser, desk: Desk) -> None:
    async def answer(_: dict[str, Any]) -> dict[str, Any]:
        return {"text": "Three rules"}

    desk.on = {"command": answer}
    page = await opened(browser, desk)
    box = page.get_by_role("textbox", name=re.compile("^Message"))
    await box.fill("half a thought")
    await page.get_by_role("group", name="Things to try").get_by_role("button").click()

    await expect(page.get_by_role("article").filter(has_text="Three rules")).to_be_visible()
    await expect(box).to_have_value("half a thought")
    await expect(page.get_by_role("button", name="/desk Ask")).to_be_focused()
    assert len(desk.all("command")) == 1
    await box.fill("")
    await box.press("ArrowUp")
    await expect(box).to_have_value("/desk")


async def test_the_app_is_invited_and_mentioned_by_its_name(browser: Browser, desk: Desk) -> None:
    page = await opened(browser, desk, channel=GENERAL)
    suggestions = page.get_by_role("group", name="Things to try")
    await suggestions.get_by_role("button", name="/invite @Desk").click()

    await expect(page.locator("article.moved")).to_contain_text("@Desk has joined the channel")
    await expect(suggestions.get_by_role("button", name="/invite @Desk")).to_have_count(0)
    await expect(suggestions.get_by_role("button")).to_be_focused()
    async with page.expect_response("**/_local/say"):
        await say(page, "@Desk ask @Bob Ortiz, please")
    mention = next(one for one in await desk.events() if one["type"] == "app_mention")
    assert mention["text"] == "<@U0GATEBOT> ask <@U0BOB0001>, please"


async def test_names_and_slacks_own_commands_are_completed(browser: Browser, desk: Desk) -> None:
    page = await opened(browser, desk)
    box = page.get_by_role("textbox", name=re.compile("^Message"))
    await box.press_sequentially("/inv")
    await box.press("Tab")
    await expect(box).to_have_value("/invite ")
    await box.press_sequentially("who:@Car")
    await box.press("Enter")
    await expect(box).to_have_value("/invite who:@cara ")
    await page.goto(f"{desk.slack.page_url}/?user={ALICE}&channel=D0ALICE01")
    await box.press_sequentially("/")
    await expect(page.get_by_role("listbox", name="Suggestions").get_by_role("option")).to_have_count(1)


async def test_a_form_opens_in_the_tab_that_asked_and_a_reload_closes_it(browser: Browser, desk: Desk) -> None:
    async def open_form(command: dict[str, Any]) -> None:
        await desk.call("views.open", trigger_id=command["trigger_id"], view=form() | {"notify_on_close": True})

    desk.on = {"command": open_form}
    page, other = await opened(browser, desk), await opened(browser, desk)
    dialog = page.get_by_role("dialog", name="New rule")
    await say(page, "/desk new")
    await dialog.get_by_label("Name").fill("Half a rule")
    await desk.call("chat.postMessage", channel=OPS, text="Something else")
    await expect(other.get_by_text("Something else")).to_be_visible()
    await expect(other.get_by_role("dialog")).to_have_count(0)

    await page.reload()
    await expect(page.get_by_text("Something else")).to_be_visible()
    await expect(dialog).to_have_count(0)
    await say(page, "/desk new")
    await expect(dialog.get_by_label("Name")).to_have_value("")
    await dialog.get_by_role("button", name="Create").press("Escape")
    await expect(dialog).to_have_count(0)
