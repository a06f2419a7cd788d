"""The loop: what it finds, what it survives, and that it goes on where it was."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import ConfigSpace as CS
import numpy as np
import optuna
import pytest

import hyperlens as hl
from hyperlens import AnalysisError, History, Parameter, RandomSearch, Space, SpaceError
from hyperlens.optimize import Candidate
from hyperlens.optimize.running.loop import Status
from hyperlens.optimize.running.minimize import OPTIMIZERS
from hyperlens.proposal import Proposal
from hyperlens.runs.history import State

optuna.logging.set_verbosity(optuna.logging.ERROR)


def plane() -> Space:
    return Space.of([Parameter("x", "float", -5, 5), Parameter("y", "float", -5, 5)])


def bowl(values: Mapping[str, Any]) -> float:
    return float((values["x"] - 1) ** 2 + (values["y"] + 2) ** 2)


def configurations(history: History) -> list[dict[str, Any]]:
    return [dict(t.values) for t in history.trials]


# What it finds


def test_minimize_and_maximize_find_the_same_place() -> None:
    low = hl.minimize(bowl, plane(), trials=25, initial=8)
    high = hl.maximize(lambda v: -bowl(v), plane(), trials=25, initial=8)
    assert configurations(low) == configurations(high)
    assert [t.costs[0] for t in low.trials] == [-t.costs[0] for t in high.trials]
    assert low.best().costs[0] < 0.01
    assert high.objective().maximize
    assert low.objective().name == "bowl"


def test_a_space_may_come_in_any_form(tmp_path: Path) -> None:
    path = tmp_path / "space.yaml"
    plane().save(path)
    configspace = CS.ConfigurationSpace({"x": (-5.0, 5.0), "y": (-5.0, 5.0)})
    runs = [
        hl.minimize(bowl, form, "random", trials=3)
        for form in (plane(), list(plane().parameters), path, str(path), configspace)
    ]
    assert all(configurations(r) == configurations(runs[0]) for r in runs)
    with pytest.raises(SpaceError, match="is not a search space"):
        hl.minimize(bowl, [], trials=3)


def test_the_same_seed_runs_the_same_and_another_does_not() -> None:
    runs = [hl.minimize(bowl, plane(), trials=12, initial=6, seed=s) for s in (1, 1, 2)]
    assert configurations(runs[0]) == configurations(runs[1])
    assert configurations(runs[0]) != configurations(runs[2])


def test_random_search_is_uniform_over_the_space_and_told_apart_by_its_seed() -> None:
    space = Space.of([Parameter("lr", "float", 1e-4, 1.0, log=True)])
    history = hl.minimize(lambda v: v["lr"], space, "random", trials=400, seed=5)
    assert abs(np.median(history.vectors) - 0.5) < 0.08
    assert len({t.values["lr"] for t in history.trials}) == 400
    assert {(t.proposal or Proposal()).optimizer for t in history.trials} == {"random"}


def test_an_optimiser_may_be_given_ready() -> None:
    named = hl.minimize(bowl, plane(), "random", trials=5, seed=4)
    given = hl.minimize(bowl, plane(), RandomSearch(plane(), seed=4), trials=5)
    assert configurations(named) == configurations(given)
    with pytest.raises(SpaceError, match="set 'tau' when it is built"):
        hl.minimize(bowl, plane(), RandomSearch(plane()), tau=2.0)


def test_recommend_takes_the_best_predicted_where_costs_are_noisy() -> None:
    """The best observed is a lucky draw at the edge; the process is not fooled."""
    space = Space.of([Parameter("x", "float", -1, 1)])
    noise = np.random.default_rng(0)

    def noisy(values: Mapping[str, Any]) -> float:
        luck = -2.0 if values["x"] == edge else 0.0
        return float(values["x"] ** 2 + 0.1 * noise.normal() + luck)

    edge = None
    edge = max(t.values["x"] for t in hl.minimize(noisy, space, "random", trials=60).trials)
    history = hl.minimize(noisy, space, "random", trials=60)
    assert history.best().values["x"] == edge
    assert abs(hl.recommend(history).values["x"]) < 0.3
    flat = hl.minimize(lambda v: 1.0, space, "random", trials=4)
    assert hl.recommend(flat) == flat.best()


# What it survives


def test_failures_of_all_kinds_are_trials_with_their_reasons() -> None:
    def objective(values: Mapping[str, Any]) -> Any:
        if values["x"] < -3:
            raise ZeroDivisionError("division by zero")
        if values["x"] < -1:
            return None
        if values["x"] < 1:
            return math.nan
        return bowl(values)

    history = hl.minimize(objective, plane(), trials=30, initial=20)
    assert len(history.trials) == 30
    for trial in history.trials:
        x = trial.values["x"]
        assert (trial.state is State.COMPLETE) == (x >= 1)
        assert (trial.reason is None) == (x >= 1)
        if x < -3:
            assert (trial.reason or "").startswith(
                "ZeroDivisionError: division by zero (test_run.py"
            )
        elif x < -1:
            assert trial.reason == "returned None, which is not a finite number"
    assert history.best().values["x"] >= 1


def test_a_run_in_which_everything_fails_ends_and_says_so() -> None:
    history = hl.minimize(lambda v: math.nan, plane(), trials=12, initial=3)
    assert history.count(State.FAILED) == 12
    with pytest.raises(AnalysisError, match="12 failed"):
        history.best()


def test_crashes_and_hangs_end_their_trial_only() -> None:
    def objective(values: Mapping[str, Any]) -> float:
        if values["x"] < -2:
            os._exit(9)
        if values["x"] > 2:
            threading.Event().wait()
        return bowl(values)

    history = hl.minimize(objective, plane(), "random", trials=12, workers=3, timeout=0.5)
    reasons = [t.reason for t in history.trials]
    assert len(history.trials) == 12
    for trial, reason in zip(history.trials, reasons, strict=True):
        x = trial.values["x"]
        expected = "its process ended itself with exit code 9" if x < -2 else None
        assert reason == ("took longer than 0.5 s" if x > 2 else expected)
    assert len(set(reasons)) == 3


# Many workers


def test_several_workers_propose_different_configurations() -> None:
    together = threading.Barrier(4)

    def objective(values: Mapping[str, Any]) -> float:
        together.wait()
        return bowl(values)

    with ThreadPoolExecutor(4) as threads:
        history = hl.minimize(objective, plane(), trials=24, initial=8, engine=threads)
    assert len(history.trials) == 24
    distance = np.abs(history.vectors[:, None] - history.vectors[None]).max(axis=2)
    assert distance[np.triu_indices(24, 1)].min() > 1e-7
    assert max(len((t.proposal or Proposal()).awaited) for t in history.trials) > 0
    assert history.best().costs[0] < 0.5


def test_random_search_draws_nothing_that_another_has_drawn() -> None:
    """One that was ahead by a trial which was withdrawn has left out a number."""
    space = hl.Space.of([hl.Parameter("x", "float", -1, 1)])
    alone = hl.RandomSearch(space)
    drawn = [alone.ask().values["x"] for _ in range(4)]
    behind = hl.RandomSearch(space)
    behind.tell({"x": drawn[1]}, 0.0)  # and the first was never run
    assert [behind.ask().values["x"] for _ in range(2)] == drawn[2:]
    levels = hl.Space.of([hl.Parameter("k", "integer", 0, 1)])
    few = hl.RandomSearch(levels)
    assert {few.ask().values["k"] for _ in range(6)} == {0, 1}  # chance may repeat these


def test_two_processes_share_one_study(tmp_path: Path) -> None:
    """Both work until the study has what both want; no trial is lost or done twice."""
    storage = f"sqlite:///{tmp_path / 'run.db'}"
    program = f"""
