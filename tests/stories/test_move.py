"""Somebody writes from a new email: it is added, and its card offers to remove the old one."""

from __future__ import annotations

import pytest

from bot.changes.model.states import State
from sandbox.demo import Sandbox
from sandbox.services.database import Record
from tests.harness.colleague import Colleague
from tests.harness.looking import approve_card

SITE = "site_1"
OLD, NEW = "anna.berg@example.com", "anna@new.example"
MOVE = f"/members move {OLD} to {NEW} because she wrote from there"


def there(workspace: Sandbox) -> tuple[Record | None, Record | None]:
    old, new = (workspace.services.members.get(SITE, email) for email in (OLD, NEW))
    return old, new


async def test_a_site_that_could_not_be_asked_is_told(workspace: Sandbox, alice: Colleague) -> None:
    workspace.services.members.stage.faults.add("500", path="site_2", times=9)

    assert "docs couldn’t be read" in alice.slack_text(await alice.says(MOVE))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{OLD} to {OLD}", "already"),
        (f"{OLD} to Anna.Berg@Example.com", "same person"),
        (f"{OLD} to BEN.costa@example.com", "ben.costa@example.com"),
        (f"nobody@example.com to {NEW}", "not a member"),
        (f"{OLD} to anna", "email"),
    ],
)
async def test_what_cannot_be_moved_is_refused_in_words(
    workspace: Sandbox, alice: Colleague, text: str, said: str
) -> None:
    reply = await alice.is_refused(f"/members move {text}")

    assert said in alice.slack_text(reply)
    assert there(workspace)[0] is not None


@pytest.mark.parametrize(
    ("text", "said"), [("beta for 2h", "temporary change"), ("beta tomorrow 9:00", "planned change")]
)
async def test_what_is_still_to_happen_by_itself_is_not_lost_with_the_old_email(
    workspace: Sandbox, bob: Colleague, alice: Colleague, text: str, said: str
) -> None:
    card = await bob.says(f"/members grant {OLD} {text}")
    await bob.change_of(card)

    assert said in alice.slack_text(await alice.is_refused(MOVE))
    assert there(workspace)[1] is None


async def test_who_stays_elsewhere_and_what_looks_like_another_email_is_warned_of(
    workspace: Sandbox, alice: Colleague
) -> None:
    workspace.services.members.put("site_2", {"email": OLD, "name": "Anna Berg", "allowedSegments": ["free"]})
    cyrillic = "\N{CYRILLIC SMALL LETTER A}nna.berg@new.example"

    card = await alice.says(f"/members move {OLD} to {cyrillic}")

    change = await alice.change_of(card)
    assert OLD not in str(card.blocks), "neither the card nor its buttons have the whole email"
    assert ["docs" in line for line in change.request.warnings] == [True]
    assert alice.slack_text(card).count("Warning:") == 2


async def test_the_old_one_is_removed_on_the_card_by_a_change_with_its_own_guard(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    card = await alice.says(MOVE)
    await alice.sees_change(of=NEW)
    old, new = there(workspace)
    assert old is not None
    assert new is not None
    assert old["allowedSegments"] == new["allowedSegments"]

    await alice.clicks(card, "Remove the old one")
    asked = await alice.sees_change(state=State.PROPOSED)
    assert there(workspace)[0] is not None, "it has its own guard"
    await approve_card(cara, asked)
    await alice.sees_change(of=OLD)
    assert there(workspace)[0] is None
    assert there(workspace)[1] is not None

    await alice.clicks(card, "Undo", confirm=True)
    await alice.sees_problem("the member would have neither")
    assert there(workspace)[1] is not None
