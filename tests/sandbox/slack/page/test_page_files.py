"""Files on the page: saved from a message, picked for a form."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from sandbox.slack.story import Person
from tests.sandbox.slack.conftest import installed
from tests.sandbox.slack.desk import ALICE, MANIFEST, OPS, Desk, words
from tests.sandbox.slack.page.test_page import opened, say

pytestmark = pytest.mark.browser


@pytest.fixture
async def filer() -> AsyncIterator[Desk]:
    scopes = {"bot": ["channels:history", "commands", "files:read"]}
    async with installed(MANIFEST | {"oauth_config": {"scopes": scopes}}) as desk:
        yield desk


async def test_a_file_of_a_message_is_saved_by_its_link(browser: Browser, filer: Desk) -> None:
    await Person(filer.slack, ALICE, OPS).uploads("rules.json", b"[1, 2]" * 400, "the rules")
    page = await opened(browser, filer)

    link = page.get_by_role("link", name="Download rules.json, 2.4 KB")
    async with page.expect_download() as saving:
        await link.click()

    saved = await saving.value
    assert saved.suggested_filename == "rules.json"
    assert Path(await saved.path()).read_bytes() == b"[1, 2]" * 400


async def open_form(browser: Browser, filer: Desk) -> Page:
    """A page with a form that takes a JSON file."""

    async def show_form(command: dict[str, Any]) -> None:
        element = {"type": "file_input", "action_id": "file.pick", "filetypes": ["json"], "max_files": 1}
        block = {"type": "input", "block_id": "file", "label": words("Rules"), "element": element}
        view = {"type": "modal", "title": words("Import"), "submit": words("Go"), "blocks": [block]}
        await filer.call("views.open", trigger_id=command["trigger_id"], view=view)

    filer.on["command"] = show_form
    page = await opened(browser, filer)
    await say(page, "/desk")
    await expect(page.get_by_label("Rules")).to_be_visible()
    return page


async def test_a_file_is_picked_in_a_form_and_a_wrong_one_refused(browser: Browser, filer: Desk) -> None:
    page = await open_form(browser, filer)
    field = page.get_by_label("Rules")
    await field.set_input_files({"name": "cat.png", "mimeType": "image/png", "buffer": b"meow"})
    await expect(page.get_by_text("Only these files: json.")).to_be_visible()
    await page.get_by_role("button", name="Go", exact=True).click()
    await expect(page.get_by_text("Please complete this required field.")).to_be_visible()

    await field.set_input_files({"name": "rules.json", "mimeType": "application/json", "buffer": b"[]"})
    await expect(page.get_by_text("rules.json, 2 bytes")).to_be_visible()
    await page.get_by_role("button", name="Go", exact=True).click()
    await expect(field).to_be_hidden()

    (chosen,) = filer.last("view_submission")["view"]["state"]["values"]["file"]["file.pick"]["files"]
    assert (chosen["name"], chosen["size"]) == ("rules.json", 2)
