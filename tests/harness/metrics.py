"""The table of metrics in docs/monitoring.md, from their definitions: ``python -m tests.harness.metrics`` writes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from prometheus_client import Metric
from prometheus_client.metrics import MetricWrapperBase

from bot import metrics
from tests.harness.threats import put_between

PAGE: Final = Path(__file__).parent.parent.parent / "docs" / "monitoring.md"
BEGIN: Final = "<!-- made by `make commands` from bot/metrics.py; don't edit -->"
END: Final = "<!-- the end of the table of metrics -->"
SAMPLES: Final = {
    "counter": ("_total",),
    "gauge": ("",),
    "histogram": ("_bucket", "_count", "_sum"),
    "info": ("_info",),
}
"""What follows the name of a metric of each type in the names of its samples."""


def describe_metrics() -> Iterator[tuple[Metric, tuple[str, ...]]]:
    """Every metric of Gatehouse, with the names of its labels."""
    for each in vars(metrics).values():
        if isinstance(each, MetricWrapperBase):
            (metric,) = each.describe()
            yield metric, tuple(each._labelnames)


def samples() -> dict[str, set[str]]:
    """The names of all samples that `/metrics` may have of Gatehouse, and which labels each of them has."""
    found = {}
    for metric, labels in describe_metrics():
        for suffix in SAMPLES[metric.type]:
            found[metric.name + suffix] = {*labels, *(["le"] if suffix == "_bucket" else [])}
    return found


def make_table() -> str:
    """Return the name, the type, the labels and the meaning of every metric as Markdown."""
    rows = ["| metric | type | labels | what it says |", "|---|---|---|---|"]
    for metric, labels in describe_metrics():
        name = metric.name + SAMPLES[metric.type][0].removesuffix("_bucket")
        rows.append(
            f"| `{name}` | {metric.type} | {', '.join(f'`{label}`' for label in labels)} | {metric.documentation}. |"
        )
    return "\n".join(rows)


def with_table(page: str) -> str:
    """Return *page* with the table of today."""
    return put_between(page, BEGIN, END, f"{make_table()}\n")


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text()))
