"""Cards of the best configuration: which of its values make it good, and what matters around it."""

from __future__ import annotations

from hyperlens import words as say
from hyperlens.explain.importance.ablation import Ablation
from hyperlens.explain.importance.local_importance import LocalImportance
from hyperlens.reports import meanings
from hyperlens.reports.analysis import Unavailable
from hyperlens.reports.card import IMPORTANCE, MOST_ROWS, Card, Table
from hyperlens.reports.figures import figure_of, share, unavailable


def ablation_card(record: Ablation | Unavailable) -> Card:
    title = "From the default to the best"
    if isinstance(record, Unavailable):
        return unavailable(record, "ablation", IMPORTANCE, title)
    rows = tuple(
        (
            name,
            _value(before),
            _value(after),
            f"{record.contribution[k]:+.3g}",
            f"{record.shapley[k]:+.3g}",
            say.number(float(record.cost[k + 1])),
        )
        for k, (name, before, after) in enumerate(
            zip(
                record.parameters[:MOST_ROWS],
                record.source_values,
                record.target_values,
                strict=False,
            )
        )
    )
    return Card(
        id="ablation",
        section=IMPORTANCE,
        title=title,
        lead=(record.sentence,),
        figure=figure_of(record),
        csv=record.to_csv(),
        table=Table(
            ("parameter", "from", "to", "change", "in any order", "predicted then"),
            rows,
            (False, False, False, True, True, True),
            (
                "",
                meanings.DEFAULT,
                meanings.BEST_VALUE,
                meanings.STEP,
                meanings.STEP_SHAPLEY,
                meanings.STEP_COST,
            ),
        ),
        qualities=(record.quality,),
        notes=record.notes,
        how=(
            "Ablation (Fawcett and Hoos 2016) over the surrogate: of all values that differ, each "
            "round changes the one that helps most. Who comes first is favoured by that, so the "
            "Shapley value of the same change, averaged over all orders, stands beside it.",
            meanings.DEFAULT,
        ),
    )


def local_card(record: LocalImportance | Unavailable) -> Card:
    title = "Around the best"
    if isinstance(record, Unavailable):
        return unavailable(record, "local", IMPORTANCE, title)
    rows = tuple(
        (
            name,
            _value(value),
            share(float(record.share[k])),
            say.number(float(record.best[k])),
            _value(record.best_values[k]),
        )
        for k, (name, value) in enumerate(
            zip(record.parameters[:MOST_ROWS], record.values, strict=False)
        )
    )
    return Card(
        id="local",
        section=IMPORTANCE,
        title=title,
        lead=(record.sentence,),
        figure=figure_of(record),
        csv=record.to_csv(),
        table=Table(
            ("parameter", "its value", "local share", "best predicted", "there at"),
            rows,
            (False, False, True, True, False),
            (
                "",
                meanings.BEST_VALUE,
                meanings.LOCAL_SHARE,
                meanings.LOCAL_BEST,
                meanings.LOCAL_BEST,
            ),
        ),
        qualities=(record.quality,),
        notes=record.notes,
        how=(
            "Local parameter importance (Biedenkapp et al. 2018): one parameter moves over its whole "
            "range while all others stay at the best configuration. A large share here with a small "
            "one over the whole space says that the parameter matters only near the best.",
        ),
    )


def _value(value: object) -> str:
    return "inactive" if value is None else say.number(value)
