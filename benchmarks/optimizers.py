"""Our optimiser beside Optuna's, SMAC3's and random search: final regret and overhead at equal trials.

    python -m benchmarks.optimizers [--seeds 10] [--runs FILE] [--only NAME ...] [--save]

Finished runs are kept in FILE, so that it can be stopped and goes on. Peers that are not installed are
left out. The processor's time is measured, not the clock, with one thread for everyone.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is loaded

import argparse
import json
import math
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import optuna

import hyperlens as hl
from benchmarks.machine import description
from hyperlens import Parameter, Space
from hyperlens.spaces.cube import FloatArray

RESULT = Path(__file__).parents[1] / "docs" / "results" / "optimizers.md"
DATA = Path(os.environ.get("HYPERLENS_DATA", Path(__file__).parents[2] / "shared" / "data"))

FIRST_SEED = 1000  # none of these was looked at when our settings were chosen

PEERS = ("Optuna TPE", "Optuna GP", "SMAC3 black-box", "SMAC3 HPO")

Cost = Callable[[Mapping[str, Any]], float]


# What is minimised


@dataclass(frozen=True)
class Problem:
    """A function on a space, its minimum, and how many evaluations are allowed."""

    name: str
    space: Space
    cost: Cost
    minimum: float
    trials: int


def on_box(
    name: str,
    bounds: list[tuple[float, float]],
    function: Callable[[FloatArray], float],
    minimum: float,
    trials: int,
) -> Problem:
    names = [f"x{j}" for j in range(len(bounds))]
    space = Space.of([Parameter(n, "float", *b) for n, b in zip(names, bounds, strict=True)])
    return Problem(
        name, space, lambda v: function(np.array([v[n] for n in names])), minimum, trials
    )


def styblinski_tang(x: FloatArray) -> float:
    return float(0.5 * np.sum(x**4 - 16 * x**2 + 5 * x))


def hyper_ellipsoid(x: FloatArray) -> float:
    return float(np.sum(np.arange(1, len(x) + 1) * x**2))


def branin(x: FloatArray) -> float:
    a, b = x
    bent = b - 5.1 / (4 * math.pi**2) * a**2 + 5 / math.pi * a - 6
    return float(bent**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(a) + 10)


HEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
WIDTHS = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
CENTRES = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def hartmann6(x: FloatArray) -> float:
    return float(-HEIGHTS @ np.exp(-np.sum(WIDTHS * (x - CENTRES) ** 2, axis=1)))


STYBLINSKI_MINIMUM = -39.166165703771412  # in each dimension


def phoneme() -> Problem | None:
    """A forest fitted to 2000 measured networks; its minimum is the best of many points."""
    folder = DATA / "lcbench"
    if not folder.is_dir():
        return None
    from experiments.lcbench import SPACE
    from experiments.lcbench import phoneme as fitted

    forest, _ = fitted(folder)
    seen = forest(SPACE.sample(200_000, 0))
    return Problem(
        "LCBench phoneme, d=7",
        SPACE,
        lambda v: float(forest(SPACE.encode([v]))[0]),
        float(seen.min()),
        140,
    )


@cache
def problems() -> list[Problem]:
    found = [
        on_box("Branin, d=2", [(-5, 10), (0, 15)], branin, 0.39788735772973816, 40),
        on_box("Styblinski-Tang, d=3", [(-5, 5)] * 3, styblinski_tang, 3 * STYBLINSKI_MINIMUM, 80),
        on_box("Styblinski-Tang, d=5", [(-5, 5)] * 5, styblinski_tang, 5 * STYBLINSKI_MINIMUM, 150),
        on_box("Hyper-Ellipsoid, d=4", [(-5.12, 5.12)] * 4, hyper_ellipsoid, 0.0, 80),
        on_box("Hartmann, d=6", [(0, 1)] * 6, hartmann6, -3.322368011391339, 120),
    ]
    measured = phoneme()
    return found if measured is None else [*found, measured]


# Who minimises: problem, cost, seed -> nothing; the cost remembers what it saw


def ours(problem: Problem, cost: Cost, seed: int, **options: Any) -> None:
    hl.minimize(cost, problem.space, trials=problem.trials, seed=seed, **options)


def papers(problem: Problem, cost: Cost, seed: int) -> None:
    """Croppi's table 3: the lower confidence bound with tau 1, minimised by focus search alone."""
    ours(problem, cost, seed, tau=1.0, refine=False)


