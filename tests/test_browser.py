"""The report and the live page in a real browser: nothing is loaded, everything can be used by all."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import fake_worker
import optuna
import pytest
from analyses import analysis, changed, effect
from live_page import Client, ready, served
from views import tree

import hyperlens as hl
from hyperlens.dashboard import create_app
from hyperlens.dashboard.catalogue import Source
from hyperlens.dashboard.query import SECTIONS
from hyperlens.reports.render import report_html
from hyperlens.sections.analysis import Analysis
from hyperlens.sections.parameters.importance import both
from hyperlens.sections.run.proposals import path_cards
from hyperlens.sections.trials.one_trial import trial_card

optuna.logging.set_verbosity(optuna.logging.ERROR)
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = next(
    (
        found
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (found := shutil.which(name))
    ),
    None,
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine")

EVIL = "<script>document.title='stolen'</script><img src=x onerror=\"document.title='stolen'\">"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
PHONE, LAPTOP, WIDE = (390, 844), (1280, 800), (2200, 1200)
PATIENCE = 180_000  # milliseconds; a busy machine is not a failure
EVERYTHING = "/?open=all"  # of the live page

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


class Watched:
    """A page, what it complained of, and what it asked for."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.set_default_timeout(PATIENCE)

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)


@pytest.fixture
def watch(browser: Any) -> Iterator[Open]:
    """Opens pages that must not complain."""
    contexts = []

    def opened(size: tuple[int, int] = LAPTOP, scheme: str = "light") -> Watched:
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            accept_downloads=True,
        )
        contexts.append(context)
        return Watched(context.new_page())

    yield opened
    for context in contexts:
        context.close()


def curves() -> Analysis:
    """An analysis with single configurations to switch on and a tree to step through."""
    import numpy as np

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


def drawn(page: Any, card: str) -> None:
    page.locator(f"#{card}").scroll_into_view_if_needed()
    page.wait_for_selector(f"#{card} .plot .main-svg")


def eventually(page: Any, expression: str) -> None:
    """Wait until it is true; Playwright's own way of waiting needs eval, which the policy forbids."""
    for _ in range(PATIENCE // 50):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never came true: {expression}")


def asks_the_forest_for_importance(request: Any) -> bool:
    asked = request.post_data or ""
    return '"forest"' in asked and '"importance"' in asked


def all_drawn(page: Any) -> None:
    """Go through the whole page, for figures are drawn when they come near."""
    for card in page.locator("figure").all():
        card.scroll_into_view_if_needed()
    eventually(
        page,
        "[...document.querySelectorAll('.plot')].every((plot) => plot.querySelector('.main-svg'))",
    )


def violations(page: Any) -> list[str]:
    """What axe-core finds wrong, as short as can be said."""
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("async () => (await axe.run(document)).violations")
    return [f"{v['id']}: {v['nodes'][0]['html'][:120]}" for v in found]


# The report


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


def test_a_planted_script_does_nothing(watch: Open, tmp_path: Path) -> None:
    seen = watch()
    made = analysis(name=EVIL, choice=EVIL + "2", text=EVIL)
    unfolded(seen.page, written(tmp_path, made, EVIL))
    all_drawn(seen.page)
    seen.page.get_by_label("Search in the table").fill("script")
    assert seen.page.title() == f"Hyperlens: {EVIL}"
    assert seen.page.locator("img[src=x]").count() == 0
    assert seen.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_can_be_used_by_all(watch: Open, address: str, scheme: str) -> None:
    page = watch(LAPTOP, scheme).page
    unfolded(page, address)
    all_drawn(page)
    for fold in page.locator("details").all():
        fold.evaluate("(fold) => { fold.open = true; }")
    assert violations(page) == []


def test_the_theme_can_be_changed_and_is_remembered(watch: Open, address: str) -> None:
    page = watch().page
    unfolded(page, address)
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Dark theme").click()
    assert page.evaluate(ground) != light
    page.reload()
    assert page.get_by_role("button", name="Light theme").is_visible()


# The live page


def objective(trial: optuna.Trial) -> float:
    lr = trial.suggest_float("lr", 1e-4, 1.0, log=True)
    kind = trial.suggest_categorical(EVIL, ["a", EVIL])
    return (math.log10(lr) + 2) ** 2 + (kind == EVIL) * trial.suggest_float("wd", 0.0, 1.0)


def study(path: Path, trials: int) -> None:
    made = optuna.create_study(
        study_name=EVIL,
        storage=f"sqlite:///{path}",
        load_if_exists=True,
        sampler=optuna.samplers.RandomSampler(seed=0),
    )
    made.optimize(objective, n_trials=trials)


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, Path]]:
    path = tmp_path_factory.mktemp("live") / "runs.db"
    study(path, 20)
    with served(create_app([str(path)])) as client:
        ready(client)
        yield client, path


