"""Traces of a request from Slack, from its delivery through calls of the services to the post of its card.

They need the extra ``gatehouse[traces]`` and OTEL_EXPORTER_OTLP_ENDPOINT; without either, all of this does nothing. The
value of an attribute is a word of ours, a method, a status or the id of a change: never what somebody typed, an email, a
URL or a secret. So an error is named by its type alone. What a person decides, a worker may execute and another one post:
those are traces of their own, which the id of the change links.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import structlog

from bot import __version__

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor
    from opentelemetry.trace import Tracer

log = structlog.get_logger(__name__)

TRACES_PATH: Final = "/v1/traces"
EXPORT_TIMEOUT_SECONDS: Final = 5.0
"""How long a collector may take to accept a batch of spans. Shutdown waits for it once more, after all work is done."""
_tracers: Final[list[Tracer]] = []
"""The active tracer, at most one; empty where traces are not collected."""


@contextmanager
def exported(endpoint: str) -> Iterator[None]:
    """Send spans to the OTLP collector at *endpoint* until the block ends; do nothing where that is empty."""
    if not endpoint:
        yield
        return
    try:
        import requests  # noqa: PLC0415
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError:
        log.warning("traces_not_installed", install="pip install gatehouse[traces]")
        yield
        return
    with requests.Session() as straight:
        straight.trust_env = False  # ignore proxies of the environment, as all other clients do
        exporter = OTLPSpanExporter(
            endpoint.rstrip("/") + TRACES_PATH, session=straight, timeout=EXPORT_TIMEOUT_SECONDS
        )
        with collected(BatchSpanProcessor(exporter)):
            yield


@contextmanager
def collected(processor: SpanProcessor) -> Iterator[None]:
    """Hand every span that ends to *processor* until the block ends; what it holds is flushed then."""
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415

    resource = Resource.create({"service.name": "gatehouse", "service.version": __version__})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(processor)
    _tracers.append(provider.get_tracer("gatehouse", __version__))
    try:
        yield
    finally:
        _tracers.pop()
        provider.shutdown()


@contextmanager
def span(name: str, **attributes: str | int) -> Iterator[None]:
    """Record the block as a span called *name*, in the current trace; does nothing where traces are not collected."""
    if not _tracers:
        yield
        return
    from opentelemetry.trace import StatusCode  # noqa: PLC0415

    with _tracers[-1].start_as_current_span(
        name, attributes=_add_prefix(attributes), record_exception=False, set_status_on_exception=False
    ) as current:
        try:
            yield
        except Exception as error:
            current.set_attribute("error.type", type(error).__name__)
            current.set_status(StatusCode.ERROR)
            raise


def note(**attributes: str | int) -> None:
    """Add *attributes* to the current span."""
    if _tracers:
        from opentelemetry.trace import get_current_span  # noqa: PLC0415

        get_current_span().set_attributes(_add_prefix(attributes))


def with_trace(_: object, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Add the id of the current trace to a log event, in the form that collectors look for (a structlog processor)."""
    if _tracers:
        from opentelemetry.trace import format_trace_id, get_current_span  # noqa: PLC0415

        if (context := get_current_span().get_span_context()).is_valid:
            event["trace_id"] = format_trace_id(context.trace_id)
    return event


def _add_prefix(attributes: dict[str, str | int]) -> dict[str, str | int]:
    return {f"gatehouse.{name}": value for name, value in attributes.items()}
