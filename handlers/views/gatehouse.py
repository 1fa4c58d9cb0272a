"""Help, status, and who somebody is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from bot.domain.change import Guard
from bot.domain.policy import GuardRule, Person, Why
from handlers.commands.all import ALL
from handlers.commands.command import Command, slash
from handlers.commands.gatehouse import GatehouseHelp
from handlers.views import parts
from handlers.views.parts import Message, code, entities, esc

SERVICES = {
    "rules": ":twisted_rightwards_arrows: Rules",
    "members": ":busts_in_silhouette: Members",
    "gatehouse": ":shield: Gatehouse",
}


def help_page(topic: str | None, *, may: Callable[[type[Command]], bool]) -> Message:
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
        lines = [_line(kind, example=len(found) <= 3) for kind in found if kind.service == service]
        if lines:
            blocks.append(parts.section(f"*{title}*\n" + "\n".join(lines)))
    blocks.append(
        parts.context(
            "REF is an id, `#n` of your last list, a name or a part of one, or a source URL. EMAIL may be `#n`, too."
        )
    )
    buttons = [
        parts.run_button(title.split(" ", 1)[1], GatehouseHelp(topic=service), service)
        for service, title in SERVICES.items()
    ]
    return parts.message("Gatehouse help", [*blocks, *parts.actions(buttons)])


def _about(kind: type[Command], wanted: Sequence[str]) -> bool:
    names = {kind.service, kind.verb, *kind.synonyms}
    return all(word in names for word in wanted)


def _line(kind: type[Command], *, example: bool) -> str:
    line = f"`{slash(kind.service)} {entities(kind.usage)}`  {kind.summary}"
    return f"{line}\n      for example `{slash(kind.service)} {entities(kind.example)}`" if example else line


def status(parts_of: Mapping[str, str], *, places: Mapping[str, str], counts: Mapping[str, int]) -> Message:
    """What each part says of itself, and how many changes stand where."""
    lines = []
    for name, says in parts_of.items():
        mark = ":large_green_circle:" if says == "ok" or says.startswith("ok,") else ":red_circle:"
        place = f"  {code(places[name], 80)}" if name in places else ""
        lines.append(f"{mark} *{esc(name, 60)}*  {esc(says, 400)}{place}")
    well = all(says.startswith("ok") for says in parts_of.values())
    text = "Everything answers." if well else "Something needs attention."
    so_far = ", ".join(f"{count:,} {state}" for state, count in sorted(counts.items())) or "none so far"
    return parts.message(text, [parts.section(f"*{text}*\n" + "\n".join(lines)), parts.context(f"Changes: {so_far}")])


SHORT: Final = {
    Why.UNKNOWN: "Slack does not say who you are",
    Why.DEACTIVATED: "the account is deactivated",
    Why.BOT: "apps may not",
    Why.GUEST: "guests may not",
    Why.STRANGER: "only members of this workspace may",
    Why.SHARED_CHANNEL: "not in a channel shared with another company",
    Why.DIRECT_MESSAGE: "not in a direct message",
    Why.NOT_ADDED: "Gatehouse was not added to this channel",
    Why.OTHER_CHANNEL: "not in this channel",
    Why.NO_ROLE: "no role of yours allows it",
    Why.NOT_HERE: "you are not in this channel",
    Why.CANT_TELL: "Slack doesn't say who is in a channel or user group that decides it",
}
DOES: Final = {
    "rule.read": "read rules",
    "member.read": "read members",
    "audit.read": "read what was done",
    "rule.create": "create rules",
    "rule.update": "change rules, switch them on and off",
    "rule.delete": "delete rules",
    "member.add": "add members",
    "member.update": "change names of members",
    "member.grant": "give access to segments",
    "member.revoke": "take access to segments away",
    "member.remove": "remove members",
    "approve": "approve what others ask for",
    "settings.update": "change what this channel has set",
}
GUARDS: Final = {
    Guard.NONE: "",
    Guard.CONFIRM: ", after your own confirmation",
    Guard.APPROVE: ", once approved",
    Guard.APPROVE_OR_CONFIRM: ", once somebody else of the channel approved",
}


def whoami(
    person: Person,
    channel: str,
    allowed: Mapping[str, Why | None],
    guards: Mapping[str, GuardRule],
    *,
    sites: Sequence[str],
    act: Sequence[str],
) -> Message:
    """Who asks, what they may do in this channel, and why not the rest."""
    may = [f":white_check_mark: {DOES[name]}{_guard(guards.get(name))}" for name, why in allowed.items() if why is None]
    not_ = [f":no_entry: {DOES[name]}: {SHORT.get(why, why)}" for name, why in allowed.items() if why is not None]
    known = ", ".join(esc(site, 40) for site in sites) or "none"
    blocks = [parts.section(f"You are <@{person.id}>. In <#{channel}> you may:\n" + ("\n".join(may) or "nothing"))]
    if not_:
        blocks.append(parts.section("and you may not:\n" + "\n".join(not_)))
    where = f" · changes are taken in {', '.join(f'<#{each}>' for each in act)}" if act else ""
    blocks.append(parts.context(f"Sites: {known} · times are read as {esc(person.tz, 40)}{where}"))
    return parts.message("Who you are to Gatehouse", blocks)


def _guard(rule: GuardRule | None) -> str:
    if rule is None:
        return ""
    many = f", once approved by {rule.approvals}" if rule.guard is Guard.APPROVE and rule.approvals > 1 else ""
    return many or GUARDS[rule.guard]
