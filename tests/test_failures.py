"""Where trials fail: against known chances, known rules and chance alone."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy
from test_tail import run as diverging

import hyperlens as hl
from hyperlens.explain.run.failures import Failures, jeffreys
from hyperlens.record import Record
from hyperlens.sections.choices import Choices
from hyperlens.sections.explanation import Explanation
from hyperlens.sections.plan import PLAN

SPACE = hl.Space.of(
    [
        hl.Parameter("lr", "float", 1e-4, 1.0, log=True),
        hl.Parameter("layers", "integer", 1, 4),
        hl.Parameter("model", "categorical", choices=("net", "svm", "tree")),
        hl.Parameter("dropout", "float", 0.0, 1.0),
    ],
    {"dropout": ((("model", "equal", "net"),),)},
)


def history(fails: Any, trials: int = 120, seed: int = 0) -> hl.History:
    rng = np.random.default_rng(seed)
    told = []
    for k, values in enumerate(SPACE.decode(SPACE.sample(trials, seed))):
        failed = rng.random() < fails(values)
        state = hl.State.FAILED if failed else hl.State.COMPLETE
        told.append(hl.Trial(k, values, (math.nan if failed else float(rng.random()),), state))
    return hl.History(SPACE, (hl.Objective("loss"),), tuple(told))


def large_rate(values: dict[str, Any]) -> float:
    return 0.95 if values["lr"] > 0.1 else 0.02


def test_a_rule_is_found_and_counted() -> None:
    run = history(large_rate)
    record = hl.failures(run)
    failed = [t.state is hl.State.FAILED for t in run.trials]
    assert record.parameters[0] == "lr"
    assert record.p[0] <= 0.01
    assert record.share[0] > 0.5
    assert record.rule is not None
    assert record.rule.rule.startswith("lr > ")
    cut = float(record.rule.rule.removeprefix("lr > "))
    assert 0.05 < cut < 0.2
    inside = [t.values["lr"] > cut for t in run.trials]
    both = sum(f and i for f, i in zip(failed, inside, strict=True))
    assert record.rule.inside == (both, sum(inside))
    assert record.rule.elsewhere == (sum(failed) - both, 120 - sum(inside))
    assert f"{both} of the {sum(inside)} where lr > " in record.sentence
    for j, name in enumerate(record.parameters):
        active = [f for f, t in zip(failed, run.trials, strict=True) if name in t.values]
        assert record.tried[j].sum() == len(active)
        assert record.failed[j].sum() == sum(active)
    assert np.nanmax(record.expected[0][:3]) < 0.3
    assert record.expected[0][-1] > 0.7


def test_all_failures_of_one_part_are_said_to_be_there_with_their_reasons() -> None:
    run = history(lambda v: float(v["lr"] > 0.1))
    told = tuple(
        replace(t, reason="too slow" if t.number % 2 else "no memory.") for t in run.trials
    )
    record = hl.failures(replace(run, trials=told))
    failed = [t for t in told if t.state is hl.State.FAILED]
    assert (
        f"All {len(failed)} failures have lr above 0.1, and no other trial has." in record.sentence
    )
    odd = sum(t.number % 2 for t in failed)
    assert record.reasons == {"too slow": (odd, 0), "no memory.": (len(failed) - odd, 0)}
    assert f"too slow ({odd} there, 0 elsewhere)" in record.why
    some = hl.failures(history(lambda v: 0.7 * (v["lr"] > 0.1), 200))
    assert some.common is not None
    cut = float(some.common.removeprefix("lr > "))
    tried = [
        t for t in history(lambda v: 0.7 * (v["lr"] > 0.1), 200).trials if t.values["lr"] > cut
    ]
    assert sum(t.state is hl.State.FAILED for t in tried) == some.count
    assert f" All {some.count} have lr above {cut}." in some.sentence
    category = hl.failures(history(lambda v: float(v["model"] == "svm")))
    assert "failures lie where model is svm, where all trials did." in category.sentence


def test_nobody_is_sent_to_where_trials_fail() -> None:
    """Where few trials ended because most failed, more trials there are not what helps."""
    values = SPACE.decode(SPACE.sample(90, 2))
    told = [
        hl.Trial(k, v, (math.nan,), hl.State.FAILED) if v["lr"] > 0.02 else
        hl.Trial(k, v, (math.log(v["lr"]) ** 2 + 3 * v["layers"],))
        for k, v in enumerate(values)
    ]  # fmt: skip
    run = hl.History(SPACE, (hl.Objective("loss"),), tuple(told))
    failed = sum(v["lr"] > 0.02 for v in values)
    verdict = hl.effect(run, "lr", surrogate="forest").verdict
    assert f"and {failed} more trials failed there" in " ".join((verdict.reason, *verdict.besides))
    assert "run " not in verdict.remedy
    kept = replace(run, trials=tuple(t for t in run.trials if t.state is hl.State.COMPLETE))
    untested = hl.effect(kept, "lr", surrogate="forest").verdict
    assert "more trials where lr is above" in untested.remedy


def test_several_parts_in_which_trials_fail_are_told_with_their_reasons() -> None:
    def deep(v: Any) -> bool:
        return bool(v["layers"] == 4 and v["model"] == "svm")

    run = history(lambda v: float(v["lr"] > 0.2 or deep(v)), 200)
    told = tuple(
        replace(t, reason="memory" if deep(t.values) else "nan") if math.isnan(t.costs[0]) else t
        for t in run.trials
    )
    record = hl.failures(replace(run, trials=told))
    large, other = record.rules
    cut = float(large.rule.removeprefix("lr > "))
    assert 0.1 < cut <= 0.25
    there = [t for t in told if t.values["lr"] > cut]
    left = [t for t in told if t.values["lr"] <= cut]
    then = sum(deep(t.values) for t in left)
    assert large.inside == (len(there), len(there))
    assert (other.inside, other.elsewhere) == ((then, then), (0, len(left) - then))
    assert "layers is 4" in other.rule
    assert "model is svm" in other.rule
    both = sum(deep(t.values) for t in there)
    assert record.reasons == {"nan": (len(there) - both, 0, 0), "memory": (both, then, 0)}
    assert f", and none of the {len(left) - then} elsewhere." in record.sentence
    assert f"{then} where {other.rule})" in record.why
    assert Record.from_dict(record.to_dict()).to_dict() == record.to_dict()


def test_a_rule_of_two_parameters_and_of_a_conditional_one() -> None:
    both = hl.failures(
        history(lambda v: 0.95 if v["model"] == "svm" and v["lr"] > 0.01 else 0.01, 300)
    )
    assert both.rule is not None
    assert "model is svm" in both.rule.rule
    assert "lr > 0.0" in both.rule.rule
    child = hl.failures(history(lambda v: 0.95 if v.get("dropout", 0.0) > 0.5 else 0.01, 300))
    assert child.rule is not None
    assert child.rule.rule.startswith("dropout > 0.")
    j = child.parameters.index("dropout")
    nets = [t for t in history(lambda v: 0.0, 300).trials if t.values["model"] == "net"]
    assert child.tried[j].sum() == len(nets)  # judged where it is active
    assert child.p[j] <= 0.01


def test_chance_alone_gives_no_rule() -> None:
    """Rules are wrong in few of many runs that fail anywhere alike; p-values are even."""
    records = [hl.failures(history(lambda v: 0.15, 60, seed)) for seed in range(14)]
    assert sum(record.rule is not None for record in records) <= 2  # 14 x 2 x 0.01, and luck
    p = np.concatenate([record.p for record in records])
    assert np.mean(p <= 0.05) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / len(p))
    assert "no rule says where" in next(r for r in records if r.rule is None).sentence


@pytest.mark.parametrize("n", [1, 3, 10, 40])
def test_intervals_cover_a_known_chance(n: int) -> None:
    """On average over chances; summed exactly over all counts."""
    count = np.arange(n + 1)
    low, high = jeffreys(count, np.full(n + 1, n), 0.9)
    chances = np.linspace(0.005, 0.995, 199)
    covered = [scipy.stats.binom.pmf(count, n, q)[(low <= q) & (q <= high)].sum() for q in chances]
    assert np.mean(covered) >= 0.9 - 0.005
    low, high = jeffreys(np.array([0]), np.array([0]), 0.9)
    assert (low[0], high[0]) == (0.0, 1.0)  # nothing is known where nothing was tried


def test_intervals_of_a_run_cover_the_true_rates() -> None:
    """The chance within a bin of lr: one or the other, but for the bin that 0.1 lies in."""
    held = []
    for seed in range(30):
        record = hl.failures(history(large_rate, 60, seed))
        j = record.parameters.index("lr")
        truth = np.array([0.02, 0.02, 0.02, 0.02, np.nan, 0.95])
        inside = (record.low[j] <= truth) & (truth <= record.high[j])
        held += inside[~np.isnan(truth)].tolist()
    assert np.mean(held) >= 0.9 - 3 * math.sqrt(0.09 / len(held))


def test_every_kind_is_named_and_read_again() -> None:
    run = diverging("constant")
    trials = list(run.trials)
    trials[0] = hl.Trial(0, trials[0].values, (math.nan,))
    trials[1] = hl.Trial(1, trials[1].values, (math.nan,), hl.State.FAILED)
    trials[2] = hl.Trial(2, trials[2].values, (math.nan,), hl.State.RUNNING)
    run = hl.History(run.space, run.objectives, tuple(trials))
    record = hl.failures(run)
    assert record.kinds["ended in failure"] == 1
    assert record.kinds["without a finite cost"] == 1
    assert record.kinds["diverged"] == run.diverged().sum()
    assert record.trials == 119
    assert record.rule is not None
    assert record.rule.rule.startswith("lr > 0.")
    assert run.divergence() in record.notes
    again = Record.from_dict(record.to_dict())
    assert isinstance(again, Failures)
    alone = replace(record, kinds={"diverged": 3}, rule=None, further=(), common=None)
    assert alone.sentence.startswith("3 of 119 trials diverged; no rule says where")
    assert again.to_json() == record.to_json()
    assert again.lead == record.lead
    figure = record.plot()
    assert list(figure.data[0].x)[: len(record.values[0])] == pytest.approx(
        np.where(record.tried[0] > 0, record.rates[0], 0.5).tolist()
    )
    kept = run.select(keep_tail=True)
    assert set(hl.failures(kept).kinds) == {"ended in failure", "without a finite cost"}


def test_nothing_failed_is_no_section() -> None:
    section = next(section for section in PLAN if section.id == "failures")
    clean = history(lambda v: 0.0)
    assert section.cards(Explanation(clean, Choices())) == ()
    with pytest.raises(hl.AnalysisError, match="Of 120 trials that ended none failed"):
        hl.failures(clean)
    with pytest.raises(hl.AnalysisError, match="all failed"):
        hl.failures(history(lambda v: 1.0))
    (card,) = section.cards(Explanation(history(large_rate), Choices(level=None)))
    assert card.figure is not None
    assert "where lr > " in card.lead[0]
