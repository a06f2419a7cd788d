"""Runs as the page docs/results/optimizers.md: regrets by group, ranks, curves, overhead, what fails.

Regrets are compared by their logarithm, those below FLOOR as equal: what is smaller is rounding.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

import hyperlens as hl
from benchmarks.machine import description
from benchmarks.optimizers.courses import FLOOR, courses, key, log, ranked
from benchmarks.optimizers.measure import Run
from benchmarks.optimizers.players import OURS, PEERS
from hyperlens.words import counted

PARTS = (25, 50, 100)  # per cent of the trials, after which the best so far is shown
PICTURE = "optimizers.svg"  # beside the page
ALPHA = 0.05
WHY_NOT = {
    "HEBO": " (version 0.3.6 asks for NumPy below 1.25 and pymoo 0.6.0; beside newer ones a search of "
    "50 trials in two dimensions had not ended after 100 seconds of the clock)"
}
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
    lines = [
        f"# Optimisers\n\n`python -m benchmarks.optimizers`. {description()}\n",
        "Functions that others wrote: BBOB (Hansen et al. 2009, as `ioh` computes them) with 25 trials "
        "for each dimension, and LCBench. Functions with an odd number and tasks at even positions are "
        f"there to choose settings on; this page is of the other half ({_dims(found)}), with other "
        "instances and seeds, on which none was chosen. Regret is that of what is recommended at the "
        "end, without noise, in units in which a random configuration has 1 in the "
        "median and the best 0 (of LCBench the best that anyone found); equal trials for everyone. "
        "Where there is noise ours is asked for `hl.recommend`, SMAC3 for its incumbent and BoTorch for "
        "the tried one of the best mean, both being told that there is noise; of the others the best "
        "measured is taken.\n",
    ]
    lines += [_missing(table), ""]
    lines += ["## Regret by group", "", *_by_group(table), ""]
    lines += ["## Ranks", "", *_ranks(table), ""]
    lines += ["## Ours beside each", "", *_beside(table), ""]
    lines += [*_beside_each(table), ""]
    lines += ["## Best so far", "", *_curves(found, table), ""]
    lines += ["## Overhead", "", *_overhead(found, table), ""]
    lines += ["## Where ours falls short", "", *_short(table), ""]
    return "\n".join([*lines, ""])


def _missing(table: pd.DataFrame) -> str:
    """Who was not measured, and why, and who has played less than others."""
    absent = [f"{name}{WHY_NOT.get(name, '')}" for name in PEERS if name not in table]
    fewer = [
        f"{name} {table[name].notna().sum()}"
        for name in table
        if table[name].notna().sum() < len(table)
    ]
    said = [f"Not measured: {', '.join(absent)}."] if absent else []
    if fewer:
        said.append(
            f"For want of time some have played less than all {len(table)}: {', '.join(fewer)}."
        )
    return " ".join(said)


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


def _regret(log: float) -> str:
    return (
        ""
        if math.isnan(log)
        else f"below {FLOOR:g}"
        if log <= math.log10(FLOOR)
        else f"{10**log:.2g}"
    )


def _row(cells: Iterable[object]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def _head(cells: list[object]) -> list[str]:
    return [_row(cells), "|" + "---|" * len(cells)]


def _by_group(table: pd.DataFrame) -> list[str]:
    lines = ["Median; where a player has played fewer problems of a group, their number.", ""]
    lines += _head(["group", *table])
    for name, what in GROUPS.items():
        if name not in table.index.get_level_values(0):
            continue
        part = table.loc[name]
        medians, counts = part.median(), part.notna().sum()
        full = medians[counts == len(part)]
        cells = []
        for player in table:
            text = _regret(medians[player])
            if 0 < counts[player] < len(part):
                text += f" (of {counts[player]})"
            best = player in full and medians[player] == full.min()
            cells.append(f"**{text}**" if best else text)
        lines.append(_row([f"{name} ({len(part)}): {what}", *cells]))
    return lines


def _ranks(table: pd.DataFrame) -> list[str]:
    whole = ranked(table).reset_index(drop=True)
    if whole.shape[1] < 3:
        return ["Too few players have played all problems."]
    record = hl.compare(whole, maximize=False)
    lines = _head(["player", "average rank"])
    lines += [_row([name, f"{rank:.2f}"]) for name, rank in record.ranks.items()]
    return [
        f"Of those that have played most problems, on the {len(whole)} that all of them have:",
        "",
        *lines,
        "",
        *record.sentences,
    ]


def _beside(table: pd.DataFrame) -> list[str]:
    """Each peer on the problems that it has played: wins, losses, Wilcoxon's p adjusted by Finner."""
    lines = _head(["peer", "problems", "ours better", "worse", "p (Wilcoxon)"])
    for peer in [p for p in table if p != OURS]:
        both = table[[OURS, peer]].dropna().reset_index(drop=True)
        if len(both) < 2:
            continue
        pair = hl.compare(both, maximize=False).pairs[0]
        wins = int((both[OURS] < both[peer]).sum())
        losses = int((both[OURS] > both[peer]).sum())
        lines.append(_row([peer, len(both), wins, losses, f"{pair.p:.2g}"]))
    return lines


