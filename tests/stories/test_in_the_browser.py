"""The whole of it, as a newcomer meets it: in the browser, through the real bot, down to the services.

With ``SCREENSHOTS=folder`` the pictures of README and docs are made on the way.
"""

from __future__ import annotations

import asyncio
import os
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from sandbox.demo import Sandbox
from tests.conftest import Clock
from tests.harness.moving import Frame, make_animation

pytestmark = pytest.mark.browser


async def picture(shown: Page | Locator, name: str) -> None:
    """Take a picture of a page, or of one message in a page that is as narrow as what it is shown beside."""
    if folder := os.environ.get("SCREENSHOTS"):
        page = shown if isinstance(shown, Page) else shown.page
        size = page.viewport_size
        if not isinstance(shown, Page):
            await page.set_viewport_size({"width": 960, "height": 900})
        await shown.screenshot(path=Path(folder) / f"{name}.png")
        if size is not None:
            await page.set_viewport_size(size)


async def opened(browser: Browser, workspace: Sandbox, who: str, channel: str, **options: object) -> Page:
    options = {"device_scale_factor": 2, **options} if "SCREENSHOTS" in os.environ else options
    page = await browser.new_page(viewport={"width": 1200, "height": 780}, **options)  # type: ignore[arg-type]  # playwright's own options
    page.on("pageerror", lambda error: pytest.fail(f"the page raised {error}"))
    await page.goto(f"{workspace.slack.page_url}/?user={who}&channel={channel}")
    return page


async def say(page: Page, text: str) -> None:
    box = page.get_by_role("textbox", name="Message")
    await box.fill(text)
    await box.press("Escape")
    await box.press("Enter")


async def test_a_rule_from_its_making_to_its_end(browser: Browser, workspace: Sandbox) -> None:
    page = await opened(browser, workspace, "U0ALICE01", "C0OPS0001")
    await say(page, "/rules list checkout")
    await expect(page.get_by_text("Only visible to you").first).to_be_visible()
    await expect(page.get_by_role("button", name="Show").first).to_be_visible()

    await say(page, "/rules new https://shop.example.com/sale to nonsense")
    form = page.get_by_role("dialog", name="New rule")
    await form.get_by_label("Name").fill("Spring sale")
    await form.get_by_role("button", name="Create").click()
    await expect(form.get_by_text("Enter a full URL")).to_be_visible()
    await form.get_by_label("To", exact=True).fill("https://shop.example.com/outlet")
    await form.get_by_role("button", name="Create").click()
    await expect(form).to_be_hidden()

    card = page.get_by_role("article").filter(has_text="“Spring sale” created")
    await expect(card).to_be_visible()
    made = next(rule for rule in workspace.services.rules.all() if rule["name"] == "Spring sale")

    await say(page, f"/rules delete {made['id']} because the sale has ended")
    card = page.get_by_role("article").filter(has_text="Delete “Spring sale”?")
    await expect(card.get_by_role("button", name="Deny…")).to_be_visible()
    await picture(card, "delete-card")

    await approve(page)
    await expect(page.get_by_text("someone else has to approve it")).to_be_visible()
    assert workspace.services.rules.get(made["id"]) is not None

    cara = await opened(browser, workspace, "U0CARA001", "C0OPS0001")
    await approve(cara)
    deleted = page.get_by_role("article").filter(has_text="“Spring sale” deleted")
    await expect(deleted).to_be_visible()
    await picture(deleted, "result-card")
    assert workspace.services.rules.get(made["id"]) is None

    await deleted.get_by_role("button", name="Undo").click()
    await expect(page.get_by_role("article").filter(has_text="Undone by")).to_be_visible()
    assert any(rule["name"] == "Spring sale" for rule in workspace.services.rules.all())


async def approve(page: Page) -> None:
    card = page.get_by_role("article").filter(has_text="Delete “Spring sale”?")
    await card.get_by_role("button", name="Approve deletion").click()
    await page.get_by_role("alertdialog").get_by_role("button", name="Approve deletion").click()


