"""One number measured in several runs: its mean over runs, and how far runs truly differ.

A random-effects model: run i truly has theta_i, drawn around mu with variance tau2, and measures it with
variance v_i. tau2 is where the weighted squares are as large as they should be (Paule and Mandel 1982);
the interval of mu is that of Hartung and Knapp 2001. The interval of tau2 holds all values with which
the weighted squares are no larger and no smaller than chance has them (Viechtbauer 2007).

Errors that runs say of themselves are rather too large, so tau2 comes out too small. The prediction
interval of a further run (Higgins et al. 2009) therefore takes all that is seen between runs for a
difference of theirs; with tau2 alone it holds two thirds of what it says. And where runs differ by less
than their errors, these are taken for as much smaller before it is said how large tau2 may be at the
most: else nothing at all would be left to it.

Errors of runs that lie evenly are their own and average out. Searches that favour some parts of a space
leave out the same ones, and err there alike; so the errors of such runs are taken for shared, and what
they leave open of the mean does not shrink with their number.

Symbols
    k        runs
    y, v     what each measured, and its variance, (k, numbers)
    w        1 / (v + tau2)
    Q        sum of w (y - mu)^2, which is k - 1 on average and chi-squared of as many degrees
    I2       the part of the variance between what runs say that is no error of measurement
"""

from dataclasses import dataclass

import numpy as np
import scipy
from scipy.optimize import elementwise

from hyperlens.spaces.cube import BoolArray, FloatArray

FEWEST_PREDICTED = 3  # runs from which one more can be predicted


@dataclass(frozen=True)
class Pooled:
    """Of each number: its mean over runs with an interval, that of a further run, tau, and I2 with an
    interval."""

    mean: FloatArray
    low: FloatArray
    high: FloatArray
    next_low: FloatArray
    next_high: FloatArray
    tau: FloatArray
    i2: FloatArray
    i2_low: FloatArray
    i2_high: FloatArray


def pooled(y: FloatArray, v: FloatArray, level: float, shared: BoolArray | None = None) -> Pooled:
    """Pool numbers of k runs (k, numbers), each with the variance of its error; `shared` (k,) says whose
    errors are no independent ones.

    >>> found = pooled(np.array([[1.0], [3.0], [5.0]]), np.full((3, 1), 1.0), 0.9)
    >>> found.mean.round(9), found.tau.round(9) ** 2  # the variance of 4 less that of the error
    (array([3.]), array([3.]))
    """
    k, v = len(y), np.maximum(v, np.finfo(float).tiny)
    tau2 = _tau2(y, v, k - 1)
    w = 1 / (v + tau2)
    mean = (w * y).sum(axis=0) / w.sum(axis=0)
    spread = np.maximum(_Q(y, w) / max(k - 1, 1), 1.0)  # never narrower than without Hartung-Knapp
    together = np.zeros(k) if shared is None else np.asarray(shared, dtype=float)
    alike = together @ (w * np.sqrt(v)) / w.sum(axis=0)  # standard deviation of errors that are one
    error = np.sqrt(spread / w.sum(axis=0) + alike**2)
    reach = np.hypot(
        _quantile(level, k - 1) * np.sqrt(spread / w.sum(axis=0)), _normal(level) * alike
    )
    seen = (w * (y - mean) ** 2).sum(axis=0) / w.sum(axis=0) * k / (k - 1)
    ahead = _quantile(level, k - 2) * np.sqrt(np.maximum(tau2, seen) + error**2)
    plain = 1 / v
    typical = (k - 1) * plain.sum(axis=0) / (plain.sum(axis=0) ** 2 - (plain**2).sum(axis=0))
    by_chance = scipy.stats.chi2.ppf([(1 + level) / 2, (1 - level) / 2], k - 1)
    least = _tau2(y, v, float(by_chance[0]))
    smaller = np.clip(_Q(y, plain) / (k - 1), np.finfo(float).eps, 1.0)  # than they say
    most = _tau2(y, smaller * v, float(by_chance[1]))
    return Pooled(
        mean,
        mean - reach,
        mean + reach,
        mean - ahead,
        mean + ahead,
        np.sqrt(tau2),
        tau2 / (tau2 + typical),
        least / (least + typical),
        most / (most + smaller * typical),
    )


def _Q(y: FloatArray, w: FloatArray) -> FloatArray:
    mean = (w * y).sum(axis=0) / w.sum(axis=0)
    return np.asarray((w * (y - mean) ** 2).sum(axis=0))


def _tau2(y: FloatArray, v: FloatArray, wanted: float) -> FloatArray:
    """tau2 of each number: where Q is as wanted; 0 where it is smaller without any."""

    def above(tau2: FloatArray, *both: FloatArray) -> FloatArray:
        """By how much Q is too large, of numbers with these y and v; it falls with tau2."""
        own, errors = np.split(np.stack(both), 2)
        return _Q(own, 1 / (errors + tau2)) - wanted

    squares = len(y) * y.var(axis=0)  # Q is at most these / tau2
    ends = np.zeros(y.shape[1]), np.asarray(squares / wanted + v.max(axis=0))
    found = elementwise.find_root(above, ends, args=(*y, *v))
    return np.where(above(ends[0], *y, *v) <= 0, 0.0, found.x)


def _normal(level: float) -> float:
    return float(scipy.stats.norm.ppf((1 + level) / 2))


def _quantile(level: float, freedom: int) -> float:
    return float(scipy.stats.t.ppf((1 + level) / 2, freedom)) if freedom > 0 else np.inf
