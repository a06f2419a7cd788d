"""How the reasons changed on the way: every proposal of a run explained (Croppi 2021 figures 3, 4, 6, 12, 15)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.proposals.aims import Score
from hyperlens.explain.proposals.proposers import (
    Origin,
    WhichTrial,
    first_explainable,
    numbered,
    origin,
    position,
    recorded_aim,
)
from hyperlens.explain.proposals.why import PARTS, Baseline, Question, Why, explained
from hyperlens.explain.shapley.attribution import Method
from hyperlens.explain.shapley.backgrounds import WIDTH, Kind
from hyperlens.proposal import Acquisition
from hyperlens.record import Record
from hyperlens.runs.history import History
from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray
from hyperlens.surrogates.threads import one_thread

if TYPE_CHECKING:
    import pandas as pd

INITIAL = 4  # trials per parameter taken as the initial design where nothing is recorded
SHOWN = PARTS[:3]  # mean, uncertainty, bound


@dataclass(frozen=True)
class ProposalPath(Record):
    """Contributions over T proposals, parameters in the space's order; see `Why` for signs.

    `mean`, `uncertainty` and `bound` (the desirability paths) are (T, d), with intervals. `actual`,
    `average` and `payout` hold an array (T,) for each of "mean", "uncertainty" and "bound"; `measured`
    is what each trial cost, nan if it failed. `values` and `vectors` are the configurations, on the
    user's scale and in the unit cube; those of the initial design are in `design` and `design_vectors`.

    The bound has one `tau` for all, so that proposals can be compared: the recorded one, or 1 where a
    search changed its own, which a note says. `proposed_by` is each proposal's own acquisition.
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
    proposed_by: tuple[str | None, ...]  # "lcb", "ei", None where that is not recorded
    origin: tuple[Origin, ...]  # who is recorded to have chosen the configuration
    r2: FloatArray  # of each surrogate, cross-validated
    recorded: BoolArray
    design: tuple[tuple[Any, ...], ...]
    design_vectors: FloatArray
    surrogate: str
    methods: tuple[str, ...]
    background: str
    level: float
    notes: tuple[str, ...]
    _whys: tuple[Why, ...] = field(default=(), repr=False, compare=False)

    @property
    def called(self) -> str:
        """What the trials are: where all were drawn at random, none of them is a proposal."""
        return "trial" if set(self.origin) == {"random"} else "proposal"

    def why(self, row: int) -> Why:
        """All that is known of one proposal."""
        return self._whys[row]

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
    trials: Sequence[WhichTrial] | None = None,
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
) -> ProposalPath:
    """Explain every proposal, each by its own surrogate; options as in `why`.

    Explained are the trials that a recorded surrogate proposed; where nothing is recorded, all but the
    first `initial` ones (four per parameter, at most half of the run), each by a surrogate fitted to the
    trials before it. `trials` names others. `tau` holds for all of them: the recorded one, or 1 if
    several are recorded or none is. `workers` threads share the work (one per core); the answer does
    not depend on them. `progress` is called with how many of how many are done.
    """
    question = Question(
        tau, method, samples, background, size, width, baseline, acquisition, surrogate, level,
        seed, objective, trees,
    )  # fmt: skip
    numbers, design, notes = _chosen(history, trials, initial, objective)
    question, said = _comparable(history, numbers, question)

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
    return _collected(history, question, found, design, notes + said)


def _comparable(
    history: History, numbers: Sequence[int], question: Question
) -> tuple[Question, tuple[str, ...]]:
    """The question with one tau for all proposals, and what they were really chosen by."""
    trials = [history.trials[position(history, number)] for number in numbers]
    aims = [recorded_aim(trial) for trial in trials if origin(trial) == "surrogate"]
    taus = {tau for _, tau in aims if tau is not None}
    tau = question.tau
    if tau is None:
        tau = taus.pop() if len(taus) == 1 else 1.0
    improving = sum(acquisition == "ei" for acquisition, _ in aims)
    bounds = [own for acquisition, own in aims if acquisition == "lcb" and own is not None]
    asked = replace(question, tau=tau)
    if not improving and set(bounds) <= {tau}:
        return asked, ()
    verb = "maximised" if history.objective(question.objective).maximize else "minimised"
    made = [f"{improving} maximised the expected improvement"] if improving else []
    made += [f"{bounds.count(t)} {verb} a bound with tau {t:g}" for t in sorted(set(bounds))]
    return asked, (
        f"Of the proposals, {' and '.join(made)}; the bound that is shown has tau {tau:g} for all, so "
        "that they can be compared.",
    )


