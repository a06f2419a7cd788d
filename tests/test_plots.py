"""A figure shows exactly the numbers of its record, and user text only as text."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from house import sources
from house import tree as syntax
from hypothesis import given
from hypothesis import strategies as st
from views import region, searched, together, tree, wide_tree

from hyperlens.explain.effects.effect import Effect
from hyperlens.explain.importance.importance import Importance
from hyperlens.explain.models.verdict import Verdict
from hyperlens.explain.run.overview import Overview
from hyperlens.plots import draw
from hyperlens.plots.parts.texts import labels, safe, short
from hyperlens.surrogates.quality import Quality

EVIL = "<b>x</b>%{y}"
TRUST = Verdict("trust", "it predicts well", "")
QUALITY = Quality("forest", 0.8, 0.9, 0.95, 4, 2, "trust", "It predicts well.")
OVERVIEW = Overview(
    source="",
    objective="accuracy",
    maximize=True,
    states={"complete": 3},
    best=0.9,
    best_trial=4,
    best_values={"lr": 0.1},
    number=np.array([0, 1, 4]),
    cost=np.array([0.5, 0.4, 0.9]),
    trace=np.array([0.5, 0.5, 0.9]),
    parameters=("lr",),
    conditions={},
    constants={},
    notes=(),
)
IMPORTANCE = Importance(
    objective="loss",
    parameters=(("a",), ("a", "b"), ("b",)),
    share=np.array([0.5, 0.3, 0.1]),
    std=np.array([0.05, 0.04, 0.03]),
    low=np.array([0.4, 0.1, 0.12]),  # the last interval lies beside its share, as one may
    high=np.array([0.7, 0.4, 0.2]),
    surrogate="forest",
    cap=None,
    secondary_quality=None,
    rank_low=np.array([1.0, 2.0, 3.0]),
    rank_high=np.array([1.0, 2.0, 3.0]),
    secondary=np.array([0.5, 0.2, 0.1]),
    secondary_low=np.array([0.5, 0.2, 0.1]),
    secondary_high=np.array([0.5, 0.2, 0.1]),
    rest=0.1,
    level=0.9,
    order=2,
    trees=16,
    trials=30,
    seed=0,
    quality=QUALITY,
    verdict=TRUST,
    notes=(),
)


def one(values: tuple[Any, ...], observed: tuple[Any, ...], best: Any, **more: Any) -> Effect:
    mean = np.array([1.0, 3.0, 2.0])
    settings: dict[str, Any] = {
        "objective": "loss",
        "maximize": False,
        "parameters": ("p",),
        "values": (values,),
        "log": (False,),
        "numeric": (True,),
        "mean": mean,
        "std": np.full(3, 0.5),
        "low": mean - [1.0, 0.5, 0.25],
        "high": mean + np.array([2.0, 1.5, 0.75]),
        "pointwise": np.full(3, 0.5),
        "joint": np.full(3, 0.1),
        "band": "pointwise",
        "level": 0.95,
        "surrogate": "forest",
        "observed": (observed,),
        "observed_cost": np.arange(len(observed), dtype=float),
        "support": np.ones(3),
        "ice_mean": np.empty((0, 3)),
        "ice_std": np.empty((0, 3)),
        "best_values": None if best is None else (best,),
        "quality": QUALITY,
        "verdict": TRUST,
        "notes": (),
    }
    return Effect(**settings | more)


def pair(**more: Any) -> Effect:
    """Three numbers by two categories; the mean of cell (i, j) is 10 i + j."""
    settings: dict[str, Any] = {
        "parameters": ("n", "c"),
        "values": ((0.01, 0.1, 1.0), ("1", "2")),
        "log": (True, False),
        "numeric": (True, False),
        "mean": np.array([0.0, 1.0, 10.0, 11.0, 20.0, 21.0]),
        "std": np.arange(6.0),
        "observed": ((0.1, 1.0), ("2", "1")),
        "observed_cost": np.array([5.0, 6.0]),
        "support": np.ones(6),
        "ice_mean": np.empty((0, 6)),
        "ice_std": np.empty((0, 6)),
        "best_values": (0.1, "2"),
    }
    return replace(one((), (), None), **settings | more)


def named(figure: Any, name: str) -> Any:
    (trace,) = [t for t in figure.data if t.name == name]
    return trace


def test_overview_shows_costs_and_steps() -> None:
    figure = draw(OVERVIEW)
    each, best = named(figure, "each trial"), named(figure, "best so far")
    assert list(each.x) == [0, 1, 4]
    assert list(each.y) == [0.5, 0.4, 0.9]
    assert each.mode == "markers"
    assert list(best.y) == [0.5, 0.5, 0.9]
    assert best.line.shape == "hv"
    star = named(figure, "best trial")
    assert (star.x[0], star.y[0]) == (4, 0.9)


@pytest.mark.parametrize(("maximize", "words"), [(True, "higher"), (False, "lower")])
def test_the_direction_is_said_in_words(maximize: bool, words: str) -> None:
    figure = draw(replace(OVERVIEW, maximize=maximize))
    assert figure.layout.yaxis.title.text == f"accuracy ({words} is better)"


def test_importance_bars_and_whiskers() -> None:
    figure = draw(IMPORTANCE)
    alone, together = named(figure, "one parameter"), named(figure, "interaction")
    assert list(alone.y) == ["a", "b"]
    assert list(alone.x) == [0.5, 0.1]
    assert list(together.y) == ["a × b"]
    assert alone.marker.color != together.marker.color
    for bars, low, high in ((alone, [0.4, 0.12], [0.7, 0.2]), (together, [0.1], [0.4])):
        np.testing.assert_allclose(np.subtract(bars.x, bars.error_x.arrayminus), low)
        np.testing.assert_allclose(np.add(bars.x, bars.error_x.array), high)
    assert list(figure.layout.yaxis.categoryarray) == ["a", "a × b", "b"]
    top, bottom = figure.layout.yaxis.range[::-1]
    assert top < bottom  # the first category, the largest, is on top


def test_without_interval_there_are_no_whiskers() -> None:
    nothing = np.full(3, np.nan)
    figure = draw(replace(IMPORTANCE, level=None, low=nothing, high=nothing))
    assert all(t.error_x.array is None for t in figure.data)
    assert all("interval" not in t.hovertemplate for t in figure.data)


def test_small_effects_are_summed_up() -> None:
    share = np.r_[np.full(15, 0.06), 0.01, 0.004]
    names = tuple((f"p{k}",) for k in range(17))
    many = replace(IMPORTANCE, parameters=names, share=share, std=share, low=share, high=share)
    figure = draw(many)
    assert sum(len(t.x) for t in figure.data) == 15
    assert "2 smaller effects, 1.4%" in figure.layout.xaxis.title.text


def test_curve_has_the_band_and_the_rug() -> None:
    record = one((1.0, 10.0, 100.0), (2.0, None, float("nan"), 50.0), 2.0, log=(True,))
    figure = draw(record)
    assert list(named(figure, "mean").y) == [1.0, 3.0, 2.0]
    assert list(named(figure, "low").y) == [0.0, 2.5, 1.75]
    assert list(named(figure, "95 % band").y) == [3.0, 4.5, 2.75]
    assert named(figure, "95 % band").fill == "tonexty"
    assert list(named(figure, "trials").x) == [2.0, None, None, 50.0]
    assert list(named(figure, "best trial").x) == [2.0]
    assert figure.layout.xaxis.type == "log"
    assert figure.layout.xaxis.title.text == "p"


def test_linear_axis_is_linear_and_no_incumbent_is_no_star() -> None:
    figure = draw(one((1.0, 2.0, 3.0), (2.0,), None))
    assert figure.layout.xaxis.type == "linear"
    assert "best trial" not in [t.name for t in figure.data]


def test_whole_numbers_have_no_ticks_between() -> None:
    assert draw(one((1, 2, 3), (2,), None)).layout.xaxis.dtick == 1
    assert draw(one((1, 50, 100), (2,), None)).layout.xaxis.dtick is None
    assert draw(one((1.0, 2.0, 3.0), (2.0,), None)).layout.xaxis.dtick is None
    assert draw(OVERVIEW).layout.xaxis.dtick == 1


def test_a_short_log_axis_has_round_ticks() -> None:
    axis = draw(one((16, 90, 512), (90,), None, log=(True,))).layout.xaxis
    assert list(axis.tickvals) == [20, 50, 100, 200, 500]
    assert list(axis.ticktext) == ["20", "50", "100", "200", "500"]
    assert draw(one((2.5, 3.0, 4.0), (3.0,), None, log=(True,))).layout.xaxis.nticks == 6


def test_categories_that_look_like_numbers_stay_categories() -> None:
    support = np.array([1.0, 2.0, 1.0])  # of the first the cost is predicted
    record = one(("1", "10", "2"), ("10", "10", "2"), "10", numeric=(False,), support=support)
    figure = draw(record)
    points = named(figure, "mean and 95 % band")
    assert list(points.y) == [0, 1, 2]
    assert list(points.x) == [1.0, 3.0, 2.0]
    assert [row[2] for row in points.customdata] == ["1", "10", "2"]
    trials = named(figure, "measured")
    assert [round(y) for y in trials.y] == [1, 1, 2]  # each in the row of its category
    assert list(trials.x) == record.observed_cost.tolist()
    np.testing.assert_allclose(np.add(points.x, points.error_x.array), record.high)
    np.testing.assert_allclose(np.subtract(points.x, points.error_x.arrayminus), record.low)
    assert figure.layout.yaxis.ticktext[1] == "10 <br>2 trials "
    assert figure.layout.yaxis.ticktext[0] == "1 <br>1 trial, <br>0 measured "
    star = named(figure, "best trial")
    assert (star.x[0], star.y[0]) == (3.0, 1)


def test_map_puts_each_cell_where_it_belongs() -> None:
    figure = draw(pair())
    cells = named(figure, "mean")
    for i, x in enumerate((0.01, 0.1, 1.0)):
        for j, y in enumerate(("1", "2")):
            assert (cells.x[i], cells.y[j]) == (x, y)
            assert cells.z[j][i] == 10 * i + j
            assert cells.customdata[j][i] == 2 * i + j
    assert figure.layout.xaxis.type == "log"
    np.testing.assert_allclose(figure.layout.xaxis.range, [-2, 0])
    assert figure.layout.yaxis.type == "category"
    assert list(named(figure, "trials").x) == [0.1, 1.0]
    assert list(named(figure, "trials").y) == ["2", "1"]
    star = named(figure, "best trial")
    assert (star.x[0], star.y[0]) == (0.1, "2")


def test_cells_of_whole_numbers_are_whole() -> None:
    numbers = {"log": (False, False), "observed": ((1, 3), ("2", "1")), "best_values": (3, "1")}
    figure = draw(pair(values=((1, 2, 3), ("1", "2")), **numbers))
    assert figure.layout.xaxis.range == (0.5, 3.5)
    log = draw(pair(values=((1, 10, 100), ("1", "2")), **numbers | {"log": (True, False)}))
    assert log.layout.xaxis.range == (-0.5, 2.5)
    assert named(figure, "best trial").cliponaxis is False


@pytest.mark.parametrize("best", [None, (0.1, "not there"), (float("nan"), "2")])
def test_a_map_has_a_star_only_where_the_best_trial_has_both_values(best: Any) -> None:
    figure = draw(pair(best_values=best))
    assert [t.name for t in figure.data] == ["mean", "trials"]
    assert figure.layout.showlegend is True  # the dots are named even without it


@pytest.mark.parametrize("maximize", [True, False])
def test_bright_is_better_on_a_map(maximize: bool) -> None:
    assert named(draw(pair(maximize=maximize)), "mean").reversescale is not maximize


@pytest.mark.parametrize(
    ("support", "seen", "shaded"),
    [
        ([1, 1, 1], (1.5, 9.0, 80.0), []),
        ([1, 0, 1], (1.0, 100.0), [(10**0.5, 10**1.5)]),  # half a step of the grid from trials
        ([0, 0, 1], (50.0, None), [(1.0, 50**0.75)]),  # to the end of the range, as one stretch
        ([1, 0, 0], (1.0,), [(10**0.5, 100.0)]),
        ([0, 1, 0], (5.0, 20.0), [(1.0, 5**0.75), (20 * 5**0.25, 100.0)]),  # a quarter, if less
        ([0, 0, 0], (), [(1.0, 100.0)]),
    ],
)
def test_what_no_trial_supports_is_shaded(
    support: list[float], seen: tuple[Any, ...], shaded: list[tuple[float, float]]
) -> None:
    record = one((1.0, 10.0, 100.0), seen, None, log=(True,), support=np.array(support, float))
    shapes = [s for s in draw(record).layout.shapes if s.type == "rect"]
    np.testing.assert_allclose(sorted((s.x0, s.x1) for s in shapes), shaded)
    assert [s.showlegend for s in shapes] == [True, False][: len(shaded)]
    assert all(s.name == "no trial here" and s.layer == "below" for s in shapes)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.integers(2, 30), st.booleans())
def test_no_trial_lies_on_shade(places: list[float], points: int, log: bool) -> None:
    places = [*places, places[0]]
    grid = np.linspace(0, 1, points)
    nearest = np.argmin(abs(np.subtract.outer(places, grid)), axis=1)
    numbers, seen = ((10.0 ** (3 * np.array(v)) if log else np.array(v)) for v in (grid, places))
    record = one(
        tuple(numbers.tolist()), tuple(seen.tolist()), None, log=(log,),
        mean=grid, low=grid, high=grid, support=np.bincount(nearest, minlength=points).astype(float),
    )  # fmt: skip
    shapes = [s for s in draw(record).layout.shapes if s.type == "rect"]
    assert not any(s.x0 < v < s.x1 for s in shapes for v in seen.tolist())
    ordered = sorted((s.x0, s.x1) for s in shapes)
    assert all(a < b for a, b in ordered)
    assert all(high < low for (_, high), (low, _) in pairwise(ordered))  # two never look like one


def test_whole_numbers_without_a_trial_are_shaded_alone() -> None:
    record = one((4, 5, 6), (4, 6), None, support=np.array([1.0, 0.0, 1.0]))
    (shape,) = draw(record).layout.shapes
    assert (shape.x0, shape.x1) == (4.5, 5.5)


def test_single_configurations_wait_in_the_legend() -> None:
    curves = np.array([[1.0, 2.0, 3.0], [4.0, np.nan, 6.0]])
    figure = draw(one((1.0, 2.0, 3.0), (2.0,), None, ice_mean=curves, ice_std=curves))
    single = named(figure, "single configurations")
    assert single.visible == "legendonly"
    assert list(single.x) == [1.0, 2.0, 3.0, None] * 2
    np.testing.assert_equal(list(single.y), [1.0, 2.0, 3.0, None, 4.0, np.nan, 6.0, None])
    assert "single configurations" not in [t.name for t in draw(pair()).data]
    assert "single configurations" not in [t.name for t in draw(one((1.0,) * 3, (), None)).data]


def test_a_category_that_nobody_tried_is_hollow() -> None:
    record = one(
        ("a", "b", "c"), ("a", "c"), None, numeric=(False,), support=np.array([1.0, 0.0, 1.0])
    )
    points = named(draw(record), "mean and 95 % band")
    assert list(points.marker.symbol) == ["circle", "circle-open", "circle"]


def test_regions_show_every_leaf_and_the_whole_space() -> None:
    record = tree()
    figure = draw(record)
    whole = named(figure, "the whole space and its 95 % band")
    assert list(whole.x) == [0.01, 0.1, 1.0]
    assert list(whole.y) == [0.0, 1.0, 2.0]
    assert list(named(figure, "opt is sgd").y) == [10.0, 11.0, 12.0]
    assert list(named(figure, "opt is adam (holds the best)").y) == [20.0, 21.0, 22.0]
    bands = {(t.name, t.legendgroup): list(t.y) for t in figure.data if t.name in ("low", "high")}
    for shown in (record.tree[0], record.tree[2]):  # the whole space, and the highlighted leaf
        assert bands.pop(("low", str(shown.id))) == shown.low.tolist()
        assert bands.pop(("high", str(shown.id))) == shown.high.tolist()
    assert not bands
    star = named(figure, "best trial")
    assert (star.x[0], star.y[0]) == (0.1, 21.0)  # on the curve of the leaf that holds it
    assert figure.layout.xaxis.type == "log"
    assert draw(tree(log=False)).layout.xaxis.type == "linear"


def test_the_incumbents_region_is_highlighted() -> None:
    figure = draw(tree())
    best, other = named(figure, "opt is adam (holds the best)"), named(figure, "opt is sgd")
    assert best.line.width > other.line.width
    assert {t.legendgroup for t in figure.data if t.fill == "tonexty"} == {"0", "2"}


def test_without_an_incumbent_the_surest_region_is_highlighted() -> None:
    leaves = (region(1, 0, "a", 0.1), region(2, 0, "b", 0.3))
    record = tree(best_value=None, tree=(tree().tree[0], *leaves))
    figure = draw(record)
    assert {t.legendgroup for t in figure.data if t.fill == "tonexty"} == {"0", "1"}
    assert "best trial" not in [t.name for t in figure.data]


def test_regions_of_a_category_are_points_beside_each_other() -> None:
    record = tree(values=("1", "10", "2"), numeric=False, log=False, best_value="10")
    figure = draw(record)
    assert list(figure.layout.yaxis.ticktext) == ["1", "10", "2"]
    rows = ("the whole space and its 95 % band", "opt is sgd", "opt is adam (holds the best)")
    places = []
    for name, leaf in zip(rows, record.tree, strict=True):
        points = named(figure, name)
        np.testing.assert_allclose(points.x, leaf.mean)
        np.testing.assert_allclose(np.add(points.x, points.error_x.array), leaf.high)
        np.testing.assert_allclose(np.subtract(points.x, points.error_x.arrayminus), leaf.low)
        assert [round(y) for y in points.y] == [0, 1, 2]
        assert [c[2] for c in points.customdata] == ["1", "10", "2"]
        places += points.y
    assert len(set(places)) == 9  # nothing covers anything
    star = named(figure, "best trial")
    assert (star.x[0], star.y[0]) == (21.0, named(figure, rows[2]).y[1])


def test_regions_that_do_not_fit_are_counted_and_the_best_one_stays() -> None:
    figure = draw(wide_tree(11))
    lines = [t for t in figure.data if t.name not in ("low", "high", "best trial")]
    shown = {t.legendgroup for t in lines}
    assert shown == {str(k) for k in (0, 1, 2, 3, 4, 5, 6, 7, 11)}
    assert "3 smaller regions" in figure.layout.xaxis.title.text
    assert (
        len({(t.line.color, t.line.dash) for t in lines}) == 9
    )  # each can be told from the others
    assert "smaller" not in draw(wide_tree(8)).layout.xaxis.title.text


def test_an_unsplit_space_is_one_curve() -> None:
    record = tree(tree=(region(0, None, "everywhere", 0.4, holds_best=True),))
    names = [t.name for t in draw(record).data]
    assert names == ["low", "high", "the whole space and its 95 % band", "best trial"]


def test_long_rules_are_short_in_the_legend_and_whole_on_hover() -> None:
    rule = "a_parameter_of_a_long_name <= 0.077 and another_parameter_of_a_long_name > 12"
    (line,) = [t for t in draw(tree(rule=rule)).data if t.name and "holds the best" in t.name]
    assert len(line.name) < 85
    assert "<= 0.077 and " in line.name.replace("&lt;", "<")  # what tells it from others is kept
    assert "<br>and another_parameter_of_a_long_name &gt; 12" in line.hovertemplate


def test_bias_shows_the_path_and_each_parameter() -> None:
    record = searched()
    figure = draw(record)
    path, even = named(figure, "this search"), named(figure, "an even search (expected)")
    assert list(path.x) == [2, 8, 50]
    assert list(path.y) == [0.9, 0.5, 0.3]
    assert even.line.dash == "dash"
    assert list(even.y) == [0.5, 0.25, 0.1]
    uneven, rest = named(figure, "uneven"), named(figure, "as if even")
    assert (list(uneven.y), list(uneven.x), list(uneven.customdata)) == (["lr"], [0.4], [0.002])
    assert (list(rest.y), list(rest.x), list(rest.customdata)) == (["opt"], [0.05], [0.6])
    assert "%{customdata" in uneven.hovertemplate
    assert list(figure.layout.yaxis2.categoryarray) == ["lr", "opt"]
    top, bottom = figure.layout.yaxis.domain[0], figure.layout.yaxis2.domain[1]
    assert top > bottom  # the panels do not overlap


def test_many_parameters_of_a_search_are_counted() -> None:
    names, numbers = tuple(f"p{k}" for k in range(17)), np.linspace(1, 0, 17)
    many = replace(searched(), parameters=names, parameter_mmd=numbers, parameter_p=numbers)
    figure = draw(many)
    assert sum(len(t.y) for t in figure.data if t.type == "bar") == 15
    assert "2 parameters nearer to even" in figure.layout.xaxis2.title.text


def test_interactions_are_bars_with_whiskers() -> None:
    record = together()
    figure = draw(record)
    (bars,) = figure.data
    assert list(bars.y) == ["lr × opt", "lr × m", "opt × m"]  # the last has next to no share
    assert list(bars.x) == [0.5, 0.9, 0.1]
    np.testing.assert_allclose(np.subtract(bars.x, bars.error_x.arrayminus), record.low[:3])
    np.testing.assert_allclose(np.add(bars.x, bars.error_x.array), record.high[:3])
    assert [c[0] for c in bars.customdata] == [0.3, 0.01, 0.001]
    assert "30.0% of variance" in figure.layout.yaxis.ticktext[0]
    assert "1 pair of a smaller share" in figure.layout.xaxis.title.text
    nothing = np.full(4, np.nan)
    (bare,) = draw(replace(record, level=None, low=nothing, high=nothing)).data
    assert bare.error_x.array is None
    assert "interval" not in bare.hovertemplate


def test_two_numbers_are_a_contour() -> None:
    record = pair(
        values=((0.01, 0.1, 1.0), (1, 2)),
        numeric=(True, True),
        observed=((0.1, 1.0), (2, 1)),
        best_values=None,
    )
    assert named(draw(record), "mean").type == "contour"


@pytest.mark.parametrize(
    "record",
    [
        replace(OVERVIEW, objective=EVIL),
        replace(IMPORTANCE, parameters=((EVIL,), (EVIL, EVIL), ("b",))),
        one((1.0, 2.0, 3.0), (2.0,), 2.0, parameters=(EVIL,), objective=EVIL),
        one((EVIL, "b", "c"), (EVIL,), EVIL, parameters=(EVIL,), numeric=(False,)),
        pair(values=((0.01, 0.1, 1.0), (EVIL, "2")), observed=((0.1, 1.0), (EVIL, "2"))),
        pair(parameters=(EVIL, EVIL), objective=EVIL),
        tree(parameter=EVIL, rule=f"opt is {EVIL}", objective=EVIL),
        tree(parameter=EVIL, rule=EVIL, values=(EVIL, "b", "c"), numeric=False, best_value=EVIL),
        searched(EVIL),
        together(EVIL),
    ],
)
def test_user_text_is_never_markup(record: Any) -> None:
    text = draw(record).to_json()
    assert "<b>x" not in text
    assert "\\u003cb\\u003ex" not in text
    assert "x</b>%{y}" not in text
    assert "&lt;b&gt;x" in text or "\\u0026lt;b" in text


def test_safe_and_short_and_labels() -> None:
    assert safe('a "quoted" & <b>') == 'a "quoted" &amp; &lt;b&gt;'
    assert short("abc", 3) == "abc"
    assert short("abcdefgh", 5) == "ab…gh"
    assert labels([1, 2]) == ["1", "2"]
    assert labels([1, "1"]) == ["1", "'1'"]


def test_a_record_draws_itself() -> None:
    assert IMPORTANCE.plot().to_json() == draw(IMPORTANCE).to_json()


def test_what_has_no_plot_is_said() -> None:
    with pytest.raises(TypeError, match="no plot for Quality"):
        draw(QUALITY)


LOADED = """
import sys
import pandas
import hyperlens as hl
run = hl.read(pandas.DataFrame({"lr": [0.1, 0.2], "loss": [1.0, 2.0]}), objective="loss")
record = hl.overview(run)
before = set(sys.modules)
record.plot()
print(*sorted(name for name in set(sys.modules) - before if name.startswith("hyperlens.")))
"""


def test_a_plot_loads_only_what_it_draws() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    )
    assert [name.removeprefix("hyperlens.plots") for name in done.stdout.split()] == [
        "",
        ".parts",
        ".parts.axes",
        ".parts.colours",
        ".parts.marks",
        ".parts.style",
        ".parts.texts",
        ".parts.thinning",
        ".run",
        ".run.overview",
    ]


def test_every_drawing_stands_where_its_record_does() -> None:
    homes = {
        (parts[1] if parts[0] == "explain" else parts[0], parts[-1])
        for name in sources()
        if len(parts := name.split(".")) > 1 and parts[0] != "plots"
    }
    drawings = [
        tuple(parts[1:])
        for name, path in sources().items()
        if (parts := name.split("."))[0] == "plots"
        and len(parts) == 3
        and any(getattr(node, "name", "") == "draw" for node in syntax(path).body)
    ]
    assert len(drawings) >= 20
    assert set(drawings) <= homes
