"""Files as an app meets them: sent in three steps, told of, read with its token, and handed to it by people."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from sandbox.gatehouse import ALICE, BOB
from sandbox.slack.filestore import MAX_IN_FORM, File
from sandbox.slack.running import TOKEN, LocalSlack
from sandbox.slack.story import Person
from tests.sandbox.slack.conftest import App, app_of, installed
from tests.sandbox.slack.desk import MANIFEST, Desk, scoped, words

OPS, GENERAL = "C0OPS0001", "C0GENERAL"
CONTENT = b'[{"name": "Old shop"}]'


async def announced(app: App, name: str = "rules.json", content: bytes = CONTENT) -> dict[str, Any]:
    answer = await app.form("files.getUploadURLExternal", filename=name, length=len(content))
    assert answer["ok"], answer
    return answer


async def sent(app: App, name: str = "rules.json", content: bytes = CONTENT) -> str:
    """The id of a file whose content is there."""
    ticket = await announced(app, name, content)
    async with httpx.AsyncClient(trust_env=False) as http:  # no token: the address is what lets in
        answer = await http.post(ticket["upload_url"], content=content)
    assert (answer.status_code, answer.text) == (200, f"OK - {len(content)}")
    return str(ticket["file_id"])


async def shared(app: App, channel: str = OPS, **more: Any) -> dict[str, Any]:
    """The file object of a file that stands in *channel*."""
    files = [{"id": await sent(app), "title": "Rules"}]
    answer = await app.json("files.completeUploadExternal", files=files, channel_id=channel, **more)
    assert answer["ok"], answer
    return dict(answer["files"][0])


async def read(url: str, token: str = TOKEN) -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False) as http:
        return await http.get(url, headers={"Authorization": f"Bearer {token}"} if token else {})


async def test_a_file_comes_into_a_channel_in_three_steps(app: App, slack: LocalSlack) -> None:
    file = await shared(app, initial_comment="Twenty-five rules")

    (message,) = slack.state.messages
    assert (message.channel, message.text, message.files[0].name) == (OPS, "Twenty-five rules", "rules.json")
    assert (file["title"], file["size"], file["filetype"]) == ("Rules", len(CONTENT), "json")
    assert file["shares"] == {}, "where it stands is not told at once"
    told = (await app.get("files.info", file=file["id"]))["file"]
    assert told["shares"] == {"public": {OPS: [{"ts": message.ts, "channel_name": ""}]}}
    assert told["channels"] == [OPS]


async def test_a_form_with_the_file_in_it_is_taken_too(app: App, slack: LocalSlack) -> None:
    ticket = await announced(app)
    async with httpx.AsyncClient(trust_env=False) as http:
        answer = await http.post(ticket["upload_url"], files={"filename": ("rules.json", CONTENT)})

    assert answer.status_code == 200
    assert slack.state.files.all[ticket["file_id"]].content == CONTENT


async def test_json_is_not_looked_at_when_a_file_is_announced(app: App) -> None:
    answer = await app.json("files.getUploadURLExternal", filename="a.json", length=3)

    assert answer["error"] == "invalid_arguments"


async def test_an_upload_of_another_length_is_refused(app: App) -> None:
    ticket = await announced(app)
    async with httpx.AsyncClient(trust_env=False) as http:
        answer = await http.post(ticket["upload_url"], content=CONTENT[:-1])

    assert answer.status_code == 400
    listed = [{"id": ticket["file_id"]}]
    assert (await app.json("files.completeUploadExternal", files=listed))["error"] == "file_not_found"


@pytest.mark.parametrize(
    ("channel", "error"),
    [("C0NOWHERE", "channel_not_found"), (GENERAL, "not_in_channel"), (ALICE.id, "invalid_arguments")],
)
async def test_a_file_goes_only_where_the_app_is_and_never_to_a_person_by_id(
    app: App, slack: LocalSlack, channel: str, error: str
) -> None:
    files = [{"id": await sent(app)}]

    answer = await app.json("files.completeUploadExternal", files=files, channel_id=channel)

    assert answer["error"] == error
    assert slack.state.messages == []
    direct = (await app.json("conversations.open", users=ALICE.id))["channel"]["id"]
    assert (await app.json("files.completeUploadExternal", files=files, channel_id=direct))["ok"]


async def test_blocks_count_where_there_is_no_comment(app: App, slack: LocalSlack) -> None:
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "Rules"}}]
    await shared(app, blocks=blocks)
    await shared(app, blocks=blocks, initial_comment="Only this")
    refused = await app.json(
        "files.completeUploadExternal", files=[{"id": await sent(app)}], channel_id=OPS, blocks=[{"type": "nonsense"}]
    )

    assert [(one.text, len(one.blocks)) for one in slack.state.messages] == [("", 1), ("Only this", 0)]
    assert refused["error"] == "invalid_blocks"


async def test_a_file_in_a_thread(app: App, slack: LocalSlack) -> None:
    root = await app.post(OPS)
    await shared(app, thread_ts=root)

    (reply,) = slack.state.replies(OPS, root)
    assert [one.name for one in reply.files] == ["rules.json"]


async def test_reading_takes_the_token_of_an_app_that_may(app: App, slack: LocalSlack) -> None:
    file = await shared(app)

    for name in ("url_private", "url_private_download"):
        whole = await read(file[name])
        assert (whole.content, whole.headers["content-type"]) == (CONTENT, "text/plain; charset=utf-8")
        for token in ("", "xoxb-another"):
            page = await read(file[name], token)
            assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
            assert CONTENT not in page.content
    slack.state.files.redirects = True
    assert (await read(file["url_private"], "")).status_code == 307


async def test_without_the_scope_there_is_a_login_page_and_no_error() -> None:
    async with app_of(scoped(["files:write"])) as app:
        file = await shared(app)
        page = await read(file["url_private_download"])
        told = await app.get("files.info", file=file["id"])

    assert page.headers["content-type"].startswith("text/html")
    assert (told["error"], told["needed"]) == ("missing_scope", "files:read")


def file_form(**element: Any) -> dict[str, Any]:
    entry = {"type": "file_input", "action_id": "file.pick", **element}
    block = {"type": "input", "block_id": "file", "label": words("File"), "element": entry}
    return {"type": "modal", "title": words("Import"), "submit": words("Go"), "blocks": [block]}


async def test_a_form_with_a_file_input_takes_a_scope(desk: Desk) -> None:
    answers: list[str] = []

    async def open_form(command: dict[str, Any]) -> None:
        answers.append(await desk.refused("views.open", trigger_id=command["trigger_id"], view=file_form()))

    desk.on["command"] = open_form
    await Person(desk.slack, ALICE.id, OPS).types("/desk")

    assert answers == ["missing_scope"]


@pytest.fixture
async def filer() -> AsyncIterator[Desk]:
    """The desk, with a scope for files; ``/desk`` opens a form that takes one JSON file."""
    scopes = {"bot": ["commands", "chat:write", "files:read", "channels:history"]}
    async with installed(MANIFEST | {"oauth_config": {"scopes": scopes}}) as desk:

        async def open_form(command: dict[str, Any]) -> None:
            view = file_form(filetypes=["json"], max_files=1)
            await desk.call("views.open", trigger_id=command["trigger_id"], view=view)

        desk.on["command"] = open_form
        yield desk


async def told(desk: Desk, file: File) -> dict[str, Any]:
    """What files.info answers."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    answer = await desk.http.get(f"{desk.slack.api_url}files.info", params={"file": file.id}, headers=headers)
    return dict(answer.json())


