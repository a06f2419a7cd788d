"""How two parameters act together, as maps: the strongest interactions, or the pair that was chosen."""

from hyperlens.explain.effects.effect import Effect
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import numbered
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable
from hyperlens.sections.parameters.effects import effect_card, effect_of
from hyperlens.sections.parameters.importance import Names, leading, ranking
from hyperlens.sections.run.overview import OVERVIEW

MOST_PAIRS = 3
LEAST_SHARE = 0.005  # an interaction below gets no card
GRID = 15  # points along each side
SECONDS = 1.5


def _pairs(e: Explanation) -> list[Names]:
    first, second = e.choices.parameter, e.choices.other
    if first is not None:
        both = [n for n in e.history.space.names if n in (first, second)]
        return [tuple(both)] if len(both) == 2 else []
    shares = leading(e)
    if isinstance(shares, Unavailable):
        return []
    worth = dict(zip(shares.parameters, shares.share >= LEAST_SHARE, strict=True))
    pairs = ranking(shares, e.history.space.names)[1]
    return [pair for pair in pairs if worth[pair]][:MOST_PAIRS]


def _compute(e: Explanation) -> tuple[Effect | Unavailable, ...]:
    effects = []
    for k, pair in enumerate(_pairs(e)):
        e.step(f"effect of {' and '.join(pair)}", SECONDS * k / MOST_PAIRS)
        effects.append(effect_of(e, pair, GRID))
    return tuple(effects)


PAIRS = Part("pairs", _compute, "effects of pairs", SECONDS, by=("parameter", "other"))
PARTS = (PAIRS,)


def cards(records: Records) -> tuple[Card, ...]:
    names = records[OVERVIEW].parameters
    return tuple(effect_card(e, numbered("pair", e.parameters, names)) for e in records[PAIRS])
