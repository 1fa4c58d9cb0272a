"""What people are told when something did not work."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from bot.changes import freezing, proposals, refusals
from bot.changes.model.edits import Kind
from bot.changes.model.parts import Guard
from bot.changes.model.states import State
from bot.clients import errors as client
from bot.clients.lists import Gap, Incomplete
from bot.gatehouse import UnknownSite
from bot.policy.access import NobodyCanApprove
from bot.policy.freezes import ChatFreeze
from bot.policy.inquiry import DirectoryUnavailable, EmailUnknown, NotAllowed
from bot.policy.limits import EXPORT_RATE, StillRunning, TooFast
from bot.policy.model import Irreconcilable, ReasonRequired, Why
from bot.rules.url import NotAUrl
from bot.store.db import CommitUnknown, StoreError, TargetBusy, UnreadableRow
from bot.text.documents import NestedTooDeep
from bot.text.emails import BadEmail
from bot.text.encoding import EMPTY_FILE, BadFile
from handlers import errors
from handlers.blocks.messages import Message
from handlers.changes.deleted import Deleted
from handlers.explain.table import error_message
from handlers.grammar.command import Unclear
from handlers.grammar.parser import NoSuchNumber, parse
from handlers.members.commands import MembersGrant, MembersShow
from handlers.members.member_edit import EmailTaken, SameEmail
from handlers.slack.client import SlackRefused, SlackUnreachable
from handlers.slack.files import FileGone, FileUnreadable
from handlers.slack.reply import Caller
from tests.harness.proposing import with_fields
from tests.texts import Sample
from tests.texts.cards import MOVED, OLD_SHOP, change

CALLER: Final = Caller(user="U0ALICE01", channel="C0OPS0001", request="0123456789abcdef")
WAITING: Final = change(Kind.RULE_DELETE, State.PROPOSED, OLD_SHOP, None)
DENIED: Final = change(
    Kind.RULE_UPDATE,
    State.DENIED,
    OLD_SHOP,
    MOVED,
    guard=Guard.APPROVE,
    decided_by="U0BOB0001",
    decided_at=datetime(2026, 11, 21, 1, 30, tzinfo=UTC),
)

FREEZE: Final = ChatFreeze(
    id="f",
    title="shop.example.com",
    why="cutover",
    hosts=("shop.example.com",),
    by="U0CARA001",
    channel="C0OPS0001",
    made=datetime(2026, 11, 21, 1, 24, tzinfo=UTC),
    starts=datetime(2026, 11, 21, 1, 24, tzinfo=UTC),
    until=datetime(2026, 11, 23, 1, 24, tzinfo=UTC),
)

FAILURES: Final[dict[str, Exception]] = {
    "401": client.Unauthorized("rules", "Unauthorized action", 401),
    "403 of a site": client.Unauthorized("members", "Forbidden", 403),
    "404": client.NotFound("rules", "Rule not found", 404),
    "no list of rules": client.WrongAddress("rules", "404 with a web page, perhaps of a gateway or a login"),
    "no list of members": client.WrongAddress("members", "Site not found"),
    "429": client.RateLimited("rules"),
    "503 with Retry-After": client.RateLimited("rules", status=client.UNAVAILABLE),
    "another refusal": client.Refused("members", "Name is too long", 422),
    "no answer": client.Unreachable("rules", "TimeoutError"),
    "a 502": client.Failing("rules", 502),
    "an unreadable rule": client.UnreadableRecord("rules", "unexpected value in “pairs.0.source”"),
    "a proxy's page": client.Unreadable("rules", "200 with a web page, perhaps of a gateway or a login"),
    "an answer too large": client.TooLarge("rules"),
    "a write without an answer": client.OutcomeUnknown("rules", "no answer in time"),
}
"""What a service refuses or fails to do."""

SAMPLED: Final[set[type[Exception]]] = set()
"""The kinds of errors that have a sample, once the samples were built."""


def of(error: Exception, asked: str = "", *, attempted: bool = False) -> Message:
    SAMPLED.add(type(error))
    return error_message(error, asked=asked, caller=CALLER, attempted=attempted)


def services() -> Iterator[Sample]:
    """What a service refuses or fails to do where something was to be changed."""
    yield from ((title, of(error, "/rules off Old shop", attempted=True)) for title, error in FAILURES.items())


def read_services() -> Iterator[Sample]:
    """The same where something was only asked."""
    yield from ((title, of(error, "/rules off Old shop")) for title, error in FAILURES.items())


def slack() -> Iterator[Sample]:
    """What Slack refuses."""
    for code in ("expired_trigger_id", "not_in_channel", "invalid_blocks", "file_uploads_disabled", "fatal_error"):
        yield code, of(SlackRefused(code))
    yield "Slack is away", of(SlackUnreachable())
    yield "an old button", of(errors.OldButton())
    yield "an old card", of(errors.OldCard("<https://slack.example/p1|this card>"))
    yield "a form of yesterday", of(errors.FormForgotten())
    yield "a message without a URL", of(errors.NothingInMessage())


def rights() -> Iterator[Sample]:
    """Who can't do something, and why."""
    for why in Why:
        error = NotAllowed(why, "rule.delete", "U0ALICE01", roles=("oncall",))
        yield why.value.replace("_", " "), of(error, attempted=True)
    yield "nobody can approve", of(NobodyCanApprove(2, 1, ("oncall",)), attempted=True)
    yield "different approvers", of(Irreconcilable(("oncall", "leads")), attempted=True)
    yield "a reason", of(ReasonRequired("a ticket such as SUP-123"), attempted=True)
    yield "Slack tells no emails", of(EmailUnknown(), attempted=True)
    yield "Slack says nothing", of(DirectoryUnavailable("who you are"), attempted=True)
    yield "Slack is in trouble", of(DirectoryUnavailable("who you are", "service_unavailable"), attempted=True)