@pytest.mark.parametrize(("agents", "transport"), [(True, "http")])
async def test_what_slackbot_proposes_is_requested_and_approved(browser: Browser, workspace: Sandbox) -> None:
    page = await opened(browser, workspace, "U0ALICE01", "C0OPS0001", color_scheme="dark")
    await page.get_by_role("button", name="Slackbot", exact=True).click()
    panel = page.get_by_role("complementary", name="Slackbot")
    await panel.get_by_role("button", name="propose to delete a rule").click()
    await panel.get_by_role("button", name="Deny").click()
    await expect(panel.get_by_text("You denied the call")).to_be_visible()
    await page.set_viewport_size({"width": 390, "height": 820})
    await panel.get_by_role("button", name="Allow once").click()
    await expect(panel.get_by_role("status").get_by_text("Old shop")).to_be_visible()
    assert not await page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert workspace.services.rules.calls("DELETE") == []

    direct = next(
        one.id for one in workspace.slack.state.channels.values() if one.kind == "im" and "U0ALICE01" in one.members
    )
    page = await opened(browser, workspace, "U0ALICE01", direct)
    proposal = page.get_by_role("article").filter(has=page.get_by_role("button", name="Request it"))
    await picture(proposal, "proposal")
    await proposal.get_by_role("button", name="Request it").click()

    cara = await opened(browser, workspace, "U0CARA001", "C0OPS0001")
    await cara.get_by_role("button", name="Approve deletion").click()
    await cara.get_by_role("alertdialog").get_by_role("button", name="Approve deletion").click()
    await expect(cara.get_by_role("article").filter(has_text="deleted")).to_be_visible()
    assert workspace.services.rules.get("Redirect_x1old") is None


async def test_a_request_is_denied_with_a_reason(browser: Browser, workspace: Sandbox) -> None:
    page = await opened(browser, workspace, "U0ALICE01", "C0OPS0001")
    await say(page, "/rules delete Redirect_x1old")
    await expect(page.get_by_role("button", name="Deny…")).to_be_visible()

    cara = await opened(browser, workspace, "U0CARA001", "C0OPS0001")
    await cara.get_by_role("button", name="Deny…").click()
    form = cara.get_by_role("dialog", name="Deny")
    await form.get_by_label("Reason").fill("The newsletter still links there")
    await form.get_by_role("button", name="Deny").click()

    await expect(page.get_by_text("The newsletter still links there")).to_be_visible()
    assert workspace.services.rules.calls("DELETE") == []


async def test_where_an_address_goes_and_what_is_wrong_with_the_rules(browser: Browser, workspace: Sandbox) -> None:
    page = await opened(browser, workspace, "U0ALICE01", "C0OPS0001")
    await say(page, "/rules which https://shop.example.com/old")
    where = page.get_by_role("article").filter(has_text="redirects to")
    await expect(where).to_be_visible()

    await say(page, "/rules check")
    answer = page.get_by_role("article").filter(has_text="3 findings")
    await expect(answer).to_be_visible()
    await answer.get_by_role("button", name="Switch off").first.click()
    await expect(page.get_by_role("dialog").get_by_role("button", name="Switch off", exact=True)).to_be_visible()


async def test_why_somebody_does_not_get_in_and_letting_them_in(browser: Browser, workspace: Sandbox) -> None:
    page = await opened(browser, workspace, "U0BOB0001", "C0SUPPORT")
    await say(page, "/members why anna.berg@example.com vip")
    answer = page.get_by_role("article").filter(has_text="is on blog but lacks")
    await expect(answer).to_be_visible()

    await page.get_by_role("button", name="Grant vip on blog…").click()
    await page.get_by_role("dialog").get_by_role("button", name="Grant access").click()
    await expect(page.get_by_role("article").filter(has_text="has access to")).to_be_visible()


async def test_the_menu_of_a_message(browser: Browser, workspace: Sandbox) -> None:
    page = await opened(browser, workspace, "U0ALICE01", "C0OPS0001")
    await say(page, "who sends https://shop.example.com/old to nowhere?")
    message = page.get_by_role("article").filter(has_text="who sends")
    await message.hover()
    await message.get_by_role("button", name="More actions for this message").click()
    await page.get_by_role("menuitem", name="Look this up").click()
    await expect(page.get_by_role("article").filter(has_text="Old shop to new shop")).to_be_visible()


async def test_a_member_on_a_phone_in_the_dark(browser: Browser, workspace: Sandbox) -> None:
    page = await opened(browser, workspace, "U0BOB0001", "C0SUPPORT", color_scheme="dark")
    await page.set_viewport_size({"width": 400, "height": 820})
    await say(page, "/members show anna.berg@example.com")
    await expect(page.get_by_text("anna.berg@example.com").first).to_be_visible()

    await say(page, "/members grant anna.berg@example.com vip because she paid")
    await expect(page.get_by_role("article").filter(has_text="has access to")).to_be_visible()
    await picture(page, "phone-dark")

    member = workspace.services.members.get("site_1", "anna.berg@example.com")
    assert member is not None
    assert "vip" in member["allowedSegments"]


