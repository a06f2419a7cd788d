"""A card for one trial: values and costs, what it was expected to reach, its learning curve, and the
nearest trial that is better. The page shows the one that its reader chooses."""

import math
from typing import Any

import numpy as np

from hyperlens.explain.next.nearest import nearest_better, said_of
from hyperlens.explain.run.trials import Trials
from hyperlens.sections.cards.card import Card
from hyperlens.sections.explanation import Records
from hyperlens.sections.run.overview import TRIALS

FEW, MOST_TOLD, FEWER_TOLD = 5000, 1000, 300  # trials of a run; told of, of few and of many
SEEN = 5  # digits of a number of a curve

PARTS = ()


def cards(records: Records) -> tuple[Card, ...]:
    return (trial_card(records[TRIALS]),)


def trial_card(record: Trials) -> Card:
    """Of very many trials, the best and the latest."""
    rows = _rows(record)
    better = nearest_better(record, rows)
    numbers = record.number.tolist()
    told = [
        {
            "number": numbers[row],
            "state": record.state[row],
            "cost": cost if math.isfinite(cost := float(record.cost[row])) else None,
            "said": said_of(record, row, other),
            "better": None if other is None else numbers[other],
            **({"thought": record.thought[row]} if record.thought and record.thought[row] else {}),
            **(
                {"curve": _seen(record.curves[row])} if record.curves and record.curves[row] else {}
            ),
        }
        for row, other in zip(rows, better, strict=True)
    ]
    return Card(
        id="trial",
        title="One trial",
        lead=("Choose a trial here, or click on its point, its line or its row.",),
        trials={
            "told": told,
            "first": numbers[_best(record)],
            "objective": record.objective,
            "parameters": list(record.parameters),
        },
        how=(
            "The nearest better trial is the one that differs least of all that reached a better cost: "
            "by the mean over all parameters of how far apart two trials are on the parameter's own "
            "axis, 1 for different choices.",
        ),
    )


def _seen(curve: Any) -> list[list[float]]:
    """Steps and values with the digits that can be seen."""
    return [[float(f"{number:.{SEEN}g}") for number in numbers] for numbers in curve]


def _best(record: Trials) -> int:
    """The row that is shown first: the best of the analysed, else the first of all."""
    lost = -record.cost if record.maximize else record.cost
    useful = record.analysed & (np.array(record.kept) if record.kept else True)
    return int(np.argmin(np.where(useful, lost, np.inf)))


def _rows(record: Trials) -> list[int]:
    count = len(record.state)
    most = MOST_TOLD if count <= FEW else FEWER_TOLD
    if count <= most:
        return list(range(count))
    lost = np.where(
        np.isfinite(record.cost), -record.cost if record.maximize else record.cost, np.inf
    )
    best = np.argsort(lost, kind="stable")[: most // 2].tolist()
    return sorted({_best(record), *best, *range(count - most // 2, count)})
