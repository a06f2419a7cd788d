"""hl.importance on functions whose shares are known in closed form, and where nothing can be known."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

import hyperlens as hl
from hyperlens import AnalysisError, Parameter, Space
from hyperlens.spaces.clauses import Clauses
from hyperlens.spaces.cube import FloatArray

Values = Mapping[str, Any]
Shares = dict[frozenset[str], float]


@dataclass(frozen=True)
class Known:
    """A cost, the variances of its components, and how many trials are enough to learn it."""

    name: str
    parameters: tuple[Parameter, ...]
    cost: Callable[[Values], float]
    variances: Mapping[tuple[str, ...], float]
    trials: int
    clauses: Mapping[str, Clauses] = field(default_factory=dict)

    @property
    def space(self) -> Space:
        return Space.of(self.parameters, self.clauses)

    def costs(self, X: FloatArray) -> FloatArray:
        return np.array([self.cost(v) for v in self.space.decode(X)])

    def history(self, trials: int | None = None, seed: int = 0) -> hl.History:
        """Random trials, through a table as a user would give them."""
        X = self.space.sample(trials or self.trials, seed)
        frame = pd.DataFrame(self.space.decode(X), columns=list(self.space.names))
        frame["cost"] = self.costs(X)
        return hl.read(frame, space=self.space, objective="cost")

    @property
    def shares(self) -> Shares:
        total = sum(self.variances.values())
        return {frozenset(u): v / total for u, v in self.variances.items()}


def floats(count: int, lower: float = 0.0, upper: float = 1.0) -> tuple[Parameter, ...]:
    return tuple(Parameter(f"x{j}", "float", lower, upper) for j in range(1, count + 1))


def of_product(means: Sequence[float], variances: Sequence[float]) -> dict[tuple[str, ...], float]:
    """V_U of a product of independent factors: prod_(U) variance prod_(others) mean^2."""
    d = len(means)
    return {
        tuple(f"x{j + 1}" for j in U): math.prod(
            variances[j] if j in U else means[j] ** 2 for j in range(d)
        )
        for size in range(1, d + 1)
        for U in combinations(range(d), size)
    }


LEVELS = {"a": 0.0, "b": 1.0, "c": 3.0, "d": 4.0}
A, B = 7.0, 0.1  # of the Ishigami function
G = (0.0, 1.0, 4.5)  # of the g-function
KNOWN = (
    Known(
        "additive",
        floats(4),
        lambda v: 4 * v["x1"] + 2 * v["x2"] + v["x3"],
        {("x1",): 16, ("x2",): 4, ("x3",): 1},
        trials=60,
    ),
    Known(
        "product",
        floats(3),
        lambda v: (v["x1"] + 0.1) * (v["x2"] + 0.5) * (v["x3"] + 1),
        of_product([0.6, 1.0, 1.5], [1 / 12] * 3),
        trials=100,
    ),
    Known(
        "interaction",
        floats(3),
        lambda v: (v["x1"] - 0.5) * (v["x2"] - 0.5),
        {("x1", "x2"): 1 / 144},
        trials=60,
    ),
    Known(
        "Ishigami",
        floats(3, -math.pi, math.pi),
        lambda v: math.sin(v["x1"]) * (1 + B * v["x3"] ** 4) + A * math.sin(v["x2"]) ** 2,
        {
            ("x1",): (1 + B * math.pi**4 / 5) ** 2 / 2,
            ("x2",): A**2 / 8,
            ("x1", "x3"): 8 * B**2 * math.pi**8 / 225,
        },
        trials=300,
    ),
    Known(
        "g-function",
        floats(3),
        lambda v: math.prod((abs(4 * v[f"x{j + 1}"] - 2) + a) / (1 + a) for j, a in enumerate(G)),
        of_product([1.0] * 3, [1 / (3 * (1 + a) ** 2) for a in G]),
        trials=300,
    ),
    Known(
        "log scale",
        (Parameter("lr", "float", 1e-5, 1.0, log=True), *floats(2)),
        lambda v: math.log10(v["lr"]) / 2.5 + v["x1"],  # five decades: variance 2^2 / 12
        {("lr",): 4, ("x1",): 1},
        trials=60,
    ),
    Known(
        "categories",
        (Parameter("kind", "categorical", choices=tuple(LEVELS)), *floats(2)),
        lambda v: LEVELS[v["kind"]] + 3 * v["x1"],
        {("kind",): float(np.var(list(LEVELS.values()))), ("x1",): 9 / 12},
        trials=60,
    ),
    Known(  # Z (4 m - 1) + 2 x, Z = [sgd], m momentum's latent: free, and idle, where Z = 0
        "conditional child",
        (
            Parameter("optimizer", "categorical", choices=("adam", "sgd")),
            Parameter("momentum", "float"),
            Parameter("x", "float"),
        ),
        lambda v: 4 * v.get("momentum", 0.25) - 1 + 2 * v["x"],
        {
            ("optimizer",): (4 / 2 - 1) ** 2 / 4,
            ("momentum",): 16 / 12 / 2,  # where it is active, half of the space
            ("x",): 4 / 12,
        },
        trials=100,
        clauses={"momentum": ((("optimizer", "equal", "sgd"),),)},
    ),
)


def by_effect(importance: hl.Importance, numbers: FloatArray | None = None) -> Shares:
    chosen = importance.share if numbers is None else numbers
    return {frozenset(u): float(s) for u, s in zip(importance.parameters, chosen, strict=True)}


def check_shares(share: FloatArray) -> None:
    assert ((share >= 0) & (share <= 1)).all()
    assert share.sum() <= 1 + 1e-9


@pytest.mark.parametrize("known", KNOWN, ids=lambda k: k.name)
def test_shares_of_known_functions(known: Known) -> None:
    """The tolerance follows from how well the Gaussian process has learnt the function.

    Let e be its root mean square error, averages removed, in standard deviations of the cost. No
    component of the error is larger than the error, so the norm of a component of the surrogate is
    within e of that of the function, its total within e of 1, and a true share S is found between
    ((sqrt(S) - e) / (1 + e))^2 and ((sqrt(S) + e) / (1 - e))^2.
    """
    run = known.history()
    importance = hl.importance(run, surrogate="gp", level=None)
    fresh = known.space.sample(2048, seed=1, sobol=True)
    costs = known.costs(fresh)
    error = hl.fit(run, "gp").model.predict(fresh)[0] - costs
    e = float(error.std() / costs.std())
    assert e < 0.15, "the bounds below would say little"
    found = by_effect(importance)
    for effect, share in found.items():
        true = known.shares.get(effect, 0.0)
        low = max(math.sqrt(true) - e, 0) ** 2 / (1 + e) ** 2
        high = (math.sqrt(true) + e) ** 2 / (1 - e) ** 2
        assert low - 1e-6 <= share <= high + 1e-6, sorted(effect)
        assert share == pytest.approx(true, abs=0.03), sorted(effect)  # as asked of real grids
    check_shares(importance.share)
    check_shares(importance.secondary)


@pytest.mark.parametrize("known", KNOWN, ids=lambda k: k.name)
def test_intervals_of_the_leader_hold_known_shares(known: Known) -> None:
    """All shares above a hundredth, and those below are found to be small."""
    importance = hl.importance(known.history(), level=0.99)
    assert importance.surrogate == "additive"
    for effect, low, high in zip(
        importance.parameters, importance.low, importance.high, strict=True
    ):
        true = known.shares.get(frozenset(effect), 0.0)
        assert low - 0.003 <= true <= high + 0.003, effect
    shares = by_effect(importance)
    for names, true in known.shares.items():
        if len(names) < 3:
            assert shares[names] == pytest.approx(true, abs=0.01), sorted(names)


def test_variances_of_the_conditional_child_by_enumeration() -> None:
    """The closed form above by a second route: a fine grid of the latents."""
    known = next(k for k in KNOWN if k.name == "conditional child")
    m = (np.arange(400) + 0.5) / 400
    x = (np.arange(40) + 0.5) / 40
    f = np.array([0.0, 1.0])[:, None, None] * (4 * m[None, :, None] - 1) + 2 * x[None, None, :]
    mean = f.mean()
    parent, child = f.mean(axis=(1, 2)) - mean, f.mean(axis=(0, 2)) - mean
    both = f.mean(axis=2) - mean - parent[:, None] - child[None, :]
    expected = {
        ("optimizer",): parent.var(),
        ("momentum",): child.var() + both.var(),
        ("x",): f.mean(axis=(0, 1)).var(),
    }
    for effect, variance in expected.items():
        # midpoints of n cells lose 1 / n^2 of a uniform variable's variance
        assert known.variances[effect] == pytest.approx(variance, rel=2 / 40**2)


# The same answer, whatever things are called


def mixed(seed: int = 0, trials: int = 80) -> tuple[pd.DataFrame, tuple[Parameter, ...]]:
    """A table with a log parameter, a category and floats, and noise."""
    parameters = (
        Parameter("lr", "float", 1e-4, 1.0, log=True),
        Parameter("kind", "categorical", choices=("a", "b", "c")),
        *floats(2),
    )
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "lr": 10 ** rng.uniform(-4, 0, trials),
            "kind": rng.choice(["a", "b", "c"], trials),
            "x1": rng.random(trials),
            "x2": rng.random(trials),
        }
    )
    slope = frame["kind"].map({"a": 0.0, "b": 1.0, "c": 3.0}).to_numpy(dtype=float)
    frame["cost"] = np.log10(frame["lr"]) + slope * frame["x1"] + 0.1 * rng.normal(size=trials)
    return frame, parameters


@pytest.mark.parametrize("surrogate", ["forest", "gp"])
def test_names_and_order_of_parameters_do_not_matter(surrogate: Any) -> None:
    frame, parameters = mixed()
    new = {"lr": "zeta", "kind": "alpha", "x1": "mu", "x2": "beta"}
    back = {v: k for k, v in new.items()}
    renamed = [
        Parameter(new[p.name], p.kind, p.lower, p.upper, p.log, p.choices)
        for p in reversed(parameters)
    ]
    first = hl.importance(
        hl.read(frame, space=Space.of(parameters), objective="cost"), surrogate=surrogate
    )
    moved = frame.rename(columns=new)[["cost", "beta", "alpha", "zeta", "mu"]]
    second = hl.importance(
        hl.read(moved, space=Space.of(renamed), objective="cost"), surrogate=surrogate
    )
    shares = {frozenset(back[n] for n in u): s for u, s in by_effect(second).items()}
    # the forest's trees are the same; the GP's optimiser stops where its tolerance lets it
    tolerance = 1e-9 if surrogate == "forest" else 1e-4
    assert shares == pytest.approx(by_effect(first), abs=tolerance)


def test_the_same_seed_gives_the_same_numbers() -> None:
    frame, parameters = mixed()
    runs = [hl.read(frame, space=Space.of(parameters), objective="cost") for _ in range(2)]
    first, second = (hl.importance(run, seed=3) for run in runs)
    assert first.parameters == second.parameters
    for name in ("share", "std", "low", "high", "rank_low", "rank_high", "secondary"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


# Where little or nothing can be known


def run_of(X: FloatArray, y: FloatArray) -> hl.History:
    frame = pd.DataFrame(X, columns=[f"x{j + 1}" for j in range(X.shape[1])])
    frame["cost"] = y
    return hl.read(frame, space=Space.of(floats(X.shape[1])), objective="cost")


@pytest.mark.parametrize("surrogate", [None, "forest", "gp"])
@pytest.mark.parametrize(
    ("trials", "said"), [(1, "there is only one trial"), (30, "predicts one cost everywhere")]
)
def test_constant_costs_and_a_single_trial_have_no_shares(
    trials: int, said: str, surrogate: Any
) -> None:
    X = np.random.default_rng(0).random((trials, 3))
    importance = hl.importance(run_of(X, np.ones(trials)), surrogate=surrogate)
    assert np.isnan(importance.share).all()
    assert math.isnan(importance.rest)
    assert importance.quality.verdict == "do not trust"
    assert any(said in note for note in importance.notes)
    with pytest.raises(AnalysisError, match="no subspace"):
        importance.subspace()


@pytest.mark.parametrize("surrogate", [None, "forest"])
def test_a_parameter_that_never_varied_has_no_share(surrogate: Any) -> None:
    X = np.random.default_rng(0).random((40, 3))
    X[:, 2] = 0.5
    importance = hl.importance(run_of(X, X[:, 0] + X[:, 1]), surrogate=surrogate)
    found = by_effect(importance)
    assert not any(found[u] > 0 for u in found if "x3" in u)
    assert any("x3" in note and "never varied" in note for note in importance.notes)
    check_shares(np.nan_to_num(importance.share))


def test_a_parameter_that_no_tree_splits_on_has_no_share() -> None:
    """x2 only tells apart trials of equal cost, so no split on it gains anything. All twenty differ: a
    tree that has only one trial of each cost could tell these apart by x2 as well."""
    corners = np.array([[0.1, 0.1], [0.1, 0.9], [0.9, 0.1], [0.9, 0.9]] * 5)
    X = corners + np.linspace(0, 0.01, len(corners))[:, None]
    found = by_effect(hl.importance(run_of(X, corners[:, 0]), surrogate="forest", level=None))
    assert found[frozenset({"x2"})] == 0
    assert found[frozenset({"x1", "x2"})] == 0
    assert found[frozenset({"x1"})] == pytest.approx(1)


def test_more_parameters_than_trials_is_said_and_not_trusted() -> None:
    rng = np.random.default_rng(0)
    importance = hl.importance(run_of(rng.random((8, 12)), rng.random(8)))
    assert any("fewer trials (8) than parameters (12)" in note for note in importance.notes)
    assert importance.quality.verdict == "do not trust"
    assert importance.share.max() < 1
    check_shares(importance.share)


def test_one_category_in_all_trials_is_said() -> None:
    frame, parameters = mixed()
    frame["kind"] = "b"
    importance = hl.importance(hl.read(frame, space=Space.of(parameters), objective="cost"))
    assert any("kind" in note and "never varied" in note for note in importance.notes)
    assert not any(share > 0 for u, share in by_effect(importance).items() if "kind" in u)


# Importance in the good region (Hutter et al. 2014 section 3.3)


def valley() -> hl.History:
    """x1 separates bad from good; only x2 tells the good ones apart. The default is in the middle."""
    X = np.random.default_rng(0).random((300, 2))
    return run_of(X, np.where(X[:, 0] > 0.5, 10.0, X[:, 1]))


def test_a_cap_clips_the_costs_that_surrogates_learn_from() -> None:
    run = valley()
    y = run.data().y
    quarter = float(np.quantile(y, 0.25))
    by_quantile = hl.importance(run, cap="quantile=0.25", level=None)
    by_number = hl.importance(run, cap=quarter, level=None)
    by_hand = hl.importance(run_of(run.data().X, np.minimum(y, quarter)), level=None)
    assert by_quantile.cap == pytest.approx(quarter)
    assert by_effect(by_quantile) == by_effect(by_number) == by_effect(by_hand)
    whole = by_effect(hl.importance(run, level=None))
    x1, x2 = frozenset({"x1"}), frozenset({"x2"})
    assert whole[x1] > 0.9
    assert by_effect(by_quantile)[x2] > 10 * whole[x2]
    assert any(f"{int((y > quarter).sum())} of 300 are" in note for note in by_quantile.notes)


def test_the_default_as_a_cap_is_its_measured_cost_or_its_predicted_one() -> None:
    X = np.random.default_rng(0).random((60, 2))
    predicted = hl.importance(run_of(X, X[:, 0]), cap="default", level=None)
    assert predicted.cap == pytest.approx(0.5, abs=0.05)  # the forest between neighbours 1/60 apart
    X[7] = 0.5  # the default: the middle of both ranges
    measured = hl.importance(run_of(X, X[:, 0]), cap="default", level=None)
    assert measured.cap == 0.5


def test_a_cap_counts_downwards_when_the_cost_is_maximised() -> None:
    X = np.random.default_rng(0).random((60, 2))
    frame = pd.DataFrame(X, columns=["x1", "x2"])
    frame["score"] = X[:, 0]
    run = hl.read(frame, space=Space.of(floats(2)), objective="score", maximize=True)
    importance = hl.importance(run, cap=0.75, level=None)
    assert importance.cap == 0.75
    worse = int((frame["score"] < 0.75).sum())
    assert any(f"{worse} of 60 are" in note for note in importance.notes)


@pytest.mark.parametrize("cap", ["quantile=1.5", "best", "median=3"])
def test_a_cap_that_means_nothing_is_refused(cap: str) -> None:
    with pytest.raises(AnalysisError, match="is not understood"):
        hl.importance(valley(), cap=cap, level=None)


# Several scenarios: instances, seeds, folds (Hutter et al. 2014 section 3.3)


def scenarios(rows: list[tuple[float, float, str]], cost: Sequence[float]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["x1", "x2", "instance"])
    frame["cost"] = list(cost)
    return frame


def test_complete_scenarios_are_averaged() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((50, 2))
    rows = [(a, b, i) for i in ("easy", "hard", "odd") for a, b in X]
    offset = {"easy": 0.0, "hard": 5.0, "odd": -3.0}
    cost = [a + 2 * b * (i == "hard") + offset[i] + rng.normal() for a, b, i in rows]
    run = hl.read(scenarios(rows, cost), space=Space.of(floats(2)), objective="cost")
    found = hl.importance(run, level=None)
    by_hand = hl.importance(run_of(X, np.reshape(cost, (3, 50)).mean(axis=0)), level=None)
    assert found.trials == 50
    assert by_effect(found) == pytest.approx(by_effect(by_hand), abs=1e-9)
    assert any("50 configurations in 3 scenarios" in note for note in found.notes)


def test_incomplete_scenarios_do_not_pass_for_an_effect_of_the_configuration() -> None:
    """Large x1 mostly met the hard instance. Only x2 acts; the instance is 5 away."""
    rng = np.random.default_rng(0)
    X = rng.random((200, 2))
    hard = rng.random(200) < 0.1 + 0.8 * X[:, 0]
    rows = [(a, b, "hard" if h else "easy") for (a, b), h in zip(X.tolist(), hard, strict=True)]
    frame = scenarios(rows, (2 * X[:, 1] + 5 * hard).tolist())
    space = Space.of(floats(2))
    aware = hl.importance(hl.read(frame, space=space, objective="cost"), level=None)
    blind = hl.importance(
        hl.read(frame.drop(columns="instance"), space=space, objective="cost"), level=None
    )
    assert any("completed by a forest" in note for note in aware.notes)
    x1, x2 = frozenset({"x1"}), frozenset({"x2"})
    assert by_effect(blind)[x1] > by_effect(blind)[x2]
    assert by_effect(aware)[x2] > 0.8
    assert by_effect(aware)[x1] < 0.1


# The subspace of important parameters (Hutter et al. 2014 section 4.4)


def test_a_subspace_keeps_what_covers_the_variance() -> None:
    known = KNOWN[0]  # shares 16/21, 4/21, 1/21, 0
    run = known.history()
    importance = hl.importance(run)
    best = run.best().values
    for coverage, keep in ((0.7, ("x1",)), (0.9, ("x1", "x2")), (0.99, ("x1", "x2", "x3"))):
        found = importance.subspace(coverage)
        assert found.keep == keep
        assert found.asked == coverage
        covered = sum(s for u, s in by_effect(importance).items() if u <= set(keep))
        assert found.coverage == pytest.approx(covered)
        assert found.coverage >= coverage * importance.total - 1e-9
        assert found.fixed == {n: best[n] for n in ("x1", "x2", "x3", "x4") if n not in keep}


def test_a_subspace_samples_fixed_values_and_speaks_optuna() -> None:
    from optuna.distributions import FloatDistribution

    frame, parameters = mixed()
    importance = hl.importance(hl.read(frame, space=Space.of(parameters), objective="cost"))
    found = importance.subspace(0.9)
    assert set(found.keep) == {"lr", "kind", "x1"}
    assert set(found.fixed) == {"x2"}
    for configuration in found.configspace.sample_configuration(20):
        assert configuration["x2"] == found.fixed["x2"]
        assert set(configuration) == {"lr", "kind", "x1", "x2"}
    assert set(found.distributions) == set(found.keep)
    assert found.distributions["lr"] == FloatDistribution(1e-4, 1.0, log=True)
    assert found.distributions["x1"] == FloatDistribution(0.0, 1.0)
    kind: Any = found.distributions["kind"]
    assert tuple(kind.choices) == ("a", "b", "c")


def test_a_subspace_brings_the_parents_of_a_conditional_parameter_along() -> None:
    known = next(k for k in KNOWN if k.name == "conditional child")
    importance = hl.importance(known.history())
    found = importance.subspace(0.7)
    assert set(found.keep) == {"optimizer", "momentum"}
    assert found.space.conditions.keys() == {"momentum"}


@pytest.mark.parametrize("coverage", [0.0, 1.5])
def test_a_coverage_that_is_no_share_is_refused(coverage: float) -> None:
    X = np.random.default_rng(0).random((20, 2))
    importance = hl.importance(run_of(X, X[:, 0]), level=None)
    with pytest.raises(AnalysisError, match="is not a share"):
        importance.subspace(coverage)
