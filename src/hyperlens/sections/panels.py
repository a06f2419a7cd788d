"""The first screen: five questions, each with a picture and a sentence."""

from __future__ import annotations

from hyperlens.explain.effects.effect import Effect
from hyperlens.explain.importance.importance import Importance
from hyperlens.explain.importance.importance_words import where
from hyperlens.explain.next.forecast import Forecast
from hyperlens.explain.objectives.pareto import ParetoFront
from hyperlens.plots.importance.importance import draw as draw_importance
from hyperlens.plots.objectives.pareto import draw_front
from hyperlens.plots.run.looked_at import draw_looked_at
from hyperlens.sections.advice import what_next
from hyperlens.sections.cards.card import Panel
from hyperlens.sections.cards.figures import as_plain, figure_of, numbered
from hyperlens.sections.cards.glance import glance
from hyperlens.sections.explanation import Records
from hyperlens.sections.next.forecast import FORECAST
from hyperlens.sections.parameters.effects import EFFECTS
from hyperlens.sections.parameters.importance import leading
from hyperlens.sections.run.objectives import PARETO
from hyperlens.sections.run.overview import OVERVIEW, TRIALS

BARS = 6  # of importance
CURVES = 2  # effects
FORECAST_LINES = "what more trials would gain by a model (blue) and at random (orange)"


def panels(records: Records) -> tuple[Panel, ...]:
    """How good, what mattered, how the two strongest act, what can be trusted, what to do next; a
    question that the run cannot answer is left out here and said below."""
    importance = leading(records)
    mattered = [_mattered(importance)] if isinstance(importance, Importance) else []
    trusted = [_trusted(records, importance)] if isinstance(importance, Importance) else []
    return (_how_good(records), *mattered, *_how_they_act(records), *trusted, _next(records))


def _first(text: str) -> str:
    """The first sentence of a text."""
    head, stop, _ = text.partition(". ")
    return head + "." if stop else text


def _how_good(records: Records) -> Panel:
    """Of several objectives the front, else how the best was reached."""
    front = records[PARETO]
    if isinstance(front, ParetoFront):
        figure = glance(as_plain(draw_front(front)))
        return Panel("How good is it?", _first(front.sentence), figure, "pareto")
    record = records[OVERVIEW]
    return Panel("How good is it?", record.sentence, glance(figure_of(record)), "trace")


def _mattered(record: Importance) -> Panel:
    figure = glance(as_plain(draw_importance(record)), rows=BARS)
    figure["layout"]["xaxis"]["title"]["text"] = f"share of variance {where(record)}"
    return Panel("What mattered?", _first(record.sentence), figure, "importance")


def _how_they_act(records: Records) -> list[Panel]:
    names = records[OVERVIEW].parameters
    known = [e for e in records[EFFECTS] if isinstance(e, Effect) and e.verdict.known]
    return [
        Panel(
            f"How does {e.parameters[0]} act?",
            _first(e.sentence),
            glance(figure_of(e)),
            numbered("effect", e.parameters, names),
        )
        for e in known[:CURVES]
    ]


def _trusted(records: Records, record: Importance) -> Panel:
    first = tuple(dict.fromkeys(name for names in record.parameters for name in names))
    figure = glance(as_plain(draw_looked_at(records[TRIALS], first)))
    figure["layout"]["xaxis"]["title"] = {"text": "where the trials were", "font": {"size": 11}}
    return Panel("What can be trusted?", _first(record.verdict.sentence), figure, "footprint")


def _next(records: Records) -> Panel:
    ahead, advice = records[FORECAST], what_next(records)
    shown = isinstance(ahead, Forecast)
    figure = glance(figure_of(ahead)) if shown else None
    lines = f" Shown: {FORECAST_LINES}." if shown else ""
    return Panel("What to do next?", _first(advice[0]) + lines, figure, "section-forecast")
