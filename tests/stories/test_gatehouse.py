"""Help, status, who am I."""

from __future__ import annotations

from sandbox.demo import Sandbox
from sandbox.slack.story import Person


async def test_help_lists_what_works(workspace: Sandbox, alice: Person) -> None:
    reply = await alice.says("/gatehouse help")

    text = alice.slack_text(reply)
    assert "/rules list" in text
    assert "/members grant" in text
    assert "/rules import" not in text, "what is not built is not promised"


async def test_help_about_one_command_gives_its_example(workspace: Sandbox, alice: Person) -> None:
    reply = await alice.says("/rules help off")

    assert "/rules off #1 because it loops" in alice.slack_text(reply)


async def test_menus_have_buttons_that_work(workspace: Sandbox, alice: Person) -> None:
    menu = await alice.says("/rules")

    await alice.clicks(menu, "Only active")

    await alice.sees("status `active`")


async def test_status_tells_what_answers(workspace: Sandbox, alice: Person) -> None:
    reply = await alice.says("/gatehouse status")
    assert "Everything answers" in alice.slack_text(reply)

    workspace.services.rules.stage.faults.add("500", times=9)
    reply = await alice.says("/gatehouse status")
    assert "does not answer" in alice.slack_text(reply)


async def test_whoami_names_the_caller(workspace: Sandbox, alice: Person) -> None:
    reply = await alice.says("/gatehouse whoami")

    assert alice.id in str(reply.blocks)


async def test_a_typo_offers_the_nearest_command_as_a_button(workspace: Sandbox, alice: Person) -> None:
    reply = await alice.says("/rules lsit checkout")

    await alice.clicks(reply, "Did you mean /rules list checkout?")

    await alice.sees("4 rules")
