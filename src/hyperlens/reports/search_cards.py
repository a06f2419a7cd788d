"""Cards of where the search looked, of other runs beside this one, and of the data themselves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hyperlens import words as say
from hyperlens.explain.run.bias import Bias
from hyperlens.explain.run.compare_runs import RunComparison
from hyperlens.explain.run.trials import Trials
from hyperlens.plots.run.compare_runs import ALONG
from hyperlens.reports import meanings
from hyperlens.reports.analysis import Unavailable
from hyperlens.reports.card import COMPARISON, DATA, MOST_ROWS, SEARCH, Card, Control, Grid, Table
from hyperlens.reports.figures import figure_of, two, unavailable

MOST_TRIALS = 20_000  # rows of the table of trials


def bias_card(record: Bias | Unavailable) -> Card:
    title = "Where the search looked"
    if isinstance(record, Unavailable):
        return unavailable(record, "bias", SEARCH, title)
    rows = tuple(
        (name, two(mmd), f"{p:.3f}")
        for name, mmd, p in zip(
            record.parameters, record.parameter_mmd, record.parameter_p, strict=True
        )
    )
    return Card(
        id="bias",
        section=SEARCH,
        title=title,
        lead=(record.sentence, record.reading),
        figure=figure_of(record),
        csv=record.to_csv(),
        table=Table(
            ("parameter", "MMD", "p"),
            rows[:MOST_ROWS],
            (False, True, True),
            ("", meanings.MMD, meanings.P),
        ),
        notes=record.notes,
        how=(meanings.MMD, meanings.P),
    )


def beside_card(record: RunComparison | Unavailable) -> Card:
    title = "Runs beside each other"
    if isinstance(record, Unavailable):
        return unavailable(record, "beside", COMPARISON, title)
    rows = tuple(
        (
            record.runs[k],
            str(len(record.trace[k])),
            say.number(float(record.best[k])),
            say.number(float(record.at_common[k])),
        )
        for k in record.order
    )
    timed = any(not np.isnan(e).any() for e in record.elapsed)
    along = Control("along", "list", "Along", tuple(enumerate(ALONG)), 0)
    return Card(
        id="beside",
        section=COMPARISON,
        title=title,
        lead=(record.sentence,),
        figure=figure_of(record),
        csv=record.to_csv(),
        controls=(along,) if timed else (),
        table=Table(
            ("run", "trials", "best", f"best after {record.common}"),
            rows[:MOST_ROWS],
            (False, True, True, True),
            ("", meanings.RUN_TRIALS, meanings.RUN_BEST, meanings.RUN_COMMON),
        ),
        notes=record.notes,
        how=(
            "Lines are the best value so far. Runs are compared fairly only after equally many trials, "
            "or after equal time where all recorded it.",
        ),
    )


def data_card(record: Trials) -> Card:
    """All trials, to be sorted and searched; of very many, the best and the latest."""
    chosen, note = _rows(record)
    columns: list[tuple[str, Any, bool, str]] = [
        ("trial", record.number.tolist(), True, meanings.NUMBER),
        ("state", record.state, False, ""),
        (record.objective, record.cost.tolist(), True, meanings.COST),
    ]
    if np.isfinite(record.budget).any():
        columns.append(("budget", record.budget.tolist(), True, meanings.BUDGET))
    if np.isfinite(record.seconds).any():
        columns.append(("seconds", record.seconds.tolist(), True, meanings.SECONDS))
    for name, values in zip(record.parameters, record.values, strict=True):
        numeric = all(v is None or _is_number(v) for v in values)
        columns.append((name, values, numeric, meanings.VALUE))
    if record.reasons:
        columns.append(("reason", record.reason, False, ""))
    return Card(
        id="data",
        section=DATA,
        title="Trials",
        lead=(f"All {say.counted(len(record.state), 'trial')} as they were read{note}",),
        grid=Grid(
            tuple(name for name, *_ in columns),
            tuple(tuple(_cell(values[k]) for _, values, *_ in columns) for k in chosen),
            tuple(numeric for _, _, numeric, _ in columns),
            tuple(meaning for *_, meaning in columns),
        ),
    )


def _rows(record: Trials) -> tuple[list[int], str]:
    count = len(record.state)
    if count <= MOST_TRIALS:
        return list(range(count)), "."
    sign = -1.0 if record.maximize else 1.0
    order = np.argsort(
        np.where(np.isfinite(record.cost), sign * record.cost, np.inf), kind="stable"
    )
    half = MOST_TRIALS // 2
    kept = sorted({*order[:half].tolist(), *range(count - half, count)})
    return kept, f"; shown are the {half} best and the {half} latest."


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _cell(value: Any) -> Any:
    """A number or a text as it is, None for what is unknown or inactive."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or _is_number(value):
        return value
    return str(value)
