"""Weights of models, a sampler that obeys them, and the chance to miss the best configuration."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from ConfigSpace import ForbiddenAndConjunction, ForbiddenEqualsClause, ForbiddenInClause
from hypothesis import given
from hypothesis import strategies as st

import hyperlens as hl
from hyperlens import Parameter, Space
from hyperlens.errors import AnalysisError, SpaceError
from hyperlens.optimize.models.failure_probability import missed
from hyperlens.optimize.models.model_sampling import (
    ModelSampler,
    log_sizes,
    model_weights,
    own_hyperparameters,
    sampler,
)


def models() -> Space:
    """`svm` has three own parameters, one of them by way of its kernel; `tree` and `svm` share one."""
    parameters = [
        Parameter("model", "categorical", choices=("svm", "tree", "bayes")),
        Parameter("shared", "float", 0, 1),
        Parameter("C", "float", 1.0, math.e**3, log=True),
        Parameter("kernel", "categorical", choices=("rbf", "poly")),
        Parameter("degree", "integer", 2, 5),
        Parameter("depth", "integer", 1, 10),
        Parameter("both", "float", 0.0, 4.0),
    ]
    return Space.of(
        parameters,
        {
            "C": ((("model", "equal", "svm"),),),
            "kernel": ((("model", "equal", "svm"),),),
            "degree": ((("kernel", "equal", "poly"),),),
            "depth": ((("model", "equal", "tree"),),),
            "both": ((("model", "in", ("svm", "tree")),),),
        },
    )


def test_own_hyperparameters_depend_on_the_root() -> None:
    own = own_hyperparameters(models())
    assert {m: set(names) for m, names in own.items()} == {
        "svm": {"C", "kernel", "degree", "both"},
        "tree": {"depth", "both"},
        "bayes": set(),
    }


def test_weights_of_equation_5_and_9() -> None:
    space = models()
    assert model_weights(space) == pytest.approx({"svm": 16 / 21, "tree": 4 / 21, "bayes": 1 / 21})
    sizes = {m: math.exp(size) for m, size in log_sizes(space).items()}
    assert sizes == pytest.approx({"svm": 3 * 2 * 4 * 4, "tree": 10 * 4, "bayes": 1})
    volume = model_weights(space, "volume")
    assert volume == pytest.approx({m: size / 137 for m, size in sizes.items()})
    assert model_weights(space, "uniform") == pytest.approx(dict.fromkeys(sizes, 1 / 3))
    given_ = model_weights(space, {"svm": 2, "tree": 0, "bayes": 6})
    assert given_ == {"svm": 0.25, "tree": 0.0, "bayes": 0.75}


def test_the_sampler_draws_models_by_weight_and_honours_conditions() -> None:
    space = models()
    n = 20_000
    vectors = ModelSampler(space).sample(n, 0)
    assert not len(space.misfits(vectors))
    drawn = [c["model"] for c in space.decode(vectors)]
    for model, p in model_weights(space).items():
        assert drawn.count(model) / n == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / n))
    shared = vectors[:, space.column("shared")]
    assert np.mean(shared) == pytest.approx(0.5, abs=4 / math.sqrt(12 * n))
    assert np.array_equal(
        ModelSampler(space).sample(50, 3), ModelSampler(space).sample(50, 3), True
    )


def test_forbidden_configurations_are_drawn_again_within_their_model() -> None:
    configspace = models().configspace
    configspace.add(
        ForbiddenAndConjunction(
            ForbiddenEqualsClause(configspace["model"], "tree"),
            ForbiddenInClause(configspace["depth"], list(range(1, 10))),
        )
    )
    space = Space(configspace)
    vectors = ModelSampler(space, "uniform").sample(3000, 0)
    assert not space.forbidden(vectors).any()
    found = space.decode(vectors)
    trees = [c for c in found if c["model"] == "tree"]
    assert len(trees) / 3000 == pytest.approx(1 / 3, abs=0.035)
    assert {c["depth"] for c in trees} == {10}


def test_a_model_that_is_wholly_forbidden_is_said() -> None:
    configspace = models().configspace
    configspace.add(ForbiddenEqualsClause(configspace["model"], "bayes"))
    space = Space(configspace)
    with pytest.raises(SpaceError, match="'bayes'"):
        ModelSampler(space).sample(200, 0)
    kept = ModelSampler(space, {"svm": 1, "tree": 1, "bayes": 0}).sample(200, 0)
    assert not space.forbidden(kept).any()


def test_the_default_is_weighted_where_there_is_a_root() -> None:
    space, flat = models(), Space.of([Parameter("x", "float", 0, 1)])
    rng = np.random.default_rng
    assert np.array_equal(sampler(space)(9, rng(1)), ModelSampler(space).sample(9, rng(1)), True)
    assert np.array_equal(sampler(flat)(9, rng(1)), flat.sample(9, rng(1)))
    assert np.array_equal(sampler(flat, "uniform")(9, rng(1)), flat.sample(9, rng(1)))
    with pytest.raises(SpaceError, match="'model' is not in this space"):
        sampler(flat, "weighted")


def test_bad_weights_are_refused() -> None:
    space = models()
    with pytest.raises(SpaceError, match="no sampling 'even'"):
        model_weights(space, "even")  # type: ignore[arg-type]
    with pytest.raises(SpaceError, match="one weight for each model"):
        model_weights(space, {"svm": 1})
    for wrong in (-1.0, math.nan):
        with pytest.raises(SpaceError, match="none negative"):
            model_weights(space, {"svm": wrong, "tree": 1, "bayes": 1})
    with pytest.raises(SpaceError, match="cannot be the root"):
        model_weights(space, root="kernel")


# lemma 1 and theorem 1


@pytest.mark.parametrize("sizes", [(1, 3), (2, 2), (1, 2, 4)])
@pytest.mark.parametrize("budget", [0, 1, 2, 3])
def test_lemma_1_is_the_chance_over_all_draws(sizes: tuple[int, ...], budget: int) -> None:
    """Every best configuration and every sequence of draws, each with its chance."""
    m = len(sizes)
    theta = np.array(sizes, dtype=float)
    cells = [(k, i) for k in range(m) for i in range(sizes[k])]
    for p in (np.full(m, 1 / m), theta / theta.sum()):
        chance = {(k, i): p[k] / sizes[k] for k, i in cells}
        expected = sum(
            (1 / m / sizes[best[0]]) * math.prod(chance[c] for c in draws)
            for best in cells
            for draws in product(cells, repeat=budget)
            if best not in draws
        )
        assert missed(theta, p, np.array([budget]))[0] == pytest.approx(expected)


def test_equations_8_and_10() -> None:
    record = hl.failure_probability({"a": 2, "b": 4, "c": 8}, trials=[5, 50])
    for k, uniform, weighted in zip(record.trials, record.uniform, record.weighted, strict=True):
        assert uniform == pytest.approx(np.mean([(1 - 1 / (3 * t)) ** k for t in (2, 4, 8)]))
        assert weighted == pytest.approx((1 - 1 / 14) ** k)


@given(st.lists(st.integers(1, 30), min_size=2, max_size=6).filter(lambda s: len(set(s)) > 1))
def test_theorem_1_holds_from_a_budget_on_and_not_before(sizes: list[int]) -> None:
    record = hl.failure_probability(sizes)
    start = record.holds_from
    assert start is not None
    assert start <= record.proved_from == 2 * len(sizes) * max(sizes) - 1
    drawn = np.arange(1, record.proved_from + 200)
    theta = np.array(sizes, dtype=float)
    uniform = missed(theta, np.full(len(sizes), 1 / len(sizes)), drawn)
    weighted = missed(theta, theta / theta.sum(), drawn)
    assert (weighted[drawn >= start] < uniform[drawn >= start]).all()
    assert (weighted[drawn < start] >= uniform[drawn < start]).all()


def test_theorem_1_fails_for_one_draw() -> None:
    record = hl.failure_probability({"small": 1, "large": 3}, trials=1)
    assert record.uniform[0] == pytest.approx(2 / 3)
    assert record.weighted[0] == pytest.approx(3 / 4)
    assert "from 7 draws on" in record.sentence


def test_equal_sizes_make_no_difference() -> None:
    record = hl.failure_probability([4, 4, 4])
    assert record.holds_from is None
    assert record.uniform == pytest.approx(record.weighted)
    assert "the same" in record.sentence


def test_a_space_gives_the_sizes() -> None:
    counted = hl.failure_probability(models(), trials=10)
    assert counted.models == ("svm", "tree", "bayes")
    assert counted.theta == pytest.approx([16, 4, 1])
    assert hl.failure_probability(models(), 10, volume=True).theta == pytest.approx([96, 40, 1])


def test_the_plot_shows_both_curves() -> None:
    record = hl.failure_probability([1, 3, 9])
    curves = {t.name: t for t in record.plot().data}
    assert list(curves["uniform over models"].y) == record.uniform.tolist()
    assert list(curves["weighted by size"].y) == record.weighted.tolist()
    assert list(record.frame.columns) == ["trials", "uniform", "weighted"]
    hl.failure_probability([1, 3], trials=[0, 5]).plot()


def test_bad_sizes_and_budgets_are_refused() -> None:
    with pytest.raises(AnalysisError, match=r"size 0\.5"):
        hl.failure_probability([0.5, 2])
    with pytest.raises(AnalysisError, match="no model"):
        hl.failure_probability([])
    with pytest.raises(AnalysisError, match="whole numbers"):
        hl.failure_probability([1, 2], trials=-1)
