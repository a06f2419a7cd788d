"""Where configurations would probably fail, as far as those that failed tell: nothing is promised
there, and nothing is proposed.

An additive process learns failing as a search does (surrogates/outcomes.py): above 0 where more fail
than not. It is smooth, and who looks for what is least known looks where it errs; so what a rule of the
run says of failing holds too (explain/run/failure_rule.py).
"""

from __future__ import annotations

import numpy as np

from hyperlens.explain.run.failure_rule import fail_by_rule
from hyperlens.explain.run.failures import outcomes
from hyperlens.runs.history import History
from hyperlens.spaces.cube import BoolArray, FloatArray
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.additive.true_costs import TOLD_APART
from hyperlens.surrogates.outlook.limited import limit_process
from hyperlens.surrogates.quality import assess
from hyperlens.words import counted

FEWEST = 5  # trials that failed, and that did not: fewer tell nothing of where
PROBABLY = 0.5
MOST = 200  # trials that are learnt from


def failing(history: History, objective: str | None, seed: int) -> Additive | None:
    """The process of failing; None where too few failed, or nothing tells which do."""
    key = ("failing", seed, history.objective(objective).name)
    if key not in history.memory:
        history.memory[key] = _learnt(history, objective, seed)
    found: Additive | None = history.memory[key]
    return found


def _ended(history: History, objective: str | None) -> tuple[FloatArray, BoolArray]:
    """Vectors of the trials that ended, and which of them failed."""
    kinds, ended = outcomes(history, objective)
    failed = np.any([*kinds.values(), np.zeros_like(ended)], axis=0)[ended]
    return history.vectors[ended], failed


def _learnt(history: History, objective: str | None, seed: int) -> Additive | None:
    X, failed = _ended(history, objective)
    if min(failed.sum(), (~failed).sum()) < FEWEST:
        return None
    above = np.where(failed, 0.5, -0.5)
    process = limit_process(history.space.cube, X, above, seed, MOST)
    told = assess(process, process.X, process.y, "process").r2
    return process if told >= TOLD_APART else None


def would_fail(history: History, X: FloatArray, objective: str | None, seed: int) -> BoolArray:
    """Which vectors (n, d) would probably fail."""
    process = failing(history, objective, seed)
    if process is None or not len(X):
        return np.zeros(len(X), dtype=bool)
    by_rule = fail_by_rule(history.space, *_ended(history, objective), X, seed, PROBABLY)
    return np.asarray(by_rule | ((process.costs(X) > 0).mean(axis=1) > PROBABLY))


def failing_notes(history: History, objective: str | None, seed: int) -> tuple[str, ...]:
    """That it was learnt where trials fail, and from how many."""
    if failing(history, objective, seed) is None:
        return ()
    _, failed = _ended(history, objective)
    return (
        f"Configurations that would probably fail do not count, as far as {int(failed.sum())} failures "
        f"among {counted(len(failed), 'trial')} tell where that is.",
    )
