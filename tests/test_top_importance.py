"""Importance for reaching the top: beside Optuna's on the same trials, chance, and odd runs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
import optuna
import pytest

import hyperlens as hl
from hyperlens.explain.top.over_space import POINTS, over_space
from hyperlens.explain.top.top_importance import _bounds
from hyperlens.record import Record
from hyperlens.spaces.points import sobol

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


def run_at(space: hl.Space, X: Any, cost: Any) -> hl.History:
    """Trials at vectors X, by what they cost."""
    values = space.decode(X)
    trials = [hl.Trial(k, v, (float(cost(v)),)) for k, v in enumerate(values)]
    return hl.History(space, (hl.Objective("loss"),), tuple(trials))


def test_of_a_search_that_went_to_a_corner_the_space_leads() -> None:
    """Where nearly all trials have a good 'a', they are told apart by 'b'; over the space it is 'a'."""
    space = hl.Space.of([hl.Parameter(name, "float", 0.0, 1.0) for name in "ab"])

    def cost(v: Any) -> float:
        return float(v["a"] + 0.1 * v["b"])

    even = space.sample(80, 0)
    corner = np.vstack([even[:15], even[15:] * [0.02, 1.0]])
    many = hl.top_importance(run_at(space, space.sample(5000, 1), cost))
    true = dict(zip(many.parameters, many.share.tolist(), strict=True))
    found = hl.top_importance(run_at(space, corner, cost))
    assert found.uneven > 2
    assert (found.leads, found.parameters) == ("space", ("a", "b"))
    assert found.share[1] > 0.5 > true["b"]  # the trials alone would name the other one
    assert found.space_share[0] == pytest.approx(true["a"], abs=0.02)  # 5000 trials err by 0.001
    assert found.space_first[0] > 0.9
    assert "Over the whole space" in found.sentence
    assert "In this search itself 'b' tells the best 8 of 80 trials apart most" in found.sentence
    assert [t.columns[1] for t in found.tables] == ["share over the space", "share in the trials"]
    assert found.plot().data[0].name == "over the space"
    alike = hl.top_importance(run_at(space, even, cost))
    assert alike.uneven < 2
    assert (alike.leads, alike.verdict, alike.parameters[0]) == ("trials", None, "a")
    assert alike.sentence.startswith("What tells the best 8 of 80 trials from the rest most is 'a'")


@dataclass(frozen=True)
class Known:
    """Two functions that are known, in the place of a process; its intervals are twice as wide."""

    space: hl.Space
    widened: float = 2.0

    def costs(self, X: Any) -> Any:
        values = self.space.decode(X)
        return np.array([[_first(v), _second(v)] for v in values])


def _first(v: Any) -> float:
    return float(0.1 * v["x"] + (v["kind"] != "a") * 9 + v.get("extra", 0.0))


def _second(v: Any) -> float:
    return float(v["x"] + 0.1 * (v["kind"] == "b"))


def test_over_the_space_it_is_the_number_of_even_trials_of_each_function() -> None:
    """By a second route: the same points as the trials of a run, a conditional parameter among them."""
    x, extra = (hl.Parameter(name, "float", 0.0, 1.0) for name in ("x", "extra"))
    kind = hl.Parameter("kind", "categorical", choices=("a", "b", "c"))
    space = hl.Space.of([x, kind, extra], {"extra": ((("kind", "equal", "a"),),)})
    found = over_space(Known(space), space, 0.2, 0.9, 3)  # type: ignore[arg-type]
    X = space.cube.vectors(sobol(POINTS, 3, 3))
    each = []
    for cost in (_first, _second):
        one = hl.top_importance(run_at(space, X, cost), quantile=0.2)
        each.append(
            [one.share[one.parameters.index(name)] for name in space.names]  # in the space's order
        )
    assert found.share == pytest.approx(np.mean(each, axis=0))
    left, right = np.sort(each, axis=0)
    reach = 2 * 0.9 * (right - left) / 2  # 0.9 of the way from the middle, twice as far
    assert found.low == pytest.approx(np.maximum((left + right) / 2 - reach, 0))
    assert found.high == pytest.approx(np.minimum((left + right) / 2 + reach, 1))
    first = [space.names[int(np.argmax(one))] for one in each]
    assert len(set(first)) == 2
    assert found.first.tolist() == [first.count(name) / 2 for name in space.names]


def test_an_uneven_search_that_no_surrogate_explains_says_what_it_tells() -> None:
    space = hl.Space.of([hl.Parameter("x", "float", 0.0, 1.0)])
    X = np.r_[np.full(15, 0.5), 0.5 + 1e-3 * np.arange(15)][:, None]
    run = run_at(space, X, lambda v: v["x"])
    refusal = hl.AnalysisError("No surrogate today.")
    with patch("hyperlens.explain.top.top_importance.leader", side_effect=refusal):
        found = hl.top_importance(run)
    assert (found.leads, found.verdict) == ("trials", None)
    assert np.isnan(found.space_share).all()
    assert "from where it went" in found.notes[-1]
    assert found.notes[-1].endswith("No surrogate today.")
    assert len(found.tables) == len(found.plot().data) == 1
