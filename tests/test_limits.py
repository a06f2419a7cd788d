"""Limits: read from Optuna and from columns, written and read again; the best keeps them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pandas as pd
import pytest
from typer.testing import CliRunner

import hyperlens as hl
from hyperlens.cli import app
from hyperlens.explain.run.overview import overview
from hyperlens.runs.limits import limits_of, with_limits
from hyperlens.sections.choices import Choices
from hyperlens.sections.explanation import Explanation
from hyperlens.sections.plan import PLAN

SPACE = hl.Space.of([hl.Parameter("x", "float", 0.0, 1.0), hl.Parameter("y", "float", 0.0, 1.0)])


def run(count: int = 40, bound: float = 0.5) -> hl.History:
    """The smaller x, the better; it must be above the bound."""
    values = SPACE.decode(SPACE.sample(count, 0))
    trials = tuple(
        hl.Trial(k, v, (v["x"] + 0.1 * v["y"],), excess=(bound - v["x"],))
        for k, v in enumerate(values)
    )
    return hl.History(SPACE, (hl.Objective("loss"),), trials, limits=(f"x >= {bound:g}",))


def excess(text: str, **facts: Any) -> float:
    (limit,) = limits_of([text])
    return limit.excess(facts.__getitem__)


def test_by_how_much_a_limit_is_exceeded() -> None:
    assert excess("a < 20", a=25.0) == 5.0
    assert excess("a < 20", a=15.0) == -5.0
    assert 0 < excess("a < 20", a=20.0) < 1e-300
    assert excess("a <= 20", a=20.0) == 0.0
    assert excess("a > 3", a=1.0) == 2.0
    assert excess("3 <= a < 5", a=7.5) == 2.5
    assert excess("3 <= a < 5", a=4.0) == -1.0
    assert excess("a < 1 or b < 1", a=2.0, b=0.0) == 0.0
    assert excess("a < 1 or b < 1", a=2.0, b=3.0) == 1.0
    assert excess("kind == 'small'", kind="big") == 1.0
    assert math.isnan(excess("a < 1", a=math.nan))
    assert [x.text for x in limits_of(["a < 1 and b >= 2", "b >= 2"])] == ["a < 1", "b >= 2"]
    with pytest.raises(hl.SourceError, match="condition of --constraint cannot be read"):
        limits_of(["a <"])


def test_limits_of_a_table_are_columns_and_no_parameters() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"lr": rng.random(20), "loss": rng.random(20), "ms": 30 * rng.random(20)})
    frame.loc[3, "ms"] = np.nan
    history = hl.read(frame, objective="loss", constraint="ms < 20")
    assert history.space.names == ("lr",)
    assert history.limits == ("ms < 20",)
    np.testing.assert_array_equal(history.feasible, frame["ms"] < 20)
    assert history.trials[0].excess == (frame["ms"][0] - 20,)
    assert math.isnan(history.trials[3].excess[0])
    best = frame["loss"][frame["ms"] < 20].idxmin()
    assert history.best().number == best
    wanted = ["ms < 20", "lr < 0.5"]
    both = hl.read(frame, objective=["loss", "ms:min"], constraint=wanted, parameters=["lr"])
    assert [o.name for o in both.objectives] == ["loss", "ms"]
    assert both.limits == ("ms < 20", "lr < 0.5")
    with pytest.raises(hl.SourceError, match="no column that could be a parameter"):
        hl.read(frame[["lr", "loss"]], objective="loss", constraint="lr < 0.5")
    with pytest.raises(hl.SourceError, match="There is no 'size' for --constraint"):
        hl.read(frame, objective="loss", constraint="size < 0.5")


def limited(trial: optuna.Trial) -> float:
    x = trial.suggest_float("x", 0, 1)
    trial.set_user_attr("ms", 100 * x)
    trial.set_constraint("largest", x - 0.5)
    trial.set_constraint("smallest", 0.2 - x)
    return x + trial.suggest_float("y", 0, 1)


def test_optunas_constraints_are_read_from_every_storage(tmp_path: Path) -> None:
    journal = optuna.storages.journal.JournalFileBackend(str(tmp_path / "journal.log"))
    storages: dict[Any, Any] = {
        None: None,
        f"sqlite:///{tmp_path / 'run.db'}": f"sqlite:///{tmp_path / 'run.db'}",
        tmp_path / "journal.log": optuna.storages.JournalStorage(journal),
    }
    for source, storage in storages.items():
        sampler = optuna.samplers.RandomSampler(seed=0)
        study = optuna.create_study(storage=storage, sampler=sampler)
        study.optimize(limited, n_trials=8)
        history = hl.read(source or study)
        assert history.limits == ("largest <= 0", "smallest <= 0")
        for trial in history.trials:
            x = trial.values["x"]
            assert trial.excess == pytest.approx((x - 0.5, 0.2 - x))
        kept = [t for t in history.trials if 0.2 <= t.values["x"] <= 0.5]
        assert history.best() == min(kept, key=lambda t: t.costs)
        own = hl.read(source or study, constraint="ms < 30")  # a user attribute
        assert own.limits[2:] == ("ms < 30",)
        assert own.trials[0].excess[2] == pytest.approx(100 * own.trials[0].values["x"] - 30)


@pytest.mark.filterwarnings("ignore")  # Optuna's of its own old way
def test_constraints_of_a_sampler_are_read_too() -> None:
    def constraints(trial: optuna.trial.FrozenTrial) -> tuple[float, float]:
        return trial.params["x"] - 0.5, 0.2 - trial.params["x"]

    sampler = optuna.samplers.TPESampler(seed=0, constraints_func=constraints)
    study = optuna.create_study(sampler=sampler)
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=4)
    history = hl.read(study)
    assert history.limits == ("constraint 1 <= 0", "constraint 2 <= 0")
    x = [t.values["x"] for t in history.trials]
    np.testing.assert_allclose([t.excess for t in history.trials], [(v - 0.5, 0.2 - v) for v in x])


@pytest.mark.parametrize("to", ["table", "optuna"])
def test_limits_survive_conversion(tmp_path: Path, to: Any) -> None:
    history = run(6)
    path = hl.convert(history, to, tmp_path / "run")
    again = hl.read(path)
    assert again.limits == history.limits
    assert [t.excess for t in again.trials] == [t.excess for t in history.trials]


def test_best_trace_and_words_are_of_trials_that_keep_the_limits() -> None:
    history = run()
    x = np.array([t.values["x"] for t in history.trials])
    cost = np.array([t.costs[0] for t in history.trials])
    kept = x >= 0.5
    assert history.best().number == np.flatnonzero(kept)[np.argmin(cost[kept])]
    trace = history.trace()
    for k in range(len(x)):
        lowest = cost[: k + 1][kept[: k + 1]].min(initial=np.inf)
        assert np.isnan(trace[k]) if np.isinf(lowest) else trace[k] == lowest
    found = overview(history)
    assert f"among the {kept.sum()} trials of 40 that keep x >= 0.5 is" in found.sentence
    assert overview(history).plot().data[1].name == "exceeds a limit"
    assert any("exceed x >= 0.5: the best is of the others" in w for w in history.warnings())
    winner = hl.winner(history)
    assert set(winner.trial) <= set(np.flatnonzero(kept))
    assert winner.best == winner.single == history.best().number


def test_where_no_trial_keeps_them_the_least_exceeding_is_named() -> None:
    history = run(bound=2.0)
    x = np.array([t.values["x"] for t in history.trials])
    assert history.best().number == np.argmax(x)
    assert np.isfinite(history.trace()).all()
    found = overview(history)
    assert found.sentence.startswith(
        f"No analysed trial keeps x >= 2; trial {np.argmax(x)} exceeds it least, with a loss of"
    )
    with pytest.raises(
        hl.AnalysisError, match="No configuration keeps x >= 2, so that none can be"
    ):
        hl.winner(history)
    with pytest.raises(hl.AnalysisError, match=f"trial {np.argmax(x)} exceeds it least"):
        hl.feasibility(history)


def test_limits_on_the_command_line(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"lr": rng.random(20), "loss": rng.random(20), "ms": 30 * rng.random(20)})
    frame.to_csv(tmp_path / "run.csv", index=False)
    options = ["--objective", "loss,ms:min", "--constraint", "ms < 20", "--constraint", "lr > 0.1"]
    command = ["pareto", str(tmp_path / "run.csv"), "--parameters", "lr", *options]
    found = CliRunner().invoke(app, command)
    assert found.exit_code == 0, found.exception
    assert "Pareto front of loss and ms" in found.stdout
    wrong = CliRunner().invoke(app, [*command, "--constraint", "size > 1"])
    assert "There is no 'size' for --constraint" in str(wrong.exception)


def test_a_limit_given_to_a_run_that_is_read_already() -> None:
    history = with_limits(run(), ["loss < 0.8 and y < 0.5"])
    assert history.limits == ("x >= 0.5", "loss < 0.8", "y < 0.5")
    best = history.best()
    assert best.values["y"] < 0.5 <= best.values["x"]


def test_where_limits_are_exceeded_and_what_they_cost() -> None:
    history = run(60)
    found = hl.feasibility(history)
    x = np.array([t.values["x"] for t in history.trials])
    cost = np.array([t.costs[0] for t in history.trials])
    kept = x >= 0.5
    assert found.broken == (~kept).sum()
    assert found.rule is not None
    assert found.rule.rule.startswith("x <= 0.")
    assert f"All {found.broken} of them have x of at most 0." in found.sentence
    assert found.parameters[0] == "x"
    best, free = cost[kept].min(), cost.min()
    assert (found.best_cost, found.free_cost) == (best, free)
    better = np.flatnonzero(cost < best)
    assert found.between is not None
    assert found.between.tolist() == better[np.argsort(cost[better])].tolist()
    assert f"{len(better)} trials that exceed it are better, the best with" in found.price
    assert hl.Feasibility.from_json(found.to_json()).lead == found.lead
    assert "chance to exceed the limit" in found.plot().layout.xaxis.title.text
    section = next(section for section in PLAN if section.id == "feasibility")
    (card,) = section.cards(Explanation(history, Choices()))
    assert card.lead == found.lead


def test_limits_that_all_or_none_keep_are_said_in_a_sentence() -> None:
    with pytest.raises(hl.AnalysisError, match="None of 40 trials keeps x >= 2; trial"):
        hl.feasibility(run(bound=2.0))
    with pytest.raises(hl.AnalysisError, match="All 40 trials of which it is known keep x >= -1"):
        hl.feasibility(run(bound=-1.0))
    free = hl.History(SPACE, (hl.Objective("loss"),), (hl.Trial(0, {"x": 0.5, "y": 0.5}, (1.0,)),))
    with pytest.raises(hl.AnalysisError, match="This run has no limits; name one"):
        hl.feasibility(free)


def test_a_front_is_of_trials_that_keep_the_limits() -> None:
    values = SPACE.decode(SPACE.sample(30, 3))
    two = (hl.Objective("a"), hl.Objective("b"))
    trials = tuple(
        hl.Trial(k, v, (v["x"], 1 - v["x"] + v["y"]), excess=(v["x"] - 0.4,))
        for k, v in enumerate(values)
    )
    history = hl.History(SPACE, two, trials, limits=("x <= 0.4",))
    found = hl.pareto(history)
    within = hl.pareto(history.select(where="x <= 0.4"))
    assert found.number[found.members].tolist() == within.number[within.members].tolist()
    assert "trials that keep the limits are on the front" in found.sentence
    every = hl.trials(history)
    assert every.frame["b"].tolist() == [t.costs[1] for t in trials]
    assert every.frame["keeps the limits"].tolist() == [t.feasible for t in trials]
    assert hl.choose(history, prefer="a").best.tolist() == within.costs.min(axis=0).tolist()
