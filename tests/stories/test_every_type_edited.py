"""A rule of any type, edited in the form: the field that was changed is saved, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any, Final

import pytest

from bot.changes.model.states import State
from bot.rules.pair_fields import FieldKind, PairField, fields_of
from sandbox.demo import Sandbox
from sandbox.services.seed import RULES
from sandbox.slack.story import Person
from tests.conftest import until
from tests.drills.fleet import until as eventually

Document = dict[str, Any]

RULE_FIELDS: Final = {"name", "description", "status"}
NUMBERS: Final = count()
TELEPORT: Final[Document] = {
    "id": "Teleport_x1",
    "name": "Teleport",
    "description": "A type that nobody knows",
    "status": "Paused",
    "ruleType": "Teleport",
    "pairs": [{"source": {"key": "Url", "operator": "Equals", "value": "https://shop.example.com/t"}, "beam": [1]}],
}


def by_type() -> list[Document]:
    """The rules of the seed and one of an unknown type: first one of each type, then the others."""
    firsts = {rule["ruleType"]: rule for rule in reversed([*RULES, TELEPORT])}
    return [*firsts.values(), *(rule for rule in RULES if rule is not firsts[rule["ruleType"]])]


CASES: Final = by_type()
TYPES: Final = len({rule["ruleType"] for rule in CASES})


def with_unknown_fields(rule: Document) -> Document:
    """*rule* with fields that nobody knows, at each level."""
    pairs = [
        pair | {"weather": {"sun": None}, "source": pair["source"] | {"filters": [{"page": ["a", 1]}]}}
        for pair in rule["pairs"]
    ]
    return rule | {"pairs": pairs, "mood": ["sunny", {"deep": 1.5}]}


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Each value in a document that holds no others, under its path."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inside:
        yield from leaves(one, (*path, name))
    if not inside:
        yield path, value


def changed(before: Document, after: Document) -> dict[tuple[str | int, ...], Any]:
    """What *after* has, and None where it lacks something, by the paths at which the two differ."""
    old, new = dict(leaves(before)), dict(leaves(after))
    return {
        path: new.get(path)
        for path in old.keys() | new.keys()
        if (path in old, old.get(path)) != (path in new, new.get(path))
    }


def inputs_of_the_rule(person: Person) -> dict[str, Document]:
    """The inputs of the open form that belong to the rule and to its first pair, by the ids of their blocks."""
    blocks = [block for block in (person.modal or {})["blocks"] if block["type"] == "input"]
    own = [block for block in blocks if block["block_id"] in RULE_FIELDS or block["block_id"].startswith("p.o1.")]
    return {block["block_id"]: block for block in own}


def another_value(element: Document, field: PairField | None) -> tuple[str, Any]:
    """What is to be typed or chosen, and what is to be stored then; of changes, the one that comes last."""
    kind = field.kind if field else FieldKind.LINE
    if "options" in element:
        other = next(option for option in element["options"] if option != element["initial_option"])
        return other["text"]["text"], other["value"] == "true" if kind is FieldKind.FLAG else other["value"]
    if kind is FieldKind.NUMBER:
        return "418", "418"
    if kind is FieldKind.CHANGES and field:
        line = f"Add x-net{field.joint}{next(NUMBERS)}"
        value = line.partition(field.joint)[2]
        return f"{element.get('initial_value', '')}\n{line}", {field.entry: "x-net", "type": "Add", "value": value}
    text = f"https://shop.example.com/changed-{next(NUMBERS)}"
    return text, text


async def opened(person: Person, rule_id: str) -> dict[str, Document]:
    """The inputs of the form that edits the rule, with all its options."""
    view = await person.opens(f"/rules edit {rule_id}")
    if "[More options]" in person.form:
        await person.clicks(view, "More options", opens="Description")
    return inputs_of_the_rule(person)


@pytest.mark.first(TYPES)
@pytest.mark.parametrize("seeded", CASES, ids=lambda rule: rule["id"])
async def test_what_is_changed_in_the_form_is_saved_and_all_else_stays(
    workspace: Sandbox, alice: Person, seeded: Document
) -> None:
    rules, changes = workspace.services.rules, workspace.bot.gatehouse.store.changes

    async def at_rest() -> bool:
        counts = await changes.count_by_state()
        return not any(counts.get(state) for state in (State.APPROVED, State.APPLYING, State.UNKNOWN))

    for other in rules.all():
        rules.remove(other["id"])
    rules.put(with_unknown_fields(seeded))
    shown = await opened(alice, seeded["id"])
    declared = {f"p.o1.{one.path}": one for one in fields_of(seeded["ruleType"], seeded["pairs"][0])}
    assert shown.keys() == {*RULE_FIELDS, *declared}

    for block_id in shown:
        before, sent = rules.get(seeded["id"]) or {}, len(rules.calls("PUT"))
        block = (await opened(alice, seeded["id"]))[block_id]
        typed, value = another_value(block["element"], declared.get(block_id))
        alice.fills(**{block["label"]["text"]: typed})

        assert await alice.submits() == {}, block_id
        if "Not saved yet" in alice.form:
            assert await alice.submits() == {}, block_id
        await until(lambda: len(rules.calls("PUT")) > sent)  # noqa: B023  awaited at once
        await eventually(at_rest, "the change has ended, or it holds its rule against the next")

        found = changed(before, rules.get(seeded["id"]) or {})
        found.pop(("modificationDate",), None)
        path = block_id.removeprefix("p.o1.").split(".")
        assert all(set(path) <= {*map(str, place)} for place in found), block_id
        if isinstance(value, dict):
            assert {place[-1]: one for place, one in found.items() if one is not None} == value
        else:
            assert list(found.values()) == [value], block_id
