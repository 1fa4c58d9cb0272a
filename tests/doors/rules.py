"""The doors of rules, and the rules that go through them: of each type of the seed and of one that nobody knows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from bot.rules.pair_fields import KNOWN_TYPES, PAIR_FIELDS, FieldKind, PairField, fields_of, has_field
from bot.rules.pair_values import json_text, read_object, text_of, with_text
from handlers.changes import notes_view
from handlers.files import import_form_view
from handlers.gatehouse.commands import GatehouseInspect, GatehouseUndo
from handlers.rules import rule_form_view
from handlers.rules.commands import (
    RulesCopy,
    RulesDelete,
    RulesEdit,
    RulesExport,
    RulesImport,
    RulesMake,
    RulesNew,
    RulesOff,
    RulesOn,
    RulesSet,
    RulesShow,
)
from sandbox.services.database import Record
from sandbox.services.seed import RULES, SHOP
from tests.doors.play import AGAIN, APPROVE, LONG, NON_ASCII, UNDO, Doors, Play

UNKNOWN: Final[Record] = {
    "id": "Future_x1",
    "name": "Of a later release",
    "description": "",
    "status": "Active",
    "ruleType": "Future",
    "pairs": [
        {"source": {"key": "Url", "operator": "Equals", "value": f"{SHOP}/future"}, "hologram": [1, {"a": None}]}
    ],
}
NARROW: Final = [rule for rule in reversed(RULES) if rule["id"] not in {"Cancel_track1", "Cancel_ads001"}]
"""What takes over a whole host has doors of its own: tests/stories/test_brakes.py."""
SEEDS: Final = {**{str(rule["ruleType"]): rule for rule in NARROW}, "Future": UNKNOWN}
"""The seed's first rule of each type."""
FORM: Final = rule_form_view.CALLBACK


def odd(rule: Record) -> Record:
    """*rule* as long-used installations have it: more fields at each depth, texts of other alphabets, a long one."""
    strange = {"unheardOf": {"tief": [1, 1.5, None, {"ü": []}]}, "big": 12345678901234567890, "isFavourite": True}
    pairs = [
        pair | {"id": f"p{number}", "odd": [{}], "source": pair["source"] | {"mood": "ö", "filters": [{"a": {}}]}}
        for number, pair in enumerate([*rule["pairs"], *rule["pairs"]][:2], 1)
    ]
    pairs[-1]["source"] = pairs[-1]["source"] | {"value": f"{SHOP}/größe?a=日本"}
    own = {"name": f"{rule['name']} {NON_ASCII}", "description": LONG, "pairs": pairs}
    return {**rule, **own, **strange}


OBJECTS: Final = {
    f"{kind}-{like}": record for kind, rule in SEEDS.items() for like, record in (("seed", rule), ("odd", odd(rule)))
}
MADE_AT_ONCE: Final = frozenset({"Redirect", "Cancel"})
"""The types that need no more than a line."""
DOORS: Final = Doors()
door = DOORS.door


@dataclass(slots=True, repr=False)
class RulePlay(Play):
    @property
    def id(self) -> str:
        return str(self.before["id"])

    @property
    def other(self) -> str:
        """The id of another rule, for what is about several: one of this play alone."""
        rules = self.sandbox.services.rules
        rules.put((rules.get("Redirect_chk01") or {}) | {"id": f"{self.id}2"})
        rules.remove("Redirect_chk01")
        return f"{self.id}2"

    @property
    def type(self) -> str:
        return str(self.before["ruleType"])

    @property
    def switch(self) -> tuple[str, str]:
        """The verb that switches the rule the other way, and the status that it then has."""
        return ("off", "Inactive") if self.before["status"] == "Active" else ("on", "Active")

    def now(self) -> Record | None:
        return self.sandbox.services.rules.get(self.id)

    def made(self) -> Record | None:
        """The rule that came beside those that were there, if any."""
        there = {*(str(rule["id"]) for rule in RULES), self.id}
        return next((rule for rule in self.sandbox.services.rules.all() if rule["id"] not in there), None)

    def sourced(self, value: str) -> list[dict[str, Any]]:
        """The pairs with another source in the first one."""
        first, *others = self.before["pairs"]
        return [first | {"source": first["source"] | {"value": value}}, *others]

    async def switches(self, words: str = "") -> None:
        await self.alice.types(f"/rules {self.switch[0]} {self.id} {words}")
        await self.is_switched()

    async def is_switched(self) -> None:
        await self.becomes(self.now, self.before | {"status": self.switch[1]})

    async def stays(self) -> None:
        await self.becomes(self.now, self.before)


