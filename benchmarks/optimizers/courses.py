"""How far players had come in the course of their trials: numbers, and the picture beside the page.

Regrets are compared by their logarithm, those below FLOOR as equal: what is smaller is rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.optimizers.measure import Run
from hyperlens.spaces.cube import FloatArray

FLOOR = 1e-6
MOST = 0.5  # of the problems, for a player to be drawn with the others


def key(run: Run) -> str:
    return f"{run.problem} #{run.repeat}"


def log(regret: float) -> float:
    return math.log10(max(regret, FLOOR))


def ranked(table: pd.DataFrame, part: float = MOST) -> pd.DataFrame:
    """Of those who have played such a part of the problems, the problems that all of them have."""
    return table[[p for p in table if table[p].notna().mean() >= part]].dropna()


def courses(
    found: list[Run], table: pd.DataFrame, group: str | None = None
) -> dict[str, FloatArray]:
    """By player the best so far after 1 to 100 % of the trials, a regret's logarithm, one row a problem
    of `ranked`."""
    whole = ranked(table)
    whole = whole if group is None else whole[whole.index.get_level_values(0) == group]
    traces = {(r.player, key(r)): r.trace for r in found}
    parts = range(1, 101)
    return {
        player: np.array(
            [
                [log(trace[math.ceil(k * len(trace) / 100) - 1]) for k in parts]
                for trace in (
                    traces[player, problem] for problem in whole.index.get_level_values(1)
                )
            ]
        )
        for player in whole
    }


def draw(found: list[Run], table: pd.DataFrame, groups: Iterable[str], file: Path) -> None:
    """Medians over all problems, and by group, as one picture."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams |= {"svg.hashsalt": "courses", "svg.fonttype": "none"}  # the same bytes again
    from matplotlib import pyplot

    played = set(ranked(table).index.get_level_values(0))
    shown = [None, *(group for group in groups if group in played)]
    columns = 3
    figure, axes = pyplot.subplots(
        math.ceil(len(shown) / columns), columns, figsize=(10, 8.5), sharex=True, squeeze=False
    )
    for axis in axes.flat[len(shown) :]:
        axis.set_visible(False)
    for group, axis in zip(shown, axes.flat, strict=False):
        own = courses(found, table, group)
        for player, course in own.items():
            median = 10 ** np.median(course[:, 1::2], axis=0)
            axis.plot(range(2, 101, 2), median, label=player, linewidth=1.4)
        axis.set(yscale="log", title=f"{group or 'all'} ({len(course)})")
        axis.minorticks_off()
    figure.supxlabel("trials, in per cent of all")
    figure.supylabel("regret of the best so far, median")
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="upper center", ncols=len(names), frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 0.96))
    figure.savefig(file, metadata={"Date": None})
