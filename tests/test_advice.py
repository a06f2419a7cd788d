"""What a report advises: consistent with itself, and in the words of a model search where it is one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from analyses import HIGH, analysis, changed, effect, spending, trials
from views import ahead, next_space

from hyperlens.explain.importance.importance import Importance
from hyperlens.explain.models.verdict import judge, of_surrogate
from hyperlens.sections.advice import what_next
from hyperlens.sections.analysis import Analysis
from hyperlens.sections.explanation import Unavailable
from hyperlens.sections.parameters.importance import IMPORTANCE
from hyperlens.sections.run.overview import OVERVIEW, TRIALS
from hyperlens.sections.surrogates import Surrogates
from hyperlens.surrogates.quality import Word

SLOW = "took longer than 4 s"
MORE = ("Run more", "Run about", "Run at least", "Go on", "Search on")
STOP = ("or stop",)


def run(
    count: int = 40,
    best: int = 0,
    verdict: Word = "trust",
    failed: int = 0,
    reasons: tuple[str | None, ...] = (None,),
) -> Analysis:
    """So many analysed trials, the best of which comes at a place, and some that failed."""
    made = analysis()
    cost = np.linspace(1.0, 2.0, count)
    cost[best] = 0.4
    states = ("failed",) * failed + ("complete",) * count
    told = tuple(reasons[k % len(reasons)] for k in range(failed)) + (None,) * count
    overview = replace(
        made[OVERVIEW],
        number=np.arange(count),
        cost=cost,
        best_trial=best,
        trace=np.minimum.accumulate(cost),
    )
    whole = replace(
        trials(),
        state=states,
        reason=told,
        values=((0.1,) * len(states), ("adam", "sgd", "adam") * len(states), (None,) * len(states)),
    )
    quality = replace(HIGH, verdict=verdict, trials=count, r2=0.5)
    shares = made[IMPORTANCE]
    assert isinstance(shares, Importance)
    parts: dict[str, Any] = {
        "surrogates": Surrogates((quality,), "gp", ()),
        "importance": replace(shares, verdict=judge([of_surrogate(quality)])),
        "effects": (),
        "advice": Unavailable("advice", "Nothing is known."),
        "forecast": Unavailable("forecast", "Too few trials."),
    }
    if count >= 20:
        parts["forecast"] = replace(ahead(), error=0.15 if 2 * best > count else 0.5)
    return changed(made, overview=overview, trials=whole, **parts)


def of_models(made: Analysis) -> Analysis:
    """The same run as a search over two models."""
    overview = replace(made[OVERVIEW], best_values={"model": "adam"}, parameters=("model",))
    whole = replace(made[TRIALS], parameters=("lr", "model", "momentum"))
    models = replace(spending(), choice="model")
    return changed(made, overview=overview, trials=whole, spending=models)


def advice(made: Analysis) -> str:
    return " ".join(what_next(made))


def test_failures_are_named_with_their_reason() -> None:
    unknown = advice(run(failed=20))
    assert "20 of 60 trials failed: find out why before anything else" in unknown
    raised = advice(run(failed=20, reasons=("no memory", "no memory", "no disk", SLOW)))
    assert "20 of 60 trials failed, 10 of them because of: no memory. Mend that first" in raised
    slow = advice(run(failed=20, reasons=(SLOW, SLOW, "no memory")))
    assert f"14 of them because one {SLOW}: allow each more time (--timeout)." in slow
    assert "find out why" not in raised + slow
    assert "failed" not in advice(run(failed=2))
    models = advice(of_models(run(failed=9, reasons=(SLOW,))))
    assert "9 of 49 trials failed (adam 6, sgd 3)" in models
    assert "allow each more time (--timeout)" in models


@pytest.mark.parametrize("count", [1, 3, 19, 20, 60])
@pytest.mark.parametrize("verdict", ["trust", "caution", "do not trust", None])
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("models", [False, True])
def test_nobody_is_told_to_run_more_and_to_stop(
    count: int, verdict: Any, late: bool, models: bool
) -> None:
    made = run(count, count - 1 if late else 0, verdict or "trust")
    if verdict is None:
        nothing = Unavailable("importance", "There is too little.")
        made = changed(made, surrogates=Surrogates((), "forest", ()), importance=nothing)
    told = advice(of_models(made) if models else made)
    more, stop = (any(word in told for word in words) for words in (MORE, STOP))
    assert more != stop
    trusted = verdict == "trust" or (models and verdict == "caution")
    assert stop == (count >= 20 and trusted and not late)


def test_the_space_is_what_the_record_says() -> None:
    late = run(best=39)
    told = advice(changed(late, advice=next_space()))
    assert "Search a changed space next: fix opt at a; narrow lr to " in told
    assert "Go on: 100 more trials of a search by a model would lower the true loss by 0.4" in told
    doubtful = replace(next_space(), verdict=replace(next_space().verdict, word="do not trust"))
    assert "changed space" not in advice(changed(late, advice=doubtful))


def test_a_search_that_may_stop_goes_on_only_where_its_space_gets_wider() -> None:
    ended = run()
    assert "expected to gain 0.4, less than the standard error of one loss, 0.5" in advice(ended)
    assert "or stop" in advice(changed(ended, advice=next_space()))
    wider = replace(next_space(), actions=("widen", "fix"))
    told = advice(changed(ended, advice=wider))
    assert "Search a changed space next: fix opt at a; widen lr to " in told
    assert "stop" not in told


def test_a_forecast_that_says_stop_is_heeded_with_several_objectives() -> None:
    late = run(best=39)  # its best came last, and yet nothing is expected of more
    two = replace(late[OVERVIEW], others=("latency",))
    told = advice(changed(late, overview=two, forecast=replace(ahead(), error=0.5)))
    assert "less than the standard error of one loss, 0.5." in told
    assert "Look at latency too (--objective), or stop." in told
    assert "Go on" not in told


def test_a_model_search_is_advised_on_models() -> None:
    told = advice(of_models(run()))
    assert "adam leads, with a loss of 0.4" in told
    assert "Search adam alone, or stop." in told
    assert "Widen" not in told
    late = of_models(run(best=39))  # its best came last, and yet nothing is expected of more
    assert "Search on" in advice(late)
    ended = advice(changed(late, forecast=replace(ahead(), error=0.5)))
    assert "less than the standard error of one loss, 0.5. Search adam alone, or stop." in ended
    assert "Search on" not in ended
    spent = replace(
        spending(),
        choice="model",
        models=("a", "b", "poor", "never", "new"),
        trials=np.array([[3, 2], [3, 2], [4, 1], [6, 0], [4, 0]]),
        best=np.array([[0.6, 0.5], [0.6, 0.4], [0.9, 1.9], [0.9, np.nan], [0.9, np.nan]]),
    )
    made = changed(of_models(run()), spending=spent)
    told = advice(made)
    assert "b leads, with a loss of 0.4, before a with 0.5; leave out poor and never next" in told
    few = advice(changed(of_models(run(10)), spending=spent))
    assert "b leads, with a loss of 0.4, before a with 0.5. Search on, with more evaluations" in few
    larger = replace(spent, maximize=True)
    assert "poor leads, with a loss of 1.9, before a with 0.5" in advice(
        changed(made, spending=larger)
    )


def test_what_the_best_trial_lacks_is_not_to_be_tried() -> None:
    """The best value of a parameter that only a worse model has is no place to look next."""
    nothing = Unavailable("advice", "Nothing is known.")
    made = changed(analysis(), advice=nothing, trials=replace(trials(), state=("complete",) * 4))
    untested = replace(effect("lr"), support=np.array([1.0, 0.0, 1.0, 1.0]))
    assert "Try lr near 2" in " ".join(what_next(changed(made, effects=(untested,))))
    inactive = replace(untested, best_values=None)
    assert "Try" not in " ".join(what_next(changed(made, effects=(inactive,))))
