"""Records of single questions with numbers small enough to check by hand: the top, a change, a formula,
several runs."""

from __future__ import annotations

from typing import Any

import numpy as np
from views import GROUND, QUALITY

from hyperlens.explain.across.across import Across
from hyperlens.explain.across.pooled_effect import PooledEffect
from hyperlens.explain.formula.formula import Formula
from hyperlens.explain.models.verdict import judge
from hyperlens.explain.reach.reach import Reach
from hyperlens.explain.top.top_importance import TopImportance

SURE = judge([GROUND])


def told_apart(name: str = "lr", text: str = "plain") -> TopImportance:
    """One parameter tells the top from the rest, the other may be chance."""
    return TopImportance(
        objective="loss",
        quantile=0.1,
        trials=40,
        top=4,
        bound=0.5,
        leads="trials",
        uneven=1.1,
        parameters=(name, "opt"),
        importance=np.array([0.03, 0.01]),
        share=np.array([0.75, 0.25]),
        low=np.array([0.5, 0.1]),
        high=np.array([0.9, 0.5]),
        chance=np.array([0.02, 0.02]),
        active=np.array([4, 4]),
        space_share=np.array([0.8, 0.2]),
        space_low=np.array([0.6, 0.1]),
        space_high=np.array([0.9, 0.4]),
        space_first=np.array([1.0, 0.0]),
        level=0.9,
        seed=7,
        verdict=None,
        notes=(text,),
    )


def reached(name: str = "lr", choice: str = "adam", text: str = "plain") -> Reach:
    """One change reaches it with 0.4, two with 0.8."""
    return Reach(
        objective="loss",
        maximize=False,
        start="the default configuration",
        cost=1.0,
        wanted=0.5,
        sure=0.5,
        changed=((name,), (name, "opt")),
        before=((0.5,), (0.5, "sgd")),
        values=((0.1,), (0.2, choice)),
        expected=np.array([0.55, 0.45]),
        low=np.array([0.4, 0.3]),
        high=np.array([0.7, 0.6]),
        probability=np.array([0.4, 0.8]),
        distance=np.array([0.4, 1.3]),
        chosen=1,
        level=0.9,
        surrogate="process",
        seed=7,
        quality=QUALITY,
        verdict=SURE,
        notes=(text,),
    )


def as_formula(name: str = "lr", text: str = "plain") -> Formula:
    """0.5 + 2 x fits four points that lie 0.01 from it."""
    x = np.array([1.0, 2.0, 3.0, 4.0])
    curve = 0.5 + 2 * x
    mean = curve + np.array([0.01, -0.01, 0.01, -0.01])
    return Formula(
        objective="loss",
        maximize=False,
        parameter=name,
        log=False,
        values=tuple(x.tolist()),
        mean=mean,
        low=mean - 0.2,
        high=mean + 0.2,
        tolerance=np.full(4, 0.3),
        forms=("linear", "constant"),
        text=(f"0.5 + 2·{name}", "5.5"),
        constants=((0.5, 2.0), (5.5,)),
        size=np.array([2, 1]),
        error=np.array([0.01, 2.2]),
        most=np.array([0.01, 3.0]),
        outside=np.array([1 / 30, 10.0]),
        curve=curve,
        chosen=0,
        level=0.95,
        surrogate="process",
        seed=7,
        quality=QUALITY,
        verdict=SURE,
        notes=(text,),
    )


def over_runs(
    name: str = "lr", runs: tuple[str, ...] = ("a", "b"), values: Any = (1.0, 2.0, 3.0)
) -> PooledEffect:
    """Both runs fall, one twice as much as the other."""
    each = np.array([[1.0, 0.0, -1.0], [2.0, 0.0, -2.0]])
    mean = each.mean(axis=0)
    return PooledEffect(
        objective="loss",
        maximize=False,
        parameter=name,
        log=False,
        numeric=not isinstance(values[0], str),
        values=tuple(values),
        runs=runs,
        effect=each,
        std=np.full((2, 3), 0.5),
        mean=mean,
        low=mean - 0.5,
        high=mean + 0.5,
        next_low=mean - 1,
        next_high=mean + 1,
        tau=np.array([0.5, 0.0, 0.5]),
        i2=np.array([0.5, 0.0, 0.8]),
        i2_low=np.array([0.2, 0.0, 0.3]),
        i2_high=np.array([0.9, 0.7, 0.9]),
        level=0.9,
        verdict=SURE,
    )


def in_common(name: str = "lr", choice: str = "adam", text: str = "plain") -> Across:
    """Two runs: one parameter matters alike, the other in one of them."""
    share = np.array([0.6, 0.2])
    return Across(
        objective="loss",
        runs=(text, "b"),
        trials=(40, 40),
        verdicts=("trust", "trust"),
        parameters=(name, "opt"),
        share=np.array([[0.6, 0.0], [0.6, 0.4]]),
        std=np.full((2, 2), 0.1),
        pooled=share,
        low=share - 0.1,
        high=share + 0.1,
        next_low=share - 0.2,
        next_high=share + 0.2,
        tau=np.array([0.0, 0.2]),
        i2=np.array([0.0, 0.8]),
        i2_low=np.array([0.0, 0.2]),
        i2_high=np.array([0.6, 0.9]),
        alike=np.array([1.0, 0.1]),
        portfolio=({name: 0.1, "opt": choice},),
        regret=np.array([0.2]),
        default=0.9,
        single=np.array([0.5, 0.4]),
        places=np.array([[-1.0, 0.0], [1.0, 0.0]]),
        level=0.9,
        seed=7,
        verdict=SURE,
        notes=(text,),
        effects=(
            over_runs(name, (text, "b")),
            over_runs("opt", (text, "b"), (choice, "sgd", "lion")),
        ),
    )
