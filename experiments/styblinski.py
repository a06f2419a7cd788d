"""Moosbauer et al. 2021 section 6.1: sampling bias on Styblinski-Tang, figure 6 and table 1.

python -m experiments.styblinski                              # prints the tables
python -m experiments.styblinski --replications 3 --save      # and writes docs/results

The lower confidence bound with tau 0.1, 1 and 5 minimises 0.5 sum(x^4 - 16 x^2 + 5 x) on [-5, 5]^d.
The last surrogate gives the partial dependence of x1 with the band of Eq. 5, in the whole space and
in the region that holds the best trial after one and three levels of splits.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from scipy.spatial.distance import cdist, pdist

import hyperlens as hl
from experiments import options, publish, table
from hyperlens import Parameter, Space
from hyperlens.explain.effects.region_tree import Region
from hyperlens.explain.effects.regions import regions
from hyperlens.explain.effects.reliability import nll
from hyperlens.optimize import SMBO
from hyperlens.optimize.optimizers import designs as sampling
from hyperlens.spaces.cube import WHOLE, FloatArray, Runs, measure
from hyperlens.surrogates.gaussian_process.gp import GP

BUDGET = {3: 80, 5: 150, 8: 250}
TAUS = {"low": 5.0, "medium": 1.0, "high": 0.1}  # name of the bias -> tau
LEVELS = (1, 3)
NUGGET = 1e-8
SAMPLE, GRID, REACH = 1000, 20, 5.0
CURVES: tuple[Literal["variance", "std"], ...] = ("variance", "std")  # what trees split on
FIXED = 0  # seed of what all replications share: initial design, sample, uniform points

# d, bias -> MMD, delta MC after 1 and 3 levels, delta NLL after 1 and 3 levels
PAPER = {
    (3, "low"): (0.18, 7.65, 13.64, 5.89, 10.92),
    (3, "medium"): (0.51, 12.86, 36.92, 4.78, 7.70),
    (3, "high"): (0.56, 16.52, 34.84, 2.77, -1.62),
    (5, "low"): (0.15, 6.63, 15.45, 2.82, 6.05),
    (5, "medium"): (0.45, 19.67, 37.28, 4.05, 7.80),
    (5, "high"): (0.53, 11.99, 33.06, -3.86, -1.93),
    (8, "low"): (0.11, 3.58, 9.67, 0.84, 2.40),
    (8, "medium"): (0.42, 8.86, 23.03, 1.51, 3.30),
    (8, "high"): (0.56, 6.59, 19.84, 1.53, 4.29),
}


@dataclass(frozen=True)
class Outcome:
    """One run: regret, bias, and MC and NLL by CURVES (rows) in the whole space and after 1 and 3
    levels (columns)."""

    regret: float
    mmd: float
    confidence: FloatArray
    nll: FloatArray

    def better(self, numbers: FloatArray) -> FloatArray:
        """Relative improvement over the whole space in percent."""
        return np.asarray(100 * (numbers[:, :1] - numbers[:, 1:]) / np.abs(numbers[:, :1]))


def one_axis(x: FloatArray) -> FloatArray:
    return np.asarray(0.5 * (x**4 - 16 * x**2 + 5 * x))


def one_axis_mean(runs: Runs) -> float:
    """Mean of `one_axis` over a part of the unit axis."""

    def integral(u: float) -> float:
        x = REACH * (2 * u - 1)
        return (x**5 / 5 - 16 * x**3 / 3 + 5 * x**2 / 2) / 2 / (2 * REACH)

    return sum(integral(high) - integral(low) for low, high in runs) / measure(runs)


def true_effect(x: FloatArray, box: Mapping[int, Runs], d: int) -> FloatArray:
    """Partial dependence of x1 in a box, exact: the function is a sum over axes."""
    return one_axis(x) + sum(one_axis_mean(box.get(j, WHOLE)) for j in range(1, d))


def mmd(X: FloatArray, Y: FloatArray) -> float:
    """Root of the biased estimate (Moosbauer et al. 2021 C.1), Gaussian kernel, sigma the median gap."""
    sigma = np.median(pdist(np.vstack([X, Y])))

    def mean(A: FloatArray, B: FloatArray) -> float:
        return float(np.exp(-(cdist(A, B) ** 2) / (2 * sigma**2)).mean())

    return float(np.sqrt(max(mean(X, X) + mean(Y, Y) - 2 * mean(X, Y), 0)))


def space_of(d: int) -> Space:
    return Space.of([Parameter(f"x{j + 1}", "float", -REACH, REACH) for j in range(d)])


def maximin_design(d: int) -> FloatArray:
    """The one initial design of all replications."""
    return sampling.maximin(space_of(d).cube, 4 * d, np.random.default_rng(FIXED))


def run(d: int, tau: float, design: FloatArray, seed: int) -> SMBO:
    """One optimisation; the focus search is the papers', without polishing."""
    space = space_of(d)
    optimiser = SMBO(
        space, tau=tau, acquisition="lcb", design=design, nugget=NUGGET, refine=False, seed=seed
    )
    for _ in range(BUDGET[d]):
        proposal = optimiser.ask()
        x = np.array([proposal.values[name] for name in space.names])
        optimiser.tell(proposal.values, float(one_axis(x).sum()))
    return optimiser


