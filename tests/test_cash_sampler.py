"""Weighted sampling of models in an Optuna study."""

from __future__ import annotations

from collections import Counter
from typing import Any

import optuna
import pytest
from optuna.samplers import TPESampler
from scipy.stats import binomtest

from hyperlens import Parameter, Space, SpaceError
from hyperlens.optimize.models.optuna_sampler import ModelSampler

optuna.logging.set_verbosity(optuna.logging.ERROR)

SPACE = Space.of(
    [
        Parameter("model", "categorical", choices=("small", "large")),
        Parameter("s", "float", 0, 1),
        *[Parameter(f"l{k}", "integer", 1, 4) for k in range(3)],
    ],
    {
        "s": ((("model", "equal", "small"),),),
        **{f"l{k}": ((("model", "equal", "large"),),) for k in range(3)},
    },
)


def objective(trial: optuna.Trial) -> float:
    rate = trial.suggest_float("rate", 0, 1)
    if trial.suggest_categorical("model", ["small", "large"]) == "small":
        return rate + trial.suggest_float("s", 0, 1)
    return rate + sum(trial.suggest_int(f"l{k}", 1, 4) for k in range(3))


def drawn(sampler: ModelSampler, n: int = 300) -> optuna.Study:
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=n)
    return study


def share(study: optuna.Study) -> tuple[int, int]:
    counts = Counter(t.params["model"] for t in study.trials)
    return counts["large"], sum(counts.values())


@pytest.mark.parametrize(
    ("sampler", "chance"),
    [
        (ModelSampler(), 0.8),  # 2^3 to 2^1; "rate" belongs to both
        (ModelSampler(SPACE), 0.8),
        (ModelSampler(SPACE, "volume"), 64 / 65),
        (ModelSampler(sampling="uniform"), 0.5),
        (ModelSampler(sampling={"small": 3, "large": 1}), 0.25),
        (ModelSampler(others=TPESampler(seed=0)), 0.8),
    ],
)
def test_models_are_drawn_by_weight(sampler: ModelSampler, chance: float) -> None:
    large, n = share(drawn(sampler))
    assert binomtest(large, n, chance).pvalue > 1e-4


def test_every_model_is_tried_before_any_is_weighed() -> None:
    first = [t.params["model"] for t in drawn(ModelSampler(seed=3), 2).trials]
    assert sorted(first) == ["large", "small"]


def test_the_same_seed_gives_the_same_trials_also_when_it_goes_on() -> None:
    whole = drawn(ModelSampler(seed=1), 20)
    parts = optuna.create_study(sampler=ModelSampler(seed=1))
    parts.optimize(objective, n_trials=12)
    parts.sampler = ModelSampler(seed=1)
    parts.optimize(objective, n_trials=8)
    assert [t.params for t in parts.trials] == [t.params for t in whole.trials]
    assert len({t.params["rate"] for t in parts.trials}) == 20
    assert [t.params for t in drawn(ModelSampler(seed=2), 20).trials] != [
        t.params for t in whole.trials
    ]


def test_the_others_may_have_a_sampler_of_their_own() -> None:
    study = drawn(ModelSampler(others=TPESampler(seed=0, n_startup_trials=10)), 60)
    late = [t.params["rate"] for t in study.trials[30:]]
    assert sum(late) / len(late) < 0.35  # it has learnt that small rates are better


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sampling": "volume"}, "needs the space"),
        ({"space": SPACE, "root": "s"}, "cannot be the root"),
        ({"space": SPACE, "sampling": {"small": 1}}, "one weight for each model"),
    ],
)
def test_wrong_settings_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(SpaceError, match=said):
        ModelSampler(**options)


def test_wrong_objectives_are_refused() -> None:
    with pytest.raises(SpaceError, match="'small'"):
        drawn(ModelSampler(sampling={"large": 1.0}), 1)
    with pytest.raises(SpaceError, match="weight 0"):
        drawn(ModelSampler(sampling={"large": 0.0, "small": 0.0}), 1)
    with pytest.raises(SpaceError, match="root of the models is a category"):
        drawn(ModelSampler(root="rate"), 1)
