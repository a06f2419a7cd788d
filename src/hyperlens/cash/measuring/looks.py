"""What a budget means in a search by the clock: how many rows are trained on, in how many splits.

A look at one split of all rows tells more of a configuration than one at a few rows of several, so a
small budget takes splits away first and rows then.

Symbols
    budget   of an evaluation, 0 < budget <= 1; 1 / splits is one split of all rows
"""

from __future__ import annotations

from fractions import Fraction

FEWEST_ROWS = 2000  # of training, at the first rung of a large table
FEW_HELD = 1500  # training rows: with fewer, one split holds out too few to choose by
QUICK = 100  # training rows: with fewer nothing is saved by looking twice
MOST_RUNGS = 4
ETA = 3  # one of so many goes on, so budgets grow by at least that
CLOSE = 1e-9


def look(budget: float, splits: int) -> tuple[float, int]:
    """Part of the training rows, and number of splits.

    >>> look(1.0, 5), look(0.4, 5), look(0.1, 5)
    ((1.0, 5), (1.0, 2), (0.5, 1))
    """
    if budget >= 1 - CLOSE:
        return 1.0, splits
    whole = budget * splits
    if whole >= 1 - CLOSE:
        return 1.0, int(whole + CLOSE)
    return whole, 1


def ladder(rows: int, splits: int = 1) -> list[Fraction]:
    """Budgets of the rungs for so many training rows: all of them in one split or two, and then in
    all; of a large table a part of them before, by equal factors of at least three.

    >>> [str(budget) for budget in ladder(1000, 5)], [str(budget) for budget in ladder(8000, 3)]
    (['2/5', '1'], ['1/12', '1/3', '1'])
    """
    if rows < FEW_HELD:
        return [Fraction(1)] if splits < 4 or rows < QUICK else [Fraction(2, splits), Fraction(1)]
    whole = Fraction(1, splits)
    budgets = [whole] if splits == 1 else [whole, Fraction(1)]
    factor = rows // FEWEST_ROWS
    rungs = 0
    while rungs < MOST_RUNGS - 1 and ETA ** (rungs + 1) <= factor:
        rungs += 1
    if not rungs:
        return budgets
    step = int(factor ** (1 / rungs) + CLOSE)
    return [whole / step ** (rungs - k) for k in range(rungs)] + budgets