def history_of(optimiser: SMBO) -> hl.History:
    trials = [hl.Trial(k, t.values, (t.cost,)) for k, t in enumerate(optimiser.results)]
    return hl.History(optimiser.space, (hl.Objective("cost"),), tuple(trials))


def outcome(optimiser: SMBO) -> Outcome:
    """The surrogate has the paper's fixed nugget."""
    d, history = len(optimiser.space), history_of(optimiser)
    data = history.data()
    model = GP(history.space.cube, NUGGET, seed=FIXED).fit(data.X, data.y)
    confidence, scores = [], []
    for curve in CURVES:
        found = regions(
            history,
            "x1",
            levels=max(LEVELS),
            curve=curve,
            surrogate=model,
            sample=SAMPLE,
            grid=GRID,
            seed=FIXED,
        )
        x = np.array(found.values)
        path = [holding(found.tree, level) for level in (0, *LEVELS)]
        confidence.append([r.confidence for r in path])
        scores.append([nll(true_effect(x, r.box, d), r.mean, r.std) for r in path])
    assert optimiser.best is not None
    uniform = np.random.default_rng([FIXED, 1]).random((len(optimiser.X), d))
    return Outcome(
        regret=optimiser.best.cost + 39.16616570377142 * d,
        mmd=mmd(optimiser.X, uniform),
        confidence=np.array(confidence),
        nll=np.array(scores),
    )


def holding(tree: Sequence[Region], level: int) -> Region:
    """The best trial's region at a level, or the deepest above it where splitting had ended."""
    return max((r for r in tree if r.holds_best and r.level <= level), key=lambda r: r.level)


def figure_row(d: int, bias: str, found: Sequence[Outcome]) -> list[str]:
    regret, mc, score = (
        np.array(numbers)
        for numbers in zip(
            *((o.regret, o.confidence[0, 0], o.nll[0, 0]) for o in found), strict=True
        )
    )
    return [
        str(d),
        f"{bias} (tau {TAUS[bias]:g})",
        str(len(found)),
        f"{np.median(regret):.3g}",
        f"{np.median(mc):.1f} ({mc.min():.1f} to {mc.max():.1f})",
        f"{np.median(score):.2f} ({score.min():.2f} to {score.max():.2f})",
    ]


def improvements(found: Sequence[Outcome]) -> FloatArray:
    """By run, curve, and delta MC after 1 and 3 levels, delta NLL after 1 and 3 levels."""
    return np.array([np.hstack([o.better(o.confidence), o.better(o.nll)]) for o in found])


