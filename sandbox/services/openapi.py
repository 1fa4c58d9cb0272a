"""The OpenAPI documents of both services, as far as their specifications go."""

from __future__ import annotations

from typing import Any

Document = dict[str, Any]


def _json(schema: Document) -> Document:
    return {"content": {"application/json": {"schema": schema}}}


def _answer(description: str, schema: Document) -> Document:
    return {"description": description, **_json(schema)}


def _ref(name: str) -> Document:
    return {"$ref": f"#/components/schemas/{name}"}


ERROR: Document = {
    "type": "object",
    "required": ["success", "message"],
    "properties": {"success": {"const": False}, "message": {"type": "string"}},
}
REFUSED: Document = {"default": _answer("Refused: success is false, message says why", _ref("Error"))}


def _success(data: Document) -> Document:
    schema = {
        "type": "object",
        "required": ["success", "data"],
        "properties": {"success": {"const": True}, "data": data},
    }
    return {"200": _answer("Done", schema), **REFUSED}


SAID: Document = {
    "200": _answer("Done", {"type": "object", "required": ["success", "message"]}),
    "204": {"description": "Done, and nothing to say"},
    **REFUSED,
}


def _path(name: str) -> Document:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}


def _operation(name: str, responses: Document, body: str | None = None) -> Document:
    request = {"requestBody": {"required": True, **_json(_ref(body))}} if body else {}
    return {"operationId": name, "responses": responses, **request}


TEXTS: Document = {"type": "array", "items": {"type": "string"}}

RULES: Document = {
    "openapi": "3.1.0",
    "info": {"title": "Rules service (stand-in)", "version": "1"},
    "security": [{"key": []}],
    "paths": {
        "/v1/rules": {
            "get": _operation("listRules", _success({"type": "array", "items": _ref("Rule")})),
            "post": _operation("createRule", _success(_ref("Rule")), "RuleBody"),
        },
        "/v1/rules/{ruleId}": {
            "parameters": [_path("ruleId")],
            "get": _operation("getRule", _success(_ref("Rule"))),
            "put": _operation("updateRule", _success(_ref("Rule")), "RuleBody"),
            "delete": _operation("deleteRule", SAID),
        },
    },
    "components": {
        "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "x-api-key"}},
        "schemas": {
            "Error": ERROR,
            "RuleBody": {
                "type": "object",
                "required": ["name", "ruleType", "pairs"],
                "properties": {
                    "name": {"type": "string", "minLength": 1},
                    "description": {"type": "string"},
                    "status": {"type": "string"},
                    "ruleType": {"type": "string"},
                    "pairs": {"type": "array", "minItems": 1, "items": _ref("Pair")},
                },
            },
            "Rule": {
                "allOf": [
                    _ref("RuleBody"),
                    {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}},
                ]
            },
            "Pair": {
                "type": "object",
                "required": ["source"],
                "properties": {
                    "source": {
                        "type": "object",
                        "required": ["key", "operator", "value"],
                        "properties": {name: {"type": "string"} for name in ("key", "operator", "value")},
                    },
                    **{name: {"type": "string"} for name in ("destinationType", "destination", "from", "to")},
                },
            },
        },
    },
}

MEMBERS: Document = {
    "openapi": "3.1.0",
    "info": {"title": "Site membership service (stand-in)", "version": "1"},
    "security": [{"key": []}],
    "paths": {
        "/api/v1/sites/{siteId}/members/": {
            "parameters": [_path("siteId")],
            "get": _operation("listMembers", {"200": {"description": "The members; the shape is a switch"}, **REFUSED}),
            "post": _operation("addMember", _success(_ref("Member")), "Member"),
        },
        "/api/v1/sites/{siteId}/members/{email}": {
            "parameters": [_path("siteId"), _path("email")],
            "patch": _operation("updateMember", _success(_ref("Member")), "MemberUpdate"),
            "delete": _operation("removeMember", SAID),
        },
        "/api/v1/sites/{siteId}/members/{email}/segments": {
            "parameters": [_path("siteId"), _path("email")],
            "post": _operation("addSegments", _success(_ref("Member")), "Segments"),
            "delete": _operation("removeSegments", SAID, "Segments"),
        },
    },
    "components": {
        "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        "schemas": {
            "Error": ERROR,
            "Member": {
                "type": "object",
                "required": ["email"],
                "properties": {"name": {"type": "string"}, "email": {"type": "string"}, "allowedSegments": TEXTS},
            },
            "MemberUpdate": {"type": "object", "properties": {"name": {"type": "string"}, "allowedSegments": TEXTS}},
            "Segments": {"type": "object", "required": ["allowedSegments"], "properties": {"allowedSegments": TEXTS}},
        },
    },
}
