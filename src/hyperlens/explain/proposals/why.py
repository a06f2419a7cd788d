"""Why a configuration was proposed: what each value did for the mean and for the uncertainty
(Croppi 2021).

Symbols
    m, se, cb    predicted mean, its standard deviation, and the bound m - tau se; shown in the user's
                 own direction, so that of a maximised objective the bound is m + tau se
    ei           the expected improvement, where that is what was maximised or asked for
    phi(v)       Shapley values of v; phi(cb) = phi(m) - tau phi(se) (Croppi 2021 Eq. 8)
    payout       v at the proposal minus the average of v over the background
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hyperlens import words
from hyperlens.explain.models.verdict import Verdict, guessed, judge, of_surrogate
from hyperlens.explain.proposals.aims import Aim, aim
from hyperlens.explain.proposals.jointly import beliefs, thoughts, weighed
from hyperlens.explain.proposals.proposers import WhichTrial, numbered, origin, position
from hyperlens.explain.proposals.question import Baseline, Question, Score, score_of
from hyperlens.explain.proposals.reasons import (
    basis_sentence,
    overall_sentence,
    parameter_sentences,
    tidy,
)
from hyperlens.explain.proposals.recorded_proposer import Proposer
from hyperlens.explain.run.configurations import named
from hyperlens.explain.shapley.attribution import Method, Part, attribute
from hyperlens.explain.shapley.backgrounds import KINDS, WIDTH, Kind
from hyperlens.explain.shapley.coalitions import Game, Quantities
from hyperlens.proposal import Acquisition
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History, Objective
from hyperlens.spaces.cube import FloatArray, IntArray
from hyperlens.surrogates.acquisition import lower_confidence_bound
from hyperlens.surrogates.quality import Quality
from hyperlens.surrogates.threads import one_thread
from hyperlens.tables import Column, Table, between, ends, table

PARTS = ("mean", "uncertainty", "bound", "score")
CONTRIBUTION = (
    "Shapley value: what this value of the parameter adds to the prediction, averaged over all orders "
    "in which the proposal's values can replace those of an average configuration."
)
BOUND = "The confidence bound that the search optimises: mean and tau times uncertainty together."
MOST_SENTENCES = 2  # of parameters, below one of many proposals


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

    `beliefs` are mean and standard deviation of every objective at the proposal, by name and in the
    user's direction, where several objectives, limits or failures made the proposal; the score is then
    of all of them together.
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
    verdict: Verdict
    basis: str  # what bound and score are, and by which of them it was chosen
    sentence: str
    sentences: tuple[str, ...]  # one a parameter
    notes: tuple[str, ...]
    beliefs: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def lead(self) -> tuple[str, ...]:
        return self.sentence, self.basis, *self.sentences

    @property
    def tables(self) -> tuple[Table, ...]:
        """Contributions, and what they add up to."""
        meanings, limits = {"bound": BOUND, "score": self.basis}, None
        if bool((self.uncertainty_high > self.uncertainty_low).any()):  # sampled
            title = f"{self.level:.0%} interval of the bound"
            limits = Column(title, ends(self.bound_low, self.bound_high), between(words.number))
        contributions = table(
            Column("parameter", self.parameters),
            Column("value", self.values, words.setting),
            *(
                Column(name, part, words.signed, meanings.get(name, CONTRIBUTION))
                for name, part in self.parts.items()
            ),
            limits,
        )
        names = ["payout, the sum of contributions", "at the proposal", self.compared_with]
        sums = (self.payout, self.actual, self.average)
        columns = (Column(p, [of[p] for of in sums], self._shown(p)) for p in self.parts)
        return contributions, table(Column("", names), *columns)

    def _columns(self) -> dict[str, Any]:
        present = [name for name in PARTS if getattr(self, name) is not None]
        ends = [f"{name}_{end}" for name in present for end in ("low", "high")]
        return {"parameter": self.parameters, "value": self.values} | self._fields(*present, *ends)

    @property
    def parts(self) -> dict[str, FloatArray]:
        """Contributions as tables show them: rounding noise is 0; the score has a scale of its own."""
        parts = {name: getattr(self, name) for name in PARTS[:3]}
        largest = max(float(np.abs(part).max(initial=0)) for part in parts.values())
        shown = {name: tidy(part, largest) for name, part in parts.items()}
        if self.score is not None:
            shown["score"] = tidy(self.score, float(np.abs(self.score).max(initial=0)))
        return shown

    def _shown(self, part: str) -> Callable[[Any], str]:
        """Writes numbers of a part with the digits that tell the proposal from the average."""
        return words.beside([self.actual[part], self.average[part]])

    @property
    def compared_with(self) -> str:
        """What `average` is, in a few words."""
        return "on average" if self.background in KINDS else f"of {self.background}"

    @property
    def captions(self) -> tuple[str, ...]:
        """What goes with one of many: the sentence with the result, the numbers, and what the
        strongest parameters did."""
        measured = "It failed."
        if self.measured is not None:
            measured = f"It then measured {words.number(self.measured)}."
        numbers = "; ".join(
            f"{part} {self._shown(part)(self.actual[part])} ({self.compared_with} "
            f"{self._shown(part)(self.average[part])}, payout {self.payout[part]:+.3g})"
            for part in self.parts
        )
        return (
            f"{self.sentence} {measured}",
            f"{numbers[0].upper() + numbers[1:]}.",
            *self.sentences[:MOST_SENTENCES],
        )


@of_a_run
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

    The surrogate is the recorded one, or one fitted to the trials before, of the kind of the run's best
    Gaussian process, which a note then says.
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
    history: History, trial: int, source: Proposer, question: Question, threads: int | None = None
) -> Why:
    """The record of one proposal."""
    objective = history.objective(question.objective)
    sign, own = objective.sign, named(history, trial)
    latents, background, reference = question.compared_with(history, own.vector, source)

    tau, judged, quantities = _judged(source, question, objective)
    model = (source.joint if judged.jointly else None) or source.model
    attribution = attribute(
        Game(model, history.space.cube, own.vector, latents, quantities),
        question.method,
        uniform=background == "global",
        samples=question.samples,
        level=question.level,
        seed=question.seed,
        threads=threads,
    )
    parts = _shown(attribution.parts, tau, sign, judged)
    order = np.argsort(-np.abs(parts[judged.part].contribution), kind="stable")
    names = tuple(history.space.names[j] for j in order)
    values = tuple(own.values.get(name) for name in names)
    arrays = _arrays(parts, order)
    actual = {name: part.actual for name, part in parts.items()}
    average = {name: part.average for name, part in parts.items()}
    verdict = judge([of_surrogate(source.quality)])
    said = overall_sentence(
        trial, names, arrays[judged.part], actual, average, objective, reference, judged
    )
    return Why(
        trial=trial,
        objective=objective.name,
        maximize=objective.maximize,
        parameters=names,
        values=values,
        **arrays,
        actual=actual,
        average=average,
        payout={name: part.payout for name, part in parts.items()},
        measured=_measured(history, trial, objective),
        tau=tau,
        acquisition=judged.kind,
        proposed_by=source.acquisition,
        surrogate=source.name,
        recorded=source.recorded,
        learned=len(source.y),
        method=attribution.method,
        samples=attribution.samples,
        background=background,
        background_size=len(latents),
        level=question.level,
        quality=source.quality,
        verdict=verdict,
        basis=basis_sentence(tau, objective.maximize, judged, sign * source.best),
        beliefs=beliefs(history, own.vector, source),
        sentence=_settling(history, trial) + (said if source.recorded else guessed(verdict, said)),
        sentences=parameter_sentences(names, values, arrays, tau, objective, judged),
        notes=_notes(history, trial, own.vector, source, judged.kind),
    )


def _measured(history: History, trial: int, objective: Objective) -> float | None:
    """The trial's own result."""
    cost = history.trials[position(history, trial)].costs[history.objectives.index(objective)]
    return float(cost) if np.isfinite(cost) else None


