"""Sample data that a newcomer recognises: the rules of a web shop, the members of its blog and its docs."""

from __future__ import annotations

from typing import Any

from sandbox.services.database import Database

SHOP = "https://shop.example.com"
SEGMENTS = ("default", "free", "premium", "vip", "beta", "staff")
Pair = dict[str, Any]


def _source_pair(value: str, operator: str = "Equals", key: str = "Url") -> Pair:
    return {"source": {"key": key, "operator": operator, "value": value}}


def redirect_pair(value: str, destination: str, operator: str = "Equals") -> Pair:
    return _source_pair(value, operator) | {"destinationType": "url", "destination": destination}


def _rule(
    rule_id: str, name: str, *pairs: Pair, description: str = "", status: str = "Active", **more: Any
) -> dict[str, Any]:
    rule_type = rule_id.partition("_")[0]
    return {
        "id": rule_id,
        "name": name,
        "description": description,
        "status": status,
        "ruleType": rule_type,
        "pairs": list(pairs),
        **more,
    }


SEASONS = ("spring", "summer", "autumn", "winter", "easter", "halloween", "xmas", "clearance")
RULES = (
    _rule(
        "Redirect_x1old",
        "Old shop to new shop",
        redirect_pair(f"{SHOP}/old", f"{SHOP}/new"),
        description="Since the relaunch in May.",
    ),
    _rule("Redirect_chk01", "Checkout to the new payment page", redirect_pair(f"{SHOP}/checkout", f"{SHOP}/pay")),
    _rule(
        "Redirect_chk02",
        "Checkout on mobile",
        redirect_pair("https://m.shop.example.com/checkout", f"{SHOP}/pay?from=mobile"),
    ),
    _rule("Redirect_help1", "Help centre moved", redirect_pair(f"{SHOP}/help/", "https://help.example.com/")),
    _rule(
        "Redirect_bfri1",
        "Black Friday landing page",
        redirect_pair(f"{SHOP}/deals", f"{SHOP}/black-friday"),
        status="Inactive",
        groupId="Group_sales",
    ),
    _rule(
        "Redirect_wild1",
        "Product pages of the old catalogue",
        redirect_pair(f"{SHOP}/catalogue/*", f"{SHOP}/products/$1", "Wildcard_Matches"),
    ),
    _rule(
        "Redirect_seas1",
        "Seasonal campaigns to the sale",
        *(redirect_pair(f"{SHOP}/{name}", f"{SHOP}/sale?campaign={name}") for name in SEASONS),
        groupId="Group_sales",
    ),
    _rule("Redirect_login", "Login without www", redirect_pair("https://www.shop.example.com/login", f"{SHOP}/login")),
    _rule("Redirect_blog1", "Blog to its own host", redirect_pair(f"{SHOP}/blog", "https://blog.example.com/")),
    _rule(
        "Request_cart01",
        "Empty cart for tests",
        _source_pair("https://api.example.com/v2/cart", "Contains")
        | {"request": {"type": "static", "value": '{"items": []}'}},
        status="Inactive",
    ),
    _rule(
        "Response_maint1",
        "Maintenance answer of the pricing API",
        _source_pair("https://api.example.com/v2/prices")
        | {
            "response": {
                "type": "static",
                "value": '{"error": "maintenance"}',
                "statusCode": "503",
                "statusText": "Service Unavailable",
                "resourceType": "restApi",
            }
        },
        status="Inactive",
    ),
    _rule(
        "Redirect_test1",
        "Staging checkout (testing)",
        redirect_pair("https://staging.example.com/checkout", f"{SHOP}/pay"),
        status="Inactive",
    ),
    _rule(
        "Redirect_imgs1",
        "Images from the new CDN",
        redirect_pair("cdn-old.example.com", "https://cdn.example.com/", "Contains"),
    ),
    _rule(
        "Cancel_track1",
        "Block the old tracker",
        _source_pair("tracker.example.net", "Contains"),
        description="Privacy review, ticket SEC-212.",
    ),
    _rule(
        "Cancel_ads001",
        "Block the ad network",
        _source_pair("ads.example.net", "Equals", "host"),
        _source_pair("ads2.example.net", "Equals", "host"),
    ),
    _rule("Cancel_poll01", "Stop the polling loop", _source_pair("/api/poll", "Equals", "path"), status="Inactive"),
    _rule(
        "Replace_api01",
        "API v1 to v2",
        _source_pair("https://api.example.com/v1/", "Contains") | {"from": "/v1/", "to": "/v2/"},
    ),
    _rule(
        "Replace_host1",
        "Assets to the EU host",
        _source_pair("assets.example.com", "Contains") | {"from": "assets.example.com", "to": "assets-eu.example.com"},
    ),
    _rule(
        "Replace_lang1",
        "German pages under /de",
        _source_pair("lang=de", "Contains") | {"from": "?lang=de", "to": "/de"},
        status="Inactive",
    ),
    _rule(
        "Headers_cors1",
        "Open CORS for the app",
        _source_pair("https://api.example.com", "Contains")
        | {
            "modifications": {
                "Request": [],
                "Response": [
                    {"header": "Access-Control-Allow-Origin", "type": "Add", "value": "https://app.example.com"}
                ],
            }
        },
        version=2,
    ),
    _rule(
        "Headers_debug",
        "Debug header for support",
        _source_pair(SHOP, "Contains")
        | {"modifications": {"Request": [{"header": "X-Debug", "type": "Add", "value": "support"}], "Response": []}},
        status="Inactive",
        version=2,
    ),
    _rule(
        "QueryParam_utm1",
        "Drop utm_source",
        _source_pair(SHOP, "Contains") | {"modifications": [{"param": "utm_source", "type": "Remove", "value": ""}]},
    ),
    _rule(
        "UserAgent_bot1",
        "Pretend to be a phone",
        _source_pair("https://m.shop.example.com", "Contains") | {"userAgent": "Mozilla/5.0 (Phone)"},
        status="Inactive",
    ),
    _rule(
        "Delay_slow01",
        "Slow checkout for tests",
        _source_pair(f"{SHOP}/pay", "Contains") | {"delay": "2000"},
        status="Inactive",
    ),
    _rule(
        "Script_chat1",
        "Chat widget",
        _source_pair(SHOP, "Contains")
        | {
            "scripts": [
                {
                    "codeType": "js",
                    "type": "url",
                    "value": "https://chat.example.com/widget.js",
                    "loadTime": "afterPageLoad",
                }
            ]
        },
        groupId="Group_trial",
    ),
    # For `/rules check`: a loop, a redirect behind "Block the old tracker", and "Images from the new CDN" once more.
    _rule("Redirect_gift01", "Gift cards are vouchers now", redirect_pair(f"{SHOP}/gift-cards", f"{SHOP}/vouchers")),
    _rule(
        "Redirect_gift02",
        "Vouchers paused for the audit",
        redirect_pair(f"{SHOP}/vouchers", f"{SHOP}/gift-cards"),
        description="Until the auditors are done.",
    ),
    _rule(
        "Redirect_track1",
        "Tracker script from our own host",
        redirect_pair("https://tracker.example.net/t.js", "https://static.example.com/t.js"),
    ),
    _rule(
        "Redirect_imgs2",
        "Product images to the CDN",
        redirect_pair("cdn-old.example.com", "https://cdn.example.com/", "Contains"),
    ),
)
GROUPS = (("Group_sales", "Sales campaigns", "Active"), ("Group_trial", "Experiments", "Inactive"))

