"""Every filter that a list declares narrows it: one that nothing looks at would show, and export, what nobody asked for."""

from __future__ import annotations

import pytest

from bot.members.model import Member
from bot.rules.model import Groups, Rule
from handlers.grammar.command import Command
from handlers.grammar.fields import Filter
from handlers.grammar.parser import parse
from handlers.members.commands import MembersFiltered, MembersList
from handlers.members.member_lookup import passes_filters
from handlers.rules.commands import RulesFiltered, RulesList
from handlers.rules.rule_lookup import filter_rules
from sandbox.services.seed import RULES

RULE = Rule.model_validate({"id": "Cancel_1", "name": "x", "ruleType": "Cancel", "status": "Active"})
MEMBER = Member.model_validate({"email": "anna@example.com", "allowedSegments": ["vip"]})


def filters_of(kind: type[Command]) -> list[str]:
    return [name for name, part in kind.parts().items() if isinstance(part, Filter) and part.titled != ""]


def name_typed(kind: type[Command], name: str) -> str:
    part = kind.parts()[name]
    assert isinstance(part, Filter)
    return part.name


@pytest.mark.parametrize("verb", ["list", "export"])
@pytest.mark.parametrize("name", filters_of(RulesList))
def test_every_filter_narrows_a_list_of_rules_and_its_export(name: str, verb: str) -> None:
    typed = parse("rules", f"{verb} {name_typed(RulesList, name)}:zzz")

    assert isinstance(typed, RulesFiltered)
    assert getattr(typed, name) == "zzz"
    assert filter_rules([RULE], typed, Groups.of(())) == []


@pytest.mark.parametrize("text", ["X-DEBUG", "allow-origin https", "utm_source", "503", "widget.js", "SEC-212 tracker"])
def test_a_list_of_rules_is_searched_by_all_that_they_say(text: str) -> None:
    typed = parse("rules", f"list {text}")

    assert isinstance(typed, RulesFiltered)
    assert len(filter_rules([*map(Rule.model_validate, RULES)], typed, Groups.of(()))) == 1


@pytest.mark.parametrize("verb", ["list", "export"])
@pytest.mark.parametrize("name", filters_of(MembersList))
def test_every_filter_narrows_a_list_of_members_and_its_export(name: str, verb: str) -> None:
    typed = [parse("members", f"{verb} {name_typed(MembersList, name)}:{value}") for value in ("vip", "zzz")]

    assert [getattr(each, name) for each in typed] == ["vip", "zzz"]
    assert not all(passes_filters(MEMBER, each) for each in typed if isinstance(each, MembersFiltered))
