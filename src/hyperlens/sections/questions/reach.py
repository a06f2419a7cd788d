"""The smallest change of the default that would be among the best."""

import numpy as np

from hyperlens.explain.reach.reach import Reach, reach
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import card_of
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt

LEVEL = 0.9  # where no intervals are asked for
TOP = 0.1  # part of the trials that are the best ones


def _compute(e: Explanation) -> Reach | Unavailable:
    def computed() -> Reach:
        data, sign = e.history.data(e.choices.objective), e.history.objective(e.choices.objective)
        tenth, best = np.quantile(data.y, [TOP, 0.0], method="inverted_cdf")
        asked = {"level": e.choices.level or LEVEL, **e.asked}
        found = reach(e.history, "default", float(sign.sign * tenth), **asked)
        if found.likely >= found.sure:
            found = reach(e.history, "default", float(sign.sign * best), **asked)
        return found

    return attempt("the smallest change", computed)


REACH = Part("reach", _compute, "the smallest change that helps", 1.0)
PARTS = (REACH,)


def cards(records: Records) -> tuple[Card, ...]:
    return (
        card_of(
            records[REACH],
            "reach",
            "The smallest change that helps",
            "What would have to change in the default to reach what the best tenth of the trials did "
            "(or the best one, where the default does that already), by one, two or three parameters. "
            "The probability is the part of the surrogate's draws in which the cost is reached, without "
            "the noise of a single measurement. Of other trials and costs: hyperlens reach.",
        ),
    )
