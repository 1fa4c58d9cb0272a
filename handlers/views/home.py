"""The app's home. Only its owner sees it, yet addresses stay masked: it is open while others look on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

from bot.domain.change import Change
from handlers.commands.gatehouse import GatehouseHelp, GatehousePending, GatehouseWhoami
from handlers.commands.members import MembersList
from handlers.commands.rules import RulesList
from handlers.views import parts
from handlers.views.forms import View
from handlers.views.parts import Block, code, esc
from handlers.views.pickers import member_menu, rule_menu
from handlers.views.sentences import when
from handlers.views.titles import WORDS, mark_of, plain_title

MOST: Final = 8


def loading(channel: str) -> View:
    return _tab([parts.section(":hourglass_flowing_sand: Looking what there is for you…")], channel)


def home(
    *,
    decisions: Sequence[Change],
    reviews: Sequence[Change],
    ending: Sequence[Change],
    last: Sequence[Change],
    links: Mapping[str, str],
    services: Mapping[str, str],
    reads_rules: bool,
    reads_members: bool,
    channel: str,
    now: datetime,
) -> View:
    """What waits comes first: it is what somebody else is waiting for."""
    nothing = "" if reviews else ":white_check_mark: Nothing waits for you."
    blocks = [
        parts.header("Gatehouse"),
        *_listed("Waits for you", decisions, links, _asked, nothing),
        *_listed("Your review is due", reviews, links, _alone, ""),
        parts.divider(),
        *_search(reads_rules=reads_rules, reads_members=reads_members),
        *parts.actions(_buttons(reads_rules=reads_rules, reads_members=reads_members)),
        parts.divider(),
        *_listed("Yours, ends by itself", ending, links, _ends, ""),
        *_listed("Your last changes", last, links, _done, "_You have changed nothing yet._"),
        parts.context(_services(services), f"as of {when(now)}"),
    ]
    return _tab(blocks, channel)


def _tab(blocks: Sequence[Block], channel: str) -> View:
    return {
        "type": "home",
        "callback_id": "v1.home",
        "blocks": list(blocks),
        "private_metadata": json.dumps({"channel": channel}),
    }


def _listed(
    title: str,
    changes: Sequence[Change],
    links: Mapping[str, str],
    about: Callable[[Change], str],
    otherwise: str,
) -> list[Block]:
    """The changes under *title*, or *otherwise*; nothing at all where that is empty."""
    if not changes:
        return [parts.section(f"*{title}*\n{otherwise}")] if otherwise else []
    lines = [
        f"*{plain_title(change)}*   {_card(links.get(change.id), change)}\n{about(change)}" for change in changes[:MOST]
    ]
    more = [parts.context(f"…and {len(changes) - MOST} more")] if len(changes) > MOST else []
    return [parts.section(f"*{title}*"), *map(parts.section, lines), *more]


def _card(link: str | None, change: Change) -> str:
    return f"<{link}|card>" if link else code(change.id[:8])


def _asked(change: Change) -> str:
    until = f", open until {when(change.expires)}" if change.expires else ""
    reason = f": {esc(change.reason, 150)}" if change.reason else ""
    return f"asked by <@{change.requester}> in <#{change.channel}>{until}{reason}"


def _alone(change: Change) -> str:
    return f":rotating_light: <@{change.decided_by}> did this alone, in <#{change.channel}>. Sign it on its card."


def _ends(change: Change) -> str:
    return f":stopwatch: ends {when(change.ends)}" if change.ends else ":stopwatch: ends by itself"


def _done(change: Change) -> str:
    moment = change.finished_at or change.decided_at or change.created
    undone = ", taken back" if change.undone_by else ""
    return f"{mark_of(change)} {WORDS[change.state]}{undone}, {when(moment)}, in <#{change.channel}>"


def _search(*, reads_rules: bool, reads_members: bool) -> list[Block]:
    rules = [parts.section("*Find a rule*", rule_menu("home"))] if reads_rules else []
    return [*rules, *([parts.section("*Find a member*", member_menu("home"))] if reads_members else [])]


def _buttons(*, reads_rules: bool, reads_members: bool) -> list[Block | None]:
    return [
        parts.run_button("List rules", RulesList(), "rules") if reads_rules else None,
        parts.button("New rule", "v1.home.new", "new") if reads_rules else None,
        parts.run_button("List members", MembersList(), "members") if reads_members else None,
        parts.run_button("All that waits", GatehousePending(), "pending") if reads_rules else None,
        parts.run_button("What may I do?", GatehouseWhoami(), "whoami"),
        parts.run_button("Help", GatehouseHelp(), "help"),
        parts.button("Refresh", "v1.home.refresh", "refresh"),
    ]


def _services(services: Mapping[str, str]) -> str:
    mark = {True: ":large_green_circle:", False: ":red_circle:"}
    return "   ".join(
        f"{mark[says.startswith('ok')]} {esc(name, 60)} {esc(says, 60)}" for name, says in services.items()
    )
