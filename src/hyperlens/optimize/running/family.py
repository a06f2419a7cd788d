"""All processes that a trial has started, and their end.

A worker leads a group, which ends with it. Who leaves the group by a session of its own is found as a
descendant: on Linux a worker adopts the orphans among them, as long as it lives itself. Of a worker that
died by itself, those that had left its group are gone from our sight.
"""

import ctypes
import os
import signal
from contextlib import suppress
from pathlib import Path

ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of Linux's prctl


def lead() -> None:
    """Lead a group and a session, and adopt orphans where the system can."""
    if hasattr(os, "setsid"):
        os.setsid()
    if Path("/proc/self/task").is_dir():
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1, 0, 0, 0)


def descendants(process: int) -> list[int]:
    """Processes that this one started, and those that they did, as far as the system tells."""
    found: list[int] = []
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, children.read_text().split()):
                found += [child, *descendants(child)]
    return found


def end_strays() -> None:
    """End what has left the session of this process. Others may be workers that are used again."""
    for process in descendants(os.getpid()):
        with suppress(OSError):
            if os.getsid(process) != os.getsid(0):
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)


def end(leader: int, alive: bool) -> None:
    """Kill a worker and all that it started; nothing if it does not lead a group yet, or all are
    gone. The number of one that is not alive may be another's by now."""
    if not hasattr(os, "killpg"):
        return
    if alive:
        with suppress(OSError):
            os.kill(leader, signal.SIGSTOP)  # so that it starts nothing more
        for process in descendants(leader):
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
    with suppress(OSError):
        os.killpg(leader, signal.SIGKILL)
