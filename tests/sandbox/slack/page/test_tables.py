"""The data table as a person uses it: sorted by its headings, page by page, with buttons in its cells."""

from __future__ import annotations

from typing import Any, Final

import pytest
from playwright.async_api import Browser, Locator, expect

from sandbox.slack.story import Person
from tests.sandbox.slack.desk import ALICE, OPS, Desk, words
from tests.sandbox.slack.page.test_page import opened

NAMES: Final = ["Old shop", "apples", "Blog"]
"""In the order of the app; by letters, whatever their case, the middle one is first."""


def text(value: str) -> dict[str, Any]:
    return {"type": "raw_text", "text": value}


def table(names: list[str], **more: Any) -> dict[str, Any]:
    rows = [
        [
            text(name),
            {"type": "raw_number", "value": 9 + at, "text": f"{9 + at} clicks"},
            {
                "type": "action",
                "element": {"type": "button", "text": words("Show"), "action_id": f"show.{at}", "value": name},
                "fallback": text("Show"),
            },
        ]
        for at, name in enumerate(names)
    ]
    head = [text("Rule"), text("Clicks"), text("Details")]
    return {"type": "data_table", "block_id": "rules", "caption": "3 rules", "rows": [head, *rows], **more}


async def test_a_button_in_a_cell_says_which_row_it_stands_in(desk: Desk) -> None:
    await desk.call("chat.postMessage", channel=OPS, text="Rules", blocks=[table(NAMES)])
    alice = Person(desk.slack, ALICE, OPS)
    message = await alice.sees("Old shop | 9 clicks | [Show]")
    await alice.clicks(message, "show.1")

    sent = desk.last("block_actions")
    (action,) = sent["actions"]
    assert (action["block_id"], action["action_id"], action["value"]) == ("rules", "show.1", "apples")
    assert sent["message"]["blocks"][0]["rows"][2][0] == text("apples")


async def test_a_button_without_an_id_gets_one(desk: Desk) -> None:
    button = {"type": "button", "text": words("Show")}
    rows = [[text("Rule")], [{"type": "action", "element": button}]]
    answer = await desk.call(
        "chat.postMessage", channel=OPS, text="x", blocks=[{"type": "data_table", "caption": "x", "rows": rows}]
    )
    assert answer["message"]["blocks"][0]["rows"][1][0]["element"]["action_id"]


async def first_cells(shown: Locator) -> list[str]:
    return await shown.locator("tbody th").all_inner_texts()


@pytest.mark.browser
async def test_a_table_is_sorted_by_its_headings_with_the_keyboard(browser: Browser, desk: Desk) -> None:
    await desk.call("chat.postMessage", channel=OPS, text="Rules", blocks=[table(NAMES)])
    page = await opened(browser, desk)
    shown = page.get_by_role("table", name="3 rules")
    assert await first_cells(shown) == NAMES
    await shown.get_by_role("button", name="Rule").focus()
    await page.keyboard.press("Enter")
    assert await first_cells(shown) == ["apples", "Blog", "Old shop"]
    await page.keyboard.press("Enter")
    assert await first_cells(shown) == ["Old shop", "Blog", "apples"]
    await shown.get_by_role("button", name="Clicks").click()
    assert await first_cells(shown) == NAMES  # 9 comes before 10
    await expect(shown.get_by_role("columnheader", name="Clicks")).to_have_attribute("aria-sort", "ascending")
    await expect(shown.get_by_role("columnheader", name="Details").get_by_role("button")).to_have_count(0)

    async with page.expect_response("**/_local/action"):
        await shown.get_by_role("row", name="Blog").get_by_role("button", name="Show").click()
    assert desk.last("block_actions")["actions"][0]["value"] == "Blog"


@pytest.mark.browser
async def test_a_long_table_has_pages_and_stays_within_a_phone(browser: Browser, desk: Desk) -> None:
    names = [f"Rule {at}" for at in range(7)] + ["x" * 90]
    await desk.call("chat.postMessage", channel=OPS, text="Rules", blocks=[table(names)])
    page = await opened(browser, desk, width=390)
    shown = page.get_by_role("table", name="3 rules")
    assert await first_cells(shown) == names[:5]
    later = page.get_by_role("button", name="Later rows")
    await later.focus()
    await page.keyboard.press("Enter")
    assert await first_cells(shown) == names[5:]
    await expect(page.get_by_text("6–8 of 8")).to_be_visible()
    await expect(later).to_be_disabled()
    await expect(page.get_by_role("button", name="Earlier rows")).to_be_focused()
    assert await page.evaluate("document.documentElement.scrollWidth") <= 390