def changes() -> Iterator[Sample]:
    """What is refused about changes."""
    yield "already decided", of(refusals.AlreadyDecided(DENIED), attempted=True)
    done = with_fields(DENIED, state=State.APPLIED)
    yield "already overridden", of(refusals.AlreadyDecided(with_fields(done, glass_broken=True)), attempted=True)
    yield "already requested", of(refusals.AlreadyRequested(WAITING), attempted=True)
    yield "already requested, and done", of(refusals.AlreadyRequested(done), attempted=True)
    planned = with_fields(WAITING, state=State.PLANNED, starts_at=datetime(2026, 11, 21, 3, 30, tzinfo=UTC))
    yield "already planned", of(refusals.AlreadyRequested(planned), attempted=True)
    yield "already approved by you", of(refusals.AlreadyDecided(WAITING), attempted=True)
    yield "no longer planned", of(refusals.NotPlanned(with_fields(WAITING, state=State.APPLYING)), attempted=True)
    yield "look first", of(refusals.LookFirst(WAITING), attempted=True)
    yield (
        "another end, of what two approved",
        of(refusals.MoreMustAgree(with_fields(WAITING, approvals_needed=2)), attempted=True),
    )
    for user in (WAITING.request.requester, "U0ERIN001"):
        error = refusals.ApprovalWaits(WAITING, user, Why.NO_ROLE)
        yield f"the last approval, but {user} lost the right", of(error, attempted=True)
    for name, state in (("busy", State.APPLYING), ("busy, and not confirmed yet", State.UNKNOWN)):
        yield name, of(TargetBusy(with_fields(WAITING, state=state)), "/rules off Old shop", attempted=True)
    yield "it was there for a time only", of(refusals.NothingComesBack(WAITING), "/gatehouse undo", attempted=True)
    yield "the old email is gone", of(refusals.OldEmailGone(WAITING), "/gatehouse undo", attempted=True)
    yield "not undoable", of(refusals.NotUndoable(DENIED), "/gatehouse undo", attempted=True)
    for state in (State.UNKNOWN, State.FAILED, State.UNSETTLED):
        undone = refusals.NotUndoable(with_fields(DENIED, state=state))
        yield f"not undoable: {state.value}", of(undone, "/gatehouse undo", attempted=True)
    yield "nothing to undo", of(errors.NothingToUndo(None), "/gatehouse undo", attempted=True)
    yield (
        "not undone",
        of(errors.NothingToUndo(None, "*Delete “Old shop”*, denied by you"), "/gatehouse undo", attempted=True),
    )
    yield "no such reference", of(errors.NothingToUndo("1a2b"), "/gatehouse undo 1a2b", attempted=True)
    yield (
        "nothing to change",
        of(
            errors.NothingToChange(["Old shop"], errors.AlreadySo.with_status("off"), "Last changed by <@U0BOB0001>."),
            "/rules off Old shop",
            attempted=True,
        ),
    )
    yield "too many requests", of(refusals.TooManyRequests(20), attempted=True)
    yield "the database, without an answer to COMMIT", of(CommitUnknown("reset"), "/rules off Old shop", attempted=True)
    yield "the database, after the claim", of(refusals.Unrecorded(WAITING), "/rules off Old shop", attempted=True)
    yield "a record that can't be read", of(UnreadableRow("change e5f05209"), "/gatehouse pending")
    yield "the database", of(StoreError("disk I/O error"), "/rules off Old shop", attempted=True)
    yield "given up", of(errors.GivenUp(), "/rules off Old shop", attempted=True)
    yield "a bug", of(KeyError("name"), "/rules list")


