"""What there is to gain by tuning each parameter, alone and together."""

from hyperlens.explain.tunability.tunability import Tunability, tunability
from hyperlens.explain.tunability.tunability_words import PAIR
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import card_of
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt


def _compute(e: Explanation) -> Tunability | Unavailable:
    return attempt("tunability", lambda: tunability(e.history, level=e.choices.level, **e.asked))


TUNABILITY = Part("tunability", _compute, "what tuning gains", 1.0)
PARTS = (TUNABILITY,)


def cards(records: Records) -> tuple[Card, ...]:
    return (
        card_of(
            records[TUNABILITY],
            "tunability",
            "What tuning gains",
            "A share of the variance says how far costs are moved, up or down; tunability says how "
            "far they can be moved for the better (Wever et al. 2026). Every set of parameters is "
            "tuned over the surrogate while all others stay at the default; a parameter has what it "
            "adds on average over all orders (Shapley value).",
            PAIR + " A line between two is dotted where that may be nothing.",
        ),
    )
