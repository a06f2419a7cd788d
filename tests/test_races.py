"""Races in a storage: one trial a configuration, rungs as intermediate values, resumed after a stop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import optuna
import pytest

import hyperlens as hl
from hyperlens.optimize.halving import Asynchronous, Halving, Hyperband

SPACE = [hl.Parameter("x", "float", 0.0, 1.0), hl.Parameter("k", "integer", 1, 1000)]


def cost(values: Mapping[str, Any], resource: float) -> float:
    return float((values["x"] - 0.3) ** 2 + 0.01 * (values["k"] % 7) / resource)


def url(path: Path) -> str:
    return f"sqlite:///{path / 'race.db'}"


def shape(history: hl.History) -> Counter[tuple[Any, ...]]:
    return Counter((t.state, t.budget, t.values["x"], t.costs) for t in history.trials)


def test_a_configuration_is_one_trial(tmp_path: Path) -> None:
    """Budget 9 with eta 3: 27 at 1/9, 9 at 1/3, 3 at 1."""
    found = hl.minimize(cost, SPACE, optimizer="halving", trials=9, storage=url(tmp_path))
    states = Counter((str(t.state), round(t.budget or 0, 3)) for t in found.trials)
    assert states == {("pruned", 0.111): 18, ("pruned", 0.333): 6, ("complete", 1.0): 3}
    study = optuna.load_study(study_name="hyperlens", storage=url(tmp_path))
    for trial in study.trials:
        complete = trial.state.name == "COMPLETE"
        steps = trial.intermediate_values
        resources = [1 / 9, 1 / 3][: len(steps)]
        assert len(steps) == 2 if complete else len(steps) in (1, 2)
        for resource, value in zip(resources, steps.values(), strict=True):
            assert value == pytest.approx(cost(trial.params, resource))
        last = 1.0 if complete else resources[-1]
        assert trial.value == pytest.approx(cost(trial.params, last))
    assert study.best_trial.state.name == "COMPLETE"
    assert found.incumbent().budget == 1.0
    again = hl.read(url(tmp_path))
    assert shape(again) == shape(found)


def test_each_configuration_is_evaluated_once_at_each_of_its_rungs(tmp_path: Path) -> None:
    calls: list[tuple[float, float]] = []

    def counted(values: Mapping[str, Any], resource: float) -> float:
        calls.append((values["x"], resource))
        return cost(values, resource)

    hl.minimize(counted, SPACE, optimizer="hyperband", trials=27, storage=url(tmp_path))
    assert len(calls) == len(set(calls)) == Hyperband(hl.Space.of(SPACE), budget=27).evaluations


@pytest.mark.parametrize("optimizer", ["halving", "hyperband"])
def test_workers_change_nothing(optimizer: str) -> None:
    one = hl.minimize(cost, SPACE, optimizer=optimizer, trials=18, seed=4)
    two = hl.minimize(cost, SPACE, optimizer=optimizer, trials=18, seed=4, workers=2)
    assert shape(one) == shape(two)


@pytest.mark.parametrize("stops", [1, 12, 28, 33])
def test_stopped_anywhere_it_goes_on(stops: int, tmp_path: Path) -> None:
    whole = hl.minimize(cost, SPACE, optimizer="halving", trials=9)
    calls = []

    def interrupted(values: Mapping[str, Any], resource: float) -> float:
        calls.append(values["x"])
        if len(calls) == stops:
            raise KeyboardInterrupt
        return cost(values, resource)

    arguments: dict[str, Any] = {"optimizer": "halving", "trials": 9, "storage": url(tmp_path)}
    with pytest.raises(KeyboardInterrupt):
        hl.minimize(interrupted, SPACE, **arguments)
    rest = hl.minimize(interrupted, SPACE, **arguments)
    assert shape(rest) == shape(whole)
    assert len(calls) == 39 + 1  # only the one that was interrupted is tried again


def test_equal_configurations_are_trials_of_their_own() -> None:
    space = [hl.Parameter("kind", "categorical", choices=("a", "b"))]
    found = hl.minimize(lambda v, r: float(v["kind"] == "a"), space, optimizer="halving", trials=9)
    states = Counter((str(t.state), round(t.budget or 0, 3)) for t in found.trials)
    assert states == {("pruned", 0.111): 18, ("pruned", 0.333): 6, ("complete", 1.0): 3}


def test_failures_are_failures_and_do_not_go_on() -> None:
    def fragile(values: Mapping[str, Any], resource: float) -> float:
        if values["x"] < 0.4:
            raise ValueError("too small")
        return cost(values, resource)

    found = hl.minimize(fragile, SPACE, optimizer="halving", trials=9)
    failed = [t for t in found.trials if t.state is hl.State.FAILED]
    assert failed
    assert all(t.reason and "too small" in t.reason for t in failed)
    assert all(t.values["x"] >= 0.4 for t in found.trials if t.state is hl.State.COMPLETE)


def test_maximised_races_keep_the_largest() -> None:
    one = hl.minimize(cost, SPACE, optimizer="halving", trials=9)
    other = hl.maximize(lambda v, r: -cost(v, r), SPACE, optimizer="halving", trials=9)
    assert one.incumbent().values == other.incumbent().values
    assert other.incumbent().costs[0] == pytest.approx(-one.incumbent().costs[0])


def test_asynchronous_ends_with_every_trial_accounted_for(tmp_path: Path) -> None:
    found = hl.minimize(cost, SPACE, optimizer="asha", trials=12, workers=2, storage=url(tmp_path))
    assert Counter(str(t.state) for t in found.trials).keys() == {"pruned", "complete"}
    study = optuna.load_study(study_name="hyperlens", storage=url(tmp_path))
    assert all(t.state.is_finished() for t in study.trials)
    spent = sum(
        sum([1 / 9, 1 / 3, 1.0][: len(t.intermediate_values) + (t.state.name == "COMPLETE")])
        for t in study.trials
    )
    assert 11 < spent <= 12 + 1e-9


def test_a_time_limit_stops_a_run_that_can_go_on(tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"optimizer": "random", "trials": 5, "storage": url(tmp_path)}
    with pytest.raises(hl.HyperlensError):  # nothing finished yet
        hl.minimize(lambda v: v["x"], SPACE, time=0.0, **arguments).incumbent()
    done = hl.minimize(lambda v: v["x"], SPACE, **arguments)
    assert len(done.trials) == 5


def test_models_are_drawn_by_weight() -> None:
    space = hl.Space.of(
        [
            hl.Parameter("model", "categorical", choices=("big", "small")),
            *(hl.Parameter(f"b{j}", "float", 0.0, 1.0) for j in range(4)),
            hl.Parameter("s0", "float", 0.0, 1.0),
        ],
        {f"b{j}": ((("model", "equal", "big"),),) for j in range(4)}
        | {"s0": ((("model", "equal", "small"),),)},
    )
    counts = Counter(
        t.values["model"]
        for t in hl.minimize(lambda v: 0.0, space, optimizer="random", trials=90).trials
    )
    assert counts["big"] > 4 * counts["small"]  # 2^4 to 2^1
    even = hl.minimize(lambda v: 0.0, space, optimizer="random", trials=90, sampling="uniform")
    assert 25 < Counter(t.values["model"] for t in even.trials)["small"] < 65


def test_races_know_their_options() -> None:
    with pytest.raises(hl.SpaceError, match="no option"):
        hl.minimize(cost, SPACE, optimizer="halving", trials=9, tau=1.0)
    assert Halving.name != Hyperband.name != Asynchronous.name
