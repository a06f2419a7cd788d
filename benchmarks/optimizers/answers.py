"""What was wanted of our optimiser, each with what was found: the head of docs/results/optimizers.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import pandas as pd

import hyperlens as hl
from benchmarks.optimizers.cells import head, row
from benchmarks.optimizers.courses import ranked
from benchmarks.optimizers.measure import Run
from benchmarks.optimizers.players import OURS, PEERS, RANDOM
from benchmarks.optimizers.standing import ALPHA, duels

SOME = 0.25  # of the problems, for a player to be ranked with the others
GP = "Optuna GP"
WHY_NOT = {
    "HEBO": "does not install beside the others: version 0.3.6 asks for NumPy below 1.25 and pymoo "
    "0.6.0; beside newer ones a search of 50 trials in two dimensions had not ended after 100 seconds "
    "of the clock",
    "BoTorch LogEI": "takes more time a trial; our loop of it has no kernel for categories",
    "SMAC3 HPO": "takes more time a trial",
    "SMAC3 black-box": "takes most time a trial",
}
Spent = Mapping[
    tuple[str, str], float
]  # seconds a trial beside its evaluation, by player and problem


def rankings(table: pd.DataFrame) -> list[hl.Comparison]:
    """Of those who have played all problems, and with each who has played fewer, on fewer problems."""
    played = table.notna().mean()
    found = []
    for part in sorted(set(played[played >= SOME]), reverse=True):
        whole = ranked(table, part).reset_index(drop=True)
        if whole.shape[1] > 2:
            found.append(hl.compare(whole, maximize=False))
    return found


def overheads(table: pd.DataFrame, spent: Spent) -> dict[str, tuple[float, float]]:
    """By player the median milliseconds a trial, and those of ours on the same problems."""
    found = {}
    for player in table:
        same = [key for key in table.index.get_level_values(1) if (player, key) in spent]
        own, ours = (1e3 * np.median([spent[p, key] for key in same]) for p in (player, OURS))
        found[str(player)] = float(own), float(ours)
    return found


def answers(table: pd.DataFrame, groups: list[str], spent: Spent) -> list[str]:
    """A row for each thing that was wanted."""
    found = duels(table, groups)
    beaten = [
        f"{o.group} ({o.peer}, {o.better} : {o.worse}, p {o.p:.2g})" for o in found if o.beaten
    ]
    random = [o for o in found if o.peer == RANDOM]
    above = [o.group for o in random if o.ours > o.theirs]
    unsure = [
        f"{o.group} ({o.better} better, {o.worse} worse, p {o.p:.2g})"
        for o in random
        if o.p >= ALPHA
    ]
    own, peer = overheads(table, spent)[OURS][0], overheads(table, spent)[GP][0]
    rows = [
        ("the best average rank of all", "; ".join(map(_ranks_said, rankings(table)))),
        (
            "in no group significantly worse than a peer",
            f"{_yes(not beaten)}: {', '.join(beaten) or 'in none'} of {len(found)} pairs of a group "
            "and a peer",
        ),
        (
            "in no group worse than random search",
            f"{_yes(not above)}: the median is worse in {', '.join(above) or 'none'}; problem by "
            f"problem no difference is shown in {', '.join(unsure) or 'none'}",
        ),
        (
            f"overhead below that of {GP}",
            f"{_yes(own < peer)}: {own:.1f} ms a trial against {peer:.1f} ms",
        ),
    ]
    return [*head(["wanted", "found"]), *map(row, rows)]


def _yes(there: bool) -> str:
    return "**yes**" if there else "**no**"


def _ranks_said(record: hl.Comparison) -> str:
    """Ours, and who comes next or before."""
    order = list(record.ranks.items())
    (first, rank), (second, its) = order[:2]
    if first == OURS:
        return f"**yes** on {record.rows} problems: {rank:.2f}, next {second} ({its:.2f})"
    return f"**no** on {record.rows} problems: {record.ranks[OURS]:.2f}, {first} {rank:.2f}"


def who_played(found: list[Run], table: pd.DataFrame) -> list[str]:
    """Each player's version, on how many problems it was run, and why not on all."""
    kinds = Counter((run.player, _kind(run)) for run in found)
    states = {run.player: run.state for run in found}
    names = list(dict.fromkeys(kind for run in found for kind in [_kind(run)]))
    columns = [*(f"d = {d}" for d in sorted(int(n) for n in names if n.isdigit()))]
    columns += [name for name in names if not name.isdigit()]
    lines = head(["player", "version", "problems", *columns, "why not all"])
    for player in [*table, *(name for name in PEERS if name not in table)]:
        own = [kinds[str(player), name.removeprefix("d = ")] for name in columns]
        count = int(table[player].notna().sum()) if player in table else 0
        why = "" if count == len(table) else WHY_NOT.get(str(player), "")
        version = "this repository" if player in (OURS, RANDOM) else states.get(str(player), "")
        lines.append(row([player, version, count, *own, why]))
    return lines


def _kind(run: Run) -> str:
    """The dimension of a problem of BBOB, else its group."""
    name = run.problem
    return name.split("d=")[1].split(",")[0] if "d=" in name else run.group


def rank_tables(table: pd.DataFrame) -> list[str]:
    """Average ranks on the problems that all have played, ours against each, Friedman's test."""
    lines: list[str] = []
    for record in rankings(table):
        lines += [
            f"On the {record.rows} problems that all of these have played:",
            "",
            *head(["player", "average rank", "ours better", "worse", "adjusted p"]),
        ]
        for name, rank in record.ranks.items():
            pair = next((p for p in record.pairs if {p.first, p.second} == {OURS, name}), None)
            cells = ["", "", ""]
            if pair is not None:
                won, lost = (pair.wins, pair.losses)
                won, lost = (won, lost) if pair.first == OURS else (lost, won)
                cells = [str(won), str(lost), f"{pair.adjusted:.2g}"]
            lines.append(row([name, f"{rank:.2f}", *cells]))
        lines.append("")
        if record.friedman is not None:
            test = record.friedman
            lines.append(
                f"Friedman's test with Iman and Davenport's correction: F({test.df1}, {test.df2}) = "
                f"{test.tied_f:.1f}, p {_p(test.tied_f_p)}. {_alike(record)}"
            )
            lines.append("")
    return lines or ["Too few players have played the same problems."]


def _p(value: float) -> str:
    return f"= {value:.2g}" if value >= 1e-10 else "below 1e-10"


def _alike(record: hl.Comparison) -> str:
    """Which neighbours in rank cannot be told apart."""
    told = [
        f"{a} and {b}"
        for a, b in pairwise(record.ranks)
        if not next(p for p in record.pairs if {p.first, p.second} == {a, b}).different
    ]
    return f"Neighbours that cannot be told apart: {'; '.join(told)}." if told else ""
