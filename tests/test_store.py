"""What a run leaves in its storage: read back by us, by plain Optuna, and by the next process."""

from __future__ import annotations

import json
import math
import os
import socket
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

import hyperlens as hl
from hyperlens import Parameter, SourceError, Space
from hyperlens.optimize import SMBO
from hyperlens.optimize.running.trial_outcome import Outcome
from hyperlens.optimize.storage import leases, patient
from hyperlens.optimize.storage.distributions import distributions
from hyperlens.optimize.storage.store import MOST_ATTEMPTS, Store
from hyperlens.optimize.storage.stored_trial import StudyTrial
from hyperlens.proposal import Proposal, from_ranges, to_ranges
from hyperlens.runs.history import State
from hyperlens.surrogates.description import learnt, rebuild

optuna.logging.set_verbosity(optuna.logging.ERROR)


def mixed() -> Space:
    """A log float, an integer, ordinals, a category with a conditional child, and a constant."""
    return Space.of(
        [
            Parameter("lr", "float", 1e-5, 1.0, log=True),
            Parameter("units", "integer", 1, 512, log=True),
            Parameter("batch", "ordinal", choices=(16, 32, 48)),
            Parameter("size", "ordinal", choices=("s", "m", "l")),
            Parameter("method", "categorical", choices=("adam", "sgd")),
            Parameter("momentum", "float", 0.0, 0.99),
        ],
        {"momentum": ((("method", "equal", "sgd"),),)},
        {"epochs": 3},
    )


def cost(values: Any) -> float:
    return float(
        (math.log10(values["lr"]) + 3) ** 2 + values.get("momentum", 0.5) + values["epochs"]
    )


def storages(folder: Path) -> list[str]:
    return [f"sqlite:///{folder / 'run.db'}", str(folder / "run.log"), str(folder / "other.sqlite")]


def one_by_one(space: Space, storage: str, costs: list[float | None], **given: Any) -> Store:
    """A store with trials of these costs, None for a failure."""
    store, optimiser = Store(storage, space, **given), SMBO(space, initial=len(costs))
    for value in costs:
        number = store.begin(optimiser.ask(), "smbo", [], [])
        store.finish(number, Outcome(value) if value is not None else Outcome(reason="bad luck"))
    return store


# Round trips


@pytest.mark.parametrize("which", range(3))
def test_a_run_is_read_back_as_it_was(which: int, tmp_path: Path) -> None:
    storage = storages(tmp_path)[which]
    calls = iter(range(100))

    def sometimes(values: Any) -> float:
        return math.nan if next(calls) % 7 == 3 else cost(values)

    history = hl.minimize(sometimes, mixed(), trials=25, initial=20, storage=storage)
    again = hl.read(storage)
    assert again.trials == history.trials
    assert again.objectives == history.objectives == (hl.Objective("sometimes"),)
    assert again.space.parameters == history.space.parameters == mixed().parameters
    assert again.space.conditions == mixed().conditions
    assert again.space.constants == {"epochs": 3}
    assert not again.space.inferred
    assert np.array_equal(again.vectors, history.vectors, equal_nan=True)
    failed = [t for t in again.trials if t.state is State.FAILED]
    assert {t.reason for t in failed} == {"returned nan, which is not a finite number"}
    assert len(failed) == 4
    assert all(t.values["epochs"] == 3 for t in again.trials)
    assert all(t.ended is not None and t.started is not None for t in again.trials)
    assert all((t.ended or 0) >= (t.started or 0) for t in again.trials)