def settled(page: Any, *slots: str) -> None:
    for slot in slots:
        page.wait_for_selector(f'.slot[data-section="{slot}"] .card')
        page.wait_for_selector(f'.slot[data-section="{slot}"]:not([aria-busy])')


def quick_only(page: Any) -> None:
    """Cards that need a surrogate stay empty, where a test is not about them."""

    def answer(route: Any) -> None:
        if SECTIONS[route.request.post_data_json["section"]].quick:
            route.continue_()
        else:
            route.fulfill(json={"state": "done", "version": "", "trials": 10**9, "html": ""})

    page.route("**/api/ask", answer)


def test_the_live_page_shows_a_run_follows_it_and_grows_regions(
    watch: Open, live: tuple[Client, Path]
) -> None:
    client, path = live
    seen = watch()
    page = seen.page
    page.goto(client.address + EVERYTHING)
    settled(page, "overview", "data", "search", "importance", "effects", "regions", "summary")
    assert page.locator("#seen").inner_text() == "20 trials"
    assert page.get_by_role("link", name="What to do next?").is_visible()

    page.get_by_label("Parameter", exact=True).select_option("wd")
    page.wait_for_selector('[data-section=effects] h3:text-is("wd")')
    settled(page, "regions")
    leaves = page.locator("[data-section=regions] button[data-hand=split]")
    before = leaves.count()
    leaves.first.click()
    eventually(
        page,
        "document.querySelectorAll('[data-section=regions] button[data-hand=split]').length"
        f" === {before + 1}",
    )
    page.locator(
        "[data-section=regions] button[data-hand=merge]"
    ).first.click()  # the whole tree is taken back
    eventually(
        page,
        "document.querySelectorAll('[data-section=regions] button[data-hand=split]').length === 1",
    )

    with page.expect_request(asks_the_forest_for_importance):
        page.get_by_label("Surrogate", exact=True).select_option("forest")
    settled(page, "importance")

    study(path, 5)
    page.wait_for_selector('#seen:text-is("25 trials")')
    page.wait_for_selector('#data p:text-is("All 25 trials as they were read.")')
    assert page.title().startswith("Hyperlens: Optuna study '<script>")
    assert seen.complaints == []
    assert all(r.startswith((client.address, "data:", "blob:")) for r in seen.requests)


def test_a_folded_room_asks_for_nothing_until_it_is_opened(
    watch: Open, live: tuple[Client, Path]
) -> None:
    client, _ = live
    seen, asked = watch(), []
    page = seen.page
    page.on(
        "request",
        lambda sent: asked.append(sent.post_data_json["section"] if sent.post_data else ""),
    )
    page.goto(client.address)
    page.wait_for_selector("#summary .panel .main-svg")
    settled(page, "summary")
    assert set(filter(None, asked)) == {"summary", "trial", "data"}
    assert page.evaluate("document.documentElement.scrollHeight") < 4 * LAPTOP[1]

    page.get_by_role("link", name="What mattered?").click()
    eventually(page, "document.querySelector('#importance')?.getBoundingClientRect().top < 200")
    last = page.locator('.panel a[href^="#effect-"]').last
    effect = last.get_attribute("href").removeprefix("#")  # of a parameter that is not chosen yet
    last.click()
    eventually(page, f"document.querySelector('#{effect}')?.getBoundingClientRect().top < 200")
    assert "overview" not in asked
    assert "open=importance%2Ceffects_of" in page.url
    page.reload()
    settled(page, "importance", "effects")
    assert page.locator(f"#{effect}").is_visible()
    page.goto(f"{client.address}/#timeline")
    eventually(page, "document.querySelector('#timeline')?.getBoundingClientRect().top < 200")
    page.get_by_role("button", name="Open everything").click()
    settled(page, "search", "method")
    assert page.url.endswith("open=all#timeline")
    assert seen.complaints == []


