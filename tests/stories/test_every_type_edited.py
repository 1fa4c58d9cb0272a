"""A rule of any type, edited in the form: the field that was changed is saved, and nothing else is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from typing import Any, Final

import pytest

from bot.changes.model import State
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
    """The inputs of the open form that belong to the rule, by their labels."""
    blocks = [block for block in (person.modal or {})["blocks"] if block["type"] == "input"]
    own = [block for block in blocks if block["block_id"].split(".")[0] in {*RULE_FIELDS, "p", "pairs"}]
    return {block["label"]["text"]: block for block in reversed(own)}


def another_value(element: Document, label: str) -> tuple[str, str]:
    """What is to be typed or chosen, and what is to be stored then."""
    if "options" in element:
        other = next(option for option in element["options"] if option != element["initial_option"])
        return other["text"]["text"], other["value"]
    if label == "Pairs, as JSON":
        first, *others = json.loads(element["initial_value"])
        text = json.dumps([first | {"source": first["source"] | {"value": "https://shop.example.com/json"}}, *others])
    else:
        text = f"https://shop.example.com/changed-{next(NUMBERS)}"
    return text, text


async def opened(person: Person, rule_id: str, *, showing: str) -> dict[str, Document]:
    """The inputs of the form that edits the rule: of all its options only where it does not show that one at once."""
    view = await person.opens(f"/rules edit {rule_id}")
    if showing not in inputs_of_the_rule(person):
        await person.clicks(view, "More options", opens=showing)
    return inputs_of_the_rule(person)


@pytest.mark.first(TYPES)
@pytest.mark.parametrize("seeded", CASES, ids=lambda rule: rule["id"])
async def test_what_is_changed_in_the_form_is_saved_and_all_else_stays(
    workspace: Sandbox, alice: Person, seeded: Document
) -> None:
    rules, changes = workspace.services.rules, workspace.bot.gatehouse.store.changes

    async def at_rest() -> bool:
        counts = await changes.counts()
        return not any(counts.get(state) for state in (State.APPROVED, State.APPLYING, State.UNKNOWN))

    for other in rules.all():
        rules.remove(other["id"])
    rules.put(with_unknown_fields(seeded))
    fields = await opened(alice, seeded["id"], showing="Description")
    assert fields.keys() >= {"Name", "Description", "Status"}

    for label in fields:
        before, sent = rules.get(seeded["id"]) or {}, len(rules.calls("PUT"))
        block = (await opened(alice, seeded["id"], showing=label))[label]
        typed, value = another_value(block["element"], label)
        alice.fills(**{label: typed})

        assert await alice.submits() == {}, label
        if "Not saved yet" in alice.form:
            assert await alice.submits() == {}, label
        await until(lambda: len(rules.calls("PUT")) > sent)  # noqa: B023  awaited at once
        await eventually(at_rest, "the change has ended, or it holds its rule against the next")

        found = changed(before, rules.get(seeded["id"]) or {})
        found.pop(("modificationDate",), None)
        if label == "Pairs, as JSON":
            assert found == {("pairs", 0, "source", "value"): "https://shop.example.com/json"}
        else:
            assert list(found.values()) == [value], label
            assert next(iter(found))[-1] == block["block_id"].split(".")[-1]
