"""All trials as they were read, to be sorted and searched."""

import math
from typing import Any

import numpy as np

from hyperlens import words as say
from hyperlens.explain.run.trials import Trials
from hyperlens.sections.cards import meanings
from hyperlens.sections.cards.card import Card, Grid
from hyperlens.sections.explanation import Records
from hyperlens.sections.run.overview import TRIALS

MOST_TRIALS, MOST_CELLS = 20_000, 150_000  # rows of the table of trials, and of all its columns


PARTS = ()


def cards(records: Records) -> tuple[Card, ...]:
    return (data_card(records[TRIALS]),)


def data_card(record: Trials) -> Card:
    """Of very many trials, the best and the latest."""
    places, remark = _places(record, len(record.parameters))
    columns: list[tuple[str, Any, bool, str]] = [
        ("trial", record.number.tolist(), True, meanings.NUMBER),
        ("state", record.state, False, ""),
        (record.objective, record.cost.tolist(), True, meanings.COST),
    ]
    columns += [(n, costs.tolist(), True, meanings.COST) for n, costs in record.others.items()]
    if record.kept:
        columns.append(("keeps the limits", ["yes" if k else "no" for k in record.kept], False, ""))
    if np.isfinite(record.budget).any():
        columns.append(("budget", record.budget.tolist(), True, meanings.BUDGET))
    if np.isfinite(record.seconds).any():
        columns.append(("seconds", record.seconds.tolist(), True, meanings.SECONDS))
    for name, values in zip(record.parameters, record.values, strict=True):
        numeric = all(values[k] is None or _is_number(values[k]) for k in places)
        columns.append((name, values, numeric, meanings.VALUE))
    if record.reasons:
        columns.append(("reason", record.reason, False, ""))
    return Card(
        id="data",
        title="Trials",
        lead=(f"All {say.counted(len(record.state), 'trial')} as they were read{remark}",),
        grid=Grid(
            tuple(name for name, *_ in columns),
            tuple(tuple(_cell(values[k]) for _, values, *_ in columns) for k in places),
            tuple(numeric for _, _, numeric, _ in columns),
            tuple(meaning for *_, meaning in columns),
        ),
    )


def _places(record: Trials, parameters: int) -> tuple[list[int], str]:
    count, most = len(record.state), min(MOST_TRIALS, MOST_CELLS // max(parameters, 1))
    if count <= most:
        return list(range(count)), "."
    sign = -1.0 if record.maximize else 1.0
    order = np.argsort(
        np.where(np.isfinite(record.cost), sign * record.cost, np.inf), kind="stable"
    )
    half = max(most // 2, 1)
    places = sorted({*order[:half].tolist(), *range(count - half, count)})
    return places, f"; shown are the {half} best and the {half} latest."


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _cell(value: Any) -> Any:
    """A number or a text as it is, None for what is unknown or inactive."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or _is_number(value):
        return value
    return str(value)
