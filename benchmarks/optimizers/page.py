"""Runs as the page docs/results/optimizers.md: regrets by group, ranks, curves, overhead, what fails.

Regrets are compared by their logarithm, those below FLOOR as equal: what is smaller is rounding.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd

from benchmarks.machine import description
from benchmarks.optimizers.answers import Spent, answers, overheads, rank_tables, who_played
from benchmarks.optimizers.cells import head, regret, row
from benchmarks.optimizers.courses import courses, key, log
from benchmarks.optimizers.measure import Run
from benchmarks.optimizers.players import OURS
from benchmarks.optimizers.standing import beside, beside_by_group, short
from hyperlens.words import counted

PARTS = (25, 50, 100)  # per cent of the trials, after which the best so far is shown
PICTURE = "optimizers.svg"  # beside the page
RANKS = [
    "By `hl.compare`: Friedman's test, then Wilcoxon's signed-rank test of each two players, its "
    "p-values adjusted by Finner's procedure for all pairs of a table.",
]
GROUPS = {
    "smooth": "BBOB 1, 5 to 9",
    "ill-conditioned": "BBOB 2, 10 to 14",
    "multimodal": "BBOB 3, 4, 15 to 24",
    "noise 5 %": "Gaussian, sd 5 % of the spread of random configurations",
    "noise 20 %": "the same with 20 %",
    "diverging": "costs grow to 10^9 spreads beyond an edge, then trials fail",
    "mixed": "floats, an integer and categories; a choice of three models with their own parameters",
    "LCBench": "networks on tasks of OpenML, YAHPO's model, 7 parameters",
}


def regrets(found: list[Run]) -> pd.DataFrame:
    """Logarithms of final regrets, problems that ours has played by players, ours first."""
    frame = pd.DataFrame(
        {
            "player": [r.player for r in found],
            "problem": [key(r) for r in found],
            "group": [r.group for r in found],
            "regret": [log(r.final) for r in found],
        }
    )
    table = frame.pivot_table(index=["group", "problem"], columns="player", values="regret")
    order = table.rank(axis=1).mean().sort_values().index
    table = table[[OURS, *(name for name in order if name != OURS)]]
    return table[table[OURS].notna()]


def page(found: list[Run]) -> str:
    """Of runs above the best known."""
    table = regrets(found)
    groups = [group for group in GROUPS if group in table.index.get_level_values(0)]
    spent = {(run.player, key(run)): run.overhead for run in found}
    lines = [
        f"# Optimisers\n\n`python -m benchmarks.optimizers`. {description()}\n",
        f"Equal trials for everyone, on {_dims(found)}, on which no setting was chosen.\n",
        *answers(table, groups, spent),
        "",
        "## Who played",
        "",
        *who_played(found, table),
        "",
        "## The problems",
        "",
        "Functions that others wrote: BBOB (Hansen et al. 2009, as `ioh` computes them) with 25 trials "
        "for each dimension, and LCBench. Functions with an odd number and tasks at even positions are "
        "there to choose settings on; this page is of the other half, with other instances and seeds. "
        "Regret is that of what is recommended at the end, without noise, in units in which a random "
        "configuration has 1 in the median and the best 0 (of LCBench the best that anyone found). "
        "Where there is noise ours is asked for `hl.recommend`, SMAC3 for its incumbent and BoTorch for "
        "the tried one of the best mean, both being told that there is noise; of the others the best "
        "measured is taken. Every run is a line of [optimizers.jsonl](optimizers.jsonl).\n",
    ]
    lines += ["## Regret by group", "", *_by_group(table), ""]
    lines += ["## Where ours falls short", "", *short(table, groups), ""]
    lines += ["## Ranks", "", *RANKS, "", *rank_tables(table)]
    lines += ["## Ours beside each", "", *beside(table), "", *beside_by_group(table, groups), ""]
    lines += ["## Best so far", "", *_curves(found, table), ""]
    lines += ["## Overhead", "", *_overhead(table, spent), ""]
    return "\n".join([*lines, ""])


def above_the_best(found: list[Run]) -> list[Run]:
    """Regrets above the best that anyone found where that is below the smallest cost known before."""
    lowest: dict[str, float] = {}
    for run in found:
        lowest[run.problem] = min(lowest.get(run.problem, 0.0), run.final, *run.trace)

    def above(regret: float, low: float) -> float:
        return (regret - low) / (1 - low)

    return [
        replace(
            run,
            trace=tuple(above(regret, lowest[run.problem]) for regret in run.trace),
            final=above(run.final, lowest[run.problem]),
        )
        for run in found
    ]


def _dims(found: list[Run]) -> str:
    """How many problems there are, and how many of them are BBOB's in so many dimensions."""
    names = [r.problem for r in {key(r): r for r in found if r.player == OURS}.values()]
    dims = Counter(int(n.split("d=")[1].split(",")[0]) for n in names if "d=" in n)
    said = ", ".join(f"{count} in d = {d}" for d, count in sorted(dims.items()))
    return f"{counted(len(names), 'problem')}, of BBOB {said}"


def _by_group(table: pd.DataFrame) -> list[str]:
    lines = ["Median; where a player has played fewer problems of a group, their number.", ""]
    lines += head(["group", *table])
    for name, what in GROUPS.items():
        if name not in table.index.get_level_values(0):
            continue
        part = table.loc[name]
        medians, counts = part.median(), part.notna().sum()
        full = medians[counts == len(part)]
        cells = []
        for player in table:
            text = regret(medians[player])
            if 0 < counts[player] < len(part):
                text += f" (of {counts[player]})"
            best = player in full and medians[player] == full.min()
            cells.append(f"**{text}**" if best else text)
        lines.append(row([f"{name} ({len(part)}): {what}", *cells]))
    return lines


def _curves(found: list[Run], table: pd.DataFrame) -> list[str]:
    lines = [
        "Median of the true regret of the best measured so far, after "
        f"{', '.join(f'{part:g}' for part in PARTS)} % of the trials, on the problems that all of these "
        "have played (in brackets how many).",
        "",
        f"![Median regret over the trials]({PICTURE})",
        "",
    ]
    lines += head(["group", *courses(found, table)])
    for group in [None, *(g for g in GROUPS if g in table.index.get_level_values(0))]:
        own = courses(found, table, group)
        count = len(next(iter(own.values())))
        if not count:
            continue
        cells = [
            ", ".join(regret(float(np.median(course[:, part - 1]))) for part in PARTS)
            for course in own.values()
        ]
        lines.append(row([f"{group or 'all'} ({count})", *cells]))
    return lines


def _overhead(table: pd.DataFrame, spent: Spent) -> list[str]:
    lines = [
        "Processor time a trial beside the cost's own, median over runs, one thread; and that of ours "
        "on the same problems.",
        "",
        *head(["player", "overhead", "ours on the same"]),
    ]
    for player, (own, ours) in overheads(table, spent).items():
        lines.append(row([player, f"{own:.1f} ms", f"{ours:.1f} ms"]))
    return lines