def test_the_live_page_can_be_used_by_all(watch: Open, live: tuple[Client, Path]) -> None:
    client, _ = live
    page = watch(PHONE, "dark").page
    page.goto(client.address + EVERYTHING)
    slots = ("overview", "trial", "data", "search", "importance", "effects", "regions", "summary")
    settled(page, *slots)
    page.locator("#part summary").click()  # what is analysed
    assert page.locator("#trial .shown table").is_visible()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]


def test_every_choice_is_in_the_address(watch: Open, live: tuple[Client, Path]) -> None:
    client, _ = live
    seen = watch()
    page = seen.page
    sections = ("overview", "data", "importance", "effects", "regions")
    page.goto(f"{client.address}{EVERYTHING}#importance")
    settled(page, *sections)
    eventually(page, "document.querySelector('#importance').getBoundingClientRect().top < 200")

    page.get_by_label("Parameter", exact=True).select_option("wd")
    page.wait_for_selector('[data-section=effects] h3:text-is("wd")')
    settled(page, "regions")
    with page.expect_request(asks_the_forest_for_importance):
        page.get_by_label("Surrogate", exact=True).select_option("forest")
    settled(page, "importance", "effects", "regions")
    page.get_by_role("slider", name="Splits").focus()
    page.keyboard.press("Home")
    page.get_by_role("switch", name="Single configurations").check()
    page.get_by_label("Search in the table").fill("complet")
    page.locator("#data").get_by_role("button", name="value", exact=True).click(click_count=2)
    page.get_by_label("Follow the run").uncheck()

    def as_chosen(page: Any) -> None:
        settled(page, *sections)
        assert page.get_by_label("Parameter", exact=True).input_value() == "wd"
        assert page.get_by_label("Surrogate", exact=True).input_value() == "forest"
        slider = page.get_by_role("slider", name="Splits")
        assert slider.get_attribute("aria-valuetext") == "0 splits"
        assert page.get_by_role("switch", name="Single configurations").is_checked()
        assert page.get_by_label("Search in the table").input_value() == "complet"
        assert page.locator("#data th[aria-sort=descending]").inner_text().startswith("value")
        assert not page.get_by_label("Follow the run").is_checked()

    as_chosen(page)
    page.reload()
    as_chosen(page)
    other = watch().page
    other.goto(page.url)  # as a link that was sent
    as_chosen(other)

    for _ in range(2):  # following, the surrogate
        page.go_back()
    settled(page, "effects")
    assert page.get_by_label("Follow the run").is_checked()
    assert page.get_by_label("Surrogate", exact=True).input_value() == ""
    assert page.get_by_label("Parameter", exact=True).input_value() == "wd"
    page.go_back()
    page.wait_for_selector('[data-section=effects] h3:text-is("lr")')
    page.go_forward()
    page.wait_for_selector('[data-section=effects] h3:text-is("wd")')
    page.goto(f"{client.address}/?run=unknown")
    page.wait_for_selector('#message:text-is("There is no such run here; choose another one.")')
    assert seen.complaints == []


def test_a_live_page_without_its_server_says_so(watch: Open) -> None:
    page = watch().page
    with served(create_app(["nowhere"], worker=fake_worker.work)) as client:
        ready(client)
        page.goto(client.address + EVERYTHING)
        page.wait_for_selector('#seen:text-is("7 trials")')
    page.wait_for_selector('#seen:text-is("The server does not answer.")')