@door(RulesNew, FORM, "decide.undo", "decide.approve")
async def new_by_form_and_undo(play: RulePlay) -> None:
    await play.alice.opens(f"/rules new {play.type.casefold()} {SHOP}/net")
    if play.type not in KNOWN_TYPES:
        assert play.type.casefold() in play.alice.form, "the form shows what it took the word for"
        return
    pair: Record = {}
    typed = {}
    for field in fields_of(play.type, pair):
        if not field.rare and field.path != "source.value":
            text, words = another(field, text_of(field, pair) or "")
            typed[field.label] = words
            pair = with_text(field, pair, text)
    await play.sends(Name=play.before["name"], **typed)
    await play.alice.card(UNDO)
    made = play.made()
    assert made is not None
    assert (made["ruleType"], made["name"], made["status"]) == (play.type, play.before["name"], "Active")
    assert made["pairs"][0]["source"] == {"key": "Url", "operator": "Equals", "value": f"{SHOP}/net"}
    stored = {field.label: text_of(field, made["pairs"][0]) for field in fields_of(play.type, pair)}
    assert {label: stored[label] for label in typed} == {
        field.label: text_of(field, pair) for field in fields_of(play.type, pair) if field.label in typed
    }
    await play.alice.presses(UNDO, confirm=True)
    await play.becomes(play.made, None)
    await play.stays()


@door(RulesMake)
async def new_by_text(play: RulePlay) -> None:
    to = f" to {SHOP}/there" if has_field(play.type, "destination") else ""
    text = f'/rules make {play.type.casefold()} {SHOP}/net{to} named "{play.before["name"]}"'
    if play.type not in MADE_AT_ONCE:
        await play.alice.replied(text)
        assert play.writes == 0
        assert "Redirect or block?" in play.alice.form, "of which kind is asked"
        return
    await play.alice.types(text)
    await play.alice.card(UNDO)
    made = play.made()
    assert made is not None
    assert (made["ruleType"], made["name"], made["status"]) == (play.type, play.before["name"], "Active")
    assert made["pairs"][0]["source"]["value"] == f"{SHOP}/net"


@door(RulesEdit, FORM)
async def edit_by_form(play: RulePlay) -> None:
    await play.alice.opens(f"/rules edit {play.id}")
    await play.sends(Name=f"Renamed {play.alice.about}")
    await play.becomes(play.now, play.before | {"name": f"Renamed {play.alice.about}"})


@door(RulesShow, RulesEdit, FORM)
async def edit_each_field_by_form_from_the_card(play: RulePlay) -> None:
    """Every field that the table declares for the type, and those of the rule itself, in one go; all else stays."""
    card = await play.alice.says(f"/rules show {play.id}")
    await play.alice.clicks(card, "Edit…", opens="Why")
    await _shows_all(play)
    first, *others = play.before["pairs"]
    typed = {}
    for field in fields_of(play.type, first):
        text, words = another(field, text_of(field, first) or "")
        typed[field.label] = words
        first = with_text(field, first, text)
    expected = play.before | {"pairs": [first, *others], "status": play.switch[1]}
    if play.before["description"] != LONG:
        expected, typed = expected | {"description": "By the form"}, typed | {"Description": "By the form"}
    await play.sends(**typed, Status=play.switch[0].capitalize())
    await play.becomes(play.now, expected)


def another(field: PairField, text: str) -> tuple[str, str]:
    """Another text for the field, and what a person types or chooses for it."""
    if field.kind is FieldKind.CHOICE:
        value = next(value for value in field.options if value != text)
        return value, field.options[value]
    if field.kind is FieldKind.REST:
        value = json_text(read_object(text) | {"mood": ["sunny", {"ü": 1.5}]})
        return value, value
    return f"{SHOP}/elsewhere", f"{SHOP}/elsewhere"


async def _shows_all(play: RulePlay) -> None:
    if "[More options]" in play.alice.form:
        await play.alice.clicks(play.alice.modal or {}, "More options", opens="Description")


@door(RulesEdit, FORM)
async def edit_as_json(play: RulePlay) -> None:
    await play.alice.opens(f"/rules edit {play.id}")
    await _shows_all(play)
    await play.alice.clicks(play.alice.modal or {}, "Edit as JSON", opens="as JSON")
    pairs = play.sourced(f"{SHOP}/elsewhere")
    pairs[0] = pairs[0] | {"mood": ["sunny", {"ü": 1.5}]}
    label = "Pair, as JSON" if len(pairs) == 1 else "Pair 1, as JSON"
    await play.sends(**{label: json.dumps(pairs[0], ensure_ascii=False)})
    await play.becomes(play.now, play.before | {"pairs": pairs})


