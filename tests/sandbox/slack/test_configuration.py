"""The file that says who and what a local Slack has: what it makes, and what it is refused for."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from sandbox.slack.configuration import BadConfiguration, load_workspaces
from sandbox.slack.running import TOKEN, running_slack
from tests.sandbox.slack.desk import MANIFEST, scoped

LEAST = """
[[workspaces]]
id = "T0MINE001"
name = "Mine"
domain = "mine"
bot_user = "U0MINEBOT"
bot_id = "B0MINE001"
people = [
    { id = "U0ANN0001", name = "ann", real_name = "Ann Lee" },
    { id = "U0LEFT001", name = "left", real_name = "Left Long Ago", is_deleted = true },
    { id = "U0ELSE001", name = "else", real_name = "Of Another Company", is_stranger = true },
]
channels = [{ id = "C0ALL0001", name = "all" }, { id = "C0BOTH001", name = "both", members = ["else", "ann"] }]
"""


def file(folder: Path, text: str) -> Path:
    path = folder / "people.toml"
    path.write_text(text)
    return path


def test_without_members_a_channel_has_everybody_who_may_be_in_it(tmp_path: Path) -> None:
    (mine,) = load_workspaces(file(tmp_path, LEAST))

    assert mine.channels["C0ALL0001"].members == ("U0ANN0001",)
    assert mine.channels["C0BOTH001"].members == ("U0ELSE001", "U0ANN0001")
    assert [one.members for one in mine.channels.values() if one.kind == "im"] == [("U0ANN0001", "U0MINEBOT")]


async def test_an_app_meets_whom_the_file_names_under_the_name_of_its_manifest(tmp_path: Path) -> None:
    text = f'[app]\nid = "A0MINE001"\nicon = "mine.svg"\n{LEAST}'
    (tmp_path / "mine.svg").write_text("<svg/>")
    manifest = scoped(["users:read", "team:read"])
    async with (
        running_slack(manifest, load_workspaces(file(tmp_path, text))) as slack,
        httpx.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, trust_env=False) as http,
    ):
        people = (await http.get(f"{slack.api_url}users.list")).json()["members"]
        team = (await http.get(f"{slack.api_url}team.info")).json()["team"]
        bot = (await http.get(f"{slack.api_url}bots.info")).json()["bot"]
        icon = await http.get(f"{slack.page_url}/page/icon.svg")

    assert [one["name"] for one in people] == ["ann", "left", "desk"]
    assert (team["id"], team["domain"]) == ("T0MINE001", "mine")
    assert (bot["app_id"], bot["user_id"], bot["id"]) == ("A0MINE001", "U0MINEBOT", "B0MINE001")
    assert (icon.text, icon.headers["content-type"]) == ("<svg/>", "image/svg+xml")


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        (', real_name = "Ann Lee"', "", "workspaces.T0MINE001.people.U0ANN0001.real_name is required: add it."),
        ('name = "Mine"', "", "workspaces.T0MINE001.name is required: add it."),
        ('id = "C0ALL0001", ', "", "workspaces.T0MINE001.channels.#1.id is required: add it."),
        (
            'real_name = "Ann Lee"',
            'realname = "Ann Lee"',
            "people.U0ANN0001.real_name is required: add it.\nworkspaces.T0MINE001.people.U0ANN0001.realname is not a key of",
        ),
        ('name = "Mine"', 'name = "Mine"\ncolour = "red"', "workspaces.T0MINE001.colour is not a key of this table"),
        ("[[workspaces]]", "[apps]\n[[workspaces]]", "apps is not a key of this table"),
        ('name = "Mine"', "name = 7", "workspaces.T0MINE001.name is wrong: Input should be a valid string."),
        ('name = "all"', 'name = "all", kind = "mpim"', "C0ALL0001.kind is wrong: Input should be 'channel' or 'im'."),
        (
            '"else", "ann"',
            '"bob"',
            "workspaces.T0MINE001: nobody is called 'bob'. Add them to people, or use one of ann,",
        ),
        ("U0LEFT001", "U0ANN0001", "the id U0ANN0001 is used twice. Give each its own."),
        (
            'name = "left"',
            'name = "ann"',
            "workspaces.T0MINE001: two people are called 'ann'. Give each their own name.",
        ),
        ('"U0ANN0001"', '"ann"', "'ann' is not an id. Use capital letters and digits, such as U0ALICE01."),
        ("[[workspaces]]", '[app]\nicon = "no.svg"\n[[workspaces]]', "app.icon: there is no file"),
        ("[[workspaces]]", "[[workspaces", "it can't be read: "),
        (LEAST, "", "workspaces is required: add it."),
    ],
)
def test_what_is_wrong_is_named_with_its_file_its_key_and_what_to_do(
    tmp_path: Path, right: str, wrong: str, words: str
) -> None:
    path = file(tmp_path, LEAST.replace(right, wrong))

    with pytest.raises(BadConfiguration) as refused:
        load_workspaces(path)

    assert str(refused.value).startswith(f"{path}: ")
    assert words in str(refused.value)
    assert str(refused.value).count("\n") == words.count("\n")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadConfiguration, match=r"none\.toml: it can't be read"):
        load_workspaces(tmp_path / "none.toml")


async def test_the_page_starts_afresh_without_a_demo_around_it() -> None:
    async with running_slack(MANIFEST) as slack, httpx.AsyncClient(trust_env=False) as http:
        await slack.acting.say("U0GWEN001", "C0LABOPS1", "Hello")
        assert slack.state.messages
        await http.post(f"{slack.page_url}/_local/reset", json={}, headers={"X-Local-Slack-Page": "1"})

        assert slack.state.messages == []
