"""Every element of a form, used as a person does, with the keyboard where that matters; and shortcuts and the Home tab."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, Page, Route, expect

from tests.sandbox.slack.desk import ALICE, OPS, Desk, words
from tests.sandbox.slack.page.test_page import opened, say

pytestmark = pytest.mark.browser

OPTIONS = [{"text": words(name), "value": name.lower()} for name in ("Red", "Green", "Blue")]


def field(name: str, kind: str, *, optional: bool = False, **element: Any) -> dict[str, Any]:
    entry = {"type": kind, "action_id": name, **element}
    return {"type": "input", "block_id": name, "label": words(name), "element": entry, "optional": optional}


def modal(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"type": "modal", "title": words("Form"), "submit": words("Send"), "blocks": list(blocks)}


async def shown(browser: Browser, desk: Desk, *blocks: dict[str, Any]) -> tuple[Page, Locator]:
    page = await opened(browser, desk)
    await desk.call("views.open", trigger_id=desk.slack.state.new_trigger(ALICE), view=modal(*blocks))
    dialog = page.get_by_role("dialog", name="Form")
    await expect(dialog).to_be_visible()
    return page, dialog


async def sent(desk: Desk, dialog: Locator) -> dict[str, Any]:
    await dialog.get_by_role("button", name="Send").click()
    await expect(dialog).to_have_count(0)
    values = desk.last("view_submission")["view"]["state"]["values"]
    return {block: answer[block] for block, answer in values.items()}


async def test_menus_are_used_with_the_keyboard(browser: Browser, desk: Desk) -> None:
    page, dialog = await shown(
        browser,
        desk,
        field("One", "static_select", options=OPTIONS),
        field("Many", "multi_static_select", options=OPTIONS),
        field("Place", "conversations_select"),
    )
    for name, typed in (("One", "gr"), ("Place", "supp")):
        box = dialog.get_by_role("combobox", name=name, exact=True)
        await box.click()
        await box.press_sequentially(typed)
        await expect(dialog.get_by_role("option")).to_have_count(1)
        await box.press("Enter")
    many = dialog.get_by_role("combobox", name="Many")
    await many.focus()
    await many.press("ArrowDown")
    await many.press("Enter")
    await many.press("ArrowDown")
    await many.press("ArrowDown")
    await many.press("Enter")
    await expect(dialog.get_by_role("button", name="Remove Blue")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_visible()

    values = await sent(desk, dialog)
    assert values["One"]["selected_option"]["value"] == "green"
    assert [one["value"] for one in values["Many"]["selected_options"]] == ["red", "blue"]
    assert values["Place"]["selected_conversation"] == "C0SUPPORT"


async def test_a_menu_that_asks_the_app_waits_until_enough_is_typed(browser: Browser, desk: Desk) -> None:
    async def offer(asked: dict[str, Any]) -> dict[str, Any]:
        return {"options": [{"text": words(f"{asked['value']} rule"), "value": asked["value"]}]}

    desk.on = {"block_suggestion": offer}
    page, dialog = await shown(browser, desk, field("Rule", "external_select", min_query_length=2))
    box = dialog.get_by_role("combobox", name="Rule")
    await box.click()
    await box.press_sequentially("c")
    await expect(dialog.get_by_text("Type 2 or more characters to search.")).to_be_visible()
    await box.press_sequentially("hk")
    await dialog.get_by_role("option", name="chk rule").click()

    asked = desk.all("block_suggestion")
    assert asked[-1]["value"] == "chk"
    assert len(asked) <= 2
    assert (await sent(desk, dialog))["Rule"]["selected_option"]["value"] == "chk"
    await page.close()


async def test_one_choice_and_a_long_text(browser: Browser, desk: Desk) -> None:
    _, dialog = await shown(
        browser,
        desk,
        field("Radio", "radio_buttons", options=OPTIONS),
        field("Long", "plain_text_input", multiline=True, min_length=5),
    )
    await dialog.get_by_role("radio", name="Green").check()
    await dialog.get_by_label("Long").press_sequentially("one")
    await dialog.get_by_role("button", name="Send").click()
    await expect(dialog.get_by_text("Please enter at least 5 characters")).to_be_visible()
    await expect(dialog.get_by_label("Long")).to_be_focused()
    await expect(dialog.get_by_label("Long")).to_have_attribute("aria-invalid", "true")
    await dialog.get_by_label("Long").press("Enter")
    await dialog.get_by_label("Long").press_sequentially("two")

    values = await sent(desk, dialog)
    assert values["Radio"]["selected_option"]["value"] == "green"
    assert values["Long"]["value"] == "one\ntwo"


async def test_focus_stays_in_a_form_and_comes_back(browser: Browser, desk: Desk) -> None:
    page, dialog = await shown(browser, desk, field("Name", "plain_text_input"))
    await expect(dialog.get_by_label("Name")).to_be_focused()
    for _ in range(8):
        await page.keyboard.press("Tab")
        assert await page.evaluate(
            "document.activeElement === document.body || !!document.activeElement.closest('dialog')"
        )
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await expect(page.get_by_role("textbox", name=re.compile("^Message"))).to_be_focused()


async def test_a_form_that_was_there_before_the_messages_leaves_the_focus_in_the_channel(
    browser: Browser, desk: Desk
) -> None:
    page, dialog = await shown(browser, desk, field("Name", "plain_text_input"))
    form_is_there = asyncio.Event()

    async def late(route: Route) -> None:
        await form_is_there.wait()
        await route.continue_()

    await page.route("**/_local/messages?*", late)
    await page.reload()
    await expect(dialog.get_by_label("Name")).to_be_focused()
    async with page.expect_response("**/_local/messages?*"):
        form_is_there.set()
    await expect(page.get_by_text("Welcome to #ops-traffic")).to_be_attached()
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await expect(page.get_by_role("textbox", name=re.compile("^Message"))).to_be_focused()


async def test_an_overflow_menu_by_keyboard(browser: Browser, desk: Desk) -> None:
    menu = {"type": "overflow", "action_id": "more", "options": OPTIONS}
    block = {"type": "section", "block_id": "row", "text": words("A rule"), "accessory": menu}
    await desk.call("chat.postMessage", channel=OPS, text="A rule", blocks=[block])
    page = await opened(browser, desk)
    button = page.get_by_role("button", name="More actions for A rule")
    await button.focus()
    await page.keyboard.press("Enter")
    await page.keyboard.press("ArrowDown")
    async with page.expect_response("**/_local/action"):
        await page.keyboard.press("Enter")
    assert desk.last("block_actions")["actions"][0]["selected_option"]["value"] == "green"
    await expect(button).to_be_focused()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("menu")).to_have_count(0)
    await expect(button).to_be_focused()


async def test_a_shortcut_of_a_message(browser: Browser, desk: Desk) -> None:
    async def open_form(payload: dict[str, Any]) -> None:
        await desk.call("views.open", trigger_id=payload["trigger_id"], view=modal(field("Name", "plain_text_input")))

    desk.on = {"message_action": open_form}
    page = await opened(browser, desk)
    await say(page, "Keep this in mind")
    message = page.get_by_role("article").filter(has_text="Keep this in mind")
    await message.hover()
    await message.get_by_role("button", name="More actions for this message").click()
    await page.get_by_role("menuitem", name="Keep Keep this message").click()
    await expect(page.get_by_role("dialog", name="Form")).to_be_visible()
    assert desk.last("message_action")["message"]["text"] == "Keep this in mind"


async def test_the_home_tab_is_drawn_and_used(browser: Browser, desk: Desk) -> None:
    async def publish(_: dict[str, Any]) -> None:
        button = {"type": "button", "action_id": "go", "text": words("Go"), "value": "1"}
        view = {"type": "home", "blocks": [{"type": "actions", "block_id": "row", "elements": [button]}]}
        await desk.call("views.publish", user_id=ALICE, view=view)

    desk.on = {"event_callback": publish}
    page = await opened(browser, desk)
    await page.get_by_role("button", name="Home tab").click()
    async with page.expect_response("**/_local/action"):
        await page.get_by_role("region", name="Home tab").get_by_role("button", name="Go").click()
    assert desk.last("block_actions")["view"]["type"] == "home"


async def test_a_person_is_mentioned_by_a_few_letters(browser: Browser, desk: Desk) -> None:
    page = await opened(browser, desk)
    box = page.get_by_role("textbox", name=re.compile("^Message"))
    await box.press_sequentially("Ask @bo")
    await expect(page.get_by_role("option", name=re.compile("Bob Ortiz"))).to_have_attribute("aria-selected", "true")
    await box.press("Enter")
    await expect(box).to_have_value("Ask @bob ")
    await box.press("Enter")
    await expect(page.get_by_role("article").get_by_text("@Bob Ortiz")).to_be_visible()
    assert desk.slack.state.messages[-1].text.strip() == "Ask <@U0BOB0001>"


async def test_a_user_group_is_shown_by_its_name(browser: Browser, desk: Desk) -> None:
    page = await opened(browser, desk)

    await desk.call("chat.postMessage", channel=OPS, text="Wake up, <!subteam^S0ONCALL>!")

    await expect(page.get_by_text("@oncall", exact=True)).to_have_count(1)
    await page.close()
