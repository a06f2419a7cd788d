"""A search over models: which model got what and why, and what mattered within the one that won.

The plan of a run says how its models were drawn; a run without one has no such section.
"""

from dataclasses import replace

from hyperlens import words as say
from hyperlens.cash.results.model_search import (
    ModelSearch,
    model_search,
    own_hyperparameters,
    so_far,
)
from hyperlens.cash.results.one_model import one_model
from hyperlens.errors import AnalysisError, SpaceError
from hyperlens.explain.importance.importance import Importance, importance
from hyperlens.explain.models.training import training
from hyperlens.runs.history import History
from hyperlens.sections.cards.card import Card
from hyperlens.sections.cards.figures import card_of
from hyperlens.sections.explanation import Explanation, Part, Records, Unavailable, attempt
from hyperlens.sections.parameters.importance import importance_card
from hyperlens.surrogates.quality import FEWEST


def tells_models(history: History) -> bool:
    """Does the run say how models were drawn, and are they those of its space?"""
    try:
        models = own_hyperparameters(history.space)
    except SpaceError:
        return False
    return history.plan is not None and set(models) <= set(history.plan.weights)


def _models(e: Explanation) -> ModelSearch | None:
    return model_search(e.history) if tells_models(e.history) else None


def _winner(e: Explanation) -> Importance | Unavailable | None:
    search = e[MODELS]
    if search is None or not search.leaders:
        return None
    name, seed = search.models[0], e.choices.seed
    return attempt(f"importance within {name}", lambda: _within(so_far(e.history), name, seed))


MODELS = Part("models", _models)
WINNER = Part("winner", _winner, "what mattered within the best model", 2.0)
PARTS = (MODELS, WINNER)


def cards(records: Records) -> tuple[Card, ...]:
    search, shares = records[MODELS], records[WINNER]
    if search is None:
        return ()
    own = (models_card(search), *_of_the_model(search))
    if shares is None:
        return own
    title = f"What mattered within {search.models[0]}"
    return *own, replace(importance_card(shares), id="winner", title=title)


def _of_the_model(search: ModelSearch) -> tuple[Card, ...]:
    """What the trained model is like on held-out rows, where that was measured."""
    found = []
    if search.features is not None:
        found.append(
            card_of(
                search.features,
                "features",
                "Which columns the model uses",
                "The best configuration is trained on the rows of one split; then each column of the "
                "held-out rows is shuffled, and the loss is measured again.",
            )
        )
    if search.calibration is not None:
        found.append(
            card_of(
                search.calibration,
                "calibration",
                "Are its chances true?",
                "Held-out rows of all splits, by the chance that the chosen members gave them together.",
            )
        )
    return tuple(found)


def _within(history: History, model: str, seed: int) -> Importance:
    """Trials on parts of the rows included where that is sound."""
    alone = one_model(history, model)
    count = len(training(alone, seed=seed).y)
    if count < FEWEST:
        raise AnalysisError(
            f"There are too few trials of {model} to tell what mattered within it: "
            f"{say.counted(count, 'trial')} at full budget, where it takes {FEWEST}; give "
            "the search more evaluations or more time."
        )
    return importance(alone, seed=seed)


def models_card(record: ModelSearch) -> Card:
    """Each model's chance, budget and best, in words, as a picture and as a table."""
    return card_of(
        record,
        "models",
        "Which model, and why",
        "A model is drawn by its weight, its hyperparameters evenly; those that do well on a part of "
        "the rows are measured on more of them. Defaults and other starts come first, some of them on "
        "all rows at once.",
    )
