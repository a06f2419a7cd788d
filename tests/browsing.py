"""Pages in a real browser: what they complain of, what they ask for, and when they are ready.

The fixtures `browser` and `watch` are in conftest.py.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import optuna

from hyperlens.dashboard.query import SECTIONS

optuna.logging.set_verbosity(optuna.logging.ERROR)

CHROMIUM = next(
    (
        found
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (found := shutil.which(name))
    ),
    None,
)
EVIL = "<script>document.title='stolen'</script><img src=x onerror=\"document.title='stolen'\">"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
PHONE, TABLET, LAPTOP, WIDE = (390, 844), (768, 1024), (1280, 800), (2200, 1200)
PATIENCE = 180_000  # milliseconds; a busy machine is not a failure
EVERYTHING = "/?open=all"  # of the live page

Open = Callable[..., Any]


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


def all_drawn(page: Any) -> None:
    """Go through the whole page, for figures are drawn when they come near."""
    for card in page.locator("figure").all():
        card.scroll_into_view_if_needed()
    eventually(
        page,
        "[...document.querySelectorAll('.plot')].every((plot) => plot.querySelector('.main-svg'))",
    )


def violations(page: Any, *rules: str) -> list[str]:
    """What axe-core finds wrong, by all of its rules or by these, as short as can be said."""
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    asked = {"runOnly": list(rules)} if rules else {}
    found = page.evaluate("async (asked) => (await axe.run(document, asked)).violations", asked)
    return [f"{v['id']}: {v['nodes'][0]['html'][:120]}" for v in found]


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


def plain(path: Path, name: str, trials: int, maximize: bool = False) -> None:
    made = optuna.create_study(
        study_name=name,
        storage=f"sqlite:///{path}",
        load_if_exists=True,
        direction="maximize" if maximize else "minimize",
    )
    made.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=trials)


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
