"""The report in a real browser: nothing is loaded, everything can be used by all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from analyses import analysis, changed, effect
from browsing import (
    EVIL,
    LAPTOP,
    PHONE,
    WIDE,
    Open,
    Watched,
    all_drawn,
    drawn,
    eventually,
    violations,
)
from views import tree

import hyperlens as hl
from hyperlens.plots.parts.colours import BLUE
from hyperlens.reports.render import report_html
from hyperlens.sections.analysis import Analysis
from hyperlens.sections.parameters.importance import both
from hyperlens.sections.run.proposals import path_cards
from hyperlens.sections.trials.one_trial import trial_card


def curves() -> Analysis:
    """An analysis with single configurations to switch on and a tree to step through."""
    record = replace(effect("lr"), ice_mean=np.array([[1.0, 0.6, 0.5, 2.0], [2.0, 1.0, 0.4, 3.0]]))
    return changed(analysis(), effects=(record, effect("opt", "adam")), regions=(tree(),))


def written(folder: Path, made: Analysis, title: str = "A report") -> str:
    path = folder / "report.html"
    path.write_text(report_html(made.cards, title), encoding="utf-8")
    return path.as_uri()


def unfolded(page: Any, address: str) -> None:
    """Open a report, wait until it is alive, and unfold all of it."""
    page.goto(address)
    page.locator("#theme").wait_for()
    page.evaluate(
        "document.querySelectorAll('details.room').forEach((fold) => { fold.open = true; })"
    )


def traces(page: Any, card: str) -> dict[str, Any]:
    """What the plot of a card shows: visibility and width by name of trace."""
    found: dict[str, Any] = page.evaluate(
        """(card) => Object.fromEntries(document.querySelector(`#${card} .plot`).data.map(
            (trace) => [trace.name, [trace.visible ?? true, trace.line?.width ?? null]]))""",
        card,
    )
    return found


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report that is written once."""
    return written(tmp_path_factory.mktemp("report"), curves())


@pytest.fixture(scope="module")
def report(browser: Any, address: str) -> Iterator[Watched]:
    """One page for all tests that leave the cards of the others alone."""
    size = {"width": LAPTOP[0], "height": LAPTOP[1]}
    context = browser.new_context(viewport=size, color_scheme="light", accept_downloads=True)
    seen = Watched(context.new_page())
    unfolded(seen.page, address)
    yield seen
    context.close()


@pytest.mark.parametrize(("size", "scheme"), [(PHONE, "dark"), (WIDE, "light")])
def test_the_report_opens_quietly_and_fits(
    watch: Open, address: str, size: tuple[int, int], scheme: str
) -> None:
    seen = watch(size, scheme)
    unfolded(seen.page, address)
    all_drawn(seen.page)
    assert seen.complaints == []
    assert [r for r in seen.requests if not r.startswith("blob:")] == [address]
    wide = seen.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= size[0]  # nothing has to be scrolled sideways but tables in their own frames
    eventually(  # the contents are still there, and at what was scrolled to
        seen.page,
        """[...document.querySelectorAll("nav > ol > li > a[aria-current]")].some((link) => {
            const { left, right, top, bottom } = link.getBoundingClientRect();
            return left >= 0 && right <= innerWidth && top >= 0 && bottom <= innerHeight; })""",
    )


def test_the_first_screen_has_a_picture_for_each_question(watch: Open, address: str) -> None:
    page = watch().page
    page.goto(address)
    page.wait_for_selector("#summary .panel .main-svg")
    asked = page.locator(".panel h3").all_inner_texts()
    assert asked[0] == "How good is it?"
    assert asked[-1] == "What to do next?"
    assert "How does lr act?" in asked
    last = page.locator(".panel .plot").last.bounding_box()
    assert last["y"] + last["height"] <= LAPTOP[1]  # all of them without scrolling
    assert not page.locator("#effect-1").is_visible()  # all else is folded
    page.get_by_role("link", name="How does lr act?").click()
    page.wait_for_selector("#effect-1 .main-svg")
    page.goto(page.url.partition("#")[0] + "#importance")
    page.reload()
    assert page.locator("#importance").is_visible()
    assert not page.locator("#method").is_visible()
    page.get_by_role("button", name="Open everything").click()
    assert page.locator("#method").is_visible()
    page.get_by_role("button", name="Fold everything").click()
    assert not page.locator("#method").is_visible()


def test_a_switch_shows_single_configurations(report: Watched) -> None:
    page = report.page
    drawn(page, "effect-1")
    assert traces(page, "effect-1")["single configurations"][0] is False
    page.get_by_role("switch", name="Single configurations").focus()
    page.keyboard.press("Space")
    assert traces(page, "effect-1")["single configurations"][0] is True


