"""The report of a search over models: all that is said of any run, and which model got what and why."""

from __future__ import annotations

from dataclasses import replace

from hyperlens import words as say
from hyperlens.cash.results.model_search import ModelSearch, so_far
from hyperlens.cash.results.one_model import within
from hyperlens.errors import AnalysisError
from hyperlens.explain.importance.importance import Importance, importance
from hyperlens.explain.models.fidelity import all_budgets
from hyperlens.reports.analysis import analyse, attempt
from hyperlens.reports.card import Card, Table
from hyperlens.reports.cards import cards
from hyperlens.reports.figures import figure_of, share
from hyperlens.reports.importance_cards import importance_card
from hyperlens.reports.render import report_html
from hyperlens.runs.history import History
from hyperlens.surrogates.quality import FEWEST

MODELS = "Models"


def models_page(history: History, record: ModelSearch, seed: int = 0) -> str:
    """The report as one HTML document; after the summary the story of the models and, of the
    winner's hyperparameters, which mattered."""
    history = so_far(history)
    first, *others = cards(analyse(history, seed=seed))
    added = (models_card(record), *winner_card(history, record, seed))
    return report_html((first, *added, *others), f"Hyperlens: {history.source}")


def winner_card(history: History, record: ModelSearch, seed: int = 0) -> tuple[Card, ...]:
    """What mattered within the model that won, trials on parts of the rows included where sound."""
    if not record.leaders:
        return ()
    winner = record.models[0]
    found = attempt(f"importance within {winner}", lambda: _within(history, winner, seed))
    title = f"What mattered within {winner}"
    return (replace(importance_card(found), id="winner", section=MODELS, title=title),)


def _within(history: History, model: str, seed: int) -> Importance:
    alone = _at_full(within(history, model), seed)
    count = len(alone.data().y)
    if count < FEWEST:
        raise AnalysisError(
            f"There are too few trials of {model} to tell what mattered within it: "
            f"{say.counted(count, 'trial')} with the whole resource, where it takes {FEWEST}; give "
            "the search a larger budget or more time."
        )
    return importance(alone, seed=seed)


def _at_full(history: History, seed: int) -> History:
    return all_budgets(history, seed=seed) if any(t.budget for t in history.trials) else history


def models_card(record: ModelSearch) -> Card:
    """Each model's chance, budget and best, in words, as a picture and as a table."""
    rows = tuple(
        (
            model,
            share(float(record.weights[i])),
            str(record.reached[i, 0]),
            str(record.reached[i, -1]),
            f"{record.spent[i]:.1f}",
            str(record.failed[i]),
            say.number(float(record.best[i])),
        )
        for i, model in enumerate(record.models)
    )
    return Card(
        id="models",
        section=MODELS,
        title="Which model, and why",
        lead=(*record.story, *record.notes),
        figure=figure_of(record),
        csv=record.to_csv(),
        table=Table(
            ("model", "chance", "drawn", "on all rows", "budget", "failed", "best"),
            rows,
            (False, *[True] * 6),
            (
                "",
                "Of being drawn.",
                "Configurations that were tried.",
                "Configurations that were measured with the whole resource.",
                "In evaluations with the whole resource.",
                "Evaluations that failed; they count as worst.",
                f"The best {record.objective} with the whole resource.",
            ),
        ),
        how=(
            "A model is drawn by its weight, its hyperparameters evenly; those that do well on a part "
            "of the rows are measured on more of them. Defaults and other starts come first, some of "
            "them on all rows at once.",
        ),
    )
