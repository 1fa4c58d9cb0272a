"""Rules and members of ordinary size, as many as are asked for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from sandbox.services.database import Database
from sandbox.services.running import RULES_KEY
from sandbox.services.seed import redirect_pair, seed

Record = dict[str, Any]

SITE: Final = "site_1"
OF_THE_SERVICE: Final = {
    "objectType": "rule",
    "creationDate": 1_700_000_000_000,
    "modificationDate": 1_700_000_000_000,
    "createdBy": "user_1",
    "currentOwner": "user_1",
    "lastModifiedBy": "user_1",
    "groupId": "",
}
"""What the service adds to a rule."""


def fill(path: Path, *, rules: Iterable[Record] = (), members: Iterable[Record] = ()) -> None:
    """Make the database of the services: the sample data, and *rules* and *members* beside it."""
    database = Database(str(path))
    seed(database, rules_key=RULES_KEY)
    for each in rules:
        database.put_rule(RULES_KEY, each)
    for each in members:
        database.put_member(SITE, each)
    database.close()


def rule_id(number: int) -> str:
    return f"Redirect_{number:06x}"


def rule(number: int) -> Record:
    """A rule with no field that a card would leave out."""
    source = f"https://shop{number % 97}.example.com/campaign/{number}"
    operator = ("Equals", "Contains", "Equals")[number % 3]
    pair = redirect_pair(source, f"https://shop.example.com/landing/{number}", operator)
    return {
        "id": rule_id(number),
        "name": f"Campaign {number} of shop {number % 97}",
        "description": "",
        "status": "Active",
        "ruleType": "Redirect",
        "pairs": [pair],
    }


def new_member(number: int) -> Record:
    """The body that adds a member."""
    return {
        "name": f"Person {number}",
        "email": f"person{number}@company{number % 97}.example.com",
        "allowedSegments": ["free", "vip"][: 1 + number % 2],
    }