def test_every_proposal_is_kept_with_what_made_it(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'run.db'}"
    history = hl.maximize(
        lambda v: -cost(v), mixed(), trials=16, initial=12, tau=2.0, storage=storage, workers=1
    )
    kinds = []
    for trial in hl.read(storage).trials:
        kept = trial.proposal
        assert kept is not None
        kinds.append(kept.kind)
        assert (kept.optimizer, kept.acquisition, kept.tau) == ("smbo", "lcb", 2.0)
        assert kept.learned == to_ranges(range(trial.number))
        assert kept.awaited == ""
        if kept.kind == "initial":
            assert kept.mean is None
            assert kept.surrogate is None
            continue
        assert kept.mean is not None
        assert kept.std is not None
        assert kept.bound == kept.score == kept.mean - 2.0 * kept.std
        rows = slice(0, trial.number)
        parameters = kept.surrogate_parameters
        y = learnt(np.array([-t.costs[0] for t in history.trials[rows]]), parameters)
        model = rebuild("gp", parameters, history.space.cube, history.vectors[rows], y)
        mean, std = model.predict(history.vectors[[trial.number]])
        assert kept.mean == pytest.approx(mean[0], rel=1e-6)
        assert kept.std == pytest.approx(std[0], rel=1e-6)
        told = model.predict(history.vectors[rows])[0]
        assert kept.best == pytest.approx(told.min(), rel=1e-6)
    assert kinds == ["initial"] * 12 + ["proposed"] * 4


def test_a_forest_is_kept_by_its_seed_and_awaited_trials_by_their_numbers() -> None:
    together = Barrier(3)

    def objective(values: Any) -> float:
        together.wait()
        return cost(values)

    options: dict[str, Any] = {"initial": 6, "surrogate": "forest", "seed": 3}
    with ThreadPoolExecutor(3) as threads:
        history = hl.minimize(objective, mixed(), trials=12, engine=threads, **options)
    proposals = [t.proposal or Proposal() for t in history.trials]
    assert proposals[-1].surrogate == "forest"
    assert proposals[-1].surrogate_parameters == {"seed": 3, "trees": 64}
    assert [p.awaited for p in proposals[:3]] == ["", "0", "0-1"]  # none ends before all began
    for number, proposal in enumerate(proposals):
        known = from_ranges(proposal.learned) + from_ranges(proposal.awaited)
        assert sorted(known) == list(range(number))


def test_plain_optuna_reads_the_run(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'run.db'}"
    history = hl.minimize(cost, mixed(), "random", trials=6, storage=storage, study="mine")
    study = optuna.load_study(study_name="mine", storage=storage)
    assert study.metric_names == ["cost"]
    assert study.direction == optuna.study.StudyDirection.MINIMIZE
    assert study.best_params == history.best().values
    found = {k: v for t in study.trials for k, v in t.distributions.items()}
    assert found == {
        "lr": FloatDistribution(1e-5, 1.0, log=True),
        "units": IntDistribution(1, 512, log=True),
        "batch": IntDistribution(16, 48, step=16),
        "size": CategoricalDistribution(("s", "m", "l")),
        "method": CategoricalDistribution(("adam", "sgd")),
        "momentum": FloatDistribution(0.0, 0.99),
        "epochs": CategoricalDistribution((3,)),
    }
    assert Space.from_json(json.dumps(study.user_attrs["hyperlens:space"])).names == mixed().names
    study.optimize(lambda trial: trial.suggest_float("lr", 1e-5, 1.0, log=True), n_trials=1)


def test_choices_that_optuna_cannot_keep_are_kept_by_their_text(tmp_path: Path) -> None:
    space = Space.of([Parameter("layers", "categorical", choices=((64,), (64, 32)))])
    assert distributions(space)["layers"] == CategoricalDistribution(("(64,)", "(64, 32)"))
    storage = f"sqlite:///{tmp_path / 'run.db'}"
    seen: list[Any] = []

    def objective(values: Any) -> float:
        seen.append(values["layers"])
        return 1.0

    hl.minimize(objective, space, "random", 4, storage=storage)
    assert {type(layers) for layers in seen} == {tuple}
    assert len(hl.read(storage).trials) == 4


# Going on


