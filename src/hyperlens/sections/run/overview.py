"""How the run went: trace, timeline, how trials ended, budgets, configurations as lines."""

from __future__ import annotations

import math

from hyperlens import words as say
from hyperlens.explain.run.overview import Overview, overview
from hyperlens.explain.run.spending import Spending, spending
from hyperlens.explain.run.timeline import Timeline, timeline
from hyperlens.explain.run.trials import Trials, trials
from hyperlens.plots.parts.lines import MOST_ROWS as MOST_LINES_ROWS
from hyperlens.plots.parts.texts import labels
from hyperlens.plots.run.trials import SHOWN
from hyperlens.sections.cards import meanings
from hyperlens.sections.cards.card import MOST_ROWS, Card, Control, Fact, Table
from hyperlens.sections.cards.figures import figure_of, unavailable
from hyperlens.sections.explanation import Part, Records, Unavailable, attempt

MOST_REASONS = 20

OVERVIEW = Part("overview", lambda e: overview(e.history, e.choices.objective))
TRIALS = Part("trials", lambda e: trials(e.history, e.choices.objective))
TIMELINE = Part("timeline", lambda e: attempt("timeline", lambda: timeline(e.history)))
SPENDING = Part(
    "spending",
    lambda e: attempt("models and budgets", lambda: spending(e.history, e.choices.objective)),
)
PARTS = (OVERVIEW, TRIALS, TIMELINE, SPENDING)


def cards(records: Records) -> tuple[Card | None, ...]:
    """Budgets stand here; where models got them too, they stand with the search."""
    spent = records[SPENDING]
    return (
        trace_card(records[OVERVIEW]),
        timeline_card(records[TIMELINE]),
        endings_card(records[TRIALS]),
        spending_card(spent) if isinstance(spent, Spending) and not spent.choice else None,
        parallel_card(records[TRIALS]),
    )


def trace_card(record: Overview) -> Card:
    return Card(
        id="trace",
        title="Optimisation trace",
        lead=(record.progress,),
        figure=figure_of(record),
        csv=record.to_csv(),
        how=(
            "Each point is an analysed trial at its own number; the line is the best so far. "
            "Trials that failed, were pruned or are at a smaller budget are not in it.",
        ),
    )


def timeline_card(record: Timeline | Unavailable) -> Card:
    title = "Timeline"
    if isinstance(record, Unavailable):
        return unavailable(record, "timeline", title)
    used = say.percent(record.used) if math.isfinite(record.used) else "–"
    return Card(
        id="timeline",
        title=title,
        lead=(record.sentence,),
        facts=(
            Fact("lasted", say.duration(record.span), "first start to last end", meanings.LASTED),
            Fact("at once", str(record.lanes), "trials, at the most", meanings.LANES),
            Fact("in use", used, "of the time", meanings.USED),
        ),
        figure=figure_of(record),
        csv=record.to_csv(),
        notes=record.notes,
        how=(
            "From the recorded start and end of each trial. Above, a bar is a trial, in the lowest row "
            "in which it overlaps no other (for very many trials, how many ran at once); below, how "
            "many ended in each sixtieth of the time, by how they ended.",
        ),
    )


def endings_card(record: Trials) -> Card | None:
    """How the trials ended, where there is more to say than that all are complete."""
    if len(record.states) < 2 and not record.reasons:
        return None
    total = len(record.state)
    reasons = [(f"reason: {reason}", n) for reason, n in record.reasons.items()][:MOST_REASONS]
    rows = [(what, str(n), say.tenths(n / total)) for what, n in (*record.states.items(), *reasons)]
    return Card(
        id="endings",
        title="How the trials ended",
        lead=(record.sentence,),
        table=Table(
            ("state", "trials", "part"),
            tuple(rows),
            (False, True, True),
            ("", meanings.ENDED, meanings.ENDED_PART),
        ),
        how=(
            "Each trial's state as the run recorded it; reasons are counted where the run says why a "
            "trial failed or was stopped early.",
        ),
    )


def parallel_card(record: Trials) -> Card:
    left = len(record.parameters) - MOST_LINES_ROWS
    return Card(
        id="parallel",
        title="Configurations as lines",
        lead=(record.reading,),
        figure=figure_of(record),
        csv_of="data",
        controls=(Control("best", "list", "Show", tuple(enumerate(SHOWN)), 0),),
        notes=(f"{left} further parameters are not drawn.",) if left > 0 else (),
        how=(
            "Every parameter has a row with its own scale, as it was searched; a line leaves the row "
            "at 'off' where the parameter was switched off. The last row is the measured result over "
            "the middle 96 % of its values. Of a large group some are drawn, evenly spread over "
            "their ranks.",
        ),
    )


def spending_card(record: Spending) -> Card:
    """What each model and each budget got."""
    several = len(record.budgets) > 1
    columns = ("model" if record.choice else "trials of", "budget", "trials", "seconds", "best")
    names = labels(record.models)
    rows = [
        (
            names[i],
            "–" if budget is None else f"{budget:g}",
            str(record.trials[i, j]),
            say.number(float(record.seconds[i, j])),
            say.number(float(record.best[i, j])),
        )
        for i in range(len(names))
        for j, budget in enumerate(record.budgets)
    ]
    said = ("", meanings.BUDGET, meanings.MODEL_TRIALS, meanings.MODEL_SECONDS, meanings.MODEL_BEST)
    keep = [0, 1, 2, 3, 4] if several else [0, 2, 3, 4]
    return Card(
        id="spending",
        title="Models and budgets" if record.choice else "Budgets",
        lead=(record.sentence,),
        figure=figure_of(record),
        csv=record.to_csv(),
        table=Table(
            tuple(columns[k] for k in keep),
            tuple(tuple(row[k] for k in keep) for row in rows[:MOST_ROWS]),
            tuple(k > 0 for k in keep),
            tuple(said[k] for k in keep),
        ),
        notes=record.notes,
        how=(
            "The model is the category that switches most other parameters on and off. All trials "
            "count, whatever became of them.",
        ),
    )
