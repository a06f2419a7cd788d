"""Opening Optuna's storages: by address, by path, or in memory."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from hyperlens.errors import SourceError
from hyperlens.runs import databases

if TYPE_CHECKING:
    from optuna.storages import BaseStorage
    from sqlalchemy import URL

Storage: TypeAlias = Union[str, Path, "BaseStorage", None]

JOURNALS = (".log", ".journal", ".jsonl")
PATIENCE = 60  # seconds to wait for another process that writes to a SQLite file
DAMAGED = "malformed"  # what SQLite says of a database that it cannot read
TRIES = 5  # two processes that create the same tables at once disturb each other


def opened(storage: Storage) -> tuple[BaseStorage, str]:
    """The storage, and how to call it in a sentence.

    An address such as `sqlite:///run.db` or `postgresql://me@host/runs`, the path of a SQLite file
    or of a journal (`.log`, `.journal`), a storage of Optuna's, or None for this process's memory.
    """
    from optuna.storages import BaseStorage, InMemoryStorage

    from hyperlens.optimize.storage.patient import patient

    if storage is None:
        return InMemoryStorage(), "memory"
    if isinstance(storage, BaseStorage):
        return patient(storage, type(storage).__name__), type(storage).__name__
    text = str(storage)
    path = Path(storage).expanduser()
    if "://" in text:
        found, where = _database(databases.parse(text))
    elif _is_journal(path):
        found, where = _journal(path)
    else:
        found, where = _database(databases.parse(f"sqlite:///{path}"))
    return patient(found, where), where


def file_of(storage: Storage) -> Path | None:
    """The file that a storage is, if it is one."""
    if isinstance(storage, str) and "://" in storage:
        address = databases.parse(storage)
        local = address.get_backend_name() == "sqlite" and address.database
        return Path(local) if local else None
    return Path(storage).expanduser() if isinstance(storage, (str, Path)) else None


@contextmanager
def quiet() -> Iterator[None]:
    """Optuna announces each study that it creates; we say what matters ourselves."""
    from optuna import logging
    from optuna.exceptions import ExperimentalWarning

    before = logging.get_verbosity()
    logging.set_verbosity(max(before, logging.WARNING))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalWarning)
            yield
    finally:
        logging.set_verbosity(before)


def _database(address: URL) -> tuple[BaseStorage, str]:
    from optuna.storages import RDBStorage
    from sqlalchemy.exc import IntegrityError, SQLAlchemyError

    file = address.database if address.get_backend_name() == "sqlite" else None
    options: dict[str, Any] = {"pool_pre_ping": True}
    if file is not None:
        options["connect_args"] = {"timeout": PATIENCE}
        if not Path(file).absolute().parent.is_dir():
            raise SourceError(
                f"There is no folder '{Path(file).parent}' for the storage; create it first."
            )
    where = Path(file).name if file else str(address.database or address.host)
    for attempt in range(TRIES):
        try:
            url = address.render_as_string(hide_password=False)
            template = url.replace("{", "{{").replace("}", "}}")
            return RDBStorage(template, engine_kwargs=options), where
        except SQLAlchemyError as problem:
            at_once = isinstance(problem, IntegrityError) or "exist" in str(problem)
            if attempt < TRIES - 1 and at_once:
                time.sleep(0.2 * (attempt + 1))
                continue
            reason = " ".join(str(getattr(problem, "orig", None) or problem).split())[:160]
            shown = address.render_as_string(hide_password=True)
            if DAMAGED in reason:
                raise SourceError(
                    f"The storage '{shown}' is damaged ({reason}); restore it from a backup, or choose "
                    "another file for the storage."
                ) from problem
            raise SourceError(
                f"The storage '{shown}' cannot be opened ({reason}); check its address and your "
                "rights."
            ) from problem
        except RuntimeError as problem:  # a schema of another version of Optuna
            raise SourceError(
                f"The storage in {where} was written by another version of Optuna; bring it up to "
                "date with 'optuna storage upgrade', or choose another."
            ) from problem
    raise AssertionError("the last attempt returns or raises")


def _journal(path: Path) -> tuple[BaseStorage, str]:
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    try:
        _mend(path)
        return JournalStorage(JournalFileBackend(str(path))), path.name
    except OSError as problem:
        raise SourceError(
            f"The journal '{path}' cannot be opened ({problem.strerror}); check its path and your "
            "rights."
        ) from problem
    except (ValueError, LookupError, TypeError) as problem:
        raise SourceError(
            f"The journal '{path}' is damaged; take out the lines that are no JSON, or choose another "
            "file for the storage."
        ) from problem


def _mend(path: Path) -> None:
    """Take out a last line that a process did not end: the next one would be written behind it."""
    from optuna.storages.journal import JournalFileSymlinkLock

    if not path.is_file() or not path.stat().st_size:
        return
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        if file.read() == b"\n":
            return
    lock = JournalFileSymlinkLock(str(path))
    lock.acquire()  # whoever writes now has it
    try:
        whole = path.read_bytes()
        if not whole.endswith(b"\n"):
            with path.open("r+b") as file:
                file.truncate(whole.rfind(b"\n") + 1)
    finally:
        lock.release()


def _is_journal(path: Path) -> bool:
    if not path.is_file() or not path.stat().st_size:
        return path.suffix.lower() in JOURNALS
    with path.open("rb") as file:
        start = file.read(200)
    if start.startswith(b"SQLite format 3\0"):
        return False
    if start.startswith(b"{") and b'"op_code"' in start:
        return True
    raise SourceError(
        f"The file '{path}' is neither a SQLite database nor an Optuna journal; choose another "
        "for the storage."
    )
