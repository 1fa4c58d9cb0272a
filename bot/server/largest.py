"""The largest card and the largest form that Gatehouse draws, so that `check` can ask Slack whether it accepts them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.parts import ChangeDecision, ChangeRequest, Guard
from bot.changes.model.states import State
from bot.rules.model import Rule
from handlers.blocks.inputs import MAX_TYPED
from handlers.changes import card_view
from handlers.rules.rule_form_view import RuleForm

LETTER: Final = "日"
"""Three bytes in UTF-8, and six characters where JSON escapes it."""
LONG: Final = LETTER * MAX_TYPED
CHANNEL: Final = "C0123456789"
PAIRS: Final = 12
"""More than a card or a form shows."""
WARNINGS: Final = 20


def largest() -> Mapping[str, Any]:
    """Return what ``blocks.validate`` takes, by the name of its argument: the blocks of the card, and the form."""
    source = {"key": "Url", "operator": "Wildcard_Matches", "value": f"https://shop.example.com/{LONG}"[:MAX_TYPED]}
    pair = {"source": source, "destinationType": "url", "destination": source["value"]}
    about = {
        "id": f"Redirect_{'x' * 64}",
        "name": LONG,
        "description": LONG,
        "ruleType": "Redirect",
        "status": "Active",
    }
    rule = Rule.model_validate({**about, "groupId": LONG, "pairs": [pair] * PAIRS})
    form = replace(RuleForm.of(rule, channel=CHANNEL), reason=LONG, more=True)
    notes = {form.block_of_pair(number, "value", "destination"): LONG for number in range(1, PAIRS)}
    return {
        "blocks": list(card_view.card(_deletion(rule)).blocks),
        "view": form.with_notes({"": LONG, "name": LONG, **notes}).view(),
    }


def _deletion(rule: Rule) -> Change:
    """Return a request to delete *rule* with every part that a card can show."""
    return Change(
        id="0" * 32,
        created=datetime.now(UTC),
        state=State.PROPOSED,
        edit=Edit(
            kind=Kind.RULE_DELETE, target=Target(service="rules", key=rule.id), before=rule.document(), after=None
        ),
        request=ChangeRequest(
            requester="U0123456789",
            channel=CHANNEL,
            reason=LONG,
            warnings=(LONG,) * WARNINGS,
        ),
        decision=ChangeDecision(
            guard=Guard.APPROVE, approvals_needed=2, break_glass=("leads",), expires=datetime.now(UTC)
        ),
    )
