"""Figures on a narrow or dark page, in a real browser: nothing is cut, everything can be seen."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from analyses import analysis, changed, trials

import hyperlens as hl
from hyperlens.explain.run.failures import Failures
from hyperlens.plots.parts.colours import INK
from hyperlens.reports.render import report_html
from hyperlens.sections.parameters.best import ABLATION
from hyperlens.sections.questions.choice import CHOICE
from hyperlens.sections.run.overview import OVERVIEW

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((found for name in NAMES if (found := shutil.which(name))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine")

LONG = "the mean validation loss of five folds"
CUT = """() => [...document.querySelectorAll(".plot")].flatMap((plot) => {
  const room = plot.getBoundingClientRect();
  return [...plot.querySelectorAll(".infolayer g[class*='x'] text, .annotation text")]
    .filter((text) => text.textContent)
    .map((text) => [text.textContent, text.getBoundingClientRect()])
    .filter(([, box]) => box.left < room.left - 1 || box.right > room.right + 1)
    .map(([text]) => text);
})"""
TOUCHING = """() => {
  const boxes = [...document.querySelectorAll("#parallel .annotation text")]
    .map((text) => [text.textContent, text.getBoundingClientRect()]);
  return boxes.flatMap(([a, p], i) => boxes.slice(i + 1)
    .filter(([, q]) => Math.abs(p.top - q.top) < 4 && p.left < q.right && q.left < p.right)
    .map(([b]) => [a, b]));
}"""

CROWDED = """() => [...document.querySelectorAll("article[id] .plot")].flatMap((plot) => {
  const ticks = [...plot.querySelectorAll(".xtick text, .x2tick text, .x3tick text")]
    .map((text) => [text.textContent, text.getBoundingClientRect()]);
  return ticks.flatMap(([a, p], i) => ticks.slice(i + 1)
    .filter(([, q]) => Math.abs(p.top - q.top) < 4 && p.left < q.right && q.left < p.right)
    .map(([b]) => [plot.closest("article").id, a, b]));
})"""
ROOM = """() => Object.fromEntries([...document.querySelectorAll("article[id] .plot")].map((plot) =>
  [plot.closest("article").id, plot._fullLayout._size.w / plot.clientWidth]))"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield opened
        opened.close()


def failed() -> Failures:
    """Of a parameter with a long name and long values."""
    ones = np.array([1, 2])
    return Failures(
        objective=LONG, trials=8, kinds={"failed": 2}, parameters=("learning_rate_init",),
        values=(("0.00046 to 0.0022", "0.0022 to 0.0100"),), tried=(4 * ones,), failed=(ones - 1,),
        low=(ones / 50,), high=(ones / 3,), expected=(ones / 10,), share=np.ones(1), p=np.ones(1),
        rule=None, level=0.9, seed=0,
    )  # fmt: skip


def front_of_three() -> hl.ParetoFront:
    space = hl.Space.of([hl.Parameter("x", "float", 0.0, 1.0)])
    costs = np.random.default_rng(0).random((9, 3)).tolist()
    trials = tuple(hl.Trial(k, {"x": k / 9}, tuple(c)) for k, c in enumerate(costs))
    return hl.pareto(hl.History(space, tuple(map(hl.Objective, ("a", "b", "c"))), trials))


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report with a long objective, and a row of values that are near each other."""
    made = analysis()
    ticks = tuple((1 + k / 5, 10.0**k) for k in range(-5, 1))
    crowded = replace(trials(), ticks=(ticks, *trials().ticks[1:]))
    walked: Any = made[ABLATION]
    chosen: Any = made[CHOICE]
    because = chosen.because
    path = tmp_path_factory.mktemp("page") / "report.html"
    shown = changed(
        made,
        overview=replace(made[OVERVIEW], objective=LONG),
        failures=failed(),
        pareto=front_of_three(),
        choice=replace(
            chosen, because=replace(because, contributions=12345.6 * because.contributions)
        ),
        trials=crowded,
        ablation=replace(walked, objective=LONG),
    ).cards
    trace = next(card.figure for card in shown if card.id == "trace")
    assert trace is not None
    trace["data"][0]["marker"]["color"] = INK
    path.write_text(report_html(shown, "A report"), encoding="utf-8")
    return Path(path).as_uri()


@pytest.fixture(scope="module")
def opened(browser: Any, address: str) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    page = context.new_page()
    page.goto(address)
    page.locator("#theme").wait_for()
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    for plot in page.locator(".plot").all():
        plot.scroll_into_view_if_needed()
        plot.locator(".main-svg").first.wait_for()
    yield page
    context.close()


def test_titles_and_values_fit_a_narrow_page(opened: Any) -> None:
    assert opened.evaluate(CUT) == []
    assert opened.evaluate(TOUCHING) == []
    assert opened.evaluate(CROWDED) == []
    room = opened.evaluate(ROOM)
    assert room["failures"] > 0.4  # a long name stands above its first value, not beside it
    assert room["heatmap"] > 0.6  # no bar of colours beside cells that say their numbers
    assert min(room.values()) > 0.3
    assert opened.locator("#parallel .annotation text").count() > 3


def test_titles_are_broken_anew_for_another_width(opened: Any) -> None:
    title = "#ablation .xtitle"
    narrow = opened.locator(f"{title} tspan").count()
    opened.set_viewport_size({"width": 1200, "height": 844})
    opened.wait_for_function(f"() => !document.querySelector('{title} tspan.line')")
    opened.set_viewport_size({"width": 390, "height": 844})
    opened.wait_for_function(
        f"(many) => document.querySelectorAll('{title} tspan').length === many", arg=narrow
    )
    assert narrow > 1


def test_panels_side_by_side_are_stacked_on_a_narrow_page(opened: Any) -> None:
    """Each as wide as the figure, one above the other, the growth of the front below all."""
    across, up = opened.evaluate(
        """() => { const { _fullLayout: all } = document.querySelector("#pareto .plot");
          return ["x", "y"].map((way) => ["", 2, 3, 4].map((k) => all[`${way}axis${k}`].domain)); }"""
    )
    assert across == [[0, 1]] * 4
    ends = [end for low, high in up for end in (high, low)]
    assert ends == sorted(ends, reverse=True)
    assert ends[0] <= 1
    assert ends[-1] >= 0
    assert opened.evaluate(
        """() => { const plot = document.querySelector("#pareto .plot");
          return plot.clientHeight > 2 * plot.clientWidth; }"""
    )


def test_neutral_marks_have_the_strength_of_text(opened: Any) -> None:
    marks, ground = opened.evaluate(
        """() => { const plot = document.querySelector("#parallel .plot");
          const card = getComputedStyle(plot.closest(".card"));
          const seen = [...document.querySelectorAll(".plot")].flatMap((p) => p.data)
            .flatMap((trace) => [trace.marker?.color, trace.line?.color]);
          return [[seen.includes("INK"), seen.includes(card.color)],
            plot.layout.annotations.every((note) => note.bgcolor === card.backgroundColor)]; }"""
        .replace("INK", INK)
    )  # fmt: skip
    assert marks == [False, True]
    assert ground
