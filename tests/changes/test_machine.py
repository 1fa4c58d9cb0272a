"""G6: everything that may happen to changes, in any order, and after every step every promise is still kept.

Two processes share a store and two services. People ask, decide, take back and change their minds; services fail in
the middle of things; somebody edits behind our back; processes stop or die at any line; Slack does not listen; the
clock jumps. Nothing runs in the background: what a process would do by itself is a step like any other.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar, get_args

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from bot.changes.freezing import Frozen, LiftRequested, NoFreeze
from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.parts import ChangeRequest, Guard
from bot.changes.model.states import LIVE, State
from bot.changes.pipeline import Pipeline
from bot.changes.proposals import NothingToDo, Proposal, combine
from bot.changes.refusals import (
    AlreadyDecided,
    AlreadyRequested,
    ApprovalWaits,
    EndsBeforeStart,
    MoreMustAgree,
    NotPlanned,
    NotTemporary,
    NotUndoable,
    NotYours,
    PolicyTightened,
    TimeIsPast,
    TooManyRequests,
)
from bot.changes.rights import Decision, OfRequest
from bot.clients.errors import ClientError
from bot.policy.access import NobodyCanApprove
from bot.policy.freezes import ChatFreeze
from bot.policy.inquiry import DirectoryUnavailable, NotAllowed
from bot.policy.model import Irreconcilable, Person, Why
from bot.store.db import TargetBusy
from sandbox.services.database import Record
from tests.changes.promises import Promises
from tests.changes.world import (
    ALICE,
    BOB,
    BOB_TOO,
    CARA,
    DAN,
    EMAILS,
    EVE,
    EVERYBODY,
    GROUP_IDS,
    GUEST,
    MAILBOXES,
    OPS,
    POLICIES,
    RULE_IDS,
    SEGMENTS,
    SITE,
    SLACK_SAYS,
    Died,
    Place,
    Replica,
    World,
    a_world,
    place_of,
    replica,
)
from tests.changes.world import group as group_called
from tests.changes.world import rule as rule_called
from tests.harness.databases import BOTH
from tests.harness.proposing import CHANGES

pytestmark = pytest.mark.slow

T = TypeVar("T")
LONG: Final = os.environ.get("RELIABILITY") == "long"
RUNS: Final = {"sqlite": 2500 if LONG else 9, "postgres": 500 if LONG else 3}
FIRST: Final = int(os.environ.get("SEED") or datetime.now(UTC).toordinal()) if LONG else 0
"""Each night plays others: its figures say which seed, and with SEED set to that it is played again."""
SEEDS: Final = range(FIRST, FIRST + (4 if LONG else 2))
STEPS: Final = 50
PHASES: Final = (Phase.generate, Phase.shrink) if LONG else (Phase.generate,)

REFUSALS: Final = (
    EndsBeforeStart,
    TimeIsPast,
    NotPlanned,
    PolicyTightened,
    Frozen,
    NoFreeze,
    LiftRequested,
    AlreadyDecided,
    AlreadyRequested,
    ApprovalWaits,
    MoreMustAgree,
    NotYours,
    NotUndoable,
    NotTemporary,
    TooManyRequests,
    NotAllowed,
    NobodyCanApprove,
    DirectoryUnavailable,
    TargetBusy,
    NothingToDo,
    Irreconcilable,
)
"""What a person may be answered with instead of a change."""

FAULTS: Final = ("cut_before", "cut_after", "500", "500_after", "429", "html", "truncated", "refused_200")
SPANS: Final = tuple(timedelta(seconds=seconds) for seconds in (1, 31, 61, 400, 1000, 3700, 7300, 90_000))
people, anything = st.sampled_from([*EVERYBODY, *EVERYBODY[:5]]), st.integers(0, 11)
spans = st.sampled_from([60, 600, 7200])
accidents = st.sampled_from([None] * 5 + [*range(1, 9)])
"""The number of the checkpoint or commit at which the process dies, mostly none."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody asks for. *outdated*: they were shown something else; *helped*: the others approve at once."""

    number: int
    kind: Kind
    which: int
    by: str
    guard: Guard | None
    revert_after: int | None
    until: bool = False
    starts: int | None = None
    """In so many seconds; None for at once."""
    outdated: bool = False
    helped: bool = False
    accident: int | None = None
    fault: str | None = None
    """What its write meets at the service."""


