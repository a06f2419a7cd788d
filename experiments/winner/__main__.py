"""Whether stated probabilities that the best is best hold: noisy functions with known truth.

python -m experiments.winner --rows rows.jsonl --save   # about 6 minutes of one core

Rows are kept as they are made; called again, it goes on. Settings were chosen with --half tuning.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import tempfile
from pathlib import Path

from experiments import options, publish
from experiments.winner.harder import HARDER
from experiments.winner.page import parts
from experiments.winner.problems import REPORTED, TUNING
from experiments.winner.score import scores

HALVES = {"reported": (REPORTED, (0, 1)), "tuning": (TUNING + HARDER, (100, 101))}


def main() -> None:
    parser = options(__doc__, "winner")
    parser.add_argument("--half", choices=HALVES, default="reported")
    parser.add_argument("--rows", type=Path, help="where rows are kept as they are made")
    parser.add_argument("--rounds", type=int, help="so many of the five rounds of searches")
    chosen = parser.parse_args()
    problems, seeds = HALVES[chosen.half]
    with tempfile.TemporaryDirectory() as folder:
        kept = chosen.rows or Path(folder) / "rows.jsonl"
        found = list(scores(problems, seeds, kept, chosen.rounds))
    command = "experiments.winner" + (f" --rounds {chosen.rounds}" if chosen.rounds else "")
    publish("winner", "Is the best the best?", command, parts(found), chosen.save)


if __name__ == "__main__":
    main()
