"""Tables in the docs are those of the code."""

from __future__ import annotations

from pathlib import Path

from sandbox.services.faults import KINDS
from sandbox.services.switches import CHOICES


def test_every_switch_and_fault_is_documented() -> None:
    text = (Path(__file__).parent.parent / "docs" / "services.md").read_text()

    for name, (choices, about) in CHOICES.items():
        assert f"| `{name}` | {', '.join(f'`{choice}`' for choice in choices)} | {about} |" in text
    for name, about in KINDS.items():
        assert f"| `{name}` | {about} |" in text
