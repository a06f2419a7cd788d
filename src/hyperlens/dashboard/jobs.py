"""Tasks for worker processes: asked once for all who want the same, with progress and cancel."""

import multiprocessing
import secrets
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Literal

from hyperlens.dashboard.catalogue import Source

State = Literal["waiting", "running", "done", "failed", "cancelled"]

CANCELLED = "This was cancelled."
DIED = "The process that computed this ended unexpectedly, perhaps for lack of memory; try again."


@dataclass
class Job:
    """One task and how far it is."""

    key: str
    task: str
    content: Any
    ticket: str = field(default_factory=lambda: secrets.token_hex(16))
    state: State = "waiting"
    what: str = "waiting for its turn"
    done: float = 0.0
    result: Any = None
    problem: str | None = None
    finished: threading.Event = field(default_factory=threading.Event)


class Lane:
    """A worker process and the tasks that wait for it, first come, first served."""

    def __init__(
        self, sources: tuple[Source, ...], ended: Callable[[Job], None], work: Callable[..., None]
    ) -> None:
        self._sources = sources
        self._ended = ended
        self._work = work
        self._waiting: deque[Job] = deque()
        self._change = threading.Condition()
        self._current: Job | None = None
        self._process: BaseProcess | None = None
        self._closed = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin its process, if it has not begun; the first task does so too."""
        with self._change:
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._serve, daemon=True)
                self._thread.start()

    def put(self, job: Job, first: bool = False) -> None:
        self.start()
        with self._change:
            (self._waiting.appendleft if first else self._waiting.append)(job)
            self._change.notify()

    def cancel(self, job: Job, only_waiting: bool) -> None:
        """Take a task out of the queue, or end the process that is at it."""
        with self._change:
            if job in self._waiting:
                self._waiting.remove(job)
                _finish(job, "cancelled", CANCELLED)
            elif job is self._current and not only_waiting and self._process is not None:
                job.state, job.problem = "cancelled", CANCELLED
                self._process.kill()
                return
            else:
                return
        self._ended(job)

    def close(self) -> None:
        with self._change:
            self._closed = True
            if self._process is not None:
                self._process.kill()
            self._change.notify()
        if self._thread is not None:
            self._thread.join(timeout=10)

    def _serve(self) -> None:
        connection = self._begin()
        while True:
            with self._change:
                while not self._waiting and not self._closed:
                    self._change.wait()
                if self._closed:
                    connection.close()
                    return
                job = self._current = self._waiting.popleft()
                job.state, job.what = "running", "starting"
            alive = self._attend(connection, job)
            with self._change:
                self._current = None
            self._ended(job)
            if not alive and not self._closed:
                connection.close()
                if self._process is not None:
                    self._process.join(timeout=10)  # so that the system forgets it
                connection = self._begin()

    def _begin(self) -> Connection:
        """A fresh process: spawned, for the page's own has threads."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=self._work, args=(theirs, self._sources), daemon=True)
        process.start()
        theirs.close()
        with self._change:
            self._process = process
            if self._closed:
                process.kill()
        return ours

    def _attend(self, connection: Connection, job: Job) -> bool:
        """Follow a task to its end; False if the process did not survive it."""
        try:
            connection.send((job.task, job.content))
            while True:
                kind, content, part = connection.recv()
                if kind == "step":
                    job.what, job.done = content, part
                    continue
                if kind == "done":
                    job.result = content
                    _finish(job, "done")
                else:
                    _finish(job, "failed", content)
                return True
        except (EOFError, OSError):
            cancelled = job.state == "cancelled"
            _finish(job, "cancelled" if cancelled else "failed", CANCELLED if cancelled else DIED)
            return False


def _finish(job: Job, state: State, problem: str | None = None) -> None:
    job.state, job.problem = state, problem
    job.done = 1.0
    job.finished.set()