@door(RulesSet)
async def set_each_field(play: RulePlay) -> None:
    """The fields of a pair that the specification names are set where the type has them, else refused."""
    expected = play.before | {
        "name": f"Said {NON_ASCII} {play.alice.about}",
        "pairs": play.sourced(f"{SHOP}/elsewhere"),
    }
    fields = f'name="{expected["name"]}" pair1.source={SHOP}/elsewhere'
    await play.alice.types(f"/rules set {play.id} {fields} because of the net")
    await play.becomes(play.now, expected)
    await play.alice.sees("source")
    for name in ("destination", "from", "to"):
        at, value = f"pair1.{name}", f"{SHOP}/set/{name}"
        if name not in PAIR_FIELDS.get(play.type, ()) and not _is_source_or_destination(play.type, name):
            if play.type in KNOWN_TYPES:
                await play.is_refused(f"/rules set {play.id} {at}={value}")
            continue
        await play.alice.types(f"/rules set {play.id} {at}={value} because of the net")
        expected = expected | {"pairs": [_with(expected["pairs"][0], play.type, name, value), *expected["pairs"][1:]]}
        await play.becomes(play.now, expected)
        await play.alice.sees(value)


def _is_source_or_destination(rule_type: str, name: str) -> bool:
    return (rule_type, name) in {("Redirect", "to"), ("Redirect", "from"), ("Cancel", "from")}


def _with(pair: dict[str, Any], rule_type: str, name: str, value: str) -> dict[str, Any]:
    if name == "from" and rule_type in {"Redirect", "Cancel"}:
        return pair | {"source": pair["source"] | {"value": value}}
    return pair | {"destination" if rule_type == "Redirect" else name: value}


@door(RulesCopy, FORM)
async def copy(play: RulePlay) -> None:
    await play.alice.opens(f"/rules copy {play.id}")
    await play.sends()
    pairs = [{name: value for name, value in pair.items() if name != "id"} for pair in play.before["pairs"]]
    copied = {"name": f"{play.before['name']} (copy)", "status": "Inactive", "pairs": pairs}
    await play.becomes(play.made, play.before | copied, new=True)
    await play.stays()


@door(RulesShow, RulesOff, RulesOn)
async def switch_by_button(play: RulePlay) -> None:
    card = await play.alice.says(f"/rules show {play.id}")
    if play.switch[0] == "on":
        await play.alice.clicks(card, "Switch on")
    else:
        await play.alice.clicks(card, "Switch off…", opens="How long?")
        await play.sends()
    await play.is_switched()


@door(RulesOff, RulesOn, "decide.again", GatehouseUndo)
async def switch_by_text_undo_and_again(play: RulePlay) -> None:
    await play.switches()
    await play.alice.card(UNDO)
    await play.alice.types("/gatehouse undo")
    await play.stays()
    await play.alice.sees("Undone by")
    await play.alice.presses(AGAIN)
    await play.is_switched()


@door(RulesDelete, GatehouseInspect, "decide.approve", "decide.undo")
async def delete_and_undo(play: RulePlay) -> None:
    await play.alice.types(f"/rules delete {play.id}")
    await play.approves()
    await play.becomes(play.now, None)
    await play.alice.presses(UNDO)
    await play.becomes(play.made, play.before, new=True)


@door(RulesShow, RulesDelete, notes_view.callback("deny"), "decide.keep")
async def delete_by_button_denied_and_withdrawn(play: RulePlay) -> None:
    shown = await play.alice.says(f"/rules show {play.id}")
    await play.alice.clicks(shown, "Delete")
    await play.cara.clicks(await play.cara.card(APPROVE), "Deny…", opens="Reason")
    play.cara.fills(Reason=NON_ASCII)
    assert await play.cara.submits() == {}
    await play.alice.sees("Denied by")
    await play.alice.clicks(shown, "Delete")
    await play.alice.presses("v1.decide.keep")
    await play.alice.sees("Withdrawn")
    await play.stays()


@door(RulesDelete, "decide.again", "decide.approve")
async def request_again(play: RulePlay) -> None:
    """What changed since the request is not deleted, and can be requested again as it is now."""
    await play.alice.types(f"/rules delete {play.id}")
    await play.cara.card(APPROVE)
    play.before = play.before | {"name": f"By other hands {play.alice.about}"}
    play.sandbox.services.rules.put(play.before)
    await play.approves()
    await play.alice.presses("v1.decide.again")
    await play.stays()
    await play.cara.sees("Delete “By other hands")
    await play.approves()
    await play.becomes(play.now, None)


