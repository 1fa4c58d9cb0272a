"""What every test may ask for: a whole sandbox, and the people in it."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
import stamina
import structlog
from hypothesis import settings

from bot.server.app import Timing
from bot.server.logs import CHATTY
from bot.server.socket_mode import ConnectTimeouts
from handlers.slack.forms import FORM_TIMEOUT
from sandbox.demo import Sandbox, Transport, running_sandbox
from sandbox.services.switches import Switches
from tests.harness.channels import watching_channels
from tests.harness.colleague import Colleague
from tests.harness.failpoints import failing
from tests.harness.lock_order import watching_lock_order
from tests.harness.statements import share_statements
from tests.harness.truth import watching_truth

if TYPE_CHECKING:
    from tests.harness.places import Place

pytest_plugins = [
    "tests.harness.places",
    "tests.harness.databases",
    "tests.harness.browsers",
    "tests.drills.report",
]

# A busy machine is no bug: what has to be quick is counted, not timed.
settings.register_profile("patient", settings(), deadline=None)
settings.load_profile("patient")

# By default, structlog adds the values of all variables to a traceback, which blocks the event loop for a second or more.
structlog.configure(
    processors=[
        *structlog.get_config()["processors"][:-1],
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
    ]
)

THIRD: Final = os.environ.get("THIRD")
"""Which third of long tables is played today; all where it is empty."""
CASES: Final = pytest.StashKey[Counter[str]]()
"""How many cases of each table were collected."""
STORIES: Final = 2
"""How many cases of a table of stories the fast lane plays, unless it is marked otherwise."""
MEMORY_BYTES: Final = 2 * 2**30
"""That must be free where the files of tests are kept in memory."""
OPS, SUPPORT, GENERAL = "C0OPS0001", "C0SUPPORT", "C0GENERAL"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--switch",
        action="append",
        default=os.environ.get("SWITCHES", "").split(),
        metavar="NAME=CHOICE",
        help="a switch of the services in the fixture `workspace`, as often as needed; docs/services.md lists them",
    )


def pytest_configure() -> None:
    """Keep the files of tests in memory where there is room and programs may run: no process of a test outlives its machine."""
    memory = Path("/dev/shm")  # noqa: S108  pytest makes a folder of its own in it
    if not memory.is_dir() or os.statvfs(memory).f_flag & os.ST_NOEXEC:
        return
    if shutil.disk_usage(memory).free > MEMORY_BYTES:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory))


@pytest.fixture(autouse=True)
def _no_waiting() -> None:
    """Retries without their pauses: what is retried is tested, not how long it takes."""
    stamina.set_testing(testing=True, attempts=3, cap=True)


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    """A command line that a test runs in this process sets up logging for all of it."""
    root, chosen = logging.getLogger(), structlog.get_config()
    handlers, level = root.handlers[:], root.level
    levels = {name: logging.getLogger(name).level for name in CHATTY}
    yield
    root.handlers[:], root.level = handlers, level
    for name, before in levels.items():
        logging.getLogger(name).setLevel(before)
    structlog.configure(**chosen)


QUICK = Timing(
    pace=0.0,
    look_every=0.5,
    recover_every=0.5,
    reconcile_after=(0.05, 0.1, 0.2),
    connecting=ConnectTimeouts(2.0, 0.1),
)
"""Without the pauses that are for people and for Slack."""


class Clock:
    """The time of the bot, which goes on by itself and can be set forward or back."""

    def __init__(self) -> None:
        self._ahead = timedelta(0)
        self.wake_workers: Callable[[], None] = lambda: None

    @property
    def ahead(self) -> timedelta:
        return self._ahead

    @ahead.setter
    def ahead(self, ahead: timedelta) -> None:
        self._ahead = ahead
        self.wake_workers()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self._ahead


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def policy(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    """A policy file, where a test has one: ``@pytest.mark.policy("[roles…]")``."""
    marker = request.node.get_closest_marker("policy")
    if marker is None:
        return None
    path = tmp_path / "policy.toml"
    path.write_text(marker.args[0])
    return path


@pytest.fixture
def transport(surroundings: Place) -> Transport:
    """What the run was asked for; a test may be parametrised with both."""
    return surroundings.transport


@pytest.fixture
def switches(request: pytest.FixtureRequest) -> Switches:
    """What the run was asked for; a test may be parametrised with others."""
    if hasattr(request, "param"):
        return Switches(**request.param)
    return Switches.of(request.config.getoption("--switch"))


@pytest.fixture
def form_timeout() -> float:
    """Seconds that the acknowledgement of a form waits for its checks; a test may be parametrised with others."""
    return FORM_TIMEOUT


@pytest.fixture
def agents() -> bool:
    """Whether agents are let in."""
    return False


BUSY_SECONDS: Final = 4.5
"""How long the Slack of a story waits where the real one waits three seconds: other tests keep the machine busy. It is less
than the five seconds after which the bot gives up a service, so that what waits for one before it answers Slack still fails.
"""


@asynccontextmanager
async def busy_sandbox(
    folder: Path, *, timing: Timing = QUICK, clock: Clock | None = None, patience: float = BUSY_SECONDS, **more: Any
) -> AsyncIterator[Sandbox]:
    """`running_sandbox` for a machine that other tests keep busy: its Slack waits for *patience* seconds."""
    with failing(timing.failpoint):
        async with running_sandbox(folder, timing=timing, now=clock, **more) as sandbox:
            sandbox.slack.delivery.patience = sandbox.slack.state.trigger_life = patience
            share_statements(sandbox.bot.gatehouse.store)
            if clock is not None:
                clock.wake_workers = sandbox.bot.wake_workers
            yield sandbox


@pytest.fixture
async def workspace(
    tmp_path: Path,
    clock: Clock,
    policy: Path | None,
    transport: Transport,
    switches: Switches,
    database_url: str,
    form_timeout: float,
    agents: bool,
) -> AsyncIterator[Sandbox]:
    async with (
        busy_sandbox(
            tmp_path,
            switches=switches,
            policy=policy,
            timing=replace(QUICK, form_timeout=form_timeout),
            clock=clock,
            transport=transport,
            database_url=database_url,
            agents=agents,
        ) as sandbox,
        watching_truth(sandbox, clock),
    ):
        with watching_channels(sandbox.slack.state), watching_lock_order():
            yield sandbox


async def until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    """Return once *condition* holds, for what tells nobody when it happens."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110  no event tells of what it waits for
            await asyncio.sleep(0.01)


