"""Guards and limits by host, group, site and segment: every edit under every pair of guards, against a plain reading.

The plain reading asks of each host that there is whether a rule may match it, before or after.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import permutations, product
from typing import Any, Final

import pytest

from bot.changes.model.edits import Edit, Kind, Target
from bot.policy.model import STRENGTH, Policy, Role, strictest

CHECKOUT, CAMPAIGN, MUNICH, ELSEWHERE = HOSTS = (
    "checkout.example.com",
    "campaign.example.com",
    "xn--mnchen-3ya.example.com",
    "shop.example",
)
SOURCES: Final[Mapping[tuple[str, str, str], tuple[str, ...]]] = {
    ("Url", "Equals", "HTTPS://Checkout.EXAMPLE.com:8443/pay"): (CHECKOUT,),
    ("Url", "Wildcard_Matches", "https://campaign.example.com/*"): (CAMPAIGN,),
    ("host", "Equals", "campaign.example.com"): (CAMPAIGN,),
    ("Url", "Equals", "https://münchen.example.com./"): (MUNICH,),
    ("Url", "Equals", "https://shop.example/old"): (ELSEWHERE,),
    ("Url", "Wildcard_Matches", "*://campaign.example.com/*"): HOSTS,
    ("Url", "Wildcard_Matches", "https://*@campaign.example.com/"): HOSTS,
    ("Url", "Wildcard_Matches", "https://*.example.com/"): HOSTS,
    ("Url", "Contains", "https://campaign.example.com/sale"): HOSTS,
    ("Url", "Matches", "/^https:..campaign.example.com/"): HOSTS,
    ("path", "Equals", "/pay"): HOSTS,
}
"""A source, and the hosts of those that there are whose URLs it may match."""
GROUPS: Final = ("", "Group_sales")
LIMITS: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"host": "Checkout.example.com"},
    {"host": ["campaign.example.com", "münchen.example.com"]},
    {"host": "*.example.com"},
    {"group": "Group_s*"},
    {"host": "campaign.example.com", "group": "Group_sales"},
    {"segment": "vip"},
    {"site": "blog", "segment": ["vip", "staff"]},
)
Touched = dict[str, str]


def rules() -> Iterator[tuple[dict[str, Any], list[Touched]]]:
    """Yield rules of one and of two sources, with all that they touch."""
    for chosen in [*((each,) for each in SOURCES), *permutations(list(SOURCES)[:3], 2)]:
        for group in GROUPS:
            pairs = [{"source": dict(zip(("key", "operator", "value"), each, strict=True))} for each in chosen]
            hosts = {host for each in chosen for host in SOURCES[each]}
            yield {"pairs": pairs, "groupId": group}, [{"host": host, "group": group} for host in hosts]


def edits() -> Iterator[tuple[Edit, list[Touched]]]:
    """Yield every kind of edit, with each thing that it touches, before or after."""
    target = Target(service="rules", key="Redirect_x")
    for before, touched in rules():
        yield Edit(kind=Kind.RULE_CREATE, target=target, before=None, after=before), touched
        yield Edit(kind=Kind.RULE_DELETE, target=target, before=before, after=None), touched
        for after, then in list(rules())[::9]:
            both = [
                {"host": one["host"], "group": other["group"]} for one, other in product([*touched, *then], repeat=2)
            ]
            yield Edit(kind=Kind.RULE_UPDATE, target=target, before=before, after=after), both
    group = Target(service="groups", key="Group_sales")
    everywhere = [{"host": host, "group": "Group_sales"} for host in HOSTS]
    yield Edit(kind=Kind.GROUP_UPDATE, target=group, before={}, after={}), everywhere
    member = Target(service="members", site="blog", key="anna@example.com")
    has = [{"allowedSegments": list(each)} for each in ((), ("vip",), ("free", "vip"))]
    for before, after in permutations(has, 2):
        changed = set(before["allowedSegments"]) ^ set(after["allowedSegments"])
        blog = [{"site": "blog", "segment": segment} for segment in changed]
        yield Edit(kind=Kind.MEMBER_UPDATE, target=member, before=before, after=after), blog
    for each in has:
        blog = [{"site": "blog", "segment": segment} for segment in each["allowedSegments"] or [""]]
        yield Edit(kind=Kind.MEMBER_REMOVE, target=member, before=each, after=None), blog


EDITS: Final = [(edit, edit.needs, touched) for edit, touched in edits()]


def is_about(limits: Mapping[str, Any], touched: Touched) -> bool:
    lists = {key: [value] if isinstance(value, str) else value for key, value in limits.items()}
    wanted = {key: [each.casefold().replace("münchen", "xn--mnchen-3ya") for each in of] for key, of in lists.items()}
    if limits and not limits.keys() & touched.keys():
        return False
    return all(
        any(fnmatchcase(touched[key].casefold(), each) for each in wanted[key])
        for key in limits.keys() & touched.keys()
    )


@pytest.mark.threat("A15")
@pytest.mark.first(14)
@pytest.mark.parametrize("limits", list(permutations(LIMITS, 2)), ids=str)
def test_no_edit_slips_past_the_guard_of_anything_that_it_may_touch(limits: tuple[dict[str, Any], ...]) -> None:
    """Stricter only where a source may match any host: what can't be told fits each guard."""
    for first, second in (("none", "approve"), ("approve", "none")):
        tables = [
            {**each, "operation": "*", "guard": guard} for each, guard in zip(limits, (first, second), strict=True)
        ]
        policy = Policy.model_validate({"guards": [*tables, {"operation": "*", "guard": "confirm"}]})
        for edit, needs, touched in EDITS:
            found = STRENGTH.index(strictest(policy.guards_for(*needs)).guard)
            wanted = [
                next(
                    (table["guard"] for table, each in zip(tables, limits, strict=True) if is_about(each, thing)),
                    "confirm",
                )
                for thing in touched
            ]
            least = max(STRENGTH.index(each) for each in wanted)
            assert found == least or (found > least and "*" in edit.hosts), (edit, tables)


@pytest.mark.threat("A15")
@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_a_limited_role_allows_what_touches_nothing_else(limits: dict[str, Any]) -> None:
    role = Role.model_validate({"may": ["*"], **limits})
    for edit, needs, touched in EDITS:
        may = all(role.allows(need.operation, need) for need in needs)
        approves = all(role.allows("approve", need) for need in needs)
        is_within = all(is_about(limits, thing) for thing in touched) and (
            "*" not in edit.hosts or not limits.get("host")
        )
        assert may == approves == is_within, (edit, limits)
    assert role.allows("rule.read")
    assert role.allows("freeze") == (not limits)