FIRST = (
    "Anna",
    "Ben",
    "Chloe",
    "David",
    "Elif",
    "Farid",
    "Grace",
    "Hugo",
    "Ines",
    "Jonas",
    "Kira",
    "Liam",
    "Mona",
    "Nils",
    "Olga",
    "Paul",
    "Quinn",
    "Rosa",
    "Sami",
    "Tara",
)
LAST = (
    "Berg",
    "Costa",
    "Diaz",
    "Evans",
    "Fischer",
    "Garcia",
    "Hansen",
    "Ito",
    "Jensen",
    "Khan",
    "Larsen",
    "Meyer",
    "Novak",
    "Olsen",
    "Petrov",
    "Quist",
    "Rossi",
    "Silva",
    "Tanaka",
    "Unger",
)
CREATED = 1_756_700_000_000
DAY = 86_400_000


def members(site: str) -> list[dict[str, Any]]:
    """Twenty people: on the blog everybody, on the docs half of them and ten others."""
    people = []
    for number in range(20):
        first, last = FIRST[number], LAST[number if site == "site_1" or number % 2 else (number + 7) % 20]
        segments = [["free"], ["free", "premium"], ["default"], ["premium", "vip"], ["free", "beta"]][number % 5]
        people.append(
            {
                "name": f"{first} {last}",
                "email": f"{first}.{last}@example.com".lower(),
                "allowedSegments": [*segments, *(["staff"] if number in {2, 11} else [])],
                "createdAt": CREATED + number * DAY,
            }
        )
    return people


def seed(database: Database, *, rules_key: str) -> None:
    """Fill an empty database."""
    for group_id, name, status in GROUPS:
        group = {"id": group_id, "name": name, "objectType": "group", "status": status, "isFavourite": False}
        database.put_group(group | {"creationDate": CREATED, "modificationDate": CREATED})
    for number, rule in enumerate(RULES):
        dates = {"creationDate": CREATED + number * DAY, "modificationDate": CREATED + number * 2 * DAY}
        database.put_rule(rules_key, rule | dates)
    for site in ("site_1", "site_2"):
        database.add_site(site)
        for name in SEGMENTS:
            database.add_segment(site, name)
        for member in members(site):
            database.put_member(site, member)
