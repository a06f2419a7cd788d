"""What learning curves add to a report: the same run with and without them, stage by stage.

    python -m benchmarks.curves [--save]

Processor seconds of one process in which all code was compiled and loaded before, so that a busy machine
counts little. Stages that have nothing to do with curves are there too: what they differ by is noise.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import optuna

import hyperlens as hl
from benchmarks.machine import description
from benchmarks.report import PARAMETERS, TRIALS, stored
from hyperlens.reports.render import report_html
from hyperlens.sections.cards.card import Card
from hyperlens.sections.choices import Choices
from hyperlens.sections.explanation import Explanation
from hyperlens.sections.plan import PLAN

RESULT = Path(__file__).parents[1] / "docs" / "results" / "curves.md"
STEPS, FEW = 100, 40  # of a curve; trials of the run that everything is loaded with
OWN = ("reading", "curves")  # stages that curves are for


def staged(source: Path) -> tuple[dict[str, float], float]:
    """Processor seconds of each stage of a report, and its size in MB."""
    taken: dict[str, float] = {}
    start = time.process_time()

    def done(stage: str) -> None:
        nonlocal start
        taken[stage] = time.process_time() - start
        start = time.process_time()

    run = hl.read(source)
    done("reading")
    whole, cards = Explanation(run, Choices()), list[Card]()
    for section in PLAN:
        cards += section.cards(whole)
        done(section.id)
    page = report_html(cards, "Learning curves")
    done("writing")
    return taken, len(page.encode()) / 1e6


def lines(folder: Path) -> list[str]:
    staged(stored(folder, FEW, STEPS))
    plain, size = staged(stored(folder, TRIALS))
    curved, larger = staged(stored(folder, TRIALS, STEPS))
    added = {stage: curved[stage] - plain.get(stage, 0.0) for stage in curved}
    own = sum(added[stage] for stage in OWN)
    rows = [
        ("reading", f"{plain['reading']:.2f} s", f"{curved['reading']:.2f} s", ""),
        ("the cards of curves", f"{plain['curves']:.2f} s", f"{curved['curves']:.2f} s", ""),
        ("both, what they add", "", f"{own:.1f} s", "at most 3 s"),
        ("all other stages", *(f"{_others(one):.1f} s" for one in (plain, curved)), ""),
        ("size of the report", f"{size:.2f} MB", f"{larger:.2f} MB", ""),
        ("what they add to it", "", f"{larger - size:.2f} MB", "at most 2 MB"),
    ]
    header = ["what", "without curves", f"with curves of {STEPS} steps", "wanted"]
    return ["| " + " | ".join(row) + " |" for row in (header, ["---"] * 4, *rows)]


def _others(taken: dict[str, float]) -> float:
    return sum(seconds for stage, seconds in taken.items() if stage not in OWN)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--save", action="store_true", help="write docs/results/curves.md")
    chosen = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with tempfile.TemporaryDirectory() as name:
        found = lines(Path(name))
    text = "\n\n".join(
        [
            "# What learning curves add to a report",
            f"`python -m benchmarks.curves`. {description()}",
            f"{TRIALS} trials of {PARAMETERS} parameters in a journal; seconds of one processor.",
            "\n".join(found),
            "What the other stages differ by is mostly noise; of them only the card of a trial "
            "shows one.",
        ]
    )
    print(text)
    if chosen.save:
        RESULT.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
