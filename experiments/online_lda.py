"""Online LDA: shares and marginals of a forest beside the grid's exact ANOVA (Hutter et al. 2014 4.1).

python -m experiments.online_lda [--data DIR] [--save]

288 points, 6 values of kappa, 6 of tau0 and 8 of S, each measured once: the truth is arithmetic.
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import hyperlens as hl
from experiments import DATA, options, publish, table
from hyperlens import Parameter, Space
from hyperlens.surrogates.protocol import SurrogateKind

PARAMETERS = ("kappa", "tau0", "S")
EFFECTS = tuple(u for size in (1, 2, 3) for u in combinations(PARAMETERS, size))
COSTS = {"perplexity": "perplexity", "runtime_s": "runtime"}
PAPER: dict[str, dict[tuple[str, ...], float]] = {
    "perplexity": {("S",): 65.0, ("kappa", "S"): 18.0},
    "runtime_s": {("kappa",): 54.0, ("S",): 21.0},
}
SAMPLE, DRAWS = 100, 10

Shares = dict[tuple[str, ...], float]


def read(data: Path) -> tuple[pd.DataFrame, dict[str, Shares]]:
    """The grid, and the exact shares of its variance in percent."""
    grid = pd.read_csv(data / "online_lda" / "online_lda_grid.csv")
    exact = json.loads((data / "fanova_fixtures" / "expected_online_lda_exact.json").read_text())
    return grid, {
        cost: {tuple(k.split(":")): v for k, v in exact[cost].items() if k != "variance"}
        for cost in COSTS
    }


def space(grid: pd.DataFrame) -> Space:
    """Ordinal parameters over the values of the grid: every point weighs the same."""
    levels = {name: tuple(np.unique(grid[name]).tolist()) for name in PARAMETERS}
    return Space.of([Parameter(n, "ordinal", choices=v, default=v[0]) for n, v in levels.items()])


def history(grid: pd.DataFrame, cost: str, rows: pd.DataFrame | None = None) -> hl.History:
    """A run over some rows of the grid."""
    return hl.read(grid if rows is None else rows, space=space(grid), objective=cost)


def draws(grid: pd.DataFrame) -> list[pd.DataFrame]:
    """The random samples that every analysis uses."""
    return [grid.sample(SAMPLE, random_state=seed) for seed in range(DRAWS)]


def shares(run: hl.History, surrogate: SurrogateKind, seed: int = 0) -> Shares:
    """In percent, by effect in the order of PARAMETERS; largest first."""
    interval = None if surrogate == "forest" else 0.9
    found = hl.importance(run, order=3, surrogate=surrogate, level=interval, seed=seed)
    names = (tuple(sorted(u, key=PARAMETERS.index)) for u in found.parameters)
    return dict(zip(names, (100 * found.share).tolist(), strict=True))


def share_table(grid: pd.DataFrame, cost: str, exact: Shares) -> str:
    whole = history(grid, cost)
    forest, gp = shares(whole, "forest"), shares(whole, "gp")
    samples = [history(grid, cost, rows) for rows in draws(grid)]
    sampled: dict[str, Any] = {
        s: pd.DataFrame([shares(run, s) for run in samples]) for s in ("forest", "gp")
    }
    rows = []
    for u in EFFECTS:
        numbers = [f"{sampled[s][u].mean():.1f} ± {sampled[s][u].std():.1f}" for s in sampled]
        printed = f"{PAPER[cost][u]:.0f}" if u in PAPER[cost] else ""
        rows.append(
            [
                " × ".join(u),
                f"{exact[u]:.1f}",
                f"{forest[u]:.1f}",
                f"{gp[u]:.1f}",
                *numbers,
                printed,
            ]
        )
    header = [
        "effect",
        "exact",
        "forest, 288",
        "GP, 288",
        "forest, 100",
        "GP, 100",
        "Hutter et al. 2014, 100",
    ]
    return table(header, rows)


def summary(grid: pd.DataFrame, cost: str, exact: Shares) -> str:
    """How far off the whole grid is, and which two effects come first in the samples."""
    found = shares(history(grid, cost), "forest")
    worst = max(abs(found[u] - exact[u]) for u in EFFECTS if exact[u] > 5)
    first = Counter(
        ", then ".join(" × ".join(u) for u in list(shares(history(grid, cost, rows), "forest"))[:2])
        for rows in draws(grid)
    )
    named = "; ".join(f"{names} in {count} of {DRAWS}" for names, count in first.most_common())
    return (
        f"Of the effects over 5 %, the forest on all points is off by at most {worst:.1f} points. "
        f"Forests on {SAMPLE} random points name first: {named}."
    )


def marginal_table(grid: pd.DataFrame, cost: str, name: str) -> str:
    """Mean cost at each value: on the grid, and as forests see it (mean ± std over trees)."""
    true = grid.groupby(name)[cost].mean()
    seen = []
    for rows in (None, draws(grid)[0]):
        found = hl.importance(history(grid, cost, rows), surrogate="forest", level=None)
        seen.append(found.marginal(name).frame.set_index("value"))
    header = [name, "grid", "forest, 288", "forest, 100 (first draw)"]
    rows_out = [
        [
            f"{value:g}",
            f"{mean:.0f}",
            *(f"{s.loc[value, 'mean']:.0f} ± {s.loc[value, 'std']:.0f}" for s in seen),
        ]
        for value, mean in true.items()
    ]
    return table(header, rows_out)


def pair_table(grid: pd.DataFrame, cost: str) -> str:
    """Mean cost at each kappa and S: on the grid / by the forest on the first sample."""
    true = grid.groupby(["kappa", "S"])[cost].mean()
    run = history(grid, cost, draws(grid)[0])
    found = hl.importance(run, surrogate="forest", level=None).marginal("kappa", "S")
    seen = found.frame.set_index(["kappa", "S"])["mean"]
    columns = sorted(set(grid["S"]))
    rows = [
        [f"{kappa:g}", *(f"{true[kappa, S]:.0f} / {seen[kappa, S]:.0f}" for S in columns)]
        for kappa in sorted(set(grid["kappa"]))
    ]
    return table(["kappa", *(f"S {S:g}" for S in columns)], rows)


def main() -> None:
    parser = options(__doc__, "online_lda")
    parser.add_argument("--data", type=Path, default=DATA, help="folder that holds online_lda")
    chosen = parser.parse_args()
    grid, exact = read(chosen.data)
    parts = [
        "Shares of the variance in percent. *Exact* is the ANOVA of all 288 grid points. Columns of "
        f"{SAMPLE} points are mean ± standard deviation over {DRAWS} random samples of it. "
        "Hutter et al. 2014 prints the last column in section 4.1, from one sample of 100.",
    ]
    for cost, title in COSTS.items():
        parts += [f"## {title.capitalize()}", share_table(grid, cost, exact[cost])]
        parts += [summary(grid, cost, exact[cost])]
        figure = "1" if cost == "perplexity" else "3"
        parts.append(
            f"Marginals as in Hutter et al. 2014 figure {figure}: mean {title}, ± one std over trees."
        )
        parts += [marginal_table(grid, cost, name) for name in PARAMETERS]
        if cost == "perplexity":
            parts.append(
                "Interaction as in Hutter et al. 2014 figure 2: grid / forest on 100 points, first draw."
            )
            parts.append(pair_table(grid, cost))
    publish("online_lda", "Online LDA", "experiments.online_lda", parts, chosen.save)


if __name__ == "__main__":
    main()
