"""The page: what was said beside what is true, by optimiser and number of trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from experiments import publish, table
from experiments.real_runs.evaluate import ALL, SAMPLERS, Row, results

LABELS = ("released", "now")
SIZES = (60, 100, 200)
ABOVE = 0.02  # a true share that an interval is asked to hold
WORST = 6  # tasks that are listed
WORDS = {
    "random": "random search",
    "tpe": "TPE",
    "hyperband": "TPE with Hyperband",
    ALL: "the same, all budgets",
    "ours": "ours (smbo)",
    "gp": "Optuna GP",
    "smac": "SMAC",
}
READING = """\
The truth is known: YAHPO's empirical model of LCBench can be evaluated anywhere, so the Sobol'
indices and the partial dependence of a task are numbers (errors of at most {error:.2f} percentage
points for a main share, {curve:.1%} of the standard deviation of the cost for a curve). Space: the
seven hyperparameters of YAHPO's own `config_space.json` with its scales (batch size, learning rate
and units by their logarithm), 52 epochs; cost: 1 - validation accuracy / 100. Runs have
200 trials; the first 60 and 100 of them are the shorter runs. *Runs* says how many there were on the
17 tasks of a half: 51 are three seeds of each task, fewer than 17 are the first tasks of the list.
Settings of the package are chosen on the tasks at even places of the list. Those at odd places are
reported, several settings in turn were, and two choices (how sparse parameters are thought to be, and
who may lead) were made after seeing them: see [ideas](real_runs_ideas.md).

