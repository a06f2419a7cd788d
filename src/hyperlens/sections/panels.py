"""The first screen: five questions, each with a picture and a sentence."""

from __future__ import annotations

from typing import Any

from hyperlens.explain.effects.effect import Effect
from hyperlens.explain.importance.importance import Importance
from hyperlens.explain.importance.importance_words import where
from hyperlens.explain.next.forecast import Forecast
from hyperlens.explain.objectives.pareto import ParetoFront
from hyperlens.plots.importance.importance import draw as draw_importance
from hyperlens.plots.next.forecast import COLOURS
from hyperlens.plots.objectives.pareto import draw_front
from hyperlens.plots.run.looked_at import draw_looked_at
from hyperlens.sections.advice import on_what_mattered, what_next, without_reason
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
SHORTER = {"model": "by a model", "random": "at random"}  # names of searches
GUESS = "not known yet: the bars are a guess, the lines say how far off each may be."


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
    said = record.sentence if record.kept is not None else _first(record.progress)
    return Panel("How good is it?", said, glance(figure_of(record)), "trace")


def _mattered(record: Importance) -> Panel:
    figure = glance(as_plain(draw_importance(record)), rows=BARS)
    figure["layout"]["xaxis"] |= {"nticks": 3, "tickangle": 0}
    figure["layout"]["xaxis"]["title"]["text"] = "share of variance"
    unknown = f"What mattered{_elsewhere(record)} is {GUESS}"
    known = _first(record.sentence) if record.verdict.known else unknown
    return Panel("What mattered?", known, figure, "importance")


def _elsewhere(record: Importance) -> str:
    """Of which part of the space the shares are, where it is not the whole."""
    return "" if record.among == "all" and record.cap is None else f" {where(record)}"


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
    return Panel("What can be trusted?", on_what_mattered(record.verdict), figure, "footprint")


def _next(records: Records) -> Panel:
    """The first advice; its reason is the verdict's, which stands beside it."""
    ahead, said = records[FORECAST], _first(without_reason(records, what_next(records)[0]))
    figure = _gains(ahead) if isinstance(ahead, Forecast) else None
    return Panel("What to do next?", said, figure, "section-forecast")


def _gains(record: Forecast) -> dict[str, Any]:
    """What more trials would gain; the kinds of search are named above it in less room than a legend."""
    figure = glance(figure_of(record), margin={"t": 24})
    figure["layout"]["yaxis"]["title"]["text"] = "gain"
    ends: tuple[tuple[float, str], ...] = ((0.0, "left"), (1.0, "right"))
    figure["layout"]["annotations"] = [
        {
            "text": f"<span style='color:{COLOURS[search]}'>●</span> {SHORTER[search]}",
            "x": x,
            "xanchor": side,
            "y": 1,
            "yanchor": "bottom",
            "xref": "paper",
            "yref": "paper",
            "showarrow": False,
        }
        for search, (x, side) in zip(record.searches, ends, strict=False)
    ]
    return figure
