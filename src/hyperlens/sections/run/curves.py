"""Learning curves: how early the end is known, what pruning lost, what mattered over the course."""

from hyperlens.explain.curves.course import INTERVAL as SHARE_INTERVAL
from hyperlens.explain.curves.learning_curves import (
    CORRELATION,
    INTERVAL,
    LEVEL,
    LearningCurves,
    curves,
)
from hyperlens.explain.curves.paths import has_curves
from hyperlens.explain.curves.pruning import CHANCE, EXPECTED, STOOD
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import card_of
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt

TITLE = "Learning curves"


def _compute(e: Explanation) -> LearningCurves | Unavailable | None:
    """None where the run has no curves at all."""
    if not has_curves(e.history):
        return None
    level = e.choices.level or LEVEL
    return attempt(TITLE, lambda: curves(e.history, level=level, **e.how))


CURVES = Part("curves", _compute, "learning curves", 2.0)
PARTS = (CURVES,)


def cards(records: Records) -> tuple[Card | None, ...]:
    record = records[CURVES]
    if record is None:
        return ()
    if isinstance(record, Unavailable):
        return (card_of(record, "curves", TITLE),)
    stopped, course = record.pruning, record.course
    return (
        card_of(record, "curves", TITLE, CORRELATION, INTERVAL, lead=record.early_said),
        card_of(stopped, "pruning", "What pruning lost", EXPECTED, CHANCE, STOOD)
        if stopped
        else None,
        card_of(course, "course", "What mattered over the course", SHARE_INTERVAL)
        if course
        else None,
    )
