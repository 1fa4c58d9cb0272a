"""Rules as real installations have them, in the channel: read, explained and checked without a hitch."""

from __future__ import annotations

from sandbox.demo import Sandbox
from sandbox.slack.story import Person
from tests.harness.real_rules import RECORDS


async def test_odd_records_are_listed_shown_explained_and_checked(workspace: Sandbox, alice: Person) -> None:
    for record in RECORDS:
        workspace.services.rules.put(record)

    for text in ("/rules list sort:changed", "/rules list type:headers", "/rules check", "/rules check page:2"):
        said = alice.slack_text(await alice.says(text))
        assert "could not be read" not in said
        assert "reference" not in said, text
    for record in RECORDS[::4]:
        assert record["id"] in alice.slack_text(await alice.says(f"/rules show {record['id']}"))
    which = alice.slack_text(await alice.says("/rules which https://shop.example.com/old"))
    assert "is blocked" in which.splitlines()[0]
    assert "Cancel all" in which
