"""The trials that would settle what mattered, and what is expected of them."""

from __future__ import annotations

from hyperlens.explain.confirm.confirm import Confirm, confirm
from hyperlens.explain.confirm.confirm_words import LEFT, THEN
from hyperlens.explain.confirm.confirmed import Confirmed, confirmed, is_confirmation
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import card_of
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt

TITLE = "Trials that would settle what mattered"
SETTLED = "What trials have settled"
TRIALS = 20
LEVEL = 0.9
HOW = (
    "Each trial is the configuration that lowers the variance of the effects of single parameters "
    "most, given those before it; exact on the additive Gaussian process."
)


def _compute(e: Explanation) -> Confirm | Unavailable:
    level = e.choices.level or LEVEL
    return attempt(TITLE, lambda: confirm(e.history, trials=TRIALS, level=level, **e.how))


def _came_of_it(e: Explanation) -> Confirmed | Unavailable | None:
    """None where no trial was run to settle a question."""
    if not any(map(is_confirmation, e.history.trials)):
        return None
    level = e.choices.level or LEVEL
    return attempt(SETTLED, lambda: confirmed(e.history, level=level, **e.how))


CONFIRM = Part("confirm", _compute, "trials that would settle what mattered", 3.0)
CONFIRMED = Part("confirmed", _came_of_it, "what trials have settled", 1.0)
PARTS = (CONFIRM, CONFIRMED)


def cards(records: Records) -> tuple[Card, ...]:
    record, came_of_it = records[CONFIRM], records[CONFIRMED]
    settled = () if came_of_it is None else (card_of(came_of_it, "confirmed", SETTLED, THEN),)
    if isinstance(record, Unavailable):
        return (*settled, card_of(record, "confirm", TITLE))
    card = card_of(record, "confirm", TITLE, HOW, THEN, LEFT, table=record.tables[1])
    return (*settled, card)
