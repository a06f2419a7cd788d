"""Runs of one space: pooling by equations that define it, portfolios by hand, and runs that agree."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy
from typer.testing import CliRunner

import hyperlens as hl
from hyperlens.cli import app
from hyperlens.explain.across.pooling import pooled
from hyperlens.explain.across.portfolio import greedy
from hyperlens.record import Record

SPACE = hl.Space.of([hl.Parameter(name, "float", 0.0, 1.0) for name in "ab"])


@cache
def run(seed: int, weight: float, best: float = 0.2) -> hl.History:
    """a acts as a bowl around `best`, b with a weight of its own."""
    X = SPACE.sample(25, seed)
    y = 4 * (X[:, 0] - best) ** 2 + weight * X[:, 1]
    trials = [
        hl.Trial(k, v, (float(c),)) for k, (v, c) in enumerate(zip(SPACE.decode(X), y, strict=True))
    ]
    return hl.History(SPACE, (hl.Objective("loss"),), tuple(trials))


def test_equal_errors_pool_as_an_ordinary_mean() -> None:
    """tau2 is the variance less that of the error, the interval is the t interval of the mean."""
    y, v = np.array([[1.0], [2.0], [4.0], [9.0]]), np.full((4, 1), 0.5)
    found = pooled(y, v, 0.9)
    assert found.mean[0] == pytest.approx(4.0)
    assert found.tau[0] ** 2 == pytest.approx(y.var(ddof=1) - 0.5)
    half = scipy.stats.t.ppf(0.95, 3) * y.std(ddof=1) / 2
    assert (found.low[0], found.high[0]) == pytest.approx((4 - half, 4 + half))
    ahead = scipy.stats.t.ppf(0.95, 2) * np.sqrt(y.var(ddof=1) * (1 + 1 / 4))
    assert found.next_high[0] == pytest.approx(4 + ahead)
    assert found.i2[0] == pytest.approx(1 - 0.5 / y.var(ddof=1))


def test_unequal_errors_meet_the_equation_of_paule_and_mandel() -> None:
    rng = np.random.default_rng(0)
    y, v = rng.normal(0, 2, (7, 5)), rng.uniform(0.1, 1.0, (7, 5))
    found = pooled(y, v, 0.9)
    w = 1 / (v + found.tau**2)
    assert (w * (y - found.mean) ** 2).sum(axis=0) == pytest.approx(np.full(5, 6.0))
    assert (found.i2_low <= found.i2).all()
    assert (found.i2 <= found.i2_high).all()
    exact = pooled(np.full((3, 1), 2.0), np.array([[1.0], [2.0], [3.0]]), 0.9)
    assert (exact.tau[0], exact.i2[0], exact.mean[0]) == (0.0, 0.0, 2.0)


def test_how_far_runs_differ_has_an_interval_that_holds() -> None:
    """Equal errors have it in closed form; and of many draws of runs nine in ten hold what is true, or
    more, since the upper end allows for errors that are smaller than said."""
    y, v = np.array([[1.0], [2.0], [4.0], [9.0]]), np.full((4, 1), 0.5)
    squares = ((y - y.mean()) ** 2).sum() / scipy.stats.chi2.ppf([0.95, 0.05], 3)
    found = pooled(y, v, 0.9)
    tau2 = squares - 0.5
    assert (found.i2_low[0], found.i2_high[0]) == pytest.approx(tuple(tau2 / (tau2 + 0.5)))
    rng = np.random.default_rng(1)
    drawn = rng.normal(0, 1.0, (6, 2000)) + rng.normal(0, 0.7, (6, 2000))
    found = pooled(drawn, np.full((6, 2000), 0.49), 0.9)
    held = (found.i2_low <= 1 / 1.49) & (found.i2_high >= 1 / 1.49)
    assert 0.9 - 3 * np.sqrt(0.9 * 0.1 / 2000) < held.mean() < 0.97


@pytest.mark.parametrize(("runs", "tau"), [(6, 0.5), (6, 2.0), (12, 1.0)])
def test_a_further_run_lies_where_it_is_said_to_though_errors_are_too_large(
    runs: int, tau: float
) -> None:
    """Of many draws of runs; errors are of variance 1 and said to be of 1.7."""
    rng = np.random.default_rng(2)
    y = rng.normal(0, tau, (runs, 3000)) + rng.normal(0, 1, (runs, 3000))
    found = pooled(y, np.full(y.shape, 1.7), 0.9)
    further = rng.normal(0, tau, 3000)
    held = (found.next_low <= further) & (further <= found.next_high)
    assert held.mean() > 0.9 - 3 * np.sqrt(0.9 * 0.1 / 3000)
    assert ((found.low <= 0) & (found.high >= 0)).mean() > 0.88


def test_runs_that_are_more_alike_than_their_errors_may_still_differ() -> None:
    y, v = np.array([[1.0], [1.1], [0.9], [1.05], [0.95]]), np.full((5, 1), 100.0)
    found = pooled(y, v, 0.9)
    assert (found.tau[0], found.i2[0], found.i2_low[0]) == (0, 0, 0)
    # as if errors were as large as the differences: Q is 4, and at the least 5 % point of chance
    assert found.i2_high[0] == pytest.approx(1 - scipy.stats.chi2.ppf(0.05, 4) / 4)


def test_errors_that_runs_share_do_not_average_out() -> None:
    """With one error in all runs, as of searches that leave out the same, the mean is as unsure as each
    of them; with errors of their own it is not."""
    rng = np.random.default_rng(3)
    y, v = np.tile(rng.normal(0, 1, 3000), (8, 1)), np.ones((8, 3000))
    own, shared = pooled(y, v, 0.9), pooled(y, v, 0.9, np.full(8, True))
    held = [((one.low <= 0) & (one.high >= 0)).mean() for one in (own, shared)]
    assert held[0] < 0.6
    assert held[1] > 0.9 - 3 * np.sqrt(0.9 * 0.1 / 3000)
    reach = scipy.stats.norm.ppf(0.95), scipy.stats.t.ppf(0.95, 7) / np.sqrt(8)
    assert shared.high - shared.mean == pytest.approx(np.full(3000, np.hypot(*reach)))


def test_a_portfolio_takes_what_is_good_everywhere_then_what_it_lacks() -> None:
    regret = np.array([[0.0, 1.0, 0.3, 0.9], [1.0, 0.0, 0.3, 0.9], [0.2, 0.9, 0.3, 0.9]])
    assert greedy(regret, 9) == [2, 0, 1]  # left 0.3 each, then 0.5 / 3, then 0.2 / 3
    brute = min(range(4), key=lambda c: regret[:, c].mean())
    assert greedy(regret, 1) == [brute]


def test_what_holds_and_what_differs() -> None:
    alike = hl.across({"one": run(0, 0.5), "two": run(1, 0.5), "three": run(2, 0.5)})
    assert alike.parameters == ("a", "b")
    assert alike.share.shape == (3, 2)
    assert (alike.low <= alike.pooled).all()
    assert (alike.next_low <= alike.low).all()
    assert alike.alike[0] > 0.95
    assert alike.portfolio[0]["a"] == pytest.approx(0.2, abs=0.1)
    assert alike.regret[0] < alike.default
    assert "Over 3 runs 'a' has" in alike.sentence
    assert any("3 runs say little" in note for note in alike.notes)
    flat = hl.History(SPACE, run(0, 0.5).objectives, run(0, 0.5).trials[:4])
    few = hl.across([flat, flat])
    assert few.sentence.startswith("Not known, only a guess: ")
    assert few.effect("a").sentence.startswith("Not known, only a guess: ")
    assert "further run" not in few.sentence
    other = hl.across([run(0, 0.5), run(1, 4.0), run(2, 0.5, 0.9)])
    assert other.runs == ("run 1", "run 2", "run 3")
    assert other.i2[0] > alike.i2[0]
    assert other.alike[list(other.parameters).index("a")] < 0.5
    gap = np.linalg.norm(other.places[:, None] - other.places[None], axis=-1)
    assert gap[0, 1] > 0
    lows = other.effect("a").own_best
    assert min(lows) == pytest.approx(0.2, abs=0.1)
    assert max(lows) == pytest.approx(0.9, abs=0.1)
    assert "Runs differ" in other.effect("a").sentence
    back = Record.from_dict(other.to_dict())
    assert back.plot().to_json() == other.plot().to_json()
    other.plot("matplotlib")


def test_effects_are_pooled_point_by_point() -> None:
    """Runs of known functions: the pooled curve is that of each, in standard deviations of its costs;
    and every point is pooled as a number of its own would be."""
    told: list[tuple[int, int]] = []
    runs = {"one": run(0, 0.5), "two": run(1, 0.5), "three": run(2, 0.5)}
    found = hl.across(runs, progress=lambda done, of: told.append((done, of)))
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert tuple(one.parameter for one in found.effects) == found.parameters
    one = found.effect("a")
    x = np.array(one.values)
    true = 4 * (x - 0.2) ** 2
    for k, history in enumerate(runs.values()):
        scaled = (true - true.mean()) / history.data().y.std()
        assert (np.abs(one.effect[k] - scaled) <= 0.02 + 3 * one.std[k]).all()
        assert one.effect[k].mean() == pytest.approx(0.0, abs=1e-9)
    by_hand = pooled(one.effect[:, 3:4], one.std[:, 3:4] ** 2, 0.9)
    assert one.mean[3] == pytest.approx(by_hand.mean[0])
    assert one.next_low[3] == pytest.approx(by_hand.next_low[0])
    assert one.values[one.best_at] == pytest.approx(0.2, abs=0.08)
    assert one.sentence.startswith("Over 3 runs 'a' is best at 0.2")
    assert (one.next_low <= one.low).all()
    assert len(one.plot().data) == 4 + 3 + 1  # two bands of two lines each, the runs, their mean
    with pytest.raises(hl.AnalysisError, match="no parameter 'z'"):
        found.effect("z")


def test_runs_that_cannot_be_seen_together_say_so() -> None:
    with pytest.raises(hl.AnalysisError, match="at least two"):
        hl.across([run(0, 0.5)])
    wider = hl.Space.of(
        [hl.Parameter("a", "float", 0.0, 2.0), hl.Parameter("b", "float", 0.0, 1.0)]
    )
    trials = tuple(hl.Trial(k, {"a": k / 9, "b": 0.5}, (1.0 * k,)) for k in range(9))
    with pytest.raises(hl.AnalysisError, match="another search space"):
        hl.across([run(0, 0.5), hl.History(wider, (hl.Objective("loss"),), trials)])
    up = hl.History(SPACE, (hl.Objective("loss", maximize=True),), run(0, 0.5).trials)
    with pytest.raises(hl.AnalysisError, match="another direction"):
        hl.across([run(0, 0.5), up])
    none = hl.History(SPACE, (hl.Objective("loss"),), ())
    with pytest.raises(hl.AnalysisError, match="'empty' cannot be explained"):
        hl.across({"one": run(0, 0.5), "empty": none})
    flat = hl.History(
        SPACE,
        (hl.Objective("loss"),),
        tuple(hl.Trial(k, {"a": k / 20, "b": 0.5}, (1.0,)) for k in range(12)),
    )
    found = hl.across([flat, run(0, 0.5)])
    assert np.isfinite(found.pooled).all()
    assert found.sentence


def test_a_search_begins_with_what_does_well_everywhere(tmp_path: Path) -> None:
    """From Python by the record, and from the command line by the file that it writes."""
    runs = {"one": run(0, 0.5), "two": run(1, 0.5)}
    record = hl.across(runs)
    warm = hl.minimize(_bowl, SPACE, trials=6, first=record.portfolio)
    count = len(record.portfolio)
    assert [dict(t.values) for t in warm.trials[:count]] == [dict(p) for p in record.portfolio]
    cold = hl.minimize(_bowl, SPACE, trials=6)
    assert warm.trials[0].costs[0] < min(t.costs[0] for t in cold.trials[:count])
    for name, history in runs.items():
        rows = [f"{t.values['a']},{t.values['b']},{t.costs[0]}" for t in history.trials]
        (tmp_path / f"{name}.csv").write_text("\n".join(["a,b,loss", *rows]), encoding="utf-8")
    sources = [str(tmp_path / f"{name}.csv") for name in runs]
    (tmp_path / "space.json").write_text(SPACE.to_json(), encoding="utf-8")
    words = ["--space", str(tmp_path / "space.json"), "--out", str(tmp_path / "f.json")]
    told = CliRunner().invoke(app, ["across", *sources, *words], catch_exceptions=False)
    assert told.exit_code == 0
    assert "to begin with" in told.stderr
    written = json.loads((tmp_path / "f.json").read_text(encoding="utf-8"))
    assert written == [dict(one) for one in record.portfolio]
    (tmp_path / "f.json").unlink()
    folder = CliRunner().invoke(app, ["across", str(tmp_path), *words], catch_exceptions=False)
    assert folder.stdout == told.stdout  # a folder is all runs in it
    with pytest.raises(hl.SourceError, match="is the run itself"):
        CliRunner().invoke(app, ["across", *sources, "--out", sources[0]], catch_exceptions=False)


def _bowl(values: dict[str, Any]) -> float:
    return float(4 * (values["a"] - 0.2) ** 2 + 0.5 * values["b"])


def test_regret_is_in_units_of_the_space_whatever_the_search_looked_at() -> None:
    """The median of a crowd's trials is next to its best, and would make any other place look bad."""
    even = SPACE.sample(40, 5)
    crowd = np.vstack([even[:20], [0.2, 0.05] + 0.02 * (even[20:] - 0.5)])
    costs = [4 * (X[:, 0] - 0.2) ** 2 + 0.5 * X[:, 1] for X in (even, crowd)]
    runs = [
        hl.History(
            SPACE,
            (hl.Objective("loss"),),
            tuple(
                hl.Trial(k, v, (float(c),))
                for k, (v, c) in enumerate(zip(SPACE.decode(X), y, strict=True))
            ),
        )
        for X, y in zip((even, crowd), costs, strict=True)
    ]
    grid = SPACE.sample(4000, 9)
    true = 4 * (grid[:, 0] - 0.2) ** 2 + 0.5 * grid[:, 1]
    middle = 4 * 0.3**2 + 0.5 * 0.5
    expected = (middle - true.min()) / (np.median(true) - true.min())
    assert hl.across(runs).default == pytest.approx(expected, abs=0.1)
    by_trials = (middle - costs[1].min()) / (np.median(costs[1]) - costs[1].min())
    assert by_trials > expected + 1  # what was said before
