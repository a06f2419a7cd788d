"""The names of the studies that a storage holds."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from hyperlens.importers.files import start_of
from hyperlens.importers.optuna.journal import studies_in
from hyperlens.importers.optuna.sqlite_snapshot import snapshot
from hyperlens.runs import databases

if TYPE_CHECKING:
    from sqlalchemy import URL

_NAMES = "SELECT study_name FROM studies ORDER BY study_id"


def studies(source: str) -> tuple[str, ...]:
    """Names in the order of creation; none where the source is no storage, or cannot be read yet."""
    address = databases.parse(source) if "://" in source else None
    if address is not None and address.get_backend_name() != "sqlite":
        return _on_server(address)
    path = Path(source if address is None else address.database or "").expanduser()
    start = start_of(path) if path.is_file() else b""
    if start.startswith(b"SQLite format 3\0"):
        with suppress(sqlite3.Error), closing(snapshot(path)) as connection:
            return tuple(str(name) for (name,) in connection.execute(_NAMES))
    return studies_in(path) if b'"op_code"' in start else ()


def _on_server(address: URL) -> tuple[str, ...]:
    import sqlalchemy

    engine = sqlalchemy.create_engine(address)
    try:
        with suppress(sqlalchemy.exc.SQLAlchemyError), engine.connect() as connection:
            return tuple(str(name) for (name,) in connection.exec_driver_sql(_NAMES))
    finally:
        engine.dispose()
    return ()
