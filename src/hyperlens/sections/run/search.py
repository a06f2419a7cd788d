"""Where the search looked, and which models it spent its trials on."""

from hyperlens.explain.run.bias import MMD, Bias, P, bias
from hyperlens.explain.run.spending import Spending
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import card_of
from hyperlens.sections.explanation import Part, Records, Unavailable, attempt
from hyperlens.sections.run.overview import SPENDING, spending_card

BIAS = Part(
    "bias",
    lambda e: attempt("where the search looked", lambda: bias(e.history, seed=e.choices.seed)),
    "where the search looked",
    1.0,
)
PARTS = (BIAS,)


def cards(records: Records) -> tuple[Card | None, ...]:
    spent = records[SPENDING]
    return (
        bias_card(records[BIAS]),
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