def proposals(*kinds: Kind) -> st.SearchStrategy[Asked]:
    return st.builds(
        Asked,
        number=anything,
        kind=st.sampled_from(kinds),
        which=anything,
        by=people,
        guard=st.sampled_from([None, None, Guard.CONFIRM]),
        revert_after=st.none() | spans,
        until=st.booleans(),
        starts=st.sampled_from([None, None, None, 30, 600, 7200]),
        outdated=st.sampled_from([False, False, False, True]),
        helped=st.booleans(),
        accident=accidents,
        fault=st.sampled_from([None] * 12 + [*FAULTS]),
    )


several = st.lists(proposals(*Kind), min_size=2, max_size=4)
"""What is asked for as one set; who asks, and what else is true of the whole, is the first one's."""


def asking(name: str, *kinds: Kind) -> Any:
    """A rule by which somebody asks for one of *kinds*. There are several: of each run some rules are left out, and
    without anybody who asks it would be a dull one.
    """

    def ask(self: Machine, asked: Asked) -> None:
        self.propose(asked)

    ask.__name__ = name
    return rule(asked=proposals(*kinds))(ask)


class Machine(RuleBasedStateMachine):
    """What may happen, a step at a time."""

    runner: ClassVar[asyncio.Runner]
    world: ClassVar[World]

    def __init__(self) -> None:
        super().__init__()
        self.sound = self.looked = True
        self.names, self.ids, self.owners = count(1), count(1), count(1)
        self.asked: list[tuple[Proposal, str]] = []
        self.promises = Promises(self.world, "default")

    # How a step is taken

    @initialize(policy=st.sampled_from(sorted(POLICIES)), asked=st.data())
    def begin(self, policy: str, asked: st.DataObject) -> None:
        self.runner.run(self.world.begin(POLICIES[policy]))
        self.promises = Promises(self.world, policy)
        self.replicas = [self._another(), self._another()]
        for _ in range(3):
            self.propose(asked.draw(proposals(*Kind)))
        self.propose_set(asked.draw(several), asked.draw(accidents))

    def _another(self) -> Replica:
        return replica(self.world, f"process {next(self.owners)}", self.ids)

    def take(
        self,
        number: int,
        step: Callable[[Replica], Awaitable[T]],
        expected: tuple[type[Exception], ...] = REFUSALS,
        look: bool = True,
    ) -> T | None:
        """Take *step* in one of the processes, see it refused or die, and look whether all promises are kept."""
        self.sound = False
        if self.looked:
            self.world.step_began = self.world.clock()
        self.looked = look
        mine, self.world.naps = self.replicas[number % 2], 0
        came: T | None = None
        try:
            came = self.runner.run(_taken(step(mine)))
        except expected as error:
            self.promises.refused(error)
        except Died:
            self.replicas[number % 2] = self._another()
        mine.fuse.left = None
        if look and came is not False:  # where there was nothing to do, there is nothing to look at
            self.runner.run(self.promises.kept())
        self.promises.by_timer = False
        self.sound = True
        return came

    def changes(self, *states: State) -> list[Change]:
        """Those in *states*, the newest first; all of them where none is named."""
        found = [change for change in self.promises.seen.values() if not states or change.state in states]
        return found[::-1]

    def pick(self, number: int, found: list[Change]) -> Change | None:
        """One of *found*. Where there is none, somebody asks for something, so that the step is not lost: what is
        drawn for a step must not hang on how the steps before it ended, for two that act at once may end either way.
        """
        if found:
            return found[number % len(found)]
        kind = list(Kind)[number % len(Kind)]
        self.propose(Asked(number, kind, number, BOB, None, 600 if number % 2 else None))
        return None

    def clicked(self, number: int, call: Callable[[Pipeline, Change], Awaitable[Any]], change: Change | None) -> Any:
        """Somebody clicks on the card of *change*, which is looked up anew for it."""
        if change is None:
            return None

        async def step(mine: Replica) -> Any:
            return await call(mine.pipeline, await mine.pipeline.journal.get(change.id))

        return self.take(number, step, (*REFUSALS, ClientError))

    def clicked_once(
        self, number: int, call: Callable[[Pipeline, Change, str], Awaitable[Any]], change: Change | None
    ) -> None:
        """The same; and then a process finds the click not marked as done, and does it again: it counts once."""
        click = f"click {next(self.names)}"
        for _ in range(2):
            before = None if change is None else self.promises.seen[change.id]
            came = self.clicked(number, lambda pipeline, now: call(pipeline, now, click), change)
            if came is None:
                return
        assert change is not None
        assert self.promises.seen[change.id] == before, "a click counted twice"

    # What people ask for

    def propose(self, asked: Asked) -> None:
        if (proposal := self._proposal(asked)) is not None:
            self._ask(asked, proposal)

    def _proposal(self, asked: Asked) -> Proposal | None:
        which = asked.which
        if (target := self._target(asked.kind, which)) is None:
            return None
        shown = None if asked.kind.creates else self.world.live(target)
        if shown is not None and asked.outdated:
            shown = shown | {"name": "As it was shown long ago"}
        span = asked.revert_after
        begins = self.world.clock() + timedelta(seconds=asked.starts or 0)
        ends: dict[str, Any] = (
            {"reverts_at": begins + timedelta(seconds=span)} if span and asked.until else {"revert_after": span}
        )
        ends |= {"starts_at": begins} if asked.starts else {}
        return Proposal.of(
            guard=asked.guard,
            edit=Edit(
                kind=asked.kind, target=target, before=shown, after=self._wanted(asked.kind, target, shown, which)
            ),
            request=ChangeRequest(requester=asked.by, channel=OPS, **ends),
        )

    def _ask(self, asked: Asked, proposal: Proposal) -> None:
        number = asked.number
        if asked.fault:
            self.fail(asked.fault, "(?!GET).*", 1)
        self.asked.append((proposal, f"request {next(self.names)}"))
        self.replicas[number % 2].fuse.left = None if asked.helped else asked.accident
        self.submit(number, *self.asked[-1])
        self.replicas[number % 2].fuse.left = asked.accident
        if asked.helped and self.changes(State.PROPOSED):
            self.help(number, self.changes(State.PROPOSED)[0], ALICE)

    ask_for_a_rule = asking("ask_for_a_rule", Kind.RULE_CREATE, Kind.RULE_UPDATE, Kind.RULE_DELETE)
    ask_for_a_member = asking("ask_for_a_member", *(kind for kind in Kind if kind.startswith("member.")))
    ask_for_an_end = asking("ask_for_an_end", Kind.RULE_DELETE, Kind.MEMBER_REMOVE)
    ask_for_more = asking("ask_for_more", Kind.RULE_CREATE, Kind.MEMBER_ADD)
    ask_for_anything = asking("ask_for_anything", *Kind)

    @rule(several=several, accident=accidents)
    def ask_for_a_set(self, several: list[Asked], accident: int | None) -> None:
        self.propose_set(several, accident)

    @rule(several=several, accident=accidents)
    def ask_for_another_set(self, several: list[Asked], accident: int | None) -> None:
        self.propose_set(several, accident)

    def propose_set(self, several: list[Asked], accident: int | None) -> None:
        first = several[0]
        wanted = [proposal for asked in several if (proposal := self._proposal(asked)) is not None]
        if wanted:
            self._ask(first, replace(combine(CHANGES, wanted), guard=first.guard))
            self.replicas[first.number % 2].fuse.left = accident
            self.take(first.number, lambda mine: mine.carry_out_a_set())

    def submit(self, number: int, proposal: Proposal, idempotency_key: str) -> None:
        self.take(number, lambda mine: mine.pipeline.proposer.submit(proposal, idempotency_key=idempotency_key))

    @rule(number=anything, which=anything)
    def ask_again(self, number: int, which: int) -> None:
        """Slack delivers a request once more: it is the same change."""
        if not self.asked:
            return
        proposal, idempotency_key = self.asked[-1 - which % min(4, len(self.asked))]
        before = {change.id for change in self.changes()}
        known = self.runner.run(_of(self.world.store.changes.find_by_key(idempotency_key)))
        self.submit(number, proposal, idempotency_key)
        assert known is None or before == {change.id for change in self.changes()}

    def _target(self, kind: Kind, which: int) -> Target | None:
        """What there is for this *kind*, mostly; sometimes what is not there, as people do ask for such."""
        truth = self.world.truth()
        if kind is Kind.RULE_CREATE:
            return Target(service="rules")
        if not kind.startswith("member."):
            name = "groups" if kind is Kind.GROUP_UPDATE else "rules"
            there = [key for service, key in truth if service == name]
            return Target(service=name, key=there[which % len(there)]) if there else None
        fits = [email for email in EMAILS if (("members", email) in truth) is not kind.creates]
        return Target(service="members", site=SITE, key=fits[which % len(fits)]) if fits else None

    def _wanted(self, kind: Kind, target: Target, shown: Record | None, which: int) -> Record | None:
        match kind:
            case Kind.RULE_CREATE:
                return rule_called("One of several alike" if which < 3 else f"Rule {next(self.names)}")
            case Kind.RULE_UPDATE | Kind.GROUP_UPDATE:
                body = {name: value for name, value in (shown or {}).items() if name not in DATES}
                return body | {"name": f"Edit {next(self.names)}", "status": "Inactive"}
            case Kind.MEMBER_ADD:
                return {
                    "name": f"Member {next(self.names)}",
                    "email": target.key,
                    "allowedSegments": [SEGMENTS[which % 3]],
                }
            case Kind.MEMBER_UPDATE:
                edited = {"name": f"Member {next(self.names)}", "allowedSegments": [SEGMENTS[which % 3]]}
                return (shown or {}) | edited
            case Kind.MEMBER_GRANT:
                held = (shown or {})["allowedSegments"]
                return (shown or {}) | {"allowedSegments": [*held, *(name for name in SEGMENTS if name not in held)]}
            case Kind.MEMBER_REVOKE:
                return (shown or {}) | {"allowedSegments": (shown or {})["allowedSegments"][1:]}
            case _:
                return None

    # What people decide

    @rule(
        number=anything,
        which=anything,
        by=people,
        decision=st.sampled_from([*get_args(OfRequest), Decision.APPROVE]),
    )
    def decide(self, number: int, which: int, by: str, decision: OfRequest) -> None:
        if change := self.pick(which, self.changes(State.PROPOSED, State.PLANNED, State.APPROVED)):
            self.take(
                number,
                lambda mine: mine.pipeline.decisions.decide(change, decision, by, reason="typed"),
            )

    @rule(number=anything, which=anything, by=people, seconds=st.none() | spans, accident=accidents)
    def replan(self, number: int, which: int, by: str, seconds: int | None, accident: int | None) -> None:
        """Somebody moves what is planned, or has it done now."""
        change = self.pick(which, self.changes(State.PLANNED))
        starts = None if seconds is None else self.world.clock() + timedelta(seconds=seconds)
        request = f"click {next(self.names)}"
        self.replicas[number % 2].fuse.left = accident
        self.promises.by_click = True
        self.clicked(
            number,
            lambda pipeline, now: pipeline.decisions.replan(now, by=by, request=request, starts_at=starts),
            change,
        )
        self.promises.by_click = False

    @rule(
        number=anything,
        which=anything,
        by=people,
        seconds=spans,
        after=st.sampled_from([0, 0, 600]),
        accident=accidents,
    )
    def freeze(self, number: int, which: int, by: str, seconds: int, after: int, accident: int | None) -> None:
        """Somebody freezes a part of it, or everything."""
        some: dict[str, Any] = (
            {"rules": (RULE_IDS[which % len(RULE_IDS)],)},
            {"sites": (SITE,)},
            {"groups": tuple(GROUP_IDS)},
            {},
        )[which % 4]
        name, starts = f"Freeze {next(self.names)}", self.world.clock() + timedelta(seconds=after)
        made = ChatFreeze(
            id=name,
            title=name,
            by=by,
            channel=OPS,
            made=self.world.clock(),
            starts=starts,
            until=starts + timedelta(seconds=seconds),
            **some,
        )
        self.replicas[number % 2].fuse.left = accident
        self.take(number, lambda mine: mine.pipeline.freezes.make(made), look=False)
        self.promises.frozen = self.runner.run(_of(self.replicas[0].pipeline.freezes.chat_freezes()))

    @rule(number=anything, which=anything, people=st.lists(people, min_size=1, max_size=3))
    def lift(self, number: int, which: int, people: list[str]) -> None:
        """The maker of a freeze lifts it alone, and others two together."""
        if not (frozen := self.promises.frozen):
            return
        chosen = frozen[which % len(frozen)]
        lifting = {MAILBOXES.get(each, each) for each in (*(vote.by for vote in chosen.votes), *people)}
        for by in people:
            self.take(number, lambda mine, by=by: mine.pipeline.freezes.lift(chosen.id, by, OPS), look=False)  # type: ignore[misc]
        self.promises.frozen = self.runner.run(_of(self.replicas[0].pipeline.freezes.chat_freezes()))
        if chosen.until > self.world.clock() and chosen.by not in people and len(lifting) < 2:
            assert chosen.id in {each.id for each in self.promises.frozen}, "lifted by one person"

    @rule(number=anything, which=anything, one=people)
    def everybody_helps(self, number: int, which: int, one: str) -> None:
        """So that requests with many guards come through, too."""
        if change := self.pick(which, self.changes(State.PROPOSED)):
            self.help(number, change, one)

    def help(self, number: int, change: Change, one: str) -> None:
        decision = Decision.CONFIRM if change.decision.guard is Guard.CONFIRM else Decision.APPROVE
        for by in (BOB, BOB_TOO, CARA, EVE, one, change.request.requester):
            if by == change.request.requester or decision is Decision.APPROVE:
                last = by == change.request.requester
                self.take(number, lambda mine, by=by: mine.pipeline.decisions.decide(change, decision, by), look=last)  # type: ignore[misc]

    @rule(
        which=anything,
        clicks=st.lists(st.tuples(people, st.sampled_from(get_args(OfRequest))), min_size=2, max_size=4),
        helpful=st.booleans(),
    )
    def decide_at_once(self, which: int, clicks: list[tuple[str, OfRequest]], helpful: bool) -> None:
        """Several click at the same moment, at two processes."""
        if (change := self.pick(which, self.changes(State.PROPOSED))) is None:
            return
        if helpful:
            clicks = [*clicks, (BOB, Decision.APPROVE), (BOB, Decision.APPROVE), (CARA, Decision.DENY)]

        async def step(_: Replica) -> None:
            all_ = (
                self.replicas[number % 2].pipeline.decisions.decide(change, decision, by)
                for number, (by, decision) in enumerate(clicks)
            )
            for came in await asyncio.gather(*all_, return_exceptions=True):
                if isinstance(came, BaseException) and not isinstance(came, REFUSALS):
                    raise came

        self.take(0, step)

    @rule(number=anything, which=anything, by=people, accident=accidents)
    def somebody_acts_alone(self, number: int, which: int, by: str, accident: int | None) -> None:
        """Whoever is on call goes ahead, and somebody undoes it at once."""
        found = self.changes(State.PROPOSED)
        change = self.pick(which, [each for each in found if each.decision.break_glass] or found)
        self.replicas[number % 2].fuse.left = accident
        self.clicked(
            number,
            lambda pipeline, now: pipeline.decisions.decide(now, Decision.BREAK_GLASS, DAN, reason="urgent"),
            change,
        )
        self.clicked(number, lambda pipeline, now: pipeline.followups.undo(now, by=by, channel=OPS), change)

    # What becomes of sets

    @rule(number=anything, accident=accidents, later=st.booleans())
    def carry_out_a_set(self, number: int, accident: int | None, later: bool) -> None:
        """*later*: a lease after it was left."""
        if later:
            self.world.clock.moment += timedelta(seconds=61)
        self.replicas[number % 2].fuse.left = accident
        self.take(number, lambda mine: mine.carry_out_a_set())

    @rule(steps=st.integers(1, 9), several=several)
    def two_carry_out_a_set(self, steps: int, several: list[Asked]) -> None:
        """One process stops for so long that the other takes over, and then goes on."""
        if not self.changes(State.APPROVED):
            self.propose_set([replace(asked, accident=1) for asked in several], 1)
        fuse = self.replicas[0].fuse
        fuse.left, fuse.stops_for = steps, timedelta(seconds=61)

        async def step(_: Replica) -> None:
            came = await asyncio.gather(*(mine.carry_out_a_set() for mine in self.replicas), return_exceptions=True)
            for error in filter(lambda each: isinstance(each, BaseException), came):
                raise error  # type: ignore[misc]  # one of them, as the filter says

        self.take(0, step)
        fuse.stops_for = None

    @rule(number=anything, which=anything, by=people)
    def stop(self, number: int, which: int, by: str) -> None:
        change = self.pick(which, [each for each in self.changes(State.APPROVED, State.APPLYING) if each.is_bulk])
        self.clicked_once(
            number, lambda pipeline, now, click: pipeline.decisions.stop(now, by=by, request=click), change
        )

    @rule(number=anything, which=anything, by=people)
    def again(self, number: int, which: int, by: str) -> None:
        change = self.pick(which, [each for each in self.changes() if each.is_bulk and each.state not in LIVE])
        self.clicked(number, lambda pipeline, now: pipeline.followups.request_again(now, by=by, channel=OPS), change)
        if change is None:
            return
        if (asked := self.runner.run(_of(self.world.store.changes.find_by_key(f"again:{change.id}:0")))) is not None:
            agreed = (
                change.request.undoes,
                change.request.revert_after,
                None if change.request.revert_after else change.request.reverts_at,
                change.request.warnings,
            )
            assert (
                asked.request.undoes,
                asked.request.revert_after,
                asked.request.reverts_at if not asked.request.revert_after else None,
                asked.request.warnings,
            ) == agreed, "asked for otherwise"

    # What people do with what was done

    @rule(number=anything, which=anything, by=people, accident=accidents)
    def undo(self, number: int, which: int, by: str, accident: int | None) -> None:
        """Any change, undos too."""
        self.replicas[number % 2].fuse.left = accident
        change = self.pick(which, self.changes(State.APPLIED) or self.changes())
        self.clicked(number, lambda pipeline, now: pipeline.followups.undo(now, by=by, channel=OPS), change)

    @rule(number=anything, which=anything, by=people, seconds=st.none() | spans, is_other=st.booleans())
    def reschedule(self, number: int, which: int, by: str, seconds: int | None, is_other: bool) -> None:
        found = self.changes(State.APPLIED)
        change = self.pick(which, [each for each in found if each.request.reverts_at] or found)
        began = self.world.clock()

        async def click(pipeline: Pipeline, now: Change, request: str) -> Change:
            if seconds is None:
                return await pipeline.decisions.keep(now, by=by, request=request)
            ends = (began if is_other else now.request.reverts_at or began) + timedelta(seconds=seconds)
            return await pipeline.decisions.end_at(now, by=by, ends_at=ends, as_typed="", request=request)

        self.clicked_once(number, click, change)

    @rule(number=anything, which=anything, by=people)
    def end_now(self, number: int, which: int, by: str) -> None:
        change = self.pick(which, [each for each in self.changes(State.APPLIED) if each.is_temporary])

        async def click(pipeline: Pipeline, now: Change) -> Change:
            return await pipeline.followups.revert_early(now, by=by)

        self.clicked(number, click, change)

    @rule(number=anything, which=anything, by=people)
    def request_again(self, number: int, which: int, by: str) -> None:
        found = [
            each for each in self.changes(State.STALE, State.PLANNED) if each.state is State.STALE or each.run.held
        ]
        self.clicked(
            number,
            lambda pipeline, now: pipeline.followups.request_again(now, by=by, channel=OPS),
            self.pick(which, found),
        )

    # What goes wrong

    @rule(which=anything, how=st.sampled_from(["edit", "remove", "put", "copy"]))
    def behind_our_back(self, which: int, how: str) -> None:
        places = list(dict.fromkeys([*PLACES, *self.world.truth()]))
        if (
            (live := self.changes(State.PROPOSED, State.UNKNOWN, State.APPLYING))
            and which < 4
            and live[0].edit.target.key
        ):
            places = [place_of(live[0].edit.target)]
        place = places[which % len(places)]
        self.world.edit(place, self._theirs(place, how))

    def _theirs(self, place: Place, how: str) -> Record | None:
        there = self.world.truth().get(place)
        if how == "remove":
            return None
        if how == "edit" and there is not None:
            return there | {"name": f"Theirs {next(self.names)}"}
        if how == "copy" and there is not None and (changes := self.changes()):
            return (changes[0].edit.before if changes[0].edit.target.service == place[0] else None) or there
        if place[0] != "members":
            return (rule_called if place[0] == "rules" else group_called)(f"Theirs {next(self.names)}")
        return {"name": "Theirs", "allowedSegments": ["vip"]}

    @rule(
        kind=st.sampled_from(FAULTS),
        method=st.sampled_from(["(?!GET).*", "(?!GET).*", "GET", ".*"]),
        times=st.integers(1, 3),
    )
    def fault(self, kind: str, method: str, times: int) -> None:
        self.fail(kind, method, times)

    def fail(self, kind: str, method: str, times: int) -> None:
        for stage in (self.world.services.rules.stage, self.world.services.members.stage):
            stage.faults.clear()
            stage.faults.add(kind, method=method, times=times)

    @rule(times=st.integers(1, 2))
    def a_service_is_slow(self, times: int) -> None:
        """It does what it is asked, though nobody waits for that any more."""
        self.world.slow = times

    @rule()
    def services_are_well(self) -> None:
        self.world.slow = 0
        for stage in (self.world.services.rules.stage, self.world.services.members.stage):
            stage.faults.clear()

    @rule(
        number=anything,
        steps=st.integers(1, 9),
        stops_for=st.sampled_from([None, None, timedelta(seconds=45), timedelta(hours=2)]),
    )
    def fuse(self, number: int, steps: int, stops_for: timedelta | None) -> None:
        """In its next work this process will stop, or die, at the so manieth checkpoint or commit."""
        fuse = self.replicas[number % 2].fuse
        fuse.left, fuse.stops_for = steps, stops_for

    @rule(says=st.lists(st.sampled_from(SLACK_SAYS), min_size=1, max_size=3))
    def slack_is_deaf(self, says: list[Exception]) -> None:
        self.world.deaf = list(says)

    @rule(user=people, how=st.sampled_from(["barred", "gone", "back", "back", "silent"]))
    def people_change(self, user: str, how: str) -> None:
        """Somebody is deactivated, leaves the channel, or comes back; or Slack does not tell."""
        directory = self.world.directory
        directory.silent = how == "silent"
        here = [each for each in directory.members[OPS] if each != user]
        if how == "barred":
            known = directory.people.get(user, Person(user))
            directory.people[user] = Person(user, barred=Why.DEACTIVATED, mailbox=known.mailbox)
        elif how == "gone" and user != ALICE:
            directory.members[OPS] = tuple(here)
        elif how == "back" and user not in {GUEST, EVE}:
            directory.members[OPS] = (*here, user)
            known = directory.people.get(user, Person(user))
            directory.people[user] = Person(user, mailbox=known.mailbox)

    # What happens automatically

    @rule(span=st.sampled_from([*SPANS, timedelta(hours=-1)]))
    def time_passes(self, span: timedelta) -> None:
        self.world.clock.moment += span

    @rule(number=anything, times=st.integers(1, 4), accident=accidents)
    def timers(self, number: int, times: int, accident: int | None) -> None:
        self.replicas[number % 2].fuse.left = accident
        for _ in range(times):
            self.promises.by_timer = True
            if not self.take(number, lambda mine: mine.fire_one()):
                return

    @rule()
    def what_is_temporary_ends(self) -> None:
        """Nothing is in the way for a while: whatever was to end by then ends."""
        self.services_are_well()
        self.world.directory.silent = False
        for mine in self.replicas:
            mine.fuse.left = None
        for _ in range(4):  # LONG, in the promises, and more
            self.world.clock.moment += timedelta(minutes=11)
            while sum([_until_idle(step) for step in (self._timer, self._recovery, self._set)]):
                pass
        self.promises.ends_came()

    @rule(number=anything, accident=accidents)
    def recover(self, number: int, accident: int | None) -> None:
        """A lease later, what a dead process left is taken over, if it is not left again."""
        self.world.clock.moment += timedelta(seconds=61)
        self.replicas[number % 2].fuse.left = accident
        self.take(number, lambda mine: mine.recover_one())

    @rule(number=anything, times=st.integers(1, 4))
    def deliver(self, number: int, times: int) -> None:
        for _ in range(times):
            if not self.take(number, lambda mine: mine.outbox.deliver_one()):
                return

    # The end of a run

    def teardown(self) -> None:
        """All trouble is over: before long, nothing waits for anything, though the clock was set back some hours.

        What is held waits a week for somebody.
        """
        if not self.sound or not hasattr(self, "replicas"):
            return
        self.services_are_well()
        self.world.deaf.clear()
        self.world.directory.silent = False
        for mine in self.replicas:
            mine.fuse.left = None
        for span in (timedelta(seconds=61), timedelta(hours=49), timedelta(days=8), *[timedelta(minutes=11)] * 3):
            self.world.clock.moment += span
            while sum([_until_idle(step) for step in (self._timer, self._recovery, self._set)]):
                pass
        _until_idle(lambda: self.take(0, lambda mine: mine.outbox.deliver_one(), look=False))
        self.runner.run(self.promises.end())

    def _timer(self) -> bool | None:
        self.promises.by_timer = True
        return self.take(0, lambda mine: mine.fire_one())

    def _recovery(self) -> bool | None:
        return self.take(1, lambda mine: mine.recover_one())

    def _set(self) -> bool | None:
        return self.take(0, lambda mine: mine.carry_out_a_set())


