"""What tests of the shared client begin with: both services, and how they may differ."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

import pytest

from bot.clients.http import Service
from bot.clients.rules import RulesClient
from sandbox.services.running import RULES_KEY, Services, running_services
from sandbox.services.switches import CHOICES

EVERY_SWITCH: Final = [(name, choice) for name, (choices, _) in CHOICES.items() for choice in choices]


@pytest.fixture
async def services() -> AsyncIterator[Services]:
    async with running_services() as both:
        yield both


@pytest.fixture
async def rules(services: Services) -> AsyncIterator[RulesClient]:
    async with Service("rules", services.rules_url, {"x-api-key": RULES_KEY}) as service:
        yield RulesClient(service)
