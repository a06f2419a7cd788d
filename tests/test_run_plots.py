"""Figures of a run and of its proposals: the trace, the timeline, spending, configurations."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from analyses import analysis, spending, timeline, trials

from hyperlens.explain.proposals.path import ProposalPath
from hyperlens.plots import draw
from hyperlens.plots.parts.colours import see_through
from hyperlens.plots.parts.lines import INACTIVE
from hyperlens.plots.proposals.path import draw_configurations
from hyperlens.plots.proposals.path import draw_parallel as draw_proposal_lines
from hyperlens.sections.run import overview as parts

OVERVIEW = analysis()[parts.OVERVIEW]


def named(figure: Any, name: str) -> Any:
    (trace,) = [t for t in figure.data if t.name == name]
    return trace


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_few_bad_trials_do_not_flatten_the_trace(sign: float) -> None:
    cost = np.array([2.0, 1.0, 90.0, *np.linspace(1.5, 3.0, 26), 50.0])
    record = replace(
        OVERVIEW, maximize=sign < 0, number=np.arange(30), cost=sign * cost, best=sign,
        best_trial=1, trace=sign * np.minimum.accumulate(cost),
    )  # fmt: skip
    figure = draw(record)
    low, high = sorted(sign * e for e in figure.layout.yaxis.range)
    inside = (low < cost) & (cost < high)
    assert cost[~inside].tolist() == [90.0, 50.0]
    assert figure.layout.yaxis.range[0] < figure.layout.yaxis.range[1]
    (edge,) = [t for t in figure.data if t.name.startswith("2 trials")]
    assert edge.name.startswith(f"2 trials {'above' if sign > 0 else 'below'}")
    assert list(edge.x) == [2, 29]
    assert list(edge.customdata) == [sign * 90.0, sign * 50.0]
    assert all(low < sign * y < high for y in edge.y)
    assert list(named(figure, "each trial").y) == (sign * cost).tolist()  # to zoom out to


def test_the_best_line_begins_on_the_axis_unless_it_began_far_away() -> None:
    rest = np.linspace(1.0, 2.0, 30)
    for first, shown in ((3.5, True), (1000.0, False)):
        cost = np.array([first, *rest, 300.0])
        record = replace(
            OVERVIEW, maximize=False, number=np.arange(32), cost=cost, best=1.0, best_trial=1,
            trace=np.minimum.accumulate(cost),
        )  # fmt: skip
        assert (first < draw(record).layout.yaxis.range[1]) is shown
    near = replace(record, cost=np.linspace(1, 2, 32), trace=np.ones(32))
    assert draw(near).layout.yaxis.range is None  # nothing is far away


def notes(figure: Any) -> dict[tuple[int, float], str]:
    """What is written below the rows, by row and place."""
    return {(round(a.y - 0.3), a.x): a.text for a in figure.layout.annotations}


def test_the_row_of_costs_says_where_it_is_cut() -> None:
    ends = notes(draw(trials()))  # 1.0, 0.4 and 0.7: both ends lie between trials
    assert (ends[3, 0.0], ends[3, 1.0]) == ("≤ 0.412", "≥ 0.988")
    same = replace(trials(), cost=np.array([0.5, np.nan, 0.5, 0.5]))
    ends = notes(draw(same))
    assert (ends[3, 0.0], ends[3, 1.0]) == ("0", "1")
    assert all(a.bgcolor for a in draw(same).layout.annotations)  # readable over the lines


def test_rows_of_proposals_name_what_was_tried() -> None:
    values = ((1.179e-05, "a", 1, None), (0.5, "c", 3, 7), (0.1, "b", 6, None))
    places = np.array([[0.1, 0.17, 0.1, np.nan], [0.9, 0.83, 0.4, 0.5], [0.6, 0.5, 0.9, np.nan]])
    text = notes(draw_proposal_lines(proposed(values, places)))
    rows = [{x: t for (r, x), t in text.items() if r == row} for row in range(4)]
    assert rows[0] == {0.1: "1.2e-05", 0.9: "0.5"}
    assert rows[1] == {0.17: "a", 0.5: "b", 0.83: "c"}
    assert rows[2] == {0.1: "1", 0.4: "3", 0.9: "6"}
    assert rows[3] == {0.5: "7", INACTIVE: "off"}


def test_inactive_cells_have_a_colour_and_a_name() -> None:
    values = ((0.1, "a", 1, None), (0.5, "c", 3, 7))
    places = np.array([[0.1, 0.17, 0.1, np.nan], [0.9, 0.83, 0.4, 0.5]])
    record = proposed(values, places)
    figure = draw_configurations(record)
    off = named(figure, "cells inactive")
    np.testing.assert_equal(np.array(off.z, float)[3], [1.0, np.nan])
    assert np.isnan(np.array(off.z, float)[:3]).all()
    assert off.colorscale[0][1] == named(figure, "inactive").marker.color
    whole = replace(record, vectors=np.nan_to_num(places))
    assert [t.name for t in draw_configurations(whole).data] == ["place on its axis"]


def proposed(values: tuple[tuple[Any, ...], ...], places: Any) -> ProposalPath:
    """A path of these configurations, the first of them the initial design as well."""
    shape = places.shape
    flat: dict[str, Any] = {
        f"{part}{end}": np.arange(shape[1], 0, -1.0) * np.ones(shape)
        for part in ("mean", "uncertainty", "bound")
        for end in ("", "_low", "_high")
    }
    known: dict[str, Any] = {
        "parameters": ("lr", "model", "layers", "width"), "numeric": (True, False, True, True),
        "trial": np.arange(shape[0]), "values": values, "vectors": places,
        "design": values[:1], "design_vectors": places[:1], "measured": np.ones(shape[0]),
        "maximize": False, "objective": "loss",
    }  # fmt: skip
    rest: dict[str, Any] = {f.name: None for f in fields(ProposalPath) if f.init}
    return ProposalPath(**rest | flat | known)


def test_bars_and_lines_of_a_model_have_its_colour() -> None:
    figure = draw(spending())
    lines = {t.name: t.line.color for t in figure.data if t.yaxis == "y2"}
    bars = [t for t in figure.data if t.type == "bar"]
    assert [list(b.y) for b in bars] == [["adam", "sgd"]] * 2
    for bar in bars:
        shown = [c.rsplit(",", 1)[0] for c in bar.marker.color]
        assert shown == [see_through(lines[y], 1).rsplit(",", 1)[0] for y in bar.y]
    strengths = [b.marker.color[0] for b in bars]
    assert strengths[0] != strengths[1]  # the budgets can be told apart
    legend = [t.name for t in figure.data if t.showlegend is not False]
    assert legend == ["budget 1", "budget 9", "adam", "sgd"]


def test_counts_have_no_ticks_between_whole_numbers() -> None:
    assert draw(timeline()).layout.yaxis.dtick == 1
    many = {"complete": np.array([3, 2]), "failed": np.array([3, 0])}
    assert draw(replace(timeline(), finished=many)).layout.yaxis.dtick is None
