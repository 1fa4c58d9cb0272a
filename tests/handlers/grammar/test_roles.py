"""No small word of a change is left out in silence: put into any sentence that offers one, it makes it another, or is told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import pytest

from handlers.gatehouse.commands import GatehouseUndo
from handlers.grammar.acts import COMMANDS_OF
from handlers.grammar.command import Command, Unclear
from handlers.grammar.lookups import VIEWS
from handlers.grammar.member_acts import MOVING
from handlers.grammar.parser import ALL, check_reason, parse
from handlers.grammar.roles import AT_ONCE, BESIDE, FOR_A_WHILE, FORMS, POINTING, REACHES, ROLES, SEVERAL, STATES
from handlers.grammar.vocabulary import (
    ACTS,
    AWAY,
    BECAUSE,
    CAUTIOUS,
    CHANGING,
    COUNTS,
    COURTESY,
    EMPTY,
    ENDS,
    FILLERS,
    HAVING,
    LACKING,
    LEADING,
    MOVED,
    PARTED,
    PHRASES,
    PRONOUNS,
    STATUSES,
    bare,
)
from handlers.members.commands import MembersImport, MembersMove
from handlers.rules.commands import RulesImport, RulesMake, RulesOff, RulesOn
from tests.handlers.grammar.test_corpus import changes, is_named
from tests.handlers.grammar.test_guesses import ALL_GUESSES
from tests.harness.corpus import Sentence, answer_to, sentences
from tests.stories.test_guesses import README

SENTENCES_PER_CHANGE: Final = 3
"""Of each kind of change: every word is put into every place of them."""


def offered() -> Iterator[Sentence]:
    """Of the README's examples, the guesses and what people say some that come to each kind of change."""
    typed = [text.partition(" ") for text in (*README, *(text for text, _ in ALL_GUESSES))]
    count: dict[type[Command], int] = {}
    for one in (*(Sentence(text, root, "", ()) for root, _, text in typed), *sentences()):
        if made := changes(answer_to(one)):
            count[type(made[0])] = count.get(type(made[0]), 0) + 1
            if count[type(made[0])] <= SENTENCES_PER_CHANGE:
                yield one


OFFERED: Final = [*offered()]
VERBS: Final = {act: word for word, act in sorted(ACTS.items()) if word in CHANGING}
TIMES: Final = ("from now", "by 18:00", "tomorrow 9:00", "until friday", "at night")
PUT_IN: Final = sorted(
    {
        *(FILLERS | AWAY) - EMPTY - COURTESY - HAVING - {"during", "name", "instead"},
        *ENDS - STATES,
        *VERBS.values(),
        *TIMES,
    }
    | {"or", "instead of", "not", "except", "excluded"}
)
"""Every filler that says something, states, a verb for each act, times, and what turns a sentence round."""
SAME: Final = {
    MembersMove: MOVING,
    RulesMake: {"make", "block", "redirect", "offboard"},
    RulesOn: {"on", "restore"},
    RulesOff: {"off", "down"},
}
"""Acts that say once more what such a change is."""


def has_a_place(word: str, made: Sequence[Command]) -> bool:
    """Whether it is declared to lead something in such a change, which is held below, or to say nothing beside it."""
    each_kind = [{*BESIDE.get(type(one), ()), *ROLES.get(type(one), {})} for one in made]
    said = {*AT_ONCE, *POINTING, *FOR_A_WHILE, *SEVERAL, *REACHES, "both"}
    is_same = any(ACTS.get(word) in SAME.get(type(one), ()) for one in made)
    of_moves = word in MOVED | {"redirecting"} and any(isinstance(one, MembersMove) for one in made)
    is_undo = any(isinstance(one, GatehouseUndo) for one in made)
    return is_same or of_moves or is_undo or word in said or any(word in kind for kind in each_kind)


@pytest.mark.first(45)
@pytest.mark.parametrize("word", PUT_IN)
def test_a_small_word_in_any_place_of_a_change_makes_it_another_or_is_told(word: str) -> None:
    ignored = []
    for one in OFFERED:
        before, words = changes(answer_to(one)), one.says.split()
        acts = {ACTS.get(bare(each)) for each in words} - {None}
        if word in words or ACTS.get(word) in acts or has_a_place(word, before) or is_named(word, before):
            continue
        for at in range(1, len(words) + 1):
            in_a_name = all(is_named(bare(each), before) for each in words[at - 1 : at + 1]) and word in LEADING
            if word == "to" and at < len(words) and bare(words[at]) in CHANGING:
                continue
            longer = replace(one, says=" ".join([*words[:at], word, *words[at:]]))
            if not in_a_name and changes(answer_to(longer)) == before:
                ignored.append(longer.says)

    assert ignored == []


def test_what_is_more_than_read_is_a_change_a_form_or_an_import() -> None:
    others = {kind for kind in ALL if kind.needs and not kind.needs.endswith(".read") and not kind.writes}

    assert others == {*FORMS, RulesImport, MembersImport}


def test_each_act_comes_to_commands() -> None:
    acts = {*ACTS.values(), *PHRASES.values(), *(act for seconds in PARTED.values() for act in seconds.values())}

    assert acts <= COMMANDS_OF.keys() | VIEWS.keys()


