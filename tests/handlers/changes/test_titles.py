"""What a change is called, in each of its states."""

from __future__ import annotations

from typing import Final

import pytest

from bot.changes.model import Kind, State
from handlers.changes.sentences import mark_of, plain_title, title_of
from tests.sandbox.slack.validation.sent import RULE, change

NOT_DONE: Final = {
    Kind.RULE_CREATE: "Banner was not created",
    Kind.RULE_UPDATE: "Old shop: 11 fields not changed",
    Kind.RULE_DELETE: "Old shop was not deleted",
    Kind.MEMBER_GRANT: "Anna Berg was not given access to new on blog",
    Kind.MEMBER_REVOKE: "Anna Berg’s access to segments on blog was not revoked",
    Kind.MEMBER_REMOVE: "Anna Berg was not removed from blog",
}


@pytest.mark.parametrize("kind", NOT_DONE)
@pytest.mark.parametrize("state", [State.DENIED, State.EXPIRED, State.FAILED, State.STALE, State.CANCELLED])
def test_what_was_not_done_is_told_as_what_it_is(kind: Kind, state: State) -> None:
    assert title_of(change(kind, state)) == NOT_DONE[kind]


def edit(**fields: object) -> tuple[str, str]:
    """What an edit of *fields* is called while it waits, and once it is done."""
    after = RULE.body() | {"pairs": RULE.body()["pairs"][:1]}
    before = {name: value for name, value in after.items() if name not in fields} | {"id": RULE.id}
    waiting = change(Kind.RULE_UPDATE, State.PROPOSED, before=before, after=after | fields)
    return plain_title(waiting), title_of(waiting.model_copy(update={"state": State.APPLIED}))


def test_an_edit_says_what_it_changes() -> None:
    assert edit(status="Active") == ("Switch on Old shop", "Old shop is on")
    assert edit(status="Inactive") == ("Switch off Old shop", "Old shop is off")
    assert edit(description="new") == ("Change the description of Old shop", "Old shop: description changed")
    many = dict.fromkeys(("description", "status", "a", "b"), "x")
    assert edit(**many) == ("Change 4 fields of Old shop", "Old shop: 4 fields changed")


def test_a_field_of_the_only_pair_is_named_without_its_number() -> None:
    pair = RULE.body()["pairs"][0]
    before, after = (RULE.body() | {"pairs": [pair | {"destination": url}]} for url in ("https://a/", "https://b/"))
    assert plain_title(change(Kind.RULE_UPDATE, State.PROPOSED, before=before, after=after)) == (
        "Change the destination of Old shop"
    )


def test_the_mark_is_that_of_what_waits() -> None:
    assert mark_of(change(Kind.RULE_UPDATE, State.PROPOSED)) != mark_of(change(Kind.RULE_DELETE, State.PROPOSED))
