"""Several objectives: the knee of the front, what its neighbours trade, and why it is there."""

from hyperlens.explain.objectives.choose import Choice, choose
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import card_of
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt


def _compute(e: Explanation) -> Choice | Unavailable | None:
    """None of a run with one objective."""
    if len(e.history.objectives) < 2:
        return None
    return attempt("the knee", lambda: choose(e.history, why=True, seed=e.choices.seed))


CHOICE = Part("choice", _compute, "the knee of the front", 1.0)
PARTS = (CHOICE,)


def cards(records: Records) -> tuple[Card, ...]:
    record = records[CHOICE]
    if record is None:
        return ()
    if isinstance(record, Unavailable):
        return (card_of(record, "choice", "The knee of the front"),)
    return (
        card_of(
            record,
            "choice",
            "The knee of the front",
            "What each value adds to each objective is its Shapley value: averaged over all orders in "
            "which the values of this trial can take the place of those of an average configuration, by "
            "an additive Gaussian process of each objective. The next trials are those of the front "
            "with the smallest step towards a better value of one objective. hyperlens choose --where, "
            "or --trial, with --why says the same of any other trial.",
            table=record.tables[1],
        ),
    )
