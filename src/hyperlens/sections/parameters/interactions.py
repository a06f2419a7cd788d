"""Which parameters act together, by Friedman's H."""

from __future__ import annotations

from hyperlens import words as say
from hyperlens.explain.importance.interactions import Interactions, interactions
from hyperlens.sections.cards import meanings
from hyperlens.sections.cards.card import MOST_ROWS, Card, Table
from hyperlens.sections.cards.figures import figure_of, unavailable
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt
from hyperlens.sections.surrogates import SURROGATES

TITLE = "Interactions"


def _compute(e: Explanation) -> Interactions | Unavailable:
    """Without effects: pairs have cards of their own."""
    primary, level = e[SURROGATES].primary, e.choices.level
    return attempt(
        "interactions",
        lambda: interactions(e.history, surrogate=primary, level=level, effects=0, **e.how),
    )


INTERACTIONS = Part("interactions", _compute, "interactions", 0.5)
PARTS = (INTERACTIONS,)


def method(records: Records) -> str | None:
    if isinstance(records[INTERACTIONS], Unavailable):
        return None
    return "H is Friedman's, exact from the functional ANOVA of the surrogate."


def cards(records: Records) -> tuple[Card, ...]:
    record = records[INTERACTIONS]
    if isinstance(record, Unavailable):
        return (unavailable(record, "interactions", TITLE),)
    columns, said = ["pair", "H", "share of the variance"], ["", meanings.H, meanings.PAIR_SHARE]
    if record.level is not None:
        columns.insert(2, f"{say.percent(record.level)} interval of H")
        said.insert(2, meanings.INTERVAL)
    rows = []
    for k, pair in enumerate(record.pairs[:MOST_ROWS]):
        row = [say.effect_name(pair), say.decimals(record.h[k]), say.tenths(record.share[k])]
        if record.level is not None:
            row.insert(2, f"{say.decimals(record.low[k])} to {say.decimals(record.high[k])}")
        rows.append(tuple(row))
    numeric = (False, *[True] * (len(columns) - 1))
    card = Card(
        id="interactions",
        title=TITLE,
        lead=(record.sentence,),
        figure=figure_of(record),
        csv=record.to_csv(),
        table=Table(tuple(columns), tuple(rows), numeric, tuple(said)),
        qualities=(record.quality,),
        notes=record.notes,
        how=(meanings.H,),
    )
    return (card,)
