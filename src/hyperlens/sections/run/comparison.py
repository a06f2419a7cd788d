"""Other runs beside this one."""

from __future__ import annotations

import numpy as np

from hyperlens import words as say
from hyperlens.explain.run.compare_runs import RunComparison, compare_runs
from hyperlens.plots.run.compare_runs import ALONG
from hyperlens.sections.cards import meanings
from hyperlens.sections.cards.card import MOST_ROWS, Card, Control, Table
from hyperlens.sections.cards.figures import figure_of, unavailable
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt

TITLE = "Runs beside each other"


def _compute(e: Explanation) -> RunComparison | Unavailable | None:
    """By the objective of the report, if any of the runs has it; always as the runs were read."""
    if not e.runs:
        return None
    runs = {name: e.as_read if run is e.history else run for name, run in e.runs.items()}
    objectives = {o.name for run in runs.values() for o in run.objectives}
    objective = e.choices.objective if e.choices.objective in objectives else None
    return attempt("comparison of runs", lambda: compare_runs(runs, objective))


COMPARISON = Part("comparison", _compute)
PARTS = (COMPARISON,)


def cards(records: Records) -> tuple[Card, ...]:
    record = records[COMPARISON]
    return () if record is None else (comparison_card(record),)


def comparison_card(record: RunComparison | Unavailable) -> Card:
    if isinstance(record, Unavailable):
        return unavailable(record, "comparison", TITLE)
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
        id="comparison",
        title=TITLE,
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
