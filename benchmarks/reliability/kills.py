"""Runs of every optimiser that are killed at a write to their storage, on storages of every kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from crashes import OPTIMIZERS, aftermath, mortal, run
from optuna.storages import InMemoryStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend

from benchmarks.reliability import Row
from benchmarks.reliability.storages import storages
from hyperlens.runs import databases

ABOUT = """
A run is killed at a write to its storage, so that nothing more of it is written, and gone on with;
after one write is before the next. It has failed if a trial is lost, comes twice or is left waiting, if
anything but the one evaluation is made again, or if the run differs from one that was never killed.
`tests/test_crashes.py` kills at every write, in memory.
"""


def rows(every: int) -> Iterator[Row]:
    with storages() as found:
        for kind, create in found.items():
            yield from _kills(kind, create, every)


def _kills(kind: str, create: Callable[[str], str], every: int) -> Iterator[Row]:
    address = create("kills")
    url = databases.parse(address).render_as_string(False) if "://" in address else None
    storage: Any = None if url is None else RDBStorage(url)
    for optimizer in OPTIMIZERS:
        counting = mortal(InMemoryStorage())
        whole = run(counting, optimizer)
        wrong = tried = 0
        for writes in range(0, counting.written, every):
            place = storage
            if storage is None:  # a journal is killed by its own storage
                place = JournalStorage(JournalFileBackend(f"{address}{optimizer}{writes}"))
            tried += 1
            name = f"{optimizer} {writes}"
            wrong += not aftermath(whole, place, optimizer, (writes,), name).sound
        yield Row(f"{optimizer} killed at a write to {kind}", tried, wrong)
