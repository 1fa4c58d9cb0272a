"""SQL that is compiled once for all stores of a test process, each of which would compile the same statements again."""

from __future__ import annotations

from typing import Any, Final

from bot.store.engine import Store


class Compiled(dict[Any, Any]):
    """Statements by the kind of their database, where SQLAlchemy has them by the engine that they were compiled for."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get((type(key[0]), *key[1:]), default)

    def __setitem__(self, key: Any, statement: Any) -> None:
        super().__setitem__((type(key[0]), *key[1:]), statement)


COMPILED: Final = Compiled()


def share_statements(store: Store) -> None:
    """Have *store* take statements that others of its kind have compiled, and leave its own to them."""
    for engine in (store.session.reader, store.session.writer):
        engine.sync_engine.update_execution_options(compiled_cache=COMPILED)
