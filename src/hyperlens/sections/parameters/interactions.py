"""Which parameters act together, by Friedman's H."""

from hyperlens.explain.importance.interactions import H, Interactions, interactions
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import card_of
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt


def _compute(e: Explanation) -> Interactions | Unavailable:
    """Without effects: pairs have cards of their own."""
    return attempt(
        "interactions",
        lambda: interactions(e.history, level=e.choices.level, effects=0, **e.asked),
    )


INTERACTIONS = Part("interactions", _compute, "interactions", 0.5)
PARTS = (INTERACTIONS,)


def method(records: Records) -> str | None:
    if isinstance(records[INTERACTIONS], Unavailable):
        return None
    return "H is Friedman's, exact from the functional ANOVA of the surrogate."


def cards(records: Records) -> tuple[Card, ...]:
    return (card_of(records[INTERACTIONS], "interactions", "Interactions", H),)
