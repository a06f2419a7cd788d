"""A storage that may be away for a while: a database's server that is started again.

Every call is made again until it is answered or `PATIENCE` seconds have passed; each of them leaves
the same behind when it is made twice. Whatever else a storage meets is one kind of error: it failed.
"""

from __future__ import annotations

import logging
import time
from typing import Any

from optuna.exceptions import OptunaError, StorageInternalError
from optuna.storages import BaseStorage, get_storage

PATIENCE = 60.0  # seconds
PAUSE = 0.25  # between two tries

logger = logging.getLogger("hyperlens")


class _Patient:
    """Calls another storage, again where its server is away."""

    def __init__(self, storage: BaseStorage, where: str) -> None:
        self.where, self.engine = where, getattr(storage, "engine", None)
        self._storage = get_storage(storage)  # a database's trials are remembered once they ended
        self._server = self.engine is not None and self.engine.url.get_backend_name() != "sqlite"

    def call(self, name: str, given: Any, named: Any) -> Any:
        until: float | None = None
        while True:
            try:
                return getattr(self._storage, name)(*given, **named)
            except Exception as problem:
                if not (self._server and _away(problem)):
                    raise _failure(problem) from (problem.__cause__ or problem)
                now = time.monotonic()
                if until is None:
                    until = now + PATIENCE
                    logger.warning(
                        "The storage in %s does not answer; trying again for %g s.",
                        self.where,
                        PATIENCE,
                    )
                if now >= until:
                    raise _failure(problem) from (problem.__cause__ or problem)
                time.sleep(PAUSE)


def patient(storage: BaseStorage, where: str) -> BaseStorage:
    """The same storage, whose calls wait for its server."""
    names = [n for n in dir(BaseStorage) if not n.startswith("_")]
    kind = type("PatientStorage", (_Patient, BaseStorage), {n: _called(n) for n in names})
    waiting: BaseStorage = kind(storage, where)
    return waiting


def _called(name: str) -> Any:
    return lambda self, *given, **named: self.call(name, given, named)


def _away(problem: BaseException) -> bool:
    """Is it the connection that failed, and not what was sent?"""
    from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

    cause = problem.__cause__ or problem
    lost = isinstance(cause, DBAPIError) and cause.connection_invalidated
    return lost or isinstance(cause, (OperationalError, InterfaceError))


def _failure(problem: Exception) -> Exception:
    """As it is, if Optuna means something by it."""
    return problem if isinstance(problem, OptunaError) else StorageInternalError(str(problem))
