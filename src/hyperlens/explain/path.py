"""How the reasons changed on the way: every proposal of a run explained (P3 figures 3, 4, 6, 12, 15)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hyperlens.cube import BoolArray, FloatArray, IntArray
from hyperlens.errors import AnalysisError
from hyperlens.explain.acquisitions import Acquisition, Score
from hyperlens.explain.attribution import Method
from hyperlens.explain.backgrounds import WIDTH, Kind
from hyperlens.explain.proposals import PARTS, Baseline, Question, Why, explained
from hyperlens.explain.recorded import first_explainable, position, proposed
from hyperlens.history import History
from hyperlens.record import Record
from hyperlens.surrogates.threads import one_thread

if TYPE_CHECKING:
    import pandas as pd

INITIAL = 4  # trials per parameter taken as the initial design where nothing is recorded
SHOWN = PARTS[:3]  # mean, uncertainty, bound


@dataclass(frozen=True)
class Path(Record):
    """Contributions over T proposals, parameters in the space's order; see `Why` for signs.

    `mean`, `uncertainty` and `bound` (the desirability paths) are (T, d), with intervals. `actual`,
    `average` and `payout` hold an array (T,) for each of "mean", "uncertainty" and "bound"; `measured`
    is what each trial cost, nan if it failed. `values` and `vectors` are the configurations, on the
    user's scale and in the unit cube; those of the initial design are in `design` and `design_vectors`.
    """

    objective: str
    maximize: bool
    parameters: tuple[str, ...]
    log: tuple[bool, ...]
    numeric: tuple[bool, ...]
    trial: IntArray
    values: tuple[tuple[Any, ...], ...]
    vectors: FloatArray
    mean: FloatArray
    mean_low: FloatArray
    mean_high: FloatArray
    uncertainty: FloatArray
    uncertainty_low: FloatArray
    uncertainty_high: FloatArray
    bound: FloatArray
    bound_low: FloatArray
    bound_high: FloatArray
    actual: dict[str, FloatArray]
    average: dict[str, FloatArray]
    payout: dict[str, FloatArray]
    measured: FloatArray
    tau: FloatArray
    r2: FloatArray  # of each surrogate, cross-validated
    recorded: BoolArray
    design: tuple[tuple[Any, ...], ...]
    design_vectors: FloatArray
    surrogate: str
    methods: tuple[str, ...]
    background: str
    level: float
    notes: tuple[str, ...]

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each proposal and parameter."""
        import pandas as pd

        T, d = self.mean.shape
        columns: dict[str, Any] = {
            "trial": np.repeat(self.trial, d),
            "parameter": list(self.parameters) * T,
            "value": [value for row in self.values for value in row],
        }
        columns |= {name: getattr(self, name).ravel() for name in SHOWN}
        ends = [f"{name}_{end}" for name in SHOWN for end in ("low", "high")]
        return pd.DataFrame(columns | {name: getattr(self, name).ravel() for name in ends})

    @property
    def predictions(self) -> pd.DataFrame:
        """One row for each proposal: what was predicted, the averages, the payouts, the result."""
        import pandas as pd

        columns: dict[str, Any] = {"trial": self.trial, "measured": self.measured, "tau": self.tau}
        for name in SHOWN:
            columns |= {
                name: self.actual[name],
                f"{name}_average": self.average[name],
                f"{name}_payout": self.payout[name],
            }
        return pd.DataFrame(columns)


