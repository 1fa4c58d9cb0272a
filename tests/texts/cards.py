"""The cards of changes, the notes in their threads, the direct messages about them, their forms and full view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from bot.changes.execute import END_PASSED, TOO_OLD
from bot.changes.model.change import Change
from bot.changes.model.edits import Kind, Target
from bot.changes.model.items import Item, Outcome, Tally
from bot.changes.model.parts import Approval, BulkAct, Cause, CauseKind, Guard, Purpose, Undone
from bot.changes.model.states import State
from bot.clients.errors import OutcomeUnknown, Unreachable, Unsendable
from bot.policy.freezes import Freeze
from bot.policy.model import Why
from bot.rules.model import Groups
from bot.rules.secrets import hide_secrets
from handlers.blocks.masking import mask_message
from handlers.blocks.messages import Message
from handlers.changes import card_view, command_form, full_view, notes_view
from handlers.changes.entries import entries_of
from handlers.changes.items_view import Progress
from tests.harness.proposing import change_of, with_fields
from tests.texts import Sample

Document = dict[str, Any]
NOW: Final = datetime(2026, 11, 21, 1, 24, tzinfo=UTC)
ALICE: Final = "U0ALICE01"
BOB: Final = "U0BOB0001"
CARA: Final = "U0CARA001"
OPS: Final = "C0OPS0001"
PLACES: Final = {"rules": "rules.example.com", "members": "members.example.com"}
UNDOING: Final = "b06889c4" * 4
LINK: Final = "https://slack.example/archives/C0OPS0001/p1"
GROUPS: Final = Groups({"Group_1": "Experiments"}, frozenset())


def pair(source: str, destination: str, **filters: Any) -> Document:
    own = {"filters": [filters]} if filters else {}
    return {
        "source": {"key": "Url", "operator": "Equals", "value": f"https://shop.example.com{source}", **own},
        "destinationType": "url",
        "destination": f"https://shop.example.com{destination}",
    }


def rule(name: str, *pairs: Document, **fields: Any) -> Document:
    return {"name": name, "status": "Active", "ruleType": "Redirect", "pairs": list(pairs), **fields}


OLD_SHOP: Final = rule("Old shop to new shop", pair("/old", "/new"))
MOVED: Final = rule("Old shop to new shop", pair("/old", "/landing"))
SALE: Final = rule(
    "Sale 2026",
    pair("/sale", "/landing2", pageDomains=["blog.example.com", "shop.example.com"], requestMethod=["GET"]),
    pair("/deals", "/landing2"),
    pair("/black-friday", "/landing2"),
    description="Ends with the year",
)
MANY: Final = rule("Campaign links", *(pair(f"/c/{number}", f"/campaign/{number}") for number in range(40)))
HEADERS: Final = {
    "name": "Debug header for support",
    "status": "Active",
    "ruleType": "Headers",
    "pairs": [
        {
            "source": {"key": "Url", "operator": "Contains", "value": "https://shop.example.com"},
            "modifications": {"Request": [{"header": "Authorization", "type": "Add", "value": "Bearer abc123"}]},
        }
    ],
}
ANNA: Final = {"email": "anna.berg@example.com", "name": "Anna Berg", "allowedSegments": ["newsletter"]}
CHLOE: Final = {"email": "chloe.diaz@example.com", "name": "Chloe Diaz", "allowedSegments": ["default", "staff"]}


def with_vip(member: Document) -> Document:
    return member | {"allowedSegments": [*member["allowedSegments"], "vip"]}


def off(document: Document) -> Document:
    return document | {"status": "Inactive"}


CAUSES: Final[dict[str, Cause]] = {
    "ended": Cause(kind=CauseKind.END, requester=ALICE),
    "ended late": Cause(kind=CauseKind.END, requester=ALICE, late_seconds=1500),
    "ended late, after tries in vain": Cause(kind=CauseKind.END, requester=ALICE, late_seconds=240, tries=3),
    "reverted early": Cause(kind=CauseKind.EARLY_END, requester=ALICE),
    "undone by somebody else": Cause(kind=CauseKind.UNDO, requester=ALICE),
    "undone by its requester": Cause(kind=CauseKind.UNDO, requester=CARA),
}


def change(kind: Kind, state: State, before: Any, after: Any, **more: Any) -> Change:
    """A change by Alice, which Cara may decide about."""
    document = before or after or {}
    if kind.value.startswith("rule"):
        target = Target(service="rules", key=None if before is None else "Redirect_x1")
    elif kind is Kind.GROUP_UPDATE:
        target = Target(service="groups", key="Group_1")
    else:
        target = Target(service="members", site="blog", key=document["email"])
    own: Document = {
        "id": "0343eab7" * 4,
        "kind": kind,
        "target": target,
        "before": before,
        "after": after,
        "result": after,
        "requester": ALICE,
        "channel": OPS,
        "reason": "we test",
        "state": state,
        "created": NOW,
        "expires": NOW + timedelta(days=1),
    }
    if state is not State.PROPOSED:
        own |= {
            "decided_by": ALICE,
            "decided_at": NOW + timedelta(minutes=2),
            "finished_at": NOW + timedelta(minutes=2),
        }
    return change_of(own | more)


def approved(**more: Any) -> Document:
    return {"guard": Guard.APPROVE, "approvals": (Approval(by=CARA, at=NOW),), "decided_by": CARA} | more


def asked(**more: Any) -> Document:
    return {"guard": Guard.APPROVE} | more


def card(shown: Change, *, groups: Groups | None = None, since: Change | None = None) -> Message:
    """The card of *shown*, as a channel gets it."""
    before, after, result = hide_secrets(shown.edit.before, shown.edit.after, shown.run.result)
    shown = with_fields(shown, before=before, after=after, result=result)
    return mask_message(card_view.card(shown, groups=groups, since=since))


def requests() -> Iterator[Sample]:
    """Cards while somebody has to decide."""
    delete = Kind.RULE_DELETE
    yield (
        "delete a rule, anyone else may approve",
        card(change(delete, State.PROPOSED, SALE, None, **asked(reason="not needed"))),
    )
    yield (
        "delete a rule that is off, others are named, one of two has approved",
        card(
            change(
                delete,
                State.PROPOSED,
                off(OLD_SHOP),
                None,
                **asked(
                    approvers=("oncall",),
                    summoned=("S0ONCALL", BOB),
                    approvals_needed=2,
                    approvals=(Approval(by=CARA, at=NOW),),
                    break_glass=("oncall",),
                ),
            )
        ),
    )
    yield "delete a rule of 40 pairs, own click", card(change(delete, State.PROPOSED, MANY, None, guard=Guard.CONFIRM))
    yield (
        "delete a rule with a secret header",
        card(change(delete, State.PROPOSED, HEADERS, None)),
    )
    yield (
        "switch off a rule for two hours",
        card(change(Kind.RULE_UPDATE, State.PROPOSED, OLD_SHOP, off(OLD_SHOP), **asked(revert_after=7200))),
    )
    yield (
        "change a destination, with a warning",
        card(
            change(
                Kind.RULE_UPDATE,
                State.PROPOSED,
                OLD_SHOP,
                MOVED,
                **asked(warnings=("It loops with “Back to the old shop”.",)),
            )
        ),
    )
    yield (
        "create a rule",
        card(change(Kind.RULE_CREATE, State.PROPOSED, None, SALE, **asked(reason="", break_glass=("oncall",)))),
    )
    yield (
        "switch off a group",
        card(
            change(
                Kind.GROUP_UPDATE,
                State.PROPOSED,
                {"name": "Experiments", "status": "Active"},
                {"name": "Experiments", "status": "Inactive"},
                **asked(),
            )
        ),
    )
    yield "remove a member", card(change(Kind.MEMBER_REMOVE, State.PROPOSED, CHLOE, None, **asked(reason="she left")))
    yield (
        "remove a member, own click",
        card(change(Kind.MEMBER_REMOVE, State.PROPOSED, CHLOE, None, guard=Guard.CONFIRM, reason="she left")),
    )
    yield (
        "grant until a time that was typed",
        card(
            change(
                Kind.MEMBER_GRANT,
                State.PROPOSED,
                ANNA,
                with_vip(ANNA),
                **asked(reverts_at=NOW + timedelta(hours=2), reverts_at_as_typed="03:24 Europe/Berlin"),
            )
        ),
    )
    yield "revoke", card(change(Kind.MEMBER_REVOKE, State.PROPOSED, with_vip(ANNA), ANNA, **asked()))


KINDS: Final[dict[str, tuple[Kind, Document | None, Document | None]]] = {
    "create a rule": (Kind.RULE_CREATE, None, OLD_SHOP),
    "switch off a rule": (Kind.RULE_UPDATE, OLD_SHOP, off(OLD_SHOP)),
    "change a destination": (Kind.RULE_UPDATE, OLD_SHOP, MOVED),
    "delete a rule": (Kind.RULE_DELETE, OLD_SHOP, None),
    "switch on a group": (
        Kind.GROUP_UPDATE,
        {"name": "Experiments", "status": "Inactive"},
        {"name": "Experiments", "status": "Active"},
    ),
    "add a member": (Kind.MEMBER_ADD, None, ANNA),
    "rename a member": (Kind.MEMBER_UPDATE, ANNA, ANNA | {"name": "Anna Berg-Diaz"}),
    "grant": (Kind.MEMBER_GRANT, ANNA, with_vip(ANNA)),
    "revoke": (Kind.MEMBER_REVOKE, with_vip(ANNA), ANNA),
    "remove a member": (Kind.MEMBER_REMOVE, CHLOE, None),
}


def outcomes() -> Iterator[Sample]:
    """Cards of each kind while it is done and once it is, and of one rule and one member what else may become of it."""
    for title, (kind, before, after) in KINDS.items():
        yield f"{title}: done", card(change(kind, State.APPLIED, before, after))
        if kind.destroys:
            yield f"{title}: done, approved", card(change(kind, State.APPLIED, before, after, **approved()))
        yield f"{title}: applying", card(change(kind, State.APPLYING, before, after))
        if title in {"delete a rule", "rename a member"}:
            yield f"{title}: unknown", card(change(kind, State.UNKNOWN, before, after))
            denied = asked(decided_by=CARA, decision_reason="not tonight")
            yield f"{title}: denied", card(change(kind, State.DENIED, before, after, **denied))


def endings() -> Iterator[Sample]:
    """The other ways in which a change ends, and what happens after it."""
    delete: Any = (OLD_SHOP, None)
    switch: Any = (OLD_SHOP, off(OLD_SHOP))
    yield "withdrawn", card(change(Kind.RULE_DELETE, State.CANCELLED, *delete, **asked()))
    yield "expired", card(change(Kind.RULE_DELETE, State.EXPIRED, *delete, **asked(decided_by=None)))
    one = asked(decided_by=None, approvals_needed=2, approvals=(Approval(by=BOB, at=NOW),))
    yield "expired, one of two approvals", card(change(Kind.RULE_DELETE, State.EXPIRED, *delete, **one))
    yield "out of date", card(change(Kind.RULE_UPDATE, State.STALE, OLD_SHOP, off(OLD_SHOP), result=MOVED))
    instead = change(Kind.RULE_DELETE, State.STALE, OLD_SHOP, None, result=off(OLD_SHOP), overtaken_by=BOB)
    yield "out of date, switched off instead", card(instead)
    yield (
        "out of date, a temporary change ended",
        card(change(Kind.RULE_DELETE, State.STALE, off(OLD_SHOP), None, result=OLD_SHOP, overtaken_by="gatehouse")),
    )
    back = change(
        Kind.RULE_CREATE, State.STALE, None, OLD_SHOP, result=OLD_SHOP, overtaken_by=BOB, undoes="b06889c4" * 4
    )
    yield "out of date, created by another undo", card(back)
    yield "out of date, gone", card(change(Kind.RULE_DELETE, State.STALE, *delete, result=None))
    down: Document = {"code": "Refused", "words": "503: down"}
    yield "failed", card(change(Kind.RULE_DELETE, State.FAILED, *delete, why_not=down))
    for refusal in (OutcomeUnknown, Unreachable, Unsendable):
        ours: Document = {"why_not": {"code": refusal.__name__, "words": str(refusal("rules", "our own words"))}}
        yield f"failed, {refusal.__name__}", card(change(Kind.RULE_DELETE, State.FAILED, *delete, **ours))
    passed = approved(why_not={"code": END_PASSED}, reverts_at=NOW)
    yield "failed, its end passed", card(change(Kind.RULE_UPDATE, State.FAILED, *switch, **passed))
    yield (
        "failed, approval too old",
        card(change(Kind.RULE_DELETE, State.FAILED, *delete, **approved(why_not={"code": TOO_OLD}))),
    )
    yield "failed, too late", card(change(Kind.RULE_UPDATE, State.FAILED, *switch, why_not={"code": TOO_OLD}))
    frozen: Document = {"why_not": {"until": NOW + timedelta(days=2)}}
    yield "failed, frozen by then", card(change(Kind.RULE_DELETE, State.FAILED, *delete, **approved(**frozen)))
    lost: Document = {"why_not": {"who": ALICE, "why": Why.DEACTIVATED}}
    yield "failed, right lost", card(change(Kind.RULE_DELETE, State.FAILED, *delete, **approved(**lost)))
    yield "unsettled", card(change(Kind.RULE_UPDATE, State.UNSETTLED, *switch, result=MOVED))
    yield (
        "service down, waits",
        card(change(Kind.RULE_DELETE, State.APPROVED, *delete, **approved(waits="the service doesn’t answer"))),
    )
    temporary: Document = {"reverts_at": NOW + timedelta(hours=2), "revert_after": 7200}
    yield "unsettled, temporary", card(change(Kind.RULE_UPDATE, State.UNSETTLED, *switch, **temporary))
    yield "off for two hours", card(change(Kind.RULE_UPDATE, State.APPLIED, *switch, **temporary))
    yield (
        "granted until a time that was typed",
        card(
            change(
                Kind.MEMBER_GRANT,
                State.APPLIED,
                ANNA,
                with_vip(ANNA),
                **approved(**temporary, reverts_at_as_typed="03:24 Europe/Berlin"),
            )
        ),
    )
    yield (
        "destination changed for two hours",
        card(change(Kind.RULE_UPDATE, State.APPLIED, OLD_SHOP, MOVED, **temporary)),
    )
    for why in ("changed", "gone", "refused", "unconfirmed"):
        left = temporary | {"revert_failure": why}
        yield f"not reverted: {why}", card(change(Kind.RULE_UPDATE, State.APPLIED, *switch, **left))
    partly = temporary | {"revert_failure": "partly", "closed": {"pairs": "its end"}}
    both = MOVED | {"description": "For a sale"}
    yield "not reverted: partly", card(change(Kind.RULE_UPDATE, State.APPLIED, OLD_SHOP, both, **partly))
    switched_off = change(Kind.RULE_UPDATE, State.APPLIED, *switch, **temporary)
    yield (
        "for two hours, and deleted since",
        card(switched_off, since=change(Kind.RULE_DELETE, State.APPLIED, OLD_SHOP, None, requester=CARA)),
    )
    on_again = change(Kind.RULE_UPDATE, State.APPLIED, off(OLD_SHOP), OLD_SHOP, requester=CARA, finished_at=NOW)
    yield "for two hours, and switched on since", card(switched_off, since=on_again)
    for name, cause in CAUSES.items():
        by = ALICE if cause.is_automatic else CARA
        undone: Document = {
            "undone": Undone(change=UNDOING, at=NOW + timedelta(hours=2), by=by, cause=cause),
        }
        yield f"{name}, the change", card(change(Kind.RULE_UPDATE, State.APPLIED, *switch, **temporary | undone))
        told: Document = {"undoes": "0343eab7" * 4, "requester": by, "reason": "", "cause": cause}
        yield f"{name}, what did it", card(change(Kind.RULE_UPDATE, State.APPLIED, *reversed(switch), **told))
    yield (
        "a rule made for two hours, deleted",
        card(
            change(
                Kind.RULE_CREATE,
                State.APPLIED,
                None,
                OLD_SHOP,
                **temporary,
                undone=Undone(change=UNDOING, at=NOW + timedelta(hours=2), by=ALICE, cause=CAUSES["ended"]),
            )
        ),
    )
    undone_since = Undone(change=UNDOING, at=NOW + timedelta(hours=2), by=CARA, cause=CAUSES["undone by somebody else"])
    yield "undone", card(change(Kind.RULE_DELETE, State.APPLIED, *delete, undone=undone_since))
    yield "can’t be drawn", card_view.plain_card(change(Kind.RULE_DELETE, State.PROPOSED, *delete, **asked()))
    yield "can’t be drawn, a member", card_view.plain_card(change(Kind.MEMBER_REMOVE, State.APPLIED, CHLOE, None))
    yield "an undo of a deletion", card(change(Kind.RULE_CREATE, State.APPLIED, None, OLD_SHOP, undoes="b06889c4" * 4))
    moved = {"name": "Chloe Diaz", "email": "chloe@new.example", "allowedSegments": ["default", "staff"]}
    from_old = {"moved_from": CHLOE["email"]}
    yield "another email", card(change(Kind.MEMBER_ADD, State.APPLIED, None, moved, **from_old))
    yield "an undo of a removal", card(change(Kind.MEMBER_ADD, State.APPLIED, None, CHLOE, undoes="b06889c4" * 4))
    alone: Document = {"glass_broken": True, "decision_reason": "checkout is down, nobody answers"}
    yield "emergency override", card(change(Kind.RULE_DELETE, State.APPLIED, *delete, **asked(**alone)))
    grouped = OLD_SHOP | {"groupId": "Group_1"}
    yield (
        "on, but its group is off",
        card(change(Kind.RULE_UPDATE, State.APPLIED, off(grouped), grouped), groups=GROUPS),
    )
    yield (
        "created, with a warning",
        card(
            change(
                Kind.RULE_CREATE,
                State.APPLIED,
                None,
                rule("Back to the old shop", pair("/new", "/old")),
                warnings=("It loops with “Old shop to new shop”.",),
            )
        ),
    )
    yield "stored otherwise", card(change(Kind.RULE_UPDATE, State.APPLIED, OLD_SHOP, MOVED, result=OLD_SHOP))
    whole = card(change(Kind.RULE_DELETE, State.APPLIED, *delete))
    yield "not in its channel", card_view.explain_place(whole, OPS, shared=False)
    yield "channel shared since", card_view.explain_place(whole, OPS, shared=True)


def item(number: int, kind: Kind | None, before: Document | None, after: Document | None, **more: Any) -> Item:
    document = before or after or {}
    if "email" in document:
        site = more.pop("site", "blog")
        target = Target(service="members", site=site, key=document["email"])
    else:
        target = Target(service="rules", key=None if before is None else f"Redirect_x{number}")
    return Item(number=number, kind=kind, target=target, before=before, after=after, **more)


def bulk(purpose: Purpose, state: State, items: Sequence[Item], total: int = 0, **more: Any) -> tuple[Change, Progress]:
    first = items[0]
    kind = first.kind or Kind.RULE_UPDATE
    counts: dict[Outcome, int] = {}
    for one in items:
        counts[one.outcome] = counts.get(one.outcome, 0) + 1
    if total > len(items):
        counts[items[-1].outcome] += total - len(items)
    more |= {"size": total or len(items), "to_do": total or sum(one.kind is not None for one in items)}
    whole = change(kind, state, first.before or first.after, first.after, purpose=purpose, **more)
    kinds = tuple(dict.fromkeys(one.kind for one in items if one.kind))
    target = Target(service=first.target.service)
    update = {"before": None, "after": None, "result": None, "target": target, "kinds": kinds}
    return with_fields(whole, **update), Progress(Tally(counts), items)


def bulk_card(purpose: Purpose, state: State, items: Sequence[Item], total: int = 0, **more: Any) -> Message:
    whole, progress = bulk(purpose, state, items, total, **more)
    return mask_message(card_view.card(whole, progress=progress))


def switched(*outcomes: Outcome) -> list[Item]:
    documents = (OLD_SHOP, SALE, MANY)
    return [
        item(at + 1, Kind.RULE_UPDATE, documents[at], off(documents[at]), outcome=outcome)
        for at, outcome in enumerate(outcomes)
    ]


def removals(outcome: Outcome) -> list[Item]:
    return [
        item(1, Kind.MEMBER_REMOVE, CHLOE, None, outcome=outcome, change_id="1" * 32, site="blog"),
        item(2, Kind.MEMBER_REMOVE, CHLOE, None, outcome=outcome, change_id="2" * 32, site="docs"),
    ]


def half_removed(second: Outcome) -> list[Item]:
    return [removals(Outcome.APPLIED)[0], removals(second)[1]]


def returns() -> list[Item]:
    return [
        item(number, Kind.MEMBER_ADD, None, CHLOE, outcome=Outcome.WAITING, site=site)
        for number, site in ((1, "docs"), (2, "blog"))
    ]


PAUL: Final = CHLOE | {"email": "paul.quist@example.com", "name": "Paul Quist"}
OFF: Final = Purpose(act=BulkAct.SWITCH_OFF)
OFFBOARD: Final = Purpose(act=BulkAct.OFFBOARD, about="Chloe Diaz")
IMPORT: Final = Purpose(act=BulkAct.IMPORT, about="“campaign.json”")


def imported(first: Outcome, second: Outcome) -> list[Item]:
    return [
        item(1, Kind.RULE_CREATE, None, off(SALE), outcome=first),
        item(2, Kind.RULE_UPDATE, OLD_SHOP, MOVED, outcome=second),
        item(3, None, MANY, None, outcome=Outcome.SKIPPED, why="already there and identical"),
    ]


def bulk_changes() -> Iterator[Sample]:
    """Cards of changes of several things."""
    waiting, applied = Outcome.WAITING, Outcome.APPLIED
    yield (
        "switch off two rules, own click",
        bulk_card(OFF, State.PROPOSED, switched(waiting, waiting), guard=Guard.CONFIRM),
    )
    yield (
        "switch off three rules, under way",
        bulk_card(OFF, State.APPLYING, switched(applied, Outcome.APPLYING, waiting)),
    )
    yield (
        "being stopped",
        bulk_card(OFF, State.APPLYING, switched(applied, Outcome.APPLYING, waiting), stopped_by=BOB),
    )
    yield (
        "two rules switched off for two hours",
        bulk_card(
            OFF, State.APPLIED, switched(applied, applied), reverts_at=NOW + timedelta(hours=2), revert_after=7200
        ),
    )
    yield "two of three done", bulk_card(OFF, State.APPLIED, switched(applied, applied, Outcome.STALE))
    yield (
        "stopped",
        bulk_card(OFF, State.APPLIED, switched(applied, Outcome.STOPPED, Outcome.STOPPED), stopped_by=BOB),
    )
    yield "one not confirmed", bulk_card(OFF, State.APPLIED, switched(applied, Outcome.UNKNOWN))
    yield "none done", bulk_card(OFF, State.FAILED, switched(Outcome.FAILED, Outcome.BUSY))
    yield (
        "undone",
        bulk_card(
            OFF,
            State.APPLIED,
            switched(Outcome.UNDONE, Outcome.UNDONE),
            undone=Undone(change=UNDOING, at=NOW, by=ALICE, cause=CAUSES["undone by somebody else"]),
        ),
    )
    yield "offboarding", bulk_card(OFFBOARD, State.PROPOSED, removals(waiting), **asked(reason="she left"))
    people = Purpose(act=BulkAct.OFFBOARD, about="2 people")
    three = [*removals(waiting), item(3, Kind.MEMBER_REMOVE, PAUL, None, outcome=waiting, site="blog")]
    yield "offboarding of two people", bulk_card(people, State.PROPOSED, three, **asked())
    yield "offboarded from one site of two", bulk_card(OFFBOARD, State.APPLIED, half_removed(Outcome.FAILED))
    yield (
        "undo of an offboarding, own click",
        bulk_card(OFFBOARD.inverse(), State.PROPOSED, returns(), guard=Guard.CONFIRM, undoes="0343eab7" * 4),
    )
    yield "offboarded", bulk_card(OFFBOARD, State.APPLIED, removals(applied), **approved(reason="she left"))
    yield (
        "import of 2 rules",
        bulk_card(IMPORT, State.PROPOSED, imported(waiting, waiting), **asked(reason="")),
    )
    yield (
        "imported",
        bulk_card(IMPORT, State.APPLIED, imported(applied, applied), **approved(reason="")),
    )
    yield (
        "delete 12,000 rules",
        bulk_card(
            Purpose(act=BulkAct.DELETE),
            State.PROPOSED,
            [item(1, Kind.RULE_DELETE, OLD_SHOP, None)],
            12_000,
            **asked(),
        ),
    )


def planned() -> Iterator[Sample]:
    """Cards of what waits for its time, or was not begun at it."""
    friday: Document = {"starts_at": NOW + timedelta(days=4), "starts_at_as_typed": "09:00 Europe/Berlin"}
    switch: Any = (Kind.RULE_UPDATE, State.PLANNED, OLD_SHOP, off(OLD_SHOP))
    asked_for = change(Kind.RULE_DELETE, State.PROPOSED, SALE, None, **asked(**friday))
    yield "asked for, for a time", card(asked_for)
    yield "switch off at a time, for two hours", card(change(*switch, **friday, revert_after=7200))
    monday: Document = {"reverts_at": NOW + timedelta(days=7), "reverts_at_as_typed": "09:00 Europe/Berlin"}
    yield "switch off from one time to another, approved", card(change(*switch, **approved(**friday, **monday)))
    late = change(*switch, **friday, held="late", held_at=NOW)
    yield "nobody could begin it", card(late)
    yield (
        "out of date by then",
        card(change(Kind.RULE_UPDATE, State.STALE, OLD_SHOP, off(OLD_SHOP), **friday, result=off(OLD_SHOP))),
    )
    yield "frozen then", card(change(*switch, **friday, held="frozen", held_at=NOW))
    freeze = Freeze(starts=NOW, until=NOW + timedelta(days=5), why="Christmas")
    mine = asked(guard=Guard.CONFIRM, break_glass=("oncall",), **friday)
    in_it = change(Kind.RULE_UPDATE, State.PROPOSED, OLD_SHOP, off(OLD_SHOP), **mine)
    yield "asked for, in a freeze", mask_message(card_view.card(in_it, freeze=freeze))
    alone = change(*switch, **approved(**friday, glass_broken=True, decision_reason="the on-call lead sleeps then"))
    yield "overridden for a time", card(alone)
    yield (
        "withdrawn",
        card(change(Kind.RULE_UPDATE, State.CANCELLED, OLD_SHOP, off(OLD_SHOP), **friday, decided_by=ALICE)),
    )
    if (note := notes_view.note(alone, "break_glass", None)) is not None:
        yield "note: overridden for a time", mask_message(note)
    lost: Document = {"why_not": {"who": BOB, "why": Why.NO_ROLE}}
    yield "who approved may not any more", card(change(*switch, **approved(**friday, held="right", **lost)))
    yield "the policy asks for more", card(change(*switch, **friday, held="policy"))
    for purpose, about in {"starts-1": change(*switch, **friday), "held-1": late}.items():
        if (note := notes_view.note(about, purpose, None)) is not None:
            yield f"note: {purpose}", mask_message(note)
    begun = change(Kind.RULE_UPDATE, State.APPLIED, OLD_SHOP, off(OLD_SHOP), **friday)
    if (note := notes_view.note(begun, "started", None)) is not None:
        yield "note: started", mask_message(note)
    some = Tally({Outcome.APPLIED: 2, Outcome.FAILED: 1})
    whole = with_fields(begun, before=None, after=None, size=3, kinds=(Kind.RULE_UPDATE,), to_do=3, purpose=OFF)
    if (note := notes_view.note(whole, "started", some)) is not None:
        yield "note: started, of which one failed", mask_message(note)


def notes() -> Iterator[Sample]:
    """Notes in the thread of a card."""
    waiting = change(
        Kind.RULE_DELETE,
        State.PROPOSED,
        SALE,
        None,
        **asked(summoned=("S0ONCALL",)),
    )
    ending = change(
        Kind.RULE_UPDATE,
        State.APPLIED,
        OLD_SHOP,
        off(OLD_SHOP),
        reverts_at=NOW + timedelta(minutes=10),
        revert_after=7200,
    )
    alone = change(
        Kind.RULE_DELETE,
        State.APPLIED,
        SALE,
        None,
        **asked(glass_broken=True, summoned=("S0ONCALL",), decision_reason="checkout is down, nobody answers"),
    )
    shown = {
        "moved-1": change(Kind.RULE_UPDATE, State.PLANNED, OLD_SHOP, off(OLD_SHOP), starts_at=NOW + timedelta(days=1)),
        "remind-1": waiting,
        "offer-1": ending,
        "break_glass": alone,
        "left changed": with_fields(ending, revert_failure="changed"),
        "left refused": with_fields(ending, revert_failure="refused"),
    }
    for purpose, about in shown.items():
        if (note := notes_view.note(about, purpose.partition(" ")[0], None)) is not None:
            yield f"note: {purpose}", mask_message(note)


def reverted(ends: datetime) -> Document:
    by_bob = Undone(change=UNDOING, at=NOW, by=BOB, cause=Cause(kind=CauseKind.EARLY_END, requester=ALICE))
    return {"undone": by_bob, "reverts_at": ends}


def direct_messages() -> Iterator[Sample]:
    """What the requester is told."""
    delete: Any = (SALE, None)
    told = {
        "approved, done": ("approved", change(Kind.RULE_DELETE, State.APPLIED, *delete, **approved())),
        "approved, under way": ("approved", change(Kind.RULE_DELETE, State.APPLYING, *delete, **approved())),
        "someone went ahead alone": (
            "approved",
            change(Kind.RULE_DELETE, State.APPLIED, *delete, **asked(glass_broken=True, decided_by=BOB)),
        ),
        "denied": (
            "denied",
            change(Kind.RULE_DELETE, State.DENIED, *delete, **asked(decided_by=CARA, decision_reason="not tonight")),
        ),
        "plan withdrawn": (
            "denied",
            change(Kind.RULE_DELETE, State.CANCELLED, *delete, starts_at=NOW + timedelta(days=1), decided_by=BOB),
        ),
        "expired": ("expired", change(Kind.RULE_DELETE, State.EXPIRED, *delete, **asked())),
        "expired, not confirmed": (
            "expired",
            change(Kind.RULE_DELETE, State.EXPIRED, *delete, guard=Guard.CONFIRM, starts_at=NOW),
        ),
        "expired, one of two approvals": (
            "expired",
            change(
                Kind.RULE_DELETE,
                State.EXPIRED,
                *delete,
                **asked(approvals_needed=2, approvals=(Approval(by=BOB, at=NOW),)),
            ),
        ),
        "failed": (
            "failed",
            change(
                Kind.RULE_DELETE, State.FAILED, *delete, **approved(why_not={"code": "Refused", "words": "503: down"})
            ),
        ),
        "out of date": ("failed", change(Kind.RULE_DELETE, State.STALE, *delete, **approved(result=off(SALE)))),
        "outcome unknown": ("failed", change(Kind.RULE_DELETE, State.UNSETTLED, *delete, **approved())),
        "reverted early": (
            "reverted",
            change(Kind.RULE_UPDATE, State.APPLIED, OLD_SHOP, off(OLD_SHOP), **reverted(NOW + timedelta(hours=1))),
        ),
        "reverted after its end": (
            "reverted",
            change(Kind.RULE_UPDATE, State.APPLIED, OLD_SHOP, off(OLD_SHOP), **reverted(NOW - timedelta(hours=1))),
        ),
    }
    for title, (kind, about) in told.items():
        if (told_of := notes_view.notice(about, kind, None, link=LINK)) is not None:
            yield f"direct message: {title}", told_of


def forms() -> Iterator[Sample]:
    """Forms for a reason, what is wrong with one, and the full view."""
    for name, text in {
        "how long is it off": "rules off Redirect_x1",
        "how long has she access": "members grant anna@example.com vip site:blog",
        "what is granted to her": "members grant anna@example.com",
        "what is to be frozen": "gatehouse freeze",
    }.items():
        begun = command_form.read_begun(text)
        yield name, command_form.view(begun, {"Redirect_x1": "Old shop"}, OPS, sites=())
    delete = change(Kind.RULE_DELETE, State.PROPOSED, SALE, None, **asked(reason="not needed"))
    lasting = change(Kind.RULE_UPDATE, State.APPLIED, SALE, off(SALE), reverts_at=NOW + timedelta(hours=2))
    for name in notes_view.REASON_FORMS:
        yield f"form: {name}", notes_view.reason_form(name, lasting if name == "until" else delete, NOW, channel=OPS)
        yield f"form: {name}, empty", "\n".join(notes_view.errors(notes_view.Reasoned(name, delete.id, "")).values())
    shown = {
        "a deletion": delete,
        "a new destination": change(Kind.RULE_UPDATE, State.PROPOSED, OLD_SHOP, MOVED, **asked()),
        "a member": change(Kind.MEMBER_REMOVE, State.PROPOSED, CHLOE, None, **asked(reason="she left")),
    }
    for title, about in shown.items():
        view = full_view.modal(about, list(entries_of(about)), places=PLACES)
        if view is not None:
            yield f"full view: {title}", view
    brief = change(Kind.RULE_UPDATE, State.PROPOSED, OLD_SHOP, off(OLD_SHOP), **asked(revert_after=7200))
    below = card_view.decision_blocks(brief, None)
    if (view := full_view.modal(brief, list(entries_of(brief)), below, places=PLACES)) is not None:
        yield "full view: for a person who can decide", view
    yield (
        "full view: after a decision",
        notes_view.decided_message(with_fields(delete, state=State.DENIED, decided_by=CARA), None),
    )
    whole, progress = bulk(OFFBOARD, State.PROPOSED, removals(Outcome.WAITING), **asked(reason="she left"))
    listed = list(entries_of(whole, progress.first))
    view = full_view.modal(whole, listed, places=PLACES)
    if view is not None:
        yield "full view: an offboarding", view
    yield "full view: a file", b"".join(full_view.file_pieces(whole, listed)).decode()


ROOMS: Final = (requests, outcomes, endings, bulk_changes, planned, notes, direct_messages, forms)


def samples() -> Iterator[Sample]:
    for room in ROOMS:
        for title, shown in room():
            yield f"{room.__name__.replace('_', ' ')}: {title}", shown
