"""What is read about rules: where a URL ends up, findings, lists, one rule, groups, and the forms of rules."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from bot.clients.lists import Gap
from bot.rules.lint.rule_set import check_all
from bot.rules.lint.single_rule import find_unjudged
from bot.rules.matching import judge_all
from bot.rules.model import Group, Groups, Rule
from bot.rules.url import Url
from handlers.blocks.messages import ListPage, Message
from handlers.rules import check_view, match_view, views, which_view
from handlers.rules.commands import RulesCheck, RulesList, RulesWhich
from handlers.rules.rule_form_view import RuleForm
from handlers.rules.rule_lookup import explain_url, follow
from tests.texts import Sample

Document = dict[str, Any]
SHOP: Final = "https://shop.example.com"
GROUPS: Final = Groups({"Group_1": "Sales campaigns", "Group_2": "Experiments"}, frozenset({"Group_1"}))


def pair(source: str, destination: str | None = None, operator: str = "Equals", **more: Any) -> Document:
    filters = {"filters": [more.pop("filters")]} if "filters" in more else {}
    to = {} if destination is None else {"destinationType": "url", "destination": destination}
    return {"source": {"key": "Url", "operator": operator, "value": source, **filters}, **to, **more}


def rule(number: int, name: str, *pairs: Document, kind: str = "Redirect", **more: Any) -> Rule:
    known = {"id": f"{kind}_x{number}", "name": name, "ruleType": kind, "status": "Active", "pairs": pairs}
    return Rule.model_validate({**known, "modificationDate": 1_795_000_000_000, **more})


OLD: Final = rule(1, "Old shop to new shop", pair(f"{SHOP}/old", f"{SHOP}/new"))
BACK: Final = rule(2, "Back to the old shop", pair(f"{SHOP}/new", f"{SHOP}/old"))
ON: Final = rule(3, "New shop to landing page", pair(f"{SHOP}/new", f"{SHOP}/landing"))
BLOCK: Final = rule(4, "Block the landing page", pair(f"{SHOP}/landing"), kind="Cancel")
OTHER: Final = rule(5, "Old shop to the archive", pair(f"{SHOP}/old", "https://archive.example.com/"))
READERS: Final = {"pageDomains": ["blog.example.com"], "requestMethod": ["GET"]}
FILTERED: Final = rule(6, "Blog readers to new shop", pair(f"{SHOP}/old", f"{SHOP}/new", filters=READERS))
HEADER: Final = {"Request": [{"header": "X-Debug", "type": "Add", "value": "1"}]}
DEBUG: Final = rule(
    7, "Debug header for support", pair(f"{SHOP}/", None, "Contains", modifications=HEADER), kind="Headers", version=2
)
OFF: Final = rule(8, "Summer sale", pair(f"{SHOP}/old", f"{SHOP}/sale"), status="Inactive")
HELD: Final = rule(9, "Chat widget", pair(f"{SHOP}/old", f"{SHOP}/chat"), groupId="Group_2")
SEVERAL: Final = rule(
    10,
    "Campaign links",
    *(pair(f"{SHOP}/c/{number}", f"{SHOP}/campaign/{number}") for number in range(1, 15)),
    groupId="Group_1",
    description="Links in the newsletter",
)
LOOKAROUND: Final = rule(11, "Odd expression", pair("/(?<=old)$/", f"{SHOP}/odd", "Matches"))
DEAD: Final = rule(12, "Jobs page", pair("https://jobs.example.com", f"{SHOP}/jobs"))
TWO: Final = rule(13, "Two pairs", pair(f"{SHOP}/a", f"{SHOP}/b"), pair(f"{SHOP}/c", f"{SHOP}/d"), groupId="Group_2")
ANSWER: Final = rule(
    14,
    "Maintenance answer",
    pair(f"{SHOP}/api", response={"type": "static", "value": '{"a": 1}', "statusCode": "503"}, isCompressed=True),
    kind="Response",
)
CODE: Final = {"codeType": "js", "type": "code", "loadTime": "afterPageLoad"}
SCRIPTS: Final = rule(
    15,
    "Two scripts",
    pair(f"{SHOP}/", scripts=[CODE | {"value": "console.log(1)"}, CODE | {"value": "x" * 3_001}], libraries=["jquery"]),
    kind="Script",
)
TELEPORT: Final = rule(16, "Of a later release", pair(f"{SHOP}/t", beam=[1]), kind="Teleport")
ODD: Final = rule(17, "Two lines", pair(f"{SHOP}/", f"{SHOP}\n/new"))


def _which(typed: str, rules: Sequence[Rule], *, public: bool = False, gap: Gap | None = None, **more: Any) -> Message:
    route = asyncio.run(_followed(Url.from_typed(typed), rules))
    command = replace(RulesWhich(typed), **more)
    return which_view.answer(route, command=command, gap=gap, assumed="://" not in typed, public=public)


async def _followed(url: Url, rules: Sequence[Rule]) -> Any:
    return await follow(await explain_url(rules, url, GROUPS), rules, GROUPS)


def which() -> Iterator[Sample]:
    """``/rules which URL``."""
    old = f"{SHOP}/old"
    yield "a redirect", _which(old, [OLD])
    yield "a redirect, and what else there is to know", _which(old, [OLD, DEBUG, OFF, HELD, LOOKAROUND])
    yield "a loop", _which(old, [OLD, BACK])
    yield "a block on the way", _which(old, [OLD, ON, BLOCK])
    yield "two rules for one URL", _which(old, [OLD, OTHER])
    yield "a redirect with filters", _which(old, [FILTERED])
    yield "something else is changed", _which(f"{SHOP}/about", [DEBUG])
    debug_off = DEBUG.model_copy(update={"status": "Inactive"})
    sale_off = rule(6, "Winter sale", pair(old, f"{SHOP}/winter"), status="Inactive")
    yield "a near miss that is off, and what matches is off", _which(f"{old}/", [sale_off, debug_off])
    yield "tracking parameters", _which(f"{old}?utm_source=mail", [OLD])
    yield "what matches is off", _which(old, [OFF, HELD])
    block_off = rule(4, "Block the landing page", pair(f"{SHOP}/landing"), kind="Cancel", status="Inactive")
    yield "what would block is off", _which(f"{SHOP}/landing", [block_off])
    yield "the group of what would redirect is off", _which(old, [HELD])
    yield "no rule", _which("shop.example.com/about", [OLD])
    yield "a rule that can’t be judged", _which(f"{SHOP}/about", [LOOKAROUND])
    odd_off = LOOKAROUND.model_copy(update={"status": "Inactive"})
    yield "a rule that can’t be judged, and is off", _which(f"{SHOP}/about", [odd_off])
    odd_header = rule(
        21, "Odd header", pair("/(?<=x)$/", None, "Matches", modifications=HEADER), kind="Headers", version=2
    )
    yield "a rule that can’t be judged, and neither redirects nor blocks", _which(f"{SHOP}/about", [odd_header])
    yield "a rule of a type that isn’t known", _which(f"{SHOP}/t", [TELEPORT])
    unclear = pair("/(?<=old)$/", f"{SHOP}/odd", "Matches")
    odd_first = rule(22, "Odd first pair", unclear, pair(old, f"{SHOP}/new"))
    yield "a redirect whose first pair can’t be judged", _which(old, [odd_first])
    other = rule(23, "Blog readers to the sale", pair(old, f"{SHOP}/sale", filters=READERS))
    yield "two redirects with filters", _which(old, [FILTERED, other])
    yield "not all rules could be read", _which(f"{SHOP}/about", [OLD], gap=Gap(40, 60))
    yield "the list ended too soon", _which(f"{SHOP}/about", [OLD], gap=Gap(40))
    yield "several URLs", _which(old, [OLD], others=(f"{SHOP}/new",))
    yield "words that name no rule", _which(old, [OLD], unknown="please")
    yield "shared with the channel", _which(old, [OLD, ON], public=True)


def _about(typed: str, one: Rule) -> Message:
    url = Url.from_typed(typed)
    verdict = next(judge_all([one], url, GROUPS))
    return match_view.answer_about_rule(one, verdict, url, assumed=False, public=False)


def why() -> Iterator[Sample]:
    """``/rules which URL REF``."""
    yield "it matches", _about(f"{SHOP}/old", FILTERED)
    yield "it would, but is off", _about(f"{SHOP}/old", OFF)
    yield "its group is off", _about(f"{SHOP}/old", HELD)
    yield "it nearly matches", _about(f"{SHOP}/OLD", OLD)
    off = OLD.model_copy(update={"status": "Inactive"})
    yield "it nearly matches, and is off", _about(f"{SHOP}/OLD", off)
    odd_off = LOOKAROUND.model_copy(update={"status": "Inactive"})
    yield "it can’t be judged, and is off", _about(f"{SHOP}/old", odd_off)
    yield "it does not match", _about(f"{SHOP}/about", OLD)
    yield "of many pairs, none matches", _about(f"{SHOP}/about", SEVERAL)
    yield "that can't be told", _about(f"{SHOP}/old", LOOKAROUND)


def _check(rules: Sequence[Rule], *, gap: Gap | None = None, limits: Sequence[str] = ()) -> Message:
    found = check_all(rules, GROUPS).findings
    page = ListPage.of(found, 1, 8)
    command = RulesCheck()
    return check_view.findings_page(
        page, command=command, rules=len(rules), gap=gap, public=False, unjudged=find_unjudged(rules), limits=limits
    )


def check() -> Iterator[Sample]:
    """``/rules check``."""
    yield "nothing is wrong", _check([OLD, SEVERAL])
    yield "nothing is wrong with what can be judged", _check([OLD, LOOKAROUND])
    yield "one finding in one rule", _check([DEAD])
    yield "a loop", _check([OLD, BACK])
    yield "several findings", _check([OLD, OTHER, ON, BLOCK, DEAD])
    yield (
        "not everything was read or compared",
        _check([OLD], gap=Gap(1, 60), limits=[f":warning: {check_view.UNTRIED}"]),
    )


def _list(rules: Sequence[Rule], **more: Any) -> Message:
    page = ListPage.of(rules, 1, 10)
    command = RulesList(**more)
    return views.rule_list(page, command=command, gap=None, groups=GROUPS, public=False)


def lists() -> Iterator[Sample]:
    """``/rules``, ``list``, ``show`` and ``groups``."""
    yield "the menu", views.menu()
    yield "a list", _list([OLD, FILTERED, DEBUG, OFF, HELD, SEVERAL, BLOCK, BACK, ON, OTHER, LOOKAROUND])
    yield "a list of a group, by last change", _list([SEVERAL], group="Sales", sort="changed")
    yield "nothing found", _list([], text="checkout")
    yield "no rules at all", _list([])
    for one in (SEVERAL, HELD):
        yield f"show {one.title}", views.rule_card(one, public=False, groups=GROUPS)
    yield "show in the channel", views.rule_card(OLD, public=True)
    groups = [
        Group.model_validate({"id": "Group_1", "name": "Sales campaigns", "status": "Active"}),
        Group.model_validate({"id": "Group_2", "name": "Experiments", "status": "Inactive"}),
    ]
    rules, on = {"Group_1": 12, "Group_2": 1, "Group_lost": 2}, {"Group_1": 11, "Group_2": 1}
    yield "groups", views.group_list(groups, rules, on, {}, public=False)


def forms() -> Iterator[Sample]:
    """The forms of rules."""
    new = RuleForm.blank(source=f"{SHOP}/old", channel="C0OPS0001")
    yield "new", new.view()
    warning = {
        "": "Not saved yet. Press Create anyway if that is what you want.",
        "above.1": "“Jobs” never matches “https://jobs.example”: a browser sends https://jobs.example/.",
    }
    yield "new, with a warning", replace(new, warned="x", notes=warning).view()
    for rule_type in ("Cancel", "Replace", "Headers", "QueryParam"):
        yield f"new, {rule_type}", RuleForm.blank(type=rule_type, channel="C0OPS0001").view()
    yield "edit, with all options", replace(RuleForm.of(ANSWER, channel="C0OPS0001"), more=True).view()
    yield "edit, two scripts", RuleForm.of(SCRIPTS, channel="C0OPS0001").view()
    yield "edit, as JSON", replace(RuleForm.of(FILTERED, channel="C0OPS0001"), as_json=True).view()
    yield "edit, a destination in two lines", RuleForm.of(ODD, channel="C0OPS0001").view()
    yield "edit", RuleForm.of(FILTERED, channel="C0OPS0001").view()
    yield "edit, two pairs", RuleForm.of(TWO, channel="C0OPS0001").view()
    yield "copy", RuleForm.copy_of(OLD, channel="C0OPS0001").view()


def samples() -> Iterator[Sample]:
    """All of them."""
    for part in (which, why, check, lists, forms):
        yield from ((f"{part.__name__}: {title}", shown) for title, shown in part())
