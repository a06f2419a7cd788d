"""Records of a run with two objectives, with numbers small enough to check by hand."""

from __future__ import annotations

import numpy as np

from hyperlens.explain.effects.effect import Effect
from hyperlens.explain.models.verdict import Verdict
from hyperlens.explain.objectives.choose import Choice
from hyperlens.explain.objectives.effects_of import EffectsOf
from hyperlens.explain.objectives.pareto import ParetoFront
from hyperlens.explain.objectives.point_of_front import Reasons, Trade
from hyperlens.explain.objectives.tradeoff import Takeover, Tradeoff
from hyperlens.explain.objectives.true_front import TrueFront

TRUST = Verdict("trust", "it predicts well", "")


def front(name: str = "lr", choice: str = "adam", text: str = "plain") -> ParetoFront:
    """Trials 0 and 2 are on the front; trial 3 is beaten by both."""
    return ParetoFront(
        objectives=("loss", text),
        maximize=(False, True),
        number=np.array([0, 2, 3]),
        costs=np.array([[1.0, 9.0], [0.4, 5.0], [1.2, 4.0]]),
        front=np.array([True, True, False]),
        knee=0,
        reference=np.array([1.2, 4.0]),
        hypervolume=np.array([0.25, 0.4, 0.4]),
        parameters=(name, "opt"),
        values=((0.1, 0.4), (choice, "sgd")),
        notes=(text,),
    )


def sure_front(text: str = "plain") -> TrueFront:
    """Trial 2 is surely on the front, trial 0 is there by luck."""
    return TrueFront(
        objectives=("loss", text),
        maximize=(False, True),
        configurations=3,
        trial=np.array([2, 0]),
        observed=np.array([[0.4, 5.0], [1.0, 9.0]]),
        expected=np.array([[0.45, 5.0], [1.1, 6.0]]),
        probability=np.array([0.99, 0.3]),
        on=np.array([True, True]),
        hypervolume=0.4,
        volumes=np.array([0.2, 0.3, 0.5]),
        across=np.array([0.4, 1.0]),
        band=np.array([[4.0, 5.0], [5.0, 6.0], [6.0, 9.0]]),
        noise=np.array([0.1, 0.5]),
        known=(True, True),
        level=0.9,
        seed=7,
        notes=(text,),
    )


def chosen(name: str = "lr", choice: str = "adam", text: str = "plain") -> Choice:
    """Trial 0; trial 2 has a better loss for less of what is maximised."""
    return Choice(
        objectives=("loss", text),
        maximize=(False, True),
        where=None,
        prefer=None,
        trial=0,
        values={name: 0.1, "opt": choice},
        costs=np.array([1.0, 9.0]),
        best=np.array([0.4, 9.0]),
        within=3,
        trials=3,
        notes=(text,),
        trades=(Trade("loss", 2, np.array([0.6, -4.0])),),
        parameters=(name, "opt"),
        because=Reasons(
            contributions=np.array([[0.2, 2.0], [-0.1, 1.0]]),
            expected=np.array([1.0, 9.0]),
            average=np.array([0.9, 6.0]),
            spread=np.array([0.4, 2.0]),
            verdict=TRUST,
        ),
    )


def traded(name: str = "lr", text: str = "plain") -> Tradeoff:
    """One parameter leads for the loss, the other for what is traded, from 0.4 on."""
    share = np.array([[0.8, 0.5, 0.1], [0.1, 0.5, 0.9]])
    return Tradeoff(
        objectives=("loss", text),
        maximize=(False, True),
        scale="deviation",
        unit=np.array([0.3, 2.0]),
        weight=np.array([0.0, 0.5, 1.0]),
        parameters=((name,), ("opt",)),
        share=share,
        low=share - 0.05,
        high=share + 0.05,
        rest=np.array([0.1, 0.0, 0.0]),
        leaders=(Takeover(0, 0.0, 0.0, 0.0), Takeover(1, 0.4, 0.3, 0.6)),
        ends=(0, 1),
        correlation=-0.4,
        order=1,
        trials=(3, 3),
        level=0.9,
        seed=7,
        verdict=TRUST,
        notes=(text,),
    )


def on_both(first: Effect, second: Effect) -> EffectsOf:
    return EffectsOf(first.parameters[0], (first, second))