def _settling(history: History, trial: int) -> str:
    """That a trial was run for the sake of an explanation, if so, and of which."""
    own = history.trials[position(history, trial)]
    if own.proposal is None or origin(own) != "confirm":
        return ""
    about = own.proposal.about or "importance"
    what = "what mattered" if about == "importance" else about
    return f"Trial {trial} was chosen to settle {what}, as what would say most about it. "


def _judged(
    source: Proposer, question: Question, objective: Objective
) -> tuple[float, Aim, Quantities]:
    """tau, what the proposal is judged by, and mean, std, bound and score of minimised costs."""
    tau = next((t for t in (question.tau, source.tau) if t is not None), 1.0)
    acquisition = question.acquisition or source.acquisition or "lcb"
    same = acquisition == source.acquisition and (acquisition == "ei" or tau == source.tau)
    if source.wish is not None and same:
        return tau, *weighed(source, source.wish, tau, objective)
    score = score_of(acquisition, source.best, objective.sign)

    def quantities(mean: FloatArray, std: FloatArray) -> FloatArray:
        rows = [mean, std, lower_confidence_bound(mean, std, tau)]
        return np.stack(rows if score is None else [*rows, score(mean, std)])

    return tau, aim(acquisition, objective.maximize, source.recorded and same), quantities