def test_a_slider_steps_through_the_splits(report: Watched) -> None:
    page = report.page
    drawn(page, "regions-1")
    assert traces(page, "regions-1")["opt is sgd"] == [True, 1.4]
    assert traces(page, "regions-1")["opt is adam"] == [True, 3.2]
    page.get_by_role("radio", name="opt is sgd").check()  # highlight the other leaf
    assert traces(page, "regions-1")["opt is sgd"] == [True, 3.2]
    assert traces(page, "regions-1")["opt is adam"] == [True, 1.4]
    slider = page.get_by_role("slider", name="Splits")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    assert slider.get_attribute("aria-valuetext") == "0 splits"
    assert traces(page, "regions-1")["opt is sgd"][0] is False
    assert not page.locator("#regions-1 .tree").get_by_text("opt is sgd").is_visible()
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("radio", name="opt is adam").is_checked()  # the best trial's again


def test_a_list_shows_only_the_best(report: Watched) -> None:
    page = report.page
    drawn(page, "parallel")
    page.get_by_label("Show", exact=True).select_option(label="best 5 %")
    shown = traces(page, "parallel")
    assert (shown["the rest"][0], shown["best 5 %"][0]) == (False, True)
    page.get_by_label("Show", exact=True).select_option(label="all")


def test_figures_and_tables_can_be_saved(report: Watched) -> None:
    seen = report
    before = len(seen.requests)
    drawn(seen.page, "importance")
    found = {}
    for kind in ("SVG", "PNG", "CSV"):
        with seen.page.expect_download() as saved:
            seen.page.get_by_role("button", name=f"Save Importance as {kind}").click()
        assert saved.value.suggested_filename == f"hyperlens-importance.{kind.lower()}"
        found[kind] = Path(saved.value.path()).read_bytes()
    assert found["SVG"].startswith(b"<svg")
    assert b"lr" in found["SVG"]
    assert found["PNG"].startswith(b"\x89PNG")
    made = both(curves())
    assert found["CSV"].decode() == made.to_csv()
    with seen.page.expect_download() as saved:
        seen.page.get_by_role("button", name="Save the table as CSV").click()
    rows = Path(saved.value.path()).read_text().splitlines()
    assert rows[0] == "trial,state,loss,seconds,lr,opt,momentum,reason"
    assert rows[2] == "1,failed,,2,0.2,adam,,plain"
    assert seen.complaints == []
    assert all(r.startswith(("data:", "blob:")) for r in seen.requests[before:])


def test_the_table_of_trials_is_sorted_and_searched(report: Watched) -> None:
    page = report.page

    def column(k: int) -> list[str]:
        found: list[str] = page.locator(f"#data tbody tr > :nth-child({k})").all_inner_texts()
        return found

    page.locator("#data").get_by_role("button", name="loss", exact=True).click()
    assert column(3) == ["0.4", "0.7", "1", ""]  # what is unknown comes last
    page.locator("#data").get_by_role("button", name="loss", exact=True).click()
    assert column(3) == ["1", "0.7", "0.4", ""]
    assert page.locator("#data th[aria-sort=descending]").count() == 1
    page.get_by_label("Search in the table").fill("sgd")
    assert column(1) == ["3"]
    page.get_by_label("Search in the table").fill("")


def test_numbers_explain_themselves(report: Watched) -> None:
    page = report.page
    page.get_by_role("button", name="What is trials?").first.click()
    assert page.locator("#summary-what-2").is_visible()
    assert "All trials of the run" in page.locator("#summary-what-2").inner_text()
    page.keyboard.press("Escape")
    assert not page.locator("#summary-what-2").is_visible()


def test_a_trial_has_a_card_that_points_lines_and_rows_lead_to(watch: Open, address: str) -> None:
    seen = watch()
    page = seen.page
    unfolded(page, address)
    drawn(page, "trace")
    picker = page.locator("#trial select")
    texts = picker.locator("option").all_inner_texts()
    assert all(len(text.split(" · ")) == 3 for text in texts)  # number, cost, state
    numbers = [text.split(" · ")[0] for text in texts]
    hovers = page.evaluate("document.querySelector('#trace .plot').data[0].hovertext")
    assert hovers[0].startswith("<b>trial ")
    assert "lr: " in hovers[0]
    for number in (numbers[0], numbers[-1]):  # a row
        page.locator("#data tbody a", has_text=number).first.click()
        assert page.url.endswith(f"#trial={number}")
        assert picker.input_value() == number
        assert page.locator("#trial .shown p").first.inner_text().startswith(f"Trial {number} ")
    page.evaluate(  # a point
        "document.querySelector('#trace .plot').emit('plotly_click', {points: [{pointIndex: 1,"
        " data: document.querySelector('#trace .plot').data[0]}]})"
    )
    clicked = page.evaluate("document.querySelector('#trace .plot').data[0].x[1]")
    assert picker.input_value() == str(clicked)
    assert page.url.endswith(f"#trial={clicked}")
    page.go_back()
    eventually(page, f"document.querySelector('#trial select').value === '{numbers[-1]}'")
    assert violations(page) == []
    drawn(page, "parallel")
    line = page.evaluate(  # a line, by any of its points
        """() => { const plot = document.querySelector('#parallel .plot'), trace = plot.data[0];
            const second = trace.x.indexOf(null) + 2;
            plot.emit('plotly_click', {points: [{pointIndex: second, data: trace}]});
            return trace.meta.lines[1]; }"""
    )
    assert picker.input_value() == str(line)
    page.reload()
    eventually(page, f"document.querySelector('#trial select')?.value === '{line}'")
    assert seen.complaints == []


