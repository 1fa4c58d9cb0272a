"""What a name means: every way to name a thing is asked for the same names by the same references."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from inline_snapshot import snapshot

from bot.members.model import Member
from bot.rules.model import Group, Groups, Rule
from bot.text.names import named_rule, resolve_name
from bot.text.search import WAYS, SearchIndex, search, text_of_rule
from handlers.errors import NotOneGroup
from handlers.grammar.known import Known
from handlers.members.commands import MembersList
from handlers.members.member_lookup import passes_filters
from handlers.rules.commands import RulesList
from handlers.rules.rule_edit import find_group
from handlers.rules.rule_lookup import filter_rules

SITE: Final = "https://www.example.com"
NAMES: Final = {
    "Redirect_old1": "Old shop",
    "Redirect_old2": "Old shop to new shop",
    "Redirect_big3": "Big  sale",
    "Redirect_kas4": "K\u00e4se",
    "Redirect_str5": "Stra\u00dfe 7",
    "Redirect_two6": "Twin",
    "Redirect_two7": "twin",
    "Redirect_num8": "42",
    "Redirect_cyr9": "\u0421heckout",
    "Redirect_ids10": "redirect_old1",
    "Redirect_url11": f"{SITE}/kas4",
    "Redirect_big12": "Big sales",
}
"""The rules, the groups and, but for their ids, the members: names by ids."""


def source(key: str) -> str:
    return f"{SITE}/{key.partition('_')[2]}"


RULES: Final = [
    Rule.model_validate(
        {
            "id": key,
            "name": name,
            "ruleType": "Redirect",
            "status": "Active",
            "groupId": key,
            "pairs": [
                {
                    "source": {"key": "Url", "operator": "Equals", "value": source(key)},
                    "destination": f"https://new.example.com/{key.partition('_')[2]}/x",
                }
            ],
        }
    )
    for key, name in NAMES.items()
]
GROUPS: Final = [Group.model_validate({"id": key, "name": name, "status": "Active"}) for key, name in NAMES.items()]
MEMBERS: Final = [
    Member.model_validate({"email": f"{key.partition('_')[2]}@example.com", "name": name})
    for key, name in NAMES.items()
]
KNOWN: Final = Known.of(rules=RULES, groups=dict(NAMES), members={"blog": MEMBERS})
SHORT: Final = {key: key.partition("_")[2] for key in NAMES} | {
    member.email: member.email.partition("@")[0] for member in MEMBERS
}


def short(found: Iterable[str]) -> str:
    names = sorted({SHORT[key] for key in found}, key=lambda name: int(name[3:]))
    return "all" if len(names) == len(NAMES) else " ".join(names) or "-"


def show(ref: str) -> Iterable[str]:
    return [rule.id for rule in resolve_name(ref, map(named_rule, RULES)).things]


def off(ref: str) -> Iterable[str]:
    """Nothing where it asks although one fits."""
    found = resolve_name(ref, map(named_rule, RULES))
    return [rule.id for rule in found.things if found.is_sure or len(found.things) > 1]


def group(ref: str) -> Iterable[str]:
    try:
        return [find_group(ref, GROUPS).id]
    except NotOneGroup as error:
        return [one.id for one in error.candidates]


def list_group(ref: str) -> Iterable[str]:
    return [rule.id for rule in filter_rules(RULES, RulesList(group=ref), Groups.of(GROUPS))]


def list_rules(ref: str) -> Iterable[str]:
    return [rule.id for rule in filter_rules(RULES, RulesList(text=ref), None)]


def list_members(ref: str) -> Iterable[str]:
    return [one.email for one in MEMBERS if passes_filters(one, MembersList(text=ref))]


def read_rule(ref: str) -> Iterable[str]:
    return KNOWN.rules.find_mentioned(ref)


def read_group(ref: str) -> Iterable[str]:
    return KNOWN.groups.find_mentioned(ref)


def read_member(ref: str) -> Iterable[str]:
    return KNOWN.members.find_mentioned(ref)


def menu(ref: str) -> Iterable[str]:
    """What a menu offers first, where that is no guess."""
    index = SearchIndex(RULES, [text_of_rule(rule) for rule in RULES])
    hits = [hit for hit in search(index, ref, most=100) if hit.rank[0] < WAYS]
    return [hit.item.id for hit in hits if hit.rank == hits[0].rank]


MATCHERS: Final = (show, off, group, list_group, list_rules, list_members, read_rule, read_group, read_member, menu)
REFS: Final = (
    *("Old shop", "OLD SHOP", " old  shop ", '"Old shop"', "old", "shop to", "old sh", "hop"),
    *("shop old", "sh old", "old shop new", "old, shop", "old-shop", "old shp", "big sale", "Big  sale", "big sales"),
    *("K\u00e4se", "Ka\u0308se", "KA\u0308SE", "kase", "strasse 7", "\u0421heckout", "Checkout", "twin", "ol", "o"),
    *("42", "4", "7", "#3", "", " "),
    *("Redirect_old1", "REDIRECT_OLD1", "redirect_o", "Redirect", "old1", "kas4", "num8", "um8"),
    *(f"{SITE}/old1", f"{SITE}/OLD1", f"{SITE}/kas4", f"{SITE}/old1/", f"{SITE}/old", "www.example.com/old1"),
    *("https://new.example.com/old1/x", "old1@example.com", "OLD1@example.com"),
)


def table() -> str:
    """What each of `REFS` means to each of `MATCHERS`; those that agree stand together."""
    lines = []
    for ref in REFS:
        means: dict[str, list[str]] = {}
        for matcher in MATCHERS:
            means.setdefault(short(matcher(ref)), []).append(matcher.__name__)
        lines.append(ascii(ref))
        lines += [
            f"    {found}: {' '.join(names) if len(means) > 1 else 'everywhere'}" for found, names in means.items()
        ]
    return "\n".join(lines)


def test_what_a_name_means_to_each_that_asks() -> None:
    assert table() == snapshot("""\
