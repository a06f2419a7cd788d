"""Several objectives: what matters along the trade-off between each two."""

from itertools import combinations, islice

from hyperlens.explain.objectives.tradeoff import Tradeoff, tradeoff
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import card_of
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt

LEVEL = 0.9
MOST = 3  # pairs of objectives


def _compute(e: Explanation) -> tuple[Tradeoff | Unavailable, ...]:
    """One for each two of the first objectives; none of a run with one."""
    names = [o.name for o in e.history.objectives]
    return tuple(_one(e, pair) for pair in islice(combinations(names, 2), MOST))


def _one(e: Explanation, pair: tuple[str, str]) -> Tradeoff | Unavailable:
    level, seed = e.choices.level or LEVEL, e.choices.seed
    what = f"the trade-off of {pair[0]} and {pair[1]}"
    return attempt(what, lambda: tradeoff(e.history, pair, level=level, seed=seed))


TRADEOFF = Part("tradeoff", _compute, "importance along the trade-off", 3.0)
PARTS = (TRADEOFF,)


def cards(records: Records) -> tuple[Card, ...]:
    found = records[TRADEOFF]
    return tuple(
        card_of(
            record,
            f"tradeoff-{k}" if k else "tradeoff",
            "Importance along the trade-off" if isinstance(record, Unavailable) else record.heading,
            "Shares of the variance of the weighted sum of both objectives over the space, exact for "
            "each weight and each function that the two additive Gaussian processes draw. Weighed are "
            "costs, minimised, in units of their standard deviation over the space, so that at equal "
            "weights both vary as much.",
        )
        for k, record in enumerate(found)
    )
