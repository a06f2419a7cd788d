"""Schedules and model sampling for CASH, replayed from measured losses (Sarigiannis et al. 2020, 5).

python -m experiments.cash_table ...            # once: measures the losses
python -m experiments.cash --save               # replays, prints figures 2 to 6 and tables 4 to 7

Each replication draws configurations from the table of a data set, the model by the paper's weights or
evenly, and follows the schedule exactly as a search would. A data set's result is the mean over
replications.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import hyperlens as hl
from experiments import options, publish, table
from experiments.cash_table import OUT, read
from hyperlens.cash.models.pool import pool_space
from hyperlens.optimize.models.model_sampling import model_weights
from hyperlens.optimize.optimizers.schedule import Bracket, schedule
from hyperlens.spaces.cube import FloatArray, IntArray

N = 33  # Sarigiannis et al.'s budget of a schedule

# appendix C: corrected p-values of each row against the columns before it
PAPER: dict[str, dict[str, tuple[float, ...]]] = {
    "5.2 validation": {
        "SH0.W": (3.9e-8,),
        "SH1": (3.9e-8, 1.2e-6),
        "SH1.W": (3.9e-8, 1.8e-6, 1.3e-7),
        "SH2": (3.9e-8, 2.5e-2, 3.9e-8, 3.3e-4),
        "SH2.W": (3.9e-8, 6.4e-7, 1.8e-7, 1.2e-6, 1.3e-6),  # 6.4e-7 is printed as 6.4-7
    },
    "5.2 test": {
        "SH0.W": (4.1e-9,),
        "SH1": (8.6e-7, 1.1e-7),
        "SH1.W": (4.5e-9, 8.7e-4, 2.3e-8),
        "SH2": (3.5e-8, 8.5e-3, 5.6e-8, 1.5e-4),
        "SH2.W": (2.3e-8, 5.2e-6, 4.3e-8, 1.4e-4, 2.4e-6),
    },
    "5.3 validation": {
        "RS.W": (8.3e-7,),
        "HB": (9.2e-5, 2.4e-5),
        "HB.W": (1.3e-7, 1.1e-7, 8.3e-7),
        "SH": (6.7e-6, 6.4e-4, 3.7e-4, 7.3e-6),
        "SH.W": (9.9e-7, 7.3e-6, 7.3e-6, 3.4e-1, 7.3e-6),
    },
    "5.3 test": {
        "RS.W": (3.0e-6,),
        "HB": (9.8e-2, 3.0e-6),
        "HB.W": (7.1e-7, 1.1e-6, 7.1e-7),
        "SH": (8.2e-4, 2.1e-5, 3.9e-3, 7.1e-7),
        "SH.W": (2.2e-6, 4.1e-4, 9.0e-7, 1.9e-1, 7.1e-7),
    },
}


@dataclass(frozen=True)
class Measured:
    """A data set: by configuration its model, validation losses by resource (m, 3), and test loss.

    A failure counts as the worst loss of its column.
    """

    name: str
    model: IntArray
    validation: FloatArray
    test: FloatArray

    @staticmethod
    def of(path: Path, models: Sequence[str]) -> Measured:
        frame = pd.DataFrame(list(read(path)))
        numbers = frame[["r0", "r1", "r2", "test"]].apply(pd.to_numeric, errors="coerce").to_numpy()
        numbers = np.where(np.isnan(numbers), np.nanmax(numbers, axis=0), numbers)
        codes = np.array([models.index(m) for m in frame["model"]])
        return Measured(path.stem, codes, numbers[:, :3], numbers[:, 3])

    def draw(self, n: int, chances: FloatArray, rng: np.random.Generator) -> IntArray:
        """Configurations: the model by its chance, then one that was not drawn before; where a model
        has no more, any of its own again."""
        drawn = np.empty(n, dtype=np.int64)
        wanted = rng.choice(len(chances), size=n, p=chances)
        for m in np.unique(wanted):
            own, places = np.flatnonzero(self.model == m), np.flatnonzero(wanted == m)
            order = np.concatenate(
                [rng.permutation(own) for _ in range(-(-len(places) // len(own)))]
            )
            drawn[places] = order[: len(places)]
        return drawn


Found = tuple[float, float]  # validation loss of the winner, its test loss


def halve(bracket: Bracket, data: Measured, drawn: IntArray) -> int:
    """The winner of a bracket among configurations drawn."""
    first = 3 - len(bracket.rungs)
    alive = drawn[: bracket.rungs[0].configurations]
    for k, rung in enumerate(bracket.rungs):
        alive = alive[: rung.configurations]
        alive = alive[np.argsort(data.validation[alive, first + k], kind="stable")]
    return int(alive[0])


def best(data: Measured, winners: Sequence[int]) -> int:
    return min(winners, key=lambda w: float(data.validation[w, 2]))


def replay(
    sets: Sequence[Measured],
    brackets: Mapping[str, Sequence[Bracket]],
    chances: Mapping[str, FloatArray],
    replications: int,
) -> tuple[pd.DataFrame, pd.DataFrame, Counter[tuple[str, str]]]:
    """Mean validation and test losses by data set and scheme; how often a bracket won."""
    validation, test, won = {}, {}, Counter[tuple[str, str]]()
    for data in sets:
        found: dict[str, list[Found]] = {}
        for k in range(replications):
            for suffix, weights in chances.items():
                for scheme, parts in brackets.items():
                    rng = np.random.default_rng([k, len(scheme), ord(scheme[-1])])
                    size = sum(b.rungs[0].configurations for b in parts)
                    drawn = np.split(
                        data.draw(size, weights, rng),
                        np.cumsum([b.rungs[0].configurations for b in parts])[:-1],
                    )
                    winners = [halve(b, data, d) for b, d in zip(parts, drawn, strict=True)]
                    winner = best(data, winners)
                    found.setdefault(scheme + suffix, []).append(
                        (float(data.validation[winner, 2]), float(data.test[winner]))
                    )
                    if len(parts) > 1:
                        won[suffix, parts[winners.index(winner)].name] += 1
        means = {scheme: np.mean(pairs, axis=0) for scheme, pairs in found.items()}
        validation[data.name] = {scheme: m[0] for scheme, m in means.items()}
        test[data.name] = {scheme: m[1] for scheme, m in means.items()}
    order = [scheme + suffix for scheme in brackets for suffix in chances]
    return pd.DataFrame(validation).T[order], pd.DataFrame(test).T[order], won


def compared(losses: pd.DataFrame, paper: Mapping[str, tuple[float, ...]]) -> list[str]:
    """Ranks, the omnibus test, and corrected p-values beside the paper's."""
    found = hl.compare(losses)
    ranks = ", ".join(f"{name} {rank:.2f}" for name, rank in found.ranks.items())
    p = {frozenset((pair.first, pair.second)): pair.adjusted for pair in found.pairs}
    names = list(losses.columns)
    rows = []
    for i, row in enumerate(names[1:], 1):
        cells = []
        for j, column in enumerate(names[:i]):
            cells.append(f"{p[frozenset((row, column))]:.1e} / {paper[row][j]:.1e}")
        rows.append([row, *cells, *[""] * (len(names) - 1 - i)])
    assert found.friedman is not None
    return [
        f"Average ranks, the best first: {ranks}. Iman-Davenport: p = {found.friedman.p:.1e}. "
        f"Cannot be told apart: {'; '.join(', '.join(g) for g in found.groups) or 'none'}.",
        table(["", *names[:-1]], rows),
    ]


