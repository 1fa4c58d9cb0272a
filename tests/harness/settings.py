"""The table of settings in docs/settings.md, from their definitions: ``python -m tests.harness.settings`` writes it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bot.settings import Settings
from tests.harness.threats import put_between

PAGE: Final = Path(__file__).parent.parent.parent / "docs" / "settings.md"
BEGIN: Final = "<!-- made by `make commands` from bot/settings.py; don't edit -->"
END: Final = "<!-- the end of the table of settings -->"


def make_table() -> str:
    """Return the name, the default and the meaning of every setting as Markdown, those that must be set first."""
    required, others = [], []
    for name, field in Settings.model_fields.items():
        row = f"| `{name.upper()}` | {{}} | {field.description} |"
        if (
            field.is_required() or field.validate_default
        ):  # the default of SLACK_SIGNING_SECRET is for Socket Mode alone
            required.append(row.format("_required_"))
        else:
            others.append(
                row.format("" if field.default_factory or field.default in {None, ""} else f"`{field.default}`")
            )
    return "\n".join(["| variable | default | what it is |", "|---|---|---|", *required, *others])


def with_table(page: str) -> str:
    """Return *page* with the table of today."""
    return put_between(page, BEGIN, END, f"{make_table()}\n")


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text()))
