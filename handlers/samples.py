"""``/rules samples``: the addresses of a channel, and what a change would do to them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from typing import Final

from bot.clients.errors import ClientError
from bot.domain.address import Address, NoAddress, is_address
from bot.domain.impact import impact
from bot.domain.policy import SETTINGS
from bot.domain.rule import Rule, RuleDraft
from bot.gatehouse import Gatehouse
from bot.store.samples import MOST
from handlers.check import as_rule
from handlers.commands.rules import RulesSamples
from handlers.grouping import groups_of
from handlers.reply import Caller, Private, Reply
from handlers.routes import handles
from handlers.views import impact as views
from handlers.views.parts import code

URL: Final = re.compile(r"https?://[^\s<>|\"]+")


@handles(RulesSamples)
async def samples(command: RulesSamples, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """The URLs of a channel. Changing them is changing what the channel has set."""
    said = ""
    if command.action in {"add", "remove"}:
        await gatehouse.access.require(SETTINGS, caller.user, caller.channel)
    if command.action == "add":
        said = await _add(command, caller, gatehouse)
    elif command.action == "remove":
        url = Address.of(command.urls[0]).full
        gone = await gatehouse.store.samples.remove(caller.channel, url)
        said = f"{code(url)} is {'removed' if gone else 'not among them'}."
    urls = await gatehouse.store.samples.of(caller.channel)
    return Private(views.samples(urls, said=said, actions=not caller.public))


async def _add(command: RulesSamples, caller: Caller, gatehouse: Gatehouse) -> str:
    """Keep the addresses, as a browser sends them; raises NoAddress before any is kept."""
    urls = [Address.of(text).full for text in command.urls]
    new = await gatehouse.store.samples.add(caller.channel, urls)
    if new:
        return f"Added {', '.join(code(url, 120) for url in new[:5])}{' and more' if len(new) > 5 else ''}."
    return f"Nothing added: they are there already, or there are {MOST}, which is as many as a channel keeps."


async def preview(
    gatehouse: Gatehouse, caller: Caller, before: Rule | None, after: RuleDraft | None, said: Iterable[str | None] = ()
) -> tuple[str, ...]:
    """What the change does to the addresses of the channel and to those in what was *said*, in plain lines."""
    written = [url for text in said for url in URL.findall(text or "") if is_address(url)]
    texts = [*await gatehouse.store.samples.of(caller.channel), *written]
    addresses = {address.full: address for text in texts if (address := _address(text)) is not None}
    if not addresses:
        return ()
    try:
        rules = (await gatehouse.rules.recent()).whole()
    except ClientError:
        return ()
    made = None if after is None else as_rule(before, after)
    groups = await groups_of([rule for rule in (*rules, made) if rule is not None], gatehouse)
    return views.lines(await asyncio.to_thread(impact, rules, before, made, list(addresses.values()), groups))


def _address(text: str) -> Address | None:
    try:
        return Address.of(text)
    except NoAddress:
        return None
