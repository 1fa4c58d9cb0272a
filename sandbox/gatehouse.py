"""The people of Gatehouse's demo and tests, by name, as read from ``gatehouse.toml``."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sandbox.slack.configuration import load_workspaces

FILE: Final = Path(__file__).with_suffix(".toml")
WORKSPACES: Final = load_workspaces(FILE)
(SHOP,) = WORKSPACES
BOT: Final = SHOP.bot
ALICE, BOB, CARA, DAN, ERIN, FRANK = SHOP.people
STAFF: Final = (ALICE.id, BOB.id, CARA.id)