READING = """\
{sets} data sets of the 67 of Sarigiannis et al. 2020, the smallest ones; {configurations}
configurations of the pool were measured on each, at 1/9, 1/3 and all of the training rows, means
over {splits} train/validation splits (paper: 10), one train/test split (paper: 10). {replications}
replications draw from these tables. `.W` draws models by the paper's weights (Eq. 5), the others
evenly. p-values: Wilcoxon signed-rank, Finner's correction, ours / paper."""

DIFFERENCES = """\
The order of the ranks is the paper's; that few single pairs are significant after correction is
what fewer data sets than its 67 allow, and where a plain model is the best, as on several of these
small sets, drawing models evenly finds it sooner. A replication redraws configurations, not data,
so means over replications are smoother than the paper's means over ten splits. Ranges of
hyperparameters are ours: the paper gives their number and kind alone. The second comparison uses a
third of the paper's budget (Hyperband 33 in all instead of 99), because a table of this size cannot
feed the 297 configurations that successive halving starts with there. As in the paper's figure 6,
the brackets' wins are more equal with weights than without."""


def verdicts(first: pd.DataFrame, second: pd.DataFrame) -> str:
    ranks = hl.compare(first).ranks
    later = hl.compare(second).ranks
    pairs = [
        ("SH0", ranks),
        ("SH1", ranks),
        ("SH2", ranks),
        ("RS", later),
        ("HB", later),
        ("SH", later),
    ]
    better = [name for name, of in pairs if of[f"{name}.W"] < of[name]]
    ordered = [s for s in ("", ".W") if ranks[f"SH2{s}"] < ranks[f"SH1{s}"] < ranks[f"SH0{s}"]]
    told = {"": "evenly", ".W": "by weight"}
    both = {**{n: first for n, _ in pairs[:3]}, **{n: second for n, _ in pairs[3:]}}
    won = ", ".join(
        f"{n} {int((losses[f'{n}.W'] < losses[n]).sum())}" for n, losses in both.items()
    )
    return (
        f"- Weighted sampling has the better rank for {', '.join(better) or 'none'} "
        f"({len(better)} of {len(pairs)}; paper: all); it has the smaller test loss on so many of the "
        f"{len(first)} data sets: {won}.\n"
        f"- SH2 before SH1 before SH0 with models drawn "
        f"{' and '.join(told[s] for s in ordered) or 'in neither way'} (Sarigiannis et al. 2020: both)."
    )


