"""How the run went: trace, timeline, how trials ended, budgets, parallel coordinates."""

import math

from hyperlens import words as say
from hyperlens.explain.run.overview import Overview, overview
from hyperlens.explain.run.spending import Spending, spending
from hyperlens.explain.run.timeline import Timeline, timeline
from hyperlens.explain.run.trials import Trials, trials
from hyperlens.plots.parts.lines import MOST_ROWS as MOST_LINES_ROWS
from hyperlens.plots.run.trials import SHOWN
from hyperlens.sections.cards import meanings
from hyperlens.sections.cards.card import Card, Control, Fact
from hyperlens.sections.cards.figures import card_of, figure_of
from hyperlens.sections.explanation import Part, Records, Unavailable, attempt

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
    return card_of(
        record,
        "trace",
        "Optimisation trace",
        "Each point is an analysed trial at its own number; the line is the best so far. "
        "Trials that failed, were pruned or are at a smaller budget are not in it.",
        lead=(record.progress,),
        table=None,
        notes=(),
    )


def timeline_card(record: Timeline | Unavailable) -> Card:
    facts: tuple[Fact, ...] = ()
    if isinstance(record, Timeline):
        used = say.percent(record.used) if math.isfinite(record.used) else "–"
        facts = (
            Fact("lasted", say.duration(record.span), "first start to last end", meanings.LASTED),
            Fact("at once", str(record.lanes), "trials, at the most", meanings.LANES),
            Fact("in use", used, "of the time", meanings.USED),
        )
    return card_of(
        record,
        "timeline",
        "Timeline",
        "From the recorded start and end of each trial. Above, a bar is a trial, in the lowest row "
        "in which it overlaps no other (for very many trials, how many ran at once); below, how "
        "many ended in each sixtieth of the time, by how they ended.",
        facts=facts,
        table=None,
    )


def endings_card(record: Trials) -> Card | None:
    """How the trials ended, where there is more to say than that all are complete."""
    if len(record.states) < 2 and not record.reasons:
        return None
    return Card(
        id="endings",
        title="How the trials ended",
        lead=(record.sentence,),
        table=record.endings,
        how=(
            "Each trial's state as the run recorded it; reasons are counted where the run says why a "
            "trial failed or was stopped early.",
        ),
    )


def parallel_card(record: Trials) -> Card:
    left = len(record.parameters) - MOST_LINES_ROWS
    return Card(
        id="parallel",
        title="Parallel coordinates",
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
            "A box drawn over values of a row keeps the lines that go through it; with the shift key a "
            "second box, over another row, keeps those that go through both.",
        ),
    )


def spending_card(record: Spending) -> Card:
    """What each model and each budget got."""
    return card_of(
        record,
        "spending",
        "Models and budgets" if record.choice else "Budgets",
        "The model is the category that switches most other parameters on and off. All trials count, "
        "however they ended.",
    )