def typed() -> Iterator[Sample]:
    """What was typed and can't be run."""
    wrong = ("/rules bogus", "/rules liist", "/rules block promo", "/rules off", "/rules list page:x")
    for text in (*wrong, "/members grant anna@example.com"):
        service, _, rest = text[1:].partition(" ")
        try:
            parse(service, rest)
        except Unclear as error:
            yield text, of(error, text)
    yield "no such number", of(NoSuchNumber("#9", 1, "rules"), "/rules show #9")
    yield "no list yet", of(NoSuchNumber("#9", 0, "members"), "/members show #9")
    deleted = Deleted(change(Kind.RULE_DELETE, State.APPLIED, OLD_SHOP, None))
    yield "a name that was deleted", of(deleted, "/rules off Old shop", attempted=True)
    yield "not an email", of(BadEmail("The part after the @-sign is not valid."), "/members why anna@")
    yield "neither an email nor a name", of(BadEmail("It must have an @-sign.", "xyz"), "/members why xyz")
    member = errors.NoMember("anna@example.com", "blog")
    yield "no member", of(member, "/members show anna@example.com")
    there = {"docs": MembersShow(emails=("anna@example.com",), site="docs")}
    yield "a member of another site", of(errors.NoMember("anna@example.com", "blog", there))
    grant = {"Grant vip instead": MembersGrant(emails=("anna@example.com",), segments=("vip",))}
    segment = errors.UnknownSegment("vpi", "blog", ["vip"], grant)
    yield "no such segment", of(segment, "/members grant anna@example.com vpi", attempted=True)
    yield "the email that they have", of(SameEmail("anna@example.com", "anna@example.com"), attempted=True)
    yield "the same email in other letters", of(SameEmail("anna@example.com", "Anna@example.com"), attempted=True)
    yield "somebody else's email", of(EmailTaken("ben@example.com", "blog"), attempted=True)
    bad = errors.BadFilter(
        "“soon” isn’t a time. Write 24h, 7d, today, yesterday or last night.", "gatehouse digest 24h"
    )
    yield "not a time", of(bad, "/gatehouse digest soon")


def limits() -> Iterator[Sample]:
    """What is too much, too early or too late."""
    found: dict[str, Exception] = {
        "too fast": TooFast(EXPORT_RATE, 90),
        "still running": StillRunning("/rules check"),
        "a time that is past": refusals.TimeIsPast("until 9:00"),
        "an end before its start": refusals.EndsBeforeStart(),
    }
    yield from ((title, of(error, attempted=True)) for title, error in found.items())


def others() -> Iterator[Sample]:
    """What else is refused."""
    done = with_fields(WAITING, state=State.APPLIED)
    found: dict[str, Exception] = {
        "somebody else's request": refusals.NotYours(WAITING),
        "a stricter policy": refusals.PolicyTightened(WAITING),
        "no longer temporary": refusals.NotTemporary(done),
        "a change that nobody knows": refusals.UnknownChange("1a2b3c4d"),
        "frozen": freezing.Frozen(FREEZE),
        "no such freeze": freezing.NoFreeze(),
        "lifting asked for twice": freezing.LiftRequested(FREEZE),
        "nothing left to do": proposals.NothingToDo(),
        "nested too deeply": NestedTooDeep("Old shop"),
        "not a URL": NotAUrl("not a URL"),
        "no such site": UnknownSite("shop", ["blog", "docs"]),
        "not an id": client.BadIdentifier("rules", "the id of a rule", "../x"),
        "what can't be sent": client.Unsendable("rules", "the rule is too large"),
        "part of a list": Incomplete("rules", Gap(read=30, total=350)),
        "a file that is gone": FileGone(),
        "a login page in place of a file": FileUnreadable("text/html"),
        "an empty file": BadFile(*EMPTY_FILE),
    }
    yield from ((title, of(error, attempted=True)) for title, error in found.items())


def samples() -> Iterator[Sample]:
    yield from (*services(), *slack(), *rights(), *changes(), *limits(), *others(), *typed())
