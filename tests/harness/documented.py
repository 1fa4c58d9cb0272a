"""The commands that the docs tell people to type, as the docs have them, and a clone in which they can be typed."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from tests.harness.programs import ROOT, run_command

PAGES: Final = ("README.md", "CONTRIBUTING.md", ".github/SECURITY.md", "docs/**/*.md")
HEADING: Final = re.compile(r"^#+ (.+)$", re.MULTILINE)
FENCED: Final = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL
)
SHELLS: Final = frozenset({"sh", "bash", "shell", "console", "zsh"})
OF_A_CLONE: Final = (
    "bot",
    "handlers",
    "sandbox",
    "docs",
    "requirements",
    "README.md",
    "LICENSE",
    "pyproject.toml",
    ".env.example",
)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading of a page, and the commands in the shell blocks under it, in their order."""

    page: str
    heading: str
    commands: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page}: {self.heading}"


def pages() -> dict[str, str]:
    """The text of every page that tells people what to do, by its path in this tree."""
    files = (file for pattern in PAGES for file in sorted(ROOT.glob(pattern)))
    return {str(file.relative_to(ROOT)): file.read_text() for file in files}


def sections() -> tuple[Section, ...]:
    """Every section that has a command in a shell block."""
    return tuple(section for page, text in pages().items() for section in _sections(page, text) if section.commands)


def section(page: str, heading: str) -> Section:
    (found,) = (each for each in sections() if (each.page, each.heading) == (page, heading))
    return found


def _sections(page: str, text: str) -> Iterator[Section]:
    fences = [(match.start(), match.end()) for match in FENCED.finditer(text)]
    heads = [match for match in HEADING.finditer(text) if not any(start < match.start() < end for start, end in fences)]
    for head, end in pairwise([*heads, None]):
        assert head is not None
        part = text[head.end() : end.start() if end else None]
        yield Section(page, head[1], tuple(_commands(part)))


def _commands(text: str) -> Iterator[str]:
    for block in FENCED.finditer(text):
        if block["language"] in SHELLS:
            assert block["language"] == "sh", f"write ```sh: {block[0]}"
            lines = textwrap.dedent(block["text"]).replace("\\\n", " ").splitlines()
            yield from (line for line in lines if shlex.split(line, comments=True))


def words(command: str) -> list[str]:
    """A command as a shell takes it apart, without variables before it and a comment behind it."""
    found = shlex.split(command, comments=True)
    while re.match(r"[A-Z_]+=", found[0]):
        del found[0]
    return found


def clone(folder: Path) -> None:
    """Make *folder* a clone of this tree, as far as operators need it."""
    folder.mkdir()
    for name in OF_A_CLONE:
        (folder / name).symlink_to(ROOT / name)


def write_settings(folder: Path, values: Mapping[str, str]) -> None:
    """Fill in the .env of a clone as a person does: each variable on its line, also where it has a # before it."""
    file = folder / ".env"
    lines = file.read_text().splitlines()
    for name, value in values.items():
        (at,) = (number for number, line in enumerate(lines) if line.removeprefix("# ").startswith(f"{name}="))
        lines[at] = f"{name}={value}"
    file.write_text("\n".join(lines))


async def run_in_shell(command: str, folder: Path, **environment: str) -> tuple[int, str]:
    """Run a command of the docs in a shell in *folder*; exit status, and all that it says."""
    code, out, err = await run_command("sh", "-c", command, folder=folder, **{"HOME": str(folder)} | environment)
    return code, out + err
