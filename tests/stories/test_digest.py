"""The digest: who did what and why, what waits for whom, and what comes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.changes.model.states import State
from bot.store.audit import Entry, Filters
from handlers.gatehouse import digest_view
from sandbox.demo import Sandbox
from tests.conftest import OPS
from tests.drills.fleet import until as eventually
from tests.harness.colleague import Colleague

OLD, NAME = "Redirect_x1old", "Old shop to new shop"
ANNA = "anna.berg@example.com"


async def test_who_comes_on_call_reads_what_was_done_and_why_what_waits_and_what_comes(
    workspace: Sandbox, alice: Colleague
) -> None:
    assert "\n" not in alice.slack_text(await alice.says("/gatehouse digest 12h")).partition("[")[0].strip()
    bob = Colleague(workspace, "U0BOB0001", OPS)
    await alice.types(f"/rules off {OLD} for 2h because {ANNA} sees the old page")
    await alice.sees_change()
    await bob.types("/rules delete Redirect_chk01 because of the audit")
    await bob.sees_change(state=State.PROPOSED)
    await bob.types("/rules off Redirect_chk01 in 30h")
    await bob.sees_change(state=State.PLANNED)
    await bob.types("/rules off Redirect_chk01 in 3h because it is sold out")
    await bob.sees_change(state=State.PLANNED, where=lambda change: "sold out" in change.request.reason)

    text = alice.slack_text(await alice.says("/gatehouse digest 12h"))
    done, rest = text.split("1 pending change")
    waiting, coming = rest.split("In the next 24 hours")
    assert [NAME in done, ANNA in done] == [True, True]
    assert ["Delete" in waiting, "of the audit" in waiting, "U0ALICE01" in waiting] == [True] * 3
    assert [NAME in coming, "sold out" in coming, coming.count("starts")] == [True, True, 1]


async def test_an_export_is_counted_once_and_one_that_slack_did_not_confirm_apart(
    workspace: Sandbox, alice: Colleague
) -> None:
    assert "was sent to you" in (await alice.says("/rules export")).text
    assert "*1* exported\n" in f"{await digest_once_recorded(alice)}\n"

    workspace.slack.faults.add("file_uploads_disabled", method="files.completeUploadExternal")
    await alice.says("/rules export")
    assert "*1* exported · *1* not confirmed as exported" in await digest_once_recorded(alice)


async def digest_once_recorded(alice: Colleague) -> str:
    """The digest after an export was recorded, which is a moment after the file is seen."""

    async def is_recorded() -> bool:
        return any(each.event == "exported" for each in await alice.store.audit.find(Filters()))

    await eventually(is_recorded, "the export is recorded")
    message = await alice.says("/gatehouse digest 12h")
    return str(message.blocks[0]["text"]["text"])


@pytest.mark.policy('[[guards]]\noperation = "*"\nguard = "none"')
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("/gatehouse freeze shop.example.com for 2h because cutover", "frozen"),
        ("/gatehouse freeze shop.example.com in 20h for 1h because cutover", "Frozen"),
        ("/rules off Redirect_x1old in 2d", "planned"),
        ("/rules off Redirect_x1old Redirect_chk01 in 2d", "planned"),
        ("/rules off Redirect_x1old for 2h", "done"),
        ("/gatehouse whoami", ""),
    ],
)
async def test_what_was_done_is_told_whatever_it_is(alice: Colleague, text: str, told: str) -> None:
    await alice.does(text)
    digest = alice.slack_text(await alice.says("/gatehouse digest"))
    assert ("nothing happened" in digest) == (not told)
    assert told in digest


def test_what_a_digest_does_not_know_is_told() -> None:
    known = [Entry(1, datetime.now(UTC), event, "", "rules/x", "U1", "C1", "", {}) for event in ("brand_new", "begun")]
    text = digest_view.digest_texts(digest_view.Digest(entries=known), since=datetime.now(UTC), public=False)[0]
    assert "*1* brand new" in text
    assert "begun" not in text


@pytest.mark.policy('[[guards]]\noperation = "*"\nguard = "none"')
async def test_a_bulk_change_that_was_done_in_part_is_not_called_done(workspace: Sandbox, alice: Colleague) -> None:
    rules = workspace.services.rules
    rules.stage.faults.add("refused_200", method="PUT", path=f"/v1/rules/{OLD}")
    await alice.types(f"/rules off {OLD} Redirect_chk01 Redirect_imgs2")
    await alice.sees_set(applied=2, failed=1)
    await alice.says("/members grant anna.berg@example.com vip")
    for text in ("/gatehouse digest", "/gatehouse audit"):
        answer = alice.slack_text(await alice.says(text))
        assert "Switch off 3 rules · 2 of 3 done, 1 failed" in answer
    assert "3 rules" in alice.slack_text(await alice.says("/gatehouse digest")).split("•")[1], "failures first"