def random_search(problem: Problem, cost: Cost, seed: int) -> None:
    ours(problem, cost, seed, optimizer="random")


def by_optuna(problem: Problem, cost: Cost, seed: int, sampler: Callable[..., Any]) -> None:
    def objective(trial: optuna.Trial) -> float:
        values: dict[str, Any] = {}
        for p in problem.space.parameters:
            if p.kind == "integer":
                values[p.name] = trial.suggest_int(p.name, int(p.lower), int(p.upper), log=p.log)
            else:
                values[p.name] = trial.suggest_float(p.name, p.lower, p.upper, log=p.log)
        return cost(values)

    study = optuna.create_study(sampler=sampler(seed=seed))
    study.optimize(objective, n_trials=problem.trials)


def by_smac(problem: Problem, cost: Cost, seed: int, facade: str) -> None:
    import smac

    with tempfile.TemporaryDirectory() as folder:
        scenario = smac.Scenario(
            problem.space.configspace,
            deterministic=True,
            n_trials=problem.trials,
            seed=seed,
            output_directory=Path(folder),
        )
        chosen = getattr(smac, facade)(
            scenario, lambda config, seed=0: cost(dict(config)), logging_level=False, overwrite=True
        )
        chosen.optimize()


def methods() -> dict[str, Callable[[Problem, Cost, int], None]]:
    found: dict[str, Callable[[Problem, Cost, int], None]] = {
        "Hyperlens": ours,
        "Hyperlens, the papers' settings": papers,
        "Optuna TPE": lambda p, c, s: by_optuna(p, c, s, optuna.samplers.TPESampler),
    }
    if find_spec("torch"):
        found["Optuna GP"] = lambda p, c, s: by_optuna(p, c, s, optuna.samplers.GPSampler)
    if find_spec("smac"):
        found["SMAC3 black-box"] = lambda p, c, s: by_smac(p, c, s, "BlackBoxFacade")
        found["SMAC3 HPO"] = lambda p, c, s: by_smac(p, c, s, "HyperparameterOptimizationFacade")
    found["random search"] = random_search
    return found


# Measuring


@dataclass(frozen=True)
class Run:
    """One optimisation: the best cost after each trial, and processor time beside the function's."""

    method: str
    problem: str
    seed: int
    trace: tuple[float, ...]
    overhead: float  # seconds a trial


def measure(method: str, problem: Problem, seed: int) -> Run:
    seen: list[float] = []
    inside = 0.0

    def cost(values: Mapping[str, Any]) -> float:
        nonlocal inside
        began = time.process_time()
        seen.append(problem.cost(values))
        inside += time.process_time() - began
        return seen[-1]

    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        methods()[method](problem, cost, seed)
    overhead = (time.process_time() - began - inside) / len(seen)
    best = np.minimum.accumulate(seen)[: problem.trials]
    return Run(method, problem.name, seed, tuple(float(b) for b in best), overhead)


def stored(kept: Path) -> dict[tuple[str, str, int], Run]:
    """Runs that a file holds, in the order of the methods."""
    found: dict[tuple[str, str, int], Run] = {}
    lines = kept.read_text().splitlines() if kept.exists() else []
    for line in map(json.loads, lines):
        run = Run(**{**line, "trace": tuple(line["trace"])})
        found[run.method, run.problem, run.seed] = run
    order = list(methods())
    return dict(sorted(found.items(), key=lambda item: order.index(item[0][0])))