def test_changes_come_in_the_order_in_which_trials_ended(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'run.db'}", mixed())
    optimiser = SMBO(mixed())
    numbers = [store.begin(optimiser.ask(), "smbo", [], []) for _ in range(3)]
    assert numbers == [0, 1, 2]
    assert [k.state for k in store.changes()] == [State.RUNNING] * 3
    store.finish(2, Outcome(5.0))
    store.finish(0, Outcome(reason="no"))
    again = Store(f"sqlite:///{tmp_path / 'run.db'}", mixed())
    for reader in (store, again):
        assert [k.number for k in reader.changes()] == [2, 0, 1]
        assert [k.number for k in reader.changes()] == [1]
    store.close()
    again.close()


def abandoned(store: Store, number: int) -> StudyTrial:
    return next(k for k in store.changes() if k.number == number)


@pytest.mark.parametrize("which", range(2))
def test_a_trial_that_nobody_runs_any_more_is_taken_over_once(which: int, tmp_path: Path) -> None:
    storage = storages(tmp_path)[which]
    first = Store(storage, mixed())
    first.begin(SMBO(mixed()).ask(), "smbo", [], [])
    second, third = Store(storage, mixed()), Store(storage, mixed())
    first.put_back(at_fault=True)
    seen = [abandoned(second, 0), abandoned(third, 0)]
    assert [k.state for k in seen] == [None, None]
    assert second.claim(seen[0])
    assert not third.claim(seen[1])
    second.finish(0, Outcome(1.0))
    assert not third.claim(seen[1])
    third.finish(0, Outcome(2.0))  # too late: the first word stands
    assert [t.costs for t in second.history().trials] == [(1.0,)]
    for store in (first, second, third):
        store.close()


def test_a_trial_that_is_interrupted_again_and_again_has_failed(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'run.db'}", mixed())
    store.begin(SMBO(mixed()).ask(), "smbo", [], [])
    for _ in range(3 * MOST_ATTEMPTS):  # stopping by hand is no fault of the trial
        store.put_back(at_fault=False)
        assert store.claim(abandoned(store, 0))
    for _ in range(MOST_ATTEMPTS - 1):
        store.put_back(at_fault=True)
        assert store.claim(abandoned(store, 0))
    store.put_back(at_fault=True)
    assert not store.claim(abandoned(store, 0))
    assert store.history().trials[0].reason == f"was interrupted {MOST_ATTEMPTS} times"
    store.close()


def test_a_lease_of_a_dead_process_is_abandoned_and_ours_is_not() -> None:
    watch = leases.Watch()
    assert not watch.abandoned(0, leases.lease(1))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert watch.abandoned(0, {**leases.lease(1), "pid": ended.pid})
    assert watch.abandoned(0, {**leases.lease(1), "born": "another process of this number"})
    assert not watch.abandoned(0, {**leases.lease(1), "pid": os.getppid(), "born": None})


def test_a_process_that_ended_but_was_not_waited_for_is_dead() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    assert child.stdout is not None
    held = {**leases.lease(1), "pid": child.pid, "born": leases._born(child.pid)}
    assert child.stdout.read() == b""
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # a zombie now
    assert leases.Watch().abandoned(0, held)
    child.wait()
    child.stdout.close()


