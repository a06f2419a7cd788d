"""The Pareto front of several objectives, its hypervolume, and a trial chosen by limits."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import hyperlens as hl
from hyperlens.cli import app
from hyperlens.explain.objectives.front_draws import nondominated
from hyperlens.runs.hypervolume import growth, volume
from hyperlens.sections.choices import Choices
from hyperlens.sections.explanation import Explanation
from hyperlens.sections.panels import panels
from hyperlens.sections.plan import PLAN
from hyperlens.spaces.cube import FloatArray
from hyperlens.spaces.points import on_front

SPACE = hl.Space.of([hl.Parameter("x", "float", 0.0, 1.0), hl.Parameter("k", "integer", 1, 9)])
TWO = (hl.Objective("latency"), hl.Objective("accuracy", maximize=True))


def run(costs: FloatArray, objectives: tuple[hl.Objective, ...] = TWO, seed: int = 0) -> hl.History:
    values = SPACE.decode(SPACE.sample(len(costs), seed))
    rows = zip(values, costs.tolist(), strict=True)
    trials = tuple(hl.Trial(i + 10, v, tuple(c)) for i, (v, c) in enumerate(rows))
    return hl.History(SPACE, objectives, trials)


def dominated(costs: FloatArray, reference: FloatArray) -> float:
    """The volume that boxes cover, by inclusion and exclusion."""
    total = 0.0
    for size in range(1, len(costs) + 1):
        for rows in combinations(costs, size):
            corner = np.max(rows, axis=0)
            total -= (-1) ** size * float(np.prod(np.maximum(reference - corner, 0)))
    return total


@given(
    st.integers(1, 4).flatmap(
        lambda m: st.lists(
            st.lists(st.integers(0, 6).map(float), min_size=m, max_size=m), min_size=1, max_size=6
        )
    )
)
def test_hypervolume_is_that_of_the_union_of_boxes(rows: list[list[float]]) -> None:
    costs = np.array(rows)
    reference = np.full(costs.shape[1], 5.0)
    assert volume(costs, reference) == pytest.approx(dominated(costs, reference))
    grown = growth(costs, reference)
    expected = [dominated(costs[: k + 1], reference) for k in range(len(costs))]
    np.testing.assert_allclose(grown, expected, atol=1e-9)


@given(st.integers(0, 999), st.integers(2, 3))
def test_the_front_holds_what_no_other_trial_beats(seed: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, 8, (20, m)).astype(float)
    maximize = tuple(bool(up) for up in rng.random(m) < 0.5)
    objectives = tuple(hl.Objective(f"o{k}", up) for k, up in enumerate(maximize))
    found = hl.pareto(run(costs, objectives))
    lower = np.where(maximize, -1, 1) * costs
    for k, place in enumerate(lower):
        beaten = ((lower <= place).all(axis=1) & (lower < place).any(axis=1)).any()
        if found.front[k]:
            assert not beaten
        else:  # beaten, or an earlier trial measured the same
            assert beaten or (lower[:k] == place).all(axis=1).any()
    assert found.knee in found.number[found.front]
    assert (np.diff(found.hypervolume) >= 0).all()
    assert 0 <= found.hypervolume[-1] <= 1
    assert hl.ParetoFront.from_json(found.to_json()).sentence == found.sentence


def test_knee_hypervolume_and_words_by_hand() -> None:
    costs = np.array([[1.0, 0.5], [2.0, 0.8], [4.0, 0.9], [5.0, 0.4], [3.0, 0.5]])
    found = hl.pareto(run(costs))
    assert found.number[found.members].tolist() == [10, 11, 12]
    assert found.knee == 11  # 1/3 + 1/4, against 1 of both others
    assert found.reference.tolist() == [5.0, 0.4]
    # in units of the box: (0, .8), (.25, .2), (.75, 0)
    assert found.hypervolume[-1] == pytest.approx(0.25 * 0.2 + 0.5 * 0.8 + 0.25)
    assert found.sentence == (
        "3 of 5 trials are on the front, on which no objective gets better without another getting "
        "worse: latency from 1 to 4; accuracy from 0.9 to 0.5. Its knee is trial 11 (latency 2, "
        "accuracy 0.8)."
    )
    assert "It last grew with trial 12; 2 trials came after." in found.progress
    other = hl.pareto(run(costs), reference={"latency": 10.0, "accuracy": 0.0})
    assert other.reference.tolist() == [10.0, 0.0]
    assert other.frame["latency"].tolist() == [1.0, 2.0, 4.0]
    assert list(other.frame) == ["trial", "latency", "accuracy", "k", "x", "place"]


def test_names_that_stand_twice_keep_their_columns() -> None:
    costs = np.array([[1.0, 2.0], [2.0, 1.0]])
    found = hl.pareto(run(costs, (hl.Objective("x"), hl.Objective("trial"))))
    assert list(found.frame) == ["trial", "x", "trial (value)", "k", "x (value)", "place"]
    assert len(set(found.tables[0].columns)) == len(found.tables[0].columns)


def test_what_cannot_be_a_front_says_so() -> None:
    one = hl.pareto(run(np.array([[1.0, 0.9], [2.0, 0.8]])))
    assert "best in all objectives (latency 1, accuracy 0.9)" in one.sentence
    flat = hl.pareto(run(np.array([[1.0, 0.9], [1.0, 0.8]])))
    assert flat.notes == ("latency is 1 in every trial, so that it decides nothing.",)
    assert flat.hypervolume.tolist() == [0.0, 0.0]
    assert flat.sentence.startswith(
        "latency is the same in every trial, and trial 10 is the best in"
    )
    assert flat.progress == "Without a spread of latency there is no hypervolume."
    assert (
        "is the best of all 2 trials in all objectives"
        in hl.choose(run(np.array([[1.0, 0.9], [2.0, 0.8]]))).sentence
    )
    with pytest.raises(hl.AnalysisError, match="one objective, latency; a front needs"):
        hl.pareto(run(np.array([[1.0], [2.0]]), TWO[:1]))
    with pytest.raises(hl.AnalysisError, match="There is no objective 'size'"):
        hl.pareto(run(np.ones((2, 2))), reference={"size": 1.0})
    history = run(np.array([[1.0, 0.9], [2.0, 0.8]]))
    once = history.trials[0]
    twice = replace(history, trials=(*history.trials, replace(once, number=20, costs=(0.9, 0.9))))
    assert "3 trials are 2 configurations; here each trial stands" in hl.pareto(twice).notes[0]
    missing = hl.pareto(run(np.array([[1.0, 0.9], [2.0, np.nan], [0.5, 0.1]])))
    assert missing.number.tolist() == [10, 12]
    assert "1 of 3 trials did not end with all objectives" in missing.notes[0]
    five = tuple(hl.Objective(f"o{k}") for k in range(5))
    many = hl.pareto(run(np.random.default_rng(0).random((8, 5)), five))
    assert np.isnan(many.hypervolume).all()
    assert many.lead == (many.sentence,)
    three = hl.pareto(run(np.random.default_rng(0).random((8, 3)), five[:3]))
    assert len({trace.xaxis for trace in three.plot().data}) == 4  # a panel for each two, and below


@pytest.mark.parametrize("up", [False, True])
def test_steps_of_the_front_run_where_both_are_worse(up: bool) -> None:
    """Between two members the line goes through the worse of both, whichever way is better."""
    costs = np.array([[1.0, 0.5], [2.0, 0.8], [4.0, 0.9]]) * [-1.0 if up else 1.0, 1.0]
    drawn = hl.pareto(run(costs, (hl.Objective("x", up), TWO[1]))).plot()
    front = next(t for t in drawn.data if t.name == "front")
    assert front.line.shape == "hv"  # first along x, at the y of the one before
    assert np.abs(front.x).tolist() == [
        1.0,
        2.0,
        4.0,
    ]  # the best first, so that this y is the worse
    assert list(front.y) == [0.5, 0.8, 0.9]


def test_a_best_trial_is_shown_with_its_other_objectives() -> None:
    rng = np.random.default_rng(5)
    costs = rng.random((12, 2))
    history = run(costs)
    again = replace(history.trials[0], number=99, costs=(9.0, 3.0))  # a repeat of the first
    history = replace(history, trials=(*history.trials, again))
    found = hl.winner(history, noise=0.1)
    assert found.others == ("accuracy",)
    by_number = {t.number: t.costs[1] for t in history.trials}
    by_number[10] = (costs[0, 1] + 3.0) / 2
    assert found.other_costs[:, 0].tolist() == pytest.approx([by_number[t] for t in found.trial])
    assert found.tables[0].columns[-1] == "accuracy"
    front = hl.pareto(history)
    assert front.besides(11, "latency") == f"accuracy {costs[1, 1]:.4g}"
    assert front.besides(11, "accuracy") == f"latency {costs[1, 0]:.4g}"
    assert ", the worst of each)" in front.progress
    assert "worst" not in hl.pareto(history, reference={"latency": 20.0}).progress


def test_a_front_that_would_be_a_speck_is_looked_at_closely() -> None:
    costs = np.array([[1.0, 0.5], [2.0, 0.8], [100.0, 0.1], [1.5, 0.4]])
    drawn = hl.pareto(run(costs)).plot()
    assert tuple(drawn.layout.xaxis.range) == (0.9, 4.0)
    assert drawn.layout.yaxis.range is None
    assert "not shown: 1 trial far" in drawn.layout.xaxis2.title.text


def test_why_a_point_of_the_front_is_there() -> None:
    """latency = 2 k, accuracy = x + 0.1 k: what each adds is known, k is traded."""
    values = SPACE.decode(SPACE.sample(40, 0))
    trials = tuple(
        hl.Trial(i, v, (2.0 * v["k"], v["x"] + 0.1 * v["k"])) for i, v in enumerate(values)
    )
    history = hl.History(SPACE, TWO, trials)
    found = hl.choose(history, why=True)
    because = found.because
    assert because is not None
    own = trials[found.trial].values
    k, x = own["k"] - 5.0, own["x"] - 0.5
    true = {"k": [2 * k, 0.1 * k], "x": [0.0, x]}
    for name, added in zip(found.parameters, because.contributions, strict=True):
        assert (np.abs(added - true[name]) < [0.3, 0.03]).all()
    assert (np.abs(because.average - [10.0, 1.0]) < [0.3, 0.03]).all()
    sums = because.contributions.sum(axis=0) + because.average
    np.testing.assert_allclose(sums, because.expected)
    assert found.lead[-1].startswith(f"k {own['k']} is traded: good for ")
    (first, second) = found.plot().data
    assert len(first.y) == len(second.y) == 2
    with pytest.raises(TypeError, match="why=True"):
        hl.choose(history).plot()


def test_a_trial_is_chosen_within_limits_and_what_they_cost_is_said() -> None:
    history = run(np.array([[1.0, 0.5], [2.0, 0.8], [4.0, 0.9], [5.0, 0.4]]))
    for found in (hl.choose(history, latency__lt=3), hl.choose(history, "latency < 3")):
        assert (found.trial, found.prefer, found.within) == (11, "accuracy", 2)
        assert found.sentence == (
            "Trial 11 has the best accuracy of the 2 trials of 4 where latency < 3: latency 2, "
            "accuracy 0.8. The limit costs 0.1: without it the best accuracy is 0.9."
        )
        np.testing.assert_allclose(found.given_up, [1.0, 0.1])
    assert hl.choose(history).trial == hl.pareto(history).knee
    assert hl.choose(history, prefer="accuracy").trial == 12
    assert hl.choose(history, "latency <= 4", accuracy__ge=0.6, prefer="latency").trial == 11
    assert hl.choose(history, prefer="latency").trades[0].gain.tolist() == [
        -1.0,
        pytest.approx(0.3),
    ]
    found = hl.choose(history, trial=11)
    assert found.lead == (
        "Trial 11 is on the front of all 4 trials: latency 2, accuracy 0.8.",
        "Next on the front, trial 10 gains 1 of latency for 0.3 of accuracy; trial 12 gains 0.1 of "
        "accuracy for 2 of latency.",
    )
    assert "trial 10 is at least as good in all" in hl.choose(history, trial=13).sentence
    with pytest.raises(hl.AnalysisError, match="Trial 3 is not among the 4 trials"):
        hl.choose(history, trial=3)
    with pytest.raises(hl.AnalysisError, match="leave out one of the two"):
        hl.choose(history, trial=11, latency__lt=3)
    free = hl.choose(history, latency__le=4)
    assert "The limit costs nothing" in free.sentence
    with pytest.raises(hl.AnalysisError, match="'latency' is no limit; write 'latency__lt'"):
        hl.choose(history, latency=3)
    with pytest.raises(hl.AnalysisError, match="No trial of 4 is where latency < 0"):
        hl.choose(history, latency__lt=0)


@given(st.integers(0, 999), st.integers(1, 3))
def test_fronts_of_draws_are_those_of_each_draw(seed: int, m: int) -> None:
    T = np.random.default_rng(seed).permuted(np.tile(np.arange(9.0), (4, m, 1)), axis=2)
    T = np.swapaxes(T, 1, 2)  # no two costs are equal
    np.testing.assert_array_equal(nondominated(T), [on_front(costs) for costs in T])


def noisy(seed: int, noise: float = 0.25) -> tuple[hl.History, FloatArray]:
    """A run of two noisy objectives, and their true costs."""
    X = SPACE.encode(SPACE.decode(SPACE.sample(40, seed)))
    k, x = X.T  # in the order of the names
    truth = np.column_stack([x + 0.3 * k, 1 - np.sqrt(x) + 0.6 * (k - 0.5) ** 2])
    away = noise * truth.std(axis=0) * np.random.default_rng(seed).normal(size=truth.shape)
    both = (hl.Objective("loss"), hl.Objective("latency"))
    return run(truth + away, both, seed), truth


def test_what_is_said_to_be_on_the_true_front_is() -> None:
    """Probabilities are as high as they are right, over runs with known truth."""
    said, true = [], []
    for seed in range(3):
        history, truth = noisy(seed)
        found = hl.true_front(history)
        said += found.probability.tolist()
        true += on_front(truth)[found.trial - 10].tolist()
        assert found.volumes[0] <= found.volumes[1] <= found.volumes[2]
    p, on = np.array(said), np.array(true)
    assert np.mean((p - on) ** 2) < 0.8 * np.mean((on.mean() - on) ** 2)  # Brier score
    assert on[p >= 0.9].mean() >= 0.9
    assert on[p < 0.05].mean() < 0.1


def test_without_noise_the_true_front_is_the_measured_one() -> None:
    history, _ = noisy(0)
    found = hl.true_front(history, noise={"loss": 0.0, "latency": 0.0})
    np.testing.assert_array_equal(found.probability, found.on.astype(float))
    on = np.sort(found.trial[found.on])
    assert on.tolist() == np.sort(hl.pareto(history).frame["trial"]).tolist()
    assert found.volumes == pytest.approx([found.hypervolume] * 3)
    assert "probably not" not in found.sentence
    measured = np.array([t.costs for t in history.trials])
    for x, y in zip(found.across, found.band[1], strict=True):  # the staircase by hand
        below = measured[measured[:, 0] <= x + 1e-12, 1]
        assert y == pytest.approx(below.min()) if len(below) else np.isnan(y)


def test_a_true_front_that_cannot_be_told_says_so() -> None:
    rng = np.random.default_rng(3)
    found = hl.true_front(run(rng.normal(size=(40, 2)), (hl.Objective("a"), hl.Objective("b"))))
    assert "cannot be told" in found.sentence
    assert np.isnan(found.probability).all()
    flat = hl.true_front(run(np.column_stack([rng.random(12), np.ones(12)])))
    assert "decides nothing" in flat.notes[0]
    with pytest.raises(hl.AnalysisError, match="give a number of 0 or more"):
        hl.true_front(noisy(0)[0], noise={"loss": -1.0})


def test_commands_and_sections_have_the_front(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    history = run(np.column_stack([1 + rng.random(30), rng.random(30)]))
    hl.convert(history, "optuna", tmp_path / "run.db")
    source = f"sqlite:///{tmp_path / 'run.db'}"
    found = CliRunner().invoke(app, ["pareto", source, "--format", "json"])
    assert found.exit_code == 0
    assert json.loads(found.stdout)["hypervolume"] == hl.pareto(history).hypervolume.tolist()
    found = CliRunner().invoke(app, ["choose", source, "--where", "latency < 1.5"])
    assert "where latency < 1.5" in " ".join(found.stdout.split())
    found = CliRunner().invoke(app, ["pareto", source, "--reference", "latency"])
    assert "The reference 'latency' is not understood" in str(found.exception)
    asked = Explanation(history, Choices())
    shown = {"objectives": "Pareto front", "true_front": "How sure the front is"}
    shown |= {"choice": "The knee of the front"}
    shown |= {"tradeoff": "Importance from latency to accuracy"}
    for section in PLAN:
        if section.id in shown:
            (card,) = section.cards(asked)
            assert card.title == shown[section.id]
            assert card.figure is not None
    first = panels(asked)[0]
    assert first.more == "pareto"
    assert first.sentence.startswith(
        f"{hl.pareto(history).front.sum()} of 30 trials are on the front"
    )


@pytest.mark.parametrize(("objectives", "repeats"), [(3, 2), (4, 1)])
def test_with_noise_only_nothing_is_sure(objectives: int, repeats: int) -> None:
    """Repeats tell how large the noise is, and so that there may be nothing else."""
    rng = np.random.default_rng(2)
    space = hl.Space.of([hl.Parameter("x", "float", 0, 1), hl.Parameter("y", "float", 0, 1)])
    places = np.tile(rng.uniform(size=(12, 2)), (repeats, 1))
    trials = tuple(
        hl.Trial(k, {"x": float(x), "y": float(y)}, tuple(rng.normal(size=objectives).tolist()))
        for k, (x, y) in enumerate(places)
    )
    names = tuple(hl.Objective(f"o{k}") for k in range(objectives))
    found = hl.true_front(hl.History(space, names, trials))
    assert not (found.probability >= 0.95).any()
    assert not any(found.known)
    assert "cannot be told: configurations differ in o0, o1, o2" in found.sentence


def test_repeats_that_are_alike_tell_configurations_apart() -> None:
    """Costs that no parameter explains, but that come back: measured twice, with little noise."""
    rng = np.random.default_rng(0)
    costs = np.tile(rng.normal(size=(12, 2)), (2, 1)) + 0.01 * rng.normal(size=(24, 2))
    places = np.tile(rng.uniform(size=12), 2)
    space = hl.Space.of([hl.Parameter("x", "float", 0, 1)])
    trials = tuple(
        hl.Trial(k, {"x": float(x)}, tuple(map(float, row)))
        for k, (x, row) in enumerate(zip(places, costs, strict=True))
    )
    found = hl.true_front(hl.History(space, (hl.Objective("a"), hl.Objective("b")), trials))
    assert all(found.known)
    assert (found.probability[found.on] >= 0.95).all()
