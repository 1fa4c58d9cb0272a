"""Help, status, who somebody is, and what is pending."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from bot import __version__
from bot.changes.model import Change, Guard
from bot.policy.model import GuardRule, Person, Why
from handlers.blocks import messages
from handlers.blocks.messages import Block, Message, code, entities, esc
from handlers.changes.sentences import WORDS, card_link, plain_title, when
from handlers.gatehouse.commands import GatehouseHelp, GatehousePending, GatehouseTimers
from handlers.grammar.command import Command, slash
from handlers.grammar.parser import ALL

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
        return sentences(wanted)
    blocks = [
        messages.section(
            "*Gatehouse*: traffic rules and members, from this channel.\nReading is private. What changes something is announced."
        )
    ]
    for service, title in SERVICES.items():
        lines = [_line(kind, example=len(found) <= 3) for kind in found if kind.service == service]
        if lines:
            blocks.append(messages.section(f"*{title}*\n" + "\n".join(lines)))
    blocks.append(
        messages.context(
            "REF is an id, `#n` of your last list, a name or a part of one, or a source URL. EMAIL may be `#n`, too."
        )
    )
    buttons = [
        messages.run_button(title.split(" ", 1)[1], GatehouseHelp(topic=service), service)
        for service, title in SERVICES.items()
    ]
    return messages.message("Gatehouse help", [*blocks, *messages.actions(buttons)])


EXAMPLES: Final = (
    ("block cancel stop url", "rules block https://shop.example.com/promo for 2h"),
    ("why where which explain url page go goes", "rules why does https://shop.example.com/old go there?"),
    ("give grant member access vip somebody", "members give anna@example.com vip until Monday"),
    ("redirect send forward make create url", "rules send https://shop.example.com/a to https://shop.example.com/b"),
    ("off pause disable switch turn rule", "rules turn off Old shop until tomorrow 9:30"),
    ("change edit point destination", "rules change Old shop to https://shop.example.com/newer"),
    ("remove offboard kick ban leave", "members offboard anna@example.com"),
    ("undo back revert wrong", "gatehouse undo"),
)
"""Sentences that work, each with the words of questions that it answers."""


def sentences(asked: Sequence[str]) -> Message:
    """Three sentences that work, those first that have to do with what was *asked*."""
    words = {word.strip("?!.,") for word in asked}
    fitting = sorted(EXAMPLES, key=lambda example: -len(words & set(example[0].split())))
    lines = "\n".join(f"`{slash(text)}`" for _, text in fitting[:3])
    said = "*Say it as you think it.* For example:"
    then = "What would change something is shown first, and waits for your click."
    buttons = [
        messages.run_button(title.split(" ", 1)[1], GatehouseHelp(topic=service), service)
        for service, title in SERVICES.items()
    ]
    blocks = [
        messages.section(f"{said}\n{lines}"),
        messages.context(f"{then} All commands: `{slash('gatehouse help')}`"),
        *messages.actions(buttons),
    ]
    return messages.message("Say it as you think it.", blocks)


def _about(kind: type[Command], wanted: Sequence[str]) -> bool:
    names = {kind.service, kind.verb, *kind.synonyms}
    return all(word in names for word in wanted)


def _line(kind: type[Command], *, example: bool) -> str:
    line = f"`{slash(kind.service)} {entities(kind.usage())}`  {kind.summary}"
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
    return messages.message(
        text,
        [
            messages.section(f"*{text}*\n" + "\n".join(lines)),
            messages.context(f"Changes: {so_far}", f"Gatehouse {__version__}"),
        ],
    )


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
    blocks = [messages.section(f"You are <@{person.id}>. In <#{channel}> you may:\n" + ("\n".join(may) or "nothing"))]
    if not_:
        blocks.append(messages.section("and you may not:\n" + "\n".join(not_)))
    where = f" · changes are taken in {', '.join(f'<#{each}>' for each in act)}" if act else ""
    blocks.append(messages.context(f"Sites: {known} · times are read as {esc(person.tz, 40)}{where}"))
    return messages.message("Who you are to Gatehouse", blocks)


def _guard(rule: GuardRule | None) -> str:
    if rule is None:
        return ""
    many = f", once approved by {rule.approvals}" if rule.guard is Guard.APPROVE and rule.approvals > 1 else ""
    return many or GUARDS[rule.guard]


MOST = 20


def pending(waiting: Sequence[Change], reviews: Sequence[Change], links: Mapping[str, str], *, total: int) -> Message:
    """Requests that are open, some of *total*, and reviews that are owed; those that wait the longest first."""
    if not waiting and not reviews:
        return _nothing(":white_check_mark: Nothing waits for anybody.", GatehousePending())
    blocks: list[Block] = []
    if waiting:
        shown = sorted(waiting[:MOST], key=lambda change: change.created)
        blocks.append(messages.section(f"*{total:,} open*"))
        blocks += [messages.section(_open(change, links)) for change in shown]
        blocks += _more(total - len(shown))
    if reviews:
        blocks.append(messages.section(f"*{len(reviews)} to be signed*"))
        blocks += [messages.section(_review(change, links)) for change in reviews[:MOST]]
        blocks += _more(len(reviews) - MOST)
    return _listed("What waits for somebody", blocks, GatehousePending())


def _more(count: int) -> list[Block]:
    return [messages.context(f"…and {count:,} more")] if count > 0 else []


def _open(change: Change, links: Mapping[str, str]) -> str:
    until = f", open until {when(change.expires)}" if change.expires else ""
    return f"*{plain_title(change)}*{card_link(change, links)}\n{WORDS[change.state]}: asked by <@{change.requester}>{until}"


def _review(change: Change, links: Mapping[str, str]) -> str:
    return f":rotating_light: *{plain_title(change)}*{card_link(change, links)}\n<@{change.decided_by}> did this alone"


def timers(ending: Sequence[Change], links: Mapping[str, str]) -> Message:
    """Temporary changes that are in force, the next to end first."""
    if not ending:
        words = ":stopwatch: Nothing ends by itself. Write `for 2h` or `until 18:00` behind a change."
        return _nothing(words, GatehouseTimers())
    lines = [
        messages.section(
            f":stopwatch: *{plain_title(change)}*{card_link(change, links)}\nends {when(change.ends)}, by <@{change.requester}>"
        )
        for change in ending[:MOST]
    ]
    return _listed(
        "What ends by itself",
        [messages.section(f"*{messages.plural(len(ending), 'temporary change')}*"), *lines],
        GatehouseTimers(),
    )


def _nothing(words: str, command: GatehousePending | GatehouseTimers) -> Message:
    again = messages.actions([messages.turn_button("Look again", command, 0)])
    return messages.message(words.partition(" ")[2], [messages.section(words), *again])


def _listed(title: str, blocks: list[Block], command: GatehousePending | GatehouseTimers) -> Message:
    buttons = messages.actions([messages.turn_button("Look again", command, 0), messages.share_button(command)])
    return messages.message(title, [*blocks, *buttons])
