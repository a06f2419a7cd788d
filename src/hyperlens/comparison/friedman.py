"""Average ranks, and Friedman's test with Iman and Davenport's F: do the methods differ at all?

Friedman 1937; Iman and Davenport 1980.

Symbols (Demsar 2006)
    N, k     data sets (rows), methods (columns)
    R_j      average rank of method j; 1 is best, ties share the mean of their ranks
    chi2_F   12 N / (k (k + 1)) (sum R_j^2 - k (k + 1)^2 / 4), k - 1 degrees of freedom
    F_F      (N - 1) chi2_F / (N (k - 1) - chi2_F), k - 1 and (k - 1)(N - 1) degrees of freedom
    C        1 - sum (t^3 - t) / (N k (k^2 - 1)) over runs of t tied values; chi2_F / C allows for ties
"""

import math
from dataclasses import dataclass

import numpy as np
import scipy

from hyperlens.spaces.cube import FloatArray

ROUNDING = 8 * float(np.finfo(float).eps)  # numbers this close, relative to their size, are tied


@dataclass(frozen=True)
class Friedman:
    """Friedman's test as published, and (`tied_`) with its correction for ties within rows.

    `p` belongs to `chi2`, `f_p` to `f`. Without ties both forms are the same.
    """

    chi2: float
    df: int
    p: float
    f: float
    df1: int
    df2: int
    f_p: float
    ties: int
    tied_chi2: float
    tied_p: float
    tied_f: float
    tied_f_p: float


def average_ranks(values: FloatArray, tolerance: FloatArray) -> FloatArray:
    """Ranks of numbers from 1 for the smallest; numbers closer than their tolerance share one."""
    order = np.argsort(values, kind="stable")
    placed, slack = values[order], tolerance[order]
    new = np.diff(placed) > np.maximum(slack[1:], slack[:-1])
    run = np.concatenate([[0], np.cumsum(new)])
    positions = np.arange(1, len(values) + 1, dtype=float)
    shared = np.bincount(run, weights=positions) / np.bincount(run)
    ranks = np.empty(len(values))
    ranks[order] = shared[run]
    return ranks


def rank_rows(costs: FloatArray) -> FloatArray:
    """Ranks within each row, shape (N, k); lower costs have lower ranks."""
    return np.array([average_ranks(row, ROUNDING * np.abs(row)) for row in costs])


def friedman(ranks: FloatArray) -> Friedman:
    """Friedman's test of ranks, shape (N, k)."""
    rows, k = ranks.shape
    spread = float(np.sum(ranks.mean(axis=0) ** 2)) - k * (k + 1) ** 2 / 4
    chi2 = max(12 * rows / (k * (k + 1)) * spread, 0.0)
    sizes = [np.unique(row, return_counts=True)[1] for row in ranks]
    tied = sum(float(np.sum(t.astype(float) ** 3 - t)) for t in sizes)
    untied_part = 1 - tied / (rows * k * (k * k - 1))
    corrected = chi2 / untied_part if untied_part > 0 else 0.0
    f, df1, df2 = iman_davenport(chi2, rows, k)
    tied_f, _, _ = iman_davenport(corrected, rows, k)
    return Friedman(
        chi2=chi2,
        df=k - 1,
        p=float(scipy.stats.chi2.sf(chi2, k - 1)),
        f=f,
        df1=df1,
        df2=df2,
        f_p=float(scipy.stats.f.sf(f, df1, df2)),
        ties=sum(bool((t > 1).any()) for t in sizes),
        tied_chi2=corrected,
        tied_p=float(scipy.stats.chi2.sf(corrected, k - 1)),
        tied_f=tied_f,
        tied_f_p=float(scipy.stats.f.sf(tied_f, df1, df2)),
    )


def iman_davenport(chi2: float, rows: int, k: int) -> tuple[float, int, int]:
    """F_F and its degrees of freedom; infinite where every row ranks the methods alike."""
    most = rows * (k - 1)
    left = most - chi2
    f = (rows - 1) * chi2 / left if left > 1e-12 * most else math.inf
    return f, k - 1, (k - 1) * (rows - 1)
