"""Several objectives: how the most important parameters act on all of them."""

from hyperlens.explain.objectives.effects_of import EffectsOf, effects_of
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import card_of
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt
from hyperlens.sections.parameters.tradeoff import TRADEOFF

MOST = 3  # parameters


def _compute(e: Explanation) -> tuple[EffectsOf | Unavailable, ...]:
    """Of the parameters that matter most anywhere along the trade-offs; none with one objective."""
    if len(e.history.objectives) < 2:
        return ()
    found = [record for record in e[TRADEOFF] if not isinstance(record, Unavailable)]
    names = [name[0] for record in found for name in record.parameters[:MOST]]
    ranked = sorted(dict.fromkeys(names), key=lambda name: -names.count(name))[:MOST]
    return tuple(_one(e, name) for name in ranked)


def _one(e: Explanation, name: str) -> EffectsOf | Unavailable:
    what, chosen = f"effects of {name} on all objectives", e.choices.surrogate or "additive"
    return attempt(what, lambda: effects_of(e.history, name, surrogate=chosen, seed=e.choices.seed))


EFFECTS_OF = Part("effects_of", _compute, "effects on all objectives", 2.0)
PARTS = (EFFECTS_OF,)


def cards(records: Records) -> tuple[Card, ...]:
    found = records[EFFECTS_OF]
    return tuple(
        card_of(
            record,
            f"effects-of-{k + 1}",
            record.what if isinstance(record, Unavailable) else record.heading,
            "Partial dependence of each objective on this parameter, each from its own additive "
            "Gaussian process unless another surrogate is chosen, with the band of the average.",
        )
        for k, record in enumerate(found)
    )
