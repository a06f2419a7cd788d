"""The live page in a real browser: it follows a run, keeps what is looked at, folds and unfolds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fake_worker
import pytest
from browsing import (
    EVERYTHING,
    LAPTOP,
    PHONE,
    WIDE,
    Open,
    drawn,
    eventually,
    settled,
    study,
    violations,
)
from live_page import Client, ready, served

from hyperlens.dashboard import create_app
from hyperlens.dashboard.query import SECTIONS


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, Path]]:
    path = tmp_path_factory.mktemp("live") / "runs.db"
    study(path, 20)
    with served(create_app([str(path)])) as client:
        ready(client)
        yield client, path


def asks_the_forest_for_importance(request: Any) -> bool:
    asked = request.post_data or ""
    return '"forest"' in asked and '"importance"' in asked


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
    page.reload()
    settled(page, "search", "method")
    below, card = (
        page.locator(part).bounding_box() for part in ("#parameter", "[data-section=effects]")
    )
    assert (
        card["y"] - below["y"] - below["height"] > 8
    )  # lists keep clear of the card they are about
    page.get_by_role("button", name="Fold everything").click()
    assert not page.locator("#method").is_visible()
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
