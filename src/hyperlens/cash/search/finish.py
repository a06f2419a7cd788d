"""From what was evaluated to one model: members are chosen, trained and put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hyperlens.cash.measuring.evaluation import DEFAULT_METRIC, Evaluation
from hyperlens.cash.measuring.growing import grows
from hyperlens.cash.measuring.kept import key_of
from hyperlens.cash.results.calibration import Calibration, calibration
from hyperlens.cash.search.ensemble import (
    Ensemble,
    Measure,
    Pool,
    by_scorer,
    lifted,
    log_losses,
    squared_errors,
    temperature,
    tempered_by,
)
from hyperlens.cash.search.pace import Pace
from hyperlens.cash.search.refit import Member, together, train
from hyperlens.cash.search.stacking import (
    StackedClassifier,
    StackedRegressor,
    crossed,
    learnt,
)
from hyperlens.optimize.models.model_sampling import ROOT
from hyperlens.runs.history import History, State, Trial
from hyperlens.spaces.cube import FloatArray

MOST_CANDIDATES = 40
MOST_ALIKE = 15  # of them may be of one model
ENOUGH_CANDIDATES = 5  # else predictions of models that were trained on fewer rows are looked at
NEVER = 1e-7  # a chance smaller than this says that something cannot be
FLOORS = 7  # are tried, from there on
MOST_SLOW = 8  # candidates, where a metric is asked one prediction at a time
QUICK = ("neg_log_loss", "neg_root_mean_squared_error")


@dataclass(frozen=True, eq=False)
class Candidate:
    """A configuration with its held-out predictions with a budget, one array a split, and the number
    of trees where growing stopped."""

    trial: Trial
    values: Mapping[str, Any]
    budget: float
    predictions: Sequence[FloatArray]
    trees: int | None = None


def finished(
    evaluation: Evaluation,
    history: History,
    best: Trial,
    times: int,
    most: int,
    pace: Pace,
    metric: str,
    maximize: bool,
    stacking: bool = False,
) -> tuple[Any, Ensemble]:
    """The trained model, of at most so many configurations, and what it is made of."""
    candidates = found(evaluation, history, best, pace) if most > 1 else []
    least = _least(evaluation, candidates)
    pool = _pool(evaluation, candidates, least) if candidates else None
    if pool is None:
        values = {**history.space.constants, **best.values}
        trees = stopped(evaluation, values, best.budget or 1.0)
        candidates, least = [Candidate(best, values, 1.0, (), trees)], 0.0
    weights = np.ones(1) if pool is None else _limited(pool, most)
    members = [
        Member(
            candidates[c].values,
            float(weights[c]),
            measured_on=_part(evaluation, candidates[c]),
            place=int(c),
            trees=candidates[c].trees,
        )
        for c in sorted(np.flatnonzero(weights), key=lambda c: (c != 0, -weights[c]))
    ]
    trained = train(evaluation, members, times, pace)
    final = _shares(trained, len(candidates))
    if pool is not None and pool.loss(final) > pool.loss(np.eye(len(candidates))[0]):
        trained = trained[:1]  # what was left out for lack of time is what made it better
        final = _shares(trained, len(candidates))
    single, whole, heat, honest = _judged(evaluation, candidates, final, pool, best, maximize)
    sign = -1.0 if maximize else 1.0
    record = Ensemble(
        metric=metric,
        maximize=maximize,
        models=tuple(str(m.configuration.get(ROOT, "")) for m in trained),
        trials=np.array([candidates[m.place].trial.number for m in trained], dtype=np.int64),
        weights=np.array([final[m.place] for m in trained]),
        parts=np.array([m.part for m in trained]),
        single=sign * single,
        together=sign * whole,
        honest_single=sign * honest[0],
        honest_together=sign * honest[1],
        candidates=len(candidates),
        temperature=heat,
        least=least,
        trees=np.array([m.trees or 0 for m in trained], dtype=np.int64),
        chosen_on=_part(evaluation, candidates[0]),
        calibration=_calibration(evaluation, candidates, final, heat, least),
        notes=_notes(members, trained, len(evaluation.y), heat, _part(evaluation, candidates[0])),
    )
    if stacking and pool is not None:
        return _stacked(evaluation, candidates, trained, pool, record, least)
    return together(evaluation, trained, heat, least), record


def _stacked(
    evaluation: Evaluation,
    candidates: list[Candidate],
    trained: list[Member],
    pool: Pool,
    record: Ensemble,
    least: float,
) -> tuple[Any, Ensemble]:
    """With a model on top of the members, if that helps on rows that it was not trained on."""
    said = np.array([_flat(candidates[m.place].predictions) for m in trained])
    y = evaluation.y[pool.rows]
    weights = None if evaluation.weights is None else evaluation.weights[pool.rows]
    parts, final = pool.left_out(), _shares(trained, len(candidates))
    loss = float("nan")
    if len(trained) > 1:
        loss = crossed(evaluation.task, said, y, weights, pool.measure, parts, least)
    sign = -1.0 if record.maximize else 1.0
    plain = np.mean([pool.loss(final, out) for out in parts]) if parts else float("nan")
    if not loss < min(plain, sign * record.together):
        note = "Stacking was asked for and does not help on rows that had no part in it: the mean stays."
        kept = replace(record, notes=(*record.notes, note))
        return together(evaluation, trained, record.temperature, least), kept
    top = learnt(evaluation.task, said, y, weights)
    members = [together(evaluation, [m]) for m in trained]
    found = replace(
        record, stacked=True, temperature=1.0, together=sign * loss, honest_together=sign * loss,
        calibration=None, notes=tuple(n for n in record.notes if not n.startswith("Chances are")),
    )  # fmt: skip
    if evaluation.task == "regression":
        return StackedRegressor(members, top).fit(evaluation.X, evaluation.y), found
    return StackedClassifier(members, top, least).fit(evaluation.X, evaluation.y), found


def _part(evaluation: Evaluation, candidate: Candidate) -> float:
    """Of the training rows that its predictions' models were trained on."""
    return evaluation.look(candidate.budget)[0]


