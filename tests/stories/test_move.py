"""Somebody writes from a new email: one card moves them, and nobody is lost in between."""

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
        (OLD, "To which email?"),
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
    assert change.bulk.purpose is not None
    assert change.bulk.purpose.about == "Anna Berg", "the card names the person, not the email"
    assert ["docs" in line for line in change.request.warnings] == [True]
    assert alice.slack_text(card).count("Warning:") == 2


async def test_an_addition_that_fails_removes_nothing_and_is_tried_again(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    workspace.services.members.stage.faults.add("refused_200", method="POST", times=9)
    await approve_card(cara, await alice.says(MOVE))
    failed = await alice.sees_set(failed=2)
    assert "Nothing was changed" in alice.slack_text(failed)
    assert there(workspace)[0] is not None

    workspace.services.members.stage.faults.clear()
    await alice.clicks(failed, "Try again")
    await approve_card(cara, await alice.sees_change(state=State.PROPOSED))
    await alice.sees_set(applied=2)
    assert there(workspace)[0] is None
    assert "Anna Berg" in alice.slack_text(await alice.says(f"/gatehouse audit {NEW}"))


async def test_a_removal_that_fails_leaves_both_and_the_rest_can_be_tried_again(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    workspace.services.members.stage.faults.add("refused_200", method="DELETE", times=9)
    await approve_card(cara, await alice.says(MOVE))
    half = await alice.sees_set(applied=1, failed=1)
    assert None not in there(workspace)

    workspace.services.members.stage.faults.clear()
    await alice.clicks(half, "Retry the one that failed")
    await approve_card(cara, await alice.sees_change(state=State.PROPOSED))
    await alice.sees_set(applied=1, skipped=1)
    assert there(workspace)[0] is None
