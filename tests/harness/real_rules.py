"""Records as real installations export them, written by hand: old shapes, odd shapes, and the fields of the service."""

from __future__ import annotations

from typing import Any, Final

Record = dict[str, Any]

SHOP = "https://shop.example.com"


def source(value: Any = "shop.example.com", operator: Any = "Contains", key: Any = "Url", **more: Any) -> Record:
    return {"key": key, "operator": operator, "value": value} | more


def made(kind: str, suffix: str, *pairs: Any, **fields: Any) -> Record:
    """A record with what the service adds to every rule."""
    record: Record = {
        "id": f"{kind}_{suffix}",
        "name": f"{kind} {suffix}",
        "description": "",
        "objectType": "rule",
        "ruleType": kind,
        "status": "Active",
        "groupId": "",
        "creationDate": 1736060959798,
        "modificationDate": 1736060959799,
        "createdBy": "IUAGbbcvHCbmRnhkMEQZ4wkTQHE3",
        "lastModifiedBy": None,
        "currentOwner": "browserstack-1234",
        "isSample": False,
        "isFavourite": True,
        "schemaVersion": "3.0.2",
        "pairs": [pair if not isinstance(pair, dict) else {"id": "jnc6s"} | pair for pair in pairs],
    }
    return {name: value for name, value in (record | fields).items() if value is not LEFT_OUT}


LEFT_OUT: Final = object()
HEADER = {"header": "X-Debug", "type": "Add", "value": "1", "id": "m1"}
SCRIPT = {"codeType": "js", "type": "code", "value": "console.log(1);\n" * 3000, "loadTime": "afterPageLoad", "id": "s"}
LONG = "/blocks/" + "segment-" * 210

REDIRECTS = [
    made("Redirect", "plain", {"source": source(f"{SHOP}/old", "Equals"), "destination": f"{SHOP}/new"}),
    made("Redirect", "filters1", {"source": source(filters={}), "destination": "$0"}),
    made("Redirect", "filters2", {"source": source(filters=None), "destination": "https://x.example/"}),
    made("Redirect", "filters3", {"source": source(filters=[]), "destination": "javascript:void(0)"}),
    made("Redirect", "filters4", {"source": source(filters=[None]), "destination": "file:///tmp/a.js"}),
    made(
        "Redirect",
        "filters5",
        {
            "source": source(
                filters=[
                    {"pageUrl": {"operator": "Contains", "value": "x"}, "requestMethod": ["GET"], "requestPayload": {}}
                ]
            ),
            "destinationType": "mock_or_file_picker",
            "destination": "https://requestly.dev/api/mockv2/x?rq_uid=1",
        },
    ),
    made(
        "Redirect", "local", {"source": source(), "destinationType": "map_local", "destination": "file:///Users/a/b.js"}
    ),
    made("Redirect", "nodest", {"source": source()}),
    made("Redirect", "nulldest", {"source": source(), "destination": None, "destinationType": None}),
    made("Redirect", "nosource", {"destination": "https://x.example/"}),
    made("Redirect", "nullsource", {"source": None, "destination": "https://x.example/"}),
    made("Redirect", "emptysource", {"source": {}, "destination": "https://x.example/"}),
    made("Redirect", "nopairs"),
    made("Redirect", "nullpairs", pairs=None),
    made("Redirect", "noname", {"source": source(), "destination": "https://x.example/"}, name=LEFT_OUT),
    made(
        "Redirect", "1612345678901", {"source": source(), "destination": "https://x.example/$1"}, modificationDate=None
    ),
    made("Redirect", "oddkey", {"source": source(key="Host"), "destination": "https://x.example/"}, status="active"),
    made("Redirect", "oddop", {"source": source(operator="StartsWith"), "destination": "x"}, status=None),
    made(
        "Redirect", "idn", {"source": source("https://bücher.example/ß", "Equals"), "destination": "https://[::1]:8/"}
    ),
    made("Redirect", "look", {"source": source("/(?=a)b/", "Matches"), "destination": "https://x.example/$1"}),
    made(
        "Redirect", "flags", {"source": source("/a/m", "Matches"), "destination": "https://x.example/$1"}, groupId="G"
    ),
    made("Redirect", "stars", {"source": source("*" * 500, "Wildcard_Matches"), "destination": "https://x.example/$1"}),
    made("Redirect", "many", *({"source": source(f"{n}{LONG}"), "destination": SHOP + LONG} for n in range(34))),
]
OTHERS = [
    made(
        "Cancel", "all", {"source": source("")}, {"source": source("*", "Wildcard_Matches")}, extensionRules=[{"a": {}}]
    ),
    made("Replace", "long", *({"source": source(""), "from": f"{n}{LONG}", "to": LONG} for n in range(34)), version=2),
    made("Replace", "regex", {"source": source(), "from": "/goapi/getMovieInfo/", "to": "$1"}),
    made("Replace", "broken", {"source": source(), "from": "/(/", "to": None}),
    made("Replace", "nofrom", {"source": source()}),
    made("Headers", "v1", {"source": source(), "header": "X-A", "type": "Modify", "target": "Request", "value": "v"}),
    made("Headers", "v2", {"source": source(), "modifications": {"Request": [HEADER], "Response": []}}, version=2),
    made("Headers", "flat", {"source": source(), "modifications": [HEADER]}),
    made("Headers", "null", {"source": source(), "modifications": None}),
    made("Headers", "odd", {"source": source(), "modifications": {"Request": None, "Response": [None, 3, "x"]}}),
    made("QueryParam", "text", {"source": source(), "modifications": [{"param": "a", "type": "Add", "value": 1}]}),
    made("QueryParam", "odd", {"source": source(), "modifications": {"type": "Remove All"}}),
    made("QueryParam", "v1", {"source": source(), "param": "utm", "type": "Remove", "modifications": "none"}),
    made("UserAgent", "two", {"source": source(), "userAgent": "A"}, {"source": source(), "userAgent": None, "env": 3}),
    made("Request", "flat", {"source": source(), "type": "static", "value": "{}" * 9000}),
    made("Request", "null", {"source": source(), "request": None}),
    made("Response", "text", {"source": source(), "response": {"type": "code", "value": "f", "statusCode": "404"}}),
    made("Response", "number", {"source": source(), "response": {"type": "static", "value": None, "statusCode": 404}}),
    made("Delay", "number", {"source": source(), "delay": 300}),
    made("Delay", "text", {"source": source(), "delay": "١٢"}),
    made("Script", "big", {"source": source(), "scripts": [SCRIPT] * 4, "libraries": [None, "jquery"]}),
    made("Script", "odd", {"source": source(), "scripts": {"value": 1}, "libraries": 4}),
    made("Future", "x1", {"source": source(), "hologram": [1, None, {"deep": [[[]]]}]}, isReadOnly=True),
    made("Redirect", "kindless", {"source": source(), "destination": "https://x.example/"}, ruleType=None),
    made(
        "Redirect",
        "<!channel>",
        {"source": source("<!here> `a` *b*"), "destination": "https://x.example/`"},
        id="Redirect_esc",
    ),
]
RECORDS: Final[tuple[Record, ...]] = (*REDIRECTS, *OTHERS)
"""Rules that a service may hold, every one of them readable."""
GROUP: Final[Record] = {
    "id": "Group_qrszh",
    "name": "Summer",
    "objectType": "group",
    "status": "Inactive",
    "children": [],
}
