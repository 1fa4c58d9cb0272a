"""``/gatehouse audit``: what was done, by whom and when; what its words mean, and what of it is on record."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bot.domain.duration import DAYS, seconds_of
from bot.domain.rule import RULE_ID
from bot.gatehouse import Gatehouse
from bot.store.audit import Filters
from handlers.commands.gatehouse import GatehouseAudit
from handlers.commands.rules import RulesHistory
from handlers.errors import BadFilter
from handlers.lasting import zone_of
from handlers.refs import REFERENCE, NotOne, find_rule
from handlers.reply import Caller, Private, Reply
from handlers.routes import handles
from handlers.views import audit as views

ENTRIES: Final = 20
STEPS: Final = ("announced", "applying")
MECHANICS: Final = (*STEPS, "begun")
"""Events that say how something was done rather than what; the export has them."""
MENTIONED: Final = re.compile(r"<@([UW][A-Z0-9]{5,20})(?:\|[^<>]*)?>|([UW][A-Z0-9]{7,20})")


@handles(GatehouseAudit)
async def audit(command: GatehouseAudit, caller: Caller, gatehouse: Gatehouse) -> Reply:
    who, since = _who(command.who, caller), await moment_of(command.since, caller, gatehouse)
    about = await _about((command.ref or "").strip(), caller, gatehouse)
    filters = Filters(who=who, since=since, ref=about.ref, targets=about.targets, without=MECHANICS)
    page = command.page or 1
    found = await gatehouse.store.audit.found(filters, ENTRIES + 1, skip=(page - 1) * ENTRIES)
    links = {entry.change_id: await gatehouse.store.cards.link(entry.change_id) for entry in found if entry.change_id}
    more = len(found) > ENTRIES
    return Private(views.entries(found[:ENTRIES], links, filters, more=more, public=caller.public, command=command))


@dataclass(frozen=True, slots=True)
class _About:
    """What a REF means: *targets*, all of them and no others, or a part of a target or of a change's id."""

    ref: str | None = None
    targets: tuple[str, ...] | None = None


async def _about(text: str, caller: Caller, gatehouse: Gatehouse) -> _About:
    """What *text* means, looked up on record first, which also knows what is gone; raises BadFilter, or as `find_rule`."""
    if not text:
        return _About()
    if RULE_ID.fullmatch(text) and await _is_known(rule := await _rule_called(text, gatehouse), gatehouse):
        return rule
    part = _About(ref=text)
    if (REFERENCE.fullmatch(text) or "@" in text or "/" in text) and await _is_known(part, gatehouse):
        return part
    if named := await gatehouse.store.audit.targets_named(text):
        return _About(targets=tuple(named))
    if await _is_known(part, gatehouse):
        return part
    try:
        return await _about_rule(text, caller, gatehouse)
    except NotOne as error:
        if error.candidates:
            raise
    raise BadFilter(
        f"Nothing on record is called “{text[:60]}”: write the name or id of a rule, the name or email of a member, or the"
        " reference of a change. For what a person did: who: and their name from the list that @ opens. For a time:"
        " since:24h or since:yesterday."
    )


async def _is_known(about: _About, gatehouse: Gatehouse) -> bool:
    return bool(await gatehouse.store.audit.found(Filters(ref=about.ref, targets=about.targets), 1))


async def _about_rule(ref: str, caller: Caller, gatehouse: Gatehouse) -> _About:
    return await _rule_called((await find_rule(RulesHistory(ref=ref), caller, gatehouse)).id, gatehouse)


async def _rule_called(rule_id: str, gatehouse: Gatehouse) -> _About:
    """A rule, also under the ids that it had before."""
    ids = await gatehouse.store.aliases.all_of(rule_id)
    return _About(targets=tuple(f"rules/{each}" for each in ids))


def _who(text: str | None, caller: Caller) -> str | None:
    if text is None:
        return None
    if text.casefold() in {"me", "@me"}:
        return caller.user
    match = MENTIONED.fullmatch(text)
    if match is None:
        raise BadFilter(f"who:{text[:40]} is nobody that Slack knows; pick a person from the list that @ opens.")
    return match[1] or match[2]


async def moment_of(text: str | None, caller: Caller, gatehouse: Gatehouse) -> datetime | None:
    """The moment since which *text* is; raises BadFilter."""
    if text is None:
        return None
    if seconds := seconds_of(text):
        return gatehouse.now() - timedelta(seconds=seconds)
    if (day := DAYS.get(text.casefold())) is None:
        raise BadFilter(f"since:{text[:40]} is no duration; write since:24h, since:7d or since:yesterday.")
    zone = zone_of((await gatehouse.access.person(caller.user)).tz)
    then = gatehouse.now().astimezone(zone) - timedelta(days=day[0])
    return then.replace(hour=day[1], minute=0, second=0, microsecond=0)
