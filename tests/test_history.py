"""Histories: what counts, in which direction, and what is said of the rest."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
import pytest
from ConfigSpace import ConfigurationSpace, ForbiddenAndConjunction, ForbiddenEqualsClause
from hypothesis import given
from hypothesis import strategies as st

from hyperlens.errors import AnalysisError, SpaceError
from hyperlens.runs.history import History, Objective, State, Trial
from hyperlens.spaces.parameter import Parameter
from hyperlens.spaces.space import Space

SPACE = Space.of([Parameter("x", "float")], inferred=["The range of 'x' was taken from the data."])
LOSS = Objective("loss")
ACCURACY = Objective("accuracy", maximize=True)


def run(
    costs: Sequence[float], states: Sequence[State] = (), objective: Objective = LOSS
) -> History:
    states = states or [State.COMPLETE] * len(costs)
    trials = [
        Trial(10 + i, {"x": (i + 0.5) / len(costs)}, (c,), s)
        for i, (c, s) in enumerate(zip(costs, states, strict=True))
    ]
    return History(SPACE, (objective,), tuple(trials))


MESSY = run(
    [3.0, 1.0, math.nan, 2.0, -math.inf, 0.0, 0.5, math.nan, 2.5],
    [
        State.COMPLETE,
        State.FAILED,
        State.FAILED,
        State.COMPLETE,
        State.COMPLETE,
        State.PRUNED,
        State.RUNNING,
        State.COMPLETE,
        State.COMPLETE,
    ],
)


def one_sentence(refusal: pytest.ExceptionInfo[Exception], *parts: str) -> None:
    message = str(refusal.value)
    assert all(part in message for part in parts), message
    assert message.endswith(".")
    assert not re.search(r"\.\s|\n", message), "more than one sentence"


def test_counts_of_states() -> None:
    assert {s: MESSY.count(s) for s in State} == {
        State.COMPLETE: 5,
        State.FAILED: 2,
        State.PRUNED: 1,
        State.RUNNING: 1,
    }
    assert [str(s) for s in State] == ["complete", "pruned", "failed", "running"]


def test_arrays_hold_complete_trials_with_finite_costs_only() -> None:
    data = MESSY.data()
    assert data.rows.tolist() == [0, 3, 8]
    assert data.y.tolist() == [3.0, 2.0, 2.5]
    assert data.X.ravel() == pytest.approx([0.5 / 9, 3.5 / 9, 8.5 / 9], abs=1e-15)
    assert len(MESSY.vectors) == 9


def test_asking_twice_costs_once() -> None:
    assert MESSY.data() is MESSY.data()
    assert run([1.0]).memory == {}
    assert run([1.0]) == run([1.0])  # what was computed is no part of the comparison


def test_warnings_count_what_was_left_out_in_plain_words() -> None:
    assert MESSY.warnings() == [
        "The range of 'x' was taken from the data.",
        "2 of 9 trials failed and were left out.",
        "1 of 9 trials was pruned before it had a final cost: best and trace are of the others.",
        "1 of 9 trials is still running and was left out.",
        "2 of 9 trials ended with a 'loss' that is not a finite number and were left out.",
    ]


def test_warnings_begin_with_what_the_reader_noticed() -> None:
    history = History(SPACE, (LOSS,), (Trial(0, {"x": 0.5}, (1.0,)),), notes=("A note.",))
    assert history.warnings() == ["A note.", *SPACE.inferred]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, 1.0, 2.5, -3.0, math.nan, math.inf]), st.sampled_from(State)
        ),
        min_size=1,
        max_size=12,
    )
)
def test_what_is_analysed_and_what_is_warned_of_make_up_the_run(
    trials: list[tuple[float, State]],
) -> None:
    history = run([c for c, _ in trials], [s for _, s in trials])
    warned = sum(int(text.split()[0]) for text in history.warnings()[len(SPACE.inferred) :])
    kept = [c for c, s in trials if s is State.COMPLETE and math.isfinite(c)]
    assert warned + len(kept) == len(trials)
    if kept:
        assert history.data().y.tolist() == kept
    else:
        with pytest.raises(AnalysisError, match=f"None of the {len(trials)} trials"):
            history.data()


# --- objectives -------------------------------------------------------------------------------

BOTH = History(
    SPACE,
    (LOSS, ACCURACY),
    tuple(
        Trial(i, {"x": 0.1 * i}, costs)
        for i, costs in enumerate([(1.0, 0.5), (0.5, 0.9), (0.5, math.nan), (0.7, 0.9)])
    ),
)


def test_objectives_by_name() -> None:
    assert BOTH.objective() is LOSS
    assert BOTH.objective("accuracy") is ACCURACY
    with pytest.raises(AnalysisError) as refusal:
        BOTH.objective("time")
    one_sentence(refusal, "no objective 'time'", "choose one of 'loss', 'accuracy'")
    for ask in (BOTH.data, BOTH.warnings, BOTH.best, BOTH.trace):
        with pytest.raises(AnalysisError, match="no objective 'time'"):
            ask("time")


def test_a_maximised_objective_is_turned_round_and_back() -> None:
    data = BOTH.data("accuracy")
    assert data.y.tolist() == [-0.5, -0.9, -0.9]
    assert data.rows.tolist() == [0, 1, 3]  # the nan is one of this objective only
    assert BOTH.data("loss").rows.tolist() == [0, 1, 2, 3]
    assert [BOTH.shown(float(y), "accuracy") for y in data.y] == [0.5, 0.9, 0.9]
    assert BOTH.shown(0.25) == BOTH.shown(0.25, "loss") == 0.25


def test_each_objective_warns_of_its_own_gaps() -> None:
    assert BOTH.warnings("loss") == list(SPACE.inferred)
    expected = "1 of 4 trials ended with a 'accuracy' that is not a finite number and was left out."
    assert BOTH.warnings("accuracy")[-1] == expected


def test_a_choice_made_for_the_user_is_told() -> None:
    told = [text for text in BOTH.warnings() if text not in BOTH.warnings("loss")]
    assert len(told) == 1
    assert "2 objectives; shown is 'loss', choose 'accuracy'" in told[0]
    assert run([1.0]).warnings() == list(SPACE.inferred)  # one objective leaves no choice


def test_columns_that_did_not_vary() -> None:
    space = Space.of([Parameter(name, "float") for name in "abc"])
    rows = [{"a": 0.1, "b": 0.5}, {"a": 0.2}, {"a": 0.2, "b": 0.5}]
    trials = tuple(Trial(i, row, (0.0,)) for i, row in enumerate(rows))
    assert History(space, (LOSS,), trials).data().unvaried.tolist() == [False, True, True]


def test_the_incumbent_is_the_earliest_of_equals() -> None:
    assert BOTH.best().number == 1
    assert BOTH.best("accuracy").number == 1
    assert MESSY.best().number == 13  # 2.0: the smaller ones did not complete


def test_the_trace_by_hand() -> None:
    assert run([3.0, 4.0, 1.0, 2.0]).trace().tolist() == [3.0, 3.0, 1.0, 1.0]
    assert run([3.0, 4.0, 1.0, 5.0], objective=ACCURACY).trace().tolist() == [3.0, 4.0, 4.0, 5.0]
    assert MESSY.trace().tolist() == [3.0, 2.0, 2.0]


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=15), st.booleans())
def test_the_trace_is_the_best_so_far_in_the_users_direction(
    costs: list[float], maximize: bool
) -> None:
    history = run(costs, objective=Objective("cost", maximize))
    best = max if maximize else min
    trace = history.trace()
    assert trace.tolist() == [best(costs[: i + 1]) for i in range(len(costs))]
    steps = np.diff(trace)
    assert ((steps >= 0) if maximize else (steps <= 0)).all()
    first = history.best()
    assert first.number == 10 + costs.index(best(costs))
    assert first.costs[0] == trace[-1]


# --- refusals ---------------------------------------------------------------------------------


def test_the_wrong_number_of_costs_is_refused() -> None:
    with pytest.raises(AnalysisError) as refusal:
        History(SPACE, (LOSS, ACCURACY), (Trial(7, {"x": 0.5}, (1.0,)),))
    one_sentence(refusal, "Trial 7", "1 costs for 2 objectives", "one cost for each objective")


def test_a_run_without_objective_is_refused() -> None:
    with pytest.raises(AnalysisError) as refusal:
        History(SPACE, (), ())
    one_sentence(refusal, "no objective", "name the column")


def test_a_value_that_does_not_fit_the_space_is_refused() -> None:
    with pytest.raises(SpaceError, match=r"'x' has the value 7\.0 outside its range"):
        History(SPACE, (LOSS,), (Trial(0, {"x": 7.0}, (1.0,)),))


def test_no_trials() -> None:
    empty = History(SPACE, (LOSS,), ())
    assert empty.count(State.COMPLETE) == 0
    assert empty.vectors.shape == (0, 1)
    with pytest.raises(AnalysisError) as refusal:
        empty.data()
    one_sentence(refusal, "no trials", "run some")


def test_nothing_complete() -> None:
    history = run([1.0, 2.0, math.nan], [State.FAILED, State.FAILED, State.COMPLETE])
    for ask in (history.data, history.best, history.trace):
        with pytest.raises(AnalysisError) as refusal:
            ask()
        one_sentence(
            refusal,
            "None of the 3 trials (1 complete, 2 failed)",
            "finite 'loss'",
            "let some trials finish",
        )


def test_the_largest_budget_is_analysed_unless_another_is_asked_for() -> None:
    space = Space.of([Parameter("x", "float", 0.0, 1.0)])
    trials = tuple(
        Trial(i, {"x": i / 10}, (float(i),), budget=1.0 if i < 6 else 9.0) for i in range(10)
    )
    history = History(space, (Objective("loss"),), trials)
    assert history.data().rows.tolist() == [6, 7, 8, 9]
    assert history.best().number == 6
    assert history.best(budget=1.0).number == 0
    assert any("4 of 10" in note and "largest budget, 9" in note for note in history.warnings())
    with pytest.raises(AnalysisError, match="choose one of '1', '9'"):
        history.data(budget=3.0)


def odd() -> History:
    """Names as no terminal and no page should take them, many trials, two objectives."""
    space = Space.of(
        [
            Parameter("<b>lr</b>", "float", 1e-4, 1.0, log=True),
            Parameter("mod\x1b[31mel", "categorical", choices=tuple("abcdefghij")),
        ],
        {"<b>lr</b>": ((("mod\x1b[31mel", "equal", "a"),),)},
        {"fixed": 3},
        ["It was inferred."],
    )
    rows = space.decode(space.sample(3000, 0))
    trials = tuple(
        Trial(k, values, (float(k), -float(k)), State.FAILED if k % 7 == 0 else State.COMPLETE)
        for k, values in enumerate(rows)
    )
    return History(
        space, (Objective("loss"), Objective("gain", maximize=True)), trials, "<i>run</i>"
    )


def test_a_run_shows_itself_in_a_line() -> None:
    history = odd()
    shown = [repr(thing) for thing in (history, history.space, *history.objectives)]
    shown += [repr(history.trials[5]), *map(repr, history.space.parameters)]
    assert all(len(line) < 400 and line.isprintable() for line in shown)
    assert "3000 trials of 2 parameters (2571 complete, 429 failed)" in shown[0]
    assert "loss minimised, best 1 in trial 1" in shown[0]
    assert "gain maximised, best -1 in trial 1" in shown[0]
    assert "1 condition" in shown[1]
    assert shown[2:4] == ["<Objective loss: minimised>", "<Objective gain: maximised>"]
    assert "a, b, c, d, e, f and 4 more" in "".join(shown)
    empty = History(history.space, history.objectives, ())
    assert "0 trials" in repr(empty)


def test_a_run_shows_itself_in_a_notebook() -> None:
    history = odd()
    page = history._repr_html_()
    assert not re.search("<i>run|<b>lr", page)
    for text in ("&lt;b&gt;lr", "It was inferred.", "429 of 3000 trials failed"):
        assert text in page
    best = history.best().values
    assert all(f"<td>{value}</td>" in page for value in best.values() if isinstance(value, str))
    assert "<th>best</th>" in page
    assert "<th>best</th>" not in History(history.space, history.objectives, ())._repr_html_()
    frame = history.space.frame
    assert list(frame["parameter"]) == [*history.space.names, "fixed"]
    assert list(frame["active when"]).count(None) == 2


def test_a_space_says_what_it_forbids() -> None:
    space = ConfigurationSpace({"a": (1, 9), "b": ["x", "y"]})
    space.add(
        ForbiddenAndConjunction(
            ForbiddenEqualsClause(space["a"], 3), ForbiddenEqualsClause(space["b"], "y")
        )
    )
    page = Space(space)._repr_html_()
    assert "Forbidden: (a == 3 and b == &#x27;y&#x27;)" in page
