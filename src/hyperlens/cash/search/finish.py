"""From what was evaluated to one model: members are chosen, trained and put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.cash.search.ensemble import (
    Ensemble,
    Measure,
    Pool,
    by_scorer,
    log_losses,
    squared_errors,
    temperature,
    tempered_by,
)
from hyperlens.cash.search.evaluation import DEFAULT_METRIC, Evaluation
from hyperlens.cash.search.kept import key_of
from hyperlens.cash.search.pace import Pace
from hyperlens.cash.search.refit import Member, together, train
from hyperlens.optimize.models.model_sampling import ROOT
from hyperlens.runs.history import History, State, Trial
from hyperlens.spaces.cube import FloatArray

MOST_CANDIDATES = 40
MOST_SLOW = 8  # candidates, where a metric is asked one prediction at a time
QUICK = ("neg_log_loss", "neg_root_mean_squared_error")


@dataclass(frozen=True, eq=False)
class Candidate:
    """A configuration with its held-out predictions, one array a split."""

    trial: Trial
    values: Mapping[str, Any]
    part: float
    predictions: Sequence[FloatArray]


def finished(
    evaluation: Evaluation,
    history: History,
    best: Trial,
    times: int,
    most: int,
    pace: Pace,
    metric: str,
    maximize: bool,
) -> tuple[Any, Ensemble]:
    """The trained model, of at most so many configurations, and what it is made of."""
    candidates = found(evaluation, history, best, pace) if most > 1 else []
    pool = _pool(evaluation, candidates) if len(candidates) > 1 else None
    weights = np.ones(1)
    if pool is not None:
        weights = _limited(pool, most)
    chosen = np.flatnonzero(weights)
    chosen = chosen[
        np.argsort(-weights[chosen] - (chosen == 0), kind="stable")
    ]  # the best one first
    members = [Member(best.values, 1.0)]
    if pool is not None:
        members = [
            Member(candidates[c].values, float(weights[c]), measured_on=candidates[c].part)
            for c in chosen
        ]
    trained = train(evaluation, members, times, pace)
    trials = {key_of(m.configuration): c for m, c in zip(members, chosen, strict=True)}
    kept = [trials[key_of(m.configuration)] for m in trained]
    sign = -1.0 if maximize else 1.0
    single = together_loss = sign * float(best.costs[0])
    alone = sum_loss = float("nan")
    heat = 1.0
    if pool is not None:
        final = np.zeros(len(candidates))
        final[kept] = weights[kept] / weights[kept].sum()
        single, together_loss = pool.loss(np.eye(len(candidates))[0]), pool.loss(final)
        alone, sum_loss = pool.honest()
        heat, tempered = _heated(evaluation, candidates, final, pool)
        together_loss = min(together_loss, tempered)
    model = together(evaluation, trained, heat)
    scale = sum(m.weight for m in trained)
    numbers = [best.number] if pool is None else [candidates[c].trial.number for c in kept]
    record = Ensemble(
        metric=metric,
        maximize=maximize,
        models=tuple(str(m.configuration.get(ROOT, "")) for m in trained),
        trials=np.array(numbers, dtype=np.int64),
        weights=np.array([m.weight / scale for m in trained]),
        parts=np.array([m.part for m in trained]),
        single=sign * single,
        together=sign * together_loss,
        honest_single=sign * alone,
        honest_together=sign * sum_loss,
        candidates=max(1, len(candidates)),
        temperature=heat,
        notes=_notes(members, trained, len(evaluation.y), heat),
    )
    return model, record


def found(evaluation: Evaluation, history: History, best: Trial, pace: Pace) -> list[Candidate]:
    """What has held-out predictions, the best one first and then by loss; that of all rows counts
    where a configuration was measured on fewer too. Nothing where the best one has none."""
    assert evaluation.kept is not None
    sign = -1.0 if history.objective().maximize else 1.0
    constants = history.space.constants
    seen: dict[str, Candidate] = {}
    wanted = (State.COMPLETE, State.PRUNED)
    trials = [t for t in history.trials if t.state in wanted and np.isfinite(t.costs[0])]
    trials.sort(key=lambda t: (t.number != best.number, sign * t.costs[0], t.number))
    for trial in trials:
        values = {**constants, **trial.values}
        part = 1.0 if trial.budget is None else float(trial.budget)
        predictions = evaluation.kept.read(values, part)
        if predictions is None and pace.seconds is None and part == 1.0:
            evaluation.losses(values, part)  # a search that went on: its first part is elsewhere
            predictions = evaluation.kept.read(values, part)
        if predictions is None:
            if trial.number == best.number:
                return []
            continue
        seen.setdefault(key_of(values), Candidate(trial, values, part, predictions))
        if len(seen) == MOST_CANDIDATES:
            break
    return list(seen.values())


def _pool(evaluation: Evaluation, candidates: list[Candidate]) -> Pool | None:
    """Their predictions for the same rows, and how they are measured."""
    rows = np.concatenate([held for _, held in evaluation.rows])
    splits = np.concatenate([np.full(len(h), s) for s, (_, h) in enumerate(evaluation.rows)])
    measure = _measure(evaluation, rows, splits)
    name = evaluation.metric or DEFAULT_METRIC[evaluation.task]
    if name not in QUICK:
        del candidates[MOST_SLOW:]
    predictions = np.array([_flat(c.predictions) for c in candidates])
    if name == "neg_log_loss":  # what the true class was given is all that counts
        true = evaluation.codes[rows][None, :, None]
        predictions = np.take_along_axis(predictions, true, axis=2)
    try:
        measure(predictions[:1], None)
    except Exception:  # whatever a scorer of the user's needs that is not a prediction
        return None
    return Pool(predictions, rows, measure)


def _measure(evaluation: Evaluation, rows: Any, splits: Any) -> Measure:
    name = evaluation.metric or DEFAULT_METRIC[evaluation.task]
    if name == "neg_log_loss":
        return log_losses(evaluation.codes[rows], splits)
    if name == "neg_root_mean_squared_error":
        return squared_errors(evaluation.y[rows], splits)
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
    used = np.flatnonzero(weights)
    parts = [weights[c] * _flat(candidates[c].predictions) for c in used]
    chances = np.sum(parts, axis=0)
    heat = temperature(chances, pool.measure, pool.left_out())
    if heat == 1.0:
        return 1.0, float("inf")
    return heat, float(pool.measure(tempered_by(chances, heat)[None], None)[0])


def _notes(members: list[Member], trained: list[Member], rows: int, heat: float) -> tuple[str, ...]:
    notes = []
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