def test_the_live_page_keeps_what_the_reader_looks_at(
    watch: Open, live: tuple[Client, Path]
) -> None:
    client, path = live
    seen = watch()
    page = seen.page
    page.goto(client.address + EVERYTHING)
    settled(page, "overview", "data", "search", "importance", "effects", "regions", "summary")
    page.get_by_role("slider", name="Splits").focus()
    page.keyboard.press("Home")
    page.get_by_role("switch", name="Single configurations").check()
    page.locator("#data").get_by_role("button", name="value", exact=True).click()
    search = page.get_by_label("Search in the table")
    search.fill("complet")
    trials = int(page.locator("#seen").inner_text().split()[0])
    drawn(page, "trace")  # zoomed, which a new card has to show too
    page.evaluate(
        "Plotly.relayout(document.querySelector('#trace .plot'), {'xaxis.range': [2, 5]})"
    )
    page.locator("[data-section=effects] details").first.evaluate("(fold) => { fold.open = true; }")
    search.focus()
    page.locator("#data").evaluate(
        "(card) => { scrollBy(0, card.getBoundingClientRect().top - 60); }"
    )
    top = page.locator("#data").bounding_box()["y"]
    assert top == pytest.approx(60, abs=1)  # a smooth scroll would still be on its way
    page.evaluate(
        """() => {
            window.least = 1;
            const look = () => {
              for (const card of document.querySelectorAll(".card")) {
                window.least = Math.min(window.least, Number(getComputedStyle(card).opacity));
              }
              requestAnimationFrame(look);
            };
            look();
        }"""
    )
    study(path, trials)
    page.wait_for_selector(f'#data p:text-is("All {2 * trials} trials as they were read.")')
    settled(page, "overview", "importance", "effects", "regions")
    eventually(
        page,
        f"document.querySelector('[data-section=effects]').textContent.includes('{2 * trials} trials')",
    )
    eventually(page, "!document.querySelector('.slot[aria-busy]')")

    assert page.evaluate("window.least") == 1  # nothing fades while it is computed anew
    assert page.locator(".updating").count() == 0
    assert search.input_value() == "complet"
    assert page.evaluate("document.activeElement.type") == "search"
    assert page.locator("#data th[aria-sort=ascending]").inner_text().startswith("value")
    assert abs(page.locator("#data").bounding_box()["y"] - top) < 2
    assert page.get_by_role("slider", name="Splits").get_attribute("aria-valuetext") == "0 splits"
    assert page.get_by_role("switch", name="Single configurations").is_checked()
    assert page.locator("[data-section=effects] details").first.get_attribute("open") is not None
    drawn(page, "trace")
    assert page.evaluate("document.querySelector('#trace .plot').layout.xaxis.range") == [2, 5]
    assert seen.complaints == []