def test_what_a_change_may_leave_out_says_nothing_elsewhere() -> None:
    telling = CAUTIOUS | CHANGING | COUNTS | STATUSES.keys() | LACKING | HAVING | AWAY | PRONOUNS | BECAUSE | LEADING

    assert (EMPTY | COURTESY) & telling == STATES, "articles, which say “on” at the end of a clause"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("/rules switch Old shop off and Gift cards on", "gift cards on"),
        ("/rules turn Old shop off and Gift cards on", "gift cards on"),
        ("/rules switch Old shop off, Gift cards on", "gift cards on"),
        ("/rules turn off Old shop to new shop, Gift cards are vouchers now on", "Gift cards are vouchers now on"),
        ("/rules mach Old shop aus und Gift cards an", "an"),
        ("/rules stop Old shop and open Gift cards", "open Gift cards"),
        ("/rules https://shop.example.com/a -> https://shop.example.com/b off", "off"),
        ("/members give ines beta and nils staff", "beta and nils staff"),
        (
            "/members grant ines.jensen@example.com beta and nils@example.com staff",
            "beta and nils@example.com staff",
        ),
        ("/members give vip to anna and beta to ben", "vip to anna and beta"),
        ("/members revoke vip from anna and premium from ben", "vip from anna and premium"),
        ("/members upgrade anna from free to vip", "from free"),
        ("/members upgrade anna free to vip", "free to vip"),
        ("/members give vip from anna to ben", "from anna"),
        ("/members give him and anna vip", "him"),
        ("/members give anna vip for now", "for now"),
        ("/rules rename Help centre to Help desk on Friday", "Help desk on Friday"),
        ("/rules pause Old shop 2h from now", "from now"),
        ("/rules turn off all redirects to shop.example.com", "to shop.example.com"),
        ("/rules redirect all of https://shop.example.com to https://new.example.com", "all"),
        ("/rules redirect everything on https://shop.example.com to https://new.example.com", "everything"),
        ("/rules pause one of Old shop, Gift cards", "one"),
        ("/rules redirect https://shop.example.com/a to https://shop.example.com/b temporarily", "temporarily"),
        ("/rules redirect https://shop.example.com/a to https://shop.example.com/b and back", "back"),
        (
            "/rules redirect https://shop.example.com/a from https://shop.example.com/b",
            "from https://shop.example.com/b",
        ),
        ("/rules pause Old shop, germany is excluded", "germany is excluded"),
        ("/rules pause Old shop by 18:00", "by 18:00"),
        ("/rules delete Chat widget and ben", "ben"),
        ("/rules put image shop.example.com/deals live", "image"),
        ("/rules pause the shop.example.com seasonal campaigns until wednesday", "seasonal campaigns"),
        ("/rules pause Old shop in germany because germany is down", "germany"),
        ("/rules pause Old shop because it loops until Friday", "it loops until Friday"),
        ("/members send anna.berg@example.com an email about b@example.com", "email"),
    ],
)
def test_what_may_turn_a_change_is_told(text: str, told: str) -> None:
    root, _, says = text.partition(" ")

    answer = answer_to(Sentence(says, root, "", ()))

    assert changes(answer) == []
    said = " ".join(answer.told).casefold()
    assert told.casefold() in said or said.startswith("which url")  # asked anew, for all of it


@pytest.mark.parametrize(
    ("text", "means"),
    [
        (
            '/rules rename Help centre to "Older shop" tomorrow 9:00',
            "set Redirect_help1 name='Older shop' tomorrow 9:00",
        ),
        (
            "/rules rename Help centre to Shop (EU) because legal said so",
            'set Redirect_help1 name="Shop (EU)" because legal said so',
        ),
        ("/rules rename Help centre to Help desk, please", 'set Redirect_help1 name="Help desk"'),
        ("/members give anna and ben vip and beta", "grant anna.berg@example.com ben.costa@example.com vip, beta"),
        ("/members revoke vip from anna and ben", "revoke anna.berg@example.com ben.costa@example.com vip"),
        ("/rules pause Old shop right now, please", "off Redirect_x1old"),
        ("/rules turn off this rule: Old shop", "off Redirect_x1old"),
    ],
)
def test_what_says_no_more_is_left_out(text: str, means: str) -> None:
    root, _, says = text.partition(" ")

    assert changes(answer_to(Sentence(says, root, "", ()))) == [parse(root.removeprefix("/"), means)]


def test_a_question_moves_nobody() -> None:
    answer = answer_to(Sentence("is anna.berg@example.com now b@example.com?", "/members", "", ()))

    assert changes(answer) == []


@pytest.mark.parametrize(
    ("text", "is_asked"),
    [
        ("off Redirect_x1old because it loops until Friday", True),
        ("off Redirect_x1old because it loops for 2h", True),
        ("off Redirect_x1old because legal said tomorrow 9:00", True),
        ("delete Redirect_x1old because legal said tomorrow 9:00", True),
        ('off Redirect_x1old because "it loops until Friday"', False),
        ("off Redirect_x1old because it loops since Friday", False),
        ("off Redirect_x1old because it broke at 2:50", False),
        ("off Redirect_x1old for 1h because it loops for 2h", False),
        ("delete Redirect_x1old because nobody came for 2h", False),
    ],
)
def test_a_reason_that_ends_in_a_time_is_asked_about(text: str, is_asked: bool) -> None:
    command = parse("rules", text)

    if is_asked:
        with pytest.raises(Unclear, match="say only why, or also when"):
            check_reason(command)
    else:
        assert check_reason(command) == command
