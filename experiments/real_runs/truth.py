"""What is true of a task: Sobol' indices and partial dependence of its model, by quasi-Monte Carlo.

Symbols
    A, B     two independent points of the unit cube, N of each
    A_j      A with its coordinate j taken from B; B_j the other way round
    E        mean over the N points
    V        variance of the cost, V_U that of its conditional mean given the coordinates in U
    pd       conditional mean of the cost on a grid of each axis, its partial dependence
    main     V_j / V, where V_j is the variance of the conditional mean over 16 Gauss-Legendre
             nodes of the axis, or over its levels
    total    E[(f(A) - f(A_j))^2] / 2V and the same for B, averaged (Jansen 1999)
    pairs    (V_ij - V_i - V_j) / V, where V_ij = E[f(A_i) f(B_j)] - E[f(A) f(B)] (Saltelli 2002) and
             V_j = E[f(B) (f(A_j) - f(A))], averaged over A and B exchanged
    q10      the cost that a tenth of the space is below; main_q10 is main of min(cost, q10)

All is the mean of two independent scramblings; `error` is half of what they differ by, the standard
error of a mean of two as it is known from two.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy

from experiments.real_runs.tasks import Cost, FloatArray, Tasks, written

POINTS, LINE_POINTS, GRID, NODES = 2**14, 2**11, 20, 16
SCRAMBLINGS = (11, 12)
QUANTILES = {"q10": 0.1, "q25": 0.25, "q50": 0.5}

Drawn = dict[str, FloatArray]  # A, B (N,) and A_j, B_j (7, N)


def truth(tasks: Tasks, task: str, path: Path) -> None:
    """Write what is true of a task."""
    cost, d = tasks.cost(task), len(tasks.names)
    drawn = [_draw(cost, d, seed) for seed in SCRAMBLINGS]
    grid = tasks.snapped(np.repeat(np.linspace(0, 1, GRID)[None], d, axis=0))
    nodes, weights = _nodes(tasks)
    lines = [_lines(cost, np.hstack([grid, nodes]), seed) for seed in SCRAMBLINGS]
    sample = np.concatenate([part[name] for part in drawn for name in ("A", "B")])
    found = {"names": np.array(tasks.names), "grid": grid} | _all(drawn, lines, weights, np.inf)
    for name, part in QUANTILES.items():
        found[name] = np.array(np.quantile(sample, part))
        capped = _all(drawn, lines, weights, float(found[name]))
        found |= {f"{key}_{name}": numbers for key, numbers in capped.items()}
    with written(path) as unfinished, unfinished.open("wb") as file:
        np.savez(file, **found)  # type: ignore[arg-type]


def _nodes(tasks: Tasks) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of each axis, (7, NODES); an axis of few levels repeats its last one."""
    x, w = np.polynomial.legendre.leggauss(NODES)
    nodes = np.repeat((x[None] + 1) / 2, len(tasks.names), axis=0)
    weights = np.repeat(w[None] / 2, len(tasks.names), axis=0)
    for j, p in enumerate(tasks.parameters):
        levels = int(p.upper - p.lower) + 1
        if p.kind == "integer" and levels <= NODES:
            nodes[j] = np.minimum(np.arange(NODES) + 0.5, levels - 0.5) / levels
            weights[j] = np.where(np.arange(NODES) < levels, 1 / levels, 0.0)
    return tasks.snapped(nodes), weights


def _all(drawn: list[Drawn], lines: list[FloatArray], weights: FloatArray, bound: float) -> Drawn:
    """Indices and curves of min(cost, bound) with their errors."""
    means = [np.minimum(line, bound).mean(axis=-1) for line in lines]
    numbers = [
        _indices(part, bound) | {"pd": mean[:, :GRID]}
        for part, mean in zip(drawn, means, strict=True)
    ]
    found = _both(numbers)
    nodes = [mean[:, GRID:] for mean in means]
    first, second = (m - (m * weights).sum(axis=1, keepdims=True) for m in nodes)
    found["main"] = (first * second * weights).sum(axis=1) / found["variance"]
    apart = ((first**2 - second**2) * weights).sum(axis=1)
    found["main_error"] = np.abs(apart) / 2 / found["variance"]
    return found


def _draw(cost: Cost, d: int, seed: int) -> Drawn:
    both = scipy.stats.qmc.Sobol(2 * d, rng=seed).random(POINTS)
    A, B = both[:, :d], both[:, d:]

    def exchanged(X: FloatArray, Y: FloatArray) -> FloatArray:
        found = []
        for j in range(d):
            moved = X.copy()
            moved[:, j] = Y[:, j]
            found.append(cost(moved))
        return np.array(found)

    return {"A": cost(A), "B": cost(B), "A_j": exchanged(A, B), "B_j": exchanged(B, A)}


def _indices(drawn: Drawn, bound: float) -> Drawn:
    capped = {name: np.minimum(y, bound) for name, y in drawn.items()}
    everything = np.concatenate([np.atleast_2d(y) for y in capped.values()])
    mean, variance = float(everything.mean()), float(everything.var())
    A, B, A_j, B_j = (capped[name] - mean for name in ("A", "B", "A_j", "B_j"))
    n = len(A)
    main = (B * (A_j - A) + A * (B_j - B)).mean(axis=1) / 2 / variance
    total = ((A - A_j) ** 2 + (B - B_j) ** 2).mean(axis=1) / 4 / variance
    closed = A_j @ B_j.T / n - A @ B / n
    closed = (closed + closed.T) / 2 / variance
    pairs = closed - main[:, None] - main
    np.fill_diagonal(pairs, 0.0)
    return {"total": total, "pairs": pairs} | {
        "mean": np.array(mean),
        "variance": np.array(variance),
    }


def _lines(cost: Cost, grid: FloatArray, seed: int) -> FloatArray:
    """Costs (7, grid, points) along each axis; their mean is the partial dependence."""
    base = scipy.stats.qmc.Sobol(len(grid), rng=seed + 100).random(LINE_POINTS)
    found = np.empty((*grid.shape, LINE_POINTS))
    for j, codes in enumerate(grid):
        for k, code in enumerate(codes):
            if k and code == codes[k - 1]:  # another latent of the same level
                found[j, k] = found[j, k - 1]
                continue
            moved = base.copy()
            moved[:, j] = code
            found[j, k] = cost(moved)
    return found


def _both(drawn: list[Drawn]) -> Drawn:
    """The mean of two estimates, and how far each is from it."""
    first, second = drawn
    means = {name: (first[name] + second[name]) / 2 for name in first}
    return means | {f"{name}_error": np.abs(first[name] - second[name]) / 2 for name in first}