def table_row(d: int, bias: str, found: Sequence[Outcome]) -> list[str]:
    by_variance, by_std = improvements(found).mean(axis=0)
    paper_mmd, *paper = PAPER[d, bias]
    cells = zip(by_variance, by_std, paper, strict=True)
    return [
        str(d),
        bias,
        f"{np.mean([o.mmd for o in found]):.2f} / {paper_mmd:.2f}",
        *(f"{a:.1f}, {b:.1f} / {c:.1f}" for a, b, c in cells),
    ]


def design_row(d: int, bias: str, found: Sequence[Outcome]) -> list[str]:
    """Mean and range over designs, trees on the standard deviation, and the paper's one design."""
    drawn = improvements(found)[:, CURVES.index("std")]
    mmds = np.array([o.mmd for o in found])
    whole = np.median([[o.confidence[0, 0], o.nll[0, 0]] for o in found], axis=0)
    paper_mmd, *paper = PAPER[d, bias]
    cells = zip(drawn.mean(axis=0), drawn.min(axis=0), drawn.max(axis=0), paper, strict=True)
    return [
        str(d),
        bias,
        str(len(found)),
        *(f"{m:.1f}" for m in whole),
        f"{mmds.mean():.2f} ({mmds.min():.2f} to {mmds.max():.2f}) / {paper_mmd:.2f}",
        *(f"{a:.1f} ({low:.1f} to {high:.1f}) / {b:.1f}" for a, low, high, b in cells),
    ]


READING = """\
Bias is low, medium or high for tau 5, 1 and 0.1. The first two tables are over so many
replications: {replications} (the paper: 30). All replications share the initial design and the
sample, as in the paper, so they differ only in the random points of the focus search. MC is the
mean over 20 grid points of the band's standard deviation (Eq. 5), NLL the mean negative log
likelihood of the true partial dependence, which is exact here: the function is a sum over axes.
Improvements are relative to the whole space, in the region that holds the best configuration, after
1 and 3 levels of splits (the paper's *splits* are levels)."""

DIFFERENCES = """\
## What agrees and what does not

{verdicts}
{within}

The improvements of the band at d = 8 and of low bias everywhere are near the paper's; those of
medium and high bias at d = 3 and 5 are smaller from our shared design, and near it from designs of
their own. What is behind it: with one shared design a cell of the paper's table is nearly one draw (its
own standard deviations over 30 replications are at most 0.01 points in two of the three rows of d = 3),
and its designs and Monte Carlo points are not published. The table of uniform designs shows how far one
design alone moves a cell; the paper calls its design random, our shared one is a maximin Latin
hypercube. Trees on curves of the standard deviation, which the paper's code used, mostly gain a few
points more of band than trees on the variance, which its text describes. The band itself does not
grow steadily with the bias: with tau 0.1 nearly all costs are those of one valley, the estimated
variance of the process is small, and the surrogate is sure of places it has never seen. The NLL
pays for it, which is the paper's point. Our averages over a region are exact integrals over its
box; the paper's are means over the sample points inside."""


def within(designs: Mapping[tuple[int, str], Sequence[Outcome]]) -> str:
    """In how many cells the paper's number lies between the least and the most over designs."""
    inside, cells = 0, 0
    for key, found in designs.items():
        drawn = improvements(found)[:, CURVES.index("std")].round(1)
        low, high, paper = drawn.min(axis=0), drawn.max(axis=0), np.round(PAPER[key][1:], 1)
        inside += int(((low <= paper) & (paper <= high)).sum())
        cells += len(paper)
    return (
        "- The paper's improvements lie within our range over uniform designs in "
        f"{inside} of {cells} cells."
    )


