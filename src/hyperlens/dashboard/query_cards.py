"""From a query to the cards of a section, which are those of the report."""

from collections.abc import Mapping
from dataclasses import replace

from hyperlens.dashboard.query import SECTIONS, Query
from hyperlens.runs.history import History
from hyperlens.runs.selection import Selection
from hyperlens.sections.cards.card import Card
from hyperlens.sections.explanation import Explanation, Progress
from hyperlens.sections.parameters.effects import most_important
from hyperlens.sections.parameters.importance import IMPORTANCE
from hyperlens.sections.surrogates import SURROGATES


def query_cards(
    history: History,
    query: Query,
    runs: Mapping[str, History],
    progress: Progress = lambda what, done: None,
) -> tuple[Card, ...]:
    """The cards of a section, of the run at the budget that was chosen.

    A report shows the effects of many parameters, a page those of one at a time: where none is chosen,
    of the most important one.
    """
    section, history = SECTIONS[query.section], _chosen(history, query)
    if query.together:  # the one objective that there is then
        query = replace(query, choices=replace(query.choices, objective=None))
    seconds = sum(part.seconds for part in section.parts)
    seconds += 0.0 if section.quick else SURROGATES.seconds + IMPORTANCE.seconds
    explanation = Explanation(history, query.choices, runs, progress, seconds)
    if "parameter" in section.by and query.choices.parameter is None:
        ((parameter,), *_) = most_important(explanation)
        choices = replace(query.choices, parameter=parameter)
        explanation = Explanation(history, choices, runs, progress, seconds)
    return section.cards(explanation)


def _chosen(history: History, query: Query) -> History:
    """The run at the budget asked for, perhaps with all objectives as one; kept with the run, so that
    what is computed from it is too."""
    if query.budget is None and not query.together:
        return history
    key = ("chosen", query.budget, query.together)
    if key not in history.memory:
        selection = Selection(budget=query.budget, hypervolume=query.together)
        history.memory[key] = selection.of(history)
    chosen: History = history.memory[key]
    return chosen
