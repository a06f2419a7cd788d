"""Rules that say where trials fail: each a part of the space by one or two parameters, if it holds.

A part is the values of a parameter whose trials differ most from all others in how often they fail
(least squares on 0 and 1), or those of two: each of the STARTS best parameters with the best other one
within, after which the first one is cut again. It is checked on trials that
it was not made from: in each of FOLDS parts of the run, a rule made from the others is counted there.
A rule that does not hold there is none. What one rule leaves may have another one.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy

from hyperlens.spaces.cube import Axis, BoolArray, FloatArray, IntArray, Runs, intersect
from hyperlens.spaces.rules import rule_in_words, sides
from hyperlens.spaces.space import Space

FOLDS = 5
MOST = 3  # rules
STARTS = 6
FEWEST = 3  # trials that failed, and trials inside of a part
SURE = 0.01  # chance that counts as clear on held-out trials come from no difference at all

Box = dict[int, Runs]


@dataclass(frozen=True)
class FailureRule:
    """A part of the space in words; `inside` and `elsewhere` are trials that failed and all of them, and
    the same for trials that the rule was not made from."""

    rule: str
    inside: tuple[int, int]
    elsewhere: tuple[int, int]
    held_inside: tuple[int, int]
    held_elsewhere: tuple[int, int]


def failure_rules(
    space: Space, X: FloatArray, failed: BoolArray, seed: int
) -> tuple[tuple[FailureRule, ...], IntArray]:
    """Rules for vectors X of which some failed, each of the rows that none before holds for, and which
    rule each row lies in, -1 where none holds."""
    rules: list[FailureRule] = []
    where = np.full(len(X), -1)
    for rule, box in _rules(space, X, failed, seed):
        where[(where < 0) & _inside(space, box, X)] = len(rules)
        rules.append(rule)
    return tuple(rules), where


def fail_by_rule(
    space: Space,
    X: FloatArray,
    failed: BoolArray,
    vectors: FloatArray,
    seed: int,
    more_than: float,
) -> BoolArray:
    """For which vectors a rule holds by which more than this part of the trials failed that it was not
    made from."""
    fail = np.zeros(len(vectors), dtype=bool)
    for rule, box in _rules(space, X, failed, seed):
        count, of = rule.held_inside
        if count > more_than * of:
            fail |= _inside(space, box, vectors)
    return fail


def _rules(
    space: Space, X: FloatArray, failed: BoolArray, seed: int
) -> Iterator[tuple[FailureRule, Box]]:
    """Rules and their boxes, each made from the rows for which none before it holds."""
    for _ in range(MOST):
        rule, box = failure_rule(space, X, failed, seed)
        if rule is None:
            return
        yield rule, box
        others = ~_inside(space, box, X)
        X, failed = X[others], failed[others]


def failure_rule(
    space: Space, X: FloatArray, failed: BoolArray, seed: int
) -> tuple[FailureRule | None, Box]:
    """The rule for vectors X of which some failed, and its box; of two that hold, the shorter unless
    the longer is better on held-out trials."""
    if not FEWEST <= int(failed.sum()) <= len(failed) - FEWEST:
        return None, {}
    found: list[tuple[float, FailureRule, Box]] = []
    for depth in (1, 2):
        box, inside = _grown(space, X, failed, depth)
        told = _held_out(space, X, failed, depth, seed)
        held, others = _counts(failed, told), _counts(failed, ~told)
        if not box or not _differs(held, others):
            continue
        error = sum(k * (n - k) / n for k, n in (held, others) if n)
        words = rule_in_words(space, box)
        rule = FailureRule(words, _counts(failed, inside), _counts(failed, ~inside), held, others)
        found.append((error, rule, box))
    return min(found, key=lambda one: one[0])[1:] if found else (None, {})


def common_end(space: Space, X: FloatArray, failed: BoolArray) -> str | None:
    """The end of a parameter's range at which all failures are, in words: the one with the fewest
    trials, at most half of them; None where that may be chance."""
    best: tuple[int, str] | None = None
    doubt = np.log(SURE / (2 * max(len(space), 1)))
    for j, (parameter, axis) in enumerate(zip(space.parameters, space.cube.axes, strict=True)):
        x = X[:, j]
        if not axis.ordered or np.isnan(x[failed]).any():
            continue
        active = ~np.isnan(x)
        for left in (x[active] < x[failed].min(), x[active] <= x[failed].max()):
            if left.all() or not left.any():
                continue
            low, high = sides(parameter, axis, x[active], left)
            runs = high if not left[failed[active]].any() else low
            n = int(_inside(space, {j: runs}, X).sum())
            clear = failed.sum() * np.log(n / len(X)) <= doubt
            if clear and n <= len(X) / 2 and (best is None or n < best[0]):
                best = n, rule_in_words(space, {j: runs})
    return None if best is None else best[1]


def _counts(failed: BoolArray, rows: BoolArray) -> tuple[int, int]:
    return int(failed[rows].sum()), int(rows.sum())


def _differs(inside: tuple[int, int], elsewhere: tuple[int, int]) -> bool:
    """Do trials fail more often inside, by Fisher's exact test?"""
    table = [[k, n - k] for k, n in (inside, elsewhere)]
    return bool(scipy.stats.fisher_exact(table, alternative="greater").pvalue <= SURE)