def verdicts(results: Mapping[tuple[int, str], Sequence[Outcome]]) -> str:
    """Sentences from the numbers: each claim of the paper, and in how many rows it holds."""

    def whole(key: tuple[int, str], what: str) -> float:
        return float(np.mean([np.ravel(getattr(o, what))[0] for o in results[key]]))

    dims = sorted({d for d, _ in results})

    def rising(what: str) -> str:
        strictly = [d for d in dims if np.all(np.diff([whole((d, b), what) for b in TAUS]) > 0)]
        ends = [d for d in dims if whole((d, "high"), what) > whole((d, "low"), what)]
        return f"from low to medium to high in {len(strictly)}, from low to high in {len(ends)}"

    def gained(column: int) -> str:
        found = np.array([improvements(r).mean(axis=0)[1, column] for r in results.values()])
        return (
            f"{(found > 0).sum()} of {len(found)} rows ({found.min():.1f} to {found.max():.1f} %)"
        )

    return "\n".join(
        [
            f"- The smaller tau, the larger the MMD: of {len(dims)} dimensions {rising('mmd')}.",
            f"- More bias, wider bands (figure 6, left): {rising('confidence')}.",
            f"- More bias, larger NLL (figure 6, right): {rising('nll')}.",
            f"- Splitting narrows the band: after one level in {gained(0)}, after three in "
            f"{gained(1)}; the paper has 3.6 to 19.7 and 9.7 to 37.3 %.",
            f"- Splitting improves the NLL: after one level in {gained(2)}, after three in "
            f"{gained(3)}; the paper has -3.9 to 5.9 and -1.9 to 10.9 %.",
        ]
    )


def main() -> None:
    parser = options(__doc__, "styblinski")
    parser.add_argument(
        "--replications",
        type=int,
        nargs="+",
        default=[2],
        help="runs of every row, or by dimension",
    )
    parser.add_argument("--dimensions", type=int, nargs="+", default=[3, 5, 8], choices=[3, 5, 8])
    parser.add_argument(
        "--designs",
        type=int,
        nargs="+",
        default=[6, 2, 1],
        help="uniform initial designs tried, or by dimension",
    )
    chosen = parser.parse_args()
    counts = dict(zip(chosen.dimensions, chosen.replications * 3, strict=False))
    results = {
        (d, bias): [outcome(run(d, tau, maximin_design(d), seed)) for seed in range(count)]
        for d, count in counts.items()
        for bias, tau in TAUS.items()
    }
    designs = {
        (d, bias): [
            outcome(run(d, tau, np.random.default_rng([FIXED, 2, k]).random((4 * d, d)), FIXED))
            for k in range(count)
        ]
        for d, count in zip(chosen.dimensions, chosen.designs * 3, strict=False)
        for bias, tau in TAUS.items()
        if count
    }
    figure = ["d", "bias", "runs", "regret", "MC, median (range)", "NLL, median (range)"]
    deltas = [f"delta {what} %, {n} level{'s'[: n - 1]}" for what in ("MC", "NLL") for n in LEVELS]
    parts = [
        READING.format(replications=", ".join(f"{n} at d = {d}" for d, n in counts.items())),
        "## Figure 6: the whole space",
        table(figure, [figure_row(d, bias, found) for (d, bias), found in results.items()]),
        "## Table 1: the best trial's region; trees on variance, on standard deviation / paper",
        table(
            ["d", "bias", "MMD", *deltas],
            [table_row(d, bias, found) for (d, bias), found in results.items()],
        ),
        "## Uniform initial designs, one a run; trees on standard deviation: mean (range) / paper",
        table(
            ["d", "bias", "runs", "MC, median", "NLL, median", "MMD", *deltas],
            [design_row(d, bias, found) for (d, bias), found in designs.items()],
        ),
        DIFFERENCES.format(verdicts=verdicts(results), within=within(designs)),
    ]
    publish(
        "styblinski",
        "Sampling bias on Styblinski-Tang",
        "experiments.styblinski",
        parts,
        chosen.save,
    )


if __name__ == "__main__":
    main()
