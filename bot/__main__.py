"""The entry point of ``python -m bot``: `serve` without the library of the command line, everything else through it."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:  # loading typer takes a tenth of a start
        from bot.server.start import serve as main
    else:
        from bot.command_line import app as main
    main()
