"""Why a proposal was made, beside shap and shapiq on the same surrogate and background.

python -m benchmarks.proposals [--save]

Times are the best of several runs, so that other work on the machine counts as little as possible;
linear algebra has one thread for every contender.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import hyperlens as hl
from benchmarks.machine import description
from hyperlens.explain.shapley import product_kernel as gaussian
from hyperlens.explain.shapley.attribution import attribute
from hyperlens.explain.shapley.coalitions import Game
from hyperlens.spaces.cube import FloatArray
from hyperlens.spaces.points import sobol
from hyperlens.surrogates.gaussian_process.gp import GP

RESULT = Path(__file__).parents[1] / "docs" / "results" / "proposals.md"
BACKGROUND, TRIALS, PARAMETERS = 1000, 100, 7
PATH, INITIAL = 140, 28  # Croppi 2021: 20 and 4 per parameter
Row = tuple[str, str, str]


def run(d: int, trials: int) -> hl.History:
    """Uniform configurations and a function with main effects, an interaction and noise."""
    space = hl.Space.of([hl.Parameter(f"x{j:02d}", "float", 0.0, 1.0) for j in range(d)])
    rng = np.random.default_rng(0)
    X = rng.random((trials, d))
    y = ((np.arange(d) + 1) * (X - 0.4) ** 2).sum(axis=1) + 2 * X[:, 0] * X[:, 1]
    y += 0.1 * rng.normal(size=trials)
    return hl.History(
        space,
        (hl.Objective("cost"),),
        tuple(
            hl.Trial(k, values, (float(cost),))
            for k, (values, cost) in enumerate(zip(space.decode(X), y, strict=True))
        ),
    )


def best(function: Callable[[], object], times: int) -> float:
    """Seconds, the least of so many runs."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    return min(taken)


def both(mean: FloatArray, std: FloatArray) -> FloatArray:
    return np.stack([mean, std])


def one_proposal() -> list[Row]:
    """Mean and uncertainty of one proposal, and the peers on the very same game."""
    history = run(PARAMETERS, TRIALS + 1)
    X, y = history.vectors[:TRIALS], history.data().y[:TRIALS]
    model, x = GP(history.space.cube).fit(X, y), history.vectors[TRIALS]
    latents = sobol(BACKGROUND, PARAMETERS, 0)
    mean = best(lambda: gaussian.mean_contributions(model, x), 20)

    def explain() -> object:
        game = Game(model, model.cube, x, latents, both)
        return attribute(game, "exact", uniform=True)

    everything = best(explain, 5)
    plain = best(lambda: Game(model, model.cube, x, latents, both).worth(), 3)
    hl.why(history, TRIALS, surrogate="gp", size=BACKGROUND)
    whole = best(lambda: hl.why(history, TRIALS, surrogate="gp", size=BACKGROUND), 5)
    exact = attribute(Game(model, model.cube, x, latents, both), "exact").parts
    truth = np.array([part.contribution for part in exact])
    return [
        ("mean part, closed form over the whole space", f"{1000 * mean:.2f} ms", "at most 5 ms"),
        ("mean and uncertainty, every coalition", f"{everything:.3f} s", "at most 0.5 s"),
        ("hl.why with the fit at hand", f"{whole:.3f} s", "the thesis: 243 s"),
        ("the same coalitions by plain prediction", f"{plain:.3f} s", _times(plain, everything)),
        *peers(model, x, latents, truth, everything),
    ]


