"""Trials that would settle a question: gains against brute force, expectations, files, odd runs."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import ConfigSpace as CS
import numpy as np
import optuna
import pytest

import hyperlens as hl
from hyperlens.explain.confirm.expectation import interval
from hyperlens.explain.confirm.trial_files import json_text, trial_text
from hyperlens.record import record_of
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.additive.components import Components
from hyperlens.surrogates.additive.hyper import TREND
from hyperlens.surrogates.additive.learnt_set import LearntSet
from hyperlens.surrogates.outlook.foresight import Foresight, Posterior, evened
from hyperlens.surrogates.outlook.gain import LINES, Effects, Gain, Part, Places

PLAIN = hl.Space.of(
    [
        hl.Parameter("lr", "float", 1e-4, 1, log=True),
        hl.Parameter("wd", "float", 0, 1),
        hl.Parameter("opt", "categorical", choices=("adam", "sgd", "lion")),
        hl.Parameter("layers", "integer", 1, 5),
    ]
)
NESTED = hl.Space.of(
    [
        hl.Parameter("model", "categorical", choices=("tree", "net")),
        hl.Parameter("depth", "float", 0, 1),
        hl.Parameter("momentum", "float", 0, 1),
    ],
    {"momentum": ((("model", "equal", "net"),),)},
)


def cost(values: Any) -> float:
    """lr matters most by far; a conditional parameter matters where it is active."""
    lr = np.log10(values.get("lr", 0.01))
    return float(
        (lr + 2) ** 2 + values.get("wd", 0.0) + 0.5 * (values.get("opt") == "sgd")
        + values.get("depth", 0.0) ** 2 + 2 * abs(values.get("momentum", 0.5) - 0.5)
    )  # fmt: skip


@cache
def run(space: hl.Space, count: int = 40, seed: int = 0, maximize: bool = False) -> hl.History:
    """Two thirds of the trials where it is good, as a search leaves them, with a little noise."""
    values = space.decode(space.sample(3 * count, seed))
    best = sorted(values[count // 3 :], key=cost)
    chosen = [*values[: count // 3], *best[: count - count // 3]]
    sign = -1 if maximize else 1
    noise = 0.02 * np.random.default_rng(seed).normal(size=count)
    trials = tuple(hl.Trial(k, v, (sign * (cost(v) + noise[k]),)) for k, v in enumerate(chosen))
    return hl.History(space, (hl.Objective("loss", maximize),), trials)


@pytest.fixture(scope="module", params=[PLAIN, NESTED], ids=["plain", "conditional"])
def model(request: pytest.FixtureRequest) -> Additive:
    fitted = hl.fit(run(request.param), "additive").model
    assert isinstance(fitted, Additive)
    return fitted


def posterior(one: LearntSet, components: Components, X: FloatArray) -> FloatArray:
    """Covariance of all weights and of the trend, last, given observations at X: textbook algebra."""
    rows = components.rows(X)
    columns = np.column_stack([components.features(rows), np.ones(len(X))])
    prior = np.append(one.kernel.prior_variances(), TREND**2)
    K = columns * prior @ columns.T + one.noise * np.eye(len(X))
    crossed = prior[:, None] * columns.T
    return np.asarray(np.diag(prior) - crossed @ np.linalg.solve(K, crossed.T))


def weights_of(part: Part, model: Additive, one: LearntSet) -> FloatArray:
    """A part as coefficients of the weights and the trend, (T, weights + 1)."""
    components = model.components
    if isinstance(part, Effects):
        places = [components.effects.index(U) for U in part.effects]
        rows = [
            np.sqrt(components.probability(components.effects[k])) * row
            for k in places
            for row in np.eye(components.ends[-1] + 1)[components.ends[k] : components.ends[k + 1]]
        ]
        return np.array(rows)
    assert isinstance(part, Places)
    columns = np.column_stack([components.features(part.places), np.ones(len(part.places))])
    return np.asarray(part._mixed(one).T @ columns)


def parts(model: Additive) -> list[Part]:
    components = model.components
    singles = tuple(U for U in components.effects if len(U) == 1)
    rows = components.rows(model.X[:3])
    lead = np.vstack([-np.ones(2), np.eye(2)])
    user = Places.effects(components, singles[:2], model.X, 0)
    shares = Places.shares(model.weights, singles[:2], model.X, 0)
    return [Effects(components, singles), Effects(components, components.effects[-2:]),
            Places(rows, lead), user, shares]  # fmt: skip


def test_shares_move_with_a_small_change_as_their_slopes_say(
    model: Additive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside the shares of the changed draws themselves, with points enough for an exact average."""
    monkeypatch.setattr("hyperlens.surrogates.outlook.gain.POINTS", 4096)
    drawn, components = model.weights, model.components
    singles = tuple(U for U in components.effects if len(U) == 1)
    part = Places.shares(drawn, singles, model.X, 0)
    change = np.random.default_rng(2).normal(size=len(drawn.w)) * drawn.w.std(axis=1)
    step = 1e-6
    moved = replace(drawn, w=drawn.w + step * change[:, None])
    before, after = (w.variances() / w.variances().sum(axis=0) for w in (drawn, moved))
    some = slice(None, None, drawn.w.shape[1] // LINES)
    true = (after - before)[: len(singles), some] / step
    slopes = np.sqrt(LINES) * part.mixture.T @ (components.features(part.places) @ change)
    assert np.abs(slopes.reshape(len(singles), -1) - true).max() < 0.02 * np.abs(true).max()


def test_a_gain_is_what_an_observation_takes_from_the_variance(model: Additive) -> None:
    """Also of several, one after the other: as if each set were conditioned on all of them anew."""
    candidates = model.cube.vectors(np.random.default_rng(1).random((6, model.cube.d)))
    for number, part in enumerate(parts(model)):
        sets = model.sets[: 1 if number else 2]
        gain = Gain(model.components, sets, model.X, part, candidates)
        seen = model.X
        for k in (4, 4):
            left = []
            for X in (seen, np.vstack([seen, candidates[[k]]])):
                each = []
                for one in sets:
                    A = weights_of(part, model, one)
                    each.append(np.trace(A @ posterior(one, model.components, X) @ A.T))
                left.append(np.mean(each))
            assert gain.left == pytest.approx(left[0], rel=1e-6)
            assert gain()[k] == pytest.approx(left[0] - left[1], rel=1e-5, abs=1e-8 * left[0])
            gain.observe(k)
            seen = np.vstack([seen, candidates[[k]]])


def test_the_most_telling_comes_first_and_none_comes_twice(model: Additive) -> None:
    candidates = model.cube.vectors(np.random.default_rng(1).random((8, model.cube.d)))
    part = parts(model)[0]
    gain = Gain(model.components, model.sets, model.X, part, candidates)
    best, before = int(np.argmax(gain())), gain.left
    chosen, left = gain.greedy(20)
    assert sorted(chosen) == list(range(8))
    assert chosen[0] == best
    assert all(a > b for a, b in pairwise([before, *left]))
    again = Gain(model.components, model.sets, model.X, part, candidates)
    repeated, _ = again.greedy(20, np.ones(8, dtype=bool))
    assert len(repeated) == 20


def test_an_effect_on_the_users_scale_is_averaged_over_the_space() -> None:
    """With a straight warp it is the effect itself, as closely as some points are."""
    model = hl.fit(run(PLAIN), "additive").model
    assert isinstance(model, Additive)
    singles = tuple(U for U in model.components.effects if len(U) == 1)
    candidates = PLAIN.sample(32, 3)
    straight = Places.effects(model.components, singles, model.X, 0)
    part = Places(straight.places, straight.mixture)
    gains = [
        Gain(model.components, model.sets[:1], model.X, each, candidates)()
        for each in (part, Effects(model.components, singles))
    ]
    assert np.corrcoef(gains[0], gains[1])[0, 1] > 0.9


def test_what_is_foreseen_is_the_posterior_of_more_data(model: Additive) -> None:
    rng = np.random.default_rng(2)
    new, places = (model.cube.vectors(rng.random((n, model.cube.d))) for n in (3, 5))
    components = model.components
    foresight = Foresight(model, new, components.rows(places))
    view = foresight._views[1]
    one, y = view.one, np.quantile(model.y, [0.2, 0.5, 0.9])
    rows = components.rows(np.vstack([model.X, new]))
    K = one.kernel.gram(rows, rows) + one.noise * np.eye(len(rows))
    z = np.append(one.z, one.warp.forward(y))
    mean = one.kernel.gram(components.rows(places), rows) @ np.linalg.solve(K, z)
    before = one.kernel.gram(components.rows(places), components.rows(model.X)) @ one.solve(one.z)
    gained = view.kriging @ (one.warp.forward(y) - view.mean)
    assert before + gained == pytest.approx(mean, rel=1e-6, abs=1e-6)

    # p(new | old) = p(old and new) / p(old), of costs as they are
    def log_density(K: FloatArray, z: FloatArray) -> float:
        return -0.5 * float(z @ np.linalg.solve(K, z)) - 0.5 * float(np.linalg.slogdet(K)[1])

    n = len(model.X)
    apart = log_density(K, z) - log_density(K[:n, :n], one.z)
    assert view.log_density(y) == pytest.approx(apart + one.warp.log_jacobian(y), rel=1e-5)


def test_after_trials_without_noise_their_costs_are_known(model: Additive) -> None:
    new = model.cube.vectors(np.random.default_rng(2).random((3, model.cube.d)))
    foresight = Foresight(model, new, model.components.rows(new))
    now = foresight.now.costs.std(axis=1)
    for after in foresight.fantasies(4):
        assert after.weight.sum() == pytest.approx(1.0)
        mean = after.costs @ after.weight
        spread = np.sqrt(np.square(after.costs - mean[:, None]) @ after.weight)
        assert ((spread < 0.5 * now) | (now < 0.01 * np.ptp(model.y))).all()


@pytest.mark.parametrize("gap", [0.0, 0.1, 3.0, 1000.0])
def test_half_of_the_sets_count_after_trials(gap: float) -> None:
    log_p = gap * np.random.default_rng(0).normal(size=16)
    weight, plain = evened(log_p, 0.5), np.exp(log_p - log_p.max())
    assert weight.sum() == pytest.approx(1.0)
    assert (weight[np.argsort(log_p)] == np.sort(weight)).all()
    if 1 / np.square(plain / plain.sum()).sum() >= 8:
        assert weight == pytest.approx(plain / plain.sum())
    else:
        assert 1 / np.square(weight).sum() == pytest.approx(8.0)


def test_intervals_of_weighted_draws() -> None:
    """Five equal draws, then one of them alone; shares by their square root."""
    drawn = np.array([[0.04, 0.16, 0.36, 0.64, 1.0]])
    even = Posterior(drawn, np.full(5, 0.2), 1.0)
    low, high = interval(drawn, even, 0.8, root=True)  # the middles of the outermost weights
    assert (low[0], high[0]) == (pytest.approx(0.04), pytest.approx(1.0))
    wider = interval(drawn, Posterior(drawn, np.full(5, 0.2), 2.0), 0.4)
    same = interval(drawn, even, 0.4)
    assert wider[0][0] - 0.36 == pytest.approx(2 * (same[0][0] - 0.36))
    alone = Posterior(drawn, np.array([0.0, 0.0, 1.0, 0.0, 0.0]), 1.0)
    low, high = interval(drawn, alone, 0.9)
    assert low[0] == pytest.approx(0.36, abs=0.2)
    assert low[0] <= 0.36 <= high[0]


# The analysis


@pytest.mark.parametrize(
    ("space", "about", "kind"),
    [
        (PLAIN, "importance", "importance"),
        (PLAIN, "lr", "effect"),
        (PLAIN, ["lr", "opt"], "effect"),
        (PLAIN, "lr < 0.01 and opt == 'sgd'", "region"),
        (PLAIN, "best", "best"),
        (NESTED, "momentum", "effect"),
        (NESTED, "importance", "importance"),
        (NESTED, "model == 'net'", "region"),
    ],
)
def test_every_question_has_trials_that_fit_the_space(space: Any, about: Any, kind: str) -> None:
    history = run(space)
    record = hl.confirm(history, about, 6)
    assert record.kind == kind
    assert len(record.configurations) == 6
    vectors = space.encode(record.configurations)
    assert not len(space.misfits(vectors))
    assert (np.diff(record.left) < 0).all()
    assert 0 <= record.left[-1] < record.left[0] < 1
    assert (record.low <= record.value).all()
    assert (record.value <= record.high).all()
    assert (record.expected_low <= record.expected_high).all()
    assert "6 trials would" in record.sentence
    assert len(record.tables[1].rows) == 6
    again = record_of(json.loads(record.to_json()))
    assert again.sentence == record.sentence
    assert hl.confirm(history, about, 6).to_json() == record.to_json()


def test_a_region_is_tried_inside_and_a_search_outside_of_where_it_was() -> None:
    history = run(PLAIN)
    inside = hl.confirm(history, "lr < 0.01", 5).configurations
    assert all(c["lr"] < 0.01 for c in inside)
    tried = np.array([t.values["lr"] for t in history.trials])
    away = [c["lr"] for c in hl.confirm(history, "lr", 6).configurations]
    near = np.abs(np.log10(tried) + 2) < 0.5
    assert near.mean() > 0.5
    assert np.mean(np.abs(np.log10(away) + 2) > 0.5) > 0.5


def test_the_mean_of_a_region_is_in_the_users_direction() -> None:
    lower, upper = (hl.confirm(run(PLAIN, maximize=m), "lr > 0.1", 2) for m in (False, True))
    assert upper.value == pytest.approx(-lower.value)
    assert upper.expected_low == pytest.approx(-lower.expected_high)


def test_the_best_is_repeated_only_where_that_can_tell_something() -> None:
    history = run(PLAIN)
    repeated = hl.confirm(history, "best", 4)
    assert repeated.repeats
    assert "repeat" in repeated.notes[-1]
    twice = history.trials + tuple(
        hl.Trial(100 + t.number, t.values, t.costs) for t in history.trials[:2]
    )
    exact = hl.confirm(hl.History(PLAIN, history.objectives, twice), "best", 4)
    assert exact.repeats == 0
    assert (
        exact.notes[-1] == "Repeated configurations had the same cost again, so none is repeated."
    )


def test_a_small_space_has_no_more() -> None:
    space = hl.Space.of(
        [hl.Parameter("a", "integer", 1, 6), hl.Parameter("b", "categorical", choices=("x", "y"))]
    )
    values: list[dict[str, Any]] = [{"a": a, "b": b} for a in range(1, 7) for b in "xy"]
    trials = tuple(
        hl.Trial(k, v, (v["a"] + (v["b"] == "x") / 2,)) for k, v in enumerate(values[:10])
    )
    history = hl.History(space, (hl.Objective("loss"),), trials)
    record = hl.confirm(history, "a", 5)
    assert sorted(c["b"] for c in record.configurations) == ["x", "y"]
    assert all(c["a"] == 6 for c in record.configurations)
    assert "Only 2 configurations could be chosen" in record.notes[-1]
    whole = [hl.Trial(k, v, (v["a"] + (v["b"] == "x") / 2,)) for k, v in enumerate(values)]
    with pytest.raises(hl.AnalysisError, match="has been; nothing is left"):
        hl.confirm(hl.History(space, (hl.Objective("loss"),), tuple(whole)), "a")


@pytest.mark.parametrize(
    ("about", "match"),
    [
        ("lrr", "no parameter 'lrr' to ask about; did you mean 'lr'?"),
        ("importanc", "did you mean 'importance'?"),
        (["lr", "wdd"], "did you mean 'wd'?"),
        ("momentum < 1", "no parameter 'momentum' to ask about; choose one of 'layers'"),
        ("lr <", "condition of about cannot be read"),
        ("lr < 1e-9", "No configuration of this space has lr < 1e-9"),
        ([], "Nothing was named"),
    ],
)
def test_what_cannot_be_meant_is_refused(about: Any, match: str) -> None:
    with pytest.raises(hl.AnalysisError, match=match.replace("?", r"\?")):
        hl.confirm(run(PLAIN), about)


def odd(costs: list[float]) -> hl.History:
    values = PLAIN.decode(PLAIN.sample(len(costs), 0))
    trials = tuple(hl.Trial(k, v, (c,)) for k, (v, c) in enumerate(zip(values, costs, strict=True)))
    return hl.History(PLAIN, (hl.Objective("loss"),), trials)


@pytest.mark.parametrize(
    ("history", "match"),
    [
        (odd([1.0]), "1 trial is too few"),
        (odd([1.0, 2.0, 3.0]), "3 trials are too few"),
        (odd([1.0] * 20), "All 20 costs are equal"),
        (odd(np.random.default_rng(0).normal(size=80).tolist()), "predicts next to nothing"),
        (odd([float("nan")] * 20), "complete with a finite"),
    ],
    ids=["one", "three", "constant", "noise", "failed"],
)
def test_a_run_that_cannot_answer_says_so(history: hl.History, match: str) -> None:
    with pytest.raises(hl.AnalysisError, match=match) as raised:
        hl.confirm(history)
    assert str(raised.value).count(". ") == 0


# Files


def test_files_are_read_back() -> None:
    record = hl.confirm(run(NESTED), "momentum", 6)
    table, sentence = trial_text(record, "trials.csv")
    assert sentence == "6 trials to run, as a table"
    rows = [
        {name: value for name, value in row.items() if value}
        for row in csv.DictReader(io.StringIO(table))
    ]
    assert NESTED.encode([_numbers(row) for row in rows]) == pytest.approx(
        record.places, nan_ok=True
    )
    assert json.loads(trial_text(record, "t.json")[0]) == [dict(c) for c in record.configurations]
    study = optuna.create_study()
    exec(trial_text(record, "t.py")[0], {"study": study})
    fixed = [t.system_attrs["fixed_params"] for t in study.get_trials(deepcopy=False)]
    assert fixed == [dict(c) for c in record.configurations]
    with pytest.raises(hl.AnalysisError, match=r"ends in '\.csv', '\.json', '\.py'"):
        trial_text(record, "trials.txt")


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ((0.12, 0.61), "12 % to 61 %"),
        ((0.9912, 0.9941), "99.1 % to 99.4 %"),
        ((0.21031, 0.21032), "near 21.0 %"),
    ],
)
def test_the_ends_of_an_interval_of_shares_are_told_apart(
    ends: tuple[float, float], said: str
) -> None:
    record = hl.confirm(run(NESTED), "importance", 4)
    low, high = (np.full(len(record.rows), end) for end in ends)
    nothing, all_of_it = np.zeros(len(low)), np.ones(len(low))
    record = replace(record, low=nothing, high=all_of_it, expected_low=low, expected_high=high)
    assert f"such as {said}" in record.sentence.replace("\N{NO-BREAK SPACE}", " ")


