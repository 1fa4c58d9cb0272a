"""What people type before they know the grammar: each guess with what it should come to.

A guess that only asks is run (`runs`); one that would change something is offered, and nothing is done (`offers`).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.members.model import Member
from bot.rules.model import Rule
from handlers.gatehouse.commands import (
    GatehouseAudit,
    GatehouseDigest,
    GatehouseFreezes,
    GatehouseHelp,
    GatehousePending,
    GatehousePlanned,
    GatehouseStatus,
    GatehouseUndo,
    GatehouseWhoami,
)
from handlers.grammar.command import Command, Unclear
from handlers.grammar.known import Known
from handlers.grammar.parser import parse, parse_mention
from handlers.grammar.readings import Readings, read, runs_at_once
from handlers.grammar.recognition import MAX_WORDS
from handlers.grammar.time_fields import Expiry, expiry_in
from handlers.grammar.vocabulary import ACTS, CHANGING, ENDS
from handlers.members.commands import (
    MembersAdd,
    MembersEdit,
    MembersExport,
    MembersGrant,
    MembersImport,
    MembersList,
    MembersMove,
    MembersOffboard,
    MembersRemove,
    MembersRevoke,
    MembersShow,
    MembersWhy,
)
from handlers.rules.commands import (
    RulesCheck,
    RulesCopy,
    RulesDelete,
    RulesEdit,
    RulesExport,
    RulesGroup,
    RulesHistory,
    RulesList,
    RulesMake,
    RulesOff,
    RulesOn,
    RulesSet,
    RulesShow,
    RulesWhich,
)
from sandbox.services.seed import GROUPS, RULES, SEGMENTS, members

SHOP: Final = "https://shop.example.com"
PROMO: Final = f"{SHOP}/promo"
OLD, CHECKOUT, MOBILE, STAGING, SLOW = (
    "Redirect_x1old",
    "Redirect_chk01",
    "Redirect_chk02",
    "Redirect_test1",
    "Delay_slow01",
)
GIFTS, VOUCHERS, BLACK_FRIDAY = "Redirect_gift01", "Redirect_gift02", "Redirect_bfri1"
ALL_CHECKOUTS: Final = (CHECKOUT, MOBILE, STAGING, SLOW)
ANNA, CHLOE, OTHER_CHLOE = "anna.berg@example.com", "chloe.diaz@example.com", "chloe.khan@example.com"
PAUL, LIAM, QUINN = "paul.quist@example.com", "liam.meyer@example.com", "quinn.rossi@example.com"
HOSTS: Final = ("shop.example.com", "m.shop.example.com")

KNOWN: Final = replace(
    Known.of(
        rules=[Rule.model_validate(dict(rule)) for rule in RULES],
        groups={key: name for key, name, _ in GROUPS},
        members={
            site: [Member.model_validate(each) for each in members(key)]
            for site, key in (("blog", "site_1"), ("docs", "site_2"))
        },
        segments=SEGMENTS,
        hosts=HOSTS,
    ),
    site="blog",
)

Outcome = tuple[str, list[Command]]


def runs(command: Command) -> Outcome:
    return "runs", [command]


def shows(command: Command) -> Outcome:
    """What a text is about, under what of it was not understood."""
    return "shows", [command]


def offers(*commands: Command) -> Outcome:
    return "offers", list(commands)


NOTHING: Final[Outcome] = ("nothing", [])


def block(url: str, expiry: Expiry | None = None, because: str | None = None) -> Outcome:
    """How much is asked: exactly this URL, with any query, everything below."""
    made = RulesMake(
        "Cancel", url, name=f"Block {url.removeprefix('https://').rstrip('/')}", expiry=expiry, because=because
    )
    return offers(made, replace(made, match="query"), replace(made, match="below"))


def redirect(url: str, to: str, expiry: Expiry | None = None, because: str | None = None) -> RulesMake:
    short = [each.removeprefix("https://") for each in (url, to)]
    return RulesMake("Redirect", url, to, name=" to ".join(short), expiry=expiry, because=because)


HOURS_2: Final = Expiry("for 2h", 7200)

GUESSES: Final[list[tuple[str, Outcome]]] = [
    # As people say and paste it
    ("/rules show rules that are off", runs(RulesList(status="off"))),
    ("/rules list all rules that are off", runs(RulesList(status="off"))),
    ("/rules change the name of Old shop to Ancient", offers(RulesSet((OLD,), (("name", "Ancient"),)))),
    ("/rules please change the name of Old shop to Ancient", offers(RulesSet((OLD,), (("name", "Ancient"),)))),
    (f"/members upgrade Anna Berg ({ANNA}) to premium", offers(MembersGrant((ANNA,), ("premium",)))),
    (f"/members mailto:{ANNA}", runs(MembersWhy((ANNA,)))),
    ("/rules unblock https://tracker.example.net", shows(RulesWhich("https://tracker.example.net"))),
    # A URL: where it goes
    (f"/rules {SHOP}/old?utm_source=x", runs(RulesWhich(f"{SHOP}/old?utm_source=x"))),
    (f"/rules why {SHOP}/old", runs(RulesWhich(f"{SHOP}/old"))),
    (f"/rules trace {SHOP}/old", runs(RulesWhich(f"{SHOP}/old"))),
    (f"/rules explain {SHOP}/old", runs(RulesWhich(f"{SHOP}/old"))),
    (f"/rules where does {SHOP}/old go?", runs(RulesWhich(f"{SHOP}/old"))),
    (f"/rules what happens to {SHOP}/old", runs(RulesWhich(f"{SHOP}/old"))),
    (f"/rules unblock {PROMO}", shows(RulesWhich(PROMO))),
    (f"/rules is {PROMO} blocked?", runs(RulesWhich(PROMO))),
    (f"/rules don't block {PROMO}", shows(RulesWhich(PROMO))),
    (f"/rules debug {SHOP}/old", runs(RulesWhich(f"{SHOP}/old"))),
    ("/rules shop.example.com/old", runs(RulesWhich("https://shop.example.com/old"))),
    (f"/members {SHOP}/old", runs(RulesWhich(f"{SHOP}/old"))),
    (f"/gatehouse {SHOP}/old", runs(RulesWhich(f"{SHOP}/old"))),
    (f"@Gatehouse why does {SHOP}/old go to the wrong page?", runs(RulesWhich(f"{SHOP}/old"))),
    (f"@Gatehouse hey, where is {SHOP}/old going", runs(RulesWhich(f"{SHOP}/old"))),
    (f"@Gatehouse {SHOP}/old", runs(RulesWhich(f"{SHOP}/old"))),
    ("/rules why /old", offers(*(RulesWhich(f"https://{host}/old") for host in HOSTS))),
    (f"/rules what redirects to {SHOP}/new?", runs(RulesList(url=f"{SHOP}/new"))),
    (f"/rules which rule points to {SHOP}/new", runs(RulesList(url=f"{SHOP}/new"))),
    (f"/rules {SHOP}/old is broken", runs(RulesWhich(f"{SHOP}/old"))),
    (f"/rules allow {PROMO}", runs(RulesWhich(PROMO))),
    # Blocking
    (f"/rules block {PROMO}", block(PROMO)),
    (f"/rules please block {PROMO} for 2h because incident", block(PROMO, HOURS_2, "incident")),
    (f"/rules {PROMO} block", block(PROMO)),
    (f"/rules block the url {PROMO}", block(PROMO)),
    (f"/rules cancel {PROMO}", block(PROMO)),
    (f"/rules blok {PROMO}", block(PROMO)),
    ("/rules block shop.example.com/promo", block(PROMO)),
    (f"/rules block {PROMO} because delete is broken", block(PROMO, None, "delete is broken")),
    (f"@Gatehouse block {PROMO}", block(PROMO)),
    ("/rules block evil.com", block("https://evil.com/")),
    (f"/rules ban {PROMO}", block(PROMO)),
    # Redirecting
    (f"/rules redirect {SHOP}/a to {SHOP}/b", offers(redirect(f"{SHOP}/a", f"{SHOP}/b"))),
    ("/rules get rid of Old shop for 2h", shows(RulesShow(OLD))),
    (f"/rules send {SHOP}/a to {SHOP}/b for 2h", offers(redirect(f"{SHOP}/a", f"{SHOP}/b", HOURS_2))),
    (f"/rules {SHOP}/a -> {SHOP}/b", offers(redirect(f"{SHOP}/a", f"{SHOP}/b"))),
    (f"/rules forward {SHOP}/a => {SHOP}/b", offers(redirect(f"{SHOP}/a", f"{SHOP}/b"))),
    (f"/rules make a redirect from {SHOP}/a to {SHOP}/b", offers(redirect(f"{SHOP}/a", f"{SHOP}/b"))),
    (f"/rules redirect to {SHOP}/b from {SHOP}/a", offers(redirect(f"{SHOP}/a", f"{SHOP}/b"))),
    (f"/rules redirect {SHOP}/a to /b", offers(redirect(f"{SHOP}/a", f"{SHOP}/b"))),
    (
        "/rules redirect /old to /new for 2h",
        offers(
            RulesSet((OLD,), (("destination", f"{SHOP}/new"),), expiry=HOURS_2),
            *(redirect(f"https://{host}/old", f"https://{host}/new", HOURS_2) for host in HOSTS[1:]),
        ),
    ),
    (
        f"/rules redirect {SHOP}/old to {SHOP}/newer",
        offers(RulesSet((OLD,), (("destination", f"{SHOP}/newer"),))),
    ),
    (f"/rules change Old shop to {SHOP}/newer", offers(RulesSet((OLD,), (("destination", f"{SHOP}/newer"),)))),
    (f"/rules point Old shop at {SHOP}/newer", offers(RulesSet((OLD,), (("destination", f"{SHOP}/newer"),)))),
    # Switching
    ("/rules turn off Old shop", offers(RulesOff((OLD,)))),
    ("/rules turn Old shop off", offers(RulesOff((OLD,)))),
    ("/rules Old shop off", offers(RulesOff((OLD,)))),
    ("/rules pause Old shop for 2h", offers(RulesOff((OLD,), expiry=HOURS_2))),
    ("/rules disbale Old shop", offers(RulesOff((OLD,)))),
    ("/rules stop Old shop to new shop", offers(RulesOff((OLD,)))),
    (
        "/rules disable checkout for 2h because incident",
        offers(*(RulesOff((each,), expiry=HOURS_2, because="incident") for each in ALL_CHECKOUTS)),
    ),
    ("/rules switch on Black Friday", offers(RulesOn(("Redirect_bfri1",)))),
    ("/rules resume Black Friday", offers(RulesOn(("Redirect_bfri1",)))),
    ("/rules restore Old shop", offers(RulesOn((OLD,)))),
    ("/rules turn off checkout mobile", offers(RulesOff((MOBILE,)))),
    ("/rules turn off Redirect_x1old", offers(RulesOff((OLD,)))),
    ("/rules pause #1-3", offers(RulesOff(("#1", "#2", "#3")))),
    ("/rules turn off #1, #2 and #4", offers(RulesOff(("#1", "#2", "#4")))),
    ("/rules turn off Sales campaigns", offers(RulesGroup("off", "Group_sales"))),
    ("/rules #2 off", offers(RulesOff(("#2",)))),
    ("/rules turn off all checkout rules", offers(RulesOff(ALL_CHECKOUTS))),
    ("/rules temporarily disable Old shop for 2h", offers(RulesOff((OLD,), expiry=HOURS_2))),
    ("/rules please switch off the old shop rule for 2h", offers(RulesOff((OLD,), expiry=HOURS_2))),
    (f"/rules stop redirecting {SHOP}/old", offers(RulesOff((OLD,)))),
    ("/rules turn off ol", NOTHING),
    ("/rules don't turn off Old shop", shows(RulesShow(OLD))),
    # Deleting: the preview of a delete, which itself asks
    ("/rules delte Old shop", offers(RulesDelete((OLD,)))),
    ("/rules get rid of Old shop", offers(RulesDelete((OLD,)))),
    ("/rules destroy Old shop because unused", offers(RulesDelete((OLD,), because="unused"))),
    ("/rules delete everything", NOTHING),
    (f"/rules new cancel {SHOP}/a to {SHOP}/b", shows(RulesWhich(f"{SHOP}/a", (f"{SHOP}/b",)))),
    (f"/members grant {ANNA}", shows(MembersShow((ANNA,)))),
    (f"/rules set {OLD} destination={SHOP}/b for a while", shows(RulesShow(OLD))),
    ("@Gatehouse what is going on", NOTHING),
    # Other edits
    ("/rules rename Old shop to Newest shop", offers(RulesSet((OLD,), (("name", "Newest shop"),)))),
    ("/rules modify Old shop", runs(RulesEdit(OLD))),
    ("/rules replicate Old shop", runs(RulesCopy(OLD))),
    # Looking
    ("/rules Old shop", runs(RulesShow(OLD))),
    ("/rules chekout on mobile", runs(RulesShow(MOBILE))),
    ("/rules mobile checkout", runs(RulesShow(MOBILE))),
    ("/rules checkout", runs(RulesList("checkout"))),
    ("/rules explain Old shop", runs(RulesShow(OLD))),
    ("/rules who changed Old shop?", runs(RulesHistory(OLD))),
    ("/rules when was Old shop changed", runs(RulesHistory(OLD))),
    ("/rules who turned off Old shop", runs(RulesHistory(OLD))),
    ("/rules why is Old shop off", runs(RulesHistory(OLD))),
    ("/rules inactive", runs(RulesList(status="off"))),
    ("/rules which are off", runs(RulesList(status="off"))),
    ("/rules all redirects", runs(RulesList(type="redirect"))),
    ("/rules rules in Sales campaigns", runs(RulesList(group="Sales campaigns"))),
    ("/rules show me all rules", runs(RulesList())),
    ("/rules how many rules are off", runs(RulesList(status="off"))),
    # Members
    (f"/members add vip {ANNA}", offers(MembersGrant((ANNA,), ("vip",)))),
    (f"/members {ANNA}", runs(MembersWhy((ANNA,)))),
    (f"/members give vip to {ANNA} for 2h", offers(MembersGrant((ANNA,), ("vip",), None, expiry=HOURS_2))),
    ("/members give Anna Berg vip", offers(MembersGrant((ANNA,), ("vip",)))),
    ("/members upgrade anna to premium", offers(MembersGrant((ANNA,), ("premium",)))),
    ("/members make anna vip for 2h", offers(MembersGrant((ANNA,), ("vip",), None, expiry=HOURS_2))),
    (f"/members take vip from {ANNA}", offers(MembersRevoke((ANNA,), ("vip",)))),
    ("/members downgrade anna from premium", offers(MembersRevoke((ANNA,), ("premium",)))),
    ("/members remove vip from anna", offers(MembersRevoke((ANNA,), ("vip",)))),
    (f"/members {ANNA} is now a@new.example", offers(MembersMove(ANNA, "a@new.example"))),
    (f"/members a@new.example is the new email of {ANNA}", offers(MembersMove(ANNA, "a@new.example"))),
    (f"/members change {ANNA} to a@new.example", offers(MembersMove(ANNA, "a@new.example"))),
    ("/members change anna's email to a@new.example", offers(MembersMove(ANNA, "a@new.example"))),
    ("/members Anna Berg's new address is a@new.example", offers(MembersMove(ANNA, "a@new.example"))),
    (
        "/members update chloe's email to c@new.example because she asked",
        offers(MembersMove(CHLOE, "c@new.example", None, because="she asked")),
    ),
    ("/members offboard chloe", offers(MembersOffboard((CHLOE,)), MembersOffboard((OTHER_CHLOE,)))),
    ("/members kick chloe diaz", offers(MembersOffboard((CHLOE,)), MembersRemove((CHLOE,)))),
    (
        "/members ban Chloe Diaz because spam",
        offers(MembersOffboard((CHLOE,), because="spam"), MembersRemove((CHLOE,), None, because="spam")),
    ),
    ("/members why can't chloe get in?", offers(MembersWhy((CHLOE,)), MembersWhy((OTHER_CHLOE,)))),
    ("/members why chloe diaz vip", runs(MembersWhy((CHLOE,), "vip"))),
    ("/members chloe", runs(MembersShow((CHLOE,)))),
    ("/members who is chloe", runs(MembersShow((CHLOE,)))),
    ("/members who has vip", runs(MembersList(segment="vip"))),
    ("/members vip", runs(MembersList(segment="vip"))),
    ("/members without vip", runs(MembersList(without_segment="vip"))),
    ("/members who has vip but not beta", runs(MembersList(segment="vip", without_segment="beta"))),
    ("/members list vip but without beta", runs(MembersList(segment="vip", without_segment="beta"))),
    ("/members without vip but with beta", runs(MembersList(segment="beta", without_segment="vip"))),
    ("/members new.person@example.com to vip", offers(MembersGrant(("new.person@example.com",), ("vip",)))),
    ("/members register new.person@example.com", runs(MembersAdd("new.person@example.com"))),
    (
        "/members grant a@example.com,b@example.com vip",
        offers(MembersGrant(("a@example.com", "b@example.com"), ("vip",))),
    ),
    (f"/members is {ANNA} vip?", runs(MembersWhy((ANNA,), "vip"))),
    ("/members show all members", runs(MembersList())),
    ("/members how many have vip", runs(MembersList(segment="vip"))),
    (f"/members vip vip {ANNA}", offers(MembersGrant((ANNA,), ("vip",)))),
    ("/members remove Anna Berg", offers(MembersRemove((ANNA,)))),
    (
        "/members upgrade liam, quinn and tara to beta",
        offers(MembersGrant((LIAM, QUINN, "tara.unger@example.com"), ("beta",))),
    ),
    ("/members take premium from liam and somebody else", shows(MembersShow((LIAM,)))),
    ("/rules turn off old shop and help centre", offers(RulesOff((OLD, "Redirect_help1")))),
    # Any root
    ("/rules undo", offers(GatehouseUndo())),
    ("/rules take back my last change", offers(GatehouseUndo())),
    ("/gatehouse undo that", offers(GatehouseUndo())),
    ("/gatehouse revert 1a2b3c4d", offers(GatehouseUndo("1a2b3c4d"))),
    ("/rules cancel that", offers(GatehouseUndo(), GatehousePending())),
    ("/gatehouse approve", runs(GatehousePending())),
    ("/rules pending", runs(GatehousePending())),
    ("/gatehouse rules list checkout", runs(RulesList("checkout"))),
    ("/gatehouse rules off Old shop", offers(RulesOff((OLD,)))),
    (f"/members history {OLD}", runs(RulesHistory(OLD))),
    (f"/members history {ANNA}", runs(GatehouseAudit(ref=ANNA))),
    ("/members log anna berg", runs(GatehouseAudit(ref=ANNA))),
    (f"/members who changed {ANNA}?", runs(GatehouseAudit(ref=ANNA))),
    ("/members who granted anna berg access", runs(GatehouseAudit(ref=ANNA))),
    ("/gatehouse withdraw", runs(GatehousePending())),
    (f"/rules grant {ANNA} vip", offers(MembersGrant((ANNA,), ("vip",)))),
    ("/members turn off Old shop", offers(RulesOff((OLD,)))),
    ("/rules status", runs(GatehouseStatus())),
    ("/members whoami", runs(GatehouseWhoami())),
    # About Gatehouse
    ("/gatehouse hi", runs(GatehouseHelp())),
    ("/gatehouse what changed today", runs(GatehouseDigest("today"))),
    ("/gatehouse who did what yesterday", runs(GatehouseAudit(since="yesterday"))),
    ("/gatehouse waiting for approval", runs(GatehousePending())),
    ("/gatehouse temporary changes", runs(GatehousePlanned())),
    ("/gatehouse is anything frozen?", runs(GatehouseFreezes())),
    ("/gatehouse what did I just do?", runs(GatehouseDigest())),
    ("/gatehouse export all rules", runs(RulesExport())),
    ("/gatehouse export members of docs", runs(MembersExport(site="docs"))),
    ("/gatehouse import members", runs(MembersImport())),
    ("/gatehouse export miembros", runs(MembersExport())),
    ("/rules export the rules for all users", runs(RulesExport())),
    ("/gatehouse how many members does docs have?", runs(MembersList(site="docs"))),
    ("/members remove Anna Berg everywhere", offers(MembersOffboard((ANNA,)))),
    (
        "/rules temporary redirect shop.example.com/a to shop.example.com/b for 2h",
        offers(redirect(f"{SHOP}/a", f"{SHOP}/b", HOURS_2)),
    ),
    ("/gatehouse what can I do", runs(GatehouseWhoami())),
    ("/gatehouse is everything ok?", runs(GatehouseStatus())),
    ("/rules how do I block a url", runs(GatehouseHelp("how do I block a url"))),
    # Nobody can tell
    ("/rules flurbl", NOTHING),
    ("/rules " + "block " * 2000, NOTHING),
    ("/rules turn off \u202epohs dlO", NOTHING),
]

UNSEEN: Final[list[tuple[str, Outcome]]] = [
    ("/rules kill the gift card redirect", offers(RulesOff((GIFTS,)))),
    (f"/rules take down {SHOP}/leak asap", block(f"{SHOP}/leak")),
    (f"/rules nobody should be able to open {SHOP}/beta", block(f"{SHOP}/beta")),
    (
        f"/rules send {SHOP}/returns to {SHOP}/help until monday",
        offers(redirect(f"{SHOP}/returns", f"{SHOP}/help", expiry_in("until", "monday"))),
    ),
    (f"/rules stop redirecting {SHOP}/old", offers(RulesOff((OLD,)))),
    ("/rules bring back black friday", offers(RulesOn((BLACK_FRIDAY,)))),
    ("/rules turn the chat widget back on", offers(RulesOn(("Script_chat1",)))),
    ("/rules put shop.example.com/deals live", offers(RulesOn((BLACK_FRIDAY,)))),
    ("/rules is staging checkout on?", runs(RulesShow(STAGING))),
    ("/rules what's switched off", runs(RulesList(status="off"))),
    ("/rules everything touching checkout", runs(RulesList("checkout"))),
    ("/rules where does shop.example.com/checkout end up", runs(RulesWhich(f"{SHOP}/checkout"))),
    ("/rules who turned off black friday", runs(RulesHistory(BLACK_FRIDAY))),
    ("/rules what changed today", runs(GatehouseDigest("today"))),
    ("/rules show me all redirects", runs(RulesList(type="redirect"))),
    ("/rules how many rules are there", runs(RulesList())),
    ("/rules turn off experiments", offers(RulesGroup("off", "Group_trial"))),
    (
        "/rules disable all sales campaigns for 1 hour",
        offers(RulesGroup("off", "Group_sales", expiry=expiry_in("for", "1 hour"))),
    ),
    (
        f"/rules vouchers should go to {SHOP}/coupons",
        offers(*(RulesSet((each,), (("destination", f"{SHOP}/coupons"),)) for each in (GIFTS, VOUCHERS))),
    ),
    ("/rules rename slow checkout to Slow pay page", offers(RulesSet((SLOW,), (("name", "Slow pay page"),)))),
    ("/rules copy help centre", runs(RulesCopy("Redirect_help1"))),
    ("/rules oops undo that", offers(GatehouseUndo())),
    ("/rules anything broken?", offers(RulesCheck(), GatehouseStatus())),
    ("/rules get rid of the polling loop rule", offers(RulesDelete(("Cancel_poll01",)))),
    (f"/rules {SHOP}/gift-cards is looping, why?", runs(RulesWhich(f"{SHOP}/gift-cards"))),
    (
        "/rules maintenance page for pricing api on for 30 min",
        offers(RulesOn(("Response_maint1",), expiry=expiry_in("for", "30 min"))),
    ),
    ("/members let ben into vip", offers(MembersGrant(("ben.costa@example.com",), ("vip",)))),
    ("/members ben can't see the beta stuff", runs(MembersWhy(("ben.costa@example.com",), "beta"))),
    ("/members take vip away from david evans", offers(MembersRevoke(("david.evans@example.com",), ("vip",)))),
    (
        "/members give hugo beta until friday 5pm",
        offers(MembersGrant(("hugo.ito@example.com",), ("beta",), None, expiry=expiry_in("until", "friday 5pm"))),
    ),
    ("/members does tara have premium?", runs(MembersWhy(("tara.unger@example.com",), "premium"))),
    ("/members is grace.hansen@example.com a member", runs(MembersShow(("grace.hansen@example.com",)))),
    ("/members kick out paul quist", offers(MembersOffboard((PAUL,)), MembersRemove((PAUL,)))),
    ("/members paul left the company", offers(MembersOffboard((PAUL,)), MembersRemove((PAUL,)))),
    (f"/members {ANNA} {LIAM}", runs(MembersWhy((ANNA, LIAM)))),
    (f"/members show me {ANNA} and {LIAM}", runs(MembersShow((ANNA, LIAM)))),
    ("/members get rid of liam and quinn", offers(MembersRemove((LIAM, QUINN)))),
    (
        "/members kick liam and quinn because fraud",
        offers(MembersOffboard((LIAM, QUINN), because="fraud"), MembersRemove((LIAM, QUINN), None, because="fraud")),
    ),
    ("/members make liam and quinn vip", offers(MembersGrant((LIAM, QUINN), ("vip",)))),
    ("/members who can see staff content", runs(MembersList(segment="staff"))),
    ("/members everyone without premium", runs(MembersList(without_segment="premium"))),
    ("/members new member zoe.lang@example.com with beta", runs(MembersAdd("zoe.lang@example.com", None, ("beta",)))),
    (
        "/members correct kira larsen's name to Kira Larson",
        runs(MembersEdit("kira.larsen@example.com", "Kira Larson")),
    ),
    ("/gatehouse who is waiting for me", runs(GatehousePending())),
]
"""Written by somebody who had not seen the reader: 24 of 40 did what was meant at the first try."""
ALL_GUESSES: Final = [*GUESSES, *UNSEEN]


def heard(typed: str) -> tuple[str, str]:
    """The root and the text after it; no root in a mention."""
    root, _, text = typed.partition(" ")
    return ("", text) if root.startswith("@") else (root.removeprefix("/"), text)


@pytest.mark.parametrize(("typed", "outcome"), ALL_GUESSES, ids=[typed[:60] for typed, _ in ALL_GUESSES])
def test_a_guess_is_run_where_it_only_asks_and_offered_where_it_changes(typed: str, outcome: Outcome) -> None:
    readings = read(*heard(typed), KNOWN)

    how, commands = outcome
    assert list(readings.commands) == commands
    assert bool(runs_at_once(readings)) == (how in {"runs", "shows"} and not readings.meant)
    if how != "nothing":
        assert bool(readings.unread) == (how == "shows"), "only what isn’t understood counts as unread"
    if how == "offers":
        for reading in commands:
            assert parse(reading.service, reading.write()) == reading, "what is offered is a command as text"


REPORTS: Final = [
    "i deleted Old shop",
    "turned off Old shop",
    "you switched off Old shop",
    "Old shop turned off",
    "Old shop is off",
    "Old shop ist aus",
    "Old shop off?",
    "should I turn off Old shop",
    "shall we delete Old shop?",
    "> turn off Old shop",
    "~delete~ Old shop",
    "🚫 delete Old shop",
    "❌ delete Old shop",
    "turn off Old shop ✅",
    "!= off Old shop",
    "⛔\ufe0f delete Old shop",
    "vip granted to anna",
    f"we redirected {SHOP}/a to {SHOP}/b",
    f"moved {ANNA} to a@new.example",
    "renamed Old shop to New shop",
    "kill Old shop, that would hurt",
    "off gift cards / vouchers",
    "give anna beta | vip",
    f"{SHOP}/a redirects to {SHOP}/b",
    f"{SHOP}/a goes to {SHOP}/b",
]
"""What people tell, ask each other, quote, or strike out: none of it is a request."""


@pytest.mark.parametrize("said", REPORTS)
def test_what_is_told_or_quoted_is_no_request(said: str) -> None:
    assert not [each for each in read("", said, KNOWN).commands if each.writes]


@pytest.mark.parametrize("verb", sorted(verb for verb in CHANGING if len(verb) > 3))
def test_what_was_done_and_the_opposite_of_a_verb_are_no_request(verb: str) -> None:
    opposite = set() if verb.startswith("u") else {f"un{verb}"}
    forms = {verb + ending for ending in ("d", "ed", "s", "es", "ing")} | opposite
    for form in sorted(forms - ACTS.keys()):
        for named in ("Old shop", f"{ANNA} vip", f"{SHOP}/a"):
            assert not [each for each in read("", f"{form} {named}", KNOWN).commands if each.writes], form


@pytest.mark.parametrize(
    ("typed", "ignored"),
    [
        (f"/rules block {PROMO} in germany", ["germany"]),
        (f"/rules block {PROMO} on mobile for 2h", ["mobile"]),
        (f"/rules block {SHOP}/a Chat widget", ["Chat widget"]),
        ("/members kick chloe diaz until monday", ["until monday"]),
        (f"/members give {ANNA} vip, gold", ["gold"]),
        (f"/members take vip from {ANNA} for 2h", ["for 2h"]),
        (f"/rules why does {SHOP}/old go to checkout", ["checkout"]),
        (f"/rules stop {SHOP}/old and {SHOP}/other", [f"{SHOP}/other"]),
    ],
)
def test_what_no_reading_takes_up_is_told(typed: str, ignored: list[str]) -> None:
    readings = read(*heard(typed), KNOWN)

    assert readings.commands
    assert list(readings.unread) == ignored


@pytest.mark.parametrize("what", ["all changes", "approvals until 6pm", "all changes until 6pm", "the plans for 2h"])
@pytest.mark.parametrize("verb", sorted(CHANGING - ENDS))
def test_a_verb_of_a_change_is_told_where_something_is_only_shown(verb: str, what: str) -> None:
    try:
        readings = read("gatehouse", f"{verb} {what}", KNOWN)
    except Unclear:
        return

    offered = (*readings.commands, *readings.meant)
    assert any(each.writes for each in offered) or verb in " ".join(readings.unread).split()


def test_a_word_that_nobody_knows_is_told_or_a_part_of_what_is_answered() -> None:
    ignored = []
    for typed, _ in ALL_GUESSES:
        root, text = heard(typed)
        words = text.split(" ")
        for at in range(len(words) + 1):
            longer = " ".join([*words[:at], "zebra", *words[at:]])
            with suppress(Unclear):
                readings = read(root, longer, KNOWN)
                is_told = "zebra" in " ".join(readings.unread)
                answered = readings.commands or readings.meant
                if not is_told and not all("zebra" in each.write() for each in answered):
                    ignored.append(longer)

    assert ignored == []


URL_QUESTIONS: Final = (
    "why does {url} {no} redirect",
    "why is {url} {no} redirected?",
    "why is {url} {no} working",
    "why is {url} {no} blocked",
    "is {url} {no} redirected",
    "does {url} {no} redirect?",
    "what does {url} {no} redirect to",
    "warum geht {url} {no}",
    "why doesn’t {url} redirect",
    "isn’t {url} blocked?",
)
MEMBER_QUESTIONS: Final = (
    "why does {anna} {no} have vip",
    "why is {anna} {no} vip",
    "is {anna} {no} in vip?",
    "does {anna} {no} have vip",
    "warum hat {anna} {no} vip",
    "why doesn’t {anna} have vip",
    "why isn’t {anna} vip",
)
ASKED: Final[list[tuple[str, Command]]] = [
    *((f"/rules {asked}", RulesWhich(f"{SHOP}/old")) for asked in URL_QUESTIONS),
    *((f"/members {asked}", MembersWhy((ANNA,), "vip")) for asked in MEMBER_QUESTIONS),
]


@pytest.mark.parametrize(("asked", "answer"), ASKED)
@pytest.mark.parametrize("no", ["", "not", "no longer", "nicht", "nicht mehr"])
def test_a_question_with_a_not_in_it_has_the_same_answer(asked: str, answer: Command, no: str) -> None:
    typed = " ".join(asked.format(url=f"{SHOP}/old", anna=ANNA, no=no).split())

    assert read(*heard(typed), KNOWN) == Readings((answer,))


ASKS: Final = (
    "when",
    "since when",
    "hey, since when",
    "until when",
    "how long",
    "for how long",
    "how often",
    "why",
    "how come",
    "where",
    "on which site",
    "what time",
    "at what time",
    "by whom",
    "whose",
    "what if",
    "do you know if",
    "any idea why",
    "am I right that",
    "has anyone seen that",
)
STATED: Final = (
    "/rules is Old shop off",
    "/rules was Old shop switched off",
    "/rules does Old shop end",
    f"/rules did Old shop redirect {SHOP}/old",
    f"/rules was {SHOP}/old blocked",
    "/members is Anna Berg vip",
    "/members has Anna Berg vip",
    "/members did Anna Berg get vip",
    "/members does Anna Berg lose vip",
    "/members was Anna Berg removed",
    f"/members was vip granted to {ANNA}",
)


@pytest.mark.parametrize("stated", STATED)
@pytest.mark.parametrize("asks", ["", *ASKS])
def test_a_question_offers_no_change(asks: str, stated: str) -> None:
    root, text = heard(stated)
    readings = read(root, f"{asks} {text}", KNOWN)

    assert readings.commands
    assert not any(each.writes for each in (*readings.commands, *readings.meant))


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("/members since when does Anna Berg have vip", MembersWhy((ANNA,), "vip")),
        ("/members has Anna Berg vip", MembersWhy((ANNA,), "vip")),
        ("/members when does Anna Berg's vip end?", MembersWhy((ANNA,), "vip")),
        ("/rules until when is Old shop off", RulesHistory(OLD)),
        (f"/rules to where does {SHOP}/old go", RulesWhich(f"{SHOP}/old")),
        ("/rules which rules are temporary", GatehousePlanned()),
        ("/gatehouse what is planned?", GatehousePlanned()),
        ("/rules what changed on Old shop?", RulesHistory(OLD)),
        ("/rules is the Old shop redirect live?", RulesShow(OLD)),
        ("/rules welche Regeln sind aus?", RulesList(status="off")),
        ("/rules qué reglas están desactivadas?", RulesList(status="off")),
        ("/members wer hat vip?", MembersList(segment="vip")),
        ("/members quién tiene vip?", MembersList(segment="vip")),
    ],
)
def test_a_question_is_answered(asked: str, answer: Command) -> None:
    assert read(*heard(asked), KNOWN) == Readings((answer,))


def rule(key: str, name: str) -> Rule:
    return Rule.model_validate({"id": key, "name": name, "ruleType": "Redirect", "status": "Active", "pairs": []})


ODD: Final = replace(
    Known.of(
        rules=[
            rule("Redirect_off", "off"),
            rule("Redirect_vip", "vip"),
            rule("Redirect_404", "404"),
            rule("Redirect_comma", "Spring, summer and autumn"),
            rule("Redirect_url", f"From {SHOP}/a to elsewhere"),
            rule("Redirect_block", "Block everything"),
        ],
        members={"blog": [Member.model_validate({"email": "vip@example.com", "name": "Vip Beta"})]},
        segments=["vip", "beta"],
        hosts=HOSTS,
    ),
    site="blog",
)
"""Names that look like something else."""


@pytest.mark.parametrize(
    ("typed", "commands"),
    [
        ("/rules turn off off", [RulesOff(("Redirect_off",))]),
        ("/rules turn off vip", [RulesShow("Redirect_vip"), MembersShow(("vip@example.com",))]),  # a segment as well
        ("/rules turn off 404", [RulesOff(("Redirect_404",))]),
        ("/rules turn off 2", []),
        ("/rules turn off Spring, summer and autumn", [RulesOff(("Redirect_comma",))]),
        (f"/rules turn off From {SHOP}/a to elsewhere", [RulesOff(("Redirect_url",))]),
        ("/rules block everything", [RulesShow("Redirect_block")]),
        ("/members give beta to vip@example.com", [MembersGrant(("vip@example.com",), ("beta",))]),
        (f"/rules \u200bblock {PROMO}\u200b", block(PROMO)[1]),
        (f"/rules block {PROMO} because destroy and delete all", block(PROMO, None, "destroy and delete all")[1]),
        ("/rules why delete everything", []),
    ],
)
def test_a_name_that_looks_like_something_else_is_asked_about_or_shown(typed: str, commands: list[Command]) -> None:
    readings = read(*heard(typed), ODD)

    assert list(readings.commands) == commands
    assert not any(each.writes for each in readings.commands if each == runs_at_once(readings))


@pytest.mark.parametrize("between", [" ", ","])
def test_of_more_words_than_anybody_reads_none_is_looked_up(between: str) -> None:
    few, many = (
        read("rules", f"turn off {between.join(['zonk'] * count)}", KNOWN) for count in (MAX_WORDS - 2, MAX_WORDS)
    )

    assert few.unread
    assert not many.unread


def test_of_two_people_of_one_name_each_is_offered_alone() -> None:
    sams = [Member.model_validate({"email": f"sam{n}@example.com", "name": "Sam Hill"}) for n in (1, 2)]
    known = replace(Known.of(members={"blog": sams}, segments=["vip"]), site="blog")

    readings = read("members", "give sam hill vip", known).commands

    assert list(readings) == [MembersGrant((f"sam{n}@example.com",), ("vip",)) for n in (1, 2)]


WORDS: Final = [
    *("block", "cancel", "redirect", "off", "disable", "turn", "delete", "kick", "ban", "grant", "give", "revoke"),
    *("undo", "rename", "to", "from", "for 2h", "until 18:00", "because", "not", "why", "who", "all", "and", "vip"),
    *(PROMO, f"{SHOP}/old", "/old", "Old shop", OLD, "checkout", "#1", "#1-3", "2", ANNA, "anna", "Sales campaigns"),
    *("make", "now", "add", "remove", "group", "rules", "members", "\u202e", "delte", "<@U0ALICE01>", '"'),
]


@settings(max_examples=400, deadline=None)
@given(root=st.sampled_from(["rules", "members", "gatehouse", ""]), words=st.lists(st.sampled_from(WORDS), max_size=8))
def test_no_text_outside_the_grammar_is_run_where_it_would_write(root: str, words: list[str]) -> None:
    text = " ".join(words)
    with suppress(Unclear):
        parse(root, text) if root else parse_mention(text)
        return

    readings = Readings()
    with suppress(Unclear):
        readings = read(root, text, KNOWN)

    command = runs_at_once(readings)
    assert command is None or not command.writes
    for reading in readings.commands:
        with suppress(ValueError):
            assert parse(reading.service, reading.write()) == reading
