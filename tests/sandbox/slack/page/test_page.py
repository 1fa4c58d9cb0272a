"""The page in Chromium, before the real local Slack, with an app of a few lines on its other side."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest
from playwright.async_api import Browser, Page, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sandbox.serving import serving
from sandbox.slack.running import TOKEN, LocalSlack, running_slack

OPS = "C0OPS0001"
ALICE, BOB = "U0ALICE01", "U0BOB0001"
MANIFEST = {
    "features": {"slash_commands": [{"command": "/desk", "description": "Ask", "usage_hint": "[list | new]"}]},
    "oauth_config": {"scopes": {"bot": ["commands", "chat:write"]}},
}

pytestmark = pytest.mark.browser

Answer = Callable[[dict[str, Any]], Awaitable[Any]]


@dataclass
class Desk:
    """An app that answers as a test says, and remembers what it was sent."""

    slack: LocalSlack
    http: httpx.AsyncClient
    heard: list[dict[str, Any]] = field(default_factory=list)
    on: dict[str, Answer] = field(default_factory=dict)

    async def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        answer = await self.http.post(
            f"{self.slack.api_url}{method}", json=arguments, headers={"Authorization": f"Bearer {TOKEN}"}
        )
        assert answer.json()["ok"], answer.text
        return dict(answer.json())

    async def endpoint(self, request: Request) -> Response:
        sent = {name: texts[0] for name, texts in parse_qs((await request.body()).decode()).items()}
        payload = json.loads(sent["payload"]) if "payload" in sent else {**sent, "type": "command"}
        self.heard.append(payload)
        answer = await self.on[payload["type"]](payload) if payload["type"] in self.on else None
        return Response() if answer is None else JSONResponse(answer)

    def last(self, kind: str) -> dict[str, Any]:
        return next(payload for payload in reversed(self.heard) if payload["type"] == kind)


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(running_slack(MANIFEST))
        found = Desk(slack, await stack.enter_async_context(httpx.AsyncClient(trust_env=False)))
        app = Starlette(routes=[Route("/", found.endpoint, methods=["POST"])])
        slack.delivery.url = await stack.enter_async_context(serving(app))
        yield found


async def opened(browser: Browser, desk: Desk, user: str = ALICE, channel: str = OPS) -> Page:
    page = await browser.new_page()
    page.on("pageerror", lambda error: pytest.fail(f"the page raised {error}"))
    await page.goto(f"{desk.slack.page_url}/?user={user}&channel={channel}")
    await expect(page.get_by_role("textbox", name=re.compile("^Message"))).to_be_visible()
    return page


async def say(page: Page, text: str) -> None:
    box = page.get_by_role("textbox", name=re.compile("^Message"))
    await box.fill(text)
    await box.press("Enter")


def words(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


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


async def test_a_question_before_the_click(browser: Browser, desk: Desk) -> None:
    question = {
        "title": words("Sure?"),
        "text": words("It goes."),
        "confirm": words("Delete it"),
        "deny": words("Keep it"),
    }
    button = {"type": "button", "action_id": "go", "text": words("Delete"), "value": "x1", "confirm": question}
    block = {"type": "actions", "block_id": "acts", "elements": [button]}
    card = await desk.call("chat.postMessage", channel=OPS, text="A rule", blocks=[block])

    async def result(click: dict[str, Any]) -> None:
        assert click["actions"][0]["value"] == "x1"
        done = {"type": "section", "text": {"type": "mrkdwn", "text": "*Deleted*"}}
        await desk.call("chat.update", channel=OPS, ts=card["ts"], text="Deleted", blocks=[done])

    desk.on = {"block_actions": result}
    page = await opened(browser, desk)
    await page.get_by_role("button", name="Delete", exact=True).click()
    await page.get_by_role("button", name="Keep it").click()
    await expect(page.get_by_role("alertdialog")).to_have_count(0)
    assert desk.heard == []

    await page.get_by_role("button", name="Delete", exact=True).click()
    await page.get_by_role("button", name="Delete it").click()
    await expect(page.get_by_text("Deleted", exact=True)).to_be_visible()
    assert len(desk.heard) == 1


async def test_a_private_answer_is_seen_by_one_person(browser: Browser, desk: Desk) -> None:
    async def answer(_: dict[str, Any]) -> dict[str, Any]:
        return {"text": "Just for *you*"}

    desk.on = {"command": answer}
    alice, bob = await opened(browser, desk), await opened(browser, desk, BOB)
    await say(alice, "/desk list")
    message = alice.get_by_role("article").filter(has_text="Just for you")
    await expect(message.get_by_text("Only visible to you")).to_be_visible()

    await say(alice, "anybody there?")
    await expect(bob.get_by_text("anybody there?")).to_be_visible()
    await expect(bob.get_by_text("Just for")).to_have_count(0)


async def test_one_click_makes_somebody_else(browser: Browser, desk: Desk) -> None:
    page = await opened(browser, desk)
    await page.get_by_role("radio", name=re.compile("Bob Ortiz")).click()
    await expect(page.get_by_text("Acting as Bob Ortiz")).to_be_visible()
    async with page.expect_response("**/_local/say"):
        await say(page, "/desk list")
    assert desk.last("command")["user_id"] == BOB
    assert f"user={BOB}" in page.url


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


async def test_five_hundred_messages_are_read_in_pages(browser: Browser, desk: Desk) -> None:
    for number in range(500):
        await desk.slack.acting.say(ALICE, OPS, f"number {number}.")
    page = await opened(browser, desk)
    await expect(page.get_by_text("number 499.")).to_be_in_viewport()
    assert await page.get_by_role("article").count() <= 100
    scroller = page.get_by_role("region", name="Messages")
    for _ in range(4):
        count = await page.locator(".entry").count()
        await scroller.evaluate("(node) => { node.scrollTop = -node.scrollHeight }")
        await expect(page.locator(".entry")).to_have_count(count + 100)
    await scroller.evaluate("(node) => { node.scrollTop = -node.scrollHeight }")
    await expect(page.get_by_text("number 0.")).to_be_in_viewport()
    texts = await page.locator(".said").all_text_contents()
    assert texts == [f"number {number}." for number in range(500)]
