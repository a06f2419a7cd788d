"""Where the search looked, and which models it spent its trials on."""

from __future__ import annotations

from hyperlens import words as say
from hyperlens.explain.run.bias import Bias, bias
from hyperlens.explain.run.spending import Spending
from hyperlens.sections.cards import meanings
from hyperlens.sections.cards.card import MOST_ROWS, Card, Table
from hyperlens.sections.cards.figures import figure_of, unavailable
from hyperlens.sections.explanation import Part, Records, Unavailable, attempt
from hyperlens.sections.run.overview import SPENDING, spending_card

TITLE = "Where the search looked"

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
    if isinstance(record, Unavailable):
        return unavailable(record, "bias", TITLE)
    rows = tuple(
        (name, say.decimals(mmd), f"{p:.3f}")
        for name, mmd, p in zip(
            record.parameters, record.parameter_mmd, record.parameter_p, strict=True
        )
    )
    return Card(
        id="bias",
        title=TITLE,
        lead=(record.sentence, record.reading),
        figure=figure_of(record),
        csv=record.to_csv(),
        table=Table(
            ("parameter", "MMD", "p"),
            rows[:MOST_ROWS],
            (False, True, True),
            ("", meanings.MMD, meanings.P),
        ),
        notes=record.notes,
        how=(meanings.MMD, meanings.P),
    )


def method(records: Records) -> str | None:
    if isinstance(records[BIAS], Unavailable):
        return None
    return (
        "Distance from an even search is the maximum mean discrepancy (MMD) between the evaluated "
        "configurations and as many drawn evenly; its p-value is from permutations."
    )
