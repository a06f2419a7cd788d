"""A private copy of a SQLite file as it is now, made without leaving a trace beside it."""

import shutil
import sqlite3
import tempfile
from contextlib import closing, suppress
from pathlib import Path

from hyperlens.importers.values import one_line

LOCK_TIMEOUT = 3.0  # seconds to wait for a writer


def snapshot(path: Path) -> sqlite3.Connection:
    """A private copy of the database as it is now, in SQLite's own temporary storage."""
    copy = sqlite3.connect("")
    try:
        with closing(open_read_only(path)) as live:
            live.backup(copy)
    except sqlite3.OperationalError as problem:
        copy.close()
        if "locked" in str(problem):
            raise
        # A crashed writer left a log that only a writer may merge: let a copy be merged instead.
        copy = sqlite3.connect("")
        with tempfile.TemporaryDirectory() as folder:
            for ending in ("", "-wal", "-journal"):
                with suppress(FileNotFoundError):
                    shutil.copyfile(f"{path}{ending}", Path(folder) / f"copy{ending}")
            with closing(sqlite3.connect(Path(folder) / "copy")) as merged:
                merged.execute("SELECT 1 FROM sqlite_master").fetchone()
                merged.backup(copy)
    return copy


def open_read_only(path: Path) -> sqlite3.Connection:
    """A connection that holds a read lock and leaves no file beside the database."""
    with path.open("rb") as file:
        wal_mode = file.read(20)[18:20] == b"\2\2"
    log, shared = (Path(f"{path}{ending}") for ending in ("-wal", "-shm"))
    unused = not log.exists() or log.stat().st_size == 0
    if wal_mode and not unused and not shared.exists():
        raise sqlite3.OperationalError("the write-ahead log has no index")
    # Without its log nobody has a WAL database open, and a plain reader would leave one behind.
    mode = "immutable=1" if wal_mode and unused and not shared.exists() else "mode=ro"
    live = sqlite3.connect(f"{path.resolve().as_uri()}?{mode}", uri=True, timeout=LOCK_TIMEOUT)
    try:
        live.execute("BEGIN")
        live.execute("SELECT 1 FROM sqlite_master").fetchone()  # backup() would wait for ever
    except sqlite3.Error:
        live.close()
        raise
    return live


def described(path: Path, problem: sqlite3.Error) -> str:
    if "locked" in str(problem):
        return (
            f"The database '{path}' is locked by a program that writes to it; try again when it "
            "has finished, or stop it first."
        )
    if isinstance(problem, sqlite3.OperationalError):
        return (
            f"The database '{path}' cannot be read ({one_line(problem)}); check the file and "
            "the free space for a temporary copy."
        )
    return (
        f"The database '{path}' is damaged ({one_line(problem)}); restore it from a backup, or "
        "save what is left with 'sqlite3 FILE .recover'."
    )
