"""The records of a run, each computed when it is first asked for and then remembered with the run.

Records are declared as parts, in the file of the section that owns them, and asked for by these:
`explanation[IMPORTANCE]`. Several sections share most of them, and the live page wants few of them at a
time; so nobody lists what a section needs, it is what its cards and its other parts ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from hyperlens import __version__
from hyperlens.errors import AnalysisError
from hyperlens.record import Record
from hyperlens.runs.history import History
from hyperlens.sections.choices import Choices

T = TypeVar("T")

Progress = Callable[[str, float], None]  # what is being done, how much is done (0 to 1)
ALMOST = 0.99  # done, until it is


@dataclass(frozen=True)
class Unavailable(Record):
    """A result that could not be computed, and the sentence that says why."""

    what: str
    why: str
    parameters: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        return self.why

    def _columns(self) -> dict[str, Any]:
        return {"what": [self.what], "why": [self.why]}


@dataclass(frozen=True)
class Part(Generic[T]):
    """A record, or several, by the name they have in the JSON file, and how they are computed.

    `what` is said while it is computed, which takes about `seconds` for a thousand trials. `by` are the
    choices it depends on besides objective, surrogate, level and seed.
    """

    name: str
    compute: Callable[[Explanation], T]
    what: str = ""
    seconds: float = 0.0
    by: tuple[str, ...] = ()


class Records(Protocol):
    """Where cards take their records from: an explanation that goes on, or a finished analysis."""

    @property
    def choices(self) -> Choices: ...

    @property
    def version(self) -> str: ...

    def __getitem__(self, part: Part[T]) -> T: ...


class Explanation:
    """The records of one run under some choices.

    `runs` are those to be compared, by their names. `seconds` is about how long everything that will be
    asked for takes.
    """

    def __init__(
        self,
        history: History,
        choices: Choices,
        runs: Mapping[str, History] | None = None,
        progress: Progress = lambda what, done: None,
        seconds: float = 0.0,
    ) -> None:
        self.version = __version__
        self.history = history
        self.choices = choices
        self.runs = runs or {}
        self._memory: dict[Hashable, Any] = {} if runs else history.memory
        self._progress = progress
        self._seconds, self._done = seconds, 0.0

    @property
    def how(self) -> dict[str, Any]:
        """What every computation from the run's costs is told."""
        return {"seed": self.choices.seed, "objective": self.choices.objective}

    @property
    def asked(self) -> dict[str, Any]:
        """What every explanation by a surrogate is told."""
        return {"surrogate": self.choices.surrogate, **self.how}

    def __getitem__(self, part: Part[T]) -> T:
        by = tuple(getattr(self.choices, name) for name in part.by)
        return self.once((part.name, *by), lambda: self._computed(part))

    def once(self, key: tuple[Hashable, ...], compute: Callable[[], T]) -> T:
        """What is computed, or was before under the same choices."""
        c = self.choices
        whole = ("section", *key, c.objective, c.surrogate, c.level, c.seed)
        if whole not in self._memory:
            self._memory[whole] = compute()
        result: T = self._memory[whole]
        return result

    def step(self, what: str, seconds: float = 0.0) -> None:
        """Say what is being done, after so many seconds' worth of the present part."""
        done = (self._done + seconds) / self._seconds if self._seconds else 0.0
        self._progress(what, min(done, ALMOST))

    def _computed(self, part: Part[T]) -> T:
        if part.what:
            self.step(part.what)
        record = part.compute(self)
        self._done += part.seconds
        return record


def attempt(
    what: str, compute: Callable[[], T], parameters: tuple[str, ...] = ()
) -> T | Unavailable:
    """What is computed, or why it could not be."""
    try:
        return compute()
    except AnalysisError as problem:
        return Unavailable(what, str(problem), parameters)
