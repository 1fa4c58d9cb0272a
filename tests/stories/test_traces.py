"""What a collector of traces gets to know of a request: its way through Gatehouse, in words of ours alone."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from bot.changes.model.change import Change
from bot.server.manifest import document
from bot.tracing import collected
from sandbox.demo import Sandbox
from sandbox.gatehouse import WORKSPACES
from sandbox.services.running import running_services
from sandbox.slack.running import running_slack
from sandbox.slack.story import Person
from tests.conftest import OPS, SUPPORT, until
from tests.harness.colleague import Colleague
from tests.harness.programs import run_command, serving
from tests.harness.scraping import collecting

OLD: Final = "Redirect_x1old"
ANNA: Final = "anna.berg@example.com"
REASON: Final = "canary words of a person"
NOBODY: Final = "http://127.0.0.1:9"
"""A proxy that is not there."""
OURS: Final = re.compile(r"[A-Za-z0-9_.]+( [a-z0-9_.-]+)?|[0-9a-f]{32}")
"""A word or two, or an id of a change."""


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    """Every span that ends, in this order."""
    exporter = InMemorySpanExporter()
    with collected(SimpleSpanProcessor(exporter)):
        yield exporter


def of(ended: Sequence[ReadableSpan], name: str, **attributes: str) -> list[ReadableSpan]:
    wanted = {f"gatehouse.{key}": value for key, value in attributes.items()}.items()
    return [one for one in ended if one.name == name and wanted <= (one.attributes or {}).items()]


def above(one: ReadableSpan, ended: Sequence[ReadableSpan]) -> list[str]:
    """The names of the spans that *one* is part of, the nearest first; all of them are of one trace."""
    by_id = {each.context.span_id: each for each in ended}
    names = []
    while one.parent is not None:
        assert by_id[one.parent.span_id].context.trace_id == one.context.trace_id
        one = by_id[one.parent.span_id]
        names.append(one.name)
    return names


async def whole(spans: InMemorySpanExporter) -> Sequence[ReadableSpan]:
    """Every span, once those are there that the others are part of: a request may still be at work when it is answered."""

    def is_whole() -> bool:
        ended = spans.get_finished_spans()
        ids = {one.context.span_id for one in ended}
        return all(one.parent is None or one.parent.span_id in ids for one in ended) and bool(of(ended, "post"))

    await until(is_whole)
    return spans.get_finished_spans()


async def deleted(workspace: Sandbox, alice: Colleague, cara: Colleague) -> Change:
    """A rule that Alice asked to delete, and Cara approved."""
    card = await alice.says(f"/rules delete {OLD} because {REASON}")
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    return await alice.change_of(await alice.sees_change(of=OLD))


async def test_an_approval_its_execution_and_its_card_are_linked_by_the_change(
    spans: InMemorySpanExporter, workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    change = await deleted(workspace, alice, cara)

    ended = await whole(spans)
    (asked,) = of(ended, "handle", command="rules delete", outcome="answered", change=change.id)
    (approved,) = of(ended, "handle", command="click decide.approve", change=change.id, decision="approve")
    (executed,) = of(ended, "execute", change=change.id, operation="rule.delete")
    (sent,) = of(ended, "service call", service="rules", method="DELETE", status="2xx")
    assert above(asked, ended) == ["slack delivery"]
    assert above(sent, ended) == ["execute", "handle", "slack delivery"]
    assert above(executed, ended) == above(sent, ended)[1:]
    assert executed.context.trace_id == approved.context.trace_id != asked.context.trace_id
    assert [one for one in of(ended, "slack call", method="chat.update", outcome="ok") if above(one, ended) == ["post"]]
    assert of(ended, "post", change=change.id, purpose="card")


async def test_no_span_holds_what_somebody_typed_an_email_a_url_or_a_secret(
    spans: InMemorySpanExporter, workspace: Sandbox, alice: Colleague, bob: Colleague, cara: Colleague
) -> None:
    await deleted(workspace, alice, cara)
    await bob.says(f"/members grant {ANNA} vip because {REASON}")
    await bob.says(f"/members why {ANNA} vip")
    await bob.says(f"/members show nobody@example.com {REASON}")
    await alice.says("/rules which https://shop.example.com/canary?token=canary")
    for fault in ("500", "cut_before"):
        workspace.services.rules.stage.faults.add(fault, method="GET", times=3)
        await alice.says(f"/rules list {REASON}")

    ended = await whole(spans)
    assert {one.name for one in ended} == {
        "slack delivery", "handle", "service call", "slack call", "execute", "post"
    }  # fmt: skip
    for one in ended:
        assert not one.events
        assert one.status.description is None
        for value in (one.attributes or {}).values():
            assert OURS.fullmatch(str(value)), one.to_json()
    said = "\n".join(one.to_json() for one in ended)
    assert not [word for word in ("canary", "@", "anna", "://", "xoxb", "nobody") if word in said]
    assert of(ended, "service call", status="5xx")
    assert {(one.attributes or {})["error.type"] for one in of(ended, "service call", status="none")} == {
        "RemoteProtocolError"
    }


@pytest.mark.slow
@pytest.mark.threat("E2")
async def test_a_collector_gets_the_traces_and_the_log_names_them(tmp_path: Path) -> None:
    async with (
        collecting() as (endpoint, bodies),
        running_services() as services,
        running_slack(document("http://127.0.0.1"), WORKSPACES) as slack,
    ):
        variables = {**endpoint, "LOG_FORMAT": "json", "HTTP_PROXY": NOBODY, "http_proxy": NOBODY}
        async with serving(slack, services, tmp_path, **variables) as (_, log):
            bob = Person(slack, "U0BOB0001", SUPPORT)
            services.members.stage.faults.add("500", method="GET", times=9)
            await bob.says(f"/members why {ANNA} vip")
            alice = Person(slack, "U0ALICE01", OPS)
            await alice.says("/rules list")
        received = [ExportTraceServiceRequest.FromString(body) for body in bodies]
        found = [
            one for each in received for two in each.resource_spans for three in two.scope_spans for one in three.spans
        ]

    traces = {one.trace_id.hex() for one in found if one.name == "handle"}
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    logged = {line["trace_id"] for line in lines if "trace_id" in line}
    resource = {each.key: each.value.string_value for each in received[0].resource_spans[0].resource.attributes}
    assert resource["service.name"] == "gatehouse"
    assert len(traces) == 2
    assert logged
    assert logged <= traces


@pytest.mark.parametrize(
    ("before", "endpoint", "said"),
    [("", "", ""), ("sys.modules['opentelemetry'] = None", "http://127.0.0.1:4318", "traces_not_installed")],
)
async def test_without_an_endpoint_or_the_extra_nothing_of_it_is_there(before: str, endpoint: str, said: str) -> None:
    program = f"""
import sys
{before}
import bot.server.app
from bot import tracing
with tracing.exported({endpoint!r}):
    with tracing.span("handle", kind="command"):
        tracing.note(outcome="answered")
print([name for name in sys.modules if name.startswith("opentelemetry.")], tracing.with_trace(None, "", {{"event": "e"}}))
"""
    code, out, _ = await run_command(sys.executable, "-c", program)

    *logged, last = out.splitlines()
    assert code == 0
    assert last == "[] {'event': 'e'}"
    assert (said in "".join(logged)) is True
