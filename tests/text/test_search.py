"""Finding by a few letters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.members.model import Member
from bot.rules.model import Rule
from bot.text.names import fold_name
from bot.text.search import SearchIndex, search, text_of_member, text_of_rule


def rule(name: str, rule_id: str = "Redirect_ab12", *urls: str) -> Rule:
    pairs = [{"source": {"key": "Url", "operator": "Equals", "value": url}} for url in urls]
    return Rule.model_validate({"id": rule_id, "name": name, "pairs": pairs})


RULES = [
    rule("Login before checkout", "Redirect_l1", "https://id.example.com/login"),
    rule("Checkout on mobile", "Cancel_c2", "https://m.shop.example.com/checkout"),
    rule("Checkout", "Redirect_c3", "https://shop.example.com/cart/pay"),
    rule("Straße gesperrt", "Cancel_s4"),
]


def found(typed: str, rules: list[Rule] = RULES, most: int = 100) -> list[str]:
    index = SearchIndex(rules, [text_of_rule(one) for one in rules])
    hits = list(search(index, typed, most=most))
    assert hits == sorted(hits, key=lambda hit: hit.rank), "the best first"
    return [hit.item.id for hit in hits]


def test_a_whole_name_comes_before_a_beginning_and_that_before_a_part() -> None:
    assert found("checkout") == ["Redirect_c3", "Cancel_c2", "Redirect_l1"]


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("Redirect_c3", "Redirect_c3"),
        ("ect_l1", "Redirect_l1"),
        ("https://id.example.com/login", "Redirect_l1"),
        ("shop.example.com/cart", "Redirect_c3"),
        ("  CHECKOUT   on ", "Cancel_c2"),
        ("mobile checkout", "Cancel_c2"),
        ("STRASSE", "Cancel_s4"),
        ("chekcout mobile", "Cancel_c2"),
        ("Redirekt_c3", "Redirect_c3"),
    ],
)
def test_any_part_finds_and_so_does_a_typo(typed: str, first: str) -> None:
    assert found(typed)[0] == first


def test_an_address_is_found_from_behind_its_scheme_as_from_its_beginning() -> None:
    rules = [
        rule("A", "A_1", "https://x.example.com/shop.example.com/a"),
        rule("B", "B_2", "https://shop.example.com/a"),
    ]

    assert found("shop.example.com/a", rules)[0] == "B_2"


def test_nothing_is_like_three_letters() -> None:
    assert found("xyz") == []


def test_nothing_typed_offers_what_there_is() -> None:
    assert found("", most=2) == ["Redirect_l1", "Cancel_c2"]


@given(st.lists(st.text(max_size=20), max_size=30), st.text(max_size=80), st.integers(1, 20))
def test_any_text_is_looked_for_in_any_names(names: list[str], typed: str, most: int) -> None:
    rules = [rule(name, f"Redirect_{number}") for number, name in enumerate(names)]

    ids = found(typed, rules, most)

    assert len(ids) == len(set(ids)) <= most
    if typed.strip():
        parts = [one for one in rules if fold_name(typed) in fold_name(one.name or "")]
        assert len(ids) >= min(most, len(parts)) or len(fold_name(typed)) > 200


def test_members_are_found_by_parts_of_name_and_address() -> None:
    anna, ben = Member(email="anna.berg@example.com", name="Anna Berg"), Member(email="ben@example.org")
    index = SearchIndex([anna, ben], [text_of_member(anna), text_of_member(ben)])

    for typed, member in (("berg", anna), ("example.org", ben), ("Anna", anna), ("bne@example.org", ben)):
        hit = next(hit for hit in search(index, typed, most=5))
        assert hit.item == member, typed
