"""Files that people hand over, read from Slack: whole, within bounds, and without showing the token to anybody else."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bot.text.encoding import MAX_FILE_BYTES, FileTooLarge
from handlers.slack.client import SlackRefused, SlackUnreachable
from handlers.slack.files import FileGone, FileUnreadable, SlackFiles, is_slack_url
from sandbox.demo import Sandbox
from sandbox.slack.filestore import File
from sandbox.slack.serving import serving
from sandbox.slack.story import Person

CONTENT = "name,email\nAnna Bjørk,anna@example.com\n".encode() * 5000
TOO_LARGE = b"x" * (MAX_FILE_BYTES + 1)


async def uploaded(person: Person, name: str = "members.csv", content: bytes = CONTENT) -> File:
    return (await person.uploads(name, content)).files[0]


async def test_a_file_is_read_whole(workspace: Sandbox, alice: Person) -> None:
    file = await uploaded(alice)

    assert await workspace.bot.gatehouse.files.read(file.id) == CONTENT


async def test_a_page_that_is_the_file_is_no_login_page(workspace: Sandbox, alice: Person) -> None:
    file = await uploaded(alice, "page.html", b"<html>mine</html>")

    assert await workspace.bot.gatehouse.files.read(file.id) == b"<html>mine</html>"


async def test_a_large_file_is_not_even_begun(workspace: Sandbox, alice: Person) -> None:
    file = await uploaded(alice, content=TOO_LARGE)

    with pytest.raises(FileTooLarge):
        await workspace.bot.gatehouse.files.read(file.id)

    assert not [one for one in workspace.slack.state.traffic if one["what"] == "files.download"]


async def test_a_file_that_is_larger_than_it_says_is_cut_off(workspace: Sandbox, alice: Person) -> None:
    file = await uploaded(alice, content=TOO_LARGE)
    file.size = 10

    with pytest.raises(FileTooLarge):
        await workspace.bot.gatehouse.files.read(file.id)


async def test_files_that_are_gone_or_not_for_us(workspace: Sandbox, alice: Person) -> None:
    elsewhere = (await alice.uploads("secret.csv", CONTENT, channel="C0GENERAL")).files[0]
    gone = await uploaded(alice)
    gone.is_deleted = True

    for file_id in (elsewhere.id, gone.id, "F0NOTHERE"):
        with pytest.raises(FileGone):
            await workspace.bot.gatehouse.files.read(file_id)


@pytest.mark.parametrize("redirects", [False, True])
async def test_a_page_to_log_in_with_is_not_taken_for_the_file(
    workspace: Sandbox, alice: Person, *, redirects: bool
) -> None:
    workspace.slack.state.files.is_locked, workspace.slack.state.files.redirects = True, redirects

    for name in ("members.csv", "page.html"):
        file = await uploaded(alice, name)
        with pytest.raises(FileUnreadable):
            await workspace.bot.gatehouse.files.read(file.id)


@pytest.mark.parametrize(("fault", "error"), [("cut_before", SlackUnreachable), ("500", FileUnreadable)])
async def test_slack_breaking_off_is_an_error_of_ours(
    workspace: Sandbox, alice: Person, fault: str, error: type[Exception]
) -> None:
    file = await uploaded(alice)
    workspace.slack.faults.add(fault, method="files.download")

    with pytest.raises(error):
        await workspace.bot.gatehouse.files.read(file.id)


async def test_the_scope_that_is_missing_is_told(workspace: Sandbox, alice: Person) -> None:
    file = await uploaded(alice)
    workspace.slack.faults.add("missing_scope", method="files.info")

    with pytest.raises(SlackRefused, match="missing_scope"):
        await workspace.bot.gatehouse.files.read(file.id)


@pytest.mark.threat("E1")
async def test_no_other_host_hears_of_the_token_or_gets_a_file(workspace: Sandbox, alice: Person) -> None:
    heard: list[str] = []

    async def listener(request: Request) -> Response:
        heard.append(request.headers.get("authorization", ""))
        return PlainTextResponse("yours")

    elsewhere = Starlette(routes=[Route("/{path:path}", listener, methods=["GET", "POST"])])
    file = await uploaded(alice)
    files = workspace.bot.gatehouse.files
    assert isinstance(files, SlackFiles)
    async with serving(elsewhere) as address:
        file.base = workspace.slack.state.files.base = address
        with pytest.raises(FileUnreadable, match="not Slack's"):
            await files.read(file.id)
        with pytest.raises(FileUnreadable, match="not Slack's"):
            await files.send("C0OPS0001", "rules.json", b"[]", "the rules")

    assert heard == []


@pytest.mark.parametrize(
    ("url", "api", "own"),
    [
        ("https://files.slack.com/files-pri/T1-F1/a.json", "https://slack.com/api/", True),
        ("https://slack.com/files", "https://slack.com/api/", True),
        ("https://files.slack-gov.com/a", "https://slack-gov.com/api/", True),
        ("http://127.0.0.1:4000/files-pri/a", "http://127.0.0.1:4000/api/", True),
        ("http://files.slack.com/a", "https://slack.com/api/", False),
        ("https://files.slack.com:8443/a", "https://slack.com/api/", False),
        ("https://files.slack.com@evil.example/a", "https://slack.com/api/", False),
        ("https://evil.example\\@files.slack.com/a", "https://slack.com/api/", False),
        ("https://evilslack.com/a", "https://slack.com/api/", False),
        ("https://files.slack.com.evil.example/a", "https://slack.com/api/", False),
        ("https://docs.google.com/a", "https://slack.com/api/", False),
        ("http://127.0.0.1:4001/a", "http://127.0.0.1:4000/api/", False),
        ("file:///etc/passwd", "https://slack.com/api/", False),
        ("https://files.slack.com:x/a", "https://slack.com/api/", False),
        ("https://files.slack.com/a b", "https://slack.com/api/", False),
        ("", "https://slack.com/api/", False),
    ],
)
def test_which_addresses_are_slacks(url: str, api: str, own: bool) -> None:
    assert is_slack_url(url, api) is own


async def test_a_file_for_a_channel_is_not_called_after_anybody(workspace: Sandbox, alice: Person) -> None:
    files = workspace.bot.gatehouse.files
    assert isinstance(files, SlackFiles)
    workspace.slack.state.open_direct(alice.id)

    for channel in (alice.channel, alice.dm):
        await files.send(channel, "anna.berg@example.com.json", b"[]", "for anna.berg@example.com")

    _, message = await alice.sees_file("anna.berg@")
    assert message.channel == alice.dm
    assert "anna.berg@example.com" in message.text, "private answers are whole"
