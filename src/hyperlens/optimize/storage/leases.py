"""Who is working on a running trial, and is it still alive?

A process that runs trials marks each with its host, its process, its run, and a count that goes up
while it lives. On the same host a dead process is known at once, and so is a run of this process that
has ended; of another host, a trial whose count was not seen to move for `PATIENCE` seconds of our own
clock is taken to be abandoned.
"""

import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

BEAT = 15.0  # seconds between two signs of life
PATIENCE = 6 * BEAT
NAMELESS = 5.0  # seconds that a trial may run without anybody's name on it

OPEN: set[str] = set()  # runs of this process that have not ended


class Watch:
    """Decides which leases are abandoned; remembers when it saw each one move."""

    def __init__(self, run: str = "") -> None:
        self.run = run
        self._seen: dict[int, tuple[Any, float]] = {}  # trial -> its count, and when it was new

    def abandoned(self, trial: int, lease: Mapping[str, Any]) -> bool:
        """Of a trial that we do not run ourselves: is there nobody who does?"""
        host, pid, run = (lease.get(name) for name in ("host", "pid", "run"))
        if host == socket.gethostname() and os.name == "posix":
            if not _alive(int(pid or 0), lease.get("born")):
                return True
            if pid != os.getpid() or not run:
                return False
            if run != self.run:
                return run not in OPEN
        # Of another host; or with our own name on it, which we wrote when another was quicker
        count = (host, pid, run, lease.get("beat"))
        if trial not in self._seen or self._seen[trial][0] != count:
            self._seen[trial] = (count, time.monotonic())
        patience = PATIENCE if host else NAMELESS
        return time.monotonic() - self._seen[trial][1] >= patience


def lease(attempt: int, run: str = "", beat: int = 0) -> dict[str, Any]:
    """Ours, for a trial that is tried for the `attempt`-th time."""
    pid = os.getpid()
    return {
        "host": socket.gethostname(),
        "pid": pid,
        "born": _born(pid),
        "run": run,
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
