"""Records with numbers small enough to check by hand, for the tests of what shows them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hyperlens.explain.curves.course import Course
from hyperlens.explain.curves.learning_curves import LearningCurves
from hyperlens.explain.curves.pruning import Pruning
from hyperlens.explain.effects.region_tree import Region
from hyperlens.explain.effects.regions import Regions
from hyperlens.explain.importance.interactions import Interactions
from hyperlens.explain.models.verdict import Ground, judge
from hyperlens.explain.next.advise import Advice
from hyperlens.explain.next.forecast import Forecast
from hyperlens.explain.run.bias import Bias
from hyperlens.explain.tunability.tunability import Tunability
from hyperlens.spaces.parameter import Parameter
from hyperlens.spaces.space import Space
from hyperlens.surrogates.quality import Quality

GROUND = Ground("trust", "it predicts well")
QUALITY = Quality("process", 0.9, 0.9, 0.95, 4, 2, "trust", "It predicts well.")


def region(id: int, parent: int | None, rule: str, std: float, **more: Any) -> Region:
    """Its mean is 10 id, 10 id + 1, 10 id + 2; its band is one std wide below, two above."""
    mean = 10.0 * id + np.arange(3.0)
    settings: dict[str, Any] = {
        "id": id,
        "parent": parent,
        "level": 0 if parent is None else 1,
        "rule": rule,
        "share": 0.5,
        "points": 8,
        "trials": id,
        "confidence": std,
        "confidence_best": std,
        "holds_best": False,
        "mean": mean,
        "std": np.full(3, std),
        "low": mean - std,
        "high": mean + 2 * std,
        "box": {},
    }
    return Region(**settings | more)


def tree(parameter: str = "lr", rule: str = "opt is adam", **more: Any) -> Regions:
    """The whole space, and two leaves of which the second holds the best trial."""
    settings: dict[str, Any] = {
        "objective": "loss",
        "maximize": False,
        "parameter": parameter,
        "values": (0.01, 0.1, 1.0),
        "log": True,
        "numeric": True,
        "criterion": "l2",
        "curve": "variance",
        "surrogate": "gp",
        "level": 0.95,
        "best_value": 0.1,
        "tree": (
            region(0, None, "everywhere", 0.4, share=1.0, children=(1, 2), holds_best=True),
            region(1, 0, "opt is sgd", 0.5),
            region(2, 0, rule, 0.125, holds_best=True),
        ),
        "quality": QUALITY,
        "grounds": (GROUND,),
        "notes": (),
    }
    return Regions(**settings | more)


def wide_tree(leaves: int) -> Regions:
    """A tree of many leaves, the last and smallest of which holds the best trial."""
    parts = [
        region(k, 0, f"p{k} <= 1", 0.1, share=1 / (k + 1), holds_best=k == leaves)
        for k in range(1, leaves + 1)
    ]
    return replace(tree(), tree=(tree().tree[0], *parts))


def searched(name: str = "lr") -> Bias:
    return Bias(
        trials=50,
        mmd=0.3,
        p=0.002,
        expected=0.1,
        parameters=(name, "opt"),
        parameter_mmd=np.array([0.4, 0.05]),
        parameter_p=np.array([0.002, 0.6]),
        iteration=np.array([2, 8, 50]),
        path=np.array([0.9, 0.5, 0.3]),
        expected_path=np.array([0.5, 0.25, 0.1]),
        seed=0,
        sentence="The search favoured some parts.",
        notes=("From a part.",),
    )


def ahead(name: str = "loss") -> Forecast:
    """A search by a model gains twice what a random one does; the error lies between."""
    gain = np.array([[0.1, 0.2, 0.3, 0.4], [0.05, 0.1, 0.15, 0.2]])
    return Forecast(
        objective=name,
        maximize=False,
        trials=40,
        observed=0.4,
        best=0.45,
        searches=("model", "random"),
        more=np.array([10, 20, 50, 100]),
        gain=gain,
        low=gain / 2,
        high=gain * 2,
        chance=np.full((2, 4), 0.5),
        error=0.15,
        error_from="given",
        level=0.8,
        seed=0,
        quality=QUALITY,
        verdict=judge([GROUND]),
        notes=(),
    )


def next_space(name: str = "lr", reason: str = "it hardly matters") -> Advice:
    """One parameter narrowed to the middle third of its range, one fixed, one kept."""
    return Advice(
        objective="loss",
        maximize=False,
        trials=40,
        parameters=(name, "opt"),
        actions=("narrow", "fix"),
        before=("0 to 3", "a, b"),
        after=("1 to 2", "a"),
        probability=np.array([0.99, np.nan]),
        costs=np.array([0.0, 0.01]),
        costs_low=np.array([0.0, 0.0]),
        costs_high=np.array([0.0, 0.03]),
        reasons=("it is lowest there", reason),
        kept=("m",),
        cost=0.01,
        low=0.0,
        high=0.03,
        tolerance=0.05,
        level=0.9,
        rows=(name, "opt", "m"),
        start=np.array([1 / 3, 0.0, 0.0]),
        end=np.array([2 / 3, 0.5, 1.0]),
        places=np.array([[0.4, 0.45, 0.5, 0.55, 0.6], [np.nan] * 5, [0.0, 0.2, 0.5, 0.8, 1.0]]),
        seed=0,
        quality=QUALITY,
        verdict=judge([GROUND]),
        notes=(),
        space=Space.of([Parameter(name, "float", 1.0, 2.0), Parameter("m", "float", 0.0, 1.0)]),
    )


def together(name: str = "lr") -> Interactions:
    return Interactions(
        objective="loss",
        surrogate="gp",
        pairs=((name, "opt"), (name, "m"), ("opt", "m"), ("m", "n")),
        h=np.array([0.5, 0.9, 0.1, 0.2]),
        low=np.array([0.4, 0.0, 0.1, 0.1]),
        high=np.array([0.8, 1.0, 0.2, 0.3]),
        share=np.array([0.3, 0.01, 0.001, 0.0001]),
        level=0.9,
        effects=(),
        quality=QUALITY,
        verdict=judge([GROUND]),
        notes=(),
    )


def learnt(name: str = "lr", text: str = "plain") -> LearningCurves:
    """Three curves of three steps, of which one was pruned at the second; two parameters took turns."""
    stopped = Pruning(
        objective="loss",
        maximize=False,
        axis="step",
        noun="trial",
        word="pruned",
        count=1,
        trials=3,
        trial=np.array([3]),
        step=np.array([2.0]),
        value=np.array([0.9]),
        rank=np.array([2]),
        of=np.array([3]),
        median=np.array([0.8]),
        expected=np.array([0.6]),
        low=np.array([0.3]),
        high=np.array([0.9]),
        chance=np.array([0.1]),
        judged=1,
        worse=1,
        told=1,
        finished=2,
        best=0.4,
        best_trial=2,
        lost=0.1,
        lost_low=0.0,
        lost_high=1.0,
        chance_any=0.1,
        level=0.9,
        seed=7,
        notes=(text,),
    )
    mattered = Course(
        objective="loss",
        axis="step",
        steps=np.array([1.0, 3.0]),
        trials=np.array([3, 2]),
        parameters=(name, "opt"),
        share=np.array([[0.9, 0.2], [0.1, 0.7]]),
        low=np.array([[0.8, 0.1], [0.0, 0.6]]),
        high=np.array([[1.0, 0.3], [0.2, 0.8]]),
        surrogate="forest",
        level=0.9,
        seed=7,
        notes=(text,),
    )
    return LearningCurves(
        objective="loss",
        maximize=False,
        axis="step",
        noun="trial",
        ended={"complete": 2, "pruned": 1},
        best_trial=2,
        best=0.4,
        grid=np.array([1.0, 2.0, 3.0]),
        number=np.array([0, 2, 3]),
        end=("complete", "complete", "pruned"),
        values=np.array([[1.4, 1.2, 1.0], [1.0, 0.6, 0.4], [1.2, 0.9, np.nan]]),
        last_step=np.array([3.0, 3.0, 2.0]),
        last_value=np.array([1.0, 0.4, 0.9]),
        steps=np.array([1.0, 2.0, 3.0]),
        correlation=np.array([0.5, 0.95, 1.0]),
        low=np.array([0.1, 0.92, 1.0]),
        high=np.array([0.9, 0.98, 1.0]),
        count=np.array([2, 2, 2]),
        pruning=stopped,
        course=mattered,
        level=0.9,
        seed=7,
        notes=(text,),
    )


def tuned(name: str = "lr", choice: str = "adam", text: str = "plain") -> Tunability:
    """Of 0.6 one parameter has 0.4, and two stand for each other."""
    value, pair = np.array([0.4, 0.15, 0.05]), np.array([-0.1, 0.02, 0.0])
    return Tunability(
        game="tunability",
        objective="loss",
        maximize=False,
        baseline="the default configuration",
        cost=1.0,
        reached=0.4,
        parameters=(name, "opt", "momentum"),
        values=(0.5, "sgd", None),
        best_values=(0.1, choice, None),
        value=value,
        low=value - 0.05,
        high=value + 0.1,
        alone=value + 0.05,
        alone_low=value,
        alone_high=value + 0.1,
        pairs=((name, "opt"), (name, "momentum"), ("opt", "momentum")),
        interaction=pair,
        interaction_low=pair - 0.02,
        interaction_high=pair + 0.02,
        whole=0.6,
        whole_low=0.5,
        whole_high=0.7,
        level=0.9,
        surrogate="process",
        seed=7,
        quality=QUALITY,
        verdict=judge([GROUND]),
        notes=(text,),
    )
