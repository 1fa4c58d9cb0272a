"""`python -m sandbox`: one demo a folder, however often it is started."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path

import pytest

from bot.server.manifest import document
from sandbox.demo import URL_FILE, announcing_url, running_url
from sandbox.gatehouse import SHOP
from sandbox.slack.running import running_slack
from sandbox.slack.serving import bind_socket

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("port 8800")]  # or one lets go of it while another starts

ROOT = Path(__file__).parents[2]


async def started(folder: Path, *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "sandbox", *arguments),
        cwd=ROOT,
        env=os.environ | {"SANDBOX_FOLDER": str(folder)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


@asynccontextmanager
async def port_8800_taken() -> AsyncIterator[bool]:
    """Have a listener on the usual port of the page: this test, which is what it yields, unless somebody else is there already.

    Another one, such as the demo of another test, may be gone before ours starts.
    """
    with ExitStack() as stack:
        is_ours = False
        with suppress(OSError):
            stack.enter_context(bind_socket(8800)).listen()
            is_ours = True
        yield is_ours


@asynccontextmanager
async def demo(folder: Path, *, finds_port_taken: bool) -> AsyncIterator[str]:
    """A demo that runs in *folder*; the URL of its page. It is killed at the end."""
    process = await started(folder)
    try:
        assert process.stdout is not None
        while "Gatehouse is at" not in (line := (await process.stdout.readline()).decode()):
            assert not process.stdout.at_eof()
        yield line.split()[-1]
    finally:
        process.kill()
        _, errors = await process.communicate()
    assert not finds_port_taken or b"Port 8800 is taken; using another one.\n" in errors


async def test_a_second_start_names_the_url_of_the_first_and_changes_nothing(tmp_path: Path) -> None:
    async with port_8800_taken() as is_ours, demo(tmp_path, finds_port_taken=is_ours) as url:
        again, fresh = await started(tmp_path), await started(tmp_path, "--fresh")
        (out, err), (fresh_out, fresh_err) = await asyncio.gather(again.communicate(), fresh.communicate())

        assert (again.returncode, err) == (0, b"")
        assert f"already running at  {url}" in out.decode()
        assert (fresh.returncode, fresh_out) == (1, b"")
        assert "Stop it with Ctrl-C" in fresh_err.decode()
        assert (tmp_path / "gatehouse.db").exists()
        assert running_url(tmp_path) == url

    assert (tmp_path / URL_FILE).read_text() == url
    assert running_url(tmp_path) is None


async def test_of_two_that_start_at_once_one_runs_and_the_other_says_where(tmp_path: Path) -> None:
    async with port_8800_taken():
        both = [await started(tmp_path), await started(tmp_path)]
        ended, _ = await asyncio.wait(
            [asyncio.create_task(each.communicate()) for each in both], return_when=asyncio.FIRST_COMPLETED
        )
        try:
            ((out, _),) = [each.result() for each in ended]
            url = running_url(tmp_path)
            assert url is not None
            assert f"already running at  {url}" in out.decode()
        finally:
            for each in both:
                if each.returncode is None:
                    each.kill()
                    await each.wait()


async def test_the_demo_of_another_folder_is_not_this_one(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    mine.mkdir()
    async with running_slack(document("http://127.0.0.1"), SHOP, folder=str(other)) as slack:
        with announcing_url(mine, slack.page_url):
            assert await asyncio.to_thread(running_url, mine) is None
        assert not (mine / URL_FILE).exists()


@pytest.mark.parametrize("content", ["", "no url", "http://127.0.0.1:1", "http://[", "\x00"])
def test_a_file_that_leads_nowhere_is_no_demo(tmp_path: Path, content: str) -> None:
    (tmp_path / URL_FILE).write_text(content)
    assert running_url(tmp_path) is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("services", "--switch", "paging"), "--switch paging=: write one of off, pages, sizeless."),
        (("services", "--switch", "paging=some"), "--switch paging=some: write one of off, pages, sizeless."),
        (("services", "--switch", "pagin=off"), "--switch pagin=off: no switch is called so."),
        (("services", "--members-port", "65536"), "--members-port"),
        (("slack", "--port", "-1"), "--port"),
        *((("--fresh", part), "--fresh") for part in ("services", "slack", "switches")),  # it has nothing to forget
    ],
)
async def test_an_option_that_cannot_be_meant_is_refused_by_its_name(
    tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    process = await started(tmp_path, *arguments)
    _, errors = await process.communicate()

    assert process.returncode == 2
    assert words in errors.decode()