def test_on_another_host_a_lease_is_abandoned_when_it_stops_moving(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr("hyperlens.optimize.storage.leases.time.monotonic", lambda: now)
    watch = leases.Watch()
    lease = {**leases.lease(1), "host": f"not {socket.gethostname()}"}
    assert not watch.abandoned(0, lease)
    now = leases.PATIENCE - 1
    assert not watch.abandoned(0, {**lease, "beat": 1})
    now = 2 * leases.PATIENCE - 2
    assert not watch.abandoned(0, {**lease, "beat": 1})
    now = 2 * leases.PATIENCE - 1
    assert watch.abandoned(0, {**lease, "beat": 1})


def test_a_beat_moves_the_leases_of_running_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(f"sqlite:///{tmp_path / 'run.db'}", mixed())
    store.begin(SMBO(mixed()).ask(), "smbo", [], [])
    store.beat()
    assert abandoned(store, 0).lease["beat"] == 0  # too soon
    monkeypatch.setattr(leases, "BEAT", 0.0)
    store.beat()
    assert abandoned(store, 0).lease["beat"] == 1
    store.close()


# What is refused


def test_a_study_goes_on_only_as_it_began(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'run.db'}"
    one_by_one(mixed(), storage, [1.0]).close()
    with pytest.raises(SourceError, match="is minimised; go on in its direction"):
        Store(storage, mixed(), maximize=True)
    other = Space.of([Parameter("lr", "float", 0, 1)])
    with pytest.raises(SourceError, match="was run on another space"):
        Store(storage, other)
    Store(storage, other, study="another").close()
    optuna.create_study(storage=storage, study_name="foreign").add_trial(
        optuna.trial.create_trial(value=1.0)
    )
    with pytest.raises(SourceError, match="was not run by hyperlens"):
        Store(storage, mixed(), study="foreign")


def test_storages_that_cannot_be_opened_are_one_sentence(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("a,b\n1,2\n")
    with pytest.raises(SourceError, match="neither a SQLite database nor an Optuna journal"):
        Store(str(table), mixed())
    with pytest.raises(SourceError, match="cannot be opened"):
        Store(f"sqlite:///{table}", mixed())
    assert table.read_text() == "a,b\n1,2\n"
    with pytest.raises(SourceError, match="There is no folder"):
        Store(f"sqlite:///{tmp_path / 'no' / 'run.db'}", mixed())
    with pytest.raises(SourceError, match="not a usable database address"):
        Store("sqlite//:nonsense://", mixed())
    with pytest.raises(
        SourceError, match=r"'postgresql\+psycopg://me:\*\*\*@127.0.0.1:1/x' cannot"
    ):
        Store("postgresql://me:secret@127.0.0.1:1/x", mixed())


def test_a_missing_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hyperlens.runs.databases.find_spec", lambda name: None)
    with pytest.raises(SourceError, match=r"pip install hyperlens\[postgresql\]"):
        Store("postgresql://me@127.0.0.1/x", mixed())
    with pytest.raises(SourceError, match=r"pip install hyperlens\[mysql\]"):
        hl.read("mysql://me@127.0.0.1/x")


# The reader


def test_trials_of_other_programs_do_not_spoil_the_recorded_space(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    store = one_by_one(mixed(), f"sqlite:///{path}", [3.0, None, 1.0])
    study = optuna.load_study(study_name="hyperlens", storage=f"sqlite:///{path}")
    study.add_trial(
        optuna.trial.create_trial(
            params={"lr": 5.0},
            distributions={"lr": FloatDistribution(1e-5, 10.0, log=True)},
            value=1.0,
        )
    )
    history = hl.read(path)
    assert history.space.parameters == mixed().parameters
    assert len(history.trials) == 3
    assert any("1 of 4 trials do not fit the space" in note for note in history.notes)
    store.close()


def test_a_recorded_space_that_cannot_be_read_is_inferred(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    one_by_one(mixed(), f"sqlite:///{path}", [3.0, 2.0]).close()
    study = optuna.load_study(study_name="hyperlens", storage=f"sqlite:///{path}")
    for broken in ("nonsense", {"hyperparameters": 3}):
        study.set_user_attr("hyperlens:space", broken)
        history = hl.read(path)
        assert len(history.trials) == 2
        assert any("cannot be read" in note for note in history.notes)


def test_a_trial_of_a_search_costs_two_transactions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is written when it begins and when it ends, and never read by itself."""
    calls: Counter[str] = Counter()
    call = patient._Patient.call

    def counted(self: Any, name: str, given: Any, named: Any) -> Any:
        calls[name] += 1
        return call(self, name, given, named)

    monkeypatch.setattr(patient._Patient, "call", counted)
    hl.minimize(cost, mixed(), "random", 12, storage=tmp_path / "run.db")
    assert calls["create_new_trial"] == calls["set_trial_state_values"] == 12
    assert not calls["get_trial"]
    assert not calls["get_trial_number_from_id"]
