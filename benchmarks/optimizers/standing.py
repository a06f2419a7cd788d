"""Where ours stands beside each peer: over all problems and in each group."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

import hyperlens as hl
from benchmarks.optimizers.cells import head, regret, row
from benchmarks.optimizers.players import OURS

ALPHA = 0.05


@dataclass(frozen=True)
class Duel:
    """Ours and a peer on the problems that both have played; medians are logarithms of regrets."""

    group: str
    peer: str
    problems: int
    better: int
    worse: int
    p: float  # Wilcoxon's, of this pair alone
    ours: float
    theirs: float

    @property
    def beaten(self) -> bool:
        """Is ours significantly worse?"""
        return self.p < ALPHA and self.better < self.worse


def duel(table: pd.DataFrame, peer: str, group: str = "") -> Duel | None:
    """None where there are too few problems for a test."""
    both = table[[OURS, peer]].dropna().reset_index(drop=True)
    if len(both) < 2:
        return None
    wins, losses = int((both[OURS] < both[peer]).sum()), int((both[OURS] > both[peer]).sum())
    p = hl.compare(both, maximize=False).pairs[0].p
    medians = float(both[OURS].median()), float(both[peer].median())
    return Duel(group, peer, len(both), wins, losses, p, *medians)


def duels(table: pd.DataFrame, groups: list[str]) -> list[Duel]:
    """All of them, group by group."""
    peers = [p for p in table if p != OURS]
    found = (duel(table.loc[group], peer, group) for group in groups for peer in peers)
    return [one for one in found if one is not None]


def beside(table: pd.DataFrame) -> list[str]:
    """Each peer on the problems that it has played."""
    lines = head(["peer", "problems", "ours better", "worse", "p (Wilcoxon)"])
    for one in (duel(table, peer) for peer in table if peer != OURS):
        if one is not None:
            lines.append(row([one.peer, one.problems, one.better, one.worse, f"{one.p:.2g}"]))
    return lines


def beside_by_group(table: pd.DataFrame, groups: list[str]) -> list[str]:
    """A median may be lower and most searches not be: both are said, for each peer in each group."""
    peers = [p for p in table if p != OURS]
    found = {(one.group, one.peer): one for one in duels(table, groups)}
    lines = [
        "By group: problems on which ours is better, and on which it is worse, with Wilcoxon's p of "
        "this pair alone. With so many pairs about one in twenty is below 0.05 by chance.",
        "",
        *head(["group", *peers]),
    ]
    for group in groups:
        own = [found.get((group, peer)) for peer in peers]
        cells = [f"{o.better} : {o.worse} (p {o.p:.2g})" if o else "" for o in own]
        lines.append(row([group, *cells]))
    return lines


def short(table: pd.DataFrame, groups: list[str]) -> list[str]:
    """Groups whose median is above a peer's."""
    lines = [
        f"- {o.group}: {regret(o.ours)} against {regret(o.theirs)} of {o.peer} on {o.problems} problems "
        f"({'significantly' if o.p < ALPHA else 'not significantly'}, p = {o.p:.2g})"
        for o in duels(table, groups)
        if o.ours > o.theirs
    ]
    return lines or ["In no group is the median of ours above another's."]
