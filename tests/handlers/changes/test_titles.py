"""What an edit is called, while it waits and once it is done. tests/texts has the titles of all other changes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bot.changes.model.change import Change
from bot.changes.model.edits import Kind
from bot.changes.model.parts import Approval, BulkAct, Guard, Purpose
from bot.changes.model.states import State
from handlers.blocks.messages import plural
from handlers.changes import notes_view
from handlers.changes.confirmations import question
from handlers.changes.times import extension
from handlers.changes.titles import plain_title, title_of
from tests.texts.cards import ANNA, CARA, NOW, OLD_SHOP, change, pair


def edit(**fields: Any) -> tuple[str, str]:
    """What an edit of *fields* is called while it waits, and once it is done."""
    before = {name: value for name, value in OLD_SHOP.items() if name not in fields or name == "pairs"}
    waiting = change(Kind.RULE_UPDATE, State.PROPOSED, before, OLD_SHOP | fields)
    name = str(OLD_SHOP["name"])
    titles = plain_title(waiting), title_of(waiting.model_copy(update={"state": State.APPLIED}))
    return titles[0].replace(name, "it"), titles[1].replace(name, "it")


def test_an_edit_says_what_it_changes() -> None:
    assert edit(status="Active") == ("Switch on “it”", "“it” is on")
    assert edit(status="Inactive") == ("Switch off “it”", "“it” is off")
    assert edit(description="new") == ("Change the description of “it”", "“it”: description changed")
    many = dict.fromkeys(("description", "status", "a", "b"), "x")
    assert edit(**many) == ("Change 4 fields of “it”", "“it”: 4 fields changed")


def test_a_field_of_the_only_pair_is_named_without_its_number() -> None:
    assert edit(pairs=[pair("/old", "/newest")]) == ("Change the destination of “it”", "“it”: destination changed")


@pytest.mark.parametrize(
    ("lasts", "label"), [(1, "Extend by 1 h"), (24, "Extend by 1 day"), (7 * 24, "Extend by 1 week")]
)
def test_what_was_planned_is_extended_by_how_long_it_lasts_and_not_by_how_early_it_was_planned(
    lasts: int, label: str
) -> None:
    planned = change(Kind.RULE_UPDATE, State.APPLIED, OLD_SHOP, {**OLD_SHOP, "status": "Inactive"})
    starts = planned.created + timedelta(days=8)
    planned = planned.with_fields(starts_at=starts, started_at=starts, reverts_at=starts + timedelta(hours=lasts))

    assert extension(planned)[1] == label


def bulk(act: BulkAct, count: int, *, is_undo: bool = False) -> Change:
    """An applied bulk change of *count* things."""
    about = Purpose(act=act, about="Ann", is_undo=is_undo)
    kind = Kind.RULE_DELETE if act in OF_RULES else Kind.MEMBER_REMOVE
    return change(kind, State.APPLIED, None, ANNA, size=count, to_do=count, purpose=about)


OF_RULES = {BulkAct.SWITCH_ON, BulkAct.SWITCH_OFF, BulkAct.CHANGE, BulkAct.DELETE}


@pytest.mark.parametrize("act", BulkAct)
@pytest.mark.parametrize("is_undo", [False, True])
@pytest.mark.parametrize("count", [1, 2, 1_200])
def test_a_bulk_change_says_of_how_many_or_of_what_it_is_in_each_state(act: BulkAct, is_undo: bool, count: int) -> None:
    """A retry and an undo may have fewer items than the first."""
    whole = bulk(act, count, is_undo=is_undo)
    named = plural(count, "rule" if act in OF_RULES else "member")

    for title in (plain_title(whole), title_of(whole), title_of(whole.with_fields(undone_by="x" * 32))):
        assert named in title or "Ann" in title


@pytest.mark.parametrize("act", BulkAct)
def test_an_undo_is_called_by_what_it_undoes(act: BulkAct) -> None:
    whole, undo = bulk(act, 2), bulk(act, 2, is_undo=True)
    is_undone = {"undone_by": "x" * 32}

    assert title_of(whole.with_fields(**is_undone)) == title_of(undo)
    assert title_of(undo.with_fields(**is_undone)) == title_of(whole)
    assert len({plain_title(whole), plain_title(undo), title_of(whole), title_of(undo)}) == 4


def test_a_question_about_one_rule_is_about_one() -> None:
    one = bulk(BulkAct.DELETE, 1).with_fields(state=State.PROPOSED)

    assert "1 rule stops working at once. Undo creates it again" in str(question(one, "Delete"))


@pytest.mark.parametrize("state", State)
def test_that_somebody_approved_is_said_with_who_did_or_not_at_all(state: State) -> None:
    approvals = () if state is State.PROPOSED else (Approval(by=CARA, at=NOW),)
    fields: dict[str, Any] = {"guard": Guard.APPROVE, "decided_by": CARA, "approvals": approvals}
    about = change(Kind.RULE_UPDATE, state, OLD_SHOP, {**OLD_SHOP, "status": "Inactive"}, **fields)
    notice = notes_view.notice(about, "approved", None, link="")

    assert notice is None or f"Approved by <@{CARA}>" in str(notice.blocks)
