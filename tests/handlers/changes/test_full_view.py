"""Whatever a change does: the full view has all of it, and a card that has not says so."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.items import Item, Outcome, Tally
from bot.changes.model.parts import ChangeDecision, ChangeRequest, Guard
from bot.rules.edit import source_reaching
from handlers.blocks.messages import WORD_JOINER, Block, shorten_url
from handlers.changes import card_view, full_view
from handlers.changes.card_buttons import shows_all
from handlers.changes.completeness import is_short
from handlers.changes.diff import CHOSEN
from handlers.changes.entries import entries_of
from handlers.changes.items_view import Progress
from handlers.rules.pairs_view import REACH_WORDS
from sandbox.slack.validation import check_message, check_view
from tests.harness.proposing import CHANGES, with_fields

texts = st.text(alphabet="abzé \n\t\"'`*_~:<>&@/.%-\\…$\u3164\u2800\u200b\u202e", max_size=60)
paths = st.text(alphabet="abc/@:%-.?#\\", max_size=300)
hosts = st.sampled_from(["shop.example.com", "evil.example", "аpple.example", "bücher.example:8080"])
urls = st.builds(
    "{}{}{}/{}".format, st.sampled_from(["https://", "http://", "*://"]), st.sampled_from(["", "a.b@"]), hosts, paths
)
sources = st.fixed_dictionaries(
    {
        "key": st.sampled_from(["Url", "host"]),
        "operator": st.sampled_from(["Equals", "Contains"]),
        "value": urls | texts,
    }
)
pairs = st.fixed_dictionaries({"source": sources, "destination": urls})
rules = st.fixed_dictionaries(
    {
        "name": texts,
        "description": texts,
        "ruleType": st.just("Redirect"),
        "status": st.sampled_from(["Active", "Inactive"]),
        "pairs": st.lists(pairs, min_size=1, max_size=16),
    },
    optional={"preserveCookie": st.booleans(), "other": st.dictionaries(texts, texts | st.integers(), max_size=2)},
)
members = st.fixed_dictionaries(
    {
        "name": texts,
        "email": st.just("bob.ceo@example.com"),
        "allowedSegments": st.lists(texts, max_size=40, unique=True),
    }
)
both = st.one_of(
    st.tuples(st.just("rule"), rules, rules),
    st.tuples(st.just("member"), members, members),
)


def made(what: str, verb: str, before: dict[str, Any], after: dict[str, Any], **fields: Any) -> Change:
    key = "bob.ceo@example.com" if what == "member" else "Redirect_x1"
    creates, destroys = verb in {"create", "add"}, verb in {"delete", "remove"}
    change = Change(
        id="0" * 32,
        created=datetime(2026, 11, 22, tzinfo=UTC),
        edit=Edit(
            kind=Kind(f"{what}.{verb}"),
            target=Target(service=f"{what}s", site="blog" if what == "member" else None, key=None if creates else key),
            before=None if creates else before,
            after=None if destroys else after,
        ),
        request=ChangeRequest(requester="U0ALICE01", channel="C0OPS0001"),
        decision=ChangeDecision(guard=Guard.APPROVE),
    )
    return with_fields(change, **fields)


VERBS = {"rule": ("update", "create", "delete"), "member": ("update", "add", "remove")}
some_changes = both.flatmap(lambda it: st.sampled_from(VERBS[it[0]]).map(lambda verb: made(it[0], verb, it[1], it[2])))


def read(text: str) -> str:
    """What a person reads of it, with the marks for what can't be seen put back into what they stand for."""
    text = html.unescape(text).replace(WORD_JOINER, "").replace("ˋ", "`").replace("␣", " ")
    text = text.replace("↵", "\n").replace("⇥", "\t")
    return re.sub(r"\\u([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), text)


def leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    elif isinstance(value, str) and value:
        yield value


def changed(change: Change) -> set[str]:
    """Every text that is in one version and not in the other."""
    old, new = set(leaves(change.edit.before or {})), set(leaves(change.edit.after or {}))
    return old ^ new


def called(value: str) -> set[str]:
    """*value*, and what it is called where a field has only some."""
    return {value} | {options[value] for options in CHOSEN.values() if value in options}


def texts_of(blocks: list[Block]) -> str:
    found = [one.get("text") for block in blocks for one in (block.get("text"), *block.get("elements", ())) if one]
    return "\n".join(text if isinstance(text, str) else "" for text in found)


@settings(max_examples=40, deadline=None)
@given(some_changes)
def test_the_full_view_has_every_value_that_changes_and_says_what_it_is_about(change: Change) -> None:
    listed = list(entries_of(change))
    shown = [read(b"".join(full_view.file_pieces(change, listed)).decode())]
    view = full_view.modal(change, listed, places={})
    if view is not None:
        assert check_view(view) == []
        shown.append(read(texts_of(view["blocks"])))
    for text in shown:
        assert (change.edit.target.key or str((change.edit.after or {})["name"])) in text
        assert [value for value in changed(change) if not any(word in text for word in called(value))] == []


@settings(max_examples=40, deadline=None)
@given(some_changes)
def test_a_card_that_leaves_out_a_value_is_known_to(change: Change) -> None:
    card = card_view.card(change)
    if shows_all(card):
        text = in_one_line(read(texts_of(list(card.blocks))))
        in_json = {
            value: json.dumps(value, ensure_ascii=False)[1:-1] for value in changed(change)
        }  # as within an object
        missing = [
            each for each, other in in_json.items() if not any(in_one_line(one) in text for one in (each, other))
        ]
        assert [
            value for value in missing if value not in {"Url", "Equals", "Contains", "Redirect", "Active", "Inactive"}
        ] == []


@pytest.mark.parametrize(
    ("verb", "fields", "hidden"),
    [
        ("create", {}, False),
        ("create", {"removeCSPHeader": True}, True),
        ("create", {"other": {"to": "https://evil.example/"}}, True),
        ("create", {"description": "a" * 500}, True),
        ("update", {"other": {"to": "https://evil.example/"}}, False),
        ("delete", {"description": "a" * 500}, True),
    ],
)
def test_a_field_that_no_card_shows_makes_people_look(verb: str, fields: dict[str, Any], hidden: bool) -> None:
    pair = {
        "source": {"key": "Url", "operator": "Equals", "value": "https://a.example/"},
        "destination": "https://b.example/",
    }
    plain = {"name": "One", "ruleType": "Redirect", "status": "Active", "pairs": [pair]}
    change = made("rule", verb, plain | (fields if verb == "delete" else {}), plain | fields)

    assert is_short(change) == (not hidden)


@pytest.mark.parametrize("count", [1, 10, 11, 40])
def test_a_card_shows_the_filters_of_each_pair_of_an_edited_rule(count: int) -> None:
    filters = [{"pageDomains": [f"shop-{number}.example"]} for number in range(count)]
    pairs = [{"source": {"key": "Url", "operator": "Contains", "value": "x", "filters": [each]}} for each in filters]
    before = {"name": "One", "ruleType": "Cancel", "status": "Active", "pairs": pairs}

    card = card_view.card(made("rule", "update", before, before | {"description": "New"}))

    text = texts_of(list(card.blocks))
    assert [each for each in leaves(filters) if each not in text] == []
    assert check_message({"text": card.text, "blocks": list(card.blocks)}) == []


@pytest.mark.parametrize("verb", VERBS["rule"])
@pytest.mark.parametrize("marks", [0, 100, 200, 300, 390])
def test_what_has_no_room_on_a_card_makes_people_look(verb: str, marks: int) -> None:
    """A `_` in a text takes far more room than other characters, so what is within each limit may not fit together."""
    pair = {
        "source": {"key": "Url", "operator": "Equals", "value": "https://a.example/"},
        "destination": "https://b.example/",
    }
    before = {"name": "One", "ruleType": "Redirect", "status": "Active", "pairs": [pair], "description": "_" * marks}
    after = before | {"pairs": [pair | {"destination": "https://evil.example/"}]}
    warnings = ("_" * marks,) * (2 if verb == "update" else 0)
    change = made("rule", verb, before, after, reason="_" * marks, warnings=warnings)

    card = card_view.card(change)
    what = "https://b.example/" if verb == "delete" else "https://evil.example/"

    assert what in texts_of(list(card.blocks)) or not shows_all(card)


@pytest.mark.parametrize("reach", ["query", "below"])
def test_how_much_of_a_url_matches_is_said_in_words(reach: str) -> None:
    source = source_reaching("https://shop.example.com/promo-x", reach)
    rule = {"name": "Block promo", "ruleType": "Cancel", "status": "Active", "pairs": [{"source": source}]}
    change = made("rule", "create", rule, rule)

    card = card_view.card(change)

    assert f"promo-x` {REACH_WORDS[reach]}" in "".join(texts_of(list(card.blocks)))
    assert is_short(change)


def test_when_somebody_became_a_member_is_a_date() -> None:
    before = {"name": "Zoe", "email": "zoe@example.com", "allowedSegments": [], "createdAt": 1_757_650_400_000}
    change = made("member", "remove", before, before)
    listed = list(entries_of(change))

    view = full_view.modal(change, listed, places={})

    assert view is not None
    assert "*member since*  <!date^1757650400^" in texts_of(view["blocks"])
    assert b"member since: 2025-09-12" in b"".join(full_view.file_pieces(change, listed))


def in_one_line(text: str) -> str:
    """As a card shows it: a line break is a space there."""
    return re.sub(r"[\n\r\t]", " ", text).casefold().strip()


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 12, 13, 40])
@settings(max_examples=40, deadline=None)
@given(before=rules, after=rules)
def test_the_full_view_of_a_set_has_each_part(number: int, before: dict[str, Any], after: dict[str, Any]) -> None:
    assume(before | {"status": ""} != after | {"status": ""})  # of a switch alone, a card may show all
    whole = made("rule", "update", {}, {}, size=number, to_do=number, purpose=CHANGES)
    listed = [
        Item(
            number=at,
            kind=Kind.RULE_UPDATE,
            target=Target(service="rules", key=f"Redirect_{at}"),
            before=before,
            after=after,
        )
        for at in range(1, number + 1)
    ]
    text = read(b"".join(full_view.file_pieces(whole, entries_of(whole, listed))).decode())
    assert [item for item in listed if f"id: {item.target.key}\n" not in text] == []
    for value in set(leaves(before)) ^ set(leaves(after)):
        assert max(text.count(word) for word in called(value)) >= number

    progress = Progress(Tally({Outcome.WAITING: number}), listed[:12])
    card = card_view.card(whole, progress=progress)
    assert not shows_all(card)


@settings(max_examples=40, deadline=None)
@given(hosts, paths, st.sampled_from(["", "shop.example.com%2F" + "a" * 200 + "@", "a:b@"]), st.integers(20, 200))
def test_a_shortened_url_has_the_host_that_a_browser_goes_to(host: str, path: str, user: str, limit: int) -> None:
    ascii_host = host.encode("idna").decode() if ":" not in host else "xn--bcher-kva.example:8080"
    shown = shorten_url(f"https://{user}{host}/{path}", limit)

    assert f"{host}/" in shown or f"{ascii_host}/" in shown or shown.endswith((host, ascii_host))
    assert len(shown) <= max(limit, len(ascii_host) + 40) + 12
