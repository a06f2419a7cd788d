"""Importance for reaching the top: beside Optuna's on the same trials, chance, and odd runs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import optuna
import pytest

import hyperlens as hl
from hyperlens.explain.top.top_importance import _bounds
from hyperlens.record import Record

optuna.logging.set_verbosity(optuna.logging.ERROR)


def study(trials: int, seed: int, directions: Any = "minimize") -> optuna.Study:
    """Floats, integers, categories, logarithms, steps, and a parameter that some trials have."""
    made = optuna.create_study(
        direction=directions, sampler=optuna.samplers.RandomSampler(seed=seed)
    )

    def cost(trial: Any) -> float:
        lr = trial.suggest_float("lr", 1e-5, 1e-1, log=True)
        kind = trial.suggest_categorical("kind", ["a", "b", "c"])
        depth = trial.suggest_int("depth", 1, 12)
        units = trial.suggest_int("units", 4, 700, log=True)
        drop = trial.suggest_float("drop", 0.0, 0.9)
        extra = trial.suggest_float("extra", -1.0, 1.0) if kind == "b" else 0.3
        value = (np.log10(lr) + 3) ** 2 + 0.1 * depth + (kind == "c") + extra**2
        return float(value + 0.001 * units + 0 * drop) * (1 if directions == "minimize" else -1)

    made.optimize(cost, n_trials=trials)
    return made


@pytest.mark.parametrize(
    ("trials", "seed", "quantile", "direction"),
    [(60, 0, 0.1, "minimize"), (137, 1, 0.25, "maximize"), (30, 2, 0.5, "minimize")],
)
def test_the_numbers_are_those_of_optuna(
    trials: int, seed: int, quantile: float, direction: str
) -> None:
    made = study(trials, seed, direction)
    evaluator = optuna.importance.PedAnovaImportanceEvaluator(target_quantile=quantile)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = evaluator.evaluate(made)
    found = hl.top_importance(hl.read(made), quantile=quantile)
    ours = dict(zip(found.parameters, found.importance.tolist(), strict=True))
    assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-12)


def test_chance_is_told_from_what_matters() -> None:
    found = hl.top_importance(hl.read(study(120, 3)))
    clear = [
        p for p, i, c in zip(found.parameters, found.importance, found.chance, strict=True) if i > c
    ]
    assert found.parameters[0] == clear[0] == "lr"
    assert "drop" not in clear
    assert found.sentence.startswith(
        "What tells the best 12 of 120 trials from the rest most is 'lr'"
    )
    assert (found.low <= found.share).all()
    assert (found.share <= found.high).all()
    assert found.share.sum() == pytest.approx(1.0)
    back = Record.from_dict(found.to_dict())
    assert back.plot().to_json() == found.plot().to_json()
    found.plot("matplotlib")


def test_runs_without_a_top_say_so() -> None:
    space = hl.Space.of([hl.Parameter("x", "float", 0.0, 1.0)])

    def run(*costs: float) -> hl.History:
        trials = [hl.Trial(k, {"x": k / 9}, (c,)) for k, c in enumerate(costs)]
        return hl.History(space, (hl.Objective("loss"),), tuple(trials))

    with pytest.raises(hl.AnalysisError, match="equally good"):
        hl.top_importance(run(1.0, 1.0, 1.0))
    bare = hl.Space.of([], constants={"x": 1})
    trials = tuple(hl.Trial(k, {"x": 1}, (float(k),)) for k in range(4))
    with pytest.raises(hl.AnalysisError, match="no parameter that varies"):
        hl.top_importance(hl.History(bare, (hl.Objective("loss"),), trials))
    with pytest.raises(hl.AnalysisError, match="no part"):
        hl.top_importance(run(1.0, 2.0), quantile=1.5)
    few = hl.top_importance(run(1.0, 2.0, 3.0, 4.0))
    assert few.notes == ("The top is 1 trial only; run more trials, or choose a larger part.",)
    noise = np.random.default_rng(0).normal(size=10)
    assert "chance would" in hl.top_importance(run(*noise.tolist()), quantile=0.5).sentence


def test_many_parameters_do_not_make_one_stand_out() -> None:
    """Of tops drawn at random one in twenty passes a bound with any parameter, whatever their sizes."""
    drawn = np.random.default_rng(0).exponential(size=(400, 12)) * 10.0 ** np.arange(-6, 6)
    passed = (drawn > _bounds(drawn)).any(axis=1)
    assert passed.mean() == pytest.approx(0.05)
    assert (drawn > _bounds(drawn)).any(axis=0).sum() > 4  # and not always with the same


def test_equal_costs_count_with_the_last_of_the_top() -> None:
    space = hl.Space.of([hl.Parameter("x", "float", 0.0, 1.0)])
    trials = [hl.Trial(k, {"x": k / 20}, (float(k >= 5),)) for k in range(20)]
    found = hl.top_importance(hl.History(space, (hl.Objective("loss"),), tuple(trials)))
    assert (found.top, found.notes[0]) == (
        5,
        "3 others cost the same as the last of the best 2 and count with them.",
    )


def test_a_search_that_crowds_is_said_to_tell_of_its_corner() -> None:
    """Trials all over the space against trials of which most lie in one corner of it."""
    space = hl.Space.of([hl.Parameter(name, "float", 0.0, 1.0) for name in "ab"])
    even = space.sample(60, 0)
    corner = np.vstack([even[:20], 0.7 + 0.01 * even[20:]])
    for X, crowded in ((even, False), (corner, True)):
        trials = [
            hl.Trial(k, v, (float(x[0]),))
            for k, (v, x) in enumerate(zip(space.decode(X), X, strict=True))
        ]
        run = hl.History(space, (hl.Objective("loss"),), tuple(trials))
        notes = hl.top_importance(run).notes
        assert any("good corner" in note for note in notes) == crowded