@pytest.fixture
def alice(workspace: Sandbox) -> Colleague:
    """On call, in #ops-traffic."""
    return Colleague(workspace, "U0ALICE01", OPS)


@pytest.fixture
def bob(workspace: Sandbox) -> Colleague:
    """Support, in #support."""
    return Colleague(workspace, "U0BOB0001", SUPPORT)


@pytest.fixture
def cara(workspace: Sandbox) -> Colleague:
    """Lead, in #ops-traffic."""
    return Colleague(workspace, "U0CARA001", OPS)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Leave what a long table has after its first cases to the slow lane: ``@pytest.mark.first(2)``; of stories, two."""
    marker, in_places = item.get_closest_marker("first"), item.config.getoption("--day") is not None
    if marker is not None or (item.nodeid.startswith("tests/stories/") and not in_places):
        cases = item.session.stash.setdefault(CASES, Counter())
        cases[table := item.nodeid.partition("[")[0]] += 1
        if (left := cases[table] - (STORIES if marker is None else marker.args[0])) > 0:
            item.add_marker(pytest.mark.slow)
            if THIRD and left % 3 != int(THIRD) % 3:
                item.add_marker(pytest.mark.another_day)


def pytest_collection_finish() -> None:
    """Look no more at what the collection made: of a heap as large, each full garbage collection takes its time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
