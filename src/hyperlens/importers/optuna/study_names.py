"""The names of the studies that a storage holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

from hyperlens.importers.files import start_of
from hyperlens.importers.optuna.journal import studies_in
from hyperlens.importers.optuna.sqlite_snapshot import open_read_only, snapshot
from hyperlens.runs import databases

_NAMES = "SELECT study_name FROM studies ORDER BY study_id"

Ask = Callable[[str], Iterable[Any]]
Answer = TypeVar("Answer")


def studies(source: str) -> tuple[str, ...]:
    """Names in the order of creation; none where the source is no storage, or cannot be read yet."""
    names = asked(source, lambda ask: tuple(str(name) for (name,) in ask(_NAMES)))
    if names is not None or "://" in source:
        return names or ()
    path = Path(source).expanduser()
    return studies_in(path) if path.is_file() and b'"op_code"' in start_of(path) else ()


def asked(source: str, question: Callable[[Ask], Answer]) -> Answer | None:
    """What a database answers; None where the source is none, or cannot be read yet."""
    address = databases.parse(source) if "://" in source else None
    if address is not None and address.get_backend_name() != "sqlite":
        import sqlalchemy

        engine = sqlalchemy.create_engine(address)
        try:
            with suppress(sqlalchemy.exc.SQLAlchemyError), engine.connect() as connection:
                return question(connection.exec_driver_sql)
        finally:
            engine.dispose()
        return None
    path = Path(source if address is None else address.database or "").expanduser()
    if path.is_file() and start_of(path).startswith(b"SQLite format 3\0"):
        for opened in (open_read_only, snapshot):  # few questions take less time than a copy
            with suppress(sqlite3.Error), closing(opened(path)) as connection:
                return question(connection.execute)
    return None
