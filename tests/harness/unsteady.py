"""Tell a test that fails now and then from a broken one.

``lane``: run pytest, and on CI what failed once more, alone: what fails again fails the lane. ``repeat``: run it over and over in
random order beside busy processes, until it is told to stop.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Final

MAX_UNSTEADY: Final = 2
"""How many tests of all lanes may fail in a lane and pass alone."""
MAX_AGAIN: Final = 25
"""More failures than that are no accident: they aren't tried again."""
BUSY: Final = 2
FAILED: Final = 1
"""pytest's exit code where tests failed, and nothing worse happened."""


def run(arguments: Sequence[str], cache: str) -> tuple[int, list[str]]:
    """Run pytest; return its exit code, and the ids of what failed."""
    command = [sys.executable, "-m", "pytest", "-o", f"cache_dir={cache}", *arguments]
    code = subprocess.run(command, check=False).returncode  # noqa: S603  pytest, with our own arguments
    kept = Path(cache, "v", "cache", "lastfailed")
    # Between workers, the id of a test that has a group ends in it.
    failed = [re.sub(r"@[\w-]+$", "", each) for each in json.loads(kept.read_text())] if kept.exists() else []
    kept.unlink(missing_ok=True)
    return code, failed


def lane(arguments: Sequence[str], known: Path) -> int:
    """Return the exit code of a lane; the unsteady tests are added to the file *known*, which lanes may share."""
    with tempfile.TemporaryDirectory() as cache:
        code, failed = run(arguments, cache)
        if code != FAILED or not os.environ.get("CI") or not 0 < len(failed) <= MAX_AGAIN:
            return code
        print(f"\n{len(failed)} failed. Each once more, alone:", flush=True)
        options = [each for each in arguments if "::" not in each and not each.startswith("tests")]
        if any(run([*options, "-n", "0", "-m", "", each], cache)[0] for each in failed):
            return FAILED
    with known.open("a") as file:
        file.writelines(f"unsteady: {each}\n" for each in failed)
    unsteady = known.read_text()
    print(f"\nFailed, and passed alone:\n{unsteady}", flush=True)
    return FAILED if unsteady.count("\n") > MAX_UNSTEADY else 0


def repeat(arguments: Sequence[str]) -> None:
    """Run pytest until somebody stops it; print after each run what didn't pass, and the seed of its order."""
    with tempfile.TemporaryDirectory() as cache, busy_processes():
        for number in count(1):
            seed = random.randrange(2**32)
            code, failed = run([*arguments, "-q", "--no-header", f"--randomly-seed={seed}"], cache)
            print(f"\nRun {number}, --randomly-seed={seed}: exit code {code}", *failed, sep="\n  ", flush=True)


@contextmanager
def busy_processes() -> Iterator[None]:
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "lane":
        with tempfile.TemporaryDirectory() as folder:
            raise SystemExit(lane(rest, Path(os.environ.get("UNSTEADY") or Path(folder, "unsteady"))))
    try:
        repeat(rest)
    except KeyboardInterrupt:
        raise SystemExit(0) from None
