"""Several objectives: the Pareto front and how it grew."""

from hyperlens.explain.objectives.pareto import ParetoFront, pareto
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import card_of
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt


def _compute(e: Explanation) -> ParetoFront | Unavailable | None:
    """None of a run with one objective."""
    if len(e.history.objectives) < 2:
        return None
    return attempt("the Pareto front", lambda: pareto(e.history))


PARETO = Part("pareto", _compute, "the Pareto front", 1.0)
PARTS = (PARETO,)


def cards(records: Records) -> tuple[Card, ...]:
    record = records[PARETO]
    if record is None:
        return ()
    return (
        card_of(
            record,
            "pareto",
            "Pareto front",
            "A trial is on the front if no other one is at least as good in all objectives. The knee "
            "is the trial of the front with the smallest sum of costs, each as a part of the front's "
            "own range. The hypervolume is exact: the part of the box between the best of each "
            "objective and the reference point, here the worst that was measured of each, in which a "
            "point is beaten by a trial.",
        ),
    )
