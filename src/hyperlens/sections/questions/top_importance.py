"""What tells the best trials from the rest."""

from hyperlens.explain.top.top_importance import TopImportance, top_importance
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import card_of
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt

LEVEL = 0.9  # where no intervals are asked for


def _compute(e: Explanation) -> TopImportance | Unavailable:
    level = e.choices.level or LEVEL
    return attempt(
        "importance for the top", lambda: top_importance(e.history, level=level, **e.how)
    )


TOP = Part("top", _compute, "what tells the best from the rest", 1.0)
PARTS = (TOP,)


def cards(records: Records) -> tuple[Card, ...]:
    return (
        card_of(
            records[TOP],
            "top_importance",
            "What tells the best from the rest",
            "PED-ANOVA with regimes of conditions (Watanabe et al. 2023; Baba et al. 2026): how far the "
            "density of a parameter's values among the best tenth differs from that among all. Of the "
            "trials it is what Optuna gives, with whiskers over trials drawn anew; grey might be "
            "chance. Over the space it is asked of functions that agree with the trials. Bars are of "
            "the trials where these lie evenly, of the space where the search favoured parts of it.",
        ),
    )