@pytest.mark.parametrize(
    ("files", "word"),
    [
        ({"picture.png": b"1"}, "file_type_not_allowed"),
        ({"a.json": b"1", "b.json": b"2"}, "too_many_files"),
        ({"a.json": b"1" * (MAX_IN_FORM + 1)}, "file_too_large"),
    ],
)
async def test_a_file_input_takes_only_what_it_says(filer: Desk, files: dict[str, bytes], word: str) -> None:
    alice = Person(filer.slack, ALICE.id, OPS)
    await alice.opens("/desk")

    with pytest.raises(AssertionError, match=word):
        alice.attaches("File", **files)


async def test_somebody_elses_file_cannot_be_sent_in_a_form(filer: Desk) -> None:
    alice, bob = Person(filer.slack, ALICE.id, OPS), Person(filer.slack, BOB.id, OPS)
    secret = (await bob.uploads("salaries.json", CONTENT, channel=GENERAL)).files[0]
    await alice.opens("/desk")
    assert alice.modal is not None
    values = {"file": {"file.pick": {"type": "file_input", "files": [secret.info()]}}}

    await filer.slack.acting.submit(alice.id, alice.modal["id"], values)

    assert filer.last("view_submission")["view"]["state"]["values"]["file"]["file.pick"]["files"] == []
    assert (await told(filer, secret))["error"] == "file_not_found"
