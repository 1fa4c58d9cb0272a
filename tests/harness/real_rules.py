"""Records as real installations export them, written by hand: old shapes, odd shapes, and the fields of the service."""

from __future__ import annotations

from typing import Any, Final

Record = dict[str, Any]

SHOP = "https://shop.example.com"


def source(value: Any = "shop.example.com", operator: Any = "Contains", key: Any = "Url", **more: Any) -> Record:
    return {"key": key, "operator": operator, "value": value} | more


def make_record(kind: str, suffix: str, *pairs: Any, **fields: Any) -> Record:
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
    make_record("Redirect", "plain", {"source": source(f"{SHOP}/old", "Equals"), "destination": f"{SHOP}/new"}),
    make_record("Redirect", "filters1", {"source": source(filters={}), "destination": "$0"}),
    make_record("Redirect", "filters2", {"source": source(filters=None), "destination": "https://x.example/"}),
    make_record("Redirect", "filters3", {"source": source(filters=[]), "destination": "javascript:void(0)"}),
    make_record("Redirect", "filters4", {"source": source(filters=[None]), "destination": "file:///tmp/a.js"}),
    make_record(
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
    make_record(
        "Redirect", "local", {"source": source(), "destinationType": "map_local", "destination": "file:///Users/a/b.js"}
    ),
    make_record("Redirect", "nodest", {"source": source()}),
    make_record("Redirect", "nulldest", {"source": source(), "destination": None, "destinationType": None}),
    make_record("Redirect", "nosource", {"destination": "https://x.example/"}),
    make_record("Redirect", "nullsource", {"source": None, "destination": "https://x.example/"}),
    make_record("Redirect", "emptysource", {"source": {}, "destination": "https://x.example/"}),
    make_record("Redirect", "nopairs"),
    make_record("Redirect", "nullpairs", pairs=None),
    make_record("Redirect", "noname", {"source": source(), "destination": "https://x.example/"}, name=LEFT_OUT),
    make_record(
        "Redirect", "1612345678901", {"source": source(), "destination": "https://x.example/$1"}, modificationDate=None
    ),
    make_record(
        "Redirect", "oddkey", {"source": source(key="Host"), "destination": "https://x.example/"}, status="active"
    ),
    make_record("Redirect", "oddop", {"source": source(operator="StartsWith"), "destination": "x"}, status=None),
    make_record(
        "Redirect", "idn", {"source": source("https://bücher.example/ß", "Equals"), "destination": "https://[::1]:8/"}
    ),
    make_record("Redirect", "look", {"source": source("/(?=a)b/", "Matches"), "destination": "https://x.example/$1"}),
    make_record(
        "Redirect", "flags", {"source": source("/a/m", "Matches"), "destination": "https://x.example/$1"}, groupId="G"
    ),
    make_record(
        "Redirect", "stars", {"source": source("*" * 500, "Wildcard_Matches"), "destination": "https://x.example/$1"}
    ),
    make_record("Redirect", "many", *({"source": source(f"{n}{LONG}"), "destination": SHOP + LONG} for n in range(34))),
]
OTHERS = [
    make_record(
        "Cancel", "all", {"source": source("")}, {"source": source("*", "Wildcard_Matches")}, extensionRules=[{"a": {}}]
    ),
    make_record(
        "Replace", "long", *({"source": source(""), "from": f"{n}{LONG}", "to": LONG} for n in range(34)), version=2
    ),
    make_record("Replace", "regex", {"source": source(), "from": "/goapi/getMovieInfo/", "to": "$1"}),
    make_record("Replace", "broken", {"source": source(), "from": "/(/", "to": None}),
    make_record("Replace", "nofrom", {"source": source()}),
    make_record(
        "Headers", "v1", {"source": source(), "header": "X-A", "type": "Modify", "target": "Request", "value": "v"}
    ),
    make_record(
        "Headers", "v2", {"source": source(), "modifications": {"Request": [HEADER], "Response": []}}, version=2
    ),
    make_record("Headers", "flat", {"source": source(), "modifications": [HEADER]}),
    make_record("Headers", "null", {"source": source(), "modifications": None}),
    make_record("Headers", "odd", {"source": source(), "modifications": {"Request": None, "Response": [None, 3, "x"]}}),
    make_record(
        "QueryParam", "text", {"source": source(), "modifications": [{"param": "a", "type": "Add", "value": 1}]}
    ),
    make_record("QueryParam", "odd", {"source": source(), "modifications": {"type": "Remove All"}}),
    make_record("QueryParam", "v1", {"source": source(), "param": "utm", "type": "Remove", "modifications": "none"}),
    make_record(
        "UserAgent", "two", {"source": source(), "userAgent": "A"}, {"source": source(), "userAgent": None, "env": 3}
    ),
    make_record("Request", "flat", {"source": source(), "type": "static", "value": "{}" * 9000}),
    make_record("Request", "null", {"source": source(), "request": None}),
    make_record(
        "Response", "text", {"source": source(), "response": {"type": "code", "value": "f", "statusCode": "404"}}
    ),
    make_record(
        "Response", "number", {"source": source(), "response": {"type": "static", "value": None, "statusCode": 404}}
    ),
    make_record("Delay", "number", {"source": source(), "delay": 300}),
    make_record("Delay", "text", {"source": source(), "delay": "١٢"}),
    make_record("Script", "big", {"source": source(), "scripts": [SCRIPT] * 4, "libraries": [None, "jquery"]}),
    make_record("Script", "odd", {"source": source(), "scripts": {"value": 1}, "libraries": 4}),
    make_record("Future", "x1", {"source": source(), "hologram": [1, None, {"deep": [[[]]]}]}, isReadOnly=True),
    make_record("Redirect", "kindless", {"source": source(), "destination": "https://x.example/"}, ruleType=None),
    make_record(
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