def runs(seeds: int, kept: Path, only: list[str]) -> Iterator[Run]:
    """All runs, from the file where they are in it."""
    known = stored(kept)
    chosen = [m for m in methods() if not only or m in only]
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        for problem in problems():
            for method in chosen:
                key = (method, problem.name, seed)
                if key not in known:
                    known[key] = measure(method, problem, seed)
                    with kept.open("a") as file:
                        file.write(json.dumps(vars(known[key])) + "\n")
                yield known[key]


# Showing


def page(found: list[Run]) -> str:
    names = list(dict.fromkeys(r.method for r in found))
    lines = [f"# Optimisers\n\n`python -m benchmarks.optimizers`. {description()}\n"]
    lines.append(
        "Median final regret, with its quartiles, over the seeds; overhead is processor time per "
        "trial beside the function's own, one thread. *Best* is the smallest median; *tied* lies "
        "at or below the upper quartile of the best. The settings of ours were chosen on other seeds; "
        f"these start at {FIRST_SEED}.\n"
    )
    if missing := [peer for peer in PEERS if peer not in names]:
        lines.append(f"Not measured here: {', '.join(missing)}.\n")
    lines += ["| function | " + " | ".join(names) + " |", "|" + "---|" * (len(names) + 1)]
    best_known = {
        p.name: min([p.minimum, *(r.trace[-1] for r in found if r.problem == p.name)])
        for p in problems()
    }
    wins = dict.fromkeys(names, 0)
    for problem in problems():
        regrets = {
            name: np.array(
                [
                    r.trace[problem.trials - 1] - best_known[problem.name]
                    for r in found
                    if (r.method, r.problem) == (name, problem.name)
                ]
            )
            for name in names
        }
        regrets = {name: values for name, values in regrets.items() if len(values)}
        medians = {name: float(np.median(values)) for name, values in regrets.items()}
        first = min(medians, key=lambda name: medians[name])
        limit = float(np.quantile(regrets[first], 0.75))
        count = max(len(values) for values in regrets.values())
        cells = []
        for name in names:
            if name not in regrets:
                cells.append("")
                continue
            low, high = np.quantile(regrets[name], [0.25, 0.75])
            mark = " **best**" if name == first else " *tied*" if medians[name] <= limit else ""
            wins[name] += bool(mark)
            fewer = f", {len(regrets[name])} seeds" if len(regrets[name]) < count else ""
            cells.append(f"{medians[name]:.2g} ({low:.1g} to {high:.1g}{fewer}){mark}")
        lines.append(
            f"| {problem.name}, {problem.trials} trials, {count} seeds | "
            + " | ".join(cells)
            + " |"
        )
    lines.append("| best or tied | " + " | ".join(str(wins[name]) for name in names) + " |")
    spent = {n: float(np.median([r.overhead for r in found if r.method == n])) for n in names}
    lines.append(
        "| overhead per trial | " + " | ".join(f"{1e3 * spent[n]:.1f} ms" for n in names) + " |"
    )
    lines.append(
        "| overhead, in ours | "
        + " | ".join(f"{spent[n] / spent[names[0]]:.2g}" for n in names)
        + " |"
    )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--runs", type=Path, help="where finished runs are kept")
    parser.add_argument("--only", nargs="*", default=[], help="methods to run")
    parser.add_argument("--show", action="store_true", help="only what the file holds, run nothing")
    parser.add_argument("--save", action="store_true", help="write docs/results/optimizers.md")
    chosen = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        kept = chosen.runs or Path(folder) / "runs.jsonl"
        found = stored(kept).values() if chosen.show else runs(chosen.seeds, kept, chosen.only)
        text = page(list(found))
    print(text)
    if chosen.save:
        RESULT.write_text(text)


if __name__ == "__main__":
    main()
