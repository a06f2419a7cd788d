"""Stopping: by what rule, the same after a kill, in any tool, and said afterwards."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest

import hyperlens as hl
from hyperlens.runs.stopped import Stopped

SPACE = hl.Space.of([hl.Parameter(name, "float", 0.0, 1.0) for name in ("x", "y")])


def bowl(values: Any) -> float:
    return float((values["x"] - 0.3) ** 2 + (values["y"] - 0.6) ** 2)


@pytest.mark.parametrize("fewest", [1, 7, 20])
def test_decisions_are_due_at_numbers_that_grow_by_a_quarter(fewest: int) -> None:
    stop = hl.Stop(fewest=fewest)
    wanted = sorted({math.ceil(fewest * 1.25**k - 1e-9) for k in range(60)})
    for n in range(300):
        before = [w for w in wanted if w <= n]
        assert stop.due(n) == (before[-1] if before else None)


def test_a_run_stops_says_why_and_stays_stopped(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'run.db'}"
    first = hl.minimize(bowl, SPACE, trials=60, stop=0.05, storage=storage)
    assert 20 <= len(first.trials) < 60
    assert f"The search stopped after {len(first.trials)} trials: 100 more were" in first.notes[0]
    again = hl.minimize(bowl, SPACE, trials=60, stop=0.05, storage=storage)
    assert len(again.trials) == len(first.trials)
    assert again.notes == first.notes
    assert first.notes[0] in hl.read(tmp_path / "run.db").notes
    longer = hl.minimize(bowl, SPACE, trials=len(first.trials) + 2, storage=storage)
    assert len(longer.trials) == len(first.trials) + 2
    assert longer.notes == ()


def test_a_run_in_pieces_stops_where_a_whole_one_does(tmp_path: Path) -> None:
    whole = hl.minimize(bowl, SPACE, "random", trials=80, stop=0.02, seed=3)
    storage = f"sqlite:///{tmp_path / 'run.db'}"
    for trials in (5, 22, 31, 80):
        pieces = hl.minimize(
            bowl, SPACE, "random", trials=trials, stop=0.02, seed=3, storage=storage
        )
    assert [t.values for t in pieces.trials] == [t.values for t in whole.trials]
    assert len(whole.trials) < 80
    assert pieces.notes == whole.notes


def test_no_noise_and_no_error_never_stops_a_run_that_can_gain() -> None:
    assert len(hl.minimize(bowl, SPACE, "random", trials=26, stop=0.0).trials) == 26
    rng = np.random.default_rng(0)
    noise = hl.minimize(lambda _: float(rng.normal()), SPACE, "random", trials=26, stop=True)
    assert len(noise.trials) == 26  # nothing is known of it, so nothing is concluded


def test_a_callback_ends_a_study() -> None:
    def objective(trial: optuna.Trial) -> float:
        return -bowl({n: trial.suggest_float(n, 0.0, 1.0) for n in ("x", "y")})

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(objective, n_trials=80, callbacks=[hl.optuna.StopCallback(0.1)])
    count = len(study.trials)
    assert 20 <= count < 80
    assert "The search stopped after" in hl.read(study).notes[0]
    study.optimize(objective, n_trials=5, callbacks=[hl.optuna.StopCallback(0.1)])
    assert len(study.trials) == count + 1
    several = optuna.create_study(directions=["minimize"] * 2)
    with pytest.raises(hl.SpaceError, match="judges one objective"):
        hl.optuna.StopCallback()(several, optuna.trial.create_trial(values=[0.0, 0.0]))


def test_what_cannot_stop_is_refused() -> None:
    with pytest.raises(hl.AnalysisError, match="leave out stop"):
        hl.minimize(lambda c, b: bowl(c), SPACE, "halving", trials=9, stop=True)
    with pytest.raises(hl.AnalysisError, match="give a number of at least 0"):
        hl.minimize(bowl, SPACE, trials=5, stop=-1.0)


def test_what_is_stored_comes_back_or_is_nothing() -> None:
    why = Stopped(30, 20, 0.001, 0.01)
    assert Stopped.from_dict(why.to_dict()) == why
    for broken in (
        None,
        3,
        {},
        {**why.to_dict(), "gain": "much"},
        {**why.to_dict(), "trials": None},
    ):
        assert Stopped.from_dict(broken) is None