def peers(
    model: GP, x: FloatArray, latents: FloatArray, truth: FloatArray, ours: float
) -> list[Row]:
    """Both numbers of the same model; the error is the largest, in parts of the largest value."""

    def error(found: FloatArray) -> str:
        return f"{np.max(np.abs(found - truth) / np.abs(truth).max(axis=1)[:, None]):.1e}"

    def predict(X: FloatArray) -> FloatArray:
        return np.column_stack(model.predict(X))

    rows: list[Row] = []
    try:
        shap = import_module("shap")
    except ImportError:
        rows.append(("shap", "not installed", ""))
    else:
        kept: list[FloatArray] = []

        def kernel() -> None:
            explainer = shap.KernelExplainer(predict, latents)
            kept.append(explainer.shap_values(x, nsamples=2**PARAMETERS, silent=True))

        def permutation() -> None:
            explainer = shap.PermutationExplainer(
                predict, shap.maskers.Independent(latents, BACKGROUND), seed=0
            )
            kept.append(explainer(x[None], max_evals=500, silent=True).values[0])

        for name, function in (
            ("shap KernelExplainer, every coalition", kernel),
            ("shap PermutationExplainer, 500 evaluations", permutation),
        ):
            taken = best(function, 2)
            found = np.asarray(kept[-1]).reshape(PARAMETERS, 2).T
            rows.append((name, f"{taken:.2f} s, error {error(found)}", _times(taken, ours)))
    try:
        shapiq = import_module("shapiq")
    except ImportError:
        return [*rows, ("shapiq", "not installed", "")]
    values: list[FloatArray] = []

    def exact() -> None:
        values.clear()
        for which in (0, 1):  # its games have one number, so mean and uncertainty are two games
            imputer = shapiq.MarginalImputer(
                lambda X, which=which: predict(X)[:, which],
                latents,
                x=x,
                sample_size=BACKGROUND,
                random_state=0,
            )
            found = shapiq.ExactComputer(imputer, PARAMETERS)(index="SV", order=1)
            values.append(found.get_n_order_values(1))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        taken = best(exact, 1)
    rows.append(
        (
            "shapiq ExactComputer, mean and uncertainty one after the other",
            f"{taken:.2f} s, error {error(np.array(values))}",
            _times(taken, ours),
        )
    )
    return rows


def whole_path() -> Row:
    history = run(PARAMETERS, PATH)
    taken = best(lambda: hl.path(history, initial=INITIAL, surrogate="gp", size=BACKGROUND), 1)
    what = f"a path of {PATH - INITIAL} proposals, 7 parameters, each surrogate fitted again"
    return what, f"{taken:.1f} s", "at most 90 s; the thesis: two hours on four cores"


def many_parameters() -> Row:
    history = run(20, TRIALS + 1)
    hl.why(history, TRIALS, surrogate="gp", size=BACKGROUND)
    found = hl.why(history, TRIALS, surrogate="gp", size=BACKGROUND)
    taken = best(lambda: hl.why(history, TRIALS, surrogate="gp", size=BACKGROUND), 3)
    assert found.method == "paired"
    widest = [
        float(np.max(getattr(found, f"{name}_high") - getattr(found, f"{name}_low")))
        / abs(found.payout[name])
        for name in ("uncertainty", "bound")
    ]
    return (
        f"20 parameters, {found.samples} orders and their reverses",
        f"{taken:.2f} s, widest interval {widest[0]:.2%} of the uncertainty's payout, "
        f"{widest[1]:.2%} of the bound's",
        "at most 10 s and 2 %",
    )


def _times(theirs: float, ours: float) -> str:
    return f"{theirs / ours:.1f} times ours"


def _installed() -> str:
    found = []
    for name in ("shap", "shapiq"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"no {name}")
    return ", ".join(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--save", action="store_true", help="write docs/results/proposals.md")
    chosen = parser.parse_args()
    busy = os.getloadavg()[0]
    rows = [*one_proposal(), many_parameters(), whole_path()]
    lines = ["| what | measured | beside |", "|---|---|---|"]
    lines += [f"| {a} | {b} | {c} |" for a, b, c in rows]
    text = (
        f"# Proposals\n\n`python -m benchmarks.proposals`. {description()} {_installed()}. "
        f"Load average at the start: {busy:.1f}.\n\nOne proposal has {PARAMETERS} parameters, "
        f"{TRIALS} trials before it and a background of {BACKGROUND} points, the same for all.\n\n"
        + "\n".join(lines)
        + "\n"
    )
    print(text)
    if chosen.save:
        RESULT.write_text(text)


if __name__ == "__main__":
    main()
