"""The desk between requests and workers: which runs there are, what is known of them, who asked what."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hyperlens.dashboard.cache import Cache
from hyperlens.dashboard.jobs import Job, Lane
from hyperlens.dashboard.questions import NotAsked, Question, parse
from hyperlens.dashboard.sources import Run, Seen, Source
from hyperlens.dashboard.worker import work

LOOK_EVERY = 1.0  # seconds between two looks at a run
PATIENCE = 5.0  # times the seconds that reading takes, for runs that take long to read
LIST_EVERY = 10.0
MOST_TICKETS = 500


@dataclass
class Known:
    """What the last look at a run said, and when it was."""

    seen: Seen | None = None
    problem: str | None = None
    looked: float = -1e9
    looking: bool = False


class Desk:
    """Quick questions have a lane of their own, so that they never wait for a long one."""

    def __init__(self, sources: tuple[Source, ...], worker: Callable[..., None] = work) -> None:
        self.cache = Cache()
        self._lock = threading.RLock()
        self._runs: list[Run] = []
        self._known: dict[int, Known] = {}
        self._listed, self._listing = -1e9, False
        self._jobs: dict[str, Job] = {}  # by key, unfinished
        self._tickets: dict[str, tuple[Job, Lane]] = {}
        self._quick = Lane(sources, self._ended, worker)
        self._long = Lane(sources, self._ended, worker)
        self.runs()

    def close(self) -> None:
        self._quick.close()
        self._long.close()

    def runs(self) -> list[Run]:
        """The runs there are; asked again from time to time, since a storage may get new ones."""
        with self._lock:
            if not self._listing and time.monotonic() - self._listed > LIST_EVERY:
                self._listing = True
                self._quick.put(Job("list", "list", None), first=True)
            return list(self._runs)

    @property
    def listed(self) -> bool:
        """Is it known yet which runs there are?"""
        return self._listed > 0

    def state(self, run: int) -> Known:
        """What is known of a run; a look that is due is taken meanwhile."""
        with self._lock:
            if not 0 <= run < len(self._runs):
                raise NotAsked("There is no such run.")
            known = self._known.setdefault(run, Known())
            every = (
                LOOK_EVERY if known.seen is None else max(LOOK_EVERY, PATIENCE * known.seen.took)
            )
            if not known.looking and time.monotonic() - known.looked > every:
                known.looking = True
                self._quick.put(Job(f"look {run}", "look", self._runs[run]), first=True)
            return known

    def ask(self, run: int, body: Any) -> dict[str, Any] | Job:
        """The answer, if it was given before to the same data; else the job that will give it."""
        known = self.state(run)
        if known.seen is None:
            raise NotAsked(known.problem or "This run is still being read; ask again in a moment.")
        with self._lock:
            question = parse(body, known.seen, len(self._runs))
            others = self._others(question)
            if question.card == "beside" and len(others) < 2:
                raise NotAsked("Choose at least two runs to compare.")
            key = question.key(run, self._versions(known.seen, others))
            answer = self.cache.get(key)
            if answer is not None:
                return answer
            job = self._jobs.get(key)
            if job is None:
                runs = tuple(self._runs[k] for k in others)
                job = Job(key, "answer", (self._runs[run], question, runs))
                lane = self._quick if question.quick else self._long
                self._jobs[key] = job
                self._remember(job, lane)
                lane.put(job)
            return job

    def job(self, ticket: str) -> Job | None:
        with self._lock:
            found = self._tickets.get(ticket)
        return found[0] if found else None

    def cancel(self, ticket: str, only_waiting: bool) -> None:
        with self._lock:
            found = self._tickets.get(ticket)
        if found:
            found[1].cancel(found[0], only_waiting)

    def _others(self, question: Question) -> tuple[int, ...]:
        return question.beside if question.card == "beside" else ()

    def _versions(self, seen: Seen, others: tuple[int, ...]) -> tuple[str, ...]:
        """Of the data, and of the titles that other runs are shown with."""
        found = [seen.version]
        for k in others:
            other = self.state(k).seen
            found.append("" if other is None else f"{other.version} {self._runs[k].title}")
        return tuple(found)

    def _remember(self, job: Job, lane: Lane) -> None:
        self._tickets[job.ticket] = (job, lane)
        while len(self._tickets) > MOST_TICKETS:
            self._tickets.pop(next(iter(self._tickets)))

    def _ended(self, job: Job) -> None:
        """Called from a lane when a task came to its end, good or bad."""
        with self._lock:
            if job.task == "list":
                self._list(job)
            elif job.task == "look":
                self._look(job)
            else:
                self._jobs.pop(job.key, None)
                if job.state == "done":
                    self._keep(job)

    def _list(self, job: Job) -> None:
        self._listed, self._listing = time.monotonic(), False
        self._long.start()  # only now, so that the first look at a run does not wait for it
        for run in job.result or ():  # the number of a run stays the same
            number = self._number(run)
            unnamed = self._number(Run(run.source, None, ""))
            if number is not None:
                self._runs[number] = run  # perhaps by another title
            elif unnamed is not None:  # a storage that had no study when it was listed
                self._runs[unnamed] = run
                self._known.pop(unnamed, None)
            else:
                self._runs.append(run)
        if self._runs and 0 not in self._known:
            self.state(0)  # the page will ask for it; the look begins now

    def _number(self, run: Run) -> int | None:
        return self._runs.index(run) if run in self._runs else None

    def _look(self, job: Job) -> None:
        number = self._number(job.content)
        if number is None:
            return
        known = self._known[number]
        known.looking, known.looked = False, time.monotonic()
        known.problem = job.problem
        if job.state == "done":
            known.seen = job.result

    def _keep(self, job: Job) -> None:
        """Under the data it was really computed from, which may be newer than what was asked of."""
        run, question, _ = job.content
        number = self._number(run)
        if number is not None:
            self.cache.put(question.key(number, job.result["versions"]), job.result)
