"""What mattered: the share of each parameter and pair, as bars and as a map."""

import math

import numpy as np

from hyperlens import words as say
from hyperlens.explain.importance.importance import SHARE, Importance, importance
from hyperlens.plots.importance.share_map import draw_heatmap
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import as_plain, card_of
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt

Names = tuple[str, ...]


def _compute(e: Explanation) -> Importance | Unavailable:
    return attempt("importance", lambda: importance(e.history, level=e.choices.level, **e.asked))


IMPORTANCE = Part("importance", _compute, "importance and its intervals", 4.0)
PARTS = (IMPORTANCE,)


def cards(records: Records) -> tuple[Card | None, ...]:
    record = records[IMPORTANCE]
    return importance_card(record), heatmap_card(record)


def method(records: Records) -> str | None:
    record = records[IMPORTANCE]
    if isinstance(record, Unavailable):
        return None
    return (
        f"Importance is functional ANOVA (Hutter et al. 2014), exact, up to interactions of "
        f"{say.counted(record.order, 'parameter')}, on {say.counted(record.trials, 'trial')}. The "
        f"shares are those of the {say.surrogate_name(record.surrogate)}"
        + (f" of {record.trees} trees." if record.surrogate == "forest" else ".")
    )


def ranking(shares: Importance | Unavailable, names: Names) -> tuple[list[Names], list[Names]]:
    """Parameters and pairs, most important first; without shares, parameters as the space has them."""
    order: tuple[Names, ...] = tuple((name,) for name in names)
    if isinstance(shares, Importance) and not np.isnan(shares.share).all():
        order = shares.parameters
    return [p for p in order if len(p) == 1], [p for p in order if len(p) > 1]


def totals(record: Importance) -> dict[str, float]:
    """Share of each parameter, alone and together with others."""
    total: dict[str, float] = {}
    for names, share in zip(record.parameters, record.share.tolist(), strict=True):
        for name in names:
            total[name] = total.get(name, 0.0) + (0.0 if math.isnan(share) else share)
    return total


def importance_card(record: Importance | Unavailable) -> Card:
    return card_of(
        record,
        "importance",
        "Importance" if isinstance(record, Importance) else record.what,
        "Functional ANOVA of the surrogate, exact over the whole space. The whiskers come from refits "
        "on random parts of the data.",
    )


def heatmap_card(record: Importance | Unavailable) -> Card | None:
    """Pairs as a map; no card where there are none."""
    if isinstance(record, Unavailable) or not any(len(p) == 2 for p in record.parameters):
        return None
    pairs = [
        (p, s)
        for p, s in zip(record.parameters, record.share, strict=True)
        if len(p) == 2 and s > 0
    ]
    first = "No two parameters act together in what the surrogate expects."
    if pairs:
        share = say.tenths(float(pairs[0][1]))
        first = f"The strongest pair is {say.effect_name(pairs[0][0])} with {share}."
    if not record.verdict.known:
        first = "Which pairs matter is not known; these are a guess."
    return Card(
        id="heatmap",
        title="Parameters and pairs",
        lead=(
            f"{first} On the diagonal stands what each parameter does alone, below it what two do "
            "beyond that, in percent of the variance.",
        ),
        figure=as_plain(draw_heatmap(record)),
        csv=record.to_csv(),
        verdict=record.verdict,
        how=(SHARE,),
    )
