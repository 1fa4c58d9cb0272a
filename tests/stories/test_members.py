"""Members, from the first look to the removal, as people do it."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from sandbox.demo import Sandbox
from tests.harness.colleague import Colleague


async def test_long_lists_are_counted_and_sorted_beside_the_event_loop(
    monkeypatch: pytest.MonkeyPatch, workspace: Sandbox, bob: Colleague
) -> None:
    monkeypatch.setattr("bot.threads.FEW", 0)
    await bob.says("/members list")
    work = {"fits", "_in_order", "_count_segments", "counted", "known_segments"}
    seen = set()

    def called(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.endswith(
            ("member_lookup.py", "member_refs.py", "members/model.py")
        ):
            seen.add(frame.f_code.co_name)

    sys.setprofile(called)  # of this thread alone, which is that of the event loop
    try:
        await bob.says("/members list page:2")
        await bob.says("/members segments")
        await bob.opens("/members edit anna.berg@example.com")
    finally:
        sys.setprofile(None)

    assert "show_segments" in seen
    assert seen & work == set()


@pytest.mark.parametrize("verb", ["show", "why"])
async def test_more_members_than_an_answer_has_room_for_are_refused(
    workspace: Sandbox, bob: Colleague, verb: str
) -> None:
    reply = bob.slack_text(
        await bob.says(f"/members {verb} " + " ".join(f"m{number}@example.com" for number in range(6)))
    )

    assert "6" in reply
    assert "5" in reply
    assert workspace.services.members.calls() == []


@pytest.mark.parametrize(
    "email",
    [
        "mailto:anna.berg@example.com",
        "<mailto:anna.berg@example.com|anna.berg@example.com>",
        "<anna.berg@example.com>",
        "(anna.berg@example.com)",
        "anna.berg@example.com,",
    ],
)
async def test_an_email_is_found_in_what_was_pasted_with_it(workspace: Sandbox, bob: Colleague, email: str) -> None:
    for verb in ("show", "why"):
        assert "Anna Berg" in bob.slack_text(await bob.says(f"/members {verb} {email}"))
    await bob.says(f"/members grant {email} beta")
    await bob.sees_change(of="anna.berg@example.com")
