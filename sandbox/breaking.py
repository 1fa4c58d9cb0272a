"""The stand-in services on the page of the local Slack: their calls in its inspector, their faults in its panel."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

from sandbox.services.answers import Call, Stage
from sandbox.services.faults import KINDS
from sandbox.services.running import Services
from sandbox.services.switches import CHOICES
from sandbox.slack.running import LocalSlack
from sandbox.slack.troubles import ALWAYS, Scene, Trouble, fault_row

WRITES: Final = "POST|PUT|PATCH|DELETE"
CALLS: Final = {"": "any call", "GET": "reads", WRITES: "writes"}
SCENES: Final = (
    Scene(
        "down",
        "Rules service is down",
        "Try /rules list, then /gatehouse status: you see what fails and that the rest still works.",
        {"rules": {"choice": "cut_before", "times": str(ALWAYS)}},
    ),
    Scene(
        "lost",
        "Answer lost after the write",
        "Try /rules off Help centre for 2h: Gatehouse reads the rule back instead of sending the change twice.",
        {"rules": {"choice": "cut_after", "which": WRITES}},
    ),
    Scene(
        "slow",
        "Slack is slow",
        "Everything is acknowledged a second late, and comes twice. Try /rules off Login for 2h: it is done once.",
        {"ack": {"choice": "slow"}, "copies": {"choice": "twice"}},
    ),
)
MAX_SHOWN: Final = 20_000
"""Bytes of an answer that the inspector keeps whole."""


def connect(slack: LocalSlack, services: Services) -> None:
    """Show the calls to *services* on the page of *slack*, and let it play their faults and switches."""
    stages = {"rules": services.rules.stage, "members": services.members.stage}
    for name, stage in stages.items():
        _note_calls(slack, stage)
        slack.troubles.rows.append(_service_fault_row(name, stage))
    slack.troubles.scenes.extend(SCENES)
    slack.troubles.rows.extend(_switch_row(name, list(stages.values())) for name in CHOICES)


def _note_calls(slack: LocalSlack, stage: Stage) -> None:
    def note_call(call: Call, status: object, ms: float, body: bytes) -> None:
        slack.state.note("bot_to_service", f"{call.method} {call.path}", status, ms, call.body, _body_to_show(body))

    stage.heard = note_call


def _body_to_show(body: bytes) -> Any:
    if len(body) <= MAX_SHOWN:
        try:
            return json.loads(body)
        except ValueError:
            pass
    return body[:MAX_SHOWN].decode("utf-8", "replace")


def _service_fault_row(name: str, stage: Stage) -> Trouble:
    def add(kind: str, method: str, times: int) -> None:
        stage.faults.add(kind, method=method or ".*", times=times, value=2)

    about = "The service refuses, fails, is slow, or its answer is lost."
    return fault_row(name, f"The {name} service", about, KINDS, CALLS, stage.faults.waiting, add)


def _switch_row(name: str, stages: list[Stage]) -> Trouble:
    """Return the row for a switch of both services, which is set for both at once."""
    values, about = CHOICES[name]

    def now() -> str:
        return str(getattr(stages[0].switches, name))

    def choose(choice: str) -> None:
        for stage in stages:
            stage.switches = replace(stage.switches, **{name: choice})

    label = name.replace("_", " ").capitalize()
    choices = {value: value.replace("_", " ") for value in values}
    return Trouble(name, "What the specifications leave open", label, about, choices, now, choose)
