"""What more trials would bring, and whether to stop."""

from hyperlens.explain.next.forecast import forecast
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import card_of
from hyperlens.sections.explanation import Part, Records, attempt

TITLE = "What more trials would bring"
FORECAST = Part(
    "forecast", lambda e: attempt("forecast", lambda: forecast(e.history, **e.how)), "forecast", 1.5
)
PARTS = (FORECAST,)
HOW = (
    "Functions that agree with the trials are drawn from the additive Gaussian process. A random "
    "search finds the lowest of their values at so many configurations; a search by a model finds "
    "a part of the way to their lowest value of all, as much as it did on other runs.",
    "Gains are of the true cost, without the luck of noise.",
)


def cards(records: Records) -> tuple[Card, ...]:
    return (card_of(records[FORECAST], "forecast", TITLE, *HOW),)
