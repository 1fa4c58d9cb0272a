"""What a change is called, in each of its states."""

from __future__ import annotations

from typing import Final

import pytest

from bot.changes.model import Kind, State
from handlers.changes.sentences import mark_of, plain_title, sentence, title_of
from tests.sandbox.slack.validation.sent import RULE, change

ANNA: Final = "Anna Berg `a***@example.com`"
SAID: Final = {
    Kind.RULE_CREATE: ("Banner: not created", "Banner: could not be created", "Banner: withdrawn"),
    Kind.RULE_UPDATE: ("Old shop: not changed", "Old shop: could not be changed", "Old shop: withdrawn"),
    Kind.RULE_DELETE: ("Old shop: not deleted", "Old shop: could not be deleted", "Old shop is kept"),
    Kind.MEMBER_GRANT: (f"{ANNA}: access not given", f"{ANNA}: access could not be given", f"{ANNA}: withdrawn"),
    Kind.MEMBER_REVOKE: (
        f"{ANNA}: access not taken away",
        f"{ANNA}: access could not be taken away",
        f"{ANNA}: withdrawn",
    ),
    Kind.MEMBER_REMOVE: (f"{ANNA}: not removed", f"{ANNA}: could not be removed", f"{ANNA} is kept"),
}


@pytest.mark.parametrize("kind", SAID)
def test_what_was_not_done_is_told_as_what_it_is(kind: Kind) -> None:
    denied, failed, withdrawn = SAID[kind]
    assert title_of(change(kind, State.DENIED)) == title_of(change(kind, State.EXPIRED)) == denied
    assert title_of(change(kind, State.FAILED)) == title_of(change(kind, State.STALE)) == failed
    assert title_of(change(kind, State.CANCELLED)) == withdrawn


@pytest.mark.parametrize("kind", Kind)
def test_only_what_was_there_is_kept(kind: Kind) -> None:
    assert ("keep" in sentence(change(kind, State.CANCELLED))) == kind.destroys


def edit(**fields: object) -> tuple[str, str]:
    """What an edit of *fields* is called while it waits, and once it is done."""
    after = RULE.body() | {"pairs": RULE.body()["pairs"][:1]}
    before = {name: value for name, value in after.items() if name not in fields} | {"id": RULE.id}
    waiting = change(Kind.RULE_UPDATE, State.PROPOSED, before=before, after=after | fields)
    return plain_title(waiting), title_of(waiting.model_copy(update={"state": State.APPLIED}))


def test_an_edit_says_what_it_changes() -> None:
    assert edit(status="Active") == ("Switch on Old shop", "Old shop switched on")
    assert edit(status="Inactive") == ("Switch off Old shop", "Old shop switched off")
    assert edit(description="new") == ("Change description of Old shop", "Old shop changed: description")
    many = dict.fromkeys(("description", "status", "a", "b"), "x")
    assert edit(**many) == ("Change Old shop", "Old shop changed")


def test_a_field_of_the_only_pair_is_named_without_its_number() -> None:
    pair = RULE.body()["pairs"][0]
    before, after = (RULE.body() | {"pairs": [pair | {"destination": url}]} for url in ("https://a/", "https://b/"))
    assert plain_title(change(Kind.RULE_UPDATE, State.PROPOSED, before=before, after=after)) == (
        "Change destination of Old shop"
    )


def test_the_mark_is_that_of_what_waits() -> None:
    assert mark_of(change(Kind.RULE_UPDATE, State.PROPOSED)) != mark_of(change(Kind.RULE_DELETE, State.PROPOSED))
