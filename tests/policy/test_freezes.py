"""What a freeze covers: whatever changes something that it names, or may do so."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

import pytest
from pydantic import ValidationError

from bot.changes.model.edits import Edit, Kind, Target
from bot.policy.freezes import Freeze

SHOP: Final = {
    "name": "Old shop",
    "groupId": "Group_sales",
    "pairs": [{"source": {"key": "Url", "operator": "Equals", "value": "https://shop.example.com/old"}}],
}
ANYWHERE: Final = SHOP | {"pairs": [{"source": {"key": "Url", "operator": "Contains", "value": "/old"}}]}
BY_HOST, BY_PATH, OF_NO_HOST = (
    SHOP | {"pairs": [{"source": {"key": key, "operator": "Equals", "value": value}}]}
    for key, value in (("host", "shop.example.com"), ("path", "/old"), ("url", "/old"))
)
MOVED: Final = SHOP | {"groupId": "Group_other", "name": "Another"}
VIP: Final = {"email": "anna@example.com", "allowedSegments": ["vip"]}
FREE: Final = VIP | {"allowedSegments": ["free"]}


TIMES: Final = {"from": datetime(2026, 1, 1, tzinfo=UTC), "to": datetime(2026, 1, 2, tzinfo=UTC)}


def rule(before: Any, after: Any) -> Edit:
    target = Target(service="rules", key="Redirect_x")
    return Edit(kind=Kind.RULE_UPDATE, target=target, before=before, after=after)


def group(key: str) -> Edit:
    target = Target(service="groups", key=key)
    return Edit(kind=Kind.GROUP_UPDATE, target=target, before={"status": "Active"}, after={"status": "Inactive"})


def member(before: Any, after: Any, site: str = "blog") -> Edit:
    target = Target(service="members", site=site, key="anna@example.com")
    return Edit(kind=Kind.MEMBER_UPDATE, target=target, before=before, after=after)


@pytest.mark.parametrize(
    ("freeze", "edit", "is_covered"),
    [
        pytest.param({}, member(FREE, FREE), True, id="everything"),
        pytest.param({"hosts": ["shop.example.com"]}, rule(SHOP, MOVED), True, id="a host"),
        pytest.param({"hosts": ["*.blog.example.com"]}, rule(SHOP, MOVED), False, id="another host"),
        pytest.param({"hosts": ["*.blog.example.com"]}, rule(None, ANYWHERE), True, id="a source of any host"),
        pytest.param({"hosts": ["*.blog.example.com"]}, rule(None, {"name": "New"}), True, id="a rule without pairs"),
        pytest.param({"hosts": ["*.blog.example.com"]}, rule(None, BY_HOST), False, id="a source that is another host"),
        pytest.param({"hosts": ["shop.example.com"]}, rule(None, BY_HOST), True, id="a source that is the host"),
        pytest.param({"hosts": ["*.blog.example.com"]}, rule(None, BY_PATH), True, id="a path of any host"),
        pytest.param({"hosts": ["*.blog.example.com"]}, rule(None, OF_NO_HOST), True, id="a URL without a host"),
        pytest.param(
            {"hosts": ["*.blog.example.com"]}, group("Group_sales"), True, id="a group may have rules of any host"
        ),
        pytest.param({"hosts": ["*.blog.example.com"]}, member(FREE, VIP), False, id="a member has no host"),
        pytest.param({"rules": ["redirect_X"]}, rule(SHOP, MOVED), True, id="a rule by its id"),
        pytest.param({"rules": ["another"]}, rule(SHOP, MOVED), True, id="a rule by its new name"),
        pytest.param({"rules": ["other"]}, group("Group_sales"), True, id="a group may have that rule"),
        pytest.param({"groups": ["Group_sales"]}, rule(SHOP, MOVED), True, id="a rule that leaves the group"),
        pytest.param({"groups": ["Group_other"]}, rule(SHOP, MOVED), True, id="a rule that comes into the group"),
        pytest.param({"groups": ["Group_third"]}, rule(SHOP, MOVED), False, id="a rule of another group"),
        pytest.param(
            {"groups": ["Group_third"]}, rule(SHOP, ANYWHERE), False, id="a source of any host, of another group"
        ),
        pytest.param({"groups": ["Group_s*"]}, group("Group_sales"), True, id="the group"),
        pytest.param({"groups": ["Group_third"]}, group("Group_sales"), False, id="another group"),
        pytest.param({"sites": ["blog"]}, member(FREE, VIP), True, id="a site"),
        pytest.param({"sites": ["docs"]}, member(FREE, VIP), False, id="another site"),
        pytest.param({"segments": ["vip"]}, member(FREE, VIP), True, id="a segment that is given"),
        pytest.param({"segments": ["free"]}, member(FREE, VIP), True, id="a segment that is taken"),
        pytest.param({"segments": ["staff"]}, member(FREE, VIP), False, id="another segment"),
        pytest.param({"segments": ["vip"]}, rule(SHOP, MOVED), False, id="a rule has no segment"),
        pytest.param({"except": ["shop.example.com"]}, rule(SHOP, MOVED), False, id="but this host"),
        pytest.param({"except": ["shop.example.com"]}, rule(SHOP, ANYWHERE), True, id="not only this host"),
        pytest.param({"except": ["blog"]}, member(FREE, VIP), False, id="but this site"),
        pytest.param({"except": ["shop.example.com"]}, member(FREE, VIP), True, id="a host excepts no member"),
        pytest.param({"except": ["old shop"]}, rule(SHOP, SHOP), False, id="but this rule"),
    ],
)
def test_a_freeze_covers_what_it_names_and_what_may_be_that(
    freeze: dict[str, Any], edit: Edit, *, is_covered: bool
) -> None:
    assert Freeze.model_validate(TIMES | freeze).covers(edit) is is_covered


def test_a_freeze_ends_later_than_it_begins() -> None:
    with pytest.raises(ValidationError, match="ends before it begins"):
        Freeze.model_validate(TIMES | {"to": TIMES["from"]})


@pytest.mark.parametrize("name", ["Berlin", "Europe", "", "../etc/passwd", "Europe/Berlin\x00", "Ä" * 300])
def test_a_time_zone_is_one_that_there_is(name: str) -> None:
    with pytest.raises(ValidationError, match="isn't a time zone"):
        Freeze.model_validate(TIMES | {"tz": name})
