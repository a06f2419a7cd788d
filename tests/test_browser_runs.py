"""Runs and choices on the live page in a real browser: listed, compared, narrowed, below a path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from browsing import (
    EVERYTHING,
    LAPTOP,
    PHONE,
    Open,
    drawn,
    eventually,
    plain,
    quick_only,
    settled,
    violations,
)
from live_page import ready, served

import hyperlens as hl
from hyperlens.dashboard import create_app
from hyperlens.dashboard.catalogue import Source


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


def test_fifty_thousand_trials_are_drawn_thinned_searched_and_looked_at(
    watch: Open, tmp_path: Path
) -> None:
    many = 50_000
    rows = [f"{k % 997 / 1e7},{'ab'[k % 2]},{(k % 997 / 997 - 0.3) ** 2}" for k in range(many)]
    (tmp_path / "t.csv").write_text("\n".join(["x,kind,loss", *rows]) + "\n")
    source = Source(str(tmp_path / "t.csv"), objective="loss", maximize=False)
    with served(create_app([source])) as client:
        seen = watch()
        page = seen.page
        quick_only(page)
        page.goto(client.address + EVERYTHING)
        settled(page, "overview", "data")
        assert page.locator("#seen").inner_text() == f"{many} trials"
        drawn(page, "trace")
        marks = "document.querySelector('#trace .plot').data.map(({ x }) => x?.length ?? 0)"
        assert 100 < max(page.evaluate(marks)) < many / 10
        page.get_by_label("Search in the table").fill(str(many - 1))
        assert "1.49e-05" in page.locator("#data tbody tr").first.inner_text()
        found = page.locator("#data tbody a", has_text=str(many - 1))
        found.click()
        eventually(page, f"document.querySelector('#trial select').value === '{many - 1}'")
        page.reload()  # the search and the trial are in the address
        settled(page, "overview", "data")
        assert page.locator("#data tbody tr").count() == 1
        eventually(page, f"document.querySelector('#trial select').value === '{many - 1}'")
        assert seen.complaints == []


def test_what_is_marked_in_parallel_coordinates_is_in_the_address(
    watch: Open, tmp_path: Path
) -> None:
    path = tmp_path / "runs.db"
    plain(path, "one", 6)
    kept = (
        "document.querySelector('#parallel .plot').data.flatMap((t) => t.meta?.lines ?? []).length"
    )
    with served(create_app([str(path)])) as client:
        seen = watch()
        page = seen.page
        quick_only(page)
        page.goto(client.address + EVERYTHING)
        settled(page, "overview", "data")
        drawn(page, "parallel")
        assert page.evaluate(kept) == 6
        page.evaluate(  # a box around the rightmost place of the last row, the worst cost
            """() => { const plot = document.querySelector('#parallel .plot');
                const ends = plot.data.flatMap(({ x }) => (x ?? []).filter((_, k) => x[k + 1] === null));
                const x0 = Math.max(...ends), row = plot.data[0].y.at(-2);
                const box = { x0, x1: x0 + 1, y0: row - 0.2, y1: row + 0.2 };
                plot.emit('plotly_selected', { selections: [box] }); }"""
        )
        assert "parallel.marked=" in page.url
        left = page.evaluate(kept)
        assert 0 < left < 6
        page.reload()
        settled(page, "overview", "data")
        drawn(page, "parallel")
        assert page.evaluate(kept) == left
        page.get_by_role("button", name="Show all").click()
        assert "parallel.marked" not in page.url
        assert page.evaluate(kept) == 6
        assert seen.complaints == []


def test_every_list_tick_and_page_of_a_run_is_gone_back_to_and_sent(
    watch: Open, tmp_path: Path
) -> None:
    """Those of surrogate, parameter, splits, cards and sorting are in test_browser_live.py."""
    table = [f"{k % 7 / 7},{k % 11},{k / 90},{k % 5},{(1, 9)[k % 2]}" for k in range(90)]
    (tmp_path / "t.csv").write_text("\n".join(["x,y,loss,latency,budget", *table]) + "\n")
    space = hl.Space.of([hl.Parameter(name, "float", -1, 1) for name in ("x", "y")])
    searched = f"sqlite:///{tmp_path / 'searched.db'}"
    hl.minimize(lambda v: v["x"] ** 2 + v["y"], space, trials=9, initial=6, storage=searched)
    one = Source(str(tmp_path / "t.csv"), objective=("loss:min", "latency:min"))
    with served(create_app([one, searched])) as client:
        ready(client)
        seen = watch()
        page = seen.page
        quick_only(page)

        def lists(page: Any, *labels: str) -> list[str]:
            return [page.get_by_label(label, exact=True).input_value() for label in labels]

        page.goto(client.address + EVERYTHING)
        settled(page, "overview", "data")
        labels = ("Objective", "Budget", "together with")
        steps = [lists(page, *labels)]
        for label, value in zip(labels, ("latency", "9", "y"), strict=True):
            page.get_by_label(label, exact=True).select_option(value)
            steps.append(lists(page, *labels))
        assert steps == [
            ["loss", "", ""],
            ["latency", "", ""],
            ["latency", "9", ""],
            ["latency", "9", "y"],
        ]
        settled(page, "overview", "data")
        page.locator("#data").get_by_role("button", name="Next").click()
        first = page.locator("#data tbody a").first
        looked_at = first.inner_text()
        first.click()  # to the card of that trial
        eventually(page, "document.querySelectorAll('#compared input:checked').length === 2")
        page.locator("#compared input").last.uncheck()  # it had been ticked for them
        page.locator("#data .anchor").click()
        assert page.url.endswith("#data")

        sent = watch().page
        quick_only(sent)
        sent.goto(page.url)
        page.reload()
        for again in (page, sent):
            settled(again, "overview", "data", "trial")
            assert lists(again, *labels) == steps[-1]
            assert again.locator("#data tbody a").first.inner_text() == looked_at
            assert again.locator("#trial select").input_value() == looked_at
            ticked = [box.is_checked() for box in again.locator("#compared input").all()]
            assert ticked == [True, False]
            top = "document.querySelector('#data').getBoundingClientRect().top"
            eventually(again, f"Math.abs({top}) < {LAPTOP[1] / 2}")
        while lists(page, *labels) == steps[-1]:  # past the links within the page
            page.go_back()
        for step in (steps[2], steps[1], steps[0]):
            assert lists(page, *labels) == step
            page.go_back()

        page.goto(client.address + EVERYTHING)
        settled(page, "overview", "data")
        page.get_by_label("Run", exact=True).select_option(index=1)
        page.wait_for_selector('#seen:text-is("9 trials")')
        trial = page.locator("#proposal")
        page.wait_for_selector("#proposal:visible")
        proposals = [option.get_attribute("value") for option in trial.locator("option").all()]
        assert len(proposals) == 3
        trial.select_option(proposals[-1])
        page.reload()
        page.wait_for_selector("#proposal:visible")
        assert trial.input_value() == proposals[-1]
        page.go_back()
        eventually(page, f"document.querySelector('#proposal').value === '{proposals[0]}'")
        assert seen.complaints == []
