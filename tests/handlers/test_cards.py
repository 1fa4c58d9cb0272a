"""Whatever a rule, a person or a service writes: the card is one that Slack takes, and nothing in it is more than text."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.change import Approval, Change, Guard, Kind, Question, State, Target
from handlers.masking import public
from handlers.views import changes, notes
from handlers.views.parts import Message
from sandbox.slack.validation import blocks_too_long, check_message
from tests.channels import emails_seen

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
        kind=kind,
        target=Target(service="members", site="blog", key="anna@example.com")
        if member
        else Target(service="rules", key="Redirect_x1"),
        before=None if kind.creates else old,
        after=None if kind.destroys else new,
        result=old,
        requester="U0ALICE01",
        channel="C0OPS0001",
        reason=words[0],
        decision_reason=words[1],
        outcome=words[2],
        waits=words[3],
        ends_as_typed=words[0],
        ends=NOW,
        questions=(Question(by="U0CARA001", text=words[1]),),
        guard=guard,
        approvals=(Approval(by="U0CARA001", at=NOW),),
        summoned=("S0ONCALL",),
        break_glass=("oncall",),
        glass_broken=guard is Guard.APPROVE,
        state=state,
        created=NOW,
        expires=NOW,
        decided_by="U0CARA001",
        decided_at=NOW,
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
    _is_taken(public(whole))
    assert emails_seen([public(whole).text, public(whole).blocks]) == []


def _is_taken(message: Message) -> None:
    blocks = list(message.blocks)
    assert check_message({"text": message.text, "blocks": blocks}) == []
    assert not blocks_too_long(blocks)
    for text in [message.text, *_mrkdwn(message.blocks)]:
        for match in ENTITY.finditer(text):
            assert OURS.fullmatch(match[1]), f"{match[0]!r} in {text!r}"
        assert "<!" not in OURS.sub("", text)


@pytest.mark.threat("C5", "C6")
@given(CHANGES)
@settings(max_examples=600, deadline=None)
def test_a_card_is_taken_by_slack_and_rings_nobody_but_whom_it_means(change: Change) -> None:
    message = changes.card(change, places={"rules": "rules.example.com"})

    _is_harmless(message)
    assert change.id[:8] in str(message.blocks[-1])


@given(CHANGES, st.sampled_from(["remind-1", "offer-1", "review-2", "glass", "left", "ask-1"]))
@settings(max_examples=200, deadline=None)
def test_a_note_is_taken_by_slack_and_rings_nobody_but_whom_it_means(change: Change, purpose: str) -> None:
    ended = change.model_copy(update={"ending": "changed"}) if purpose == "left" else change
    if (message := notes.note(ended, purpose)) is not None:
        _is_harmless(message)
