"""The page in Chromium, before the real local Slack, with an app of a few lines on its other side."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from sandbox.slack.message import Message
from tests.sandbox.slack.desk import ALICE, OPS, Desk, words

pytestmark = pytest.mark.browser


async def opened(browser: Browser, desk: Desk, user: str = ALICE, channel: str = OPS, width: int = 1280) -> Page:
    page = await browser.new_page(viewport={"width": width, "height": 820})
    page.on("pageerror", lambda error: pytest.fail(f"the page raised {error}"))
    await page.goto(f"{desk.slack.page_url}/?user={user}&channel={channel}")
    await expect(page.get_by_role("textbox", name=re.compile("^Message"))).to_be_visible()
    return page


async def say(page: Page, text: str) -> None:
    box = page.get_by_role("textbox", name=re.compile("^Message"))
    await box.fill(text)
    await box.press("Enter")


def form(*, pairs: int = 1) -> dict[str, Any]:
    def line(name: str, **element: Any) -> dict[str, Any]:
        entry = {"type": "plain_text_input", "action_id": f"{name}.text", **element}
        return {"type": "input", "block_id": name, "label": words(name.title()), "element": entry}

    options = [{"text": words(name), "value": name.lower()} for name in ("Redirect", "Cancel")]
    menu = {"type": "static_select", "action_id": "kind.menu", "options": options}
    return {
        "type": "modal",
        "title": words("New rule"),
        "submit": words("Create"),
        "blocks": [
            line("name"),
            {"type": "input", "block_id": "kind", "label": words("Kind"), "element": menu},
            *(line(f"source {number}") for number in range(1, pairs + 1)),
            {
                "type": "actions",
                "block_id": "more",
                "elements": [{"type": "button", "action_id": "pair.add", "text": words("Add pair")}],
            },
        ],
    }


async def test_a_form_with_an_error_and_a_new_field(browser: Browser, desk: Desk) -> None:
    async def open_form(command: dict[str, Any]) -> None:
        await desk.call("views.open", trigger_id=command["trigger_id"], view=form())

    async def add_pair(click: dict[str, Any]) -> None:
        await desk.call("views.update", view_id=click["view"]["id"], hash=click["view"]["hash"], view=form(pairs=2))

    async def judge(submission: dict[str, Any]) -> dict[str, Any] | None:
        good = submission["view"]["state"]["values"]["name"]["name.text"]["value"] == "Sale"
        return None if good else {"response_action": "errors", "errors": {"name": "That name is taken."}}

    desk.on = {"command": open_form, "block_actions": add_pair, "view_submission": judge}
    page = await opened(browser, desk)
    await say(page, "/desk new")
    dialog = page.get_by_role("dialog", name="New rule")
    await dialog.get_by_role("button", name="Create").click()
    await expect(dialog.get_by_text("Please complete this required field.")).to_have_count(3)
    assert all(payload["type"] != "view_submission" for payload in desk.heard)

    await dialog.get_by_label("Name").fill("Taken")
    await dialog.get_by_label("Kind").click()
    await dialog.get_by_role("option", name="Cancel").click()
    await dialog.get_by_role("button", name="Add pair").click()
    await dialog.get_by_label("Source 2").fill("/b")
    await dialog.get_by_label("Source 1").fill("/a")
    await expect(dialog.get_by_label("Name")).to_have_value("Taken")
    await dialog.get_by_role("button", name="Create").click()
    await expect(dialog.get_by_text("That name is taken.")).to_be_visible()
    await expect(dialog.get_by_label("Name")).to_be_focused()

    await dialog.get_by_label("Name").fill("Sale")
    await dialog.get_by_role("button", name="Create").click()
    await expect(dialog).to_have_count(0)
    state = desk.last("view_submission")["view"]["state"]["values"]
    assert state["kind"]["kind.menu"]["selected_option"]["value"] == "cancel"
    assert state["source 2"]["source 2.text"]["value"] == "/b"


async def test_the_composer_completes_recalls_and_explains(browser: Browser, desk: Desk) -> None:
    page = await opened(browser, desk)
    box = page.get_by_role("textbox", name=re.compile("^Message"))
    await box.press_sequentially("/d")
    await box.press("Tab")
    await expect(box).to_have_value("/desk ")
    await expect(page.get_by_text("[list | new]")).to_be_visible()
    await say(page, "/nothing")
    await expect(page.get_by_text("/nothing is not a valid command.")).to_be_visible()
    await box.fill("")
    await box.press("ArrowUp")
    await expect(box).to_have_value("/nothing")


async def test_of_five_thousand_messages_few_are_drawn_and_all_are_reached(browser: Browser, desk: Desk) -> None:
    state = desk.slack.state
    state.happened = lambda _: None  # the app need not hear of them all
    for number in range(5000):
        state.add(Message(state.new_ts(), OPS, ALICE, f"number {number}.", []))
    page = await opened(browser, desk)
    drawn, scroller = page.get_by_role("article"), page.get_by_role("region", name="Messages")
    await expect(page.get_by_text("number 4999.")).to_be_in_viewport()
    most = [await drawn.count()]
    pages = page.locator(".messages > .page")
    for _ in range(4):
        before = await pages.count()
        await pages.first.evaluate("(node) => node.scrollIntoView()")
        await expect(pages).not_to_have_count(before)
        most.append(await drawn.count())

    await scroller.focus()
    await page.keyboard.press("Home")
    await expect(page.get_by_text("number 0.", exact=True)).to_be_in_viewport()
    await expect(pages).to_have_count(100)
    most.append(await drawn.count())
    await page.keyboard.press("End")
    await expect(page.get_by_text("number 4999.")).to_be_in_viewport()
    most.append(await drawn.count())
    assert max(most) <= 250


async def test_what_one_reads_stays_where_it_is_while_more_comes(browser: Browser, desk: Desk) -> None:
    state = desk.slack.state
    for number in range(300):
        state.add(Message(state.new_ts(), OPS, ALICE, f"number {number}.", []))
    page = await opened(browser, desk)
    await page.get_by_role("region", name="Messages").focus()
    await page.keyboard.press("Home")
    read = page.get_by_text("number 5.", exact=True)
    await expect(read).to_be_in_viewport()
    before = await read.bounding_box()

    await desk.call("chat.postMessage", channel=OPS, text="Something *new*")

    await expect(page.get_by_role("button", name="New messages")).to_be_visible()
    assert await read.bounding_box() == before
    await page.get_by_role("button", name="New messages").click()
    await expect(page.get_by_role("article").filter(has_text="Something new")).to_be_in_viewport()
    await expect(page.get_by_role("log", name="Newest messages")).to_contain_text("Something new")


async def test_one_can_be_everybody_but_those_who_left(browser: Browser, desk: Desk) -> None:
    page = await opened(browser, desk)
    people = page.get_by_role("radiogroup", name="Act as")
    await expect(people.get_by_role("radio", name=re.compile("Frank Moss"))).to_be_visible()
    await expect(people.get_by_role("radio", name=re.compile("Erin Vale"))).to_have_count(0)
    await desk.call("chat.postMessage", channel=OPS, text="Ask <@U0ERIN001>")
    await expect(page.get_by_text("@Erin Vale")).to_be_visible()
    await expect(page.get_by_role("button", name="war-room")).to_be_visible()
    await people.get_by_role("radio", name=re.compile("Frank Moss")).click()
    await expect(page.get_by_text("Acting as Frank Moss")).to_be_visible()
    await expect(page.get_by_role("button", name="partners")).to_be_visible()
    await expect(page.get_by_role("button", name="war-room")).to_have_count(0)


@pytest.mark.parametrize("width", [400, 1400])
async def test_a_thread_is_counted_opened_and_answered(browser: Browser, desk: Desk, width: int) -> None:
    root = (await desk.call("chat.postMessage", channel=OPS, text="Delete the old rule?"))["ts"]
    for text in ("Who asks?", "Alice asks."):
        await desk.call("chat.postMessage", channel=OPS, thread_ts=root, text=text)
    page = await opened(browser, desk, width=width)
    timeline, thread = page.get_by_role("region", name="Messages"), page.get_by_role("complementary", name="Thread")
    await expect(timeline.get_by_text("Who asks?")).to_have_count(0)

    await timeline.get_by_role("button", name=re.compile("^2 replies")).click()
    await expect(thread.get_by_role("article")).to_have_count(3)
    await expect(thread.get_by_text("Alice asks.")).to_be_visible()
    box = thread.get_by_role("textbox", name="Reply")
    await box.fill("Yes, it loops")
    await box.press("Enter")
    await expect(thread.get_by_text("Yes, it loops")).to_be_visible()
    assert await page.evaluate("document.documentElement.scrollWidth") == width

    await expect(thread.get_by_role("article")).to_have_count(4)
    await thread.get_by_role("button", name="Close thread").click()
    await expect(thread).to_be_hidden()
    await expect(timeline.get_by_role("button", name=re.compile("^3 replies"))).to_be_visible()
    assert [one.text for one in desk.slack.state.replies(OPS, root)] == ["Who asks?", "Alice asks.", "Yes, it loops"]


async def test_what_was_said_is_edited_and_deleted(browser: Browser, desk: Desk) -> None:
    page = await opened(browser, desk)
    await say(page, "Hello @bob")
    said = page.locator("article.message").last

    async def choose(name: str) -> None:
        await said.hover()
        await said.get_by_role("button", name="More actions for this message").click()
        await page.get_by_role("menuitem", name=name).click()

    await choose("Edit message")
    box = page.get_by_role("textbox", name="Edit message")
    await expect(box).to_have_value("Hello @bob")
    await box.fill("Bye @bob")
    await box.press("Enter")
    await expect(said).to_contain_text("Bye @Bob Ortiz (edited)")
    await choose("Delete message")
    await expect(page.get_by_text("Bye @Bob Ortiz")).to_have_count(0)


async def test_who_comes_and_goes_is_shown(browser: Browser, desk: Desk) -> None:
    page = await opened(browser, desk)
    await say(page, "/invite @dan")
    await expect(page.locator("article.moved")).to_contain_text("@Dan Fox has joined the channel")
    await say(page, "/leave")

    await expect(page).not_to_have_url(re.compile(OPS))