def _beside_each(table: pd.DataFrame) -> list[str]:
    """A median may be lower and most searches not be: both are said, for each peer in each group."""
    peers = [p for p in table if p != OURS]
    lines = [
        "By group: problems on which ours is better, and on which it is worse, with Wilcoxon's p of "
        "this pair alone. With so many pairs about one in twenty is below 0.05 by chance.",
        "",
    ]
    lines += _head(["group", *peers])
    for name in [g for g in GROUPS if g in table.index.get_level_values(0)]:
        cells = []
        for peer in peers:
            both = table.loc[name][[OURS, peer]].dropna().reset_index(drop=True)
            if len(both) < 2:
                cells.append("")
                continue
            p = hl.compare(both, maximize=False).pairs[0].p
            wins, losses = (both[OURS] < both[peer]).sum(), (both[OURS] > both[peer]).sum()
            cells.append(f"{wins} : {losses} (p {p:.2g})")
        lines.append(_row([name, *cells]))
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
    lines += _head(["group", *courses(found, table)])
    for group in [None, *(g for g in GROUPS if g in table.index.get_level_values(0))]:
        own = courses(found, table, group)
        count = len(next(iter(own.values())))
        if not count:
            continue
        cells = [
            ", ".join(_regret(float(np.median(course[:, part - 1]))) for part in PARTS)
            for course in own.values()
        ]
        lines.append(_row([f"{group or 'all'} ({count})", *cells]))
    return lines


def _overhead(found: list[Run], table: pd.DataFrame) -> list[str]:
    lines = [
        "Processor time a trial beside the cost's own, median over runs, one thread; and that of ours "
        "on the same problems.",
        "",
    ]
    lines += _head(["player", "overhead", "ours on the same"])
    spent = {(r.player, key(r)): r.overhead for r in found}
    for player in table:
        same = [key for key in table.index.get_level_values(1) if (player, key) in spent]
        own, ours = (1e3 * np.median([spent[p, key] for key in same]) for p in (player, OURS))
        lines.append(_row([player, f"{own:.1f} ms", f"{ours:.1f} ms"]))
    return lines


def _short(table: pd.DataFrame) -> list[str]:
    """Groups in which ours is significantly worse than a peer, or whose median is above another's."""
    lines = []
    for name in [g for g in GROUPS if g in table.index.get_level_values(0)]:
        part = table.loc[name]
        for peer in [p for p in table if p != OURS]:
            both = part[[OURS, peer]].dropna().reset_index(drop=True)
            if len(both) < 2 or both[OURS].median() <= both[peer].median():
                continue
            p = hl.compare(both, maximize=False).pairs[0].p
            sure = "significantly" if p < ALPHA else "not significantly"
            ours, theirs = (_regret(float(both[c].median())) for c in (OURS, peer))
            lines.append(
                f"- {name}: {ours} against {theirs} of {peer} on {len(both)} problems "
                f"({sure}, p = {p:.2g})"
            )
    return lines or ["In no group is the median of ours above another's."]
