"""Runs of which most trials were pruned: what they say is used, and said; with known truth."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import optuna
import pytest

import hyperlens as hl
from hyperlens.explain.models.fidelity import _finding, evidence
from hyperlens.explain.models.training import training
from hyperlens.sections.analysis import analyse
from hyperlens.sections.choices import Choices

OPTIMIZERS = {"adam": 0.0, "rmsprop": 0.25, "sgd": 0.5}
STEPS = 20
NOISE = 0.03
PRUNERS: dict[str, Callable[[], optuna.pruners.BasePruner]] = {
    "median": lambda: optuna.pruners.MedianPruner(n_startup_trials=5),
    "hyperband": lambda: optuna.pruners.HyperbandPruner(1, STEPS, 3),
    "halving": lambda: optuna.pruners.SuccessiveHalvingPruner(),
}


def final(lr: float, optimizer: str) -> float:
    """Its variance over the space is due to the learning rate by 98 %: 0.36 * 81 * 4 / 45 = 2.59 of
    it and 0.042. Trials that are let finish differ by their optimizer."""
    return 0.6 * (math.log10(lr) + 3) ** 2 + OPTIMIZERS[optimizer]


def pruned_run(pruner: str, trials: int = 400, seed: int = 1) -> hl.History:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    rng = np.random.default_rng(seed)

    def objective(trial: optuna.Trial) -> float:
        lr = trial.suggest_float("lr", 1e-6, 1, log=True)
        trial.suggest_float("decay", 1e-6, 1e-2, log=True)
        end = final(lr, trial.suggest_categorical("optimizer", list(OPTIMIZERS)))
        for step in range(1, STEPS + 1):
            trial.report(end + 2 * math.exp(-step / 4) + rng.normal(0, NOISE), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return end + float(rng.normal(0, NOISE))

    sampler = optuna.samplers.TPESampler(seed=seed)
    study = optuna.create_study(study_name="pruned", sampler=sampler, pruner=PRUNERS[pruner]())
    study.optimize(objective, trials)
    return hl.read(study)


def main_shares(history: hl.History) -> dict[str, float]:
    record = hl.importance(history, level=None, surrogate="forest")
    pairs = zip(record.parameters, np.nan_to_num(record.share), strict=True)
    return {names[0]: float(share) for names, share in pairs if len(names) == 1}


@pytest.mark.parametrize("pruner", PRUNERS)
def test_the_default_is_right_where_most_were_pruned(pruner: str) -> None:
    history = pruned_run(pruner)
    pruned = history.count(hl.State.PRUNED)
    assert pruned > 300
    right = main_shares(history)
    assert max(right, key=right.__getitem__) == "lr"
    alone = main_shares(history.select(budget="largest"))
    truth = 0.984
    assert abs(right["lr"] - truth) < abs(alone["lr"] - truth) + 0.05
    (sentence,) = training(history).aside
    assert sentence.startswith(f"{pruned} of 400 trials were pruned and are used: ")


def test_hyperband_among_survivors_the_optimizer_seems_to_matter() -> None:
    """Survivors alone blame the optimizer; the whole run knows better, to a few points."""
    history = pruned_run("hyperband")
    alone, right = main_shares(history.select(budget="largest")), main_shares(history)
    assert alone["optimizer"] > 0.25
    assert alone["lr"] < 0.7
    assert right["lr"] > 0.93
    assert right["optimizer"] < 0.05


def test_the_summary_says_it_first() -> None:
    history = pruned_run("hyperband", 100)
    summary = analyse(history, Choices(level=None)).cards[0]
    assert (
        f"{history.count(hl.State.PRUNED)} of 100 trials were pruned and are used"
        in summary.lead[1]
    )
    assert not any("pruned and are used" in note for note in summary.notes)


SPACE = hl.Space.of([hl.Parameter("x", "float", 0, 1), hl.Parameter("z", "float", 0, 1)])


def stopped(kind: str, seed: int = 0) -> hl.History:
    """Forty trials at budget 9 below x = 0.5, where z alone matters; above it all were pruned at 1."""
    rng = np.random.default_rng(seed)
    trials = []
    for k, (x, z) in enumerate(rng.random((200, 2)).tolist()):
        early = x + rng.normal(0, 0.02)
        if kind == "noise":
            early = float(rng.normal())
        elif kind == "reverse":
            early = -5 * z + float(rng.normal(0, 0.02))
        ends = k % 5 == 0
        x = x / 2 if ends else 0.5 + x / 2
        cost = z + rng.normal(0, 0.2) if ends else early
        state = hl.State.COMPLETE if ends else hl.State.PRUNED
        trials.append(hl.Trial(k, {"x": x, "z": z}, (cost,), state, 9.0 if ends else 1.0))
    return hl.History(SPACE, (hl.Objective("loss"),), tuple(trials))


def test_pruned_trials_that_cannot_be_shown_to_help_are_bounds() -> None:
    """Stopped far from those that went on, they change no prediction there; never better than these."""
    bounds = 0
    for seed in range(6):
        history = stopped("early", seed)
        found = evidence(history)
        assert found.sentence is not None
        if "count as bounds" in found.sentence:
            bounds += 1
            assert (found.y[~found.measured] >= np.median(found.y[found.measured])).all()
            assert len(found.rows) == 200
            assert found.doubt > 0
    assert bounds >= 1


@pytest.mark.parametrize(
    ("with_them", "finding"),
    [
        (np.full(20, 0.9), "better"),
        (
            np.r_[np.full(10, 0.5), np.full(10, 1.6)],
            "equal",
        ),  # 0.05 more, its standard error is 0.13
        (np.full(20, 1.1), "worse"),  # by as much each time
        (
            np.r_[np.full(19, 0.5), 60.0],
            "worse",
        ),  # 2.5 more, its standard error is 3.0: 1.9 times as far
    ],
)
def test_what_lower_budgets_do_to_hidden_costs(with_them: np.ndarray, finding: str) -> None:
    assert _finding(np.array([with_them, np.ones(20)])) == finding


def test_pruned_trials_without_a_cost_are_not_passed_over() -> None:
    history = stopped("early")
    trials = [
        hl.Trial(t.number, t.values, (math.nan,), t.state) if t.state is hl.State.PRUNED else t
        for t in history.trials
    ]
    found = evidence(hl.History(SPACE, history.objectives, tuple(trials)))
    assert found.sentence is not None
    assert found.sentence.startswith("160 of 200 trials were pruned and are left out")
    assert found.most
    alone = [t for t in trials if t.state is hl.State.COMPLETE]
    alone += [t for t in trials if t.state is hl.State.PRUNED][:1]
    one = evidence(hl.History(SPACE, history.objectives, tuple(alone))).sentence
    assert one == (
        f"1 of {len(alone)} trials was pruned and is left out, as it recorded no cost at a known budget."
    )


def test_a_run_without_pruned_trials_is_not_changed() -> None:
    plain = [t for t in stopped("early").trials if t.state is hl.State.COMPLETE]
    history = hl.History(SPACE, (hl.Objective("loss"),), tuple(plain))
    assert evidence(history).sentence is None
    one, other = (hl.importance(h, level=None) for h in (history, history.select(budget="largest")))
    assert one.to_json() == other.to_json()
