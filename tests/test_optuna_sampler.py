"""`hl.optuna.SMBOSampler`: an existing Optuna objective with one changed line."""

from __future__ import annotations

import math
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest

import hyperlens as hl
from hyperlens import Parameter, Space, SpaceError
from hyperlens.optimize import SMBO
from hyperlens.proposal import Proposal
from hyperlens.runs.history import State

optuna.logging.set_verbosity(optuna.logging.ERROR)


def conditional() -> Space:
    return Space.of(
        [
            Parameter("lr", "float", 1e-5, 1.0, log=True),
            Parameter("method", "categorical", choices=("adam", "sgd")),
            Parameter("momentum", "float", 0.0, 0.99),
            Parameter("depth", "ordinal", choices=(2, 4, 8)),
        ],
        {"momentum": ((("method", "equal", "sgd"),),)},
    )


def objective(trial: optuna.Trial) -> float:
    lr = trial.suggest_float("lr", 1e-5, 1.0, log=True)
    method = trial.suggest_categorical("method", ["adam", "sgd"])
    momentum = trial.suggest_float("momentum", 0.0, 0.99) if method == "sgd" else 0.5
    depth = trial.suggest_categorical("depth", [2, 4, 8])
    return (math.log10(lr) + 3) ** 2 + (momentum - 0.9) ** 2 + 0.1 * depth


def bowl(trial: optuna.Trial) -> float:
    x, y = trial.suggest_float("x", -5, 5), trial.suggest_float("y", -5, 5)
    return (x - 1) ** 2 + (y + 2) ** 2


def plane() -> Space:
    return Space.of([Parameter("x", "float", -5, 5), Parameter("y", "float", -5, 5)])


def tuned(sampler: Any, goal: Any = objective, trials: int = 20, **given: Any) -> optuna.Study:
    study = optuna.create_study(sampler=sampler, **given)
    study.optimize(goal, n_trials=trials)
    return study


def test_an_objective_with_conditions_is_tuned_and_read_back() -> None:
    study = tuned(hl.optuna.SMBOSampler(conditional(), initial=12), trials=24)
    history = hl.read(study)
    assert history.space.parameters == conditional().parameters
    assert not history.space.inferred
    assert len(history.trials) == 24
    assert study.best_value < 1.0
    proposals = [t.proposal or Proposal() for t in history.trials]
    assert [p.kind for p in proposals] == ["initial"] * 12 + ["proposed"] * 12
    for number, (trial, proposal) in enumerate(zip(history.trials, proposals, strict=True)):
        expected = "" if not number else "0" if number == 1 else f"0-{number - 1}"
        assert proposal.learned == expected
        assert trial.proposer == "smbo"


def test_it_proposes_what_the_optimiser_alone_would() -> None:
    study = tuned(hl.optuna.SMBOSampler(plane(), initial=6, seed=3), bowl, 12)
    alone = SMBO(plane(), initial=6, seed=3)
    for trial in study.trials:
        proposal = alone.ask()
        assert trial.params == pytest.approx(dict(proposal.values))
        alone.tell(proposal.values, trial.value or 0.0)


def test_without_a_space_it_tunes_what_all_trials_share() -> None:
    study = tuned(hl.optuna.SMBOSampler(seed=1), bowl, 30)
    proposals = [t.user_attrs.get("hyperlens:proposal") for t in study.trials]
    assert proposals[:10] == [None] * 10
    assert all(p["parameters"] == ["x", "y"] for p in proposals[10:] if p)
    assert study.best_value < 0.05
    assert "hyperlens:space" not in study.user_attrs
    assert hl.read(study).trials[-1].proposal == Proposal.from_dict(proposals[-1])
    dynamic = tuned(hl.optuna.SMBOSampler(), objective, 14)
    last = dynamic.trials[-1].user_attrs["hyperlens:proposal"]
    assert last["parameters"] == ["depth", "lr", "method"]


def test_maximising_finds_the_same_place() -> None:
    low = tuned(hl.optuna.SMBOSampler(plane(), initial=6), bowl, 14)
    high = tuned(
        hl.optuna.SMBOSampler(plane(), initial=6), lambda t: -bowl(t), 14, direction="maximize"
    )
    assert [t.params for t in low.trials] == [t.params for t in high.trials]


def test_failed_and_pruned_trials_are_learned_from() -> None:
    def goal(trial: optuna.Trial) -> float:
        value = bowl(trial)
        if trial.params["x"] < -1:
            raise optuna.TrialPruned
        if trial.params["y"] > 3:
            return math.nan
        return value

    study = tuned(hl.optuna.SMBOSampler(plane(), initial=10), goal, 20)
    history = hl.read(study)
    assert history.count(State.PRUNED) > 0
    assert history.count(State.FAILED) > 0
    assert (history.trials[18].proposal or Proposal()).learned == "0-17"


def test_parameters_outside_the_space_are_drawn_at_random() -> None:
    def goal(trial: optuna.Trial) -> float:
        return bowl(trial) + 0 * trial.suggest_int("other", 0, 100)

    study = tuned(hl.optuna.SMBOSampler(plane(), initial=6), goal, 12)
    assert len({t.params["other"] for t in study.trials}) > 6
    history = hl.read(study)
    assert history.space.names == ("x", "y")
    assert any("lacks 'other'" in note for note in history.notes)


