"""Storages of every kind that is here, each of which makes the address of a new one of a name."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from servers import SERVERS, Missing

Create = Callable[[str], str]


@contextmanager
def storages(*wanted: str) -> Iterator[dict[str, Create]]:
    """All kinds, or those that are wanted; what is not installed is said and left out."""
    with ExitStack() as stack:
        quick = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=quick)))
        found: dict[str, Create] = {
            "SQLite": lambda name: f"sqlite:///{folder / name}.db",
            "journal": lambda name: str(folder / f"{name}.log"),
        }
        found = {kind: create for kind, create in found.items() if not wanted or kind in wanted}
        for kind, (server, _) in SERVERS.items():
            if wanted and kind not in wanted:
                continue
            try:
                found[kind] = stack.enter_context(server())
            except Missing as problem:
                print(problem, file=sys.stderr)
        yield found
