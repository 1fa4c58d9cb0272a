"""What was not understood is counted for those who can do something about it, without saying who or what it was about."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from bot.store.tables import misses
from sandbox.demo import Sandbox
from sandbox.slack.story import Person

SECRET = "zed@example.com"
READERS = """
[roles.all]
users = ["U0ALICE01", "U0BOB0001"]
may = ["rule.*", "member.*"]

[roles.leads]
users = ["U0CARA001"]
may = ["read"]
"""


async def test_an_admin_sees_what_was_not_understood_and_how_often(
    workspace: Sandbox, alice: Person, cara: Person
) -> None:
    for text in (
        "/rules frobnicate",
        "/rules Frobnicate",
        f"/members grant {SECRET}",
        "/rules list",
        "/rules show 99",
    ):
        await alice.says(text)
    await alice.types("@gatehouse xyzzy")
    await alice.sees("xyzzy")

    shown = cara.slack_text(await cara.says("/gatehouse misses"))

    assert [line.partition(", last")[0] for line in shown.splitlines()[1:-1]] == [
        "`/rules frobnicate`  2 times",
        "`@Gatehouse xyzzy`  1 time",
        "`/members grant <email>`  1 time",
    ]
    assert "[aliases]" in shown
    async with workspace.bot.gatehouse.store.session.reading() as connection:
        stored = list(await connection.scalars(sa.select(misses.c.text)))
    assert not any(SECRET in text for text in stored)


async def test_nothing_was_misunderstood(workspace: Sandbox, cara: Person) -> None:
    assert "was understood" in cara.slack_text(await cara.says("/gatehouse misses"))


@pytest.mark.policy(READERS)
async def test_who_may_not_read_the_audit_may_not_read_them(workspace: Sandbox, alice: Person, cara: Person) -> None:
    await alice.says("/rules frobnicate")

    refused = alice.slack_text(await alice.says("/gatehouse misses"))

    assert "frobnicate" not in refused
    assert "`/rules frobnicate`" in cara.slack_text(await cara.says("/gatehouse misses"))
