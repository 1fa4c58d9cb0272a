"""The entry point of ``python -m bot`` and ``gatehouse``: `serve` without the library of the command line, the rest with it."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command that the arguments of this process name."""
    try:
        if sys.argv[1:] == ["serve"]:  # loading the command line takes a part of a start
            from bot.server.start import serve as run  # noqa: PLC0415
        else:
            from bot.command_line import app as run  # noqa: PLC0415
        run()
    except KeyboardInterrupt:  # also in the middle of an import: a start takes a second
        sys.exit(130)  # what shells expect of a program that Ctrl-C has stopped


if __name__ == "__main__":
    main()
