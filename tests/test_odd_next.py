"""Odd runs, and what is said of what to do next: promises are kept, and no card contradicts another."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import hyperlens as hl
from hyperlens.explain.next.failing import would_fail

LR = hl.Parameter("lr", "float", 1e-5, 1, log=True)
DROP = hl.Parameter("drop", "float", 0, 0.6)
OPT = hl.Parameter("opt", "categorical", choices=("adam", "sgd", "lion"))
SPACE = hl.Space.of([LR, DROP, OPT])
COST = {"adam": 0.0, "sgd": 0.05, "lion": 0.02}


def cost(values: dict[str, Any]) -> float:
    lr = (math.log10(values["lr"]) + 3) ** 2
    return float(0.2 + 0.06 * lr + 0.1 * abs(values["drop"] - 0.2) + COST[values["opt"]])


def run(
    count: int, costs: Callable[[dict[str, Any]], float] = cost, seed: int = 0, **fixed: Any
) -> hl.History:
    values = [{**v, **fixed} for v in SPACE.decode(SPACE.sample(count, seed))]
    trials = [hl.Trial(k, v, (float(costs(v)),)) for k, v in enumerate(values)]
    return hl.History(SPACE, (hl.Objective("loss"),), tuple(trials))


def test_costs_that_only_repeats_tell_are_not_predicted() -> None:
    """25 configurations with costs of their own, each measured five times."""
    rng = np.random.default_rng(0)
    values = SPACE.decode(SPACE.sample(25, 0))
    own = rng.normal(size=25)
    trials = [hl.Trial(k, values[k % 25], (own[k % 25] + 0.05 * rng.normal(),)) for k in range(125)]
    history = hl.History(SPACE, (hl.Objective("loss"),), tuple(trials))
    for surrogate in ("additive", "gp", "forest"):
        record = hl.importance(history, surrogate=surrogate)
        assert record.quality.r2 < 0.3
        assert record.verdict.word == "do not trust"


def test_no_trial_is_proposed_where_by_a_rule_all_failed() -> None:
    space = hl.Space.of([*SPACE.parameters, hl.Parameter("width", "integer", 8, 1024, log=True)])
    values = space.decode(space.sample(150, 5))
    lowest = min(v["lr"] for v in values if v["opt"] == "sgd" and v["lr"] > 0.03)
    trials = [
        hl.Trial(k, v, (math.nan if v["opt"] == "sgd" and v["lr"] > 0.03 else cost(v),))
        for k, v in enumerate(values)
    ]
    history = hl.History(space, (hl.Objective("loss"),), tuple(trials))
    failing = [v for v in space.decode(space.sample(2048, 1)) if v["opt"] == "sgd"]
    failing = [v for v in failing if v["lr"] > lowest]
    assert would_fail(history, space.encode(failing), None, 0).all()
    for c in hl.confirm(history, trials=20).configurations:
        assert not (c["opt"] == "sgd" and c["lr"] > lowest)


def test_what_is_promised_of_an_interval_is_its_width() -> None:
    """One level was tried: what the others do may be anything, and one trial of each tells."""
    history = run(60, opt="adam")
    settling = hl.confirm(history, trials=8)
    assert settling.rows[settling.widest] == "opt"
    wide = 100 * (settling.expected_high - settling.expected_low)[settling.widest]
    points = f"to about {wide:.2g}\N{NO-BREAK SPACE}points, such as "
    assert points in settling.sentence
    more = [
        hl.Trial(60 + k, dict(c), (cost(dict(c)),)) for k, c in enumerate(settling.configurations)
    ]
    done = hl.confirmed(replace(history, trials=(*history.trials, *more)), trials=8)
    k = done.widest
    assert not done.expected_low[k] <= done.after[k] <= done.expected_high[k]  # nobody knew where
    assert done.after_high[k] - done.after_low[k] < 0.1
    assert "points wide, where about" in done.sentence


def test_trials_that_find_what_nobody_knew_widen_an_interval() -> None:
    history = run(40)
    again = hl.confirm(history, trials=10)
    more = [
        hl.Trial(40 + k, dict(c), (cost(dict(c)) + 2 * (k % 2),))
        for k, c in enumerate(again.configurations)
    ]
    done = hl.confirmed(replace(history, trials=(*history.trials, *more)), trials=10)
    assert "found what those before did not show, and widened" in done.sentence


def test_of_a_parameter_with_one_value_no_effect_is_known() -> None:
    effect = hl.effect(run(60, opt="adam"), "opt")
    assert effect.verdict.word == "do not trust"
    assert effect.sentence.startswith("Not known, only a guess")
    assert "one value in all analysed trials" in effect.verdict.sentence


def test_an_effect_whose_mean_is_known_may_be_acted_on() -> None:
    """Where single predictions are unsure since a part of the space was hardly tried, the mean of a
    category is known all the same: the advice to fix it and its effect say one thing."""
    rng = np.random.default_rng(0)
    history = run(120, lambda v: math.nan if v["lr"] > 0.1 else cost(v) + 0.005 * rng.normal())
    effect, advice = hl.effect(history, "opt"), hl.advise(history)
    assert effect.width > effect.change > effect.unsure
    assert advice.actions[advice.parameters.index("opt")] == "fix"
    assert effect.verdict.word == "trust"
    assert "is itself known to ±" in effect.sentence


@pytest.mark.parametrize("count", [1, 2, 5])
def test_few_trials_prove_nothing_wherever_they_lie(count: int) -> None:
    history = run(count)
    for record in (hl.importance(history), hl.effect(history, "lr"), hl.effect(history, "opt")):
        assert record.verdict.reason.endswith(("proves nothing", "prove nothing"))
        assert not any("lie" in reason for reason in record.verdict.besides)


def test_shares_that_round_to_nothing_do_not_follow() -> None:
    rng = np.random.default_rng(0)
    history = run(80, lambda v: (math.log10(v["lr"]) + 3) ** 2 + 0.001 * rng.normal())
    importance, pairs = hl.importance(history), hl.interactions(history)
    assert importance.sentence.startswith("lr mattered most")
    assert "followed by" not in importance.sentence
    assert pairs.sentence.startswith("No pair has a tenth of a percent of the variance.")


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e9])
def test_no_sentence_depends_on_the_unit_of_a_cost(scale: float) -> None:
    history = run(60, lambda v: scale * cost(v))
    tuning = hl.tunability(history)
    assert "tuning all parameters takes" in tuning.sentence
    assert hl.advise(history).actions == hl.advise(run(60)).actions


def test_advice_names_values_and_heeds_where_the_search_has_been() -> None:
    """All but a few trials are at one end of lr: to cut the rest is advice with a caution."""
    values = SPACE.decode(SPACE.sample(80, 0))
    for k, v in enumerate(values[3:]):
        v["lr"] = float(10 ** (-4 + k / 77))
    trials = [hl.Trial(k, v, (cost(v),)) for k, v in enumerate(values)]
    advice = hl.advise(hl.History(SPACE, (hl.Objective("loss"),), tuple(trials)))
    assert advice.verdict.word == "caution"
    assert "lr" in advice.verdict.reason
    lr = advice.parameters.index("lr")
    assert f"narrow lr to {advice.after[lr]}" in advice.sentence


def test_a_step_against_the_way_is_said_to_go_back() -> None:
    history = run(60)
    source = {"lr": 0.5, "drop": 0.2, "opt": "adam"}
    said = hl.ablation(history, source, {"lr": 1e-3, "drop": 0.2, "opt": "sgd"}).sentence
    assert "'lr' does most of it, 0." in said
    assert ", and 'opt' takes 0." in said
    assert said.endswith(" back.")
