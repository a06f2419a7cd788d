"""From a question to cards: asks the records of a run and hands them to the report's cards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hyperlens.dashboard.questions import ALL, Question
from hyperlens.errors import AnalysisError
from hyperlens.explain.effects.effect import effect
from hyperlens.explain.effects.regions import Regions, regions
from hyperlens.explain.importance.importance import Importance, importance
from hyperlens.explain.importance.interactions import interactions
from hyperlens.explain.models.fidelity import all_budgets
from hyperlens.explain.models.fitting import SurrogateName, fit, leader
from hyperlens.explain.proposals.why import why
from hyperlens.explain.run.bias import bias
from hyperlens.explain.run.compare_runs import compare_runs
from hyperlens.explain.run.footprint import footprint
from hyperlens.explain.run.overview import overview
from hyperlens.explain.run.spending import spending
from hyperlens.explain.run.timeline import timeline
from hyperlens.explain.run.trials import trials
from hyperlens.reports.analysis import (
    Analysis,
    Progress,
    analyse,
    around_the_best,
    attempt,
    explained,
)
from hyperlens.reports.best_cards import ablation_card, local_card
from hyperlens.reports.card import SEARCH, Card
from hyperlens.reports.cards import method_card, summary_card
from hyperlens.reports.effect_cards import effect_card, regions_card
from hyperlens.reports.importance_cards import heatmap_card, importance_card, interactions_card
from hyperlens.reports.overview_cards import (
    endings_card,
    footprint_card,
    parallel_card,
    spending_card,
    timeline_card,
    trace_card,
)
from hyperlens.reports.proposal_cards import path_cards, why_card
from hyperlens.reports.search_cards import beside_card, bias_card, data_card
from hyperlens.runs.history import History
from hyperlens.runs.selection import Selection

INTERVAL = 0.9
PAIR_GRID = 15
AS_READ = ("data", "beside")  # never with predicted costs

Cards = tuple[Card | None, ...]


def answer(
    history: History,
    question: Question,
    others: Mapping[str, History],
    progress: Progress = lambda what, done: None,
) -> tuple[Card, ...]:
    """The cards that a question asks for, of the run at the budget that was chosen."""
    found = ANSWERS[question.card](_at(history, question), question, others, progress)
    return tuple(card for card in found if card is not None)


def _at(history: History, question: Question) -> History:
    """The run at the budget asked for; kept with the run, so that what is computed from it is too."""
    budget = question.budget
    if budget is None or (budget == ALL and question.card in AS_READ):
        return history
    key = ("at budget", budget, question.objective if budget == ALL else None)
    if key not in history.memory:
        history.memory[key] = (
            Selection(budget=float(budget)).of(history)
            if budget != ALL
            else all_budgets(history, question.objective)
        )
    found: History = history.memory[key]
    return found


def _overview(
    history: History, question: Question, others: Mapping[str, History], progress: Progress
) -> Cards:
    wanted = question.objective
    listed = trials(history, wanted)
    spent = spending_card(attempt("models and budgets", lambda: spending(history, wanted)))
    return (
        trace_card(overview(history, wanted)),
        timeline_card(attempt("timeline", lambda: timeline(history))),
        endings_card(listed),
        spent if spent is not None and spent.section != SEARCH else None,
        parallel_card(listed),
        footprint_card(
            attempt("map of configurations", lambda: footprint(history, objective=wanted))
        ),
    )


def _search(
    history: History, question: Question, others: Mapping[str, History], progress: Progress
) -> Cards:
    wanted = question.objective
    spent = spending_card(attempt("models and budgets", lambda: spending(history, wanted)))
    return (
        bias_card(attempt("where the search looked", lambda: bias(history))),
        spent if spent is not None and spent.section == SEARCH else None,
    )


def _data(
    history: History, question: Question, others: Mapping[str, History], progress: Progress
) -> Cards:
    return (data_card(trials(history, question.objective)),)


def _beside(
    history: History, question: Question, others: Mapping[str, History], progress: Progress
) -> Cards:
    known = {o.name for other in others.values() for o in other.objectives}
    wanted = question.objective if question.objective in known else None
    found = attempt("comparison of runs", lambda: compare_runs(others, wanted))
    return (beside_card(found),)


def _summary(
    history: History, question: Question, others: Mapping[str, History], progress: Progress
) -> Cards:
    return (summary_card(_analysed(history, question, progress)),)


def _method(
    history: History, question: Question, others: Mapping[str, History], progress: Progress
) -> Cards:
    return (method_card(_analysed(history, question, progress)),)


def _analysed(history: History, question: Question, progress: Progress) -> Analysis:
    """Everything but regions and proposals, which have questions of their own."""
    key = ("analysed", question.objective)
    if key not in history.memory:
        history.memory[key] = analyse(
            history,
            objective=question.objective,
            level=INTERVAL,
            most_regions=0,
            proposals=None,
            progress=progress,
        )
    found: Analysis = history.memory[key]
    return found


def _importance(
    history: History, question: Question, others: Mapping[str, History], progress: Progress
) -> Cards:
    progress("fitting the surrogates, importance and its intervals", 0.1)
    chosen = _surrogate(question)
    found = attempt(
        "importance",
        lambda: importance(history, level=INTERVAL, surrogate=chosen, objective=question.objective),
    )
    progress("interactions", 0.8)
    together = attempt(
        "interactions",
        lambda: interactions(
            history,
            level=INTERVAL,
            effects=0,
            surrogate=chosen,
            objective=question.objective,
        ),
    )
    progress("what makes the best good", 0.9)
    walked, near = around_the_best(history, _leader(history, question), 0, question.objective)
    return (
        importance_card(found),
        heatmap_card(found),
        interactions_card(together),
        ablation_card(walked),
        local_card(near),
    )


def _effect(
    history: History, question: Question, others: Mapping[str, History], progress: Progress
) -> Cards:
    progress("fitting the surrogates", 0.1)
    name, led = _parameter(history, question), _leader(history, question)
    progress(f"effect of {name}", 0.8)
    found = attempt(
        f"effect of {name}",
        lambda: effect(history, name, surrogate=led, objective=question.objective),
    )
    return (effect_card(found, "effect"),)


def _pair(
    history: History, question: Question, others: Mapping[str, History], progress: Progress
) -> Cards:
    if question.other is None or question.other == question.parameter:
        return ()
    progress("fitting the surrogates", 0.1)
    both = (_parameter(history, question), question.other)
    led = _leader(history, question)
    progress(f"effect of {' and '.join(both)}", 0.7)
    found = attempt(
        f"effect of {' and '.join(both)}",
        lambda: effect(history, both, surrogate=led, grid=PAIR_GRID, objective=question.objective),
    )
    return (effect_card(found, "pair"),)


def _regions(
    history: History, question: Question, others: Mapping[str, History], progress: Progress
) -> Cards:
    if len(history.space) < 2:
        return ()
    progress("fitting the surrogates", 0.1)
    name, led = _parameter(history, question), _leader(history, question)
    progress(f"regions of {name}", 0.5)
    found = attempt(f"regions of {name}", lambda: _grown(history, name, led, question))
    return (regions_card(found, "regions"),)


def _grown(history: History, name: str, led: SurrogateName, question: Question) -> Regions:
    """The tree after every step made by hand; each step is remembered with the run."""
    start = ("regions", name, led, question.objective, question.splits)

    def after(steps: tuple[tuple[str, int], ...]) -> Regions:
        key = (*start, steps)
        if key not in history.memory:
            if not steps:
                history.memory[key] = regions(
                    history,
                    name,
                    splits=question.splits,
                    surrogate=led,
                    objective=question.objective,
                )
            else:
                before = after(steps[:-1])
                what, region = steps[-1]
                known = {r.id for r in before.tree}
                if region not in known:
                    raise AnalysisError(
                        f"There is no region {region} any more; choose another one."
                    )
                history.memory[key] = (before.split if what == "split" else before.merge)(region)
        found: Regions = history.memory[key]
        return found

    return after(question.steps)


def _proposals(
    history: History, question: Question, others: Mapping[str, History], progress: Progress
) -> Cards:
    if question.trial is None:
        return ()
    progress(f"why trial {question.trial} was proposed", 0.2)
    found = attempt(
        "why this trial was proposed",
        lambda: why(history, question.trial, objective=question.objective),
    )
    progress("how the reasons changed", 0.4)
    key = ("path", question.objective)
    if key not in history.memory:
        history.memory[key] = explained(history, question.objective, 0, asked=False)
    way = history.memory[key]
    return (why_card(found), *(() if way is None else path_cards(way)))


def _surrogate(question: Question) -> SurrogateName | None:
    names: dict[str | None, SurrogateName] = {"gp": "gp", "forest": "forest"}
    return names.get(question.surrogate)


def _leader(history: History, question: Question) -> SurrogateName:
    """The surrogate that was asked for, else the one that cross-validates better."""
    asked = _surrogate(question)
    if asked is not None:
        return asked
    forest = fit(history, "forest", objective=question.objective)
    try:
        return leader(fit(history, "gp", objective=question.objective), forest).name
    except AnalysisError:
        return "forest"


def _parameter(history: History, question: Question) -> str:
    """The parameter that was asked for, else the most important one."""
    if question.parameter is not None:
        return question.parameter
    found: Any = attempt(
        "importance",
        lambda: importance(history, order=1, level=None, objective=question.objective),
    )
    if isinstance(found, Importance) and found.share[0] > 0:
        return found.parameters[0][0]
    return history.space.names[0]


Answer = Callable[[History, Question, Mapping[str, History], Progress], Cards]
ANSWERS: dict[str, Answer] = {
    "overview": _overview,
    "search": _search,
    "data": _data,
    "beside": _beside,
    "summary": _summary,
    "method": _method,
    "proposals": _proposals,
    "importance": _importance,
    "effect": _effect,
    "pair": _pair,
    "regions": _regions,
}
