"""How a report reads: its size, its height folded and open, what it repeats, how smoothly it scrolls.

    python -m benchmarks.report_page --save

A run of Optuna's TPE with conditional parameters, learning curves and a pruner is explained, and its
report is opened in a real browser at three widths. A frame is long above 50 ms, as browsers define it.
"""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import optuna

from benchmarks.machine import description

PAGE = Path(__file__).parents[1] / "docs" / "results" / "report_page.md"
TRIALS, STEPS = 150, 40
WIDTHS = ((390, 844), (768, 1024), (1280, 800))
LONG = 50.0  # milliseconds
PAGE_TEXT = f"""# How a report reads

`python -m benchmarks.report_page --save`. {{where}}

A run of {TRIALS} trials of TPE with a conditional parameter, curves of {STEPS} steps and a pruner.
Its report has {{size}} MB (at most 3 wanted). The reason of the verdict is said {{verdicts}} in it when
all is open, and {{twice}} stand twice. Heights in pixels; frames of a scroll by 120 pixels each through
the whole page in headless Chromium, which draws without a graphics card; long is above {LONG:.0f} ms.
When it began, {{load}} processes wanted the processors.

| | folded | | | open | | |
|---|---|---|---|---|---|---|
| width | height | longest frame, ms | long frames | height | longest frame, ms | long frames |
{{rows}}
"""
SCROLL = """async () => {
  const gaps = []; let before = performance.now(), y = 0;
  const end = document.documentElement.scrollHeight;
  while (y < end) {
    await new Promise(requestAnimationFrame);
    const now = performance.now(); gaps.push(now - before); before = now;
    y += 120; window.scrollTo(0, y);
  }
  return gaps; }"""


def objective(trial: optuna.Trial) -> float:
    lr = trial.suggest_float("lr", 1e-5, 1.0, log=True)
    optimizer = trial.suggest_categorical("optimizer", ["adam", "sgd", "rmsprop"])
    momentum = trial.suggest_float("momentum", 0.0, 0.99) if optimizer == "sgd" else 0.5
    layers, dropout = trial.suggest_int("layers", 1, 6), trial.suggest_float("dropout", 0.0, 0.8)
    end = 0.1 + 0.1 * (math.log10(lr) + 2.5) ** 2 + 0.05 * (optimizer == "sgd")
    end += 0.1 * (momentum - 0.9) ** 2 + 0.02 * abs(layers - 4) + 0.2 * (dropout - 0.3) ** 2
    for step in range(1, STEPS + 1):
        trial.report(end + 1.5 * math.exp(-step / 4), step)
        if trial.should_prune():
            raise optuna.TrialPruned
    return end


def written(folder: Path) -> Path:
    """The report of such a run."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(
        storage=f"sqlite:///{folder / 'run.db'}",
        sampler=optuna.samplers.TPESampler(seed=1),
        pruner=optuna.pruners.PercentilePruner(75.0, n_warmup_steps=8),
    )
    study.optimize(objective, n_trials=TRIALS)
    words = ["explain", "run.db", "--html", "report.html"]
    command = [sys.executable, "-m", "hyperlens", *words]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / "report.html"


def looked_at(page: Any) -> list[object]:
    """Height, longest frame and long frames: folded, then open."""
    cells: list[object] = []
    for unfold in (False, True):
        if unfold:
            page.get_by_role("button", name="Open everything").click()
            page.wait_for_timeout(1000)
        page.evaluate("window.scrollTo(0, 0)")
        page.wait_for_timeout(500)
        gaps = page.evaluate(SCROLL)
        height = page.evaluate("document.documentElement.scrollHeight")
        late = sum(gap > LONG for gap in gaps)
        cells += [height, f"{max(gaps):.0f}", f"{late} of {len(gaps)}"]
    return cells


def repeated(page: Any) -> tuple[int, int]:
    """Verdicts that are said in words, and notes that stand more than once."""
    verdicts = page.locator("text=/predicts (next to nothing|trials it has not seen)/").count()
    notes = page.locator("ul.notes li, .notes li").all_inner_texts()
    return verdicts, len(notes) - len(set(notes))


def measured() -> str:
    from playwright.sync_api import sync_playwright

    from hyperlens.words import counted, number

    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        report = written(Path(name))
        found = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        lines = []
        for width, height in WIDTHS:
            page = browser.new_page(viewport={"width": width, "height": height})
            page.goto(report.as_uri())
            page.wait_for_selector("#summary .panel .main-svg")
            lines.append("| " + " | ".join(map(str, (width, *looked_at(page)))) + " |")
            verdicts, twice = repeated(page)
        browser.close()
        size = report.stat().st_size / 1e6
    return PAGE_TEXT.format(
        where=description(),
        size=number(size, 3),
        load=f"{load:.1f}",
        verdicts=counted(verdicts, "time"),
        twice=counted(twice, "note"),
        rows="\n".join(lines),
    )


if __name__ == "__main__":
    text = measured()
    if "--save" in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
    print(text)