def stopped(evaluation: Evaluation, values: Mapping[str, Any], budget: float) -> int | None:
    """The number of trees of a configuration that stops early; where that was another process's and is
    lost, it is found again."""
    if evaluation.kept is None or not (evaluation.disjoint and grows(evaluation.model(values))):
        return None
    trees = evaluation.kept.trees(values, budget)
    if trees is None:
        evaluation.losses(values, budget)
        trees = evaluation.kept.trees(values, budget)
    return trees


def _shares(trained: list[Member], candidates: int) -> FloatArray:
    """Weights of what was trained, by its place among the candidates."""
    shares = np.zeros(candidates)
    for member in trained:
        shares[member.place] = member.weight
    return np.asarray(shares / shares.sum())


def _judged(
    evaluation: Evaluation,
    candidates: list[Candidate],
    weights: FloatArray,
    pool: Pool | None,
    best: Trial,
    maximize: bool,
) -> tuple[float, float, float, tuple[float, float]]:
    """Losses of the best one alone and of all, the temperature, and the losses on other rows."""
    if pool is None:
        alone = -float(best.costs[0]) if maximize else float(best.costs[0])
        return alone, alone, 1.0, (float("nan"), float("nan"))
    first = np.eye(len(candidates))[0]
    heat, tempered = _heated(evaluation, candidates, weights, pool)
    return pool.loss(first), min(pool.loss(weights), tempered), heat, pool.honest()


def found(evaluation: Evaluation, history: History, best: Trial, pace: Pace) -> list[Candidate]:
    """What has held-out predictions, the best one first and then by loss: of models trained on as many
    rows as the best one, or on fewer where too few came so far. Nothing where the best one has none."""
    assert evaluation.kept is not None
    sign = -1.0 if history.objective().maximize else 1.0
    constants = history.space.constants
    wanted = (State.COMPLETE, State.PRUNED)
    trials = [t for t in history.trials if t.state in wanted and np.isfinite(t.costs[0])]
    trials.sort(key=lambda t: (t.number != best.number, -(t.budget or 1.0), sign * t.costs[0]))
    largest: list[Candidate] = []
    for part in sorted({float(t.budget or 1.0) for t in trials}, reverse=True):
        here: dict[str, Candidate] = {}
        for trial in trials:
            values = {**constants, **trial.values}
            predictions = evaluation.kept.read(values, part)
            again = pace.seconds is None and part == 1.0 == (trial.budget or 1.0)
            if predictions is None and again:  # a search that went on: its first part is elsewhere
                evaluation.losses(values, part)
                predictions = evaluation.kept.read(values, part)
            if predictions is not None:
                alike = sum(c.values.get(ROOT) == values.get(ROOT) for c in here.values())
                if alike >= MOST_ALIKE and trial.number != best.number:
                    continue
                trees = evaluation.kept.trees(values, part)
                here.setdefault(key_of(values), Candidate(trial, values, part, predictions, trees))
            elif trial.number == best.number:
                break
            if len(here) == MOST_CANDIDATES:
                break
        if len(here) > len(largest):
            largest = list(here.values())
        if len(largest) >= ENOUGH_CANDIDATES:
            break
    return largest


def _least(evaluation: Evaluation, candidates: list[Candidate]) -> float:
    """The smallest chance that a class is given: where models say that something cannot be, what is best
    on the rows that they did not see, from hardly any to as if one row more had every class alike.
    Nothing where none does, or the metric does not mind."""
    if not candidates or (evaluation.metric or DEFAULT_METRIC[evaluation.task]) != "neg_log_loss":
        return 0.0
    smallest = min(float(p.min()) for c in candidates for p in c.predictions)
    if smallest >= NEVER:
        return 0.0
    most = 1.0 / (len(evaluation.y) + 1) / len(evaluation.classes)
    floors = np.unique(np.minimum(np.geomspace(NEVER, most, FLOORS), most))
    losses = [_pool(evaluation, candidates[:1], floor) for floor in floors]
    return float(floors[np.argmin([pool.loss(np.ones(1)) for pool in losses if pool is not None])])