class Rounds:
    """A run whose cards have another height in every round; in even ones there are more of them."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.round = 0
        self.asked: list[str] = []
        page.route("**/api/state?*", self._state)
        page.route("**/api/ask", self._ask)

    def next(self) -> None:
        self.round += 1
        self.shown()

    def shown(self) -> None:
        eventually(
            self.page,
            f"""document.querySelector("#data") && !document.querySelector(".slot[aria-busy]") &&
                [...document.querySelectorAll(".card h3")].every(
                    (title) => title.textContent === "Round {self.round}")""",
        )

    def _state(self, route: Any) -> None:
        state = {**fake_worker.STATE.public(), "version": str(self.round)}
        state["trials"] = 10 * 2**self.round  # so many that everything is computed again
        state["explained"] = [3] if self.round else []  # whose section is hidden at first
        route.fulfill(json={"ready": True, "problem": None, **state})

    def _ask(self, route: Any) -> None:
        section = route.request.post_data_json["section"]
        self.asked.append(section)
        lines = 12 if section == "effects" else 6 + (len(section) + 7 * self.round) % 11
        names = [section] if self.round % 2 else [f"{section}-0", section, f"{section}-2"]
        card = f"<h3>Round {self.round}</h3>{'<p>A line.</p>' * lines}"
        html = "".join(f'<article class="card" id="{name}">{card}</article>' for name in names)
        answer = {"version": str(self.round), "trials": 10 * 2**self.round, "html": html}
        route.fulfill(json={"state": "done", **answer})


def test_the_reader_of_a_live_page_stays_anywhere_in_it(watch: Open) -> None:
    page = watch().page
    rounds = Rounds(page)
    with served(create_app(["nowhere"], worker=fake_worker.work)) as client:
        ready(client)
        page.goto(client.address + EVERYTHING)
        rounds.shown()
        for part, looked_at in [
            ("#section-search", "#section-search"),
            ("#data p:nth-of-type(4)", "#data p:nth-of-type(4)"),
            ("#effects-2", "#effects p:last-of-type"),  # the one is gone, the other before it
            ("#importance", "#importance"),
        ]:
            page.locator(part).evaluate(
                "(part) => { scrollBy(0, part.getBoundingClientRect().top - 100); }"
            )
            assert page.locator(part).bounding_box()["y"] == pytest.approx(100, abs=1)
            top, scrolled = page.locator(looked_at).bounding_box()["y"], page.evaluate("scrollY")
            rounds.next()
            assert page.locator(looked_at).bounding_box()["y"] == pytest.approx(top, abs=1), part
            assert page.evaluate("scrollY") != scrolled

        page.locator("#regions").evaluate("(part) => { part.scrollIntoView(); scrollBy(0, -120); }")
        rounds.asked.clear()
        page.locator("#surrogate").select_option("forest")
        rounds.shown()
        slow = [section for section in rounds.asked if not SECTIONS[section].quick]
        assert "regions" in slow[:3]  # what is looked at comes first, with what stands beside it
        assert slow.index("regions") < slow.index("importance")


def test_legends_stay_above_their_figures_in_a_wider_window(
    watch: Open, live: tuple[Client, Path]
) -> None:
    client, _ = live
    page = watch(PHONE).page
    page.goto(client.address + EVERYTHING)
    settled(page, "overview", "importance", "effects")
    drawn(page, "trace")
    page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    eventually(
        page,
        """[...document.querySelectorAll(".plot")].filter((p) => p.querySelector(".legend")).every(
            (p) => {
              const legend = p.querySelector(".legend").getBoundingClientRect();
              const below = p.getBoundingClientRect().top + p._fullLayout._size.t;
              return p._fullLayout.width > 600 && legend.bottom <= below + 1;
            })""",
    )


def plain(path: Path, name: str, trials: int, maximize: bool = False) -> None:
    made = optuna.create_study(
        study_name=name,
        storage=f"sqlite:///{path}",
        load_if_exists=True,
        direction="maximize" if maximize else "minimize",
    )
    made.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=trials)


def test_a_run_without_trials_has_a_page_of_its_own_and_is_followed(
    watch: Open, tmp_path: Path
) -> None:
    path = tmp_path / "runs.db"
    plain(path, "full", 6)
    plain(path, "new", 0)
    with served(create_app([str(path)])) as client:
        ready(client)
        page = watch().page
        page.goto(client.address + EVERYTHING)
        settled(page, "overview", "data")
        page.get_by_label("Run", exact=True).select_option("new (runs.db)")
        page.wait_for_selector(
            '#message:text-is("This run has no trials yet; the page follows it.")'
        )
        assert page.locator("h1").inner_text() == "new (runs.db)"
        assert page.title() == "Hyperlens: new (runs.db)"
        assert page.locator("#content section:has(.slot):visible").count() == 0
        assert page.locator("#parameter option").all_inner_texts() == ["the most important"]
        assert page.locator("#objective option").count() == 0
        plain(path, "new", 5)
        settled(page, "overview", "data")
        page.wait_for_selector('#seen:text-is("5 trials")')
        assert not page.locator("#message").is_visible()


def test_only_runs_that_can_be_compared_are_ticked(watch: Open, tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    for name, trials in (("one", 6), ("two", 5), ("up", 5), ("new", 0)):
        plain(path, name, trials, maximize=name == "up")
    with served(create_app([str(path)])) as client:
        page = watch().page
        page.goto(client.address + EVERYTHING)
        settled(page, "overview", "comparison")
        ticked = [box.is_checked() for box in page.locator("#compared input").all()]
        assert ticked == [True, True, False, False]
        assert "After 5 trials, as many as each has" in page.locator("#comparison").inner_text()
        page.get_by_label("up (runs.db)").check()
        page.wait_for_selector('#comparison .problem:has-text("different directions")')
        page.get_by_label("up (runs.db)").uncheck()
        page.wait_for_selector('#comparison:has-text("After 5 trials")')


def test_cost_direction_condition_and_limits_are_chosen_on_the_page(
    watch: Open, tmp_path: Path
) -> None:
    rows = [f"{k / 39},{'ab'[k % 2]},{k % 7 / 7},{k / 39},{k}" for k in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["x,kind,loss,accuracy,latency", *rows]) + "\n")
    with served(create_app([str(tmp_path / "t.csv")])) as client:
        seen = watch()
        page = seen.page
        quick_only(page)
        page.goto(client.address + EVERYTHING)
        page.locator("#part summary").click()
        page.get_by_label("Cost").fill("accuracy, loss")
        page.get_by_role("button", name="Apply").click()
        page.wait_for_selector("#message:has-text(\"choose one under 'Direction'\")")
        page.get_by_label("Direction").select_option("max")
        page.get_by_role("button", name="Apply").click()
        settled(page, "overview", "data", "objectives")
        texts = page.locator("#objective option").all_inner_texts()
        assert texts[0] == "accuracy (higher is better)"
        assert texts[1:] == ["loss (lower is better)", "all at once (hypervolume)"]
        page.get_by_label("Objective", exact=True).select_option("all at once (hypervolume)")
        eventually(page, "document.querySelector('#trace')?.textContent.includes('hypervolume')")
        page.get_by_label("Only where").fill("kind == 'a'")
        page.get_by_label("Limits").fill("latency < 30")
        page.keyboard.press("Enter")
        page.wait_for_selector('#seen:text-is("20 trials")')
        page.reload()
        page.wait_for_selector('#seen:text-is("20 trials")')
        assert (
            page.locator("#narrowed").inner_text()
            == "accuracy, loss · kind == 'a' · latency < 30 · max"
        )
        settled(page, "data")
        assert page.locator("#data th:has-text('keeps the limits')").count() == 1
        page.go_back()
        page.wait_for_selector('#seen:text-is("40 trials")')
        page.locator("#part summary").click()
        page.get_by_label("Only where").fill("speed > 1")
        page.keyboard.press("Enter")
        page.wait_for_selector("#message:has-text(\"no 'speed' to compare in 'Only where'\")")
        page.get_by_role("button", name="Whole run").click()
        settled(page, "overview", "data")
        assert seen.complaints == []


def test_many_runs_are_listed_searched_and_gone_back_to(watch: Open, tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    for k in range(8):
        plain(path, f"run-{k}", trials=k)
    with served(create_app([str(path)])) as client:
        seen = watch(PHONE)
        page = seen.page
        quick_only(page)
        page.goto(client.address + EVERYTHING)
        rows = page.locator("#runs tbody tr")
        page.wait_for_selector('#message:text-is("Choose one of 8 runs.")')
        assert [row.locator("td").first.inner_text() for row in rows.all()] == list("01234567")
        assert rows.first.locator("td").nth(2).inner_text() == "no trials"
        page.get_by_role("button", name="Trials").click(click_count=2)
        assert rows.first.locator("a").inner_text() == "run-7 (runs.db)"
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
        page.get_by_label("Search in the runs").fill("run-6")
        assert rows.count() == 1
        rows.first.locator("a").click()
        settled(page, "overview", "data")
        assert page.locator("#seen").inner_text() == "6 trials"
        page.go_back()
        page.wait_for_selector('#message:text-is("Choose one of 8 runs.")')
        assert rows.count() == 1  # the search is still there
        assert seen.complaints == []


def test_budgets_are_short_and_lower_ones_are_used_unless_told(watch: Open, tmp_path: Path) -> None:
    rows = [f"{k % 7 / 7},{(k % 7 / 7 - 0.5) ** 2},{(1, 25 / 9, 9)[k % 3]}" for k in range(45)]
    (tmp_path / "t.csv").write_text("\n".join(["x,loss,budget", *rows]) + "\n")
    source = Source(str(tmp_path / "t.csv"), objective="loss", maximize=False)
    with served(create_app([source])) as client:
        page = watch().page
        page.goto(client.address + EVERYTHING)
        settled(page, "overview", "data")
        texts = page.locator("#budget option").all_inner_texts()
        assert texts == ["largest, and what others say of it", "1", "2.778", "9", "largest alone"]
        said = "document.querySelector('#summary')?.textContent.includes('have a budget below 9')"
        eventually(page, said)
        page.get_by_label("Budget", exact=True).select_option("largest")
        eventually(page, f"!({said})")
