"""Messages and modals as readable text, for ``sandbox try``, for tests and their failures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

LINK: Final = re.compile(r"<([^<>|]*)(?:\|([^<>]*))?>")
CODE: Final = re.compile(r"```.+?```|`[^`\n]+`", re.DOTALL)
STYLED: Final = re.compile(r"(?<![\w`\u2060])[*_](\S.*?\S|\S)[*_](?![\w`\u2060])")
"""Marks that make a text bold or italic; a word joiner beside one keeps it as it is."""
PLACE: Final = "\ue000"
"""Stands for code while the rest of a text is converted."""
LEVELS: Final = {"warning": "! ", "error": "✗ ", "success": "✓ "}
"""Signs for the level of an alert."""
EMOJI: Final = {
    "large_green_circle": "●",
    "white_circle": "○",
    "double_vertical_bar": "‖",
    "white_check_mark": "✓",
    "x": "✗",
    "warning": "!",
    "wastebasket": "✗",
}


def plain_text(text: str) -> str:
    """Mrkdwn as plain text: links by their label, mentions by their id, emoji by a sign or their name; code as it is."""
    text = LINK.sub(lambda match: match[2] or match[1], text.replace(PLACE, ""))
    code = CODE.findall(text)
    text = re.sub(r":([a-z0-9_+-]+):", lambda match: EMOJI.get(match[1], ""), CODE.sub(PLACE, text))
    text = STYLED.sub(r"\1", text)
    text = re.sub(PLACE, lambda _: code.pop(0), text).strip()
    return text.replace("\u2060", "").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _object_text(value: Any) -> str:
    return plain_text(str(value.get("text", ""))) if isinstance(value, Mapping) else ""


def block_lines(block: Mapping[str, Any]) -> Iterator[str]:
    """One block, line by line; buttons as [Label]."""
    kind = block.get("type")
    if kind in {"section", "header", "alert"}:
        text = _object_text(block.get("text"))
        if kind == "alert":
            text = f"{LEVELS.get(block.get('level', ''), '')}{text}"
        accessory = block.get("accessory")
        yield f"{text}  {element(accessory)}".rstrip() if accessory else text
        for field in block.get("fields") or ():
            yield _object_text(field).replace("\n", ": ", 1)
    elif kind == "context":
        yield "  ".join(_object_text(one) for one in block.get("elements") or ())
    elif kind == "actions":
        yield "  ".join(element(one) for one in block.get("elements") or ())
    elif kind == "input":
        optional = " (optional)" if block.get("optional") else ""
        yield f"{_object_text(block.get('label'))}{optional}: {element(block.get('element') or {})}"
    elif kind == "divider":
        yield "—"
    else:
        yield f"({kind})"


def element(one: Mapping[str, Any]) -> str:
    """An interactive element: what it is called and what it holds."""
    kind = one.get("type", "")
    if kind == "button":
        return f"[{_object_text(one.get('text'))}]"
    if kind == "overflow":
        return "⋯ " + "  ".join(f"[{_object_text(option.get('text'))}]" for option in one["options"])
    chosen = one.get("initial_option")
    several = one.get("initial_options") or ([chosen] if chosen else [])
    held = ", ".join(_object_text(option.get("text")) for option in several) or one.get("initial_value") or ""
    return f"<{held}>"


def message(text: str, blocks: list[dict[str, Any]]) -> str:
    """A whole message."""
    return "\n".join([line for block in blocks for line in block_lines(block)] if blocks else [plain_text(text)])


def file(name: str, size: int) -> str:
    """A file of a message; *size* in bytes."""
    return f"({name}, {size:,} bytes)"


def view(shown: Mapping[str, Any]) -> str:
    """A modal or home tab: its title, its blocks, what it can be sent with."""
    lines = [line for block in shown.get("blocks") or () for line in block_lines(block)]
    submit = [f"[{_object_text(shown['submit'])}]"] if "submit" in shown else []
    return "\n".join([f"┌ {_object_text(shown.get('title'))}", *lines, *submit])
