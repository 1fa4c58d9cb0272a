"""Rules and members of ordinary size, as many as are asked for."""

from __future__ import annotations

from typing import Any, Final

Record = dict[str, Any]

CREATED_AT: Final = 1_700_000_000_000
"""Milliseconds."""


def plain_rule(number: int) -> Record:
    """A rule with no field that a card would leave out."""
    source = f"https://shop{number % 97}.example.com/campaign/{number}"
    pair = {
        "source": {"key": "Url", "operator": ("Equals", "Contains", "Equals")[number % 3], "value": source},
        "destinationType": "url",
        "destination": f"https://shop.example.com/landing/{number}",
    }
    return {
        "id": f"Redirect_{number:06x}",
        "name": f"Campaign {number} of shop {number % 97}",
        "description": "",
        "status": "Active",
        "ruleType": "Redirect",
        "pairs": [pair],
    }


def rule(number: int) -> Record:
    """A rule as the service keeps it."""
    return plain_rule(number) | {
        "objectType": "rule",
        "creationDate": CREATED_AT,
        "modificationDate": CREATED_AT,
        "createdBy": "user_1",
        "currentOwner": "user_1",
        "lastModifiedBy": "user_1",
        "groupId": "",
    }


def new_member(number: int) -> Record:
    """The body that adds a member."""
    return {
        "name": f"Person {number}",
        "email": f"person{number}@company{number % 97}.example.com",
        "allowedSegments": ["free", "vip"][: 1 + number % 2],
    }


def member(number: int) -> Record:
    """A member as the service keeps them."""
    return {"createdAt": CREATED_AT + number} | new_member(number)
