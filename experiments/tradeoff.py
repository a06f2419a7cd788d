"""Importance along the trade-off of two objectives, beside the truth: for every weight, with intervals.

    python -m experiments.tradeoff [--runs FILE] [--searches random tpe] [--show] [--save]

Two objectives whose shares are known for every weight of their sum: made-up ones of four parameters,
with noise, and the error and the seconds of LCBench tasks (experiments/real_runs/tasks.py). What
`hl.tradeoff` says of a run is laid beside that, and beside a random forest fitted to the weighted sum,
as DeepCAVE does. Finished runs are kept in FILE, so that it can be stopped and goes on.

Symbols
    A, B    two independent points of the unit cube, N of each; A_j is A with coordinate j of B
    f, g    the two objectives, each in units of its standard deviation over the space
    V_j     variance of the main effect of j in (1 - w) f + w g: (1 - w)^2 V_j(f) + w^2 V_j(g)
            + 2 w (1 - w) C_j, where C_j = E[f(B) (g(A_j) - g(A))] (Saltelli 2002, for two functions)
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import optuna

import hyperlens as hl
from benchmarks.optimizers.players import suggested
from experiments import DATA, options, publish, table
from experiments.real_runs.tasks import CHUNK, EPOCHS, INPUTS, FloatArray, Tasks

TRIALS, NOISE, SEEDS = 100, 0.1, range(700, 703)
WEIGHTS = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
POINTS, TASK_POINTS = 2**17, 2**14
LEAST = 0.02  # a lead that is smaller is not asked for
OBJECTIVES = (hl.Objective("first"), hl.Objective("second"))
Row = dict[str, Any]
ABOUT = f"""Runs of {TRIALS} trials, at random or by Optuna's TPE for several objectives, of four
made-up pairs of objectives (with noise of a tenth of their spread, one run a seed) and of error and
seconds of LCBench tasks at odd places of the list (without noise, one run a task). True shares of main
effects come from 131,072 points, of a task from 16,384. Errors, intervals (90 %) and who leads are of
all parameters at the weights 0, 0.2, ..., 1. The forest is fitted to the weighted sum itself, one for
each weight, and is told the true units; ours estimates them. *Leads* is how often the parameter that is
said to matter most does, where its true lead is two points or more; ours names none where none is clear,
which is counted apart. Nothing was chosen on these runs."""
READING = """Shares along the trade-off are nearer to the truth than those of a forest on every pair
and by both searches, most where effects are waves. What is said to lead is right least often where a
search gathers on real tasks: a leader is named where three quarters of the draws agree, and there it is
right about as often as that. Takeovers are counted where one is said."""


@dataclass(frozen=True)
class Pair:
    """Two objectives of values (n, d) in the order of the space; `values` of points of the unit cube."""

    name: str
    space: hl.Space
    values: Callable[[FloatArray], FloatArray]
    costs: Callable[[FloatArray], FloatArray]  # values (n, d) -> (n, 2)
    noise: float = NOISE
    points: int = POINTS


UNIT = hl.Space.of([hl.Parameter(name, "float", 0.0, 1.0) for name in "abcd"])
NETWORK = hl.Space.of([
    hl.Parameter("dropout", "float", 0.0, 0.5),
    hl.Parameter("layers", "integer", 1, 8),
    hl.Parameter("lr", "float", 1e-5, 1e-1, log=True),
    hl.Parameter("width", "integer", 16, 512, log=True),
])  # fmt: skip


def _lines(x: FloatArray) -> FloatArray:
    a, b, c, _ = x.T
    return np.column_stack([3 * a + b, -2 * a + 4 * c])


def _cancelling(x: FloatArray) -> FloatArray:
    """Of the sum of both a vanishes, though it leads for each."""
    a, b, c, d = x.T
    return np.column_stack([3 * a + b + 2 * (a - 0.5) * (c - 0.5), 1.2 * b - 3 * a + d**2])


def _waves(x: FloatArray) -> FloatArray:
    """Ishigami's function, and Sobol's g."""
    z = np.pi * (2 * x - 1)
    wave = np.sin(z[:, 0]) + 7 * np.sin(z[:, 1]) ** 2 + 0.1 * z[:, 2] ** 4 * np.sin(z[:, 0])
    flat = np.array([4.5, 2.0, 1.0, 0.2])
    return np.column_stack([wave, np.prod((np.abs(4 * x - 2) + flat) / (1 + flat), axis=1)])


def _network(values: FloatArray) -> FloatArray:
    dropout, layers, lr, width = values.T
    away = np.log10(lr) + 3 + 0.1 * layers
    loss = 0.1 * away**2 + 2 / np.sqrt(width) + 0.3 / layers + (dropout - 0.2) ** 2
    return np.column_stack([loss, 3 + layers * width / 100])


def _network_values(unit: FloatArray) -> FloatArray:
    width = np.rint(np.exp(np.log(15.5) + unit[:, 3] * np.log(512.5 / 15.5)))
    return np.column_stack(
        [unit[:, 0] / 2, np.floor(unit[:, 1] * 8) + 1, 10.0 ** (4 * unit[:, 2] - 5), width]
    )


MADE_UP = (
    Pair("lines", UNIT, np.asarray, _lines),
    Pair("lines that cancel", UNIT, np.asarray, _cancelling),
    Pair("Ishigami and Sobol's g", UNIT, np.asarray, _waves),
    Pair("network: loss and latency", NETWORK, _network_values, _network),
)


def of_task(tasks: Tasks, task: str) -> Pair:
    """Error and seconds of training after the last epoch."""
    order = [tasks.names.index(name) for name in INPUTS]

    def costs(values: FloatArray) -> FloatArray:
        inputs = np.column_stack([np.full(len(values), EPOCHS), values[:, order]])
        found = []
        for k in range(0, len(values), CHUNK):
            part = inputs[k : k + CHUNK].astype(np.float32)
            codes = np.full((len(part), 1), tasks.codes[task], dtype=np.int32)
            found.append(tasks.session.run(None, {"x_cat": codes, "x_cont": part})[0][:, :2])
        both = np.vstack(found).astype(np.float64)
        return np.column_stack([1 - both[:, 1] / 100, both[:, 0]])

    return Pair(f"LCBench {task}", tasks.space, tasks.columns, costs, 0.0, TASK_POINTS)


# What is true


def truth(pair: Pair) -> tuple[FloatArray, Callable[[FloatArray], FloatArray]]:
    """Standard deviations (2,), and shares of main effects (d, weights) at any weights."""
    d = len(pair.space.names)
    A, B = np.random.default_rng(1).random((2, pair.points, d))

    def costs(unit: FloatArray) -> FloatArray:
        return pair.costs(pair.values(unit))

    at_A, at_B = costs(A), costs(B)
    both = np.vstack([at_A, at_B])
    middle, deviation = both.mean(axis=0), both.std(axis=0)
    at_A, at_B = (at_A - middle) / deviation, (at_B - middle) / deviation
    own = np.empty((d, 2, 2))  # E[f_p(B) (f_q(A_j) - f_q(A))]
    for j in range(d):
        mixed = A.copy()
        mixed[:, j] = B[:, j]
        at_mixed = (costs(mixed) - middle) / deviation
        own[j] = at_B.T @ (at_mixed - at_A) / pair.points
    own = (own + own.transpose(0, 2, 1)) / 2
    together = float((np.vstack([at_A, at_B])).prod(axis=1).mean())

    def shares(weight: FloatArray) -> FloatArray:
        u, w = 1 - weight, weight
        main = np.einsum("jpq,pw,qw->jw", own, np.stack([u, w]), np.stack([u, w]))
        return np.asarray(np.clip(main, 0.0, None) / (u**2 + w**2 + 2 * u * w * together))

    return deviation, shares


# Runs


def searched(pair: Pair, search: str, seed: int) -> hl.History:
    rng = np.random.default_rng(seed)
    names, spread = pair.space.names, _spread(pair)
    found: list[hl.Trial] = []

    def measured(values: dict[str, Any]) -> list[float]:
        costs = pair.costs(np.array([[values[n] for n in names]], dtype=float))[0]
        costs += pair.noise * spread * rng.normal(size=2)
        found.append(hl.Trial(len(found), values, tuple(costs.tolist())))
        return list(map(float, costs))

    if search == "random":
        kinds = [int if p.kind == "integer" else float for p in pair.space.parameters]
        for row in pair.values(rng.random((TRIALS, len(names)))).tolist():
            measured({n: kind(v) for n, kind, v in zip(names, kinds, row, strict=True)})
    else:
        sampler = optuna.samplers.TPESampler(seed=seed)
        study = optuna.create_study(directions=["minimize"] * 2, sampler=sampler)
        study.optimize(lambda trial: measured(suggested(trial, pair.space)), TRIALS)
    return hl.History(pair.space, OBJECTIVES, tuple(found))


def _spread(pair: Pair) -> FloatArray:
    unit = np.random.default_rng(0).random((4096, len(pair.space.names)))
    return np.asarray(pair.costs(pair.values(unit)).std(axis=0))


def measured(pair: Pair, search: str, seed: int, true: Any) -> Row:
    """What is said of one run, beside the truth."""
    deviation, shares = true
    run = searched(pair, search, seed)
    said = hl.tradeoff(run)
    names = pair.space.names
    order = [said.names.index(name) for name in names]
    at = [int(np.argmin(np.abs(said.weight - w))) for w in WEIGHTS]
    exact = shares(WEIGHTS)
    share, low, high = (x[order][:, at] for x in (said.share, said.low, said.high))
    forest = np.column_stack([_forest(run, w, deviation) for w in WEIGHTS])
    ranked = np.sort(exact, axis=0)
    asked = ranked[-1] - ranked[-2] >= LEAST
    best = exact.argmax(axis=0)
    named = [_named(said, float(w)) for w in WEIGHTS]
    right = [n == names[b] for n, b in zip(named, best, strict=True)]
    takeovers = [_crossing(shares, names, said, old, new) for old, new in pairwise(said.leaders)]
    return {
        "pair": pair.name, "search": search, "seed": seed,
        "error": float(np.abs(share - exact).mean()), "forest": float(np.abs(forest - exact).mean()),
        "held": float(((low <= exact + 5e-3) & (exact - 5e-3 <= high)).mean()),
        "width": float((high - low).mean()),
        "asked": int(asked.sum()),
        "named": int(sum(n is not None for n, a in zip(named, asked, strict=True) if a)),
        "right": int(sum(r for r, a in zip(right, asked, strict=True) if a)),
        "forest_right": int((forest.argmax(axis=0) == best)[asked].sum()),
        "takeovers": len(takeovers), "takeovers_held": int(sum(takeovers)),
        "verdict": said.verdict.word,
    }  # fmt: skip


def _forest(run: hl.History, w: float, deviation: FloatArray) -> FloatArray:
    """Main shares by a forest of the weighted sum, (d,)."""
    costs = np.array([t.costs for t in run.trials]) / deviation @ [1 - w, w]
    trials = tuple(
        hl.Trial(t.number, t.values, (float(c),)) for t, c in zip(run.trials, costs, strict=True)
    )
    one = hl.History(run.space, (hl.Objective("sum"),), trials, keep_tail=True)
    found = hl.importance(one, order=1, surrogate="forest", level=None)
    by_name = {names[0]: float(s) for names, s in zip(found.parameters, found.share, strict=True)}
    return np.array([by_name[name] for name in run.space.names])


def _named(said: hl.Tradeoff, w: float) -> str | None:
    """The parameter that is said to matter most at a weight."""
    led = [t.effect for t in said.leaders if t.weight <= w]
    if w == 0 or w == 1:
        end = said.ends[0 if w == 0 else -1]
        return None if end is None else said.names[end]
    return said.names[led[-1]] if led else None


def _crossing(shares: Any, names: Any, said: hl.Tradeoff, old: Any, new: Any) -> bool:
    """Does the interval hold a weight at which the new one truly overtakes the old one?"""
    w = np.linspace(0, 1, 1001)
    exact = shares(w)
    ahead = exact[names.index(said.names[new.effect])] - exact[names.index(said.names[old.effect])]
    at = w[1:][(ahead[1:] > 0) & (ahead[:-1] <= 0)]
    return bool(((at >= new.low - 0.005) & (at <= new.high + 0.005)).any())


# Showing


def rows(arguments: Any) -> Iterator[Row]:
    kept = arguments.runs
    lines = kept.read_text().splitlines() if kept and kept.exists() else []
    known = {(r["pair"], r["search"], r["seed"]): r for r in map(json.loads, lines)}
    if arguments.show:
        yield from known.values()
        return
    pairs = [(pair, seed) for pair in MADE_UP for seed in SEEDS[: arguments.seeds]]
    if arguments.data.is_dir():
        tasks = Tasks(arguments.data)
        pairs += [
            (of_task(tasks, t), SEEDS[0] + k)
            for k, t in enumerate(getattr(tasks, arguments.half)[: arguments.tasks])
        ]
    true: dict[str, Any] = {}
    for search in arguments.searches:
        for pair, seed in pairs:
            key = pair.name, search, seed
            if key not in known:
                if pair.name not in true:
                    true[pair.name] = truth(pair)
                known[key] = measured(pair, search, seed, true[pair.name])
                if kept:
                    with kept.open("a") as file:
                        file.write(json.dumps(known[key]) + "\n")
            yield known[key]


def page(found: list[Row]) -> list[str]:
    def part(own: list[Row], of: str, whole: str) -> str:
        total = sum(r[whole] for r in own)
        return "–" if not total else f"{sum(r[of] for r in own)} of {total}"

    lines = []
    searches = dict.fromkeys(r["search"] for r in found)
    for search in searches:
        names = dict.fromkeys(
            r["pair"].split()[0] if "LCBench" in r["pair"] else r["pair"] for r in found
        )
        for name in names:
            own = [r for r in found if r["search"] == search and r["pair"].startswith(name)]
            if name == "lines":
                own = [r for r in own if r["pair"] == name]
            if not own:
                continue
            mean = {
                k: 100 * float(np.mean([r[k] for r in own]))
                for k in ("error", "forest", "held", "width")
            }
            lines.append([
                name, search, str(len(own)), f"{mean['error']:.1f}", f"{mean['forest']:.1f}",
                f"{mean['held']:.0f} %", f"{mean['width']:.0f}", part(own, "right", "named"),
                part(own, "named", "asked"), part(own, "forest_right", "asked"),
                part(own, "takeovers_held", "takeovers"),
            ])  # fmt: skip
    header = [
        "objectives", "search", "runs", "error of shares, points", "of the forest",
        "intervals hold", "their width", "leads, of those named", "named", "forest leads",
        "intervals of takeovers hold",
    ]  # fmt: skip
    return [ABOUT, table(header, lines), *(_in_all(found, s) for s in searches), READING]


def _in_all(found: list[Row], search: str) -> str:
    own = [r for r in found if r["search"] == search]
    total = {k: sum(r[k] for r in own) for k in ("asked", "named", "right", "forest_right")}
    held = 100 * float(np.mean([r["held"] for r in own]))
    return (
        f"Over all {len(own)} runs by {search}: intervals hold {held:.0f} %; {total['right']} of "
        f"{total['named']} named leaders are right, of {total['asked']} asked; the forest, which "
        f"always names one, is right in {total['forest_right']}."
    )


def main() -> None:
    parser = options(__doc__, "tradeoff")
    parser.add_argument("--data", type=Path, default=DATA / "yahpo_lcbench")
    parser.add_argument("--half", choices=("even", "odd"), default="odd")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="runs of each made-up pair")
    parser.add_argument("--tasks", type=int, help="how many tasks; all unless given")
    parser.add_argument("--runs", type=Path, help="where finished runs are kept")
    parser.add_argument("--show", action="store_true", help="only what the file holds, run nothing")
    parser.add_argument("--searches", nargs="*", default=["random", "tpe"])
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    title = "Importance along the trade-off, said and true"
    publish("tradeoff", title, "experiments.tradeoff", page(list(rows(arguments))), arguments.save)


if __name__ == "__main__":
    main()
