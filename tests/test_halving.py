"""Successive halving, Hyperband and the asynchronous form, against schedules and brute force."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperlens as hl
from hyperlens.optimize.optimizers.halving import Asynchronous, Halving, Hyperband
from hyperlens.optimize.optimizers.protocol import Candidate

SPACE = hl.Space.of([hl.Parameter("x", "float", 0.0, 1.0), hl.Parameter("k", "integer", 1, 1000)])


def cost(candidate: Candidate) -> float:
    """A cost whose noise shrinks with the budget; the same for the same evaluation."""
    x = candidate.values["x"]
    return float((x - 0.3) ** 2 + 0.01 * math.sin(1000 * x) / budget(candidate))


def budget(candidate: Candidate) -> float:
    assert candidate.proposal.budget is not None
    return candidate.proposal.budget


def run(search: Any, order: Callable[[list[Candidate]], int], workers: int) -> list[Candidate]:
    """All candidates; `order` chooses which of those out is told next."""
    out: list[Candidate] = []
    found: list[Candidate] = []
    while True:
        while len(out) < workers and (candidate := search.ask()) is not None:
            out.append(candidate)
            found.append(candidate)
        if not out:
            return found
        done = out.pop(order(out))
        search.tell(done.values, cost(done), budget(done))


def key(candidate: Candidate) -> tuple[float, float, int]:
    return budget(candidate), candidate.values["x"], candidate.values["k"]


def test_rungs_hold_what_the_schedule_says() -> None:
    search = Hyperband(SPACE, trials=99)
    found = run(search, lambda out: 0, 1)
    assert Counter(budget(p) for p in found) == {1 / 9: 99, 1 / 3: 33 + 49, 1.0: 11 + 16 + 33}
    assert len(found) == search.evaluations
    assert search.ask() is None


def test_each_rung_is_the_best_of_the_one_below() -> None:
    found = run(Halving(SPACE, trials=27, eta=3), lambda out: 0, 1)
    rungs = [[p for p in found if budget(p) == r] for r in (1 / 9, 1 / 3, 1.0)]
    assert [len(r) for r in rungs] == [81, 27, 9]
    for below, above in pairwise(rungs):
        best = sorted(below, key=cost)[: len(above)]
        assert {p.values["x"] for p in above} == {p.values["x"] for p in best}


@settings(max_examples=15)
@given(st.integers(1, 9), st.integers(0, 10**6), st.booleans())
def test_workers_and_their_order_change_nothing(workers: int, seed: int, halving: bool) -> None:
    build = Halving if halving else Hyperband
    plain = run(build(SPACE, trials=18, seed=3), lambda out: 0, 1)
    rng = np.random.default_rng(seed)
    other = run(build(SPACE, trials=18, seed=3), lambda out: int(rng.integers(len(out))), workers)
    assert Counter(map(key, plain)) == Counter(map(key, other))


@settings(max_examples=15)
@given(st.integers(0, 60), st.integers(0, 3), st.integers(0, 10**6))
def test_told_again_it_goes_on_as_before(told: int, running: int, seed: int) -> None:
    """A second search that is told what the first one was, in any order, asks for the rest."""
    first = run(Hyperband(SPACE, trials=18, seed=1), lambda out: 0, 1)
    told = min(told, len(first))
    second = Hyperband(SPACE, trials=18, seed=1)
    rng = np.random.default_rng(seed)
    known = [first[k] for k in rng.permutation(told)]
    known.sort(key=lambda p: budget(p))  # a rung cannot end before the one below it
    for p in known:
        second.tell(p.values, cost(p), budget(p))
    expected = first[told : told + running]
    if told + running <= 27:  # these were out while the first rung was still open
        for p in expected:
            second.expect(p.values, budget(p))
            second.tell(p.values, cost(p), budget(p))
        told += len(expected)
    rest = run(second, lambda out: 0, 1)
    assert Counter(map(key, rest)) == Counter(map(key, first[told:]))


def test_failures_are_never_promoted() -> None:
    search = Halving(SPACE, trials=9)
    seen = []
    while (p := search.ask()) is not None:
        seen.append(p)
        bad = p.values["x"] < 0.5
        search.tell(p.values, math.nan if bad else cost(p), budget(p))
    assert all(p.values["x"] >= 0.5 for p in seen if budget(p) == 1.0)
    assert any(p.values["x"] < 0.5 for p in seen)


def test_a_search_whose_every_evaluation_fails_ends() -> None:
    search = Halving(SPACE, trials=9)
    count = 0
    while (p := search.ask()) is not None:
        search.tell(p.values, math.nan, budget(p))
        count += 1
    assert count == 27


def test_asynchronous_promotes_only_the_best_known_and_keeps_its_budget() -> None:
    search = Asynchronous(SPACE, trials=30, seed=2)
    rng = np.random.default_rng(0)
    out: list[Candidate] = []
    costs: dict[float, dict[float, float]] = {}
    spent = 0.0
    while True:
        while len(out) < 4 and (p := search.ask()) is not None:
            spent += budget(p)
            if budget(p) > 1 / 9 + 1e-9:
                below = costs[round(budget(p) / 3, 6)]
                rank = sorted(below.values()).index(below[p.values["x"]])
                assert rank < len(below) // 3
            out.append(p)
        if not out:
            break
        done = out.pop(int(rng.integers(len(out))))
        costs.setdefault(round(budget(done), 6), {})[done.values["x"]] = cost(done)
        search.tell(done.values, cost(done), budget(done))
    assert 28 < spent <= 30 + 1e-9
    assert len(costs[1.0]) >= 5


def test_asynchronous_goes_on() -> None:
    """Told what is known, a second one proposes the same next."""
    first = Asynchronous(SPACE, trials=12)
    done: list[Candidate] = []
    while (p := first.ask()) is not None:
        if len(done) % 7 == 0:
            second = Asynchronous(SPACE, trials=12)
            for known in done:
                second.tell(known.values, cost(known), budget(known))
            q = second.ask()
            assert q is not None
            assert key(q) == key(p)
        first.tell(p.values, cost(p), budget(p))
        done.append(p)
    assert len(done) > 20


@pytest.mark.parametrize("build", [Halving, Hyperband])
def test_a_budget_too_small_is_said(build: Any) -> None:
    with pytest.raises(hl.HyperlensError, match=r"^2 trials at full budget are too few"):
        build(SPACE, trials=2)
