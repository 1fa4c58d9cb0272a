"""What holds of everything that people read, whatever it says: names in quotes, buttons that are verbs, an ellipsis before a form."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

import tests.texts
from bot.changes.model.edits import Kind
from bot.changes.model.states import State
from bot.rules.model import Groups, Rule
from handlers.blocks.messages import Message, quote, quote_plain
from handlers.changes.notes_view import REASON_FORMS
from handlers.changes.titles import REVERT_FAILURES, title_of
from handlers.grammar.command import Command
from handlers.grammar.parser import parse
from tests.harness.channels import find_missing_buttons
from tests.texts import Sample
from tests.texts.cards import KINDS, change

ROOMS: Final = sorted(
    one.name for one in pkgutil.iter_modules(tests.texts.__path__) if not one.name.startswith(("_", "test_"))
)
PEOPLE: Final = {"name", "email"}


def module(room: str) -> Any:
    return importlib.import_module(f"tests.texts.{room}")


def samples(room: str) -> Iterator[Sample]:
    yield from module(room).samples()


def names_in(value: Any) -> Iterator[str]:
    """The names of rules, groups and segments in a fixture."""
    match value:
        case Rule():
            yield value.title
        case Groups(names=names):
            yield from names.values()
        case Mapping():
            if isinstance(name := value.get("name"), str) and not value.keys() >= PEOPLE:
                yield name
            yield from value.get("allowedSegments", ())
            for inner in value.values():
                yield from names_in(inner)
        case list() | tuple():
            for inner in value:
                yield from names_in(inner)
        case _:
            pass


def headings(shown: Any) -> Iterator[str]:
    """What a notification says, the first line, and what a button asks."""
    if isinstance(shown, Message):
        yield shown.text.partition("\n")[0]
        yield from headings(shown.blocks)
    elif isinstance(shown, Mapping):
        yield from headings(shown.get("blocks", ()))
    elif not isinstance(shown, str):
        first: Mapping[str, Any] = next(iter(shown), {})
        yield str((first.get("text") or {}).get("text", "")).partition("\n")[0]
        yield from (one["confirm"]["title"]["text"] for one in buttons(shown) if "confirm" in one)


def buttons(shown: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(shown, Message):
        yield from buttons(shown.blocks)
    elif isinstance(shown, Mapping):
        if shown.get("type") == "button":
            yield shown
        for inner in shown.values():
            yield from buttons(inner)
    elif isinstance(shown, list | tuple):
        for inner in shown:
            yield from buttons(inner)


@pytest.mark.parametrize("room", ROOMS)
def test_a_heading_has_the_names_of_things_in_quotes(room: str) -> None:
    known = {name for one in map(module, ROOMS) for value in vars(one).values() for name in names_in(value)}
    bare = [
        (title, heading)
        for title, shown in samples(room)
        for heading in headings(shown)
        for name in known
        if re.search(rf"(?<![“‘\w]){re.escape(name)}(?![’”\w])", heading)
    ]

    assert {"Old shop to new shop", "Summer sale", "Experiments", "vip"} <= known
    assert bare == []


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_change_names_its_thing_in_every_state(kind: str, state: State) -> None:
    name = "The “best” & *last* one"
    operation, *documents = KINDS[kind]
    before, after = ({**one, "name": name} if one else None for one in documents)
    if operation is Kind.MEMBER_UPDATE:
        after = documents[1]

    heading = title_of(change(operation, state, before, after))

    if operation.value.startswith("member"):
        assert quote(name) not in heading
        assert "“best”" in heading, "a person's name is shown as it is"
    else:
        assert quote(name) in heading
    if operation in {Kind.MEMBER_GRANT, Kind.MEMBER_REVOKE}:
        assert "“vip”" in heading


@pytest.mark.parametrize("why", REVERT_FAILURES)
def test_a_heading_says_that_a_temporary_change_was_not_reverted(why: str) -> None:
    _, before, after = KINDS["switch off a rule"]
    heading = title_of(change(Kind.RULE_UPDATE, State.APPLIED, before, after, revert_failure=why))

    assert heading.endswith(
        (": not reverted", ": not all reverted", ": nothing to revert", ": its end is not confirmed")
    )


def test_quotes_in_a_name_do_not_end_it() -> None:
    assert quote_plain("The “best” one") == "“The ‘best’ one”"
    assert quote_plain("Old” is off. “New") == "“Old’ is off. ‘New”"
    assert quote_plain("a" * 40, 20).endswith("…”") or quote_plain("a" * 40, 20).endswith(")”")


VERBS: Final = re.compile(
    "Add|Approve|Block|Cancel|Do|Ask|Change|Check|Choose|Copy|Create|Decide|Delete|Deny|Edit|Export|Extend|Find|Freeze|Grant|Import|Keep|Lift|List|Mark|Offboard|Open"
    "|Override|Put|Redo|Refresh|Remove|Request|Retry|Revert|Revoke|Run|Search|Set|Share|Show|Sort|Stop|Switch|Try|Undo|Unlock|Use|Withdraw"
)
NO_VERBS: Final = frozenset(
    {
        "Help",
        "Details",
        "More options",
        "Rules",
        "Members",
        "Emergency override…",
        "Next ›",
        "‹ Previous",
        "Older ›",
        "‹ Newer",
        "Waiting for you",
        "Planned",
        "What changed",
        "What is frozen",
        "What may I do?",
        "Handover",
        "Status",
    }
)
"""Tabs, pages, and the name of an act that has no verb."""
FORMS: Final = frozenset(f"v1.decide.{name}" for name in REASON_FORMS)


def opens_form(button: Mapping[str, Any]) -> bool:
    """Whether a click opens a form: the command says so in its help."""
    action, value = str(button["action_id"]), str(button["value"])
    if action.startswith(("v1.run.", "v1.turn.")):
        command: Command = parse(*value.partition(" ")[::2])
        return "opens a form" in command.summary
    return action in FORMS or action.startswith(("v1.ask", "v1.undo", "v1.decide.open", "v1.settings"))


@pytest.mark.parametrize("room", ROOMS)
def test_a_button_is_a_verb_and_an_ellipsis_stands_where_a_form_follows(room: str) -> None:
    for title, shown in samples(room):
        for one in buttons(shown):
            label = one["text"]["text"]
            assert VERBS.fullmatch(label.split()[0].rstrip("…")) or label in NO_VERBS, (title, label)
            assert label.endswith("…") == opens_form(one), (title, label)


@pytest.mark.parametrize("room", ROOMS)
def test_a_button_that_a_text_names_stands_beside_it(room: str) -> None:
    for title, shown in samples(room):
        about = {"text": shown.text, "blocks": list(shown.blocks)} if isinstance(shown, Message) else shown
        assert find_missing_buttons(about) == set(), title


@pytest.mark.parametrize("room", ROOMS)
def test_a_question_repeats_its_button_and_can_be_cancelled(room: str) -> None:
    for title, shown in samples(room):
        for one in buttons(shown):
            if asked := one.get("confirm"):
                assert asked["confirm"]["text"] == one["text"]["text"], title
                assert asked["deny"]["text"] == "Cancel", title
