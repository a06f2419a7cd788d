"""Learning curves with known truth: ranks by brute force, ends of a known process, odd curves."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperlens as hl
from hyperlens.cli import main
from hyperlens.errors import AnalysisError
from hyperlens.explain.curves.rank_correlation import Resamples, rank_correlation
from hyperlens.explain.curves.unseen_ends import unseen_ends
from hyperlens.record import Record
from hyperlens.runs.curve import Curve
from hyperlens.sections.choices import Choices
from hyperlens.sections.explanation import Explanation
from hyperlens.sections.plan import PLAN

SPACE = hl.Space.of([hl.Parameter("x", "float", 0, 1), hl.Parameter("z", "float", 0, 1)])
STEPS = 12
FEW = 19  # curves; too few to ask what mattered, which takes the longest
DONE, PRUNED, FAILED = hl.State.COMPLETE, hl.State.PRUNED, hl.State.FAILED


def history(
    values: Any, last: Any = None, states: Any = None, maximize: bool = False, steps: Any = None
) -> hl.History:
    """One trial a row of `values`, cut after `last` reports; the cost is the last of all."""
    rng = np.random.default_rng(7)
    trials = []
    for k, row in enumerate(np.asarray(values, dtype=float)):
        reached = len(row) if last is None else int(last[k])
        state = (DONE if reached == len(row) else PRUNED) if states is None else states[k]
        at = range(1, len(row) + 1) if steps is None else steps
        curve = Curve.of((step, (v,)) for step, v in zip(at, row[:reached], strict=False))
        x, z = rng.random(2).tolist()
        cost = float(row[reached - 1]) if reached else math.nan
        trials.append(hl.Trial(k, {"x": x, "z": z}, (cost,), state, curve=curve))
    return hl.History(SPACE, (hl.Objective("loss", maximize),), tuple(trials))


def learning(count: int, seed: int = 0, noise: float = 0.2) -> Any:
    """Curves that approach their own ends; what is seen of these early is noisy."""
    rng = np.random.default_rng(seed)
    ends = rng.normal(size=count)
    steps = np.arange(1, STEPS + 1)
    wander = rng.normal(size=(count, STEPS)) * noise * (STEPS - steps) / STEPS
    return ends[:, None] + 2 * np.exp(-steps / 3) + wander


# Rank correlation


@settings(max_examples=8, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=5, max_size=25))
def test_ranks_of_resamples_are_those_of_scipy(pairs: list[tuple[int, int]]) -> None:
    """Resamples by counts against the same resamples written out, equals included."""
    x, y = np.array(pairs, dtype=float).T
    found, low, high = rank_correlation(x, y, 0.9, Resamples(3))
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert math.isnan(found)
        return
    assert found == pytest.approx(scipy.stats.spearmanr(x, y).statistic)
    counts = np.random.default_rng(3).multinomial(len(x), np.full(len(x), 1 / len(x)), size=400)
    resampled = []
    for w in counts:
        a, b = np.repeat(x, w), np.repeat(y, w)
        if len(set(a)) > 1 and len(set(b)) > 1:
            ranks = scipy.stats.rankdata(a), scipy.stats.rankdata(b)
            resampled.append(np.corrcoef(*ranks)[0, 1])
    ends = np.quantile(resampled, [0.05, 0.95])
    assert low == pytest.approx(min(ends[0], found), abs=1e-9)
    assert high == pytest.approx(max(ends[1], found), abs=1e-9)


def test_each_step_is_correlated_with_the_end() -> None:
    values = learning(FEW, noise=1.0)
    for sign in (1.0, -1.0):
        record = hl.curves(history(sign * values, maximize=sign < 0))
        assert record.steps.tolist() == list(range(1, STEPS + 1))
        for k in range(STEPS):
            by_hand = scipy.stats.spearmanr(values[:, k], values[:, -1]).statistic
            assert record.correlation[k] == pytest.approx(by_hand)
        assert record.correlation[-1] == pytest.approx(1.0)
        assert record.count.tolist() == [FEW] * STEPS
        assert record.early is not None
        assert record.low[record.early] >= 0.9 > record.low[record.early - 1]
        step = record.steps[record.early]
        assert record.sentence.startswith(
            f"At step {step:g} of 12 trials rank nearly as at the end"
        )
        assert record.best_trial == int(np.argmin(values[:, -1]))


def test_only_survivors_have_an_end_and_that_is_said() -> None:
    values = learning(FEW)
    last = np.where(values[:, 3] > np.median(values[:, 3]), 4, STEPS)
    record = hl.curves(history(values, last))
    went_on = last == STEPS
    by_hand = scipy.stats.spearmanr(values[went_on, 0], values[went_on, -1]).statistic
    assert record.correlation[0] == pytest.approx(by_hand)
    assert record.count.tolist() == [10] * STEPS
    assert any("of the 10 of 19 that reached the end" in note for note in record.notes)
    assert record.ended.items() == {"complete": 10, "pruned": 9}.items()


def test_steps_that_differ_count_with_their_latest_report() -> None:
    """Every other trial reports at even steps alone."""
    values = learning(18)
    trials = []
    for k, trial in enumerate(history(values).trials):
        assert trial.curve is not None
        keep = slice(None) if k % 2 else slice(1, None, 2)
        curve = Curve(trial.curve.steps[keep], trial.curve.values[keep])
        trials.append(hl.Trial(k, trial.values, trial.costs, trial.state, curve=curve))
    record = hl.curves(hl.History(SPACE, (hl.Objective("loss"),), tuple(trials)))
    seen = values.copy()
    seen[::2, 2::2] = values[::2, 1:-1:2]
    for k in range(1, STEPS):
        by_hand = scipy.stats.spearmanr(seen[:, k], values[:, -1]).statistic
        assert record.correlation[k] == pytest.approx(by_hand)
    assert record.count[0] == 9
    assert any("Curves differ in their steps" in note for note in record.notes)


# Ends that were not seen


def test_ends_of_a_known_process_are_told_with_their_doubt() -> None:
    """F = 0.5 v + e: stopped where v is above its median, so those that went on say nothing directly.
    Draws have the mean and the spread of the truth, and intervals hold it as often as they say."""
    held, lost, expected = [], 0, 0.0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        v = rng.normal(size=200)
        end = 0.5 * v + rng.normal(0, 0.3, 200)
        halted = v > 0
        final = np.where(halted, np.nan, end)
        told, drawn = unseen_ends(v[:, None], final, halted, seed)
        assert told.tolist() == np.flatnonzero(halted).tolist()
        low, high = np.quantile(drawn, [0.05, 0.95], axis=0)
        held.append(((end[told] >= low) & (end[told] <= high)).mean())
        best = np.nanmin(final)
        lost += int((end[told] < best).sum())
        expected += (drawn < best).sum(axis=1).mean()
    assert 0.84 < np.mean(held) < 0.96
    assert abs(expected - lost) < 6  # the standard error of some ten rare events is about 3


def test_those_stopped_later_tell_of_those_stopped_before() -> None:
    """Among those that went on twice, the early value seems to say little; the chain knows better."""
    rng = np.random.default_rng(1)
    v1 = rng.normal(size=600)
    v2 = v1 + rng.normal(0, 0.5, 600)
    end = v2 + rng.normal(0, 0.1, 600)
    last = np.where(v1 > 0.8, 0, np.where(v2 > -0.3, 1, 2))
    values = np.column_stack([v1, v2])
    values[last == 0, 1] = np.nan
    final = np.where(last == 2, end, np.nan)
    told, drawn = unseen_ends(values, final, last < 2)
    assert len(told) == int((last < 2).sum())
    error = drawn.mean(axis=0) - end[told]
    for stop in (0, 1):
        assert abs(error[last[told] == stop].mean()) < 0.12
    went_on = last == 2
    slope = np.polyfit(v1[went_on], end[went_on], 1)[0]
    assert slope < 0.8  # selection bends it; the truth is 1


def test_a_hopeless_trial_has_no_chance() -> None:
    values = learning(FEW, noise=1.0)
    last = np.full(FEW, STEPS)
    last[13:] = 3
    values[13:16, :3] += 1e6
    values[16:, :3] = values[:13, :3].min(axis=0)
    record = hl.curves(history(values, last)).pruning
    assert record is not None
    chance = dict(zip(record.trial.tolist(), record.chance.tolist(), strict=True))
    assert all(chance[k] == 0 for k in range(13, 16))
    assert all(chance[k] > 0.02 for k in range(16, 19))
    assert record.lost == pytest.approx(sum(chance.values()))
    assert max(chance.values()) <= record.chance_any <= sum(chance.values())


# Why this one


def test_where_a_pruned_trial_stood() -> None:
    values = learning(FEW)
    last = np.full(FEW, STEPS)
    last[[10, 15]] = 5
    record = hl.curves(history(values, last))
    assert record.pruning is not None
    at = int(np.flatnonzero(record.pruning.trial == 15)[0])
    before = values[:15, 4]
    assert record.pruning.rank[at] == 1 + int((before < values[15, 4]).sum())
    assert record.pruning.of[at] == 16
    finished = np.delete(before, 10)
    assert record.pruning.median[at] == pytest.approx(np.median(finished))
    side = "worse" if values[15, 4] > np.median(finished) else "not worse"
    told = record.pruned(15)
    assert told.startswith("Trial 15 was pruned at step 5 with a loss of ")
    assert f"place {record.pruning.rank[at]} of the 16" in told
    assert f", {side} than " in told
    with pytest.raises(AnalysisError, match="Trial 3 is not among the 2 pruned trials"):
        record.pruned(3)
    alone = record.stopped(15)
    assert (alone.sentence, alone.lead) == (told, (told,))
    assert alone.frame["trial"].tolist() == [15]


def test_the_command_line_says_why_one_was_pruned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    last = np.full(FEW, STEPS)
    last[15] = 5
    run = history(learning(FEW), last)
    folder = hl.convert(run, "table", tmp_path / "run")
    monkeypatch.setattr("sys.argv", ["hyperlens", "curves", str(folder), "--trial", "15"])
    monkeypatch.setenv("COLUMNS", "400")
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert hl.curves(run).pruned(15).replace("\xa0", " ") in capsys.readouterr().out


def test_a_median_rule_is_recognised() -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    ends = learning(60, seed=3)

    def objective(trial: optuna.Trial) -> float:
        trial.suggest_float("x", 0, 1)
        for step, value in enumerate(ends[trial.number].tolist()):
            trial.report(value, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return float(ends[trial.number, -1])

    pruner = optuna.pruners.MedianPruner(n_startup_trials=5)
    study = optuna.create_study(pruner=pruner, sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, 60)
    record = hl.curves(hl.read(study)).pruning
    assert record is not None
    assert record.worse == record.judged == record.count > 20
    assert record.rule.endswith("as a median rule has it.")


# What mattered over the course


def test_importance_follows_the_course() -> None:
    """x alone matters at first, z alone at the end."""
    trials = []
    for k, (x, z) in enumerate(np.random.default_rng(0).random((150, 2)).tolist()):
        curve = Curve.of((step, ((5 - step) * x + (step - 1) * z,)) for step in range(1, 6))
        assert curve is not None
        trials.append(hl.Trial(k, {"x": x, "z": z}, (curve.values[-1, 0],), curve=curve))
    record = hl.curves(hl.History(SPACE, (hl.Objective("loss"),), tuple(trials))).course
    assert record is not None
    shares = dict(zip(record.parameters, record.share, strict=True))
    assert shares["x"][0] > 0.95 > 0.05 > shares["x"][-1]
    assert shares["z"][-1] > 0.95 > 0.05 > shares["z"][0]
    for name, true in (("x", [1, 0.9, 0.5, 0.1, 0]), ("z", [0, 0.1, 0.5, 0.9, 1])):
        np.testing.assert_allclose(shares[name], true, atol=0.12)
    assert "At step 1 x (" in record.sentence
    assert "by step 5 z (" in record.sentence
    assert record.sentence.endswith(" takes over.")


# Budgets as steps


def test_budgets_of_one_configuration_are_its_curve() -> None:
    trials: list[hl.Trial] = []
    rng = np.random.default_rng(0)
    for x, z in rng.random((40, 2)).tolist():
        for budget in (1.0, 3.0, 9.0)[: 1 + int(z > 0.3) + int(z > 0.5)]:
            cost = x + rng.normal() / budget / 5
            trials.append(hl.Trial(len(trials), {"x": x, "z": z}, (cost,), DONE, budget))
    run = hl.History(SPACE, (hl.Objective("loss"),), tuple(trials))
    record = hl.curves(run)
    assert (record.axis, record.noun) == ("budget", "configuration")
    assert record.steps.tolist() == [1, 3, 9]
    assert record.total == 40
    whole: dict[float, dict[float, float]] = {}
    for t in trials:
        whole.setdefault(t.values["x"], {})[t.budget or 0] = t.costs[0]
    pairs = np.array([(c[1.0], c[9.0]) for c in whole.values() if 9.0 in c])
    assert record.correlation[0] == pytest.approx(scipy.stats.spearmanr(*pairs.T).statistic)
    ended = {"complete": len(pairs), "stopped": 40 - len(pairs)}
    assert record.ended.items() == ended.items()


# Odd curves, in one sentence


def test_budgets_are_compared_two_by_two() -> None:
    """Of 20 configurations at budget 1 the best ten went on to 3, of these four to 9."""
    cost = np.array([[k, k + (k % 2) * 3.0, 2.0 * k] for k in range(20)])
    values = SPACE.decode(SPACE.sample(20, 0))
    trials = [
        hl.Trial(100 * j + k, values[k], (float(cost[k, j]),), budget=3.0**j)
        for j, last in enumerate((20, 10, 4))
        for k in range(last)
    ]
    found = hl.curves(hl.History(SPACE, (hl.Objective("loss"),), tuple(trials)))
    (pair,) = found.pairs  # four are too few
    assert (pair.smaller, pair.larger, pair.count) == (1.0, 3.0, 10)
    expected = scipy.stats.spearmanr(cost[:10, 0], cost[:10, 1]).statistic
    assert pair.correlation == pytest.approx(expected)
    assert pair.low <= pair.correlation <= pair.high
    assert f"1 and 3 {expected:.2f} (" in found.lead[1]
    assert "; 10 configurations)" in found.lead[1]
    assert found.tables[1].columns[:2] == ("budget", "and budget")


def test_without_curves_it_is_refused() -> None:
    plain = [hl.Trial(k, {"x": k / 9, "z": 0.5}, (1.0,)) for k in range(9)]
    run = hl.History(SPACE, (hl.Objective("loss"),), tuple(plain))
    with pytest.raises(AnalysisError, match="so it has no learning curves; report each step"):
        hl.curves(run)
    assert section(run) == ()


def test_curves_of_one_step_say_so() -> None:
    run = history(learning(9)[:, :1])
    with pytest.raises(AnalysisError, match="has one step only"):
        hl.curves(run)
    (card,) = section(run)
    assert card.problem is not None


def section(run: hl.History) -> Any:
    (found,) = (s for s in PLAN if s.id == "curves")
    return found.cards(Explanation(run, Choices()))


ODD = {
    "all pruned": lambda: history(learning(FEW), np.full(FEW, 4)),
    "all failed": lambda: history(learning(FEW), np.full(FEW, 4), [FAILED] * FEW),
    "two finished": lambda: history(learning(FEW), [STEPS] * 2 + [4] * 17),
    "constant curves": lambda: history(np.ones((FEW, STEPS))),
    "constant early": lambda: history(np.c_[np.ones((FEW, 6)), learning(FEW)[:, 6:]]),
    "not a number": lambda: history(np.where(learning(FEW) > 1, np.nan, learning(FEW))),
    "infinite": lambda: history(np.where(learning(FEW) > 1, np.inf, learning(FEW))),
    "diverging": lambda: history(learning(FEW) * np.where(np.arange(FEW) % 9, 1, 1e12)[:, None]),
    "one trial": lambda: history(learning(1)),
    "one pruned": lambda: history(learning(FEW), [4] + [STEPS] * 18),
    "from zero": lambda: history(learning(FEW), steps=range(STEPS)),
    "uneven steps": lambda: history(learning(FEW), steps=np.cumsum(np.arange(1, STEPS + 1) / 7)),
}


@pytest.mark.parametrize("kind", ODD)
def test_odd_curves_give_sentences(kind: str) -> None:
    record = hl.curves(ODD[kind]())
    for sentence in (*record.lead, *record.notes):
        assert sentence.endswith(".")
        assert "nan" not in sentence
    assert Record.from_dict(record.to_dict()).to_json() == record.to_json()
    for part in (record, record.pruning, record.course):
        if part is not None:
            assert part.plot().data
            assert part.to_csv().count("\n") > 1
            assert all(table.rows for table in part.tables)


def test_what_cannot_be_told_is_said() -> None:
    assert "0 of 19 curves reached the end" in hl.curves(ODD["all pruned"]()).sentence
    pruning = hl.curves(ODD["all pruned"]()).pruning
    assert pruning is not None
    assert pruning.sentence == (
        "19 of 19 trials were pruned, and none reached the end, so nothing says what that cost."
    )
    few = hl.curves(ODD["two finished"]())
    assert few.pruning is not None
    assert "cannot be told from 2 trials that went on, where it takes 10" in few.pruning.sentence
    unmeasured = learning(FEW)
    unmeasured[2:14, :4] = (
        np.nan
    )  # of those that went on hardly any was measured where others stopped
    skipped = hl.curves(history(unmeasured, [STEPS] * 14 + [4] * 5)).pruning
    assert skipped is not None
    assert "fewer than 10 of the 14 trials that went on were measured there" in skipped.sentence
    assert "are the same" in hl.curves(ODD["constant curves"]()).sentence
    with pytest.raises(AnalysisError, match="No trial of this run was stopped"):
        hl.curves(ODD["one trial"]()).pruned(0)


def test_the_section_shows_three_cards() -> None:
    values = learning(60)
    last = np.where(values[:, 3] > np.median(values[:, 3]), 4, STEPS)
    cards = section(history(values, last))
    assert [card.id for card in cards] == ["curves", "pruning", "course"]
    assert all(card.figure is not None for card in cards)


def test_a_long_run_is_thinned() -> None:
    """A thousand curves of a hundred steps: few of them are drawn, of each kind, and the best."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(1000, 1)) + np.exp(-np.arange(100) / 20) + np.zeros((1000, 100))
    last = np.where(rng.random(1000) < 0.8, rng.integers(1, 99, 1000), 100)
    record = hl.curves(history(values, last))
    assert len(record.number) <= 150
    assert record.values.shape[1] <= 60
    assert record.best_trial in record.number
    assert set(record.end) == {"complete", "pruned"}
    assert len(record.to_json()) < 900_000


def test_a_note_says_which_pruner_stopped_trials_where_that_is_known(tmp_path: Path) -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        for step in range(1, 9):
            trial.report(x + 1 / step, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return x

    sampler = optuna.samplers.RandomSampler(seed=0)
    halving = optuna.pruners.SuccessiveHalvingPruner(1, 2)
    stored = optuna.storages.JournalStorage(
        optuna.storages.journal.JournalFileBackend(str(tmp_path / "journal.log"))
    )
    for pruner, storage, told in (
        (halving, None, "pruned by successive halving"),
        (None, None, "the study's pruner was MedianPruner"),
        (None, stored, "is not recorded"),  # it may have been another object's
    ):
        study = optuna.create_study(sampler=sampler, pruner=pruner, storage=storage)
        study.optimize(objective, 16)
        stopped = hl.curves(hl.read(study)).pruning
        assert stopped is not None
        assert told in stopped.notes[0]
