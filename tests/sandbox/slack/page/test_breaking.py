"""The panel that puts things out of order, and the inspector that shows what came of it."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from sandbox.demo import Sandbox
from tests.sandbox.slack.desk import Desk
from tests.sandbox.slack.page.test_page import opened, say

pytestmark = pytest.mark.browser


async def panel(page: Page) -> Locator:
    await page.get_by_role("button", name="Break it").click()
    found = page.get_by_role("complementary", name="Break it")
    await expect(found).to_be_visible()
    return found


async def test_the_panel_is_left_by_escape_and_gives_the_focus_back(browser: Browser, desk: Desk) -> None:
    page = await opened(browser, desk)
    broken = await panel(page)
    await expect(broken.get_by_label("Acknowledgement")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(broken).to_be_hidden()
    await expect(page.get_by_role("button", name="Break it")).to_be_focused()


@pytest.mark.parametrize("width", [400, 1400])
async def test_the_services_are_in_it_and_their_calls_in_the_inspector(
    browser: Browser, workspace: Sandbox, width: int
) -> None:
    page = await browser.new_page(viewport={"width": width, "height": 860})
    await page.goto(f"{workspace.slack.page_url}/?user=U0ALICE01&channel=C0OPS0001")
    broken = await panel(page)
    await broken.get_by_text("All switches").click()
    rules = broken.locator("details details").filter(has=page.get_by_role("heading", name="The rules service"))
    await rules.get_by_label("Calls are answered").select_option("500")
    await expect(rules.get_by_text("On, 1 call left")).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth") == width
    await broken.get_by_role("button", name="Close the panel").click()

    await say(page, "/rules list")
    await expect(page.get_by_role("article").filter(has_text="Assets to the EU host")).to_be_visible()
    await page.get_by_role("button", name="Inspector").click()
    inspector = page.get_by_role("complementary", name="Inspector")
    calls = inspector.get_by_role("group").filter(has_text="GET /v1/rules")
    await expect(calls).to_have_count(2)
    await expect(calls.last).to_contain_text(re.compile(r"500.*\d+ ms", re.DOTALL))
    await calls.first.locator("summary").click()
    await expect(calls.first.get_by_text("Redirect_chk01").first).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(inspector).to_be_hidden()
