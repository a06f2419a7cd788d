"""Cards of how the run went: trace, timeline, how trials ended, lines and map of configurations."""

from __future__ import annotations

from hyperlens import words as say
from hyperlens.explain.run.footprint import Footprint
from hyperlens.explain.run.overview import Overview
from hyperlens.explain.run.spending import Spending
from hyperlens.explain.run.timeline import Timeline
from hyperlens.explain.run.trials import Trials
from hyperlens.plots.parts.lines import MOST_ROWS as MOST_LINES_ROWS
from hyperlens.plots.parts.style import labels
from hyperlens.plots.run.trials import SHOWN
from hyperlens.reports import meanings
from hyperlens.reports.analysis import Unavailable
from hyperlens.reports.card import MOST_ROWS, OVERVIEW, SEARCH, Card, Control, Fact, Table
from hyperlens.reports.figures import figure_of, unavailable

MOST_REASONS = 20


def trace_card(record: Overview) -> Card:
    return Card(
        id="trace",
        section=OVERVIEW,
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
        return unavailable(record, "timeline", OVERVIEW, title)
    return Card(
        id="timeline",
        section=OVERVIEW,
        title=title,
        lead=(record.sentence,),
        facts=(
            Fact("lasted", say.duration(record.span), "first start to last end", meanings.LASTED),
            Fact("at once", str(record.lanes), "trials, at the most", meanings.LANES),
            Fact("in use", say.percent(record.used), "of the time", meanings.USED),
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
    rows = [(s, str(n), f"{100 * n / total:.1f}{say.FIXED}%") for s, n in record.states.items()]
    for reason, n in list(record.reasons.items())[:MOST_REASONS]:
        rows.append((f"reason: {reason}", str(n), f"{100 * n / total:.1f}{say.FIXED}%"))
    return Card(
        id="endings",
        section=OVERVIEW,
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
        section=OVERVIEW,
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


def footprint_card(record: Footprint | Unavailable) -> Card:
    title = "Map of configurations"
    if isinstance(record, Unavailable):
        return unavailable(record, "footprint", OVERVIEW, title)
    return Card(
        id="footprint",
        section=OVERVIEW,
        title=title,
        lead=(record.reading, record.sentence),
        figure=figure_of(record),
        csv=record.to_csv(),
        notes=record.notes,
        how=(
            "Multidimensional scaling of the distances between configurations, trials and an even "
            "sample together: distances on the map are as near as can be to those in the space. "
            "Different categories are at distance one. The colour is by rank of the measured result.",
        ),
    )


def spending_card(record: Spending | Unavailable) -> Card | None:
    """What each model and each budget got; no card where a run has neither."""
    if isinstance(record, Unavailable):
        return None
    several = len(record.budgets) > 1
    columns = ["model" if record.choice else "trials of", "budget", "trials", "seconds", "best"]
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
        section=SEARCH if record.choice else OVERVIEW,
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