PLACES: Final[list[Place]] = [
    *(("members", email) for email in EMAILS),
    *(("rules", rule_id) for rule_id in RULE_IDS),
    *(("groups", group_id) for group_id in GROUP_IDS),
]
MAX_TO_DO: Final = 200
DATES: Final = ("id", "creationDate", "modificationDate")


def _until_idle(step: Callable[[], bool | None]) -> int:
    """Take *step* until it finds nothing to do; how often it found something."""
    for number in range(MAX_TO_DO):
        if not step():
            return number
    raise AssertionError("there is always something to do")


async def _taken(step: Awaitable[T]) -> T:
    return await step


_of = _taken


@pytest.fixture
def quick_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """A database in memory's own file system where there is one: what is tested here is no disk."""
    if request.param != "sqlite":
        yield request.getfixturevalue("database_url")
        return
    memory = Path("/dev/shm")  # noqa: S108  a folder of our own in it
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield f"sqlite:///{folder}/store.db"


def play(database_url: str, number: int, runs: int) -> None:
    """So many *runs* of the machine, which are the same for the same *number*."""
    with asyncio.Runner() as runner:
        opened = a_world(database_url)
        world = runner.run(opened.__aenter__())
        try:
            mine = type("Machine", (Machine,), {"runner": runner, "world": world})
            chosen = settings(
                max_examples=runs,
                stateful_step_count=STEPS,
                deadline=None,
                database=None,
                phases=PHASES,
                suppress_health_check=list(HealthCheck),
                print_blob=False,
            )
            run_state_machine_as_test(seed(number)(mine), settings=chosen)
        finally:
            runner.run(opened.__aexit__(None, None, None))


@pytest.mark.timeout(36_000 if LONG else 900)
@pytest.mark.parametrize("number", SEEDS)
@pytest.mark.parametrize("quick_url", ["sqlite"], indirect=True)
def test_every_promise_is_kept_after_every_step(
    quick_url: str, number: int, record_property: Callable[[str, object], None]
) -> None:
    play(quick_url, number, RUNS["sqlite"])
    record_property("figure", f"G6 SQLite, seed {number}: {RUNS['sqlite']} runs x {STEPS} steps")


@pytest.mark.timeout(36_000 if LONG else 900)
@pytest.mark.parametrize("quick_url", BOTH[1:], indirect=True)
@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_every_promise_is_kept_on_the_other_database(
    quick_url: str, database_url: str, record_property: Callable[[str, object], None]
) -> None:
    number = FIRST + 4
    play(quick_url, number, RUNS["postgres"])
    record_property("figure", f"G6 PostgreSQL, seed {number}: {RUNS['postgres']} runs x {STEPS} steps")
