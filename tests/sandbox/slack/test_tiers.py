"""Every method has a tier, so that no new one is called more often here than Slack would let it."""

from __future__ import annotations

import time

from sandbox.gatehouse import SHOP
from sandbox.slack.faults import SlackFaults
from sandbox.slack.ratelimits import SPECIAL, TIERS, RateLimits
from sandbox.slack.sockets import Sockets
from sandbox.slack.state import State
from sandbox.slack.webapi import AppToken, WebApi


def test_every_method_has_a_tier_or_a_limit_of_its_own() -> None:
    state = State(SHOP)
    api = WebApi(
        state,
        token="xoxb-1",
        scopes=(),
        faults=SlackFaults(),
        sockets=Sockets(SHOP.app.id),
        app=AppToken("xapp-1", ()),
        limits=RateLimits(time.time),
        home_tabs={},
        now=time.time,
    )

    assert TIERS.keys() | SPECIAL == api._methods.keys() | {"apps.connections.open"}
    assert not TIERS.keys() & SPECIAL
