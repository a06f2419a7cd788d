"""What an additive process says of a task from some trials, beside the truth.

Keys of a row
    error        mean absolute difference from the true main shares, in percentage points
    effect       mean distance of the seven effects from the truth, in standard deviations of the cost
    width        of the 90 % intervals of the shares, in points
    held         part of the true shares above 2 % that the intervals hold
    low, high    the intervals
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import hyperlens as hl
from experiments.real_runs.tasks import FloatArray, Tasks
from hyperlens.explain.importance.shares import additive_shares
from hyperlens.surrogates.additive.additive import Additive

LEVEL, ABOVE = 0.9, 0.02
Row = dict[str, Any]
Truth = dict[str, FloatArray]


def as_history(tasks: Tasks, values: Sequence[dict[str, Any]], costs: FloatArray) -> hl.History:
    trials = [
        hl.Trial(k, v, (float(c),)) for k, (v, c) in enumerate(zip(values, costs, strict=True))
    ]
    return hl.History(tasks.space, (hl.Objective("error"),), tuple(trials))


def costs_of(tasks: Tasks, task: str, values: Sequence[Any]) -> FloatArray:
    table = np.array([[v[name] for name in tasks.names] for v in values], dtype=float)
    return tasks.at(task, table.reshape(-1, len(tasks.names)))


def measured(history: hl.History, truth: Truth) -> Row:
    """Of the leader that the additive process is, asked directly."""
    model = hl.fit(history, "additive").model
    assert isinstance(model, Additive)
    found = additive_shares(model, 1, LEVEL)
    true, slack = truth["main"], truth["main_error"]
    deviation = float(np.sqrt(truth["variance"]))
    effects = [
        np.abs(model.weights.averaged((j,), grid[:, None], {}).mean(axis=1) - curve).mean()
        for j, (grid, curve) in enumerate(zip(truth["grid"], truth["pd"], strict=True))
    ]
    held = (found.low - slack <= true) & (true <= found.high + slack)
    return {
        "error": 100 * float(np.abs(found.share - true).mean()),
        "effect": float(np.mean(effects)) / deviation,
        "width": 100 * float((found.high - found.low).mean()),
        "held": float(held[true > ABOVE].mean()),
        "low": found.low.tolist(),
        "high": found.high.tolist(),
    }


def rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def missing(path: Path, names: Sequence[str], seed: int | None = None) -> Iterator[str]:
    """Tasks that were not measured yet, with a seed."""
    done = {row["task"] for row in rows(path) if seed is None or row["seed"] == seed}
    yield from (name for name in names if name not in done)


def keep(path: Path, found: Sequence[Row]) -> None:
    """All rows of a task at once."""
    with path.open("a") as file:
        file.write("".join(json.dumps(row) + "\n" for row in found))
    first = found[0]
    print(first["task"], f"{first['error']:.1f}", len(found), file=sys.stderr, flush=True)
