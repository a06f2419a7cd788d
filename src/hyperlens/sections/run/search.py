"""Where the search looked, which models it spent its trials on, and whether what was known helped."""

from hyperlens.explain.proposals.hindsight import CHANCE, PAIRS, Hindsight, hindsight, knew
from hyperlens.explain.run.bias import MMD, Bias, P, bias
from hyperlens.explain.run.spending import Spending
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import card_of
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt
from hyperlens.sections.run.overview import SPENDING, spending_card

BIAS = Part(
    "bias",
    lambda e: attempt("where the search looked", lambda: bias(e.history, seed=e.choices.seed)),
    "where the search looked",
    1.0,
)
KNOWN = "What was known beforehand"


def _judged(e: Explanation) -> Hindsight | Unavailable | None:
    """None where nothing was."""
    if not knew(e.history):
        return None
    return attempt(KNOWN, lambda: hindsight(e.history, e.choices.objective))


HINDSIGHT = Part("hindsight", _judged)
PARTS = (BIAS, HINDSIGHT)


def cards(records: Records) -> tuple[Card | None, ...]:
    spent, known = records[SPENDING], records[HINDSIGHT]
    return (
        bias_card(records[BIAS]),
        None if known is None else card_of(known, "hindsight", KNOWN, PAIRS, CHANCE),
        spending_card(spent) if isinstance(spent, Spending) and spent.choice else None,
    )


def bias_card(record: Bias | Unavailable) -> Card:
    return card_of(record, "bias", "Where the search looked", MMD, P)


def method(records: Records) -> str | None:
    if isinstance(records[BIAS], Unavailable):
        return None
    return (
        "Distance from an even search is the maximum mean discrepancy (MMD) between the evaluated "
        "configurations and as many drawn evenly; its p-value is from permutations."
    )
