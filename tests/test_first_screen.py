"""The first screen, and figures in which choices have names and nothing is the background."""

from __future__ import annotations

from dataclasses import replace

import pytest
from analyses import analysis, changed, effect, trials

from hyperlens.explain.importance.importance import Importance
from hyperlens.explain.models.verdict import Verdict
from hyperlens.plots.importance.marginals import draw_marginals
from hyperlens.plots.importance.share_map import draw_heatmap
from hyperlens.plots.parts.colours import BLUE, see_through
from hyperlens.plots.run.looked_at import draw_looked_at
from hyperlens.sections.advice import what_next, without_reason
from hyperlens.sections.cards.glance import glance
from hyperlens.sections.panels import panels
from hyperlens.sections.parameters.importance import IMPORTANCE, leading
from hyperlens.terminal.text import paragraph


def test_why_nothing_is_known_is_said_once() -> None:
    reason = "the share of lr may be anything"
    doubted = Verdict("do not trust", reason, "run 20 more trials")
    made = analysis()
    known = made[IMPORTANCE]
    assert isinstance(known, Importance)
    made = changed(made, importance=replace(known, verdict=doubted))
    said = [panel.sentence for panel in panels(made)]
    assert [reason in sentence for sentence in said].count(True) == 1
    (alone,) = [advice for advice in what_next(made) if reason in advice]
    assert without_reason(made, alone).startswith("Run 20 more trials.")


def test_choices_of_what_was_looked_at_have_names() -> None:
    record = trials()
    figure = draw_looked_at(record)
    labels = {trace.y[0].partition(" ")[2]: [t for t in trace.text if t] for trace in figure.data}
    counted = {
        name: len({v for v in values if v is not None})
        for name, values in zip(record.parameters, record.values, strict=True)
    }
    for name, values in zip(record.parameters, record.values, strict=True):
        if all(isinstance(value, str) for value in values if value is not None):
            assert len(labels[name]) >= counted[name] > 0
    for trace in figure.data:  # side by side over the whole width
        ends = [b + x for b, x in zip(trace.base, trace.x, strict=True)]
        assert min(trace.base) >= 0
        assert max(ends) <= 1
        assert all(b >= e for b, e in zip(trace.base[1:], ends, strict=False))


def test_categories_stand_beside_ranges() -> None:
    figure = draw_marginals([effect("lr"), effect("opt", "adam")])
    curve, points = figure.data
    assert (curve.mode, points.mode) == ("lines", "markers")
    assert (curve.xaxis, points.xaxis) == (None, "x2")
    assert list(figure.layout.xaxis2.ticktext) == ["a", "adam", "b", "c"]
    assert figure.layout.xaxis.domain[1] < figure.layout.xaxis2.domain[0]
    (alone,) = draw_marginals([effect("opt", "adam")]).data
    assert alone.xaxis == "x"


def test_no_share_is_the_background() -> None:
    found = leading(analysis())
    assert isinstance(found, Importance)
    (cells,) = draw_heatmap(found).data
    assert cells.zmin == 0
    assert cells.colorscale[0] == (0.0, see_through(BLUE, 0.0))


@pytest.mark.parametrize(
    ("tick", "shown"),
    [
        ("a ×<br>b<br><span>when c</span>", "a × b"),
        ("learning_rate ×<br>momentum_decay", "learn…_rate × momen…decay"),
        ("&lt;a&gt;", "&lt;a&gt;"),
    ],
)
def test_names_of_a_small_row_stay_in_one_line(tick: str, shown: str) -> None:
    figure = {"data": [], "layout": {"yaxis": {"ticktext": [tick]}}}
    assert glance(figure, rows=1)["layout"]["yaxis"]["ticktext"] == [shown]


def test_a_number_stays_with_its_unit() -> None:
    said = paragraph("with a probability of 11\N{NO-BREAK SPACE}%, which is low", 28, "- ")
    assert said.splitlines() == ["- with a probability of", "  11 %, which is low"]
