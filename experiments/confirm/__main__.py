"""Do trials that are chosen to settle an explanation settle it? Errors beside random and further trials.

python -m experiments.confirm after --tasks odd      # 100 trials of TPE, and more by four ways
python -m experiments.confirm search --tasks odd     # a search with trials for it and without
python -m experiments.confirm --save                 # both pages, of what was measured

Truths and runs are those of `experiments.real_runs generate`, in the folder named by --cache or by the
environment variable HYPERLENS_CACHE; what is measured goes to --results. What is there is not measured
again. One core is used.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import tempfile
from pathlib import Path

from experiments import DATA, options
from experiments.confirm.after import after
from experiments.confirm.page import page
from experiments.confirm.search import search
from experiments.confirm.search_page import search_page
from experiments.real_runs.tasks import Tasks


def main() -> None:
    parser = options(__doc__, "confirm")
    parser.add_argument("step", nargs="?", choices=("after", "search", "page"), default="page")
    folder = Path(tempfile.gettempdir())
    known = os.environ.get("HYPERLENS_CACHE") or folder / "hyperlens_real_runs"
    parser.add_argument("--cache", type=Path, default=Path(known), help="truths and runs")
    parser.add_argument("--results", type=Path, default=folder / "hyperlens_confirm")
    parser.add_argument("--data", type=Path, default=DATA / "yahpo_lcbench", help="the model")
    parser.add_argument("--tasks", choices=("even", "odd"), default="odd")
    chosen = parser.parse_args()
    results: Path = chosen.results
    results.mkdir(parents=True, exist_ok=True)
    if chosen.step == "page":
        page(results, chosen.save)
        search_page(results, chosen.save)
        return
    tasks = Tasks(chosen.data)
    names = tasks.even if chosen.tasks == "even" else tasks.odd
    step = after if chosen.step == "after" else search
    step(tasks, chosen.cache, results / f"{chosen.step}_{chosen.tasks}.jsonl", names)


if __name__ == "__main__":
    main()
