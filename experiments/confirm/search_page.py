"""The page of searches that explain themselves: errors and regret, with trials for it and without."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments import publish, table
from experiments.confirm.measure import Row, rows
from experiments.confirm.page import mean, p_value
from experiments.confirm.search import EXPLAIN, TRIALS

MUCH = 1.0  # points of accuracy
SEARCHED = ("effect", "error", "width", "regret", "seconds")  # keys of a search that are shown
READING = """\
Searches on YAHPO's empirical model of LCBench, whose truth is known (real_runs.md); settings were chosen
on the tasks at even places of the list, those at odd places are reported. *Effects*: mean distance of
the seven partial dependences from the truth, in standard deviations of the cost. *Error of shares*: mean
absolute difference from the true main shares, *width* that of their 90 % intervals, in points, both as
the additive Gaussian process says them. p: Wilcoxon's signed-rank test by `hl.compare` over tasks,
two-sided."""

IDEAS = """\
Both errors are halved, since 30 of 100 trials are spread before the crowd is there.
What that costs: with another state of the search and one seed, learning all trials of the explanation
was better on 1 and worse on 8 of 9 even tasks, learning only those that came out well better on 4 and
worse on 3; that is what is measured here. Regret differs so much between two runs of one search that one
seed tells little. Against one run without explanation, on 10 to 17 even tasks: trials spread evenly, as
they are, 8 better and 9 worse; most of them early 1 and 10; fewer and most of them late 2 and 11; chosen
where they may also be good (the gain times the probability of being in the best quarter) 9 and 7, and
early as well 2 and 8. So the even spread was kept."""


def search_page(results: Path, save: bool) -> None:
    """Of what was measured."""
    parts = [READING]
    for half in ("odd", "even"):
        found = rows(results / f"search_{half}.jsonl")
        if found:
            note = "" if half == "odd" else ", on which settings were chosen"
            parts += [f"## {half.capitalize()} tasks{note}", *_parts(found)]
    if len(parts) > 1:
        parts += ["## How far each idea carried", IDEAS]
        title = "Searches that explain themselves"
        publish("explaining_search", title, "experiments.confirm", parts, save)


def _parts(found: Sequence[Row]) -> list[str]:
    tasks = list(dict.fromkeys(row["task"] for row in found))
    seeds = len({row["seed"] for row in found})
    best = {
        task: min(min(r["best"], r["known"]) for r in found if r["task"] == task) for task in tasks
    }
    for row in found:
        row["regret"] = 100 * (row["best"] - best[row["task"]])
    alone, shared = ([_over_seeds(found, task, part) for task in tasks] for part in (0.0, EXPLAIN))
    lines = [
        [name, *(f"{mean(these, key):.3g}" for key in SEARCHED)]
        for name, these in (("expected improvement", alone), (f"explain={EXPLAIN}", shared))
    ]
    compared = []
    for key, what in (
        ("effect", "error of effects"),
        ("error", "error of shares"),
        ("regret", "regret"),
    ):
        one, other = ([row[key] for row in part] for part in (alone, shared))
        change = np.mean(other) / np.mean(one) - 1 if np.mean(one) else np.nan
        better = sum(b < a for a, b in zip(one, other, strict=True))
        worse = sum(b > a for a, b in zip(one, other, strict=True))
        compared.append(
            [
                what,
                f"{change:+.0%}",
                f"{better} better, {worse} worse of {len(one)}",
                p_value(one, other),
            ]
        )
    header = ["search", "effects", "error of shares", "width", "regret, points", "CPU s"]
    return [
        f'{TRIALS} trials of `hl.minimize(..., acquisition="ei")` on each of {len(tasks)} tasks with '
        f"{seeds} seeds, the same initial design; of a task the mean over seeds counts. Regret is "
        "against the best that is known of a task, in points of accuracy.",
        table(header, lines),
        table(["", f"explain={EXPLAIN} against none", "tasks", "p"], compared),
        _dearer(alone, shared),
    ]


def _over_seeds(found: Sequence[Row], task: str, part: float) -> Row:
    """Means over the runs of a task."""
    these = [row for row in found if row["task"] == task and row["explain"] == part]
    return {key: mean(these, key) for key in SEARCHED}


def _dearer(alone: Sequence[Row], shared: Sequence[Row]) -> str:
    """On how many tasks the trials for the explanation cost the search more than a point, or won it."""
    more = np.array([b["regret"] - a["regret"] for a, b in zip(alone, shared, strict=True)])
    before, after = (np.median([row["regret"] for row in part]) for part in (alone, shared))
    return (
        f"On {(more > MUCH).sum()} of {len(more)} tasks the regret is larger by more than {MUCH:g} "
        f"point of accuracy (at most by {max(more.max(), 0):.1f}), on {(more < -MUCH).sum()} smaller "
        f"(at most by {max(-more.min(), 0):.1f}). Its median is {after:.2f} points, without the "
        f"explanation {before:.2f}."
    )
