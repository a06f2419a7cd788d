"""How the reasons changed on the way: every proposal of a run explained (Croppi 2021 figures 3, 4, 6,
12, 15)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hyperlens import words
from hyperlens.errors import AnalysisError
from hyperlens.explain.proposals.explainable_trials import comparable, explainable
from hyperlens.explain.proposals.proposers import Origin, WhichTrial, origin, position
from hyperlens.explain.proposals.question import Baseline, Question, Score
from hyperlens.explain.proposals.reasons import motive, tidy
from hyperlens.explain.proposals.why import PARTS, Why, explained
from hyperlens.explain.shapley.attribution import Method
from hyperlens.explain.shapley.backgrounds import WIDTH, Kind
from hyperlens.proposal import Acquisition
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray
from hyperlens.surrogates.threads import one_thread
from hyperlens.tables import Column, Table, table

if TYPE_CHECKING:
    import pandas as pd

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
    captions: tuple[tuple[str, ...], ...]  # of each proposal
    notes: tuple[str, ...]
    _whys: tuple[Why, ...] = field(default=(), repr=False, compare=False)

    @property
    def called(self) -> str:
        """What the trials are: where all were drawn at random, none of them is a proposal."""
        return "trial" if set(self.origin) == {"random"} else "proposal"

    @property
    def sentence(self) -> str:
        """What the proposals were for, counted."""
        pairs = zip(self.payout["mean"], self.payout["uncertainty"], strict=True)
        motives = Counter(motive(float(m), float(u), self.maximize) for m, u in pairs)
        most = ", ".join(f"{count} {meaning}" for meaning, count in motives.most_common(3))
        return (
            f"Of {words.counted(len(self.trial), self.called)} explained, by what they meant: {most}. "
            "Exploitation is a better expected result than average, exploration more uncertainty."
        )

    @property
    def weight(self) -> FloatArray:
        """What each parameter's value did to the bound on average, whichever way, shape (d,)."""
        return np.asarray(np.abs(self.bound).mean(axis=0))

    @property
    def weight_sentence(self) -> str:
        first = int(self.weight.argmax())
        way = "Upward" if self.maximize else "Downward"
        return (
            f"{self.parameters[first]} weighed most in the search's choices, "
            f"{words.number(float(self.weight[first]), 3)} of the bound on average. {way} is desirable."
        )

    @property
    def as_expected(self) -> BoolArray:
        """Which results lie within two standard deviations of what was predicted; not what failed."""
        off = np.abs(self.measured - self.actual["mean"])
        return np.asarray(off <= 2 * self.actual["uncertainty"])

    @property
    def expectation_sentence(self) -> str:
        known = int(np.isfinite(self.measured).sum())
        if not known:
            return "None of these proposals has a result."
        return (
            f"{self.as_expected.sum()} of {words.counted(known, 'proposal')} came out within two "
            "standard deviations of what the search expected; about 95 % would be right."
        )

    @property
    def strongest(self) -> list[int]:
        """All parameters by their place, those that weighed most first."""
        return [int(j) for j in np.argsort(-self.weight, kind="stable")]

    @property
    def worth(self) -> FloatArray:
        """What a unit of uncertainty adds to the bound, of each proposal: tau, with a sign."""
        return self.tau if self.maximize else -self.tau

    @property
    def lead(self) -> tuple[str, ...]:
        sign = "+" if self.maximize else "-"
        return (
            self.sentence,
            f"{words.counted(len(self.trial), self.called)} for {self.objective}; contributions to "
            f"the bound (mean {sign} {self.tau[0]:g} x uncertainty), means over thirds of the run",
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        """Contributions to the bound, those that weigh most first, and the payouts."""
        thirds = [t for t in np.array_split(np.arange(len(self.trial)), 3) if len(t)]
        heads = [f"trials {self.trial[t[0]]} to {self.trial[t[-1]]}" for t in thirds]
        means = np.array([self.bound[t].mean(axis=0) for t in thirds])
        means = tidy(means, float(self.weight.max()))[:, self.strongest]
        payouts = [[float(of[t].mean()) for of in self.payout.values()] for t in thirds]

        def rows(title: str, names: list[str], columns: Iterable[Iterable[float]]) -> Table:
            numbers = zip(heads, columns, strict=True)
            return table(Column(title, names), *(Column(h, c, words.number) for h, c in numbers))

        return (
            rows("parameter", [self.parameters[j] for j in self.strongest], means),
            rows("payout", [f"payout of the {part}" for part in self.payout], payouts),
        )

    def why(self, row: int) -> Why:
        """All that is known of one proposal."""
        if not self._whys:
            raise AnalysisError(
                "A path that was read from a file has no single explanations; compute it again, or "
                "ask for one with why()."
            )
        return self._whys[row]

    def _columns(self) -> dict[str, Any]:
        """One row for each proposal and parameter."""
        T, d = self.mean.shape
        ends = [f"{name}_{end}" for name in SHOWN for end in ("low", "high")]
        return {
            "trial": np.repeat(self.trial, d),
            "parameter": self.parameters * T,
            "value": [value for row in self.values for value in row],
        } | {name: getattr(self, name).ravel() for name in (*SHOWN, *ends)}

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


@of_a_run
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
    numbers, design, notes = explainable(history, trials, initial, objective)
    question, comparison = comparable(history, numbers, question)

    foreign = any(origin(history.trials[position(history, n)]) != "surrogate" for n in numbers)
    if foreign and surrogate is None:
        question.stand_in(history)  # remembered, before several threads ask for it

    def one(trial: int) -> Why:
        return explained(history, trial, question.proposer(history, trial), question, threads=1)

    whys: list[Why] = []
    with one_thread(), ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        try:
            for record in pool.map(one, numbers):
                whys.append(record)
                if progress is not None:
                    progress(len(whys), len(numbers))
        except BaseException:
            pool.shutdown(cancel_futures=True)  # who interrupts does not wait for all the others
            raise
    return _collected(history, question, whys, design, notes + comparison)


def _fitted(whys: Sequence[Why], origins: Sequence[Origin], budgets: bool) -> tuple[str, ...]:
    """What is not known of those that were explained by a surrogate fitted here."""
    fitted = [who for w, who in zip(whys, origins, strict=True) if not w.recorded]
    kind = next((words.surrogate_name(w.surrogate) for w in whys if not w.recorded), "")
    what = "trials" if set(origins) == {"random"} else "proposals"
    reasons: tuple[tuple[Origin, str], ...] = (
        ("random", "{} were drawn at random, no surrogate proposed them"),
        ("initial", "{} belong to the initial design, no surrogate proposed them"),
        ("confirm", "{} were run to settle an explanation, not to improve"),
        ("unknown", "what the optimiser believed is not recorded for {}"),
        ("surrogate", "the recorded surrogates of {} could not be used"),
    )
    at = " at the largest budget by then" if budgets else ""
    notes = []
    for who, text in reasons:
        if n := fitted.count(who):
            start = text.format(f"{n} of {len(whys)} {what}")
            notes.append(
                f"{start[0].upper() + start[1:]}; a {kind} was fitted to the complete trials before "
                f"each{at}."
            )
    return tuple(notes)


def _collected(
    history: History,
    question: Question,
    whys: Sequence[Why],
    design: Sequence[int],
    notes: tuple[str, ...],
) -> ProposalPath:
    space, names = history.space, history.space.names
    order = [[w.parameters.index(name) for name in names] for w in whys]
    arrays: dict[str, Any] = {
        name + end: np.array([getattr(w, name + end)[o] for w, o in zip(whys, order, strict=True)])
        for name in SHOWN
        for end in ("", "_low", "_high")
    }
    places = [position(history, w.trial) for w in whys]
    origins = tuple(origin(history.trials[k]) for k in places)
    if question.surrogate is None:
        budgets = len({t.budget for t in history.trials}) > 1
        notes += _fitted(whys, origins, budgets)
        notes += () if all(w.recorded for w in whys) else question.stand_in(history)[1]

    def each(which: Literal["actual", "average", "payout"]) -> dict[str, FloatArray]:
        return {name: np.array([getattr(w, which)[name] for w in whys]) for name in SHOWN}

    def values(place: int) -> tuple[Any, ...]:
        return tuple(history.trials[place].values.get(name) for name in names)

    return ProposalPath(
        objective=whys[0].objective,
        maximize=whys[0].maximize,
        parameters=names,
        log=tuple(p.log for p in space.parameters),
        numeric=tuple(p.numeric for p in space.parameters),
        trial=np.array([w.trial for w in whys]),
        values=tuple(values(k) for k in places),
        vectors=history.vectors[places],
        **arrays,
        actual=each("actual"),
        average=each("average"),
        payout=each("payout"),
        measured=np.array([np.nan if w.measured is None else w.measured for w in whys]),
        tau=np.array([w.tau for w in whys]),
        proposed_by=tuple(w.proposed_by for w in whys),
        origin=origins,
        r2=np.array([w.quality.r2 for w in whys]),
        recorded=np.array([w.recorded for w in whys]),
        design=tuple(values(k) for k in design),
        design_vectors=history.vectors[list(design)],
        surrogate=whys[0].surrogate,
        methods=tuple(sorted({w.method for w in whys})),
        background=whys[0].background,
        level=whys[0].level,
        captions=tuple(w.captions for w in whys),
        notes=notes,
        _whys=tuple(whys),
    )