async def test_buttons_with_long_labels_are_as_high_as_others_on_a_phone(browser: Browser, workspace: Sandbox) -> None:
    page = await opened(browser, workspace, "U0ALICE01", "C0OPS0001")
    await page.set_viewport_size({"width": 390, "height": 844})
    await say(page, "/rules check")
    buttons = page.get_by_role("article").get_by_role("button", name="Switch off")
    await expect(buttons).to_have_count(6)

    boxes = [await button.bounding_box() for button in await buttons.all()]
    assert len({box["height"] for box in boxes if box}) == 1
    assert all(box and box["x"] + box["width"] <= 390 for box in boxes)


@pytest.mark.parametrize(
    ("scene", "command", "answer"),
    [
        ("Rules service is down", "/rules list", "The rules service"),
        ("Answer lost after the write", "/rules off Help centre for 2h", "“Help centre moved” is off"),
        ("Slack is slow", "/rules off Login for 2h", "“Login without www” is off"),
    ],
)
async def test_a_scene_breaks_it_with_one_click_and_another_mends_it(
    browser: Browser, workspace: Sandbox, scene: str, command: str, answer: str
) -> None:
    page = await opened(browser, workspace, "U0ALICE01", "C0OPS0001")
    await page.get_by_role("button", name="Break it").click()
    button = page.get_by_role("group", name="Scenes").get_by_role("button", name=scene)
    await button.click()
    await expect(button).to_have_attribute("aria-pressed", "true")
    await say(page, command)
    await expect(page.get_by_role("article").filter(has_text=answer)).to_have_count(1)
    assert len(workspace.services.rules.calls("PUT")) == ("off" in command)

    if scene != "Answer lost after the write":  # that one is over with the one answer that it loses
        await button.click()
    await expect(button).to_have_attribute("aria-pressed", "false")
    assert workspace.slack.delivery.lag == 0
    await say(page, "/rules show Old shop")
    await expect(page.get_by_role("article").filter(has_text="Since the relaunch in May")).to_have_count(1)


SUGGESTED = [
    (
        "C0OPS0001",
        ["shop.example.com/new", "“Old shop to new shop” is off", "Delete “Old shop to new shop”?", "3 findings"],
    ),
    ("C0SUPPORT", ["but lacks “vip”", "from every site?", "20 members", "What do you want to do?"]),
]


@pytest.mark.parametrize(("channel", "answers"), SUGGESTED)
async def test_every_suggestion_is_answered(
    browser: Browser, workspace: Sandbox, channel: str, answers: list[str]
) -> None:
    page = await opened(browser, workspace, "U0ALICE01", channel)
    suggestions = page.get_by_role("group", name="Things to try").get_by_role("button")
    await expect(suggestions).to_have_count(len(answers))
    for number, answer in enumerate(answers):
        await suggestions.nth(number).click()
        await expect(page.get_by_role("article").filter(has_text=answer)).to_be_visible()


async def test_three_in_the_morning(browser: Browser, workspace: Sandbox, clock: Clock) -> None:
    """What README shows first: where a URL goes, the rule off for two hours, and back on by itself."""
    page = await opened(browser, workspace, "U0ALICE01", "C0OPS0001", device_scale_factor=2)
    await page.set_viewport_size({"width": 860, "height": 560})
    box, frames = page.get_by_role("textbox", name="Message"), list[Frame]()

    async def still(seconds: float) -> None:
        if "SCREENSHOTS" in os.environ:
            frames.append(Frame(await page.screenshot(), seconds))

    async def types(text: str) -> None:
        for end in (len(text) // 2, len(text)):
            await box.fill(text[:end])
            await box.press("Escape")
            await still(0.6)
        await box.press("Enter")

    await still(0.8)
    await types("/rules which https://shop.example.com/old")
    await expect(page.get_by_text("redirects to").first).to_be_visible()
    await still(3)
    await types("/rules off Old shop for 2h because checkout loops")
    await expect(page.get_by_text("is off until").first).to_be_visible()
    await still(3)
    clock.ahead += timedelta(hours=2, minutes=1)
    workspace.bot.wake_workers()
    await expect(page.get_by_text("is back on").first).to_be_visible()
    await still(3.5)

    if folder := os.environ.get("SCREENSHOTS"):
        await asyncio.to_thread(Path(folder, "three-in-the-morning.png").write_bytes, make_animation(frames))
