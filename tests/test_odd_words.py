"""What is said of odd runs: counts, chances and digits are those of the numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import hyperlens as hl
from hyperlens.explain.models.chance import beyond_chance
from hyperlens.spaces.parameter import natural_end
from hyperlens.words import FIXED, digits_of

LR = hl.Parameter("lr", "float", 1e-5, 1, log=True)
OTHERS = [hl.Parameter(name, "float", 0, 1) for name in ("a", "b", "c")]
SPACE = hl.Space.of([LR, *OTHERS])


def cost(values: dict[str, Any]) -> float:
    return 0.3 + 0.06 * (math.log10(values["lr"]) + 3) ** 2 + 0.1 * float(values["a"])


def run(values: list[dict[str, Any]], costs: list[float], maximize: bool = False) -> hl.History:
    trials = [hl.Trial(k, v, (c,)) for k, (v, c) in enumerate(zip(values, costs, strict=True))]
    return hl.History(SPACE, (hl.Objective("loss", maximize),), tuple(trials))


def drawn(count: int, seed: int = 0) -> list[dict[str, Any]]:
    return SPACE.decode(SPACE.sample(count, seed))


def searched(seed: int) -> hl.History:
    """10 trials anywhere, of which some fail by lr; later ones near the good, of which none does."""
    values = drawn(10, seed)
    rng = np.random.default_rng(seed)
    for _ in range(90):
        near = {name: float(0.8 + 0.05 * rng.random()) for name in ("a", "b", "c")}
        values.append({"lr": float(10 ** rng.uniform(-4, -2)), **near})
    return run(values, [math.nan if v["lr"] > 0.1 else cost(v) for v in values])


def test_what_a_search_changed_as_it_failed_less_is_no_reason_to_fail() -> None:
    """Early trials fail and have other values of everything."""
    told = [hl.failures(searched(seed)) for seed in (2, 3, 5)]
    for record in told:
        p = dict(zip(record.parameters, record.p.tolist(), strict=True))
        assert min(p[name] for name in ("a", "b", "c")) > 0.05, p
        assert not any(f"depends on {name}" in record.reading for name in ("a", "b", "c"))


def test_one_failure_depends_on_nothing() -> None:
    values = drawn(60)
    for failed in range(0, 60, 6):
        costs = [math.nan if k == failed else cost(v) for k, v in enumerate(values)]
        record = hl.failures(run(values, costs))
        assert "cannot be told to depend on any single parameter" in record.reading


def test_many_parameters_asked_at_once_are_said_by_chance_as_seldom_as_one() -> None:
    rng = np.random.default_rng(0)
    names = [f"p{k}" for k in range(30)]
    even = rng.random((400, 30))
    wrong = np.mean([bool(beyond_chance(names, p)) for p in even])
    assert wrong <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)
    assert beyond_chance(names, np.r_[0.001, even[0, 1:]]) == ["p0"]


def test_a_card_of_an_even_search_names_no_uneven_parameter() -> None:
    space = hl.Space.of([hl.Parameter(f"p{k}", "float", 0, 1) for k in range(12)])
    values = space.decode(space.sample(60, 4))
    trials = tuple(hl.Trial(k, v, (1.0 + k,)) for k, v in enumerate(values))
    record = hl.bias(hl.History(space, (hl.Objective("loss"),), trials))
    assert "cannot be told from an even one" in record.sentence
    assert (record.parameter_p <= 0.05).any()  # by chance, as one of twelve may
    assert record.reading == "Each parameter alone was searched as evenly as chance allows."


def diverging() -> hl.History:
    values = drawn(50)
    return run(values, [1e6 + k if v["lr"] > 0.1 else cost(v) for k, v in enumerate(values)])


def test_what_diverged_is_not_believed_when_a_proposal_is_explained() -> None:
    history = diverging()
    apart = history.diverged()
    record = hl.why(history, 49)
    assert record.learned == int((~apart[:49]).sum()) < 49
    assert abs(record.average["mean"]) < 10
    assert f"{int(apart[:49].sum())} of the 49 trials before it diverged" in " ".join(record.notes)
    kept = hl.why(history.select(keep_tail=True), 49)
    assert kept.learned == 49


def test_a_stand_in_that_tells_nothing_gives_a_guess() -> None:
    rng = np.random.default_rng(1)
    record = hl.why(run(drawn(30), rng.normal(size=30).tolist()), 29)
    assert record.verdict.word == "do not trust"
    assert record.sentence.startswith("Not known, only a guess: trial 29 means")


def test_trials_that_failed_lie_where_no_cost_is_known() -> None:
    record = hl.effect(diverging(), "lr")
    failed = int(diverging().diverged().sum())
    assert any(high is None for _, high in record.gaps)
    assert f"but for {failed} that failed" in record.reading
    assert "but for" not in replace(record, failed=()).reading


def test_pruned_trials_that_are_learnt_from_lie_somewhere_too() -> None:
    """Half of the trials were pruned: they count among those that lie there, and stand in no gap."""
    values = drawn(60)
    trials = tuple(
        hl.Trial(
            k,
            v,
            (cost(v) + 0.1 * (k % 2),),
            hl.State.PRUNED if k % 2 else hl.State.COMPLETE,
            budget=3.0 if k % 2 else 9.0,
        )
        for k, v in enumerate(values)
    )
    record = hl.effect(hl.History(SPACE, (hl.Objective("loss"),), trials), "lr")
    assert len(record.predicted) == record.support.sum() - len(record.observed[0]) > 0
    assert f"of {int(record.support.sum())} trials lie there" in record.sentence
    held = sorted((*record.observed[0], *record.predicted))
    assert not any(low < v < high for low, high in record.gaps if low and high for v in held)


def test_no_more_trials_are_asked_for_where_they_diverge() -> None:
    values = drawn(60)
    costs = [1e6 + k if v["lr"] > 0.003 else cost(v) for k, v in enumerate(values)]
    history = run(values, [c if k % 5 or c < 10 else math.nan for k, c in enumerate(costs)])
    verdict = hl.effect(history, "lr").verdict
    said = " ".join((verdict.reason, verdict.remedy, *verdict.besides))
    assert "failed there" in said
    assert "more trials where lr is above" not in said


@pytest.mark.parametrize(
    ("low", "high", "whole", "at_upper", "natural"),
    [
        (0, 1, True, True, True),
        (1, 6, True, False, True),
        (1, 6, True, True, False),
        (1e-5, 1.0, False, True, True),
        (1e-5, 0.5, False, False, False),
    ],
)
def test_ends_beyond_which_there_is_nothing(
    low: float, high: float, whole: bool, at_upper: bool, natural: bool
) -> None:
    assert natural_end(low, high, whole, at_upper) is natural


def test_no_wider_range_is_spoken_of_where_there_is_none_or_nothing_is_known() -> None:
    values = drawn(40)
    rising = hl.effect(run(values, [v["a"] + 0.01 * v["b"] for v in values]), "a")
    assert rising.best_at == 0
    assert "wider range" not in rising.sentence  # below 0
    noise = hl.effect(run(values, np.random.default_rng(3).normal(size=40).tolist()), "lr")
    for best in (0, len(noise.mean) - 1):
        mean = np.where(np.arange(len(noise.mean)) == best, -9.0, 0.0)
        assert "wider range" not in replace(noise, mean=mean).sentence


def test_costs_far_from_0_are_told_apart() -> None:
    values = drawn(40)
    history = run(values, [1e6 + cost(v) for v in values])
    plain = run(values, list(map(cost, values)))
    assert hl.overview(history).shown(1e6 + 0.25) == "1000000.25"
    assert hl.overview(plain).shown(0.25) == "0.25"
    effect = hl.effect(history, "lr")
    (table,) = effect.tables
    assert len({row[1] for row in table.rows}) > len(table.rows) / 2
    assert "reaches from 1000000 to 1000000," not in effect.sentence
    winner = hl.winner(history)
    assert len({row[1] for row in winner.tables[0].rows}) == len(winner.trial)
    assert "best 1000000.3" in history.sentence
    assert digits_of([1e308, -1e308, 1.0]) == 4
    assert digits_of([]) == digits_of([math.nan]) == digits_of([2.0, 2.0]) == 4
    good = hl.importance(history, among="good", level=None)
    assert "Costs worse than 1000000 count" not in good.meaning


@pytest.mark.parametrize(
    ("needed", "said"),
    [
        (0, "choose it, no repeats are needed."),
        (None, "choose it, for repeats would hardly tell."),
        (7, "repeat both before choosing."),
    ],
)
def test_repeats_are_advised_only_where_they_tell(needed: int | None, said: str) -> None:
    values = drawn(60)
    rng = np.random.default_rng(0)
    record = hl.winner(run(values, [cost(v) + 0.05 * rng.normal() for v in values]))
    other = int(record.trial[1])
    gained = record.expected.copy()
    gained[1] = gained[0] - 1.0
    record = replace(record, expected=gained, recommended=other, needed=needed)
    assert record.reading.endswith(said)
    doubtful = replace(record, known_noise=True, probability=np.zeros(len(record.trial)))
    assert doubtful.caution.endswith(said)


def test_a_lead_that_is_all_luck_is_said_so() -> None:
    values = drawn(40)
    rng = np.random.default_rng(0)
    record = hl.winner(run(values, [cost(v) + 0.02 * rng.normal() for v in values]))
    expected = record.expected.copy()
    expected[1:] = expected[0] + 1.0
    expected[1] = expected[0] + 0.01 * record.observed_lead
    record = replace(record, expected=expected, probability=np.full(len(expected), 0.5))
    assert "nearly all of its lead" in record.sentence


def test_more_trials_at_random_are_not_asked_of_a_long_run_of_noise() -> None:
    values = drawn(500)
    history = run(values, np.random.default_rng(5).normal(size=500).tolist())
    with pytest.raises(hl.AnalysisError, match="repeat some configurations"):
        hl.confirm(history)
    assert "Interactions of more than" not in hl.importance(history, level=None).meaning


def test_repeats_of_the_best_are_no_trials_that_found_nothing_better() -> None:
    """Half of the run repeats its best: that says of the noise, and nothing of what else there is."""
    values = drawn(40)
    best = min(values, key=cost)
    rng = np.random.default_rng(0)
    costs = [cost(v) + 0.01 * rng.normal() for v in (*values, *[best] * 40)]
    once = hl.forecast(run(values, costs[:40]))
    again = hl.forecast(run([*values, *[best] * 40], costs))
    assert again.gain[0, -1] > once.gain[0, -1] / 4 > 0
    assert again.gain[0, -1] > again.gain[1, -1]


def test_a_winner_that_was_repeated_is_said_so() -> None:
    values = drawn(12) * 3
    rng = np.random.default_rng(6)
    costs = [cost(v) + 0.02 * rng.normal() for v in values]
    history = run(values, costs)
    record = hl.winner(history)
    single = history.best().number
    assert record.best == single % 12 != single
    said = (
        f"of trial {record.best} was measured 3 times, trial {single} among them, with on average"
    )
    assert said in record.reading


def test_what_is_settled_already_is_said_so() -> None:
    values = drawn(40)
    rng = np.random.default_rng(0)
    costs = [cost(v) + 0.02 * rng.normal() for v in values]
    record = hl.confirm(run(values, costs), about="best", trials=5)
    ahead = replace(record, low=np.full(len(record.rows), 0.1))
    assert f"ahead of all {len(record.rows)} rivals already" in ahead.sentence
    low, high = np.full(len(record.rows), -0.1), np.full(len(record.rows), 0.01)
    low[0], high[0] = -0.3, -0.2
    low[1] = -0.05
    behind = replace(record, low=low - np.r_[9.0, np.zeros(len(low) - 1)], high=high)
    other = record.rows[0].rpartition(" over ")[2]
    assert behind.sentence.startswith(f"At 90{FIXED}% {other} is better than the best observed")
    assert behind.widest != 0  # what may be either way is told, however wide what is settled
    either = replace(record, low=low - 1.0, high=np.full(len(low), 0.1))
    assert "already" not in either.sentence