def _shown(parts: Sequence[Part], tau: float, sign: float, judged: Aim) -> dict[str, Part]:
    """Parts by name; mean and bound in the user's own direction."""
    mean, uncertainty, bound, *score = parts
    bound = _combined(mean, uncertainty, bound, tau)
    if judged.kind == "lcb":  # an expected bound, where trials may be of no use
        score = [_turned(part, sign) for part in score]
    shown = (_turned(mean, sign), uncertainty, _turned(bound, sign), *score)
    return dict(zip(PARTS, shown, strict=False))


def _arrays(parts: Mapping[str, Part], order: IntArray) -> dict[str, Any]:
    """Contributions with both ends of their intervals; None for a score that there is not."""
    arrays: dict[str, Any] = {name + end: None for name in PARTS for end in ("", "_low", "_high")}
    for name, part in parts.items():
        middle, reach = part.contribution[order], part.reach[order]
        arrays |= {name: middle, f"{name}_low": middle - reach, f"{name}_high": middle + reach}
    return arrays


def _notes(
    history: History, trial: int, vector: FloatArray, source: Proposer, kind: str
) -> tuple[str, ...]:
    said = thoughts(history, vector, source)
    return source.notes + _otherwise(trial, source, kind) + said


def _otherwise(trial: int, source: Proposer, kind: str) -> tuple[str, ...]:
    """That a proposal is explained by something else than what made it."""
    if source.acquisition in (None, kind):
        return ()
    made = {
        "ei": "maximised the expected improvement",
        "ehvi": "maximised the expected hypervolume improvement",
        "feasible": "maximised the chance to be of use",
    }
    how = made.get(str(source.acquisition), "chose by a bound")
    return (f"Trial {trial} {how}; it is explained by another acquisition, as was asked.",)


def _combined(mean: Part, uncertainty: Part, bound: Part, tau: float) -> Part:
    """phi(cb) = phi(m) - tau phi(se) by linearity (Croppi 2021 Eq. 8); its reach is the uncertainty's
    where the mean is exact."""
    sampled = bool(mean.reach.any())
    return Part(
        mean.contribution - tau * uncertainty.contribution,
        bound.reach if sampled else tau * uncertainty.reach,
        mean.actual - tau * uncertainty.actual,
        mean.average - tau * uncertainty.average,
    )


def _turned(part: Part, sign: float) -> Part:
    return Part(sign * part.contribution + 0.0, part.reach, sign * part.actual, sign * part.average)
