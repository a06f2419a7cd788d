"""Where trials fail or diverge: how often by each parameter, and a rule."""

from hyperlens.explain.run.failures import (
    EXPECTED,
    INTERVAL,
    LEVEL,
    Failures,
    P,
    failures,
    outcomes,
)
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import card_of
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt


def _compute(e: Explanation) -> Failures | Unavailable | None:
    """None where no trial failed."""
    kinds, _ = outcomes(e.history, e.choices.objective)
    if not any(which.any() for which in kinds.values()):
        return None
    level = e.choices.level or LEVEL
    return attempt("failures", lambda: failures(e.history, level=level, **e.how))


FAILURES = Part("failures", _compute, "where trials fail", 1.0)
PARTS = (FAILURES,)


def cards(records: Records) -> tuple[Card, ...]:
    record = records[FAILURES]
    if record is None:
        return ()
    return (card_of(record, "failures", "Where trials fail", INTERVAL, EXPECTED, P),)
