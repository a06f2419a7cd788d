"""Several objectives: how surely trials are on the front."""

from hyperlens.explain.objectives.true_front import TrueFront, true_front
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import card_of
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt

LEVEL = 0.9


def _compute(e: Explanation) -> TrueFront | Unavailable | None:
    """None of a run with one objective."""
    if len(e.history.objectives) < 2:
        return None
    level, seed = e.choices.level or LEVEL, e.choices.seed
    return attempt("the true front", lambda: true_front(e.history, level=level, seed=seed))


TRUE_FRONT = Part("true_front", _compute, "how sure the front is", 3.0)
PARTS = (TRUE_FRONT,)


def cards(records: Records) -> tuple[Card, ...]:
    record = records[TRUE_FRONT]
    if record is None:
        return ()
    return (
        card_of(
            record,
            "true-front",
            "How sure the front is",
            "What each configuration truly costs, without noise, is drawn a thousand times from what "
            "all trials say of it, for each objective by itself. A probability is the part of the draws "
            "in which no other configuration beats it. The band lies between what is attained in almost "
            "all draws and what is attained in hardly any.",
        ),
    )
