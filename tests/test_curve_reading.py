"""Learning curves as tools leave them: read, kept by conversion, and never taken for budgets."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pandas as pd
import pytest
import tools

import hyperlens as hl
from hyperlens.errors import AnalysisError, SourceError
from hyperlens.runs.curve import Curve

STEPS = 6


def reported(x: float, step: int) -> float:
    """What a trial reports; one step is not a number."""
    return math.nan if step == 2 and x < 0.1 else x + 1 / (step + 1)


def study(storage: Any = None, trials: int = 20) -> optuna.Study:
    """Trials of which every third is pruned at step 3."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        for step in range(STEPS):
            trial.report(reported(x, step), step)
            if trial.number % 3 == 2 and step == 3:
                raise optuna.TrialPruned
        return x

    sampler = optuna.samplers.RandomSampler(seed=0)
    made = optuna.create_study(study_name="s", storage=storage, sampler=sampler)
    made.optimize(objective, trials)
    return made


def check(history: hl.History) -> None:
    assert len(history.trials) == 20
    for trial in history.trials:
        assert trial.curve is not None
        pruned = trial.state is hl.State.PRUNED
        steps = range(4 if pruned else STEPS)
        assert trial.curve.steps.tolist() == list(steps)
        expected = [[reported(trial.values["x"], step)] for step in steps]
        np.testing.assert_allclose(trial.curve.values, expected)


def test_optuna_keeps_every_step_wherever_it_is_stored(tmp_path: Path) -> None:
    check(hl.read(study()))
    study(f"sqlite:///{tmp_path / 'run.db'}")
    check(hl.read(tmp_path / "run.db"))
    path = tmp_path / "journal.log"
    backend = optuna.storages.journal.JournalFileBackend(str(path))
    study(optuna.storages.JournalStorage(backend))
    check(hl.read(path))


def test_conversion_keeps_curves(tmp_path: Path) -> None:
    history = hl.read(study())
    check(hl.read(hl.convert(history, "table", tmp_path / "table")))
    out = hl.convert(history, "optuna", tmp_path / "run.db")
    check(hl.read(out))
    (first, *_) = optuna.load_study(study_name="run", storage=f"sqlite:///{out}").trials
    assert list(first.intermediate_values) == list(range(STEPS))


def test_conversion_keeps_curves_that_optuna_cannot_hold(tmp_path: Path) -> None:
    """Two objectives, steps between whole numbers, values that are none."""
    curve = Curve.of([(0.5, (1.0, math.nan)), (1.5, (math.inf, 2.0))])
    space = hl.Space.of([hl.Parameter("x", "float", 0, 1)])
    objectives = (hl.Objective("a"), hl.Objective("b", maximize=True))
    trials = (hl.Trial(0, {"x": 0.5}, (1.0, 2.0), curve=curve), hl.Trial(1, {"x": 0.1}, (1.0, 3.0)))
    history = hl.History(space, objectives, trials)
    for to, name in (("table", "table"), ("optuna", "run.db")):
        path = hl.convert(history, to, tmp_path / name)  # type: ignore[arg-type]
        assert [t.curve for t in hl.read(path).trials] == [curve, None]
        turned = hl.read(path, objective="b").trials[0].curve
        assert turned is not None
        assert turned == Curve.of([(0.5, (math.nan, 1.0)), (1.5, (2.0, math.inf))])


def test_a_curve_needs_a_value_for_each_objective() -> None:
    space = hl.Space.of([hl.Parameter("x", "float", 0, 1)])
    trial = hl.Trial(7, {"x": 0.5}, (1.0,), curve=Curve.of([(1, (1.0, 2.0))]))
    with pytest.raises(AnalysisError, match="The curve of trial 7 has 2 values a step for 1"):
        hl.History(space, (hl.Objective("a"),), (trial,))


@pytest.mark.parametrize("csv", [False, True])
def test_ray_reports_are_the_curve(csv: bool, tmp_path: Path) -> None:
    history = hl.read(tools.ray(tmp_path / "ray", csv), objective=["acc", "loss"], maximize=["acc"])
    first = history.trials[0]
    assert first.curve is not None
    assert first.curve.steps.tolist() == [1, 2, 3]
    np.testing.assert_allclose(first.curve.values, [[0.1, 1], [0.2, 1 / 2], [0.3, 1 / 3]])
    assert first.curve.values[-1].tolist() == list(first.costs)


def test_keras_observations_are_the_curve(tmp_path: Path) -> None:
    folder = tools.keras(tmp_path / "keras")
    path = folder / "trial_0" / "trial.json"
    content = json.loads(path.read_text())
    values = [{"value": [0.2, 0.4], "step": 0}, {"value": [0.5], "step": 4}]
    content["metrics"]["metrics"]["val_accuracy"]["observations"] = values
    path.write_text(json.dumps(content))
    curve = hl.read(folder).trials[0].curve
    assert curve is not None
    assert curve.steps.tolist() == [0, 4]
    np.testing.assert_allclose(curve.values, [[0.3], [0.5]])


