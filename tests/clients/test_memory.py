"""What a large list takes: its records share what they have in common."""

from __future__ import annotations

import gc
import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from bot.clients.json_text import parse_json
from bot.members.model import Member
from bot.rules.model import Rule
from bot.text.documents import ServiceRecord

MANY = 2000


def member(number: int) -> dict[str, Any]:
    names = {"name": f"Person {number}", "email": f"person{number}@company{number % 97}.example.com"}
    return names | {"allowedSegments": ["free", "vip"][: 1 + number % 2], "createdAt": 1_700_000_000_000 + number}


def rule(number: int) -> dict[str, Any]:
    source = {"key": "Url", "operator": "Equals", "value": f"https://shop.example.com/campaign/{number}"}
    pair = {"id": f"p{number}", "source": source, "destinationType": "url", "destination": "https://shop.example.com/"}
    about = {"id": f"Redirect_{number:06x}", "name": f"Campaign {number}", "description": "", "status": "Active"}
    return about | {"ruleType": "Redirect", "objectType": "rule", "createdBy": "user_1", "pairs": [pair]}


@pytest.mark.parametrize(("kind", "made", "most"), [(Member, member, 1_600), (Rule, rule, 5_200)])
def test_a_record_takes_few_bytes(kind: type[ServiceRecord], made: Callable[[int], Any], most: int) -> None:
    texts = [json.dumps(made(number)).encode() for number in range(MANY)]
    kind.model_validate(made(0))  # what pydantic makes once
    gc.collect()
    tracemalloc.start()
    try:
        records = [kind.model_validate(parse_json(text)) for text in texts]
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert taken / len(records) <= most


def test_a_record_that_shares_its_names_keeps_its_own_fields() -> None:
    first, second = Member(email="a@example.com"), Member(email="b@example.com")
    named = first.model_copy(update={"name": "Anna"})

    assert named.document() == {"email": "a@example.com", "name": "Anna"}
    assert first.document() == {"email": "a@example.com"}
    assert second.with_fields(note="x").document() == {"email": "b@example.com", "note": "x"}
    assert second.document() == {"email": "b@example.com"}
