"""A clock that counts processor seconds instead of the wall's, so that a busy machine is fair.

Where others use the processor too, 30 s by the wall are worth a different number of trainings each time.
After `counting()` the clocks that tools look at tell the processor seconds of this process and of all
that it has started: 30 s are then what an idle core gives in 30 s. Waiting is not counted.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

TICK = os.sysconf("SC_CLK_TCK")


def used() -> float:
    """Processor seconds of this process and of its children, those that ended and those that live."""
    times = os.times()
    ended = times.children_user + times.children_system
    return time.process_time() + ended + _living(os.getpid())


def _living(pid: int) -> float:
    """Of the living descendants of a process, with those of theirs that ended."""
    seconds = 0.0
    for child in _children(pid):
        with suppress(OSError, IndexError, ValueError):
            fields = Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()
            seconds += sum(int(field) for field in fields[11:15]) / TICK
        seconds += _living(child)
    return seconds


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found += [int(word) for word in path.read_text().split()]
    return found


def counting() -> None:
    """From now on `time.time`, `time.monotonic` and alarms go by the processor."""
    wall, before = time.time(), used()

    def now() -> float:
        return wall + used() - before

    clocks: Any = time
    clocks.time = clocks.monotonic = clocks.perf_counter = now
    signals: Any = signal
    signals.SIGALRM = signal.SIGPROF
    signals.alarm = lambda seconds: signal.setitimer(signal.ITIMER_PROF, seconds)
