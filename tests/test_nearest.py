"""One trial among the others: the nearest better one by brute force, and what is said of it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyperlens as hl
from hyperlens.explain.next.nearest import nearest_better, said_of
from hyperlens.sections.trials.one_trial import trial_card
from hyperlens.spaces.clauses import Clauses

SPACE = hl.Space.of(
    [
        hl.Parameter("x", "float", 0, 10),
        hl.Parameter("lr", "float", 1e-4, 1.0, log=True),
        hl.Parameter("kind", "categorical", choices=("a", "b", "c")),
    ]
)

trial = st.tuples(
    st.integers(0, 10), st.integers(-4, 0), st.sampled_from("abc"), st.integers(0, 3) | st.none()
)


def run(rows: Sequence[tuple[int, int, str, int | None]], maximize: bool = False) -> hl.History:
    trials = [
        hl.Trial(
            7 + k,
            {"x": float(x), "lr": 10.0**lr, "kind": kind},
            (math.nan if cost is None else float(cost),),
            hl.State.FAILED if cost is None else hl.State.COMPLETE,
        )
        for k, (x, lr, kind, cost) in enumerate(rows)
    ]
    return hl.History(SPACE, (hl.Objective("loss", maximize),), tuple(trials))


def apart(a: tuple[int, int, str, int | None], b: tuple[int, int, str, int | None]) -> float:
    return abs(a[0] - b[0]) / 10 + abs(a[1] - b[1]) / 4 + (a[2] != b[2])


@given(st.lists(trial, min_size=1, max_size=12), st.booleans())
def test_the_nearest_better_one_by_brute_force(
    rows: list[tuple[int, int, str, int | None]], maximize: bool
) -> None:
    record = hl.trials(run(rows, maximize))
    sign = -1 if maximize else 1
    for k, found in enumerate(nearest_better(record, range(len(rows)))):
        own = rows[k][3]
        better = [
            j for j, row in enumerate(rows)
            if row[3] is not None and (own is None or sign * row[3] < sign * own)
        ]  # fmt: skip
        if not better:
            assert found is None
            continue
        assert found in better
        nearest = min(apart(rows[k], rows[j]) for j in better)
        assert apart(rows[k], rows[found]) == pytest.approx(nearest, abs=1e-9)
        assert said_of(record, k, found).startswith(f"Trial {7 + k} ")


def test_parameters_that_are_off_in_one_trial_are_one_apart() -> None:
    given = [
        hl.Parameter("x", "float", 0, 1),
        hl.Parameter("kind", "categorical", choices=("a", "b")),
        hl.Parameter("child", "float", 0, 1),
        hl.Parameter("sub", "categorical", choices=("p", "q", "r")),
    ]
    when: Clauses = ((("kind", "equal", "b"),),)
    space = hl.Space.of(given, {"child": when, "sub": when})
    values = space.decode(space.sample(40, 3))
    trials = tuple(hl.Trial(k, v, (float(40 - k),)) for k, v in enumerate(values))
    record = hl.trials(hl.History(space, (hl.Objective("loss"),), trials))

    def off(a: object, b: object) -> float:
        if a is None or b is None or isinstance(a, str):
            return float(a != b)
        return abs(float(a) - float(b))  # type: ignore[arg-type]  # numbers by now

    for k, found in enumerate(nearest_better(record, range(39))):
        away = [
            sum(off(values[k].get(n), values[j].get(n)) for n in space.names)
            for j in range(k + 1, 40)
        ]
        assert found is not None
        assert away[found - k - 1] == pytest.approx(min(away), abs=1e-12)


def test_what_is_said_of_a_trial() -> None:
    record = hl.trials(run([(1, -2, "a", 3), (2, -2, "b", 2), (1, -1, "b", 1), (9, -4, "c", None)]))
    better = nearest_better(record, range(4))
    assert better == [1, 2, None, 1]
    assert said_of(record, 0, 1) == (
        "Trial 7 reached a loss of 3, place 3 of 3. The nearest better one, trial 8, has 2: "
        "kind b instead of a, x 2 instead of 1."
    )
    assert said_of(record, 2, None) == "Trial 9 reached a loss of 1, place 1 of 3."
    assert said_of(record, 3, 1).startswith(
        "Trial 10 is failed and has no loss. The nearest better"
    )


def test_of_very_many_trials_the_best_and_the_latest_are_told() -> None:
    rng = np.random.default_rng(0)
    rows = [(int(x), -2, "a", int(y)) for x, y in rng.integers(1, 10, (1200, 2))]
    rows[3] = (0, -2, "a", 0)
    card = trial_card(hl.trials(run(rows)))
    assert card.trials is not None
    numbers = [told["number"] for told in card.trials["told"]]
    assert len(numbers) <= 1001
    assert card.trials["first"] == 10
    assert {10, 1206, 7 + 1199} <= set(numbers)