def _held_out(space: Space, X: FloatArray, failed: BoolArray, depth: int, seed: int) -> BoolArray:
    """Which trials lie inside of the rule that the other folds make; each fold has its failures."""
    rng = np.random.default_rng(seed)
    fold = np.empty(len(X), dtype=np.int64)
    for rows in (np.flatnonzero(failed), np.flatnonzero(~failed)):
        fold[rng.permutation(rows)] = np.arange(len(rows)) % FOLDS
    told = np.zeros(len(X), dtype=bool)
    for k in range(FOLDS):
        box, _ = _grown(space, X[fold != k], failed[fold != k], depth)
        told[fold == k] = _inside(space, box, X[fold == k]) if box else False
    return told


def _grown(space: Space, X: FloatArray, failed: BoolArray, depth: int) -> tuple[Box, BoolArray]:
    """The part of the space by at most `depth` parameters, and which rows lie in it."""
    starts = sorted(_parts(space, X, failed), key=lambda part: -part[0])
    boxes: list[Box] = [{j: runs} for _, j, runs in starts[: STARTS if depth > 1 else 1]]
    if depth > 1:
        boxes = [_narrowed(space, box, X, failed) for box in boxes]
    found = [(box, _inside(space, box, X)) for box in boxes]
    return max(found, key=lambda one: _gain(failed, one[1]), default=({}, np.ones(len(X), bool)))


def _narrowed(space: Space, box: Box, X: FloatArray, failed: BoolArray) -> Box:
    """A part by one parameter, cut by the best other one within, and by the first one within that."""
    (first,) = box
    rows = _inside(space, box, X)
    best = max(_parts(space, X[rows], failed[rows]), key=lambda part: part[0], default=None)
    if best is None:
        return box
    _, second, runs = best
    if second == first:
        return {first: intersect(box[first], runs)}
    rows = _inside(space, {second: runs}, X)
    again = [part for part in _parts(space, X[rows], failed[rows]) if part[1] == first]
    narrow = {first: box[first], second: runs}
    anew = {first: again[0][2], second: runs} if again else narrow
    return max(narrow, anew, key=lambda one: _gain(failed, _inside(space, one, X)))


def _gain(failed: BoolArray, inside: BoolArray) -> float:
    """What a part takes from the squared error; less than nothing if it is too small or fails less."""
    n, total = int(inside.sum()), float((failed[inside] - failed.mean()).sum())
    if n < FEWEST or len(failed) - n < FEWEST or total <= 0:
        return -1.0
    return total**2 * (1 / n + 1 / (len(failed) - n))


def _inside(space: Space, box: Box, X: FloatArray) -> BoolArray:
    """Rows of a box; where a parameter is inactive, a rule on it does not hold."""
    inside = np.ones(len(X), dtype=bool)
    for j, runs in box.items():
        x = X[:, j]
        inside &= np.any([(low <= x) & ((x < high) | (high >= 1)) for low, high in runs], axis=0)
    return inside


def _parts(space: Space, X: FloatArray, failed: BoolArray) -> Iterator[tuple[float, int, Runs]]:
    """For each parameter the part of its axis whose trials fail more often than all others: what it
    takes from the squared error, its column and where it lies."""
    rate = failed.mean()
    for j, (parameter, axis) in enumerate(zip(space.parameters, space.cube.axes, strict=True)):
        active = ~np.isnan(X[:, j])
        if not active.any():
            continue
        x, excess = X[active, j], failed[active] - rate
        order = _order(axis, x, failed[active])
        counts, sums = np.bincount(order), np.bincount(order, weights=excess)
        left = np.column_stack([counts, sums]).cumsum(axis=0)  # up to each cut
        n, total = np.stack([left[:-1], left[-1] - left[:-1]], axis=1).T  # (sides, cuts)
        possible = (n >= FEWEST) & (len(X) - n >= FEWEST) & (total > 1e-12)
        if not possible.any():
            continue
        size = np.where(possible, n, 1.0)
        gain = np.where(possible, total**2 * (1 / size + 1 / np.maximum(len(X) - size, 1)), -1.0)
        cut, side = np.argwhere(np.isclose(gain.T, gain.max(), atol=1e-12))[0]
        yield float(gain.max()), j, sides(parameter, axis, x, order <= cut)[side]


def _order(axis: Axis, x: FloatArray, failed: BoolArray) -> IntArray:
    """A number for each row by which it goes left first: its value, or how often its level fails."""
    if axis.ordered:
        return np.unique(x, return_inverse=True)[1].ravel()
    levels, which = np.unique(x, return_inverse=True)
    which = which.ravel()
    rates = np.array([failed[which == k].mean() for k in range(len(levels))])
    return np.asarray(np.argsort(np.argsort(rates, kind="stable"))[which])
