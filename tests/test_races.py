"""Races in a storage: one trial a configuration, rungs as intermediate values, resumed after a stop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import optuna
import pytest

import hyperlens as hl
from hyperlens.optimize.optimizers.halving import Asynchronous, Halving, Hyperband
from hyperlens.optimize.storage.store import Store
from hyperlens.runs.history import State

SPACE = [hl.Parameter("x", "float", 0.0, 1.0), hl.Parameter("k", "integer", 1, 1000)]


def cost(values: Mapping[str, Any], budget: float) -> float:
    return float((values["x"] - 0.3) ** 2 + 0.01 * (values["k"] % 7) / budget)


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
        budgets = [1 / 9, 1 / 3][: len(steps)]
        assert len(steps) == 2 if complete else len(steps) in (1, 2)
        for budget, value in zip(budgets, steps.values(), strict=True):
            assert value == pytest.approx(cost(trial.params, budget))
        last = 1.0 if complete else budgets[-1]
        assert trial.value == pytest.approx(cost(trial.params, last))
    assert study.best_trial.state.name == "COMPLETE"
    assert found.best().budget == 1.0
    again = hl.read(url(tmp_path))
    assert shape(again) == shape(found)


def test_each_configuration_is_evaluated_once_at_each_of_its_rungs(tmp_path: Path) -> None:
    calls: list[tuple[float, float]] = []

    def counted(values: Mapping[str, Any], budget: float) -> float:
        calls.append((values["x"], budget))
        return cost(values, budget)

    hl.minimize(counted, SPACE, optimizer="hyperband", trials=27, storage=url(tmp_path))
    assert len(calls) == len(set(calls)) == Hyperband(hl.Space.of(SPACE), trials=27).evaluations


@pytest.mark.parametrize("optimizer", ["halving", "hyperband"])
def test_workers_change_nothing(optimizer: str) -> None:
    one = hl.minimize(cost, SPACE, optimizer=optimizer, trials=18, seed=4)
    two = hl.minimize(cost, SPACE, optimizer=optimizer, trials=18, seed=4, workers=2)
    assert shape(one) == shape(two)


@pytest.mark.parametrize("stops", [1, 12, 28, 33])
def test_stopped_anywhere_it_goes_on(stops: int, tmp_path: Path) -> None:
    whole = hl.minimize(cost, SPACE, optimizer="halving", trials=9)
    calls = []

    def interrupted(values: Mapping[str, Any], budget: float) -> float:
        calls.append(values["x"])
        if len(calls) == stops:
            raise KeyboardInterrupt
        return cost(values, budget)

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
    def fragile(values: Mapping[str, Any], budget: float) -> float:
        if values["x"] < 0.4:
            raise ValueError("too small")
        return cost(values, budget)

    found = hl.minimize(fragile, SPACE, optimizer="halving", trials=9)
    failed = [t for t in found.trials if t.state is hl.State.FAILED]
    assert failed
    assert all(t.reason and "too small" in t.reason for t in failed)
    assert all(t.values["x"] >= 0.4 for t in found.trials if t.state is hl.State.COMPLETE)


def test_maximised_races_keep_the_largest() -> None:
    one = hl.minimize(cost, SPACE, optimizer="halving", trials=9)
    other = hl.maximize(lambda v, r: -cost(v, r), SPACE, optimizer="halving", trials=9)
    assert one.best().values == other.best().values
    assert other.best().costs[0] == pytest.approx(-one.best().costs[0])


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
        hl.minimize(lambda v: v["x"], SPACE, time=0.0, **arguments).best()
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


# Several processes, and objectives of either kind

WHOLE = hl.Space.of(SPACE)


def test_what_two_processes_begin_at_once_is_one_trial(tmp_path: Path) -> None:
    """The second of two that took the same place of a race withdraws, and nothing is left waiting."""
    storage = f"sqlite:///{tmp_path}/race.db"
    first, second = (Hyperband(WHOLE, trials=18) for _ in range(2))
    stores = [Store(storage, WHOLE) for _ in range(2)]
    one, other = first.ask(), second.ask()
    assert one is not None
    assert other is not None
    assert one.proposal.entry == other.proposal.entry
    numbers = [
        stores[0].begin(one, "hyperband", [], []),
        stores[1].begin(other, "hyperband", [], []),
    ]
    assert stores[0].twin(numbers[0]) is None
    assert stores[1].twin(numbers[1]) == numbers[0]
    for store in stores:
        store.put_back(at_fault=False)
        store.close()
    history = hl.minimize(lambda c, r: c["x"] + 1 - r, SPACE, "hyperband", 18, storage=storage)
    alone = hl.minimize(lambda c, r: c["x"] + 1 - r, SPACE, "hyperband", 18)
    assert [dict(t.values) for t in history.trials] == [dict(t.values) for t in alone.trials]
    read = hl.read(f"{tmp_path}/race.db")
    assert [t.costs for t in read.trials] == [t.costs for t in alone.trials]
    assert not read.notes


def test_a_race_goes_on_with_a_larger_budget(tmp_path: Path) -> None:
    """What was pruned and would go on now begins a trial of its own at that rung."""
    storage = f"sqlite:///{tmp_path}/race.db"
    small = hl.minimize(cost, SPACE, "hyperband", 9, storage=storage)
    large = hl.minimize(cost, SPACE, "hyperband", 18, storage=storage)
    alone = hl.minimize(cost, SPACE, "hyperband", 18)
    assert large.trials[: len(small.trials)] == small.trials
    tried, wanted = ({tuple(t.values.items()) for t in h.trials} for h in (large, alone))
    assert tried >= wanted
    assert large.best().costs == alone.best().costs
    study = optuna.load_study(study_name="hyperlens", storage=storage)
    assert all(t.state.is_finished() for t in study.trials)


@pytest.mark.parametrize("optimizer", ["halving", "hyperband", "asha"])
def test_a_finished_race_has_nothing_more_to_try(tmp_path: Path, optimizer: Any) -> None:
    """Nor where trials failed, at small budgets or at the full one."""

    def fragile(configuration: Mapping[str, Any], budget: float) -> float:
        if configuration["x"] > 0.6 or (budget == 1 and configuration["x"] > 0.3):
            raise ValueError("too large")
        return float(configuration["x"] + 1 - budget)

    def run() -> hl.History:
        return hl.minimize(fragile, SPACE, optimizer, 9, storage=f"sqlite:///{tmp_path}/run.db")

    first = run()
    assert any(t.state is hl.State.FAILED for t in first.trials)
    assert run().trials == first.trials


def test_waiting_between_rungs_is_no_running() -> None:
    """One worker evaluates one thing at a time, however long configurations wait for each other."""
    history = hl.minimize(lambda c, r: c["x"] + 1 - r, SPACE, "hyperband", 18)
    assert hl.timeline(history).lanes == 1
    rungs = [len(t.spans) for t in history.trials]
    assert max(rungs) == 3
    assert min(rungs) == 1
    assert sum(rungs) == Hyperband(WHOLE, trials=18).evaluations
    for trial in history.trials:
        assert trial.seconds == pytest.approx(sum(end - start for start, end in trial.spans))


def test_every_optimiser_takes_an_objective_with_a_budget() -> None:
    seen = []

    def loss(configuration: Mapping[str, Any], budget: float) -> float:
        seen.append(budget)
        return float(configuration["x"])

    for name in ("random", "smbo"):
        history = hl.minimize(loss, SPACE, name, 6)
        assert history.count(State.COMPLETE) == 6
        assert history.objectives[0].name == "loss"
    assert set(seen) == {1.0}
    with pytest.raises(hl.AnalysisError, match="give it a second argument"):
        hl.minimize(lambda c: c["x"], SPACE, "hyperband", 9)
