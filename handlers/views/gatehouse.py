"""Help, status, and who somebody is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from handlers.commands import ALL, Command, GatehouseHelp
from handlers.views import parts
from handlers.views.parts import Message, code, entities, esc

SERVICES = {
    "rules": ":twisted_rightwards_arrows: Rules",
    "members": ":busts_in_silhouette: Members",
    "gatehouse": ":shield: Gatehouse",
}


def help_page(topic: str | None, *, prefix: str, may: Callable[[type[Command]], bool]) -> Message:
    """All commands that work, those of one service, or one command with its example."""
    wanted = (topic or "").casefold().split()
    found = [kind for kind in ALL if kind.verb and may(kind) and _about(kind, wanted)]
    if not found:
        found = [kind for kind in ALL if kind.verb and may(kind)]
    blocks = [
        parts.section(
            "*Gatehouse*: traffic rules and members, from this channel.\nReading is private. What changes something is announced."
        )
    ]
    for service, title in SERVICES.items():
        lines = [_line(kind, prefix, example=len(found) <= 3) for kind in found if kind.service == service]
        if lines:
            blocks.append(parts.section(f"*{title}*\n" + "\n".join(lines)))
    blocks.append(parts.context("REF is an id, `#n` of your last list, a name or a part of one, or a source URL."))
    buttons = [
        parts.run_button(title.split(" ", 1)[1], GatehouseHelp(topic=service), service)
        for service, title in SERVICES.items()
    ]
    return parts.message("Gatehouse help", [*blocks, *parts.actions(buttons)])


def _about(kind: type[Command], wanted: Sequence[str]) -> bool:
    names = {kind.service, kind.verb, *kind.synonyms}
    return all(word in names for word in wanted)


def _line(kind: type[Command], prefix: str, *, example: bool) -> str:
    line = f"`/{prefix}{kind.service} {entities(kind.usage)}`  {kind.summary}"
    return f"{line}\n      for example `/{prefix}{kind.service} {entities(kind.example)}`" if example else line


def status(parts_of: Mapping[str, str], *, places: Mapping[str, str]) -> Message:
    """What each part says of itself."""
    lines = []
    for name, says in parts_of.items():
        mark = ":large_green_circle:" if says == "ok" or says.startswith("ok,") else ":red_circle:"
        place = f"  {code(places[name], 80)}" if name in places else ""
        lines.append(f"{mark} *{esc(name, 60)}*  {esc(says, 200)}{place}")
    well = all(says.startswith("ok") for says in parts_of.values())
    text = "Everything answers." if well else "Something does not answer."
    return parts.message(text, [parts.section(f"*{text}*\n" + "\n".join(lines))])


def whoami(user: str, *, sites: Sequence[str]) -> Message:
    """Who asks, and what they may do."""
    known = ", ".join(esc(site, 40) for site in sites) or "none"
    text = (
        f"You are <@{user}>.\nYou may read and change rules, and members of: {known}.\n"
        "Deleting a rule and removing a member wait for your own confirmation on the card."
    )
    return parts.message("Who you are to Gatehouse", [parts.section(text)])
