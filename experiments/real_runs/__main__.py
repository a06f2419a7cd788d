"""Are our statements about an optimiser's own run true? Shares, intervals and bands beside the truth.

python -m experiments.real_runs generate                     # truths and runs, into the cache
python -m experiments.real_runs evaluate --label now         # what this state says, into the cache
python -m experiments.real_runs evaluate --label now --tasks even --samplers tpe --trials 100
python -m experiments.real_runs --save                       # the page, of labels released and now

The cache is a folder named by --cache or by the environment variable HYPERLENS_CACHE, the recorded model
is in --data. What is in the cache is not computed again; remove results_LABEL.jsonl to measure anew. For
another state of the package put its `src` first in PYTHONPATH. One core is used.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import tempfile
from pathlib import Path

from experiments import DATA, options
from experiments.real_runs.evaluate import SAMPLERS, evaluate
from experiments.real_runs.generate import generate
from experiments.real_runs.page import SIZES, page
from experiments.real_runs.tasks import Tasks


def main() -> None:
    parser = options(__doc__, "real_runs")
    parser.add_argument("step", nargs="?", choices=("generate", "evaluate", "page"), default="page")
    known = os.environ.get("HYPERLENS_CACHE") or Path(tempfile.gettempdir(), "hyperlens_real_runs")
    parser.add_argument("--cache", type=Path, default=Path(known), help="truths, runs and results")
    parser.add_argument("--data", type=Path, default=DATA / "yahpo_lcbench", help="the model")
    parser.add_argument("--seed", type=int, default=0, help="of the runs")
    parser.add_argument("--label", default="now", help="name of the state that is evaluated")
    parser.add_argument("--tasks", choices=("even", "odd", "all"), default="all")
    parser.add_argument("--samplers", nargs="+", choices=SAMPLERS, default=SAMPLERS)
    parser.add_argument("--trials", nargs="+", type=int, choices=SIZES, default=SIZES)
    chosen = parser.parse_args()
    cache: Path = chosen.cache
    cache.mkdir(parents=True, exist_ok=True)
    if chosen.step == "page":
        page(cache, chosen.save)
        return
    tasks = Tasks(chosen.data)
    if chosen.step == "generate":
        generate(tasks, cache, chosen.seed)
        return
    names = {"even": tasks.even, "odd": tasks.odd, "all": tasks.even + tasks.odd}[chosen.tasks]
    evaluate(tasks, cache, chosen.label, names, chosen.samplers, chosen.trials, chosen.seed)


if __name__ == "__main__":
    main()
