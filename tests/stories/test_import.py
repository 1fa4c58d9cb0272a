"""Rules and members from files: shown first, done row by row, told row by row, taken back as one."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.changes.model.states import State
from bot.policy.limits import IMPORT_RATE, TooFast
from handlers.files.import_form_view import MEMBERS, RULES
from sandbox.demo import Sandbox
from sandbox.gatehouse import ALICE
from sandbox.services.database import Record
from sandbox.services.seed import redirect_pair
from tests.conftest import Clock
from tests.harness.colleague import Colleague
from tests.harness.held_service import Held
from tests.harness.truth import all_changes

SHOP = "https://shop.example.com"


def rule(name: str, **more: object) -> dict[str, object]:
    pair = redirect_pair(f"{SHOP}/{name}", f"{SHOP}/new/{name}")
    return {"name": name, "description": "", "status": "Active", "ruleType": "Redirect", "pairs": [pair], **more}


async def shown(person: Colleague, command: str, label: str, name: str, content: bytes) -> str:
    """Hand a file over in the form of *command*; what would happen."""
    await person.opens(command)
    person.attaches(label, **{name: content})
    assert await person.submits() == {}
    await person.sees_view(RULES if command == "/rules import" else MEMBERS)
    return person.form


def button(person: Colleague) -> str:
    """What the button of the open form says."""
    return str((person.modal or {})["submit"]["text"])


async def test_rules_are_shown_then_created_as_in_the_file_and_taken_back(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    before = len(workspace.services.rules.all())
    records = [
        rule("one"),
        rule("two", status="Inactive"),
        rule("one"),
        {"name": "bad", "ruleType": "Redirect", "pairs": []},
    ]
    text = await shown(alice, "/rules import", "File", "rules.json", json.dumps(records).encode())
    assert "2" in text
    assert len(workspace.services.rules.all()) == before

    assert await alice.submits() == {}
    card = await alice.sees_set(applied=2, skipped=2)
    made = {str(each["name"]): each for each in workspace.services.rules.all()}
    assert (made["one"]["status"], made["two"]["status"]) == ("Active", "Inactive")
    assert len(made) == before + 2

    await alice.clicks(card, "Details", opens="the same as record 1")
    assert alice.form.count("done") == 2

    await alice.clicks(card, "Undo", confirm=True)
    await alice.sees_set(undone=2, skipped=2)
    assert len(workspace.services.rules.all()) == before


async def test_the_rest_of_an_own_undo_that_deletes_is_undone_after_the_same_question(
    workspace: Sandbox, alice: Colleague
) -> None:
    before = len(workspace.services.rules.all())
    await shown(alice, "/rules import", "File", "rules.json", json.dumps([rule("one"), rule("two")]).encode())
    assert await alice.submits() == {}
    card = await alice.sees_set(applied=2)
    workspace.services.rules.stage.faults.add("refused_200", method="DELETE", times=1)
    await alice.clicks(card, "Undo", confirm=True)
    await alice.sees_set(applied=1, failed=1)
    assert len(workspace.services.rules.all()) == before + 1

    await alice.clicks(card, "Undo", confirm=True)
    await alice.sees_set(undone=2)
    assert len(workspace.services.rules.all()) == before


async def test_a_table_of_redirects_becomes_rules_in_one_card_until_its_end(
    workspace: Sandbox, alice: Colleague
) -> None:
    rows = "".join(f"{SHOP}/v{number},{SHOP}/new/{number},23:59\n" for number in range(40))
    content = f"from,to,until\n{rows}/lost,{SHOP}/new,23:59\n"
    text = await shown(alice, "/rules import", "File", "vanity.csv", content.encode())
    assert "All of it lasts until" in text
    assert "“/lost” in from is not a whole URL" in text

    await alice.submits()
    card = await alice.sees_set(applied=40, skipped=1)
    made = [each for each in workspace.services.rules.all() if str(each["name"]).startswith("shop.example.com/v")]
    assert [each["status"] for each in made] == ["Active"] * 40
    assert "until" in str(card)


LOOPING = {
    "w.csv": f"from,to\n{SHOP}/i1,{SHOP}/i2\n{SHOP}/i2,{SHOP}/i1\n{SHOP}/i3,{SHOP}/i3\n{SHOP}/i4,{SHOP}/new\n",
    "other.csv": f"from,to\n{SHOP}/new,{SHOP}/old\n",
}
LOOPS = {
    "w.csv": ["Lines 2 and 3 loop.", "Line 4 loops."],
    "other.csv": ["Line 2 and “Old shop to new shop” loop."],
}


@pytest.mark.parametrize("name", LOOPING)
async def test_what_an_import_makes_loop_is_shown_before_it_is_done(
    workspace: Sandbox, alice: Colleague, name: str
) -> None:
    text = await shown(alice, "/rules import", "File", name, LOOPING[name].encode())
    assert all(line in text for line in LOOPS[name])
    assert "Line 5" not in text

    assert not [call for call in workspace.services.rules.stage.calls if call.method != "GET"]

    await alice.submits()
    card = await alice.sees_change() if name == "other.csv" else await alice.sees_set(applied=4)
    assert LOOPS[name][0] in alice.slack_text(card)


async def test_an_end_of_a_table_is_shown_or_refused(alice: Colleague) -> None:
    for end, words in {
        "01/02/2027": "one that can’t be used",
        "forever": "one that can’t be used",
        "23:59;": "has different times",
        "until 23:59;until 23:59": "All of it lasts until 23:59",
        "2 weeks": "All of it lasts for 2 weeks",
    }.items():
        rows = "".join(f"{SHOP}/v{at},{SHOP}/new/{at},{each}\n" for at, each in enumerate(end.split(";")))
        await alice.opens("/rules import")
        alice.attaches("File", **{"vanity.csv": f"from,to,until\n{rows}".encode()})
        await alice.submits()
        await alice.sees_form(words)
        assert button(alice) == ("Import" if "lasts" in words else "Preview")
        alice.slack.state.stack(alice.id).clear()


async def test_an_end_in_the_past_is_refused_before_anything_is_requested(alice: Colleague) -> None:
    await shown(alice, "/rules import", "File", "v.csv", f"from,to,until\n{SHOP}/v,{SHOP}/new,2020-12-31\n".encode())
    await alice.submits()

    await alice.sees_form("is in the past")
    assert await all_changes(alice.store) == []


@pytest.mark.parametrize(("command", "name"), [("/rules import", "vanity.csv"), ("/members import", "people.csv")])
async def test_what_is_imported_for_later_is_imported_then(
    workspace: Sandbox, alice: Colleague, bob: Colleague, clock: Clock, command: str, name: str
) -> None:
    files = {
        "vanity.csv": f"from,to\n{SHOP}/sale,{SHOP}/new\n{SHOP}/deal,{SHOP}/new\n",
        "people.csv": "email,name\nnew.one@example.com,New One\nnew.two@example.com,New Two\n",
    }
    person = alice if command == "/rules import" else bob
    stages = [workspace.services.rules.stage, workspace.services.members.stage]
    await person.opens(command)
    person.attaches("File", **{name: files[name].encode()})
    person.fills(Start="whenever")
    assert "Enter a time" in str(await person.submits())
    person.fills(Start="in 2h")
    assert await person.submits() == {}
    await person.sees_view(RULES if person is alice else MEMBERS)
    assert "Starts: in 2h" in person.form
    assert await person.submits() == {}
    await person.sees_change(state=State.PLANNED)
    assert {call.method for stage in stages for call in stage.calls} == {"GET"}

    clock.ahead += timedelta(hours=2, seconds=1)
    await person.sees_set(applied=2)


@pytest.mark.parametrize("switches", [{"groups": "off"}], indirect=True)
async def test_rules_come_without_their_group_into_a_service_without_groups(
    workspace: Sandbox, alice: Colleague
) -> None:
    records = [rule("one", groupId="Group_gone1"), rule("two", groupId="Group_sale1"), rule("three")]
    text = await shown(alice, "/rules import", "File", "rules.json", json.dumps(records).encode())
    assert "2 new rules without a group. Not found: `Group_gone1` and `Group_sale1`." in text

    assert await alice.submits() == {}
    await alice.sees_set(applied=3)
    made = {str(each["name"]): each.get("groupId") for each in workspace.services.rules.all()}
    assert not made["one"]
    assert not made["three"]


async def test_a_reason_of_an_import_is_not_cut(workspace: Sandbox, alice: Colleague) -> None:
    await alice.opens("/rules import")
    assert alice.modal is not None
    (why,) = (block["element"] for block in alice.modal["blocks"] if block.get("block_id") == "because")
    reason = "x" * int(why["max_length"])
    alice.attaches("File", **{"rules.json": json.dumps([rule("one")]).encode()})
    alice.fills(Why=reason)
    await alice.submits()
    await alice.sees_view(RULES)
    await alice.submits()

    card = await alice.sees_set(applied=1)
    assert (await alice.change_of(card)).request.reason == reason


@pytest.mark.slow
@pytest.mark.parametrize("switches", [{"paging": "off"}, {"paging": "pages"}], indirect=True)
async def test_an_export_comes_back_as_it_was(workspace: Sandbox, alice: Colleague, bob: Colleague) -> None:
    for number in range(40):
        workspace.services.rules.put(rule(f"more{number}") | {"id": f"Redirect_more{number}"})
    await alice.types("/rules export")
    exported, _ = await alice.sees_file("rules_")
    everything = {each["id"]: each for each in workspace.services.rules.all()}
    for each in everything:
        workspace.services.rules.remove(str(each))

    await shown(alice, "/rules import", "File", "rules.json", exported.content or b"")
    await alice.submits()
    await alice.sees_set(applied=len(everything))

    def content(record: Record) -> str:
        served = {"id", "creationDate", "modificationDate", "createdBy", "lastModifiedBy", "currentOwner", "objectType"}
        kept = {name: value for name, value in record.items() if name not in {*served, "pairs"}}
        pairs = [{name: value for name, value in pair.items() if name != "id"} for pair in record["pairs"]]
        return json.dumps([kept, pairs], sort_keys=True)

    now, then = (sorted(map(content, records)) for records in (workspace.services.rules.all(), everything.values()))
    assert now == then

    again = await shown(bob, "/rules import", "File", "rules.json", exported.content or b"")
    assert f"{len(everything)} skipped" in again
    assert "Nothing to import" in again


async def test_what_is_here_already_is_never_changed(workspace: Sandbox, alice: Colleague) -> None:
    live = dict(workspace.services.rules.get("Redirect_x1old") or {})
    content = json.dumps([live | {"description": "From the file"}, rule("one")]).encode()

    text = await shown(alice, "/rules import", "File", "rules.json", content)
    assert "already there, with this id" in text
    await alice.submits()
    await alice.sees_set(applied=1, skipped=1)

    assert workspace.services.rules.get("Redirect_x1old") == live


async def test_the_card_of_an_import_is_masked(workspace: Sandbox, bob: Colleague) -> None:
    table = b"email;name;segments\nnew@example.net;Nia New;vip\nanna.berg@example.com;;\n=x;;\n"
    preview = await shown(bob, "/members import", "File", "members.csv", table)
    assert "new@example.net" in preview, "a modal is private"
    assert await bob.submits() == {}

    card = await bob.sees_set(applied=1, skipped=2)
    assert "new@example.net" not in bob.slack_text(card)
    assert workspace.services.members.get("site_1", "new@example.net") is not None


async def test_two_people_who_retry_what_failed_create_it_once(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    workspace.services.rules.stage.faults.add("refused_200", method="POST", times=2)
    await shown(alice, "/rules import", "File", "rules.json", json.dumps([rule("one"), rule("two")]).encode())
    await alice.submits()
    partly = await alice.sees_set(applied=1, failed=1)

    await alice.clicks(partly, "Retry the one that failed")
    await alice.sees_set(applied=1)
    await cara.clicks(partly, "Retry the one that failed")
    await cara.sees_problem("already requested")

    names = [str(each["name"]) for each in workspace.services.rules.all()]
    assert (names.count("one"), names.count("two")) == (1, 1)


async def test_what_changed_since_it_was_shown_is_shown_again(workspace: Sandbox, alice: Colleague) -> None:
    await shown(alice, "/rules import", "File", "rules.json", json.dumps([rule("one"), rule("two")]).encode())
    workspace.services.rules.put(rule("one", id="Redirect_meanw"))

    await alice.submits()
    await alice.sees_form("review it again")

    assert workspace.services.rules.calls("POST") == []


@pytest.mark.parametrize(
    "mode",
    ["Replace their segments with these", "Grant them these segments", "Remove them from the site"],
)
async def test_a_member_that_was_changed_since_they_were_shown_is_shown_again(
    workspace: Sandbox, bob: Colleague, mode: str
) -> None:
    services, email = workspace.services, "anna.berg@example.com"
    anna = dict(services.members.get("site_1", email) or {}) | {"allowedSegments": ["free"]}
    services.members.put("site_1", anna)
    await bob.opens("/members import")
    bob.attaches("File", **{"some.csv": f"email,segments\n{email},vip\n".encode()})
    bob.fills(**{"What to do with these people?": mode})
    await bob.submits()
    await bob.sees_view(MEMBERS)
    services.members.put("site_1", anna | {"allowedSegments": ["free", "staff"]})

    await bob.submits()
    await bob.sees_form("review it again")

    assert services.members.get("site_1", email) == anna | {"allowedSegments": ["free", "staff"]}
    assert await workspace.bot.gatehouse.store.changes.list_open() == []


async def test_removing_from_a_file_waits_for_an_approval(workspace: Sandbox, bob: Colleague) -> None:
    await bob.opens("/members import")
    bob.attaches("File", **{"gone.csv": b"email\nanna.berg@example.com\n"})
    bob.fills(**{"What to do with these people?": "Remove them from the site"})
    await bob.submits()
    await bob.sees_view(MEMBERS)
    await bob.submits()

    card = await bob.sees_change(state=State.PROPOSED)
    assert "anna.berg" not in bob.slack_text(card)
    assert workspace.services.members.get("site_1", "anna.berg@example.com") is not None


async def test_headings_that_do_not_fit_are_named(workspace: Sandbox, bob: Colleague) -> None:
    table = b"E-mail,Item,Buyer name\nnew@b.example,vip,Bo Day\n"
    await bob.opens("/members import")
    bob.attaches("File", **{"sales.csv": table})
    await bob.submits()

    await bob.sees_form("Rename the column “E-mail” to “email”. Remove: “Item”, “Buyer name”.")


@pytest.mark.threat("A13")
async def test_a_person_has_one_import_at_work_at_a_time(workspace: Sandbox, bob: Colleague) -> None:
    workspace.services.members.stage.faults = service = Held()
    for _ in range(2):
        await bob.opens("/members import")
        bob.attaches("File", **{"sales.csv": b"email\nnew@b.example\n"})
        await bob.submits()

    await bob.sees_form("Your last `import` is still running.")
    service.free.set()


def steps_left(workspace: Sandbox, person: Colleague) -> int:
    """How many steps of imports *person* may still take within the hour; it takes them."""
    taken = 0
    with suppress(TooFast):
        while True:
            workspace.bot.gatehouse.limits.take(IMPORT_RATE, person.id)
            taken += 1
    return taken


@pytest.mark.threat("A13")
async def test_each_step_of_an_import_counts_as_one(workspace: Sandbox, alice: Colleague, bob: Colleague) -> None:
    """The file is read again at each of them."""
    await shown(alice, "/rules import", "File", "rules.json", json.dumps([rule("one")]).encode())
    await alice.submits()
    await alice.sees_set(applied=1)
    await shown(bob, "/members import", "File", "some.csv", b"email,segments\nnew@b.example,vip\n")
    await bob.submits()
    await bob.sees_set(applied=1)

    most = IMPORT_RATE.per_person
    assert [steps_left(workspace, each) for each in (alice, bob)] == [most - 2, most - 2]


async def test_a_row_without_an_email_is_called_by_its_line(workspace: Sandbox, bob: Colleague) -> None:
    await bob.opens("/members import")
    bob.attaches("File", **{"some.csv": b"email,name\nnew@b.example,Bo\n,Ann\n"})
    await bob.submits()
    await bob.sees_view(MEMBERS)
    assert "line 3  the email is missing" in bob.form
    await bob.submits()

    assert "line 3" in bob.slack_text(await bob.sees_set(applied=1, skipped=1))


async def test_a_start_means_the_same_when_the_preview_is_sent_as_when_it_was_typed(
    clock: Clock, alice: Colleague
) -> None:
    start = (clock() + timedelta(minutes=3)).astimezone(ZoneInfo(ALICE.tz))
    await alice.opens("/rules import")
    alice.attaches("File", **{"rules.json": json.dumps([rule("one")]).encode()})
    alice.fills(Start=f"{start:%H:%M}")
    assert await alice.submits() == {}
    await alice.sees_view(RULES)

    clock.ahead += timedelta(minutes=5)
    await alice.submits()

    await alice.sees_form("is in the past")
    assert await all_changes(alice.store) == []
