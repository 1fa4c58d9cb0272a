"""Tables in the docs are those of the code."""

from __future__ import annotations

from pathlib import Path

from bot.domain.change import Kind
from bot.domain.policy import OPERATIONS
from bot.policy_file import read_policy
from sandbox.services.faults import KINDS
from sandbox.services.switches import CHOICES

ROOT = Path(__file__).parent.parent


def test_the_policy_in_the_docs_is_one(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "operating.md").read_text()
    path = tmp_path / "policy.toml"
    path.write_text(text.partition("```toml\n")[2].partition("```")[0])

    policy = read_policy(str(path))

    assert policy.guard_for(Kind.RULE_DELETE, None).approvals == 2
    for operation in OPERATIONS:
        assert f"`{operation}`" in text


def test_every_switch_and_fault_is_documented() -> None:
    text = (ROOT / "docs" / "services.md").read_text()

    for name, (choices, about) in CHOICES.items():
        assert f"| `{name}` | {', '.join(f'`{choice}`' for choice in choices)} | {about} |" in text
    for name, about in KINDS.items():
        assert f"| `{name}` | {about} |" in text
