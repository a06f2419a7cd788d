"""A map of the configurations, in which parameters count as much as they mattered."""

from hyperlens.explain.importance.importance import Importance
from hyperlens.explain.run.footprint import Footprint, footprint
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import figure_of, unavailable
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt
from hyperlens.sections.parameters.importance import leading, totals


def _compute(e: Explanation) -> Footprint | Unavailable:
    shares = leading(e)
    weights = totals(shares) if isinstance(shares, Importance) else None
    return attempt("map of configurations", lambda: footprint(e.history, weights, **e.how))


FOOTPRINT = Part("footprint", _compute, "map of configurations", 0.5)
PARTS = (FOOTPRINT,)


def cards(records: Records) -> tuple[Card, ...]:
    record = records[FOOTPRINT]
    title = "Map of configurations"
    if isinstance(record, Unavailable):
        return (unavailable(record, "footprint", title),)
    card = Card(
        id="footprint",
        title=title,
        lead=(record.reading, record.sentence),
        figure=figure_of(record),
        csv=record.to_csv(),
        notes=record.notes,
        how=(
            "Multidimensional scaling of the distances between configurations, trials and an even "
            "sample together: distances on the map are as near as can be to those in the space. "
            "Different categories are at distance one. The colour is by rank of the measured result.",
        ),
    )
    return (card,)
