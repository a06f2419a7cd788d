"""Whether the best observed is the best of those tried."""

from hyperlens.explain.next.winner import EXPECTED, INTERVAL, PROBABILITY, Winner, winner
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import card_of
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt

LEVEL = 0.9
HOW = (
    "True costs are drawn from their posterior given all costs: an additive Gaussian process with "
    "hyperparameters and noise drawn from theirs, and what it cannot tell as a second process."
)


def _compute(e: Explanation) -> Winner | Unavailable:
    level = e.choices.level or LEVEL
    return attempt("whether the best is best", lambda: winner(e.history, level=level, **e.how))


LUCK = Part("luck", _compute, "whether the best is best", 2.0)
PARTS = (LUCK,)


def cards(records: Records) -> tuple[Card, ...]:
    title = "Is the best the best?"
    return (card_of(records[LUCK], "luck", title, HOW, EXPECTED, INTERVAL, PROBABILITY),)


def caution(records: Records) -> str:
    """What is to be said beside the best observed where it is hardly the best; else empty."""
    record = records[LUCK]
    return record.caution if isinstance(record, Winner) else ""
