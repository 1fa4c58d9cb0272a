"""Whether a write came true is told by what it changed, also where it only took something away."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.changes.adapters import snapshot_of_members, snapshot_of_rules
from bot.changes.model.change import Change
from bot.changes.model.documents import Document, canonical_form, contains_all
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.moves import Fail, Finish, Invalidate, MarkUnknown, Move
from bot.changes.targets import Differs
from bot.changes.verify import Reading, Sent, Verification, _is_ours, classify, judge, verdict
from bot.clients.errors import ClientError, NotFound, OutcomeUnknown, RateLimited, Refused
from bot.members.model import Member
from bot.rules.model import Rule
from tests.changes.test_consequences import REQUEST
from tests.harness.proposing import with_fields

PAIR = {"source": {"key": "Url", "operator": "Equals", "value": "https://a.example/", "filters": [{"m": "GET"}]}}
RULE = {"id": "Redirect_a", "name": "A", "description": "Do not touch", "groupId": "g1", "pairs": [PAIR]}


def without(document: Document, *path: str | int) -> Document:
    """A copy of *document* without the field at *path*."""
    name, *rest = path
    if not rest:
        return {key: value for key, value in document.items() if key != name}
    if isinstance(document, list):
        return [without(each, *rest) if number == name else each for number, each in enumerate(document)]
    return {key: without(value, *rest) if key == name else value for key, value in document.items()}


def update(before: Document | None, after: Document | None) -> Change:
    target = Target(service="rules", key="Redirect_a")
    return with_fields(REQUEST, target=target, before=before, after=after, attempt=1)


PATHS: list[tuple[str | int, ...]] = [("description",), ("groupId",), ("pairs", 0, "source", "filters")]


@pytest.mark.parametrize("path", PATHS, ids=str)
def test_a_field_that_is_only_taken_away_must_be_gone(path: tuple[str | int, ...]) -> None:
    after = without(RULE, *path)

    assert verdict(update(RULE, after), RULE).verification is Verification.NOT_DONE
    assert verdict(update(RULE, after), after).verification is Verification.DONE
    kept = RULE | {"name": "B"}
    assert verdict(update(RULE, after | {"name": "B"}), kept).verification is Verification.DIVERGED, (
        "a service that merges keeps it"
    )


documents = st.recursive(
    st.integers(0, 2), lambda inner: st.dictionaries(st.sampled_from("abc"), inner) | st.lists(inner, max_size=2)
)


@given(
    before=st.dictionaries(st.sampled_from("abc"), documents), after=st.dictionaries(st.sampled_from("abc"), documents)
)
def test_what_is_as_before_is_never_done_and_what_is_as_wanted_always_is(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    if before != after:
        assert verdict(update(before, after), before).verification is Verification.NOT_DONE
    assert verdict(update(before, after), after).verification is Verification.DONE


ANSWER, LOST, BUSY, GONE, MIXED = (
    "Updated",
    OutcomeUnknown("rules", "reset"),
    RateLimited("rules", "429"),
    NotFound("rules", "404"),
    Refused("rules", "no", 200),
)
ENDS: list[tuple[str | ClientError | Differs, list[type[Move] | None]]] = [
    (ANSWER, [Finish, MarkUnknown, Finish, MarkUnknown]),
    (LOST, [Finish, MarkUnknown, MarkUnknown, MarkUnknown]),
    (BUSY, [Fail] * 4),
    (GONE, [Fail] * 4),
    (MIXED, [Finish, Fail, MarkUnknown, MarkUnknown]),
    (Differs(RULE), [Invalidate] * 4),
]
"""What came of sending a change, and how it ends where it reads as each `Verification` says."""


def ends(came: str | ClientError | Differs, change: Change) -> list[type[Move] | None]:
    sent = Sent(change, accepted=True) if isinstance(came, str) else Sent(change, error=came)
    found = [classify(sent, Reading(each, RULE)) for each in Verification]
    return [None if end is None else type(end) for end in found]


@pytest.mark.parametrize(("came", "moves"), ENDS, ids=[type(came).__name__ for came, _ in ENDS])
def test_a_change_ends_as_it_reads_where_it_may_have_been_done(
    came: str | ClientError | Differs, moves: list[type[Move] | None]
) -> None:
    assert ends(came, update(RULE, RULE | {"name": "B"})) == moves


def test_what_has_a_key_keeps_it_whatever_id_its_service_shows() -> None:
    shown = RULE | {"id": "7"}
    ended = classify(Sent(update(RULE, RULE), accepted=True), Reading(Verification.DONE, shown))
    assert ended == Finish(live=shown, key="Redirect_a")
    unnamed = with_fields(update(None, RULE), target=Target(service="rules"))
    assert classify(Sent(unnamed, error=LOST), Reading(Verification.DONE, shown)) == Finish(live=shown, key="7")


def test_an_item_whose_answer_was_lost_stays_under_way_unless_it_reads_otherwise() -> None:
    item = with_fields(update(RULE, RULE | {"name": "B"}), set_id="2" * 32)
    creation = with_fields(item, kind=Kind.RULE_CREATE, before=None)

    assert ends(LOST, item) == [Finish, None, MarkUnknown, None]
    assert ends(LOST, creation) == [Finish, MarkUnknown, MarkUnknown, MarkUnknown]
    assert ends(ANSWER, item) == ends(ANSWER, update(RULE, RULE | {"name": "B"}))


def test_what_is_gone_before_it_is_deleted_is_out_of_date_and_a_deletion_that_shows_something_is_not_altered() -> None:
    deletion = update(RULE, None)

    assert ends(GONE, deletion) == [Invalidate] * 4
    assert ends(BUSY, deletion) == [Fail] * 4
    assert ends(ANSWER, deletion) == [Finish, MarkUnknown, MarkUnknown, MarkUnknown]


def test_what_an_earlier_process_may_have_sent_is_never_failed_at_once() -> None:
    taken_over = with_fields(update(RULE, RULE | {"name": "B"}), attempt=2)
    item = with_fields(taken_over, set_id="2" * 32)

    assert ends(GONE, taken_over) == ends(BUSY, taken_over) == [Finish, MarkUnknown, MarkUnknown, MarkUnknown]
    assert ends(Differs(RULE), taken_over) == [Finish, MarkUnknown, MarkUnknown, MarkUnknown]
    assert ends(BUSY, item) == [Finish, None, MarkUnknown, None]
    assert ends(MIXED, taken_over) == ends(GONE, taken_over)
    assert ends(GONE, item) == ends(GONE, taken_over), "the service would refuse it again"
    assert ends(GONE, with_fields(taken_over, kind=Kind.RULE_CREATE)) == [Fail] * 4


def test_a_rule_that_is_known_to_be_ours_is_ours_though_another_item_made_its_like() -> None:
    alike = snapshot_of_rules(
        [Rule.model_validate(RULE | {"ruleType": "Redirect", "id": id_}) for id_ in ("Redirect_a", "Redirect_b")]
    )
    item = with_fields(update(None, RULE), kind=Kind.RULE_CREATE, set_id="2" * 32)

    assert judge(item, alike).is_done
    assert judge(with_fields(item, set_id=None), alike).verification is Verification.DIVERGED
    assert judge(item, snapshot_of_rules([]), RULE).is_done
    assert _is_ours(Sent(item, accepted=True, made=RULE), RULE | {"colour": "red"})
    unknown = with_fields(item, target=Target(service="rules"))
    assert judge(unknown, alike).verification is Verification.DIVERGED
    assert judge(with_fields(unknown, lookalikes=("Redirect_b",)), alike).is_done


def test_a_pair_that_nobody_asked_for_is_no_field_that_the_service_adds() -> None:
    assert verdict(update(None, RULE), RULE | {"pairs": [PAIR, PAIR]}).verification is Verification.DIVERGED


def test_a_pair_that_goes_is_not_looked_for_in_the_one_that_moves_up() -> None:
    first = PAIR | {"destination": "https://b.example/"}
    before, after = RULE | {"pairs": [first, PAIR]}, RULE | {"pairs": [PAIR]}
    now = RULE | {"pairs": [PAIR | {"destination": ""}]}

    assert verdict(update(before, after), now).verification is Verification.DONE


@given(
    before=st.dictionaries(st.sampled_from("abc"), documents),
    after=st.dictionaries(st.sampled_from("abc"), documents),
    added=st.dictionaries(st.sampled_from("abcd"), documents),
)
def test_whatever_a_service_shows_has_a_verdict_and_what_is_done_holds_all_that_was_wanted(
    before: dict[str, Any], after: dict[str, Any], added: dict[str, Any]
) -> None:
    for now in (added, added | after, after | {"d": 0}):
        if verdict(update(before, after), now).verification is Verification.DONE:
            assert contains_all(now, after)


def test_a_list_that_goes_is_done_where_the_service_adds_a_field() -> None:
    gone, there = {"pairs": None}, {"pairs": [PAIR]}

    assert verdict(update(there, gone), gone | {"colour": "red"}).is_done
    assert verdict(update(gone, there), there | {"colour": "red"}).is_done
    assert verdict(update(there, there | {"name": "B"}), there | {"name": "B", "colour": "red"}).is_done


ZOE: Document = {"email": "zoe@example.com", "name": "Zoe", "allowedSegments": ["vip"]}
DONE_TO_ZOE: dict[Kind, Document | None] = {
    Kind.MEMBER_REMOVE: None,
    Kind.MEMBER_REVOKE: ZOE | {"allowedSegments": []},
    Kind.MEMBER_GRANT: ZOE | {"allowedSegments": ["vip", "beta"]},
    Kind.MEMBER_UPDATE: ZOE | {"name": "Zoe Young"},
}
"""What becomes of a member who is there, by each kind of change that there may be of one."""


def test_every_kind_of_change_of_a_member_has_a_case() -> None:
    assert {kind for kind in Kind if kind.startswith("member.")} - {Kind.MEMBER_ADD} == set(DONE_TO_ZOE)


@pytest.mark.parametrize("kind", DONE_TO_ZOE)
@pytest.mark.parametrize("twin", ["Zoe@example.com", "ZOE@EXAMPLE.COM"])
def test_a_member_whose_email_differs_only_in_case_says_nothing_of_another(kind: Kind, twin: str) -> None:
    after = DONE_TO_ZOE[kind]
    edit = Edit(
        kind=kind, target=Target(service="members", site="blog", key="zoe@example.com"), before=ZOE, after=after
    )
    change = with_fields(
        update(ZOE, after), **{name: getattr(edit, name) for name in ("kind", "target", "before", "after")}
    )

    def read(zoe: Document | None) -> Verification:
        there = [each for each in (ZOE | {"email": twin}, zoe) if each is not None]
        return judge(change, snapshot_of_members(map(Member.model_validate, there))).verification

    assert read(ZOE) is Verification.NOT_DONE
    assert read(after) is Verification.DONE


def test_a_member_who_was_edited_is_there_though_the_service_spells_the_email_otherwise() -> None:
    before, live = ({"email": email, "name": "Zoe"} for email in ("Zoe@example.com", "zoe@example.com"))
    change = update(before, before | {"name": "Zoe Young"})
    target = Target(service="members", site="blog", key="Zoe@example.com")

    assert verdict(with_fields(change, kind=Kind.MEMBER_UPDATE, target=target), live).live == live
    removal = with_fields(change, kind=Kind.MEMBER_REMOVE, target=target.with_key("zoe@example.com"), after=None)
    assert verdict(removal, before).verification is Verification.NOT_DONE


def test_the_ids_of_pairs_are_no_content_whatever_else_stands_among_them() -> None:
    stored = {"id": "Redirect_1", "pairs": [{"id": "p1", "to": "x"}, "no pair"], "allowedSegments": ["b", "a"]}

    assert canonical_form(stored) == {"pairs": [{"to": "x"}, "no pair"], "allowedSegments": ["a", "b"]}
