"""Whatever a rule, a person or a service writes: the card is one that Slack takes, and nothing in it is more than text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.parts import Approval, ChangeDecision, ChangeRequest, Guard, Refused, Run
from bot.changes.model.states import State
from handlers.blocks.masking import mask_message
from handlers.blocks.messages import Message, message, section
from handlers.changes import card_view, notes_view
from handlers.changes.diff import excerpt, without_secrets
from sandbox.slack.validation import are_blocks_too_long, check_message
from tests.harness.channels import find_emails
from tests.harness.counting import count_steps
from tests.harness.proposing import with_fields

NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
OURS = re.compile(r"@U0ALICE01|@U0CARA001|!date\^\d+\^\{date_short_pretty\} \{time\}|!subteam\^S0ONCALL|#C0OPS0001")
ENTITY = re.compile(r"<([^<>|]*)(\|[^<>]*)?>")
HOSTILE = st.one_of(
    st.text(max_size=300),
    st.sampled_from(
        [
            "<!channel>",
            "<@U0BOB0001>",
            "<https://evil.example|the bank>",
            "<!subteam^S1>",
            "`<!here>`",
            "&lt;!channel&gt;",
            "```\n<!everyone>\n```",
            ":rotating_light: *Approved by* _everybody_ ~no~",
            "\u202eesrever\u2066",
            "a\u200bb\u0000c",
            "x" * 5000,
            "of anna_b@example.com & ben@example.com, <mailto:c@example.com|c@example.com>",
            "a@b.co " * 700,
            "https://shop.example.com/" + "a/" * 2000,
        ]
    ),
)


def _rule(texts: list[str]) -> dict[str, Any]:
    name, source, destination, other = texts
    pair = {"source": {"key": "Url", "operator": "Equals", "value": source}, "destination": destination, other: other}
    return {"name": name, "status": other, "ruleType": "Redirect", "description": source, "pairs": [pair] * 3}


def _change(kind: Kind, state: State, guard: Guard, before: list[str], after: list[str], words: list[str]) -> Change:
    member = kind.value.startswith("member")
    old, new = (
        {"email": "anna@example.com", "name": t[0], "allowedSegments": t[1:]} if member else _rule(t)
        for t in (before, after)
    )
    return Change(
        id="0123456789abcdef" * 2,
        state=state,
        created=NOW,
        edit=Edit(
            kind=kind,
            target=(
                Target(service="members", site="blog", key="anna@example.com")
                if member
                else Target(service="rules", key="Redirect_x1")
            ),
            before=None if kind.creates else old,
            after=None if kind.destroys else new,
        ),
        request=ChangeRequest(
            requester="U0ALICE01", channel="C0OPS0001", reason=words[0], reverts_at_as_typed=words[0], reverts_at=NOW
        ),
        decision=ChangeDecision(
            decision_reason=words[1],
            guard=guard,
            approvals=(Approval(by="U0CARA001", at=NOW),),
            summoned=("S0ONCALL",),
            break_glass=("oncall",),
            glass_broken=guard is Guard.APPROVE,
            expires=NOW,
            decided_by="U0CARA001",
            decided_at=NOW,
        ),
        run=Run(result=old, why_not=Refused(code="Refused", words=words[2]), waits=words[3]),
    )


CHANGES = st.builds(
    _change,
    st.sampled_from(Kind),
    st.sampled_from(State),
    st.sampled_from([Guard.NONE, Guard.CONFIRM, Guard.APPROVE]),
    *[st.lists(HOSTILE, min_size=4, max_size=4)] * 3,
)


def _mrkdwn(found: Any) -> list[str]:
    if isinstance(found, dict):
        own = [found["text"]] if found.get("type") == "mrkdwn" else []
        return own + [text for value in found.values() for text in _mrkdwn(value)]
    return [text for one in found for text in _mrkdwn(one)] if isinstance(found, list | tuple) else []


def _is_harmless(whole: Message) -> None:
    """Before an email is masked, as the requester alone may get it, and after, as a channel does."""
    _is_taken(whole)
    _is_taken(mask_message(whole))
    assert find_emails([mask_message(whole).text, mask_message(whole).blocks]) == []


def _is_taken(whole: Message) -> None:
    blocks = list(whole.blocks)
    assert check_message({"text": whole.text, "blocks": blocks}) == []
    assert not are_blocks_too_long(blocks)
    for text in [whole.text, *_mrkdwn(whole.blocks)]:
        for match in ENTITY.finditer(text):
            assert OURS.fullmatch(match[1]), f"{match[0]!r} in {text!r}"
        assert "<!" not in OURS.sub("", text)


@pytest.mark.slow
@pytest.mark.threat("C5", "C6")
@given(CHANGES)
@settings(max_examples=600, deadline=None)
def test_a_card_is_taken_by_slack_and_rings_nobody_but_whom_it_means(change: Change) -> None:
    card = card_view.card(change)

    _is_harmless(card)
    assert change.id in str(card.blocks[-1]), "the button that opens everything"


@given(CHANGES, st.sampled_from(["remind-1", "offer-1", "review-2", "break_glass", "late-1", "left"]))
@settings(max_examples=200, deadline=None)
def test_a_note_is_taken_by_slack_and_rings_nobody_but_whom_it_means(change: Change, purpose: str) -> None:
    ended = with_fields(change, revert_failure="changed") if purpose == "left" else change
    if (noted := notes_view.note(ended, purpose, None)) is not None:
        _is_harmless(noted)


TOKENS = (
    "<!date^1763694000^{date_short_pretty} {time}|2025-11-21 03:00 UTC> of <@U0ALICE01> in <#C0OPS0001>: a &amp; b"
    " <https://slack.example/archives/C0OPS0001/p1?a=1&amp;b=2|*a &lt;card&gt;*> by c@d.ef "
)
WHOLE = re.compile(r"<[^<>]+>|&(?:amp|lt|gt);")
CUTS: dict[str, Callable[[str], str]] = {
    "a section": lambda text: str(section(text)["text"]["text"]),
    "a notification": lambda text: message(text, [section("x")]).text,
    "a section of a channel": lambda text: str(mask_message(message("x", [section(text)])).blocks[0]["text"]["text"]),
    "a notification of a channel": lambda text: mask_message(message(text, [section("x")])).text,
}


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
def test_no_text_is_cut_within_a_token_or_an_escape(cut: Callable[[str], str]) -> None:
    for before in range(len(TOKENS)):
        text = "x" * before + TOKENS * 20
        shown = cut(text)

        assert len(shown) < len(text)
        assert "…" in shown[-12:]
        assert not set("<>&") & set(WHOLE.sub("", shown)), shown[-80:]


WIDE = 1_001


def _wide(count: int, **last: Any) -> dict[str, Any]:
    pairs = [{"source": {"key": "Url", "operator": "Equals", "value": f"https://a.example/{n}"}} for n in range(count)]
    return {"name": "Old shop", "status": "Active", "ruleType": "Cancel", "pairs": [*pairs[:-1], pairs[-1] | last]}


def _of_wide(kind: str, count: int) -> Change:
    before = _wide(count)
    after = {"off": before | {"status": "Inactive"}, "edit": _wide(count, delay=1), "delete": None}[kind]
    return Change(
        id="0123456789abcdef" * 2,
        created=NOW,
        edit=Edit(
            kind=Kind.RULE_DELETE if after is None else Kind.RULE_UPDATE,
            target=Target(service="rules", key="Cancel_x1"),
            before=before,
            after=after,
        ),
        request=ChangeRequest(requester="U0ALICE01", channel="C0OPS0001"),
    )


def _made(url: str) -> Change:
    after = _wide(1, source={"key": "Url", "operator": "Equals", "value": url})
    edit = Edit(kind=Kind.RULE_CREATE, target=Target(service="rules"), before=None, after=after)
    return Change(
        id="0123456789abcdef" * 2,
        created=NOW,
        edit=edit,
        request=ChangeRequest(requester="U0ALICE01", channel="C0OPS0001"),
    )


def _drawn(change: Change) -> Message:
    return card_view.card(without_secrets(change))


@pytest.mark.parametrize("kind", ["off", "edit", "delete"])
def test_a_pair_that_a_card_does_not_show_is_hardly_work(kind: str) -> None:
    few, many = (count_steps(10_000_000, _drawn, _of_wide(kind, count)) for count in (WIDE, WIDE + 200))

    assert (many - few) / 200 < 200, "steps for each pair; to look at one takes 500 to 1,000"


@pytest.mark.parametrize("letters", ["é", "é ", "а is а ", "аb ", "😀\ufe0f", "a\u200b"])
def test_a_character_beyond_ascii_is_hardly_work(letters: str) -> None:
    """A card may be about a thousand texts of thousands of characters, and nothing else is done while it is drawn."""
    few, many = (
        count_steps(10_000_000, _drawn, _made("https://a.example/" + letters * (size // len(letters))))
        for size in (3_000, 6_000)
    )

    assert (many - few) / 3_000 < 0.1, "steps for each character; to judge one takes five"


def test_the_card_of_a_wide_rule_says_what_it_leaves_out() -> None:
    off, edit, delete = (
        json.dumps(_drawn(_of_wide(kind, WIDE)).blocks, ensure_ascii=False) for kind in ("off", "edit", "delete")
    )

    assert "…and 998 more pairs" in off
    assert "pair 1001 delay" in edit
    assert "…and 988 unchanged pairs" in edit
    assert "…and 989 more pairs" in delete
    assert "Warnings are about the first 1,000 pairs only" in delete
    assert all("This card doesn’t show everything" in card for card in (off, edit, delete))


def test_an_excerpt_has_each_pair_that_differs() -> None:
    before, one, true = _wide(WIDE), _wide(WIDE, delay=1), _wide(WIDE, delay=True)
    shorter = before | {"pairs": before["pairs"][:-1]}

    for versions in [(one, true), (before, one), (shorter, before), (before, before, one)]:
        last = (excerpt(*versions)[-1] or {})["pairs"]
        assert last == [*versions[-1]["pairs"][:12], *[{}] * 988, versions[-1]["pairs"][-1]]
    with_ids = before | {"pairs": [pair | {"id": "x"} for pair in before["pairs"]]}
    assert (excerpt(before, with_ids)[0] or {})["pairs"] == [*before["pairs"][:12], *[{}] * 989]
    assert excerpt(shorter, None) == [shorter, None], "as many pairs as Gatehouse makes"