import hyperlens as hl
with open({str(tmp_path / "calls")!r}, "a") as calls:
    def f(c):
        calls.write("x\\n")
        calls.flush()
        return c["x"] ** 2
    h = hl.minimize(f, [hl.Parameter("x", "float", -1, 1)], "random", 30, storage={storage!r})
    assert len(h.trials) >= 30, len(h.trials)
"""
    both = [subprocess.Popen([sys.executable, "-W", "error", "-c", program]) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    history = hl.read(storage)
    assert 30 <= len(history.trials) <= 31  # both may see one missing at the same moment
    assert len({t.values["x"] for t in history.trials}) == len(history.trials)
    assert history.count(State.COMPLETE) == len(history.trials)
    assert len((tmp_path / "calls").read_text().split()) == len(history.trials)


# Going on


@pytest.mark.parametrize("storage", ["run.db", "run.log"])
def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(storage: str, tmp_path: Path) -> None:
    whole = hl.minimize(bowl, plane(), trials=14, initial=6)
    calls = []

    def stopping(values: Mapping[str, Any]) -> float:
        calls.append(dict(values))
        if len(calls) in (4, 10, 11):
            raise KeyboardInterrupt
        return bowl(values)

    kept = str(tmp_path / storage)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            hl.minimize(stopping, plane(), trials=14, initial=6, storage=kept)
    history = hl.minimize(stopping, plane(), trials=14, initial=6, storage=kept)
    assert configurations(history) == configurations(whole)
    assert [t.proposal for t in history.trials] == [t.proposal for t in whole.trials]
    assert len(calls) == 17  # three were tried again, none was done twice
    assert calls[3] == calls[4]


def test_asking_for_no_more_than_there_is_evaluates_nothing(tmp_path: Path) -> None:
    kept = tmp_path / "run.db"
    first = hl.minimize(bowl, plane(), "random", trials=6, storage=kept)

    def never(values: Mapping[str, Any]) -> float:
        raise AssertionError("nothing is left to do")

    assert hl.minimize(never, plane(), "random", trials=6, storage=kept).trials == first.trials
    more = hl.minimize(bowl, plane(), "random", trials=8, storage=kept)
    assert more.trials[:6] == first.trials
    assert len(more.trials) == 8


def test_several_workers_that_are_stopped_lose_nothing(tmp_path: Path) -> None:
    kept = tmp_path / "run.db"
    calls, stopped = itertools.count(), threading.Event()

    def objective(values: Mapping[str, Any]) -> float:
        if next(calls) >= 3:
            stopped.wait()
        return bowl(values)

    def stop(status: Status) -> None:
        if status.finished >= 3 and status.running:
            stopped.set()
            raise KeyboardInterrupt

    with ThreadPoolExecutor(3) as threads, pytest.raises(KeyboardInterrupt):
        hl.minimize(objective, plane(), "random", 12, engine=threads, storage=kept, progress=stop)
    before = hl.read(kept)
    history = hl.minimize(bowl, plane(), "random", trials=12, storage=kept)
    assert [t.number for t in history.trials] == list(range(12))
    assert len({t.values["x"] for t in history.trials}) == 12
    done = {t.number: t for t in before.trials}
    assert all(history.trials[number] == trial for number, trial in done.items())


# The protocol, as halving needs it


class Ladder:
    """Three configurations at half the budget; the best of them at the whole."""

    name = "ladder"

    def __init__(self, space: Space, *, seed: int = 0) -> None:
        self.space = space
        self.vectors = space.sample(3, seed)
        self.asked: list[tuple[int, float]] = []
        self.costs: dict[tuple[int, float], float] = {}

    def ask(self) -> Candidate | None:
        low = [(k, 0.5) for k in range(3)]
        todo = [key for key in low if key not in self.asked and key not in self.costs]
        if not todo and len([k for k in self.costs if k in low]) == 3:
            best = min(low, key=lambda key: self.costs[key])[0]
            todo = [(best, 1.0)] if (best, 1.0) not in {*self.asked, *self.costs} else []
        if not todo:
            return None
        self.asked.append(todo[0])
        k, budget = todo[0]
        values = self.space.decode(self.vectors[[k]])[0]
        proposal = Proposal("proposed", budget=budget)
        return Candidate(len(self.asked), self.vectors[k], values, proposal)

    def _key(self, values: Mapping[str, Any], budget: float | None) -> tuple[int, float]:
        vector = self.space.encode([values])[0]
        return int(np.abs(self.vectors - vector).max(axis=1).argmin()), budget or 0.0

    def expect(self, configuration: Mapping[str, Any], budget: float | None = None) -> None:
        self.asked.append(self._key(configuration, budget))

    def tell(
        self, configuration: Mapping[str, Any], cost: float, budget: float | None = None
    ) -> None:
        self.costs[self._key(configuration, budget)] = cost


def test_an_optimiser_may_wait_use_a_budget_and_come_to_its_end(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(OPTIMIZERS, "ladder", Ladder)
    interrupted = iter([False, False, True])

    def objective(values: Mapping[str, Any], budget: float) -> float:
        if next(interrupted, False):
            raise KeyboardInterrupt
        return bowl(values) / budget

    kept = tmp_path / "run.db"
    with pytest.raises(KeyboardInterrupt):
        hl.minimize(objective, plane(), "ladder", trials=50, storage=kept)
    history = hl.minimize(objective, plane(), "ladder", trials=50, storage=kept)
    assert [t.budget for t in history.trials] == [0.5, 0.5, 0.5, 1.0]
    best = min(history.trials[:3], key=lambda t: t.costs[0])
    assert history.trials[3].values == best.values
    assert hl.read(kept).trials == history.trials


# What is told on the way, and what is refused


def test_progress_tells_how_far_it_is_in_the_users_direction() -> None:
    seen: list[Status] = []
    hl.maximize(lambda v: -bowl(v), plane(), "random", trials=6, progress=seen.append)
    assert [s.finished for s in seen] == list(range(7))
    best = [s.best for s in seen[1:] if s.best is not None]
    assert len(best) == 6
    assert best == sorted(best)
    assert best[0] < best[-1]
    assert seen[0].best is None
    assert seen[-1].best_trial is not None


def test_wrong_settings_are_refused_with_a_remedy() -> None:
    with pytest.raises(SpaceError, match="choose one of 'smbo', 'random'"):
        hl.minimize(bowl, plane(), "tpe")
    with pytest.raises(SpaceError, match="'smbo' has no option 'taus'; choose among 'tau'"):
        hl.minimize(bowl, plane(), taus=2.0)
    with pytest.raises(AnalysisError, match="ask for at least 1"):
        hl.minimize(bowl, plane(), trials=0)
