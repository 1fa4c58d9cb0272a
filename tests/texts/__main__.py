"""Print everything that people read as one page: ``make texts``."""

from __future__ import annotations

import importlib
import pkgutil

import tests.texts


def main() -> None:
    for room in sorted(one.name for one in pkgutil.iter_modules(tests.texts.__path__)):
        module = importlib.import_module(f"tests.texts.{room}") if not room.startswith(("_", "test_")) else None
        if module is None:
            continue
        print(f"\n{room.replace('_', ' ').upper()}\n{'=' * 100}")
        for title, text in tests.texts.texts(module.samples()).items():
            print(f"\n── {title} {'─' * max(3, 96 - len(title))}\n{text}")


if __name__ == "__main__":
    main()
