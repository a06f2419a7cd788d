"""The surrogate recorded with a proposal, rebuilt as it was, and checked to predict what it did then."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hyperlens.explain.models.curves import Predictor
from hyperlens.explain.models.fitting import SurrogateName
from hyperlens.proposal import Acquisition, Proposal, from_ranges
from hyperlens.runs.history import History, State, Trial
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.bearable import LARGEST
from hyperlens.surrogates.bending import Bend
from hyperlens.surrogates.description import BEND, believe, learnt, rebuild
from hyperlens.surrogates.desirability import Desirability, Joint, desirability
from hyperlens.surrogates.gaussian_process.gp import GP
from hyperlens.surrogates.outcomes import Outcomes
from hyperlens.surrogates.quality import Quality, assess
from hyperlens.surrogates.random_forest.forest import Forest
from hyperlens.surrogates.threads import one_thread
from hyperlens.words import SURROGATES

CLOSE = 1e-6  # of the costs' range: a rebuilt surrogate that is farther off is another one


@dataclass(frozen=True)
class Proposer:
    """A surrogate of minimised costs as it was when a trial was proposed.

    `X` and `y` are what it had learned from, `best` the smallest mean it predicts there. `tau` and
    `acquisition` are those that the trial was proposed by, None unless they were recorded. Where there
    were several objectives, limits or failures, it is the surrogate of one objective, and `joint` all.
    """

    name: SurrogateName
    model: GP | Forest | Predictor
    X: FloatArray
    y: FloatArray
    best: float
    recorded: bool
    tau: float | None
    acquisition: Acquisition | None
    quality: Quality
    notes: tuple[str, ...]
    joint: Joint | None = None  # with all other surrogates, where there were several
    wish: Desirability | None = None  # what was made of them
    objectives: tuple[str, ...] = ()  # of these surrogates


def recorded_aim(trial: Trial) -> tuple[Acquisition | None, float | None]:
    """Acquisition and tau by which a surrogate proposed this trial, as far as they are recorded."""
    if trial.proposal is None or not trial.proposal.by_surrogate:
        return None, None
    return trial.proposal.acquisition, trial.proposal.tau


class Unusable(Exception):
    """Why a recorded surrogate cannot be rebuilt: the end of a sentence."""


def rebuilt(history: History, trial: Trial, objective: str | None) -> Proposer:
    """The surrogate that proposed a trial; Unusable where what is recorded does not give it again."""
    proposal = trial.proposal
    assert proposal is not None
    name = proposal.surrogate
    if name is None or name not in SURROGATES:
        raise Unusable("is of an unknown kind; another was fitted.")
    if proposal.beside:
        return _jointly(history, trial, proposal, objective)
    X, y, failed = _learned(history, trial, proposal, objective)
    awaited = _vectors(history, _numbers(proposal.awaited))
    try:
        y = learnt(y, proposal.surrogate_parameters)
        with one_thread():
            model = rebuild(name, proposal.surrogate_parameters, history.space.cube, X, y)
            quality = assess(model, X, y, SURROGATES[name])
            model = believe(model, X, y, awaited)
            best = float(model.predict(X)[0].min())
            _check_same(model, history.space.encode([trial.values]), y, proposal.mean, proposal.std)
    except (KeyError, TypeError, ValueError, AssertionError, np.linalg.LinAlgError) as problem:
        raise Unusable("is not complete; another was fitted.") from problem
    acquisition, tau = recorded_aim(trial)
    return Proposer(
        name="gp" if name == "gp" else "forest",
        model=model,
        X=X,
        y=y,
        best=best,
        recorded=True,
        tau=tau,
        acquisition=acquisition,
        quality=quality,
        notes=_notes(len(y), len(awaited), failed) + _bent(proposal),
    )


def _jointly(history: History, trial: Trial, proposal: Proposal, objective: str | None) -> Proposer:
    """All surrogates of a proposal, of which that of one objective is explained."""
    names = proposal.objectives or (history.objective(objective).name,)
    shown = _place(history.objective(objective).name, names)
    known = _outcomes(history, trial, proposal, names)
    data, awaited = known.learnt(), _vectors(history, _numbers(proposal.awaited))
    recorded = [
        (proposal.surrogate, proposal.surrogate_parameters, proposal.mean, proposal.std),
        *((b.surrogate, b.surrogate_parameters, b.mean, b.std) for b in proposal.beside),
    ]
    if len(recorded) != len(data):
        raise Unusable("is not complete; another was fitted.")
    models, qualities = [], []
    own = history.space.encode([trial.values])
    try:
        with one_thread():
            for (name, parameters, mean, std), (X, y) in zip(recorded, data, strict=True):
                model = rebuild(str(name), parameters, history.space.cube, X, y)
                qualities.append(lambda m=model, X=X, y=y, n=name: assess(m, X, y, SURROGATES[n]))
                models.append(believe(model, X, y, awaited))
                _check_same(models[-1], own, y, mean, std)
            joint = Joint(tuple(models), shown)
            acquisition, tau = recorded_aim(trial)
            tau = 1.0 if tau is None else tau
            wish = desirability(known, joint, acquisition or "ei", tau, awaited)
            quality = qualities[shown]()
            X, y = data[shown]
            best = float(models[shown].predict(X)[0].min())
    except (KeyError, TypeError, ValueError, AssertionError, np.linalg.LinAlgError) as problem:
        raise Unusable("is not complete; another was fitted.") from problem
    return Proposer(
        name="gp" if recorded[shown][0] == "gp" else "forest",
        model=models[shown],
        X=X,
        y=y,
        best=best if np.isnan(wish.best) else wish.best,
        recorded=True,
        tau=tau,
        acquisition=acquisition,
        quality=quality,
        notes=_joint_notes(known, len(awaited)) + _bent(proposal),
        joint=joint,
        wish=wish,
        objectives=tuple(names),
    )


def _place(name: str, names: Sequence[str]) -> int:
    if name not in names:
        raise Unusable(f"was not one of {name}; another was fitted.")
    return list(names).index(name)


def _check_same(
    model: GP | Forest, own: FloatArray, y: FloatArray, mean: float | None, std: float | None
) -> None:
    """Does it predict what it predicted then?"""
    now = [float(part[0]) for part in model.predict(own)]
    allowed = CLOSE * max(float(np.ptp(y)), abs(now[0]))
    for one, then in zip(now, (mean, std), strict=True):
        if then is not None and not abs(one - then) <= allowed:
            raise Unusable("predicted otherwise than it does now; another was fitted.")


def _outcomes(history: History, trial: Trial, proposal: Proposal, names: Sequence[str]) -> Outcomes:
    """What was known of trials when one was proposed, in the order told."""
    numbers = _numbers(proposal.learned)
    X = _vectors(history, numbers)
    trials = {t.number: t for t in history.trials}
    places = [_place(name, [o.name for o in history.objectives]) for name in names]
    signs = np.array([history.objectives[k].sign for k in places])
    limits = sum(belief.about == "excess" for belief in proposal.beside)
    costs = np.full((len(numbers), len(names)), np.nan)
    for row, number in enumerate(numbers):
        if trials[number].state is State.COMPLETE:
            costs[row] = signs * np.array([trials[number].costs[k] for k in places])
    costs = np.maximum(costs, -LARGEST)
    costs[~(costs <= LARGEST).all(axis=1)] = np.nan  # as optimisers are told
    pruned = np.array([trials[number].state is State.PRUNED for number in numbers])
    if pruned.any() and np.isfinite(costs).any():  # counts as the worst
        others = _unlearned(history, trial, proposal)
        every = [costs, *(signs * np.array([t.costs[k] for k in places]) for t in others)]
        costs[pruned] = np.nanmax(np.vstack(every), axis=0)
    excess = np.array([trials[number].excess[:limits] for number in numbers])
    ended = np.isfinite(costs).all(axis=1)
    costs[ended, 0] = learnt(costs[ended, 0], proposal.surrogate_parameters)
    return Outcomes(X, costs, excess.reshape(len(numbers), limits))


def _joint_notes(known: Outcomes, awaited: int) -> tuple[str, ...]:
    """What is left out of what the surrogate of a cost learns, and what is believed."""
    failed = int(known.failed.sum())
    failures = (
        f"Of the {len(known.X)} results it knew, {failed} were failures; a surrogate of their own "
        "learned from them where trials fail.",
    )
    return failures * bool(failed) + _notes(len(known.X), awaited, 0)


def _bent(proposal: Proposal) -> tuple[str, ...]:
    """What was done to costs before they were learnt."""
    if BEND not in proposal.surrogate_parameters:
        return ()
    knee = Bend.from_list(proposal.surrogate_parameters[BEND]).knee
    return (
        f"Costs worse than {knee:.4g}, minimised, were drawn nearer by their logarithm before the "
        "surrogate learned from them.",
    )


def _notes(learned: int, awaited: int, failed: int) -> tuple[str, ...]:
    failures = (
        f"Of the {learned} results it knew, {failed} were failures, which count as the worst."
    )
    running = (
        f"Beside the {learned} results it knew, the surrogate believed its own means of the {awaited} "
        "trials that were still running."
    )
    return (failures,) * bool(failed) + (running,) * bool(awaited)


def _learned(
    history: History, trial: Trial, proposal: Proposal, objective: str | None
) -> tuple[FloatArray, FloatArray, int]:
    """Vectors and minimised costs in the order told; failed ones, so many, count as the worst."""
    numbers = _numbers(proposal.learned)
    X = _vectors(history, numbers)
    measured = history.objective(objective)
    k = history.objectives.index(measured)
    trials = {t.number: t for t in history.trials}
    results = [trials[number] for number in numbers]
    costs = np.array([t.costs[k] if t.state is State.COMPLETE else math.nan for t in results])
    costs = -costs if measured.maximize else costs
    known = np.isfinite(costs)
    if not known.any():
        raise Unusable("had learned from no result; another was fitted.")
    others = [measured.sign * t.costs[k] for t in _unlearned(history, trial, proposal)]
    worst = max([float(costs[known].max()), *filter(math.isfinite, others)])
    return X, np.where(known, costs, worst), int((~known).sum())


def _unlearned(history: History, trial: Trial, proposal: Proposal) -> list[Trial]:
    """Trials whose costs were known too, and not learned from."""
    apart = {*_numbers(proposal.learned), *_numbers(proposal.awaited)}
    before = (t for t in history.trials if t.number < trial.number and t.number not in apart)
    return [t for t in before if t.state is State.COMPLETE]


def _vectors(history: History, numbers: Sequence[int]) -> FloatArray:
    place = {t.number: k for k, t in enumerate(history.trials)}
    absent = [number for number in numbers if number not in place]
    if absent:
        raise Unusable(
            f"had learned from trial {absent[0]}, which this run does not hold; another was fitted."
        )
    return np.asarray(history.vectors[[place[number] for number in numbers]])


def _numbers(ranges: str) -> list[int]:
    try:
        return from_ranges(ranges)
    except ValueError as problem:
        raise Unusable(f"{problem}; another was fitted.") from problem