def test_trials_are_configurations_of_the_space() -> None:
    """With its constants, of which one is active in a part of the space."""
    space = CS.ConfigurationSpace()
    model, epochs = CS.Categorical("model", ["svm", "net"]), CS.Constant("epochs", 10)
    space.add(model, epochs, CS.Float("lr", (1e-4, 1), log=True), CS.Constant("folds", 5))
    space.add(CS.EqualsCondition(epochs, model, "net"))
    ours = hl.Space(space)
    trials = [
        hl.Trial(k, v, (abs(math.log10(v["lr"]) + 2) + (v["model"] == "net"),))
        for k, v in enumerate(ours.decode(ours.sample(20, 0)))
    ]
    record = hl.confirm(hl.History(ours, (hl.Objective("loss"),), tuple(trials)), trials=4)
    read = [CS.Configuration(space, values=v) for v in json.loads(json_text(record))]
    assert [set(c) for c in read] == [set(c) for c in record.configurations]
    assert [c["lr"] for c in read] == pytest.approx(record.values["lr"])
    assert {("epochs" in c, c["model"]) for c in read} == {(True, "net"), (False, "svm")}


def _numbers(row: dict[str, str]) -> dict[str, Any]:
    return {name: value if name == "model" else float(value) for name, value in row.items()}
