"""``python -m bot``: the command line."""

from __future__ import annotations

from bot.command_line import app

if __name__ == "__main__":
    app()
