"""A request that a crash interrupts is done later as it was meant, whatever its person listed and changed in between."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from bot.changes.model.edits import Kind
from bot.store.engine import Store
from bot.store.tables import changes, inbox
from sandbox.demo import Sandbox
from sandbox.gatehouse import ALICE
from sandbox.services.seed import members
from sandbox.slack.message import Message
from tests.conftest import OPS, QUICK, Clock, busy_sandbox
from tests.drills.fleet import until
from tests.harness.colleague import Colleague
from tests.harness.truth import all_changes

ANNA = "anna.berg@example.com"
INTERRUPTED: Final = ("run", "propose", "finish", "done")
"""Steps of every request; *done* stands for a database that was away when the request was to be marked as done."""
APPLIED: Final = ("look", "write", "record")
"""Steps of those whose change is applied with the request. Change sets have a worker of their own, which goes on."""


class Death(BaseException):
    """What a killed process does next: nothing."""


@dataclass(slots=True)
class Reaper:
    """Kills every request that reaches the step *at*."""

    at: str = ""
    deaths: int = 0

    def __call__(self, step: str) -> None:
        if step == self.at:
            self.deaths += 1
            raise Death(step)


@dataclass(slots=True)
class World:
    sandbox: Sandbox
    alice: Colleague
    clock: Clock
    reaper: Reaper
    cards: dict[str, Message] = field(default_factory=dict)
    """Of changes that were there before: target -> card."""

    @property
    def store(self) -> Store:
        return self.sandbox.bot.gatehouse.store

    def row_of_rule(self, rule_id: str) -> str:
        """The number of a redirect in `/rules list type:redirect`."""
        found = [rule for rule in self.sandbox.services.rules.all() if rule["ruleType"] == "Redirect"]
        ids = [rule["id"] for rule in sorted(found, key=lambda rule: rule["name"].casefold())]
        return f"#{ids.index(rule_id) + 1}"

    def row_of_member(self, email: str) -> str:
        """The number of a member in `/members list site:blog`."""
        found = sorted(members("site_1"), key=lambda member: member["name"].casefold())
        return f"#{[member['email'] for member in found].index(email) + 1}"

    async def sees_list(self, text: str) -> None:
        """Type *text* and wait for its list, among answers to what was taken up again."""
        known = self._lists_shown()
        await self.alice.types(f"/{text}")
        await self.alice._waits(lambda: self._lists_shown() > known or None, "a list")

    def _lists_shown(self) -> int:
        return sum("Page 1 of" in self.alice.slack_text(one) for one in self.alice._bot_messages())


@dataclass(frozen=True, slots=True)
class Ask:
    """What Alice does; *expected*: the kind and the target of each change that it means."""

    act: Callable[[World], Awaitable[Any]]
    expected: tuple[tuple[Kind, str], ...]
    is_bulk: bool = False


def types(text: str, *expected: tuple[Kind, str], is_bulk: bool = False) -> Ask:
    """Type *text*, in which ``{…}`` is the number of that row."""

    async def act(world: World) -> None:
        for part in text.split("{")[1:]:
            key = part.partition("}")[0]
            rows[f"{{{key}}}"] = world.row_of_member(key) if "@" in key else world.row_of_rule(key)
        if rows:  # a row of a list that isn't in sight any more is shown first
            await world.sees_list(
                "members list site:blog" if text.startswith("/members") else "rules list type:redirect"
            )
        await world.alice.types(_filled(text, rows))

    rows: dict[str, str] = {}
    return Ask(act, expected, is_bulk)


def _filled(text: str, rows: dict[str, str]) -> str:
    for name, row in rows.items():
        text = text.replace(name, row)
    return text


def clicks(rule_id: str, label: str) -> Ask:
    async def act(world: World) -> None:
        await world.alice.clicks(world.cards[rule_id], label)

    return Ask(act, ((Kind.RULE_UPDATE, f"rules/{rule_id}"),))


UPDATE, DELETE = Kind.RULE_UPDATE, Kind.RULE_DELETE
GRANT, REVOKE, REMOVE = Kind.MEMBER_GRANT, Kind.MEMBER_REVOKE, Kind.MEMBER_REMOVE
LAST, BY_CLICK, ENDED = "Headers_cors1", "Cancel_track1", "Replace_api01"
"""Rules that Alice switched off before: at last; for an undo by its button; for two hours."""
ASKS: Final = (
    types("/gatehouse undo", (UPDATE, f"rules/{LAST}")),
    clicks(BY_CLICK, "Undo"),
    clicks(ENDED, "v1.decide.end"),
    types("/rules off {Redirect_chk01}", (UPDATE, "rules/Redirect_chk01")),
    types("/rules off Redirect_help1", (UPDATE, "rules/Redirect_help1")),
    types("/rules off Seasonal campaigns to the sale", (UPDATE, "rules/Redirect_seas1")),
    types("/rules on {Redirect_bfri1}", (UPDATE, "rules/Redirect_bfri1")),
    types("/rules set {Redirect_gift01} description=Checked for 2h", (UPDATE, "rules/Redirect_gift01")),
    types("/rules delete {Redirect_blog1}", (DELETE, "rules/Redirect_blog1")),
    types(
        "/rules off {Redirect_imgs1} {Redirect_chk02}",
        (UPDATE, "rules/Redirect_imgs1"),
        (UPDATE, "rules/Redirect_chk02"),
        is_bulk=True,
    ),
    types("/rules group off sales", (Kind.GROUP_UPDATE, "groups/Group_sales")),
    types(f"/members grant {{{ANNA}}} vip", (GRANT, f"members/blog/{ANNA}")),
    types("/members revoke {ben.costa@example.com} premium", (REVOKE, "members/blog/ben.costa@example.com")),
    types("/members remove {elif.fischer@example.com}", (REMOVE, "members/blog/elif.fischer@example.com")),
    types("/members grant david.evans@example.com beta", (GRANT, "members/blog/david.evans@example.com")),
)


@asynccontextmanager
async def interrupted_world(folder: Path, database_url: str, clock: Clock) -> AsyncIterator[World]:
    """A sandbox in which Alice has lists and changes, and requests die when she wants them to."""
    reaper = Reaper()
    timing = replace(QUICK, failpoint=reaper, recover_every=0.05)
    sandboxed = busy_sandbox(folder, timing=timing, clock=clock, database_url=database_url)
    with capture_logs():  # each death would be shown with all that the process knew
        async with sandboxed as sandbox:
            yield World(sandbox, Colleague(sandbox, ALICE.id, OPS), clock, reaper)


async def settled(world: World) -> None:
    """Return once every request is done, or died."""

    async def met() -> bool:
        return await counted(world, inbox.c.done.is_(False)) <= world.reaper.deaths

    await until(met, "every request is done, or died")


async def counted(world: World, which: sa.ColumnElement[bool]) -> int:
    async with world.store.session.reading() as connection:
        return int(await connection.scalar(sa.select(sa.func.count()).where(which)) or 0)


async def taken_up(world: World) -> None:
    """Another process comes upon what was left, which here is the same one after a while."""
    world.reaper.at, world.reaper.deaths = "", 0
    world.clock.ahead += timedelta(minutes=2)
    await settled(world)

    async def met() -> bool:
        return await counted(world, changes.c.state.in_(("approved", "applying"))) == 0

    await until(met, "nothing is at work")


@pytest.mark.threat("B1")
@pytest.mark.parametrize(
    "step", ["run", *(pytest.param(each, marks=pytest.mark.slow) for each in (*INTERRUPTED, *APPLIED) if each != "run")]
)
async def test_it_means_what_it_meant(step: str, tmp_path: Path, database_url: str, clock: Clock) -> None:
    asks = [ask for ask in ASKS if step in INTERRUPTED or not ask.is_bulk]
    async with interrupted_world(tmp_path, database_url, clock) as world:
        alice = world.alice
        for rule_id, more in ((BY_CLICK, ""), (ENDED, " for 2h"), (LAST, "")):
            world.cards[rule_id] = await alice.says(f"/rules off {rule_id}{more}")
        before, seen = {change.id for change in await all_changes(world.store)}, len(alice._bot_messages())

        world.reaper.at = step
        for ask in asks:
            await ask.act(world)
        await settled(world)
        world.reaper.at = ""
        assert world.reaper.deaths > 0 or step == "done"
        await things_change(world, step)
        await taken_up(world)

        made = [change for change in await all_changes(world.store) if change.id not in before]
        meant = Counter((kind, target) for ask in asks for kind, target in ask.expected)
        assert (
            Counter((change.edit.kind, str(change.edit.target)) for change in made if not change.is_bulk)
            == meant + BETWEEN
        )
        refused = [
            text for text in map(alice.slack_text, alice._bot_messages()[seen:]) if "Nothing was changed" in text
        ]
        assert refused == []


BETWEEN: Final = Counter([(UPDATE, "rules/Cancel_ads001")])


async def things_change(world: World, step: str) -> None:
    """Alice gets other lists and another last change, Gatehouse another default site, and some requests look undone."""
    alice, store = world.alice, world.store
    await alice.says("/rules list type:cancel")
    await alice.says("/members list site:docs")
    await alice.types("/rules off Cancel_ads001")
    await alice.sees_change(of="Cancel_ads001")
    await settled(world)
    sites = world.sandbox.bot.gatehouse.sites
    assert isinstance(sites, dict)
    sites["blog"] = sites.pop("blog")  # as if MEMBERS_SITES began with docs after a restart
    if step == "done":
        async with store.transaction() as tx:
            await tx.execute(sa.update(inbox).values(done=False, lease=0))
