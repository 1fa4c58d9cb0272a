"""Who may not read members, or rules, is told nothing of them by any command, whatever else they may do."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from bot.changes.model.states import State
from bot.policy.model import OPERATIONS
from handlers.grammar.command import Command
from handlers.grammar.parser import ALL
from sandbox.demo import Sandbox
from tests.conftest import Clock
from tests.drills.fleet import until
from tests.harness.channels import readable_text, strings
from tests.harness.colleague import Colleague
from tests.harness.second_person import toml
from tests.harness.truth import all_changes

OLD, CHECKOUT = "Redirect_x1old", "Redirect_chk01"
NORA, UNNAMED = "nora@planted.example", "memberleak@planted.example"
SAID: Final = {
    "rule": (
        f"/rules off {OLD} because ruleleak",
        f"/rules off {CHECKOUT} for 2h because ruleleak",
        f"/rules set {CHECKOUT} name=Ruleleak in 20h because ruleleak",
        f"/rules off {OLD} {CHECKOUT} in 20h because ruleleak",
        f"/rules delete {OLD} because ruleleak",
    ),
    "member": (
        f"/members grant {NORA} vip because memberleak",
        f"/members grant {UNNAMED} beta for 2h because memberleak",
        f"/members revoke {NORA} free in 20h because memberleak",
        f"/members grant {NORA} {UNNAMED} premium because memberleak",
        f"/members remove {NORA} because memberleak",
    ),
}
"""What Alice does to the rules and members that nobody else may read."""
LEFT: Final = frozenset({*OPERATIONS} - {"approve"})
"""Every right but that to approve, which shows what is approved."""
RIGHTS: Final[dict[str, tuple[frozenset[str], tuple[str, ...]]]] = {
    "all but reading members": (LEFT - {"member.read"}, ("member",)),
    "all but reading rules": (LEFT - {"rule.read"}, ("rule",)),
    "the audit alone": (frozenset({"audit.read"}), ("rule", "member")),
    "freezes": (frozenset({"freeze"}), ("rule", "member")),
}


@pytest.fixture
def policy(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    roles = {
        "all": {"users": ["U0ALICE01", "U0CARA001"], "may": ["*"]},
        "some": {"users": ["U0BOB0001"], "may": sorted(RIGHTS[request.node.callspec.params["rights"]][0])},
    }
    path = tmp_path / "policy.toml"
    path.write_text(toml({"roles": roles}))
    return path


def texts(kind: type[Command], words: list[str]) -> Iterator[str]:
    """*kind* as it is typed: alone, as its example has it, and with each of *words*."""
    yield f"/{kind.service} {kind.verb}"
    yield f"/{kind.service} {kind.example}"
    for word in words:
        yield f"/{kind.service} {kind.verb} {word}"


@pytest.mark.slow
@pytest.mark.parametrize("rights", RIGHTS)
async def test_no_command_tells_what_its_caller_may_not_read(
    workspace: Sandbox, clock: Clock, alice: Colleague, bob: Colleague, rights: str
) -> None:
    rules, members, state = workspace.services.rules, workspace.services.members, workspace.slack.state
    for rule in (OLD, CHECKOUT):
        rules.put((rules.get(rule) or {}) | {"name": f"Planted ruleleak {rule}"})
    for name, email in (("Nora Memberleak", NORA), ("Planted Memberleak", UNNAMED)):
        members.put("site_1", {"name": name, "email": email, "allowedSegments": ["free"]})

    async def is_settled() -> bool:
        return not {State.APPROVED, State.APPLYING} & {change.state for change in await all_changes(alice.store)}

    for text in (*SAID["rule"], *SAID["member"]):
        await alice.replied(text)
        await until(is_settled, "what was planted is under way no more")
    await alice.sees_change(of=NORA, state=State.PROPOSED)
    references = [change.id[:8] for change in await all_changes(alice.store) if not change.set_id]
    assert len(references) == 10
    words = [NORA, OLD, "planted", "https://shop.example.com/old", f"{NORA} vip", *references]
    seen: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    state.watchers.append((None, seen))

    for kind in sorted(ALL, key=lambda each: each.writes):
        for text in texts(kind, words):
            await bob.replied(text)
            state.stack(bob.id).clear()
            clock.ahead += timedelta(seconds=1)

    events = [seen.get_nowait() for _ in range(seen.qsize())]
    shown = [event["entry"]["request"] or {} for event in events if event.get("type") == "traffic"]
    theirs = [one for one in shown if one.get("channel", bob.channel) in {bob.channel, bob.dm, bob.id}]
    told = [readable_text(text) for text in strings(theirs)]
    told += [(file.content or b"").decode(errors="replace") for file in state.files.all.values()]
    assert len(told) > 1_000
    for of in RIGHTS[rights][1]:
        assert [text[:200] for text in told if f"{of}leak" in text.casefold()] == []
