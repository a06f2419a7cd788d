"""Between requests and workers: which runs there are, what is known of them, who asked what."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hyperlens.dashboard.cache import Cache
from hyperlens.dashboard.catalogue import WHOLE, Part, Run, RunState, Source, key_of
from hyperlens.dashboard.jobs import Job, Lane
from hyperlens.dashboard.query import SECTIONS, BadQuery, Query, parse, part_of
from hyperlens.dashboard.worker import work

LOOK_EVERY = 1.0  # seconds between two looks at a run
PATIENCE = 5.0  # times the seconds that reading takes, for runs that take long to read
LIST_EVERY = 10.0
MOST_TICKETS = 500
MOST_PARTS = 50


@dataclass
class Look:
    """What the last look at a run said, and when it was."""

    state: RunState | None = None
    problem: str | None = None
    time: float = -1e9
    pending: bool = False


class Dispatcher:
    """Quick queries have a lane of their own, so that they never wait for a long one."""

    def __init__(self, sources: tuple[Source, ...], worker: Callable[..., None] = work) -> None:
        self.cache = Cache()
        self._sources = sources
        self._lock = threading.RLock()
        self._runs: list[Run] = []
        self._numbers: dict[Run, int] = {}
        self.edition = 0  # of the list of runs
        self._looks: dict[tuple[int, Part], Look] = {}
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

    def size(self, number: int) -> dict[str, Any] | None:
        """What is known of how large a run is; of one that its source does not tell, from a look."""
        run, look = self._runs[number], self._looks.get((number, WHOLE))
        return run.size or (look.state.size if look and look.state else None)

    def key(self, run: Run) -> str:
        """What an address calls a run: the same whenever the page is started on it, and no path."""
        return key_of(self._sources[run.source], run)

    def state(self, run: int, part: Part = WHOLE) -> Look:
        """What is known of a run; a look that is due is taken meanwhile."""
        with self._lock:
            if not 0 <= run < len(self._runs):
                raise BadQuery("There is no such run.")
            look = self._looks.setdefault((run, part), Look())
            self._forget_parts()
            every = max(LOOK_EVERY, PATIENCE * look.state.seconds if look.state else 0.0)
            if not look.pending and time.monotonic() - look.time > every:
                look.pending = True
                task = (self._runs[run], part)
                self._quick.put(Job(f"look {run} {part}", "look", task), first=True)
            return look

    def _forget_parts(self) -> None:
        """Looks at whole runs are kept, of the parts that were asked for the last ones."""
        parts = [key for key, look in self._looks.items() if key[1] != WHOLE and not look.pending]
        for key in parts[:-MOST_PARTS]:
            del self._looks[key]

    def ask(self, run: int, body: Any) -> dict[str, Any] | Job:
        """The answer, if it was given before to the same data; else the job that will give it."""
        look = self.state(run, part_of(body.get("part") if isinstance(body, dict) else None))
        if look.state is None:
            raise BadQuery(look.problem or "This run is still being read; ask again in a moment.")
        with self._lock:
            query = parse(body, look.state, len(self._runs))
            if "runs" in SECTIONS[query.section].by and len(query.runs) < 2:
                raise BadQuery("Choose at least two runs to compare.")
            key = query.key(run, self._versions(look.state, query))
            answer = self.cache.get(key)
            if answer is not None:
                return answer
            job = self._jobs.get(key)
            if job is None:
                runs = tuple(self._runs[k] for k in query.runs)
                job = Job(key, "answer", (self._runs[run], query, runs))
                lane = self._quick if query.quick else self._long
                self._jobs[key] = job
                self._remember(job, lane)
                lane.put(job)
            return job

    def job(self, ticket: str) -> Job | None:
        with self._lock:
            entry = self._tickets.get(ticket)
        return entry[0] if entry else None

    def cancel(self, ticket: str, only_waiting: bool) -> None:
        with self._lock:
            entry = self._tickets.get(ticket)
        if entry:
            job, lane = entry
            lane.cancel(job, only_waiting)

    def _versions(self, state: RunState, query: Query) -> tuple[str, ...]:
        """Of the data, and of the titles that other runs are shown with."""
        versions = [state.version]
        for k in query.runs:
            other = self.state(k, query.part).state
            versions.append("" if other is None else f"{other.version} {self._runs[k].title}")
        return tuple(versions)

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
        for run in job.result or ():  # the number of a run stays the same
            number = self._number(run)
            unnamed = self._number(Run(run.source, None, ""))
            if number is not None:
                before = self._runs[number]
                self.edition += (before.title, before.size) != (run.title, run.size)
                self._runs[number] = run  # perhaps by another title
                continue
            if unnamed is not None:  # a storage that had no study when it was listed
                self._numbers.pop(self._runs[unnamed])
                self._runs[unnamed] = run
                self._looks.pop((unnamed, WHOLE), None)
            else:
                self._runs.append(run)
            self._numbers[run] = len(self._runs) - 1 if unnamed is None else unnamed
            self.edition += 1
        if self._runs and (0, WHOLE) not in self._looks:
            self.state(0)  # the page will ask for it; the look begins now

    def _number(self, run: Run) -> int | None:
        return self._numbers.get(run)

    def _look(self, job: Job) -> None:
        run, part = job.content
        number = self._number(run)
        if number is None:
            return
        look = self._looks[number, part]
        look.pending, look.time, look.problem = False, time.monotonic(), job.problem
        self._long.start()  # only now, so that the first look at a run does not wait for it
        if job.state == "done":
            changed = look.state is None or look.state.version != job.result.version
            self.edition += changed and self._runs[number].size is None
            look.state = job.result

    def _keep(self, job: Job) -> None:
        """Under the data it was really computed from, which may be newer than what was asked of."""
        run, query, _ = job.content
        number = self._number(run)
        if number is not None:
            self.cache.put(query.key(number, job.result["versions"]), job.result)