def _chosen(
    history: History,
    trials: Sequence[WhichTrial] | None,
    initial: int | None,
    objective: str | None,
) -> tuple[list[int], list[int], tuple[str, ...]]:
    """Numbers of the trials to explain, positions of the initial design, and what to say of it."""
    if trials is not None:
        numbers = [numbered(history, trial, objective) for trial in trials]
        if not numbers:
            raise AnalysisError("No trial was named; name at least one, or none at all for a path.")
        return numbers, _design(history, min(position(history, n) for n in numbers)), ()
    recorded = [k for k, trial in enumerate(history.trials) if origin(trial) == "surrogate"]
    if recorded and initial is None:
        return [history.trials[k].number for k in recorded], _design(history, recorded[0]), ()
    n = len(history.trials)
    first = min(INITIAL * len(history.space), n // 2) if initial is None else initial
    first = max(first, first_explainable(history, objective))
    if not 0 <= first < n:
        raise AnalysisError(
            f"Of {n} trials the first {first} cannot all be the initial design; run more trials, or "
            "name a smaller number."
        )
    design = _design(history, first)
    said = (
        f"The first {first} trials are taken as the initial design."
        if design
        else f"The first {first} trials are left out: too little was known before them."
    )
    return [t.number for t in history.trials[first:]], design, (said,)


def _design(history: History, first: int) -> list[int]:
    """Positions of the initial design: of the first trials those that were not drawn at random."""
    return [k for k, trial in enumerate(history.trials[:first]) if origin(trial) != "random"]


def _fitted(found: Sequence[Why], origins: Sequence[Origin], budgets: bool) -> tuple[str, ...]:
    """What is not known of those that were explained by a surrogate fitted here."""
    fitted = [who for w, who in zip(found, origins, strict=True) if not w.recorded]
    what = "trials" if set(origins) == {"random"} else "proposals"
    told: tuple[tuple[Origin, str], ...] = (
        ("random", "{} were drawn at random, no surrogate proposed them"),
        ("initial", "{} belong to the initial design, no surrogate proposed them"),
        ("unknown", "what the optimiser believed is not recorded for {}"),
        ("surrogate", "the recorded surrogates of {} could not be used"),
    )
    at = " at the largest budget by then" if budgets else ""
    notes = []
    for who, text in told:
        if n := fitted.count(who):
            said = text.format(f"{n} of {len(found)} {what}")
            notes.append(
                f"{said[0].upper() + said[1:]}; a surrogate was fitted to the complete trials before "
                f"each{at}."
            )
    return tuple(notes)


def _collected(
    history: History,
    question: Question,
    found: Sequence[Why],
    design: Sequence[int],
    notes: tuple[str, ...],
) -> ProposalPath:
    space, names = history.space, history.space.names
    order = [[w.parameters.index(name) for name in names] for w in found]
    arrays: dict[str, Any] = {
        name + end: np.array([getattr(w, name + end)[o] for w, o in zip(found, order, strict=True)])
        for name in SHOWN
        for end in ("", "_low", "_high")
    }
    places = [position(history, w.trial) for w in found]
    origins = tuple(origin(history.trials[k]) for k in places)
    if question.surrogate is None:
        budgets = len({t.budget for t in history.trials}) > 1
        notes += _fitted(found, origins, budgets)

    def each(which: Literal["actual", "average", "payout"]) -> dict[str, FloatArray]:
        return {name: np.array([getattr(w, which)[name] for w in found]) for name in SHOWN}

    def values(place: int) -> tuple[Any, ...]:
        return tuple(history.trials[place].values.get(name) for name in names)

    return ProposalPath(
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
        proposed_by=tuple(w.proposed_by for w in found),
        origin=origins,
        r2=np.array([w.quality.r2 for w in found]),
        recorded=np.array([w.recorded for w in found]),
        design=tuple(values(k) for k in design),
        design_vectors=history.vectors[list(design)],
        surrogate=found[0].surrogate,
        methods=tuple(sorted({w.method for w in found})),
        background=found[0].background,
        level=found[0].level,
        notes=notes,
        _whys=tuple(found),
    )
