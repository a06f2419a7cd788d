"""The best configuration: which of its values make it good, and what matters around it."""

from __future__ import annotations

from hyperlens import words as say
from hyperlens.explain.importance.ablation import Ablation, ablation
from hyperlens.explain.importance.local_importance import LocalImportance, local_importance
from hyperlens.sections.cards import meanings
from hyperlens.sections.cards.card import MOST_ROWS, Card, Table
from hyperlens.sections.cards.figures import figure_of, unavailable
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt
from hyperlens.sections.surrogates import SURROGATES


def _ablation(e: Explanation) -> Ablation | Unavailable:
    primary = e[SURROGATES].primary
    return attempt(
        "from the default to the best", lambda: ablation(e.history, surrogate=primary, **e.how)
    )


def _local(e: Explanation) -> LocalImportance | Unavailable:
    primary = e[SURROGATES].primary
    return attempt(
        "around the best", lambda: local_importance(e.history, surrogate=primary, **e.how)
    )


ABLATION = Part("ablation", _ablation, "what makes the best good", 0.5)
LOCAL = Part("local", _local, "what matters around the best", 0.5)
PARTS = (ABLATION, LOCAL)


def cards(records: Records) -> tuple[Card, ...]:
    return ablation_card(records[ABLATION]), local_card(records[LOCAL])


def ablation_card(record: Ablation | Unavailable) -> Card:
    title = "From the default to the best"
    if isinstance(record, Unavailable):
        return unavailable(record, "ablation", title)
    rows = tuple(
        (
            name,
            _value(record.source_values[k]),
            _value(record.target_values[k]),
            f"{record.contribution[k]:+.3g}",
            f"{record.shapley[k]:+.3g}",
            say.number(float(record.cost[k + 1])),
        )
        for k, name in enumerate(record.parameters[:MOST_ROWS])
    )
    said = (
        "",
        meanings.DEFAULT,
        meanings.BEST_VALUE,
        meanings.STEP,
        meanings.STEP_SHAPLEY,
        meanings.STEP_COST,
    )
    return Card(
        id="ablation",
        title=title,
        lead=(record.sentence,),
        figure=figure_of(record),
        csv=record.to_csv(),
        table=Table(
            ("parameter", "from", "to", "change", "in any order", "predicted then"),
            rows,
            (False, False, False, True, True, True),
            said,
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
        return unavailable(record, "local", title)
    rows = tuple(
        (
            name,
            _value(record.values[k]),
            say.tenths(float(record.share[k])),
            say.number(float(record.best[k])),
            _value(record.best_values[k]),
        )
        for k, name in enumerate(record.parameters[:MOST_ROWS])
    )
    reached = meanings.LOCAL_BEST
    return Card(
        id="local",
        title=title,
        lead=(record.sentence,),
        figure=figure_of(record),
        csv=record.to_csv(),
        table=Table(
            ("parameter", "its value", "local share", "best predicted", "there at"),
            rows,
            (False, False, True, True, False),
            ("", meanings.BEST_VALUE, meanings.LOCAL_SHARE, reached, reached),
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