def test_the_card_of_a_trial_leads_to_its_reasons(watch: Open, tmp_path: Path) -> None:
    space = hl.Space.of([hl.Parameter(name, "float", -1, 1) for name in ("x", "y")])
    run = hl.minimize(lambda v: v["x"] ** 2 + v["y"], space, trials=9, initial=6)
    trials = hl.trials(run)
    cards = (trial_card(trials), *path_cards(hl.path(run), trials))
    path = tmp_path / "proposals.html"
    path.write_text(report_html(cards, "Proposals"), encoding="utf-8")
    seen = watch()
    page = seen.page
    page.goto(f"{path.as_uri()}#trial=7")
    page.get_by_role("button", name="Why trial 7 was proposed").click()
    slider = page.get_by_role("slider", name="Trial")
    assert slider.get_attribute("aria-valuetext").startswith("trial 7 · ")
    assert page.url.endswith("#reasons")
    page.go_back()
    eventually(page, "location.hash === '#trial=7'")
    page.locator("#trial select").select_option("0")  # of the initial design: nobody proposed it
    assert page.locator("#trial").get_by_role("button", name="Why trial").count() == 0
    assert seen.complaints == []


def test_parallel_coordinates_are_brushed(report: Watched) -> None:
    page = report.page
    drawn(page, "parallel")
    lines = (
        "document.querySelector('#parallel .plot').data.flatMap((trace) => trace.meta?.lines ?? [])"
    )
    every = page.evaluate(lines)
    right = page.evaluate(  # a box around the rightmost place of the last row, the worst cost
        """() => { const plot = document.querySelector('#parallel .plot');
            const places = plot.data.flatMap(({ meta, x }) => (meta?.lines ?? []).map((number, k) =>
              [x.filter((_, j) => x[j + 1] === null)[k], number]));
            const x0 = Math.max(...places.map(([place]) => place)), row = plot.data[0].y.at(-2);
            plot.emit('plotly_selected', {selections: [{x0, x1: x0 + 1, y0: row - 0.2, y1: row + 0.2}]});
            return places.filter(([place]) => place === x0).map(([, number]) => number); }"""
    )
    assert 0 < len(right) < len(every) == 3
    assert page.evaluate(lines) == right
    said = page.locator("#parallel .brushed").inner_text()
    assert said.startswith(f"{len(right)} of 3 lines go through what is marked: trials {right[0]}")
    page.get_by_role("button", name="Show all").click()
    assert page.evaluate(lines) == every
    assert report.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_in_cells_stand_out_from_what_is_seen(
    watch: Open, address: str, scheme: str
) -> None:
    """axe-core does not look into figures."""
    page = watch(LAPTOP, scheme).page
    unfolded(page, address)
    drawn(page, "heatmap")
    ground = "getComputedStyle(document.querySelector('#heatmap')).backgroundColor"
    card = np.array([int(part) for part in re.findall(r"\d+", page.evaluate(ground))][:3])
    blue = np.array(list(bytes.fromhex(BLUE.removeprefix("#"))))
    written = page.evaluate(
        """[...document.querySelectorAll('#heatmap .heatmap-label text')].map((text) => [
            Number(text.textContent), getComputedStyle(text).fill.match(/\\d+/g).map(Number)])"""
    )
    largest = max(number for number, _ in written)
    for number, ink in written:
        cell = card + (blue - card) * number / largest
        assert contrast(ink[:3], cell.tolist()) > 3.5, number


def contrast(one: list[float], other: list[float]) -> float:
    """The contrast ratio of two colours, by WCAG 2."""
    parts = np.array([one, other]) / 255
    light = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    low, high = sorted((light @ [0.2126, 0.7152, 0.0722]).tolist())
    return float((high + 0.05) / (low + 0.05))


def test_a_planted_script_does_nothing(watch: Open, tmp_path: Path) -> None:
    seen = watch()
    made = analysis(name=EVIL, choice=EVIL + "2", text=EVIL)
    unfolded(seen.page, written(tmp_path, made, EVIL))
    all_drawn(seen.page)
    seen.page.get_by_label("Search in the table").fill("script")
    assert seen.page.title() == f"Hyperlens: {EVIL}"
    assert seen.page.locator("img[src=x]").count() == 0
    assert seen.complaints == []


def test_the_report_can_be_used_by_all(watch: Open, address: str) -> None:
    page = watch(LAPTOP).page
    unfolded(page, address)
    all_drawn(page)
    for fold in page.locator("details").all():
        fold.evaluate("(fold) => { fold.open = true; }")
    assert violations(page) == []
    page.get_by_role("button", name="Dark theme").click()
    all_drawn(page)
    assert violations(page, "color-contrast") == []  # colours are all that a theme changes


def test_the_theme_can_be_changed_and_is_remembered(watch: Open, address: str) -> None:
    page = watch().page
    unfolded(page, address)
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Dark theme").click()
    assert page.evaluate(ground) != light
    page.reload()
    assert page.get_by_role("button", name="Light theme").is_visible()