def path(
    history: History,
    tau: float | None = None,
    *,
    trials: Sequence[int] | None = None,
    initial: int | None = None,
    method: Method = "auto",
    samples: int | None = None,
    background: Kind = "global",
    size: int | None = None,
    width: float = WIDTH,
    baseline: Baseline | None = None,
    acquisition: Acquisition | Score | None = None,
    surrogate: Any = None,
    level: float = 0.95,
    seed: int = 0,
    objective: str | None = None,
    trees: int = 64,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Explain every proposal, each by its own surrogate; options as in `why`.

    Explained are the trials that a recorded surrogate proposed; where nothing is recorded, all but the
    first `initial` ones (four per parameter, at most half of the run), each by a surrogate fitted to the
    trials before it. `trials` names others. `workers` threads share the work (one per core); the
    answer does not depend on them. `progress` is called with how many of how many are done.
    """
    question = Question(
        tau, method, samples, background, size, width, baseline, acquisition, surrogate, level,
        seed, objective, trees,
    )  # fmt: skip
    numbers, design, notes = _chosen(history, trials, initial, objective)

    def one(trial: int) -> Why:
        return explained(history, trial, question.proposer(history, trial), question, threads=1)

    found: list[Why] = []
    with one_thread(), ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        try:
            for record in pool.map(one, numbers):
                found.append(record)
                if progress is not None:
                    progress(len(found), len(numbers))
        except BaseException:
            pool.shutdown(cancel_futures=True)  # who interrupts does not wait for all the others
            raise
    return _collected(history, question, found, design, notes)


def _chosen(
    history: History, trials: Sequence[int] | None, initial: int | None, objective: str | None
) -> tuple[list[int], list[int], tuple[str, ...]]:
    """Numbers of the trials to explain, positions of the initial design, and what to say of it."""
    if trials is not None:
        places = [position(history, int(trial)) for trial in trials]
        if not places:
            raise AnalysisError("No trial was named; name at least one, or none at all for a path.")
        return [int(trial) for trial in trials], list(range(min(places))), ()
    recorded = [k for k, trial in enumerate(history.trials) if proposed(trial)]
    if recorded and initial is None:
        numbers = [history.trials[k].number for k in recorded]
        return numbers, list(range(recorded[0])), ()
    n = len(history.trials)
    first = min(INITIAL * len(history.space), n // 2) if initial is None else initial
    first = max(first, first_explainable(history, objective))
    if not 0 <= first < n:
        raise AnalysisError(
            f"Of {n} trials the first {first} cannot all be the initial design; run more trials, or "
            "name a smaller number."
        )
    said = f"The first {first} trials are taken as the initial design."
    return [t.number for t in history.trials[first:]], list(range(first)), (said,)


def _collected(
    history: History,
    question: Question,
    found: Sequence[Why],
    design: Sequence[int],
    notes: tuple[str, ...],
) -> Path:
    space, names = history.space, history.space.names
    order = [[w.parameters.index(name) for name in names] for w in found]
    arrays: dict[str, Any] = {
        name + end: np.array([getattr(w, name + end)[o] for w, o in zip(found, order, strict=True)])
        for name in SHOWN
        for end in ("", "_low", "_high")
    }
    places = [position(history, w.trial) for w in found]
    fitted = [w for w in found if not w.recorded]
    if fitted and question.surrogate is None:
        notes += (
            f"The surrogates of {len(fitted)} of {len(found)} proposals were fitted to the trials "
            "before each; what the optimiser believed is not recorded.",
        )

    def each(which: Literal["actual", "average", "payout"]) -> dict[str, FloatArray]:
        return {name: np.array([getattr(w, which)[name] for w in found]) for name in SHOWN}

    def values(place: int) -> tuple[Any, ...]:
        return tuple(history.trials[place].values.get(name) for name in names)

    return Path(
        objective=found[0].objective,
        maximize=found[0].maximize,
        parameters=names,
        log=tuple(p.log for p in space.parameters),
        numeric=tuple(p.numeric for p in space.parameters),
        trial=np.array([w.trial for w in found]),
        values=tuple(values(k) for k in places),
        vectors=history.vectors[places],
        **arrays,
        actual=each("actual"),
        average=each("average"),
        payout=each("payout"),
        measured=np.array([np.nan if w.measured is None else w.measured for w in found]),
        tau=np.array([w.tau for w in found]),
        r2=np.array([w.quality.r2 for w in found]),
        recorded=np.array([w.recorded for w in found]),
        design=tuple(values(k) for k in design),
        design_vectors=history.vectors[list(design)],
        surrogate=found[0].surrogate,
        methods=tuple(sorted({w.method for w in found})),
        background=found[0].background,
        level=found[0].level,
        notes=notes,
    )
