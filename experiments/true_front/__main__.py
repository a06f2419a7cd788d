"""How probabilities of being on the true front, and intervals of its hypervolume, hold.

python -m experiments.true_front [seeds] [first seed] [chosen]
"""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy as np

from experiments.true_front.functions import CHOSEN_ON, NOISE, REPORTED, run
from hyperlens.explain.objectives.pareto import pareto
from hyperlens.explain.objectives.true_front import true_front
from hyperlens.runs.hypervolume import volume
from hyperlens.spaces.points import on_front
from hyperlens.surrogates.threads import one_thread

EDGES = (0.0, 0.05, 0.2, 0.5, 0.8, 0.95, 1.0)


def main(seeds: int = 8, first: int = 0, chosen: bool = False) -> None:
    said: list[float] = []
    is_on: list[bool] = []
    print("| function | noise | measured front truly on | sure | of these truly on | error of the "
          "measured hypervolume | of the median | interval holds |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|")
    for function in CHOSEN_ON if chosen else REPORTED:
        for noise in NOISE:
            rows = []
            for seed in range(first, first + seeds):
                history, truth = run(function, noise, seed)
                with one_thread():
                    record = true_front(history)
                true = on_front(truth)
                said += record.probability.tolist()
                is_on += true[record.trial].tolist()
                front = pareto(history)
                best = front.costs.min(axis=0)
                scaled = np.maximum((truth - best) / (front.reference - best), 0.0)
                exact = volume(scaled, np.ones(2))
                sure = true[record.trial[record.probability >= 0.95]]
                low, middle, high = record.volumes
                rows.append([
                    true[record.trial[record.on]].mean(), len(sure), sure.sum(),
                    abs(record.hypervolume - exact), abs(middle - exact), low <= exact <= high,
                    (exact - middle) / (high - middle if exact > middle else middle - low),
                ])  # fmt: skip
            on, count, right, was, now, holds, away = np.array(rows, dtype=float).T
            part = "–" if not count.sum() else f"{right.sum() / count.sum():.0%}"
            print(f"| {function.name} | {noise} | {on.mean():.0%} | {count.sum():.0f} | {part} | "
                  f"{was.mean():.3f} | {now.mean():.3f} | {holds.mean():.0%} |")  # fmt: skip
            if chosen:
                print("  away", np.round(np.sort(away), 2))
    p, y = np.array(said), np.array(is_on)
    print(
        "\n| said | configurations | mean of what was said | truly on the front |\n|---|---|---|---|"
    )
    for low, high in pairwise(EDGES):
        rows_ = (p >= low) & ((p < high) | (high == 1))
        print(f"| {low:.0%} to {high:.0%} | {rows_.sum()} | {p[rows_].mean():.0%} | "
              f"{y[rows_].mean():.0%} |")  # fmt: skip


if __name__ == "__main__":
    asked = [int(text) for text in sys.argv[1:] if text.isdigit()]
    seeds, first = (*asked, *(8, 0)[len(asked) :])[:2]
    main(seeds, first, "chosen" in sys.argv)
