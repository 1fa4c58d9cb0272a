"""Define every metric: its name, its help text and its labels. `/metrics` prints them, docs/monitoring.md lists them.

The value of a label is one of a few words of our own. It is never what somebody typed, nor what a service or Slack says:
`/metrics` may be read by people who may not read channels, and each new value adds a series that is never removed.
"""

from __future__ import annotations

import time
from typing import Final

from prometheus_client import Counter, Gauge, Histogram, Info, disable_created_metrics

from bot import __version__

disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series for each first one, which says no more than when the process started

INFO: Final = Info("gatehouse", "The release of Gatehouse that runs, as the label `version`")
INFO.info({"version": __version__})

ACCEPTED: Final = Counter("gatehouse_accepted_requests_total", "Requests to /slack/events that Slack signed")
REJECTED: Final = Counter(
    "gatehouse_rejected_requests_total", "Requests to /slack/events refused before they were read further", ["why"]
)
ACKNOWLEDGEMENTS: Final = Histogram(
    "gatehouse_acknowledgement_seconds",
    "From a request of Slack, over HTTP or Socket Mode, to its acknowledgement; Slack waits for 3 seconds",
    ["kind"],
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 1.5, 2, 2.5, 3, 5),
)
COMMANDS: Final = Histogram(
    "gatehouse_command_seconds",
    "From an acknowledged request to its answer. `command`: such as `rules list`, a button such as `click decide.approve`,"
    " or the kind of a request in which no command was read. `outcome`: `answered`; `refused` to the person; `trouble` with"
    " a service, Slack or the database; `failed` by a fault of Gatehouse",
    ["command", "outcome"],
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
NOT_UNDERSTOOD: Final = Counter(
    "gatehouse_not_understood_total",
    "Texts that people typed and Gatehouse could make nothing of. `error`: what they were answered with, such as `NotOne`",
    ["error"],
)
SERVICE_CALLS: Final = Histogram(
    "gatehouse_service_call_seconds",
    "Calls of the rules and the membership service, each try of its own. `status`: `2xx` to `5xx`, `none` without an answer",
    ["service", "method", "status"],
    buckets=(0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60),
)
HELD_REQUESTS: Final = Counter(
    "gatehouse_held_requests_total",
    "Requests that waited for their turn at a service, because it asked for a pause, or that got none"
    " in time. `priority`: `read`, `bulk` or `change`, with what a change reads. `outcome`: `waited` or `refused`",
    ["service", "priority", "outcome"],
)
SLACK_CALLS: Final = Histogram(
    "gatehouse_slack_call_seconds",
    "Calls of Slack's Web API, with their retries. `outcome`: `ok`, `refused` or `unreachable`",
    ["method", "outcome"],
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15),
)
SLACK_RATE_LIMITS: Final = Counter("gatehouse_slack_rate_limits_total", "Answers 429 of Slack: too many requests")
DIRECTORY_FAILURES: Final = Counter(
    "gatehouse_directory_failures_total",
    "Times that Slack did not say who somebody is (`person`), what a channel is (`place`), who is in it (`people`) or in a"
    " user group (`group`); people for whom it was needed could do nothing",
    ["what"],
)
DELIVERED: Final = Counter("gatehouse_delivered_messages_total", "Messages and edits that Slack took")
UNDELIVERED: Final = Counter("gatehouse_undelivered_messages_total", "Messages that Slack never took, given up")
ENDED_CHANGES: Final = Counter(
    "gatehouse_ended_changes_total",
    "Changes that ended, or became `unknown`. `kind`: an operation, or `bulk` for a bulk change, whose items count"
    " by themselves, too",
    ["state", "kind"],
)
UNREADABLE_ROWS: Final = Counter(
    "gatehouse_unreadable_rows_total", "Records of the database that could not be read, each counted once by a process"
)
LOOP_LAG: Final = Histogram(
    "gatehouse_event_loop_lag_seconds",
    "By how much a task that was due ran late, measured once a second",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
)

READY: Final = Gauge("gatehouse_ready", "1 where a part is ready as /readyz says, 0 where it is not", ["part"])
POLICY_BROKEN: Final = Gauge(
    "gatehouse_policy_broken", "1 while the policy file is wrong and its older version stays in use"
)
BACKLOG: Final = Gauge(
    "gatehouse_backlog",
    "What is open, as the database has it. `what`: changes that wait for a decision (`proposed`), for their time (`planned`)"
    " or for their service (`approved`), are under way (`applying`) or not confirmed yet (`unknown`);"
    " starts, reverts and expiries whose time has come (`timer`); messages that Slack is to get"
    " now (`message`), those of them that it did not take so far (`late`) and those that are not tried again before a"
    " restart (`given_up`); stored requests of Slack that are not done (`request`)",
    ["what"],
)
OLDEST: Final = Gauge(
    "gatehouse_backlog_oldest_seconds",
    "Age of the oldest change in that state, or request; of a `timer` and of messages, for how long the most overdue has been"
    " due",
    ["what"],
)


class CommandTimer:
    """Measures how long a request takes.

    *command*: the label that it is counted under, one of our own words; set once it is known. *began*: by the monotonic clock.
    """

    def __init__(self, command: str) -> None:
        self.command = command
        self.began = time.monotonic()

    def end(self, outcome: str) -> None:
        COMMANDS.labels(self.command, outcome).observe(time.monotonic() - self.began)
