"""Our optimiser beside others' at equal trials, on functions that others wrote.

python -m benchmarks.optimizers run --runs FILE --half tuning    # to choose settings on
python -m benchmarks.optimizers run --dims 2 5 --repeats 2       # the half that is reported
python -m benchmarks.optimizers page --save

BBOB's functions are those of `ioh`; peers that are not installed are left out. Finished runs are kept,
in docs/results/optimizers.jsonl unless a file is named, so that it can be stopped and goes on; remove a
player's lines to measure it anew. One thread for everyone; the processor's time is measured.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is loaded

import argparse
from pathlib import Path

import optuna

from benchmarks.optimizers.courses import draw
from benchmarks.optimizers.measure import go, stored
from benchmarks.optimizers.page import GROUPS, PICTURE, above_the_best, page, regrets
from benchmarks.optimizers.plan import tasks_of
from benchmarks.optimizers.players import players

ROOT = Path(__file__).parents[2]
RESULT = ROOT / "docs" / "results" / "optimizers.md"
KEPT = RESULT.with_suffix(".jsonl")
EARLIER = "## Earlier, on functions of the kind that settings were chosen on\n"  # kept as it is
DATA = Path(os.environ.get("HYPERLENS_DATA", ROOT.parent / "shared" / "data")) / "yahpo_lcbench"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("step", choices=("run", "page"))
    parser.add_argument("--runs", type=Path, default=KEPT, help="where finished runs are kept")
    parser.add_argument("--half", choices=("tuning", "reported"), default="reported")
    parser.add_argument("--dims", type=int, nargs="+", default=[2, 5, 10])
    parser.add_argument(
        "--repeats", type=int, default=3, help="instances and seeds of each problem"
    )
    parser.add_argument("--only", nargs="+", default=list(players()), help="players")
    parser.add_argument("--labels", nargs="*", default=[], help="how names of problems end")
    parser.add_argument("--save", action="store_true", help="write docs/results/optimizers.md")
    chosen = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    if chosen.step == "run":
        tasks = tasks_of(chosen.half, tuple(chosen.dims), chosen.repeats, DATA)
        labels = tuple(chosen.labels)
        wanted = (t for t in tasks if not labels or t.label.endswith(labels))
        for run in go(wanted, chosen.half, chosen.runs, chosen.only):
            print(f"{run.player:24} {run.problem:40} {run.repeat} {run.final:.3g}", flush=True)
        return
    runs = list(stored(chosen.runs).values())
    found = above_the_best([run for run in runs if run.half == chosen.half])
    text = page(found)
    text += EARLIER + RESULT.read_text().partition(EARLIER)[2]
    print(text)
    if chosen.save:
        RESULT.write_text(text)
        draw(found, regrets(found), GROUPS, RESULT.with_name(PICTURE))


if __name__ == "__main__":
    main()