def test_a_race_has_its_rungs(tmp_path: Path) -> None:
    space = hl.Space.of([hl.Parameter("x", "float", 0, 1)])
    found = hl.minimize(
        lambda values, budget: float(values["x"] + budget),
        space,
        optimizer="halving",
        trials=9,
        storage=f"sqlite:///{tmp_path / 'race.db'}",
    )
    for history in (found, hl.read(tmp_path / "race.db")):
        reached = [t.curve for t in history.trials]
        assert all(curve is not None for curve in reached)
        for trial in history.trials:
            assert trial.curve is not None
            assert trial.curve.last == trial.budget
            expected = [[trial.values["x"] + step] for step in trial.curve.steps]
            np.testing.assert_allclose(trial.curve.values, expected)


def table(trials: int = 8, named: bool = True) -> pd.DataFrame:
    """Curves of three to five epochs, their rows mixed."""
    rows = [
        {"trial_id": f"t{k}", "lr": 0.1 * (k + 1), "epoch": epoch, "loss": k + 1 / (epoch + 1)}
        for k in range(trials)
        for epoch in range(3 + k % 3)
    ]
    frame = pd.DataFrame(rows).sample(frac=1.0, random_state=0, ignore_index=True)
    return frame if named else frame.drop(columns="trial_id")


@pytest.mark.parametrize("named", [True, False])
def test_a_table_of_steps_is_folded(named: bool) -> None:
    history = hl.read(table(named=named), objective="loss")
    assert len(history.trials) == 8
    assert any("'epoch' is taken as the step" in note for note in history.notes)
    for trial in history.trials:
        k = round(trial.values["lr"] * 10) - 1
        steps = list(range(3 + k % 3))
        assert trial.curve is not None
        assert trial.curve.steps.tolist() == steps
        np.testing.assert_allclose(trial.curve.values[:, 0], [k + 1 / (e + 1) for e in steps])
        assert trial.costs == (trial.curve.values[-1, 0],)


def test_a_step_is_a_parameter_where_the_user_says_so() -> None:
    history = hl.read(table(), objective="loss", parameters=["lr", "epoch"])
    assert len(history.trials) == len(table())
    assert "epoch" in history.space.names


def test_another_column_may_be_the_step() -> None:
    frame = table().rename(columns={"epoch": "passes"})
    assert len(hl.read(frame, objective="loss", parameters=["lr"]).trials) == len(frame)
    history = hl.read(frame, objective="loss", parameters=["lr"], step="passes")
    assert len(history.trials) == 8


def test_one_row_a_trial_is_no_table_of_steps() -> None:
    """An epoch that a run was stopped at, of different configurations."""
    frame = table().groupby("trial_id").tail(1)
    assert len(hl.read(frame, objective="loss", parameters=["lr"]).trials) == 8
    assert all(t.curve is None for t in hl.read(frame, objective="loss").trials)


@pytest.mark.parametrize(
    ("change", "step", "sentence"),
    [
        ({}, "lost", "no column 'lost' for steps"),
        ({"epoch": 1}, "epoch", "two rows of one trial at epoch 1"),
        ({"epoch": "x"}, "epoch", "The step 'epoch' is 'x' in row 1"),
        ({}, "loss", "'loss' is the objective"),
    ],
)
def test_what_is_no_step_is_refused(change: dict[str, Any], step: str, sentence: str) -> None:
    with pytest.raises(SourceError, match=sentence):
        hl.read(table().assign(**change), objective="loss", step=step)


def test_a_study_knows_its_steps() -> None:
    with pytest.raises(SourceError, match="An Optuna study knows its steps"):
        hl.read(study(trials=3), step="epoch")


def test_a_pruning_step_is_no_budget() -> None:
    history = hl.read(study())
    assert history.budgets == ()
    assert all(t.budget is None for t in history.trials)
    with pytest.raises(AnalysisError, match="No trial has the budget 3; leave it out"):
        history.select(budget=3)
    with pytest.raises(AnalysisError, match="nothing to divide"):
        hl.spending(history)


def test_an_older_conversion_has_the_step_as_a_budget_of_pruned_trials() -> None:
    """It is not offered as a budget; the pruned trials count."""
    space = hl.Space.of(
        [hl.Parameter("m", "categorical", choices=("a", "b")), hl.Parameter("x", "float", 0, 1)],
        {"x": ((("m", "equal", "a"),),)},
    )
    pruned, done = hl.State.PRUNED, hl.State.COMPLETE
    trials = [hl.Trial(k, {"m": "b"}, (1.0,), pruned, 3.0) for k in range(4)]
    trials += [hl.Trial(k, {"m": "a", "x": 0.5}, (1.0,), done) for k in range(4, 9)]
    history = hl.History(space, (hl.Objective("loss"),), tuple(trials))
    assert history.budgets == ()
    record = hl.spending(history)
    assert record.budgets == (None,)
    assert record.trials.tolist() == [[5], [4]]
    given = [hl.Trial(k, t.values, t.costs, done, 1.0 + k % 2) for k, t in enumerate(trials[:4])]
    mixed = hl.History(space, history.objectives, (*given, *trials[4:]))
    record = hl.spending(mixed)
    assert record.budgets == (1.0, 2.0, None)
    assert record.trials.sum() == 9
    assert "2 budgets from 1 to 2: 2 trials at the smallest, 2 at the largest" in record.sentence