def test_constants_of_the_space_are_served() -> None:
    space = Space.of(plane().parameters, constants={"epochs": 5})
    seen = []

    def goal(trial: optuna.Trial) -> float:
        seen.append(trial.suggest_int("epochs", 1, 10))
        return bowl(trial)

    tuned(hl.optuna.SMBOSampler(space), goal, 3)
    assert seen == [5, 5, 5]
    with pytest.raises(SpaceError, match="always 5; make the two agree"):
        tuned(hl.optuna.SMBOSampler(space), lambda t: t.suggest_int("epochs", 6, 10), 1)


def test_enqueued_trials_are_left_as_they_are() -> None:
    study = optuna.create_study(sampler=hl.optuna.SMBOSampler(plane(), initial=4))
    study.enqueue_trial({"x": 0.5, "y": 0.25})
    study.optimize(bowl, n_trials=6)
    assert study.trials[0].params == {"x": 0.5, "y": 0.25}
    assert "hyperlens:proposal" not in study.trials[0].user_attrs
    assert study.trials[5].user_attrs["hyperlens:proposal"]["learned"] == "0-4"


def test_several_threads_do_not_propose_the_same() -> None:
    together = threading.Barrier(4)

    def goal(trial: optuna.Trial) -> float:
        value = bowl(trial)
        together.wait()
        return value

    study = optuna.create_study(sampler=hl.optuna.SMBOSampler(plane(), initial=8))
    study.optimize(goal, n_trials=20, n_jobs=4)
    points = np.array([[t.params["x"], t.params["y"]] for t in study.trials])
    distance = np.abs(points[:, None] - points[None]).max(axis=2)
    assert distance[np.triu_indices(20, 1)].min() > 1e-3
    assert any("awaited" in t.user_attrs["hyperlens:proposal"] for t in study.trials)


def test_several_processes_share_a_storage(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'run.db'}"
    optuna.create_study(storage=storage, study_name="shared")
    program = f"""
import optuna, hyperlens as hl
optuna.logging.set_verbosity(optuna.logging.ERROR)
space = [hl.Parameter("x", "float", -5, 5), hl.Parameter("y", "float", -5, 5)]
study = optuna.load_study(
    storage={storage!r}, study_name="shared", sampler=hl.optuna.SMBOSampler(space, initial=8)
)
study.optimize(
    lambda t: t.suggest_float("x", -5, 5) ** 2 + t.suggest_float("y", -5, 5) ** 2, n_trials=8
)
"""
    both = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    history = hl.read(storage)
    assert len(history.trials) == 16
    assert len({t.values["x"] for t in history.trials}) == 16
    assert history.space.names == ("x", "y")


CONTRADICTIONS = [
    (lambda t: t.suggest_float("x", 0, 5), "suggested as FloatDistribution.*a float from -5 to 5"),
    (lambda t: t.suggest_int("x", -5, 5), "suggested as IntDistribution"),
    (lambda t: t.suggest_categorical("x", ["a", "b"]), "suggested as CategoricalDistribution"),
    (lambda t: t.suggest_float("x", -5, 5, step=0.5), "make the two agree"),
    (lambda t: t.suggest_categorical("c", ["p", "r"]), "the choices 'p', 'q'; make the two agree"),
    (lambda t: t.suggest_float("child", 0, 1), "c is q.*make it inactive; suggest it only then"),
]


@pytest.mark.parametrize(("goal", "message"), CONTRADICTIONS)
def test_what_contradicts_the_space_is_one_sentence(goal: Any, message: str) -> None:
    space = Space.of(
        [
            Parameter("x", "float", -5, 5),
            Parameter("c", "categorical", choices=("p", "q")),
            Parameter("child", "float", 0, 1),
        ],
        {"child": ((("c", "equal", "q"),),)},
    )
    with pytest.raises(SpaceError, match=message):
        tuned(hl.optuna.SMBOSampler(space), goal, 8)


def test_wider_and_whole_number_ranges_agree_with_the_space() -> None:
    space = Space.of([Parameter("n", "integer", 1, 9), Parameter("k", "ordinal", choices=(2, 4))])

    def goal(trial: optuna.Trial) -> float:
        n, k = trial.suggest_int("n", 0, 100), trial.suggest_int("k", 0, 8, step=2)
        assert 1 <= n <= 9
        assert k in (2, 4)
        return n + k + trial.suggest_float("free", 0, 1)

    assert len(tuned(hl.optuna.SMBOSampler(space, initial=4), goal, 8).trials) == 8


def test_bad_settings_are_refused_at_once() -> None:
    with pytest.raises(SpaceError, match="at least 0"):
        hl.optuna.SMBOSampler(plane(), tau=-1.0)
    study = optuna.create_study(
        directions=["minimize", "minimize"], sampler=hl.optuna.SMBOSampler(plane(), tau=1.0)
    )
    with pytest.raises(SpaceError, match="for one objective"):
        study.optimize(lambda t: (t.suggest_float("x", -5, 5), 1.0), n_trials=1)