@door(RulesImport, import_form_view.RULES_FILE, import_form_view.RULES)
async def import_of_what_is_gone(play: RulePlay) -> None:
    play.sandbox.services.rules.remove(play.id)
    await _imports(play, play.before)
    await play.becomes(play.made, play.before | {"pairs": _without_ids(play)}, new=True)


async def _imports(play: RulePlay, record: Record) -> None:
    await play.alice.opens("/rules import")
    play.alice.attaches("File", **{"rules.json": json.dumps([record]).encode()})
    assert await play.alice.submits() == {}
    await play.alice.sees_form("Nothing has changed yet")
    await play.sends()


def _without_ids(play: RulePlay) -> list[dict[str, Any]]:
    return [{name: value for name, value in pair.items() if name != "id"} for pair in play.before["pairs"]]


@door(RulesExport)
async def export(play: RulePlay) -> None:
    await play.alice.types("/rules export")
    file, _ = await play.alice.sees_file("rules_")
    await play.alice.sees("was sent to you")
    records = {record["id"]: record for record in json.loads(file.content or b"")}
    assert records[play.id] == {"objectType": "rule", **play.before}


@door(RulesSet, "decide.undo")
async def bulk_and_undo(play: RulePlay) -> None:
    services, other_id = play.sandbox.services.rules, play.other
    other = services.get(other_id) or {}
    await play.alice.types(f'/rules set {play.id} {other_id} description="By two" because of the net')
    await play.becomes(play.now, play.before | {"description": "By two"})
    await play.becomes(lambda: services.get(other_id), other | {"description": "By two"})
    await play.alice.presses(UNDO)
    await play.stays()
    await play.becomes(lambda: services.get(other_id), other)


@door(RulesDelete, "decide.approve", "decide.undo")
async def bulk_delete_and_undo(play: RulePlay) -> None:
    await play.alice.types(f"/rules delete {play.id} {play.other}")
    await play.approves()
    await play.becomes(play.now, None)
    await play.alice.presses(UNDO)
    await play.alice.sees("Undone by")
    wanted = play.before["name"]
    found = next((rule for rule in play.sandbox.services.rules.all() if rule["name"] == wanted), None)
    await play.becomes(lambda: found, play.before, new=True)


@door(RulesOff, RulesOn)
async def temporary_and_its_end(play: RulePlay) -> None:
    await play.switches("for 2h because of the net")
    await play.alice.card("v1.decide.end")
    play.passes(hours=2, seconds=1)
    await play.stays()


@door(RulesSet, "decide.end")
async def temporary_field_and_its_early_end(play: RulePlay) -> None:
    await play.alice.types(f'/rules set {play.id} description="For a while" for 2h because of the net')
    await play.becomes(play.now, play.before | {"description": "For a while"})
    await play.alice.presses("v1.decide.end")
    await play.stays()


@door(RulesOff, RulesOn, "decide.until", "v1.decision.until")
async def temporary_extended_and_kept(play: RulePlay) -> None:
    await play.switches("for 2h because of the net")
    card = await play.alice.card("v1.decide.until")
    for_two_hours = play.alice.slack_text(card)
    for end in ("1 hour more", f"Keep {play.switch[0]}"):
        await play.alice.clicks(card, "v1.decide.until", opens="New end")
        await play.sends(**{"New end": end})
        await play.alice.waits(lambda: play.alice.slack_text(card) != for_two_hours, "another end")
    await play.alice.card(UNDO)
    play.passes(hours=9)
    await play.is_switched()


@door(RulesOff, RulesOn, "decide.now")
async def planned_and_done_now(play: RulePlay) -> None:
    await play.alice.types(f"/rules {play.switch[0]} {play.id} tomorrow 9:00")
    card = await play.alice.card("v1.decide.now")
    assert play.now() == play.before
    await play.alice.clicks(card, "v1.decide.now")
    await play.is_switched()


@door(RulesSet, "decide.replan", "v1.decision.replan")
async def planned_moved_and_begun(play: RulePlay) -> None:
    await play.alice.types(f'/rules set {play.id} description="From then on" tomorrow 9:00')
    await play.alice.clicks(await play.alice.card("v1.decide.replan"), "v1.decide.replan", opens="Change time")
    await play.sends(**{"When?": "in 2h"})
    play.passes(hours=2, seconds=1)
    await play.becomes(play.now, play.before | {"description": "From then on"})