'Old shop'
    old1: show off group list_group read_rule read_group read_member menu
    old1 old2: list_rules list_members
'OLD SHOP'
    old1: show off group list_group read_rule read_group read_member menu
    old1 old2: list_rules list_members
' old  shop '
    old1: show off group list_group read_rule read_group read_member menu
    old1 old2: list_rules list_members
'"Old shop"'
    -: everywhere
'old'
    old1 old2 ids10: show off group list_group list_rules list_members
    old1 old2: read_rule read_group read_member menu
'shop to'
    old2: everywhere
'old sh'
    old1 old2: everywhere
'hop'
    old1 old2: show off group list_group list_rules list_members menu
    -: read_rule read_group read_member
'shop old'
    -: show off group
    old1 old2: list_group list_rules list_members read_rule read_group read_member menu
'sh old'
    -: show off group
    old1 old2: list_group list_rules list_members read_rule read_group read_member menu
'old shop new'
    -: show off group
    old2: list_group list_members read_rule read_group read_member
    old1 old2: list_rules menu
'old, shop'
    -: everywhere
'old-shop'
    -: everywhere
'old shp'
    -: everywhere
'big sale'
    big3: show off group list_group read_rule read_group read_member menu
    big3 big12: list_rules list_members
'Big  sale'
    big3: show off group list_group read_rule read_group read_member menu
    big3 big12: list_rules list_members
'big sales'
    big12: everywhere
'K\\xe4se'
    kas4: everywhere
'Ka\\u0308se'
    kas4: everywhere
'KA\\u0308SE'
    kas4: everywhere
'kase'
    -: everywhere
'strasse 7'
    str5: everywhere
'\\u0421heckout'
    cyr9: everywhere
'Checkout'
    -: everywhere
'twin'
    two6 two7: everywhere
'ol'
    old1 old2 ids10: show off group list_group list_rules list_members
    old1 old2: read_rule read_group read_member menu
'o'
    old1 old2 cyr9 ids10 url11: show off group
    old1 old2 two6 two7 cyr9 ids10 url11: list_group
    all: list_rules list_members
    old1 old2: read_rule read_group read_member menu
'42'
    num8: everywhere
'4'
    -: show off group
    num8: list_group read_rule read_group read_member menu
    kas4 num8 url11: list_rules list_members
'7'
    -: show off group
    str5: list_group read_rule read_group read_member
    str5 two7: list_rules list_members menu
'#3'
    -: everywhere
''
    -: show off group read_rule read_group read_member
    all: list_group list_rules list_members menu
' '
    -: show off group list_group read_rule read_group read_member
    all: list_rules list_members menu
'Redirect_old1'
    old1: show off group list_group
    old1 ids10: list_rules read_rule read_group menu
    ids10: list_members read_member
'REDIRECT_OLD1'
    old1 ids10: show off group list_group list_rules read_rule read_group menu
    ids10: list_members read_member
'redirect_o'
    ids10: show off group list_members read_rule read_group read_member
    old1 old2 ids10: list_group list_rules menu
'Redirect'
    ids10: show off group list_members read_rule read_group read_member
    all: list_group list_rules menu
'old1'
    old1: show off read_rule read_member
    ids10: group
    old1 ids10: list_group list_rules list_members menu
    -: read_group
'kas4'
    kas4: show off read_rule
    url11: group read_group
    kas4 url11: list_group list_rules list_members read_member menu
'num8'
    num8: show off list_group list_rules list_members read_rule read_member menu
    -: group read_group
'um8'
    num8: show off list_group list_rules list_members menu
    -: group read_rule read_group read_member
'https://www.example.com/old1'
    old1: show off list_rules menu
    -: group list_group list_members read_rule read_group read_member
'https://www.example.com/OLD1'
    old1: show off list_rules menu
    -: group list_group list_members read_rule read_group read_member
'https://www.example.com/kas4'
    kas4 url11: show off list_rules menu
    url11: group list_group list_members read_rule read_group read_member
'https://www.example.com/old1/'
    -: everywhere
'https://www.example.com/old'
    -: show off group list_group list_members read_rule read_group read_member
    old1 old2: list_rules menu
'www.example.com/old1'
    -: show off group list_group list_members read_rule read_group read_member
    old1: list_rules menu
'https://new.example.com/old1/x'
    -: show off group list_group list_members read_rule read_group read_member
    old1: list_rules menu
'old1@example.com'
    -: show off group list_group list_rules read_rule read_group menu
    old1: list_members read_member
'OLD1@example.com'
    -: show off group list_group list_rules read_rule read_group menu
    old1: list_members read_member\
""")
