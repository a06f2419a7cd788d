"""Who is working on a running trial, and is it still alive?

A process that runs trials marks each with its host, its process, and a count that goes up while it
lives. On the same host a dead process is known at once; of another host, a trial whose count was
not seen to move for `PATIENCE` seconds of our own clock is taken to be abandoned.
"""

import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

BEAT = 15.0  # seconds between two signs of life
PATIENCE = 6 * BEAT


class Watch:
    """Decides which leases are abandoned; remembers when it saw each one move."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[Any, float]] = {}  # trial -> its count, and when it was new

    def abandoned(self, trial: int, lease: Mapping[str, Any]) -> bool:
        if lease.get("host") == socket.gethostname() and os.name == "posix":
            return not _alive(int(lease.get("pid", 0)), lease.get("born"))
        count = (lease.get("host"), lease.get("pid"), lease.get("beat"))
        if trial not in self._seen or self._seen[trial][0] != count:
            self._seen[trial] = (count, time.monotonic())
        return time.monotonic() - self._seen[trial][1] >= PATIENCE


def lease(attempt: int, beat: int = 0) -> dict[str, Any]:
    """Ours, for a trial that is tried for the `attempt`-th time."""
    pid = os.getpid()
    return {
        "host": socket.gethostname(),
        "pid": pid,
        "born": _born(pid),
        "attempt": attempt,
        "beat": beat,
    }


def _alive(pid: int, born: str | None) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it lives, and is another user's
        return True
    return born is None or _born(pid) == born


def _born(pid: int) -> str | None:
    """When a process began, where the system tells, for numbers are given again; "" if it ended
    and only its parent has not noticed."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    except OSError:
        return None
    state, *rest = stat.rpartition(")")[2].split()
    return "" if state in "ZX" else f"{boot} {rest[18]}"
