"""Which trials keep the limits, and what the limits cost."""

from hyperlens.explain.run.failures import EXPECTED, LEVEL
from hyperlens.explain.run.feasibility import Feasibility, feasibility
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import card_of
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt

TITLE = "Which trials keep the limits"


def _compute(e: Explanation) -> Feasibility | Unavailable | None:
    """None of a run without limits."""
    if not e.history.limits:
        return None
    level = e.choices.level or LEVEL
    return attempt("limits", lambda: feasibility(e.history, level=level, **e.how))


FEASIBILITY = Part("feasibility", _compute, "which trials keep the limits", 1.0)
PARTS = (FEASIBILITY,)


def cards(records: Records) -> tuple[Card, ...]:
    record = records[FEASIBILITY]
    if record is None:
        return ()
    return (
        card_of(
            record,
            "feasibility",
            TITLE,
            "Counted is how often trials with such a value exceed a limit, with Jeffreys' interval.",
            EXPECTED,
            "The best is the best trial that keeps all limits; what they cost is what the best of all "
            "analysed trials is better by.",
        ),
    )
