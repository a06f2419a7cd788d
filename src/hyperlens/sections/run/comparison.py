"""Other runs beside this one."""

import numpy as np

from hyperlens.explain.run.compare_runs import RunComparison, compare_runs
from hyperlens.plots.run.compare_runs import ALONG
from hyperlens.sections.cards.card import Card, Control
from hyperlens.sections.cards.figures import card_of
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt


def _compute(e: Explanation) -> RunComparison | Unavailable | None:
    """By the objective of the report, if any of the runs has it."""
    if not e.runs:
        return None
    objectives = {o.name for run in e.runs.values() for o in run.objectives}
    objective = e.choices.objective if e.choices.objective in objectives else None
    return attempt("comparison of runs", lambda: compare_runs(e.runs, objective))


COMPARISON = Part("comparison", _compute)
PARTS = (COMPARISON,)


def cards(records: Records) -> tuple[Card, ...]:
    record = records[COMPARISON]
    return () if record is None else (comparison_card(record),)


def comparison_card(record: RunComparison | Unavailable) -> Card:
    along = Control("along", "list", "Along", tuple(enumerate(ALONG)), 0)
    elapsed = record.elapsed if isinstance(record, RunComparison) else ()
    timed = any(not np.isnan(times).any() for times in elapsed)
    return card_of(
        record,
        "comparison",
        "Runs side by side",
        "Lines are the best value so far. Runs are compared fairly only after equally many trials, or "
        "after equal time where all recorded it.",
        controls=(along,) if timed else (),
    )
