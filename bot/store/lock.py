"""One process a SQLite file: a second one would be harmless, and slow, and is nearly always a mistake."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bot.store.errors import StoreError
from bot.store.session import async_url, private

try:
    import fcntl
except ImportError:  # pragma: no cover  no such locks on Windows: the store's own claims have to do there
    fcntl = None  # type: ignore[assignment]


@contextmanager
def alone(database_url: str) -> Iterator[bool]:
    """Hold the SQLite file of *database_url* for this process; raises StoreError where another one holds it.

    The system lets go of it when the process ends, however it ends. PostgreSQL is made for several: nothing is held. Yields
    whether it is held, and so every lease in it a dead process's.
    """
    url = async_url(database_url)
    if not hasattr(fcntl, "flock") or url.get_backend_name() != "sqlite" or url.database in {None, "", ":memory:"}:
        yield False
        return
    path = Path(f"{url.database}.lock")
    with ExitStack() as stack:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            held = stack.enter_context(open(path, "w", opener=private))
        except OSError as error:
            raise StoreError(f"{path} can't be opened: {error.strerror}") from error
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StoreError(
                f"another Gatehouse uses {url.database}. Stop it first, or set DATABASE_URL to PostgreSQL, which "
                "several may share."
            ) from error
        yield True