*Error*: mean absolute difference from the true main shares in percentage points, shares as they are
said (parts of the whole variance). *Intervals hold*: part of the true main shares above 2 % (of
all) inside their 90 % intervals. *Width*: of these intervals in points, mean. *Joint band holds*:
part of the grid points of all seven effects, and of whole curves, at which the 95 % joint band
holds the true partial dependence; *pointwise* likewise; *width* of a band in standard deviations of
the cost. *First*: runs of which the largest main share belongs to the right parameter. *Verdict*:
trust, caution, do not trust. In runs of Hyperband pruned trials count as trials. Optuna's
evaluators give neither intervals nor curves; PED-ANOVA, its default, answers another question and
is made to sum to one."""


def page(cache: Path, save: bool) -> None:
    rows = {label: results(cache, label) for label in LABELS}
    parts = [READING.format(**_precision(cache)), _versions()]
    for n in SIZES:
        if found := _table(rows, "odd", n):
            parts += [f"## {n} trials, odd tasks", found]
    if found := _table(rows, "even", 100):
        parts += ["## 100 trials, even tasks, on which settings may be chosen", found]
    if found := _good_table(rows):
        parts += ["## Importance among the good, odd tasks", found]
    parts += ["## Where it fails", *_failures(rows)]
    title = "Runs of optimisers, whose truth is known"
    publish("real_runs", title, "experiments.real_runs", parts, save)


def _precision(cache: Path) -> dict[str, float]:
    """The largest errors of the truths."""
    shares, curves = [], []
    for path in cache.glob("truth_*.npz"):
        with np.load(path) as truth:
            shares.append(100 * float(truth["main_error"].max()))
            curves.append(float(truth["pd_error"].max() / np.sqrt(truth["variance"])))
    return {"error": max(shares, default=np.nan), "curve": max(curves, default=np.nan)}


def _versions() -> str:
    found = []
    for name in ("hyperlens", "onnxruntime", "smac", "torch"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"no {name}")
    return (
        f"Also: {', '.join(found)}. *Released* is the package before statements about biased runs were "
        "worked on, *now* what this page is of; both are measured by the same file on the same runs. "
        "Where a row of one is missing, it was not measured in that state."
    )


def chosen(rows: Sequence[Row], **wanted: object) -> list[Row]:
    """The rows that have these keys and numbers."""
    return [
        r
        for r in rows
        if "failed" not in r and all(r[key] == value for key, value in wanted.items())
    ]


def _table(rows: dict[str, list[Row]], half: str, n: int) -> str:
    lines = []
    for sampler in SAMPLERS:
        cases = {k: chosen(v, half=half, n=n, sampler=sampler) for k, v in rows.items()}
        lines += [_ours(WORDS[sampler], label, c) for label, c in cases.items() if c]
        theirs = next((c for c in cases.values() if c and c[0]["optuna"]), [])
        for name in theirs[0]["optuna"] if theirs else ():
            lines.append(_theirs(WORDS[sampler], name, theirs))
    header = [
        *("run", "who", "runs", "error", "intervals hold (all)", "width"),
        *("joint band holds: points, curves", "width", "pointwise: points, curves", "width"),
        *("first", "verdict", "GP led", "CPU s"),
    ]
    return table(header, lines) if lines else ""


def _ours(sampler: str, label: str, cases: Sequence[Row]) -> list[str]:
    verdicts = Counter(c["verdict"] for c in cases)
    return [
        *(sampler, label, str(len(cases)), f"{error(cases):.1f}"),
        f"{coverage(cases, ABOVE):.0%} ({coverage(cases):.0%})",
        f"{100 * width(cases):.1f}",
        f"{_mean(cases, 'points'):.0%}, {_mean(cases, 'curves'):.0%}",
        f"{_mean(cases, 'band'):.2f}",
        f"{_mean(cases, 'pointwise_points'):.0%}, {_mean(cases, 'pointwise_curves'):.0%}",
        f"{_mean(cases, 'pointwise_band'):.2f}",
        _first(cases, lambda c: c["share"]),
        ", ".join(str(verdicts[v]) for v in ("trust", "caution", "do not trust")),
        str(sum(c["surrogate"] == "gp" for c in cases)),
        f"{_mean(cases, 'seconds'):.1f}",
    ]


def _theirs(sampler: str, name: str, cases: Sequence[Row]) -> list[str]:
    found = error(cases, lambda c: c["optuna"][name])
    first = _first(cases, lambda c: c["optuna"][name])
    dashes = ["–"] * 6
    return [sampler, f"Optuna {name}", str(len(cases)), f"{found:.1f}", *dashes, first, *dashes[:3]]


def _shares(case: Row) -> list[float]:
    return list(case["share"])


def error(cases: Sequence[Row], share: Callable[[Row], list[float]] = _shares) -> float:
    """Of main shares, in points."""
    return 100 * float(np.mean([np.abs(np.subtract(share(c), c["true"])).mean() for c in cases]))


def coverage(cases: Sequence[Row], above: float = 0.0) -> float:
    """Part of the true main shares, those above a number, that intervals hold."""
    true, slack, low, high = (
        np.array([c[key] for c in cases]) for key in ("true", "true_error", "low", "high")
    )
    held = (low - slack <= true) & (true <= high + slack)
    asked = true > above if above else np.ones_like(held)
    return float(held[asked].mean()) if asked.any() else np.nan


def width(cases: Sequence[Row]) -> float:
    return float(np.mean([np.subtract(c["high"], c["low"]).mean() for c in cases]))


def _mean(cases: Sequence[Row], key: str) -> float:
    return float(np.mean([c[key] for c in cases]))


def _first(cases: Sequence[Row], share: Callable[[Row], list[float]]) -> str:
    right = sum(int(np.argmax(share(c)) == np.argmax(c["true"])) for c in cases)
    return f"{right} of {len(cases)}"


def _good_table(rows: dict[str, list[Row]]) -> str:
    lines = []
    for n in SIZES:
        for sampler in SAMPLERS:
            for label, found in rows.items():
                cases = [
                    c["good"]
                    for c in chosen(found, half="odd", n=n, sampler=sampler)
                    if c.get("good")
                ]
                if cases:
                    lines.append(
                        [
                            *(WORDS[sampler], str(n), label, str(len(cases))),
                            f"{error(cases):.1f}",
                            f"{coverage(cases, ABOVE):.0%} ({coverage(cases):.0%})",
                            f"{100 * width(cases):.1f}",
                            _first(cases, lambda c: c["share"]),
                            f"{sum(c['leads'] for c in cases)} of {len(cases)}",
                        ]
                    )
    header = [
        *("run", "trials", "who", "runs", "error", "intervals hold (all)", "width", "first"),
        "leads",
    ]
    return table(header, lines) if lines else ""


def _failures(rows: dict[str, list[Row]]) -> list[str]:
    """The odd tasks with the lowest coverage at 100 trials, and what could not be answered."""
    label = next((label for label in reversed(LABELS) if rows[label]), LABELS[0])
    biased = [c for c in chosen(rows[label], half="odd", n=100) if c["sampler"] != "random"]
    by_task: dict[str, list[Row]] = {}
    for case in biased:
        by_task.setdefault(case["task"], []).append(case)
    worst = sorted(by_task, key=lambda t: np.nan_to_num(coverage(by_task[t], ABOVE), nan=1.0))
    lines = [
        [
            task,
            f"{error(cases):.1f}",
            f"{coverage(cases, ABOVE):.0%}",
            f"{_mean(cases, 'points'):.0%}",
            _first(cases, lambda c: c["share"]),
            f"{sum(c['verdict'] == 'trust' for c in cases)} of {len(cases)}",
        ]
        for task, cases in ((t, by_task[t]) for t in worst[:WORST])
    ]
    header = ["task", "error", "intervals hold", "joint band holds", "first", "trust"]
    parts = [
        f"Odd tasks with the lowest coverage, 100 trials of all but random search ({label}):",
        table(header, lines),
    ]
    unanswered = Counter(
        (label, r["failed"]) for label, found in rows.items() for r in found if "failed" in r
    )
    parts += [
        f"- {times} times ({label}) there was no answer: {why}"
        for (label, why), times in unanswered.most_common()
    ]
    return parts