def _pool(evaluation: Evaluation, candidates: list[Candidate], least: float) -> Pool | None:
    """Their predictions for the same rows, and how they are measured."""
    looks = [held for _, held in evaluation.rows_at(candidates[0].budget)]
    rows = np.concatenate(looks)
    splits = np.concatenate([np.full(len(held), s) for s, held in enumerate(looks)])
    measure = _measure(evaluation, rows, splits)
    name = evaluation.metric or DEFAULT_METRIC[evaluation.task]
    if name not in QUICK:
        del candidates[MOST_SLOW:]
    predictions = np.array([_flat(c.predictions) for c in candidates])
    if name == "neg_log_loss":  # what the true class was given is all that counts
        true = evaluation.codes[rows][None, :, None]
        predictions = np.take_along_axis(lifted(predictions, least), true, axis=2)
    try:
        measure(predictions[:1], None)
    except Exception:  # whatever a scorer of the user's needs that is not a prediction
        return None
    return Pool(predictions, rows, measure)


def _measure(evaluation: Evaluation, rows: Any, splits: Any) -> Measure:
    name = evaluation.metric or DEFAULT_METRIC[evaluation.task]
    weights = None if evaluation.weights is None else evaluation.weights[rows]
    if name == "neg_log_loss":
        return log_losses(evaluation.codes[rows], splits, weights)
    if name == "neg_root_mean_squared_error":
        return squared_errors(evaluation.y[rows], splits, weights)
    numbers = evaluation.task == "regression"
    return by_scorer(
        lambda said, places: evaluation.scores(said[:, 0] if numbers else said, rows[places]),
        splits,
    )


def _flat(predictions: Sequence[FloatArray]) -> FloatArray:
    """Those of all splits (n, k)."""
    whole: FloatArray = np.concatenate(predictions)
    return whole.reshape(len(whole), -1)


def _limited(pool: Pool, most: int) -> FloatArray:
    """Greedy weights of at most so many members; the first one is the best single one."""
    weights = pool.selected(0)
    while np.count_nonzero(weights) > most:
        used = np.flatnonzero(weights)
        weights[used[1:][np.argmin(weights[used[1:]])]] = 0.0
        weights /= weights.sum()
    if pool.loss(weights) > pool.loss(np.eye(len(weights))[0]):
        return np.asarray(np.eye(len(weights))[0])
    return weights


def _heated(
    evaluation: Evaluation, candidates: list[Candidate], weights: FloatArray, pool: Pool
) -> tuple[float, float]:
    """The temperature of the chances, and the loss with it; only where that helps."""
    if (
        evaluation.task != "classification"
        or (evaluation.metric or "neg_log_loss") != "neg_log_loss"
    ):
        return 1.0, float("inf")
    chances = _mixed(candidates, weights)
    heat = temperature(chances, pool.measure, pool.left_out())
    if heat == 1.0:
        return 1.0, float("inf")
    return heat, float(pool.measure(tempered_by(chances, heat)[None], None)[0])


def _mixed(candidates: list[Candidate], weights: FloatArray) -> FloatArray:
    """Held-out predictions (n, k) of all together."""
    used = np.flatnonzero(weights)
    parts = [weights[c] * _flat(candidates[c].predictions) for c in used]
    mean: FloatArray = np.sum(parts, axis=0)
    return mean


def _calibration(
    evaluation: Evaluation,
    candidates: list[Candidate],
    weights: FloatArray,
    heat: float,
    least: float,
) -> Calibration | None:
    """How true the chances are on held-out rows; None where there are none."""
    if evaluation.task != "classification" or not candidates[0].predictions:
        return None
    chances = _mixed(candidates, weights)
    chances = chances if heat == 1.0 else tempered_by(chances, heat)
    chances = lifted(chances, least) if least else chances
    rows = np.concatenate([held for _, held in evaluation.rows_at(candidates[0].budget)])
    return calibration(chances, evaluation.codes[rows], evaluation.classes)


def _notes(
    members: list[Member], trained: list[Member], rows: int, heat: float, chosen_on: float
) -> tuple[str, ...]:
    notes = []
    if chosen_on < 1:
        notes.append(
            f"Members were chosen by models trained on {chosen_on:.2g} of the rows, for few came "
            "further."
        )
    if len(trained) < len(members):
        left = len(members) - len(trained)
        notes.append(
            f"There was no time to train {left} of {len(members)} members; give the search more of it."
        )
    part = min(m.part for m in trained)
    if part < 1:
        least = max(1, round(part * rows))
        notes.append(f"There was time to train a member on {least} of {rows} rows only.")
    if heat != 1.0:
        kind = "tempered" if heat > 1 else "sharpened"
        notes.append(
            f"Chances are {kind} (temperature {heat:.2g}), which made them truer on rows that did not "
            "choose it."
        )
    return tuple(notes)
