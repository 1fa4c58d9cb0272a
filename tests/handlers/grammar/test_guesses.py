"""What people type before they know the grammar: each guess with what it should come to.

A guess that only asks is run (`runs`); one that would change something is offered, and nothing is done (`offers`).
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.members.model import Member
from bot.rules.model import Rule
from handlers.grammar.command import Command, Unclear
from handlers.grammar.command_sentences import Context
from handlers.grammar.known import Known
from handlers.grammar.parser import parse, parse_mention
from handlers.grammar.reading_view import unclear_message
from handlers.grammar.readings import EXPLAINING, MAX_WORDS, Readings, read, runs_at_once, spell
from handlers.grammar.time_fields import Expiry
from handlers.grammar.vocabulary import IMPOSSIBLE, LOOKING, SPELLED, VERBS_OF
from handlers.members.commands import MembersGrant, MembersList, MembersShow, MembersWhy
from handlers.rules.commands import (
    RulesCheck,
    RulesHistory,
    RulesList,
    RulesMake,
    RulesOff,
    RulesSet,
    RulesShow,
    RulesWhich,
)
from sandbox.slack.validation import check_message
from tests.harness.corpus import KNOWN as SAMPLE

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

KNOWN: Final = replace(SAMPLE, hosts=HOSTS)

Outcome = tuple[str, list[Command]]


def runs(command: Command) -> Outcome:
    return "runs", [command]


def shows(command: Command) -> Outcome:
    """What a text is about, under what of it was not understood."""
    return "shows", [command]


def asks(command: Command) -> Outcome:
    """The same, which may be about something else."""
    return "asks", [command]


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


CHANGING: Final = frozenset(verb for verb, act in VERBS_OF.items() if act not in LOOKING and verb.isalpha())
HOURS_2: Final = Expiry("for 2h", 7200)

GUESSES: Final[list[tuple[str, Outcome]]] = [
    # A URL: where it goes
    (f"/rules {SHOP}/old?utm_source=x", runs(RulesWhich(f"{SHOP}/old?utm_source=x"))),
    ("/members shop.example.com/old", offers(RulesWhich("https://shop.example.com/old"))),
    (f"/rules unblock {PROMO}", shows(RulesWhich(PROMO))),
    ("/rules why /zonk", offers(*(RulesWhich(f"https://{host}/zonk") for host in HOSTS))),
    # Blocking and redirecting
    (f"/rules please block {PROMO} for 2h because incident", block(PROMO, HOURS_2, "incident")),
    ("/rules block evil.com", offers(*reversed(block("https://evil.com/")[1]))),
    (f"/rules redirect {SHOP}/a to /b", offers(redirect(f"{SHOP}/a", f"{SHOP}/b"))),
    (
        "/rules redirect /old to /new for 2h",
        offers(
            RulesSet((OLD,), (("destination", f"{SHOP}/new"),), expiry=HOURS_2),
            *(redirect(f"https://{host}/old", f"https://{host}/new", HOURS_2) for host in HOSTS[1:]),
        ),
    ),
    # Rules
    (
        "/rules disable checkout for 2h because incident",
        offers(*(RulesOff((each,), expiry=HOURS_2, because="incident") for each in ALL_CHECKOUTS)),
    ),
    ("/rules turn off easter bunny banner", asks(RulesList("easter"))),
    # Members
    ("/members why can't chloe get in?", offers(MembersWhy((CHLOE,)), MembersWhy((OTHER_CHLOE,)))),
    ("/members is Peter Schulz in there?", runs(MembersList("Peter Schulz"))),
    ("/gatehouse lift the freeze on shop.example.com", asks(RulesList(url="shop.example.com"))),
    ("/rules siwtch Old shop off, back on at 18:00", offers(parse("rules", f"off {OLD} until 18:00"))),
    ("/rules Old shop off because x is back on at 9", offers(parse("rules", f"off {OLD} because x is back on at 9"))),
    (f"/members {ANNA} left, remove her vip everywhere", shows(MembersShow((ANNA,)))),
    # Nobody can tell
    ("@Gatehouse what is going on", NOTHING),
    ("/rules " + "block " * 2000, NOTHING),
    ("/rules turn off \u202epohs dlO", ("asks", [])),
]


def heard(typed: str) -> tuple[str, str]:
    """The root and the text after it; no root in a mention."""
    root, _, text = typed.partition(" ")
    return ("", text) if root.startswith("@") else (root.removeprefix("/"), text)


@pytest.mark.parametrize(("typed", "outcome"), GUESSES, ids=[typed[:60] for typed, _ in GUESSES])
def test_a_guess_is_run_where_it_only_asks_and_offered_where_it_changes(typed: str, outcome: Outcome) -> None:
    readings = read(*heard(typed), KNOWN)

    how, commands = outcome
    assert list(readings.commands) == commands
    assert bool(runs_at_once(readings)) == (how in {"runs", "shows"})
    if how != "nothing":
        assert bool(readings.unread) == (how in {"shows", "asks"}), "only what isn’t understood counts as unread"
    if how == "offers":
        for reading in commands:
            assert parse(reading.service, reading.write()) == reading, "what is offered is a command as text"


@pytest.mark.parametrize("typed", [typed for typed, _ in GUESSES if len(typed) < 100])
def test_what_is_not_understood_is_told_in_a_message_that_slack_takes(typed: str) -> None:
    readings = read(*heard(f"{typed} zonk"), replace(KNOWN, hosts=[*HOSTS, "de.example.com", "fr.example.com"]))
    message = unclear_message(readings, Context(KNOWN.titles), asked=typed[:60])
    assert check_message({"blocks": [*message.blocks]}) == []


def test_a_change_of_a_member_is_made_where_they_are() -> None:
    for email, sites in KNOWN.sites_of.items():
        for text in ("give {} beta", "remove {}", "take beta from {}"):
            offered = read("members", text.format(email), KNOWN).commands
            made_on = {each.site or KNOWN.site for each in offered if each.writes}
            assert set() < made_on <= {*sites}, (email, text)


def test_no_time_of_an_explanation_or_of_two_is_taken_for_a_change() -> None:
    for who in EXPLAINING:
        (change,) = read("", f"Old shop off at 18:00, {who} have a demo on friday", KNOWN).commands
        assert (change.start and change.start.as_typed) == "at 18:00"
    (change,) = (each for each in read("", "Old shop off at 18:00, and at 22:00", KNOWN).nearest if each.writes)
    assert change.start is None
    assert read("", "Old shop off, it comes back at 18:00", KNOWN).unread


def test_what_nothing_is_called_so_is_told() -> None:
    assert read("rules", "bring back the winter sale popup", KNOWN).nothing == "winter sale popup"
    assert read("members", "grant no.body@example.com vip", KNOWN).commands == (MembersShow(("no.body@example.com",)),)
    assert read("rules", "bring back the winter sale popup on win", KNOWN).unread == ("bring back", "win")
    assert read("rules", "old shop off while they debug", KNOWN).unread == ("off while they debug",), "no state"
    two_sites = read("members", "anna vip on blog and docs for 7d", KNOWN)
    assert not any(each.writes for each in two_sites.commands), "one site would be left out"


REPORTS: Final = [
    "i deleted Old shop",
    "turned off Old shop",
    "Old shop turned off",
    "Old shop is off",
    "Old shop off?",
    "should I turn off Old shop",
    "> turn off Old shop",
    "~delete~ Old shop",
    "❌ delete Old shop",
    "turn off Old shop ✅",
    "!= off Old shop",
    "⛔\ufe0f delete Old shop",
    f"we redirected {SHOP}/a to {SHOP}/b",
    "kill Old shop, that would hurt",
    "off gift cards / vouchers",
    "give anna beta | vip",
    f"{SHOP}/a redirects to {SHOP}/b",
]
"""What people tell, ask each other, quote, or strike out: none of it is a request."""


@pytest.mark.parametrize("said", REPORTS)
def test_what_is_told_or_quoted_is_no_request(said: str) -> None:
    assert not [each for each in read("", said, KNOWN).commands if each.writes]


@pytest.mark.parametrize("verb", sorted(verb for verb in CHANGING if len(verb) > 3))
def test_what_was_done_and_the_opposite_of_a_verb_are_no_request(verb: str) -> None:
    opposite = set() if verb.startswith("u") else {f"un{verb}"}
    forms = {verb + ending for ending in ("d", "ed", "s", "es", "ing")} | opposite
    for form in sorted(forms - VERBS_OF.keys()):
        for named in ("Old shop", f"{ANNA} vip", f"{SHOP}/a"):
            assert not [each for each in read("", f"{form} {named}", KNOWN).commands if each.writes], form


@pytest.mark.first(64)
@pytest.mark.parametrize("what", ["all changes", "approvals until 6pm", "all changes until 6pm", "the plans for 2h"])
@pytest.mark.parametrize("verb", sorted(CHANGING))
def test_a_verb_of_a_change_is_told_where_something_is_only_shown(verb: str, what: str) -> None:
    try:
        readings = read("gatehouse", f"{verb} {what}", KNOWN)
    except Unclear:
        return

    is_offered = any(each.writes for each in readings.commands)
    assert is_offered or readings.impossible or verb in " ".join(readings.unread).split()


@pytest.mark.parametrize(
    "word", sorted(word for word in {*SPELLED, *KNOWN.rules.words} if len(word) > 5 and word.isalpha())
)
def test_a_misspelled_word_is_that_word_or_none(word: str) -> None:
    for typo in (word[:2] + word[3:], word[:2] + word[3] + word[2] + word[4:], word[:2] + word[1:]):
        assert spell(typo, KNOWN) in {word, typo}


@pytest.mark.parametrize("phrase", IMPOSSIBLE)
def test_what_cannot_be_done_is_said_unless_it_is_quoted_or_a_name(phrase: str) -> None:
    text, impossible = re.sub("[_…]", " ", phrase), IMPOSSIBLE[phrase]

    assert parse(*impossible.nearest.split(" ", 1)) if impossible.nearest else True
    found = read("", f"zonk {text} zonk", Known()).impossible
    assert found is not None
    assert found.says == impossible.says
    assert read("", f'zonk "{text}" zonk', Known()).impossible is None
    named = replace(Known.of(rules=[rule("Redirect_n", f"Zonk {text}")]), site="blog")
    assert read("", f"what is Zonk {text}?", named) == Readings((RulesShow("Redirect_n"),))
    beside = read("", f"why is the old shop zonk {text}?", KNOWN)
    assert beside.impossible is not None
    assert beside.impossible.says == found.says
    assert {RulesShow(OLD), RulesHistory(OLD), RulesCheck(OLD)} & {*beside.commands}


URL_QUESTIONS: Final = (
    "why does {url} {no} redirect",
    "why is {url} {no} working",
    "is {url} {no} redirected",
    "what does {url} {no} redirect to",
    "why doesn’t {url} redirect",
    "isn’t {url} blocked?",
)
MEMBER_QUESTIONS: Final = (
    "why does {anna} {no} have vip",
    "does {anna} {no} have vip",
    "why doesn’t {anna} have vip",
    "why isn’t {anna} vip",
)
ASKED: Final[list[tuple[str, Command]]] = [
    *((f"/rules {asked}", RulesWhich(f"{SHOP}/old")) for asked in URL_QUESTIONS),
    *((f"/members {asked}", MembersWhy((ANNA,), "vip")) for asked in MEMBER_QUESTIONS),
]


@pytest.mark.parametrize(("asked", "answer"), ASKED)
@pytest.mark.parametrize("no", ["", "not", "no longer"])
def test_a_question_with_a_not_in_it_has_the_same_answer(asked: str, answer: Command, no: str) -> None:
    typed = " ".join(asked.format(url=f"{SHOP}/old", anna=ANNA, no=no).split())

    assert read(*heard(typed), KNOWN) == Readings((answer,))


ASKS: Final = ("when", "hey, since when", "for how long", "why", "do you know if")
STATED: Final = (
    "/rules is Old shop off",
    "/rules was Old shop switched off",
    "/rules does Old shop end",
    f"/rules did Old shop redirect {SHOP}/old",
    f"/rules was {SHOP}/old blocked",
    "/members is Anna Berg vip",
    "/members does Anna Berg lose vip",
    f"/members was vip granted to {ANNA}",
)


@pytest.mark.parametrize("stated", STATED)
@pytest.mark.parametrize("asks", ["", *ASKS])
def test_a_question_offers_no_change(asks: str, stated: str) -> None:
    root, text = heard(stated)
    readings = read(root, f"{asks} {text}", KNOWN)

    assert readings.commands
    assert not any(each.writes for each in readings.commands)


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
    ),
    segments={"vip": "vip", "beta": "beta"},
    site="blog",
)
"""Names that look like something else."""


@pytest.mark.parametrize(
    ("typed", "commands"),
    [
        ("/rules turn off off", [RulesOff(("Redirect_off",))]),
        ("/rules turn off vip", [MembersList(segment="vip")]),  # a segment as well
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
    known = replace(Known.of(members={"blog": sams}), segments={"vip": "vip"}, site="blog")

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