def main() -> None:
    parser = options(__doc__, "cash")
    parser.add_argument("--tables", type=Path, default=OUT, help="folder of experiments.cash_table")
    parser.add_argument("--replications", type=int, default=300)
    parser.add_argument("--splits", type=int, default=3, help="as given to experiments.cash_table")
    chosen = parser.parse_args()
    weighted = model_weights(pool_space("classification"), "weighted")
    models = list(weighted)
    chances = {
        "": np.full(len(models), 1 / len(models)),
        ".W": np.array(list(weighted.values())),
    }
    paths = sorted(chosen.tables.glob("*.csv"))
    sizes = {path: sum(1 for _ in read(path)) for path in paths}
    full = max(sizes.values(), default=0)
    sets = [Measured.of(path, models) for path in paths if sizes[path] == full]
    if len(sets) < 2:
        raise SystemExit(
            f"'{chosen.tables}' holds fewer than two whole tables; measure them first."
        )
    large, small = (schedule(n, 3, 3).brackets for n in (N, N // 3))
    by_name = {b.name: b for b in large}
    parts = {name: [by_name[name]] for name in ("SH0", "SH1", "SH2")}
    one = replay(sets, parts, chances, chosen.replications)
    two = replay(
        sets,
        {"RS": [by_name["SH0"]], "HB": list(small), "SH": [large[0]]},
        chances,
        chosen.replications,
    )
    pages = [
        READING.format(
            sets=len(sets),
            configurations=full,
            splits=chosen.splits,
            replications=chosen.replications,
        ),
        "## Figure 2, table 4: three schedules, budget 33, validation loss",
        *compared(one[0], PAPER["5.2 validation"]),
        "## Figure 3, table 5: the same, test loss",
        *compared(one[1], PAPER["5.2 test"]),
        "## Figure 4, table 6: random search, Hyperband and SH2 at an equal budget, validation loss",
        *compared(two[0], PAPER["5.3 validation"]),
        "## Figure 5, table 7: the same, test loss",
        *compared(two[1], PAPER["5.3 test"]),
        "## Figure 6: which bracket of Hyperband found its winner",
        table(
            ["models drawn", "SH2", "SH1", "SH0"],
            [
                [
                    said,
                    *(
                        f"{two[2][s, b] / sum(two[2][s, x] for x in by_name):.0%}"
                        for b in ("SH2", "SH1", "SH0")
                    ),
                ]
                for s, said in (("", "evenly"), (".W", "by weight"))
            ],
        ),
        "## What agrees and what does not",
        verdicts(one[1], two[1]),
        DIFFERENCES,
    ]
    publish("cash", "Schedules and model sampling for CASH", "experiments.cash", pages, chosen.save)


if __name__ == "__main__":
    main()
