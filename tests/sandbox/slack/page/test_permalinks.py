"""Slack's own links on the page: they lead to the message, or to the file, and not out to the real Slack."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, Page, expect

from sandbox.slack.message import Message
from sandbox.slack.running import TOKEN
from sandbox.slack.story import Person
from tests.sandbox.slack.desk import ALICE, BOB, OPS, Desk
from tests.sandbox.slack.page.test_page import opened

pytestmark = pytest.mark.browser

SUPPORT = "C0SUPPORT"


async def linked(desk: Desk, text: str) -> None:
    await desk.call("chat.postMessage", channel=SUPPORT, text=text)


async def permalink(desk: Desk, message: Message) -> str:
    asked = {"channel": message.channel, "message_ts": message.ts}
    headers = {"Authorization": f"Bearer {TOKEN}"}
    answer = await desk.http.get(f"{desk.slack.api_url}chat.getPermalink", params=asked, headers=headers)
    return str(answer.json()["permalink"])


def said(desk: Desk, text: str, root: Message | None = None) -> Message:
    state = desk.slack.state
    thread = root.ts if root else None
    return state.add(Message(state.new_ts(), OPS, BOB, text, [], thread_ts=thread))


async def in_support(browser: Browser, desk: Desk) -> Page:
    return await opened(browser, desk, channel=SUPPORT)


async def test_a_link_leads_to_its_message_however_far_up_that_is(browser: Browser, desk: Desk) -> None:
    desk.slack.state.happened = lambda _: None  # the app need not hear of them all
    first = said(desk, "the very first")
    for number in range(700):
        said(desk, f"message {number}")
    await linked(desk, f"It began <{await permalink(desk, first)}|here>")
    page = await in_support(browser, desk)
    await page.get_by_role("link", name="here").click()

    await expect(page.get_by_role("heading", name="ops-traffic", exact=True)).to_be_visible()
    await expect(page.get_by_text("the very first")).to_be_in_viewport()
    await expect(page.get_by_role("article").filter(has_text="the very first")).to_be_focused()
    assert len(page.context.pages) == 1


async def test_a_link_to_a_file_leads_to_the_message_that_holds_it(browser: Browser, desk: Desk) -> None:
    held = await Person(desk.slack, ALICE, OPS).uploads("rules.json", b"[]", "the rules")
    await linked(desk, f"See <{held.files[0].info()['permalink']}|the file>")
    page = await in_support(browser, desk)
    await page.get_by_role("link", name="the file").click()
    await expect(page.get_by_role("article").filter(has_text="the rules")).to_be_focused()


async def test_a_link_says_so_where_the_message_is_gone_or_not_for_this_person(browser: Browser, desk: Desk) -> None:
    gone = said(desk, "soon gone")
    far = "https://example-shop.slack.com/archives/C0NOWHERE/p1795268027281013"
    await linked(desk, f"<{await permalink(desk, gone)}|gone> <{far}|far>")
    desk.slack.state.delete(gone)
    page = await in_support(browser, desk)
    await page.get_by_role("link", name="far").click()
    await expect(page.get_by_text("You are not where that is.")).to_be_visible()
    await page.get_by_role("link", name="gone").click()
    await expect(page.get_by_text("That message is gone.")).to_be_visible()
