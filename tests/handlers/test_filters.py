"""Every filter that a list declares narrows it: one that nothing looks at would show, and export, what nobody asked for."""

from __future__ import annotations

from typing import Any, TypeVar

import pytest

from bot.members.model import Member
from bot.rules.model import Groups, Rule
from handlers.grammar.command import Command
from handlers.grammar.fields import Filter
from handlers.members.commands import MembersList
from handlers.members.member_lookup import fits
from handlers.rules.commands import RulesList
from handlers.rules.rule_lookup import fitting

RULE = Rule.model_validate({"id": "Cancel_1", "name": "x", "ruleType": "Cancel", "status": "Active"})
MEMBER = Member.model_validate({"email": "anna@example.com", "allowedSegments": ["vip"]})


C = TypeVar("C", bound=Command)


def filters_of(kind: type[Command]) -> list[str]:
    return [name for name, part in kind.parts().items() if isinstance(part, Filter) and part.titled != ""]


def listing(kind: type[C], name: str, value: str) -> C:
    fields: dict[str, Any] = {name: value}
    return kind(**fields)


@pytest.mark.parametrize("name", filters_of(RulesList))
def test_every_filter_narrows_a_list_of_rules(name: str) -> None:
    assert fitting([RULE], listing(RulesList, name, "zzz"), Groups.of(())) == []


@pytest.mark.parametrize("name", filters_of(MembersList))
def test_every_filter_narrows_a_list_of_members(name: str) -> None:
    assert not all(fits(MEMBER, listing(MembersList, name, value)) for value in ("vip", "zzz"))
