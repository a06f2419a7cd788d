"""The names of the studies that a storage holds."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from hyperlens.importers.files import start_of
from hyperlens.importers.optuna.journal import studies_in
from hyperlens.importers.optuna.sqlite_snapshot import snapshot
from hyperlens.runs import databases

_NAMES = "SELECT study_name FROM studies ORDER BY study_id"


def studies(source: str) -> tuple[str, ...]:
    """Names in the order of creation; none where the source is no storage, or cannot be read yet."""
    if "://" in source and databases.parse(source).get_backend_name() != "sqlite":
        return _on_server(source)
    path = Path(
        (databases.parse(source).database or "") if "://" in source else source
    ).expanduser()
    if not path.is_file():
        return ()
    start = start_of(path)
    if start.startswith(b"SQLite format 3\0"):
        return _in_file(path)
    return studies_in(path) if b'"op_code"' in start else ()


def _in_file(path: Path) -> tuple[str, ...]:
    import sqlite3

    try:
        with closing(snapshot(path)) as connection:
            return tuple(str(name) for (name,) in connection.execute(_NAMES))
    except sqlite3.Error:
        return ()


def _on_server(address: str) -> tuple[str, ...]:
    import sqlalchemy

    engine = sqlalchemy.create_engine(databases.parse(address))
    try:
        with engine.connect() as connection:
            return tuple(str(name) for (name,) in connection.exec_driver_sql(_NAMES))
    except sqlalchemy.exc.SQLAlchemyError:
        return ()
    finally:
        engine.dispose()
