"""The commands as tools of agents: a schema out of each command's fields, and the command out of a tool's arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from handlers.blocks.buttons import command_text
from handlers.grammar.command import Command, Part, Rest, Unclear
from handlers.grammar.fields import Choice, Filter, Reason
from handlers.grammar.parser import VERBS, numbers_in, parse
from handlers.grammar.time_fields import AskedAt, ForOrUntil, OnOrAt, parse_expiry, parse_start
from handlers.grammar.tokens import quote_word
from handlers.rules.command_fields import Assignments

READING: Final = {"rules": "which list show check history", "members": "why list show", "gatehouse": "audit pending"}
PROPOSING: Final = {"rules": "on off set make group delete", "members": "grant revoke remove offboard"}
"""Verbs of commands that end in one request. What decides, undoes, freezes, sets or exports is no tool: a click in Slackbot
looks like a call of its model.
"""
CHANNEL: Final = "channel"
DESCRIBED: Final = (Filter, ForOrUntil, OnOrAt, AskedAt, Assignments)
"""The parts whose name doesn't say how they are written."""
JSON_TYPES: Final[Mapping[str, type]] = {"object": dict, "array": list, "integer": int, "string": str}


@dataclass(frozen=True, slots=True)
class Tool:
    """A command as MCP describes a tool; *schema*: of its arguments; *proposes*: a person is asked before it is done."""

    kind: type[Command]
    name: str
    description: str
    schema: Mapping[str, Any]
    proposes: bool

    @classmethod
    def of(cls, kind: type[Command], *, proposes: bool) -> Tool:
        parts, name = kind.parts(), f"{kind.service}_{kind.verb}"
        properties = {
            field.name: _schema(str(field.type), parts[field.name]) for field in fields(kind) if field.compare
        }
        schema = {
            "type": "object",
            "properties": properties | {CHANNEL: {"type": "string"}},
            "required": [*(each for each, part in parts.items() if part.missing), *([CHANNEL] if proposes else [])],
            "additionalProperties": False,
        }
        if not proposes:
            return cls(kind, name, kind.summary, schema, proposes)
        act = kind.summary.partition(";")[0]
        about = f"Propose to {act[:1].lower()}{act[1:]}. The person whom you act for decides."
        return cls(kind, f"propose_{name}", about, schema, proposes)


def _schema(declared: str, part: Part) -> dict[str, Any]:
    """Return the schema of a field that is *declared* so and typed as *part*."""
    about = {"description": part.shown} if isinstance(part, DESCRIBED) else {}
    options = [*(part.choices if isinstance(part, Choice) else getattr(part, "options", ()))]
    if declared.startswith("tuple[tuple"):
        return {"type": "object", "additionalProperties": {"type": "string"}} | about
    if declared.startswith("tuple"):
        return {"type": "array", "items": {"type": "string"}}
    if declared.startswith("int"):
        return {"type": "integer"}
    return {"type": "string"} | ({"enum": options} if options else about)


TOOLS: Final[Mapping[str, Tool]] = {
    tool.name: tool
    for verbs in (READING, PROPOSING)
    for service, names in verbs.items()
    for tool in (Tool.of(VERBS[service][name], proposes=verbs is PROPOSING) for name in names.split())
}


def command_of(tool: Tool, arguments: Mapping[str, Any]) -> Command:
    """Return the command that *arguments* stand for; raises Unclear where they aren't as the schema has them.

    It is written and read back as text: what would be read as anything else, such as a time with more words after it, is
    refused, and so is a row of a list that only the person has seen.
    """
    parts, about = tool.kind.parts(), (tool.kind,)
    given = {name: value for name, value in arguments.items() if name != CHANNEL and value not in ("", [], {}, None)}
    if wrong := [name for name, value in given.items() if not _fits(value, tool.schema["properties"].get(name, {}))]:
        raise Unclear(f"The argument “{wrong[0][:40]}” isn’t as the tool’s schema has it.", about=about)
    for name in parts.keys() - given:
        parts[name].require_value(None, Rest(tool.kind, ()))
    try:
        wanted = tool.kind(**{name: _value(parts[name], value) for name, value in given.items()})
        wanted.check(Rest(tool.kind, ()))
        command = parse(tool.kind.service, wanted.write())
    except ValueError as error:
        raise Unclear("A text with both kinds of quotes can’t be read.", about=about) from error
    if numbers_in(command):
        raise Unclear("`#n` is a row of a list that only the person has seen. Name a rule by its id.", about=about)
    if command != wanted:
        raise Unclear(f"That would be read as “{command_text(command)[:200]}”.", about=about)
    return command


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether *value* is as *schema* asks; the schema of an argument that there isn't is empty."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    is_typed = type(value) is JSON_TYPES.get(schema.get("type", "")) and all(isinstance(each, str) for each in inner)
    return is_typed and ("enum" not in schema or value in schema["enum"])


def _value(part: Part, value: Any) -> Any:
    """Return the value of a field that *value* of JSON stands for; raises Unclear for what is no time."""
    match part:
        case Reason():
            return quote_word(value)  # as a whole: its last words may be a time
        case Choice():
            return part.choices[value]
        case ForOrUntil() | OnOrAt():
            if (time := (parse_expiry if isinstance(part, ForOrUntil) else parse_start)(value)) is None:
                raise Unclear(f"“{value[:40]}” isn’t a time. Write for 2h, until 18:00 or on Friday 9:00.")
            return time
        case _:
            return (
                tuple(value.items() if isinstance(value, dict) else value) if isinstance(value, dict | list) else value
            )
