"""The story of a search over models, by hand: true reasons, ties, limits, failures."""

from __future__ import annotations

from typing import Any

import pytest

from hyperlens import History, Objective, Parameter, Space, State, Trial
from hyperlens.cash.results.model_search import furthest, model_search
from hyperlens.cash.results.one_model import one_model
from hyperlens.proposal import Proposal

THIRD = 1 / 3
OWN = ("a:x", "a:y", "b:x", "c:x")


def space() -> Space:
    """Three models of two, one and one hyperparameters: chances 1/2, 1/4, 1/4."""
    return Space.of(
        [
            Parameter("model", "categorical", choices=("a", "b", "c")),
            *(Parameter(name, "float", 0.0, 1.0, default=0.5) for name in OWN),
        ],
        {name: ((("model", "equal", name[0]),),) for name in OWN},
    )


def trial(
    model: str,
    x: float,
    budget: float = 1.0,
    rung: int = 0,
    state: State = State.COMPLETE,
    **more: Any,
) -> dict[str, Any]:
    values = {"model": model, **{n: x for n in OWN if n[0] == model}}
    cost = float("nan") if state is State.FAILED else x
    proposal = Proposal(rung=rung, budget=budget, **more)
    return {
        "values": values,
        "costs": (cost,),
        "state": state,
        "budget": budget,
        "proposer": "hyperband",
        "reason": "took longer than 1 s" if state is State.FAILED else None,
        "proposal": proposal,
    }


def history(*trials: dict[str, Any]) -> History:
    made = tuple(Trial(number=k, **t) for k, t in enumerate(trials))
    return History(space(), (Objective("loss"),), made)


RUN = (
    trial("b", 0.5),  # its default, at once
    trial("b", 0.2, rung=1),
    trial("b", 0.1, rung=1),
    trial("a", 0.5),
    trial("a", 0.6, THIRD, state=State.PRUNED),
    trial("a", 0.7, THIRD, state=State.PRUNED),
    trial("a", 0.9, rung=1, state=State.FAILED),
    trial("a", 0.3, THIRD, state=State.FAILED),
)


def told(
    *trials: dict[str, Any], evaluations: float | None = None, sampling: Any = "weighted"
) -> str:
    record = model_search(history(*trials), sampling, evaluations)
    return " ".join((*record.story, *record.notes))


def test_why_evaluations_went_where_they_went() -> None:
    """b: 1 + 2 (1 + 1/3) = 11/3; a: 1 + 2/3 + 4/3 + 1/3 = 10/3; 7 in all."""
    record = model_search(history(*RUN))
    assert record.models == ("b", "a", "c")
    assert record.spent == pytest.approx([11 / 3, 10 / 3, 0])
    assert record.at_once.tolist() == [1, 1, 0]
    assert record.promoted.tolist() == [2, 1, 0]
    assert record.by_default == (True, True, False)
    said = told(*RUN)
    assert (
        "b got most of the evaluations, 52% of 7 full ones: it had 3 of the 8 configurations tried "
        "(38%; a draw takes it with 25%, twice as often with each of its hyperparameters, of which it "
        "has 1); 1 of them went to all rows at once, its default among them, and 2 of the 3 promoted "
        "ones were its." in said
    )
    moved = [trial("b", 0.4), *RUN[1:]]
    assert "went to all rows at once, and 2 of the 3" in told(*moved)


def test_what_failed_was_not_measured_on_all_rows() -> None:
    record = model_search(history(*RUN))
    assert record.reached.tolist() == [[3, 3, 3], [5, 4, 1], [0, 0, 0]]
    said = told(*RUN)
    assert "Of 8 configurations, 4 were measured on all rows (b 3, a 1)." in said
    assert "2 evaluations failed and count as worst: 2 x took longer than 1 s." in said
    alone = model_search(history(trial("a", 0.1), trial("b", 0.2, state=State.FAILED)))
    assert alone.reached.tolist() == [[1, 1], [1, 0], [0, 0]]


def test_a_search_that_never_came_to_all_rows() -> None:
    cut = [trial("a", 0.1 * k, THIRD, state=State.PRUNED) for k in range(1, 4)]
    record = model_search(history(*cut))
    assert record.reached[:, -1].sum() == 0
    assert "Of 3 configurations, 0 were measured on all rows." in told(*cut)


def test_ties_are_said_as_ties() -> None:
    said = told(trial("a", 0.5), trial("b", 0.4), trial("c", 0.1, THIRD, state=State.PRUNED))
    assert "b and a got most of the evaluations, 43% of 2.333 full ones each." in said
    assert "a: it had 1 of the 3 configurations tried (33%; a draw takes it with 50%" in said


@pytest.mark.parametrize(
    ("evaluations", "said"),
    [
        (None, "Never drawn: c; more evaluations or more time would reach them."),
        (7, "Never drawn: c; more evaluations would reach them."),
        (99, "Never drawn: c; more time would reach them, for only 7 of 99 full evaluations were"),
    ],
)
def test_what_would_reach_the_others(evaluations: float | None, said: str) -> None:
    assert said in told(*RUN, evaluations=evaluations)


def test_the_rule_of_the_draw_is_that_of_the_search() -> None:
    assert "a draw takes it with 33%, like any other" in told(*RUN, sampling="uniform")
    assert "by the size of its space" in told(*RUN, sampling="volume")
    assert "a draw takes it with 80%, as you asked" in told(
        *RUN, sampling={"a": 0.1, "b": 0.8, "c": 0.1}
    )
    whole = [trial("a", 0.1 * k, kind="proposed", surrogate="forest") for k in range(1, 4)]
    assert (
        "it had 3 of the 4 configurations tried (75%), of which the surrogate, expecting most there, "
        "proposed 3." in told(*whole, trial("b", 0.9))
    )


def test_one_model_has_a_story_too() -> None:
    alone = Space.of([Parameter("a:x", "float", 0.0, 1.0)], constants={"model": "a"})
    trials = tuple(Trial(k, {"a:x": 0.1 * k}, (0.1 * k,), budget=1.0) for k in range(3))
    run = History(alone, (Objective("loss"),), trials)
    record = model_search(run)
    assert (record.models, record.weights.tolist()) == (("a",), [1.0])
    assert furthest(run)[0].values == {"model": "a", "a:x": 0.0}
    assert (*record.story, *record.notes) == (
        "The best configuration of a has a loss of 0.",
        "All 3 full evaluations went to a, the only model.",
    )
    assert one_model(run, "a").space.names == ("a:x",)
    assert len(one_model(run, "a").trials) == 3
