"""Why a configuration was proposed: what each value did for the mean and for the uncertainty (Croppi 2021).

Symbols
    m, se, cb    predicted mean, its standard deviation, and the bound m - tau se; shown in the user's
                 own direction, so that of a maximised objective the bound is m + tau se
    ei           the expected improvement, where that is what was maximised or asked for
    phi(v)       Shapley values of v; phi(cb) = phi(m) - tau phi(se) (Croppi 2021 Eq. 8)
    payout       v at the proposal minus the average of v over the background
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hyperlens.errors import AnalysisError, listed
from hyperlens.explain.importance.configurations import named
from hyperlens.explain.proposals.aims import Score, aim, scored
from hyperlens.explain.proposals.proposers import (
    BEST,
    Proposer,
    WhichTrial,
    numbered,
    position,
    proposer,
)
from hyperlens.explain.proposals.reasons import (
    basis_sentence,
    overall_sentence,
    parameter_sentences,
    tidy,
)
from hyperlens.explain.shapley import backgrounds
from hyperlens.explain.shapley.attribution import METHODS, Method, Part, attribute
from hyperlens.explain.shapley.backgrounds import KINDS, SIZE, WIDTH, Kind
from hyperlens.explain.shapley.coalitions import Game
from hyperlens.proposal import Acquisition
from hyperlens.record import Record
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.quality import Quality
from hyperlens.surrogates.threads import one_thread

if TYPE_CHECKING:
    import pandas as pd

Baseline = Literal["default", "best"] | Mapping[str, Any]
PARTS = ("mean", "uncertainty", "bound", "score")
THESIS_POPULATION = 1000  # background points per parameter of the thesis's estimator


@dataclass(frozen=True)
class Why(Record):
    """One proposal explained; parameters that weigh most in what it is judged by come first.

    A proposal is judged by the bound, or by the score where there is one: the expected improvement
    where that made the proposal or is asked for (larger is better), or what a given function returns
    (read like the bound). `basis` says so in a sentence; `proposed_by` is the recorded acquisition.

    `mean`, `uncertainty` and `bound` are contributions: bound = mean - tau uncertainty (+ where the
    objective is maximised), and each adds up to its `payout`, which is `actual` - `average`. A
    negative contribution to the mean or the bound is desirable (a positive one where maximised), a
    positive one to the uncertainty always. `low` and `high` coincide where nothing was sampled.
    Values are None where inactive.
    """

    trial: int
    objective: str
    maximize: bool
    parameters: tuple[str, ...]
    values: tuple[Any, ...]
    mean: FloatArray
    mean_low: FloatArray
    mean_high: FloatArray
    uncertainty: FloatArray
    uncertainty_low: FloatArray
    uncertainty_high: FloatArray
    bound: FloatArray
    bound_low: FloatArray
    bound_high: FloatArray
    score: FloatArray | None
    score_low: FloatArray | None
    score_high: FloatArray | None
    actual: dict[str, float]  # of "mean", "uncertainty", "bound", and "score" where it is there
    average: dict[str, float]
    payout: dict[str, float]
    measured: float | None  # the trial's own result
    tau: float
    acquisition: str  # that explains it: "lcb" (the bound), "ei" or "given"
    proposed_by: str | None  # that made it: "lcb" or "ei"; None where that is not recorded
    surrogate: str  # "gp", "forest" or "given"
    recorded: bool  # is it the very surrogate that proposed the trial?
    learned: int  # results that the surrogate had learned from
    method: str  # "exact", "paired" or "sampled"
    samples: int  # orders drawn, 0 where exact
    background: str  # "global", "local", "hybrid" or the baseline's name
    background_size: int
    level: float
    quality: Quality
    basis: str  # what bound and score are, and by which of them it was chosen
    sentence: str
    sentences: tuple[str, ...]  # one a parameter
    notes: tuple[str, ...]

    @property
    def frame(self) -> pd.DataFrame:
        import pandas as pd

        columns: dict[str, Any] = {"parameter": self.parameters, "value": list(self.values)}
        present = [name for name in PARTS if getattr(self, name) is not None]
        columns |= {name: getattr(self, name) for name in present}
        for name in present:
            columns |= {f"{name}_{end}": getattr(self, f"{name}_{end}") for end in ("low", "high")}
        return pd.DataFrame(columns)

    @property
    def parts(self) -> dict[str, FloatArray]:
        """Contributions as tables show them: rounding noise is 0; the score has a scale of its own."""
        found = {name: getattr(self, name) for name in PARTS[:3]}
        largest = max(float(np.abs(part).max(initial=0)) for part in found.values())
        shown = {name: tidy(part, largest) for name, part in found.items()}
        if self.score is not None:
            shown["score"] = tidy(self.score, float(np.abs(self.score).max(initial=0)))
        return shown

    @property
    def compared_with(self) -> str:
        """What `average` is, in a few words."""
        return "on average" if self.background in KINDS else f"of {self.background}"


@dataclass(frozen=True)
class Question:
    """How a proposal is to be explained; see `why`."""

    tau: float | None = None
    method: Method = "auto"
    samples: int | None = None
    background: Kind = "global"
    size: int | None = None
    width: float = WIDTH
    baseline: Baseline | None = None
    acquisition: Acquisition | Score | None = None
    surrogate: Any = None
    level: float = 0.95
    seed: int = 0
    objective: str | None = None
    trees: int = 64

    def __post_init__(self) -> None:
        if self.tau is not None and not (np.isfinite(self.tau) and self.tau >= 0):
            raise AnalysisError(f"tau is {self.tau}; choose a finite number of at least 0.")
        if self.method not in METHODS:
            raise AnalysisError(
                f"There is no method '{self.method}'; choose one of {listed(METHODS)}."
            )
        if self.background not in KINDS:
            raise AnalysisError(
                f"There is no background '{self.background}'; choose one of {listed(KINDS)}."
            )
        if self.baseline is not None and self.background != "global":
            raise AnalysisError(
                f"A baseline takes the place of a {self.background} background; give one of the two."
            )
        if self.samples is not None and self.samples < 2:
            raise AnalysisError(f"{self.samples} samples have no spread; draw 2 or more.")
        if self.size is not None and self.size < 1:
            raise AnalysisError(f"A background of {self.size} points is none; use 1 or more.")
        if not 0 < self.width <= 1:
            raise AnalysisError(
                f"A width of {self.width} is no part of an axis; choose one from above 0 to 1."
            )
        if not 0 < self.level < 1:
            raise AnalysisError(
                f"An interval of {self.level} is not a level; choose one between 0 and 1."
            )

    def proposer(self, history: History, trial: int) -> Proposer:
        return proposer(
            history,
            trial,
            self.surrogate,
            objective=self.objective,
            seed=self.seed,
            trees=self.trees,
        )


def why(
    history: History,
    trial: WhichTrial | None = None,
    tau: float | None = None,
    *,
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
) -> Why:
    """Explain why a trial (its number, or "best", which None means too) was proposed.

    The surrogate is the recorded one, or one fitted to the trials before, which a note then says.
    `tau` and `acquisition` ("lcb", "ei") are the recorded ones, else 1 and "lcb"; an acquisition may
    be a function of mean and std, both arrays, the mean in the objective's own direction. What it
    returns is read like the bound: less is better, more where the objective is maximised.

    `background` is the whole space, a box of `width` around the proposal, or half of each, of `size`
    Sobol' points (1024); `baseline` compares with one configuration instead: the default's, the best
    before this trial, or values. Over the whole space a Gaussian process has its mean part in closed
    form. `method` "exact" takes every coalition, "paired" draws `samples` orders of parameters and
    their reverses, "sampled" is the thesis's estimator with K = `samples` (1000) on 1000 points per
    parameter; "auto" is exact while that takes seconds.
    """
    question = Question(
        tau, method, samples, background, size, width, baseline, acquisition, surrogate, level,
        seed, objective, trees,
    )  # fmt: skip
    number = numbered(history, trial, objective)
    key = ("proposer", number, surrogate, objective, seed, trees)
    if history.memory.get("proposer", (None,))[0] != key:
        history.memory["proposer"] = (key, question.proposer(history, number))
    with one_thread():
        return explained(history, number, history.memory["proposer"][1], question)


def explained(
    history: History,
    trial: int,
    source: Proposer,
    question: Question,
    threads: int | None = None,
) -> Why:
    """The record of one proposal."""
    space, chosen = history.space, history.objective(question.objective)
    sign = -1.0 if chosen.maximize else 1.0
    own = named(history, trial)
    tau = source.tau if question.tau is None else question.tau
    tau = 1.0 if tau is None else tau
    acquisition = question.acquisition or source.acquisition or "lcb"
    score = scored(acquisition, source.best, sign)
    same = acquisition == source.acquisition and (acquisition == "ei" or tau == source.tau)
    judged = aim(acquisition, chosen.maximize, source.recorded and same)
    latents, kind, reference = _background(history, own.vector, source, question)

    def quantities(mean: FloatArray, std: FloatArray) -> FloatArray:
        rows = [mean, std, mean - tau * std]
        return np.stack(rows if score is None else [*rows, score(mean, std)])

    found = attribute(
        Game(source.model, space.cube, own.vector, latents, quantities),
        question.method,
        uniform=kind == "global",
        samples=question.samples,
        level=question.level,
        seed=question.seed,
        threads=threads,
    )
    mean, uncertainty, bound, *rest = found.parts
    bound = _combined(mean, uncertainty, bound, tau)
    shown = {"mean": _turned(mean, sign), "uncertainty": uncertainty, "bound": _turned(bound, sign)}
    if rest:
        shown["score"] = rest[0]
    order = np.argsort(-np.abs(shown[judged.part].contribution), kind="stable")
    names = tuple(space.names[j] for j in order)
    values = tuple(own.values.get(name) for name in names)
    numbers = {
        name: {
            "": part.contribution[order],
            "_low": (part.contribution - part.reach)[order],
            "_high": (part.contribution + part.reach)[order],
        }
        for name, part in shown.items()
    }
    arrays: dict[str, Any] = {
        name + end: numbers[name][end] if name in numbers else None
        for name in PARTS
        for end in ("", "_low", "_high")
    }
    average = {name: part.average for name, part in shown.items()}
    actual = {name: part.actual for name, part in shown.items()}
    cost = history.trials[position(history, trial)].costs[history.objectives.index(chosen)]
    return Why(
        trial=trial,
        objective=chosen.name,
        maximize=chosen.maximize,
        parameters=names,
        values=values,
        **arrays,
        actual=actual,
        average=average,
        payout={name: part.payout for name, part in shown.items()},
        measured=float(cost) if np.isfinite(cost) else None,
        tau=tau,
        acquisition=judged.kind,
        proposed_by=source.acquisition,
        surrogate=source.name,
        recorded=source.recorded,
        learned=len(source.y),
        method=found.method,
        samples=found.samples,
        background=kind,
        background_size=len(latents),
        level=question.level,
        quality=source.quality,
        basis=basis_sentence(tau, chosen.maximize, judged, sign * source.best),
        sentence=overall_sentence(
            trial, names, arrays[judged.part], actual, average, chosen, reference, judged
        ),
        sentences=parameter_sentences(names, values, arrays, tau, chosen, judged),
        notes=source.notes + _otherwise(trial, source, judged.kind),
    )


def _otherwise(trial: int, source: Proposer, kind: str) -> tuple[str, ...]:
    """That a proposal is explained by something else than what made it."""
    if source.acquisition in (None, kind):
        return ()
    made = (
        "maximised the expected improvement" if source.acquisition == "ei" else "chose by a bound"
    )
    return (f"Trial {trial} {made}; it is explained by another acquisition, as was asked.",)


def _background(
    history: History, vector: FloatArray, source: Proposer, question: Question
) -> tuple[FloatArray, str, str]:
    """Latents, the name of the background, and what the average is the average of."""
    cube, seed = history.space.cube, question.seed
    size = SIZE if question.size is None else question.size
    if question.baseline is not None:
        if isinstance(question.baseline, str) and question.baseline in BEST:
            baseline, called = source.X[int(np.argmin(source.y))], "the best trial before it"
        else:
            other = named(history, question.baseline, question.objective)
            baseline, called = other.vector, other.called
        return backgrounds.single(cube, baseline, size, seed), called, f"that of {called}"
    if question.background == "global" and question.method == "sampled":
        if question.size is None:
            size = THESIS_POPULATION * cube.d
        return backgrounds.latin_hypercube(cube, size, seed), "global", "the average of the space"
    reference = {
        "global": "the average of the space",
        "local": "the average of its surroundings",
        "hybrid": "the average of the space and its surroundings",
    }[question.background]
    latents = backgrounds.background(question.background, cube, vector, size, question.width, seed)
    return latents, question.background, reference


def _combined(mean: Part, uncertainty: Part, bound: Part, tau: float) -> Part:
    """The bound's part by linearity; its reach is the uncertainty's where the mean is exact."""
    sampled = bool(mean.reach.any())
    return Part(
        mean.contribution - tau * uncertainty.contribution,
        bound.reach if sampled else tau * uncertainty.reach,
        mean.actual - tau * uncertainty.actual,
        mean.average - tau * uncertainty.average,
    )


def _turned(part: Part, sign: float) -> Part:
    return Part(sign * part.contribution + 0.0, part.reach, sign * part.actual, sign * part.average)
