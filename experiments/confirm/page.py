"""The page of trials after a run: what chosen ones made of an explanation, beside others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

import hyperlens as hl
from experiments import publish, table
from experiments.confirm.after import FIRST, MORE, WAYS
from experiments.confirm.measure import Row, rows
from hyperlens.words import counted

AVERAGED = ("error", "effect", "width", "held", "expected", "seconds")
READING = """\
The truth is known: YAHPO's empirical model of LCBench can be evaluated anywhere (real_runs.md says how,
and which space and runs these are). All rows ask the additive Gaussian process, which leads on these
runs, directly. Settings (what the gain is of, its scale, the number of candidates, how the expectation
is formed) were chosen on the tasks at even places of the list; those at odd places are only reported.

*Error*: mean absolute difference from the true main shares in percentage points. *Effects*: mean
distance of the seven partial dependences from the truth, in standard deviations of the cost. *Width*:
of the 90 % intervals of the shares, in points. *Hold*: part of the true shares above 2 % inside them.
p: Wilcoxon's signed-rank test by `hl.compare` over tasks, two-sided."""

IDEAS = """\
20 trials after 100 of TPE on the 17 even tasks, two runs of each (34), one seed of random trials a run:
what is left of the errors, and in how many runs each way is nearer to the truth than random trials.

| chosen by | shares | effects | nearer: shares, effects |
|---|---|---|---|
| random | 69% | 68% | – |
| Sobol' points | 69% | 62% | 16, 20 of 34 |
| gain of the effects on the user's scale, as before | 57% | 48% | 20, 25 of 34 |
| the same, the slope of the warp averaged over what may be | 59% | 48% | 23, 25 of 34 |
| the same, pairs included | 58% | 53% | 22, 24 of 34 |
| the same, each set of hyperparameters by its own part | 54% | 47% | 21, 27 of 34 |
| the same, all 16 sets and 4096 candidates | 50% | 46% | 24, 28 of 34 |
| the same for 10, the others at random | 64% | 54% | 20, 19 of 34 |
| the same for 10, these run, then 10 more | 55% | 47% | 20, 25 of 34 |
| gain of the whole function | 54% | 49% | 25, 24 of 34 |
| **gain of the shares around 16 drawn functions** | 53% | 43% | 27, 27 of 34 |

The last is what is done now. A third run of each task: shares 50% and effects 51% are left by it, 51%
and 50% by the effects' gain, 74% and 68% by random trials. Over all 51 runs 52% and 46%, beside 55% and
49%: not told apart in size (p 0.35, 0.61), but more often nearer than random trials (41 and 42 of 51,
34 and 40 before). With it, all sets, more candidates, 64 functions, each set by its own part, effects as
well, or two batches of ten left between 56% and 66% on 11 runs where it left 61%: nothing among them is
clearly better.

Trials in batches, each chosen after the one before was run, on all 34: two of ten leave 48% of shares
and 51% of effects (0.100 of 0.197), four of five 55% and 53% (0.105), one of twenty, which is done, 53%
and 43% (0.085). Shares gain 0.2 ± 0.2 points by two, and effects lose more. 4096 candidates instead of
fewer leave 53% and 44%. What limits it is the choice's own model: it is sure of too much where the
search never was.

*What is expected of the intervals.* Of 16 sets of hyperparameters about three are left by weighing them
with the costs that may come, and intervals came out wider than was said: on the even tasks (a run each)
expected by what came was 0.89 with 20 trials and 0.83 with 40. With weights evened until a quarter of
the sets count it is 0.95 and 0.87, half 1.00 and 1.15, three quarters 1.02 and 1.27, all 1.06 and 1.34.
Half was taken; on the odd ones, asked afterwards on the same trials, it had been 0.82 and 0.81, and is
what the table says.

An earlier form of that idea, the covariance of the draws' shares with their costs instead of the exact
one, had left more than random trials.

*What limits it*, as far as we see: shares are ratios of variances, which are large where costs are bad.
They are known when the worst corners of the space are, where a search never goes, and 20 trials reach
few of them. Effects need less: they are averages over those corners."""


def page(results: Path, save: bool) -> None:
    """Of what was measured."""
    parts = [READING]
    for half in ("odd", "even"):
        found = rows(results / f"after_{half}.jsonl")
        if found:
            note = "" if half == "odd" else ", on which settings were chosen"
            title = f"## {FIRST} trials of TPE and some more, {half} tasks{note}"
            parts += [title, *_after(found)]
    if len(parts) > 1:
        parts += ["## How far each idea carried", IDEAS]
        publish("confirm", "Trials that settle an explanation", "experiments.confirm", parts, save)


def _after(found: Sequence[Row]) -> list[str]:
    tasks = list(dict.fromkeys(row["task"] for row in found))
    at = _over_seeds(found)
    base = [at[task, "nothing", 0] for task in tasks]
    lines = [_line("nothing", 0, base, None, base)]
    for k in MORE:
        random = [at[task, "random", k] for task in tasks]
        for way in WAYS:
            these = [at[task, way, k] for task in tasks]
            lines.append(_line(way, k, these, None if way == "random" else random, base))
    header = [
        *("more trials by", "trials", "error", "effects", "width", "hold"),
        *("error, part of before", "effects, part of before"),
        *("better than random: error, effects", "p: error, effects"),
    ]
    text = table(header, lines)
    seeds = len({row["seed"] for row in found})
    return [
        f"{len(tasks)} tasks, {counted(seeds, 'run')} of TPE each; of a task the mean over its runs "
        "counts.",
        text,
        _halved(at, tasks),
        _expected(at, tasks),
        *_worst(at, tasks),
    ]


def _over_seeds(found: Sequence[Row]) -> dict[tuple[str, str, int], Row]:
    """Means over the runs of a task, by task, way and number of trials."""
    keys = dict.fromkeys((row["task"], row["way"], row["more"]) for row in found)
    these = {
        key: [row for row in found if (row["task"], row["way"], row["more"]) == key] for key in keys
    }
    return {
        key: {name: mean(some, name) for name in AVERAGED if name in some[0]}
        for key, some in these.items()
    }


def _halved(at: dict[tuple[str, str, int], Row], tasks: Sequence[str]) -> str:
    """Whether 20 chosen trials halve the errors, as was wanted."""
    base, these = ([at[task, *way] for task in tasks] for way in (("nothing", 0), ("confirm", 20)))
    shares, effects = (mean(these, key) / mean(base, key) for key in ("error", "effect"))
    words = [f"{'halve' if part <= 0.5 else 'do not halve'}" for part in (shares, effects)]
    return (
        f"It was wanted that 20 chosen trials halve the errors: they {words[0]} that of shares "
        f"({shares:.0%} is left, {_again(these, base, 'error')} with tasks drawn again, at 90 %) and "
        f"{words[1]} that of effects ({effects:.0%}, {_again(these, base, 'effect')}). Half of the "
        f"error of shares, {mean(base, 'error') / 2:.1f} points, is about what 100 random trials leave "
        "that are learnt alone (real_runs.md): 20 trials would have to tell as much as those. Compare "
        "the rows of 10 trials before choosing so few."
    )


def _again(these: Sequence[Row], base: Sequence[Row], key: str) -> str:
    """Between which ends the part that is left lies if tasks are drawn again."""
    then, before = (np.array([row[key] for row in part]) for part in (these, base))
    drawn = np.random.default_rng(0).integers(len(then), size=(10_000, len(then)))
    low, high = np.quantile(then[drawn].mean(axis=1) / before[drawn].mean(axis=1), [0.05, 0.95])
    return f"{low:.0%} to {high:.0%}"


def _line(
    way: str, k: int, these: Sequence[Row], random: Sequence[Row] | None, base: Sequence[Row]
) -> list[str]:
    line = [way, str(k) if k else "–"]
    line += [f"{mean(these, 'error'):.2f}", f"{mean(these, 'effect'):.3f}"]
    line += [f"{mean(these, 'width'):.1f}", f"{mean(these, 'held'):.0%}"]
    line += [f"{mean(these, key) / mean(base, key):.0%}" for key in ("error", "effect")]
    if random is None or not k:
        return [*line, "–", "–"]
    better, p = [], []
    for key in ("error", "effect"):
        one, other = ([row[key] for row in part] for part in (these, random))
        better.append(sum(a < b for a, b in zip(one, other, strict=True)))
        p.append(p_value(one, other))
    return [*line, ", ".join(f"{b} of {len(these)}" for b in better), ", ".join(p)]


def p_value(one: Sequence[float], other: Sequence[float]) -> str:
    (pair,) = hl.compare({"one": one, "other": other}).pairs
    return f"{pair.p:.3f}"


def _expected(at: dict[tuple[str, str, int], Row], tasks: Sequence[str]) -> str:
    """What was expected of the intervals beside what came."""
    lines = []
    for k in MORE[1:]:
        these = [at[task, "confirm", k] for task in tasks]
        ratio = np.array([row["expected"] / row["width"] for row in these])
        low, middle, high = np.quantile(ratio, [0.1, 0.5, 0.9])
        lines.append(
            [
                str(k),
                f"{np.mean([at[task, 'nothing', 0]['width'] for task in tasks]):.1f}",
                f"{mean(these, 'expected'):.1f}",
                f"{mean(these, 'width'):.1f}",
                f"{middle:.2f} ({low:.2f} to {high:.2f})",
                f"{mean(these, 'seconds'):.1f}",
            ]
        )
    header = [
        "trials",
        "width before",
        "expected",
        "came",
        "expected / came, median (80 %)",
        "CPU s",
    ]
    return "What was expected of the intervals, before the trials were run:\n\n" + table(
        header, lines
    )


def _worst(at: dict[tuple[str, str, int], Row], tasks: Sequence[str]) -> list[str]:
    """Tasks on which 20 chosen trials did not help."""
    lines = [
        [
            task,
            *(f"{at[key]['error']:.1f}" for key in keys),
            *(f"{at[key]['effect']:.2f}" for key in keys),
        ]
        for task in tasks
        for keys in [((task, "nothing", 0), (task, "random", 20), (task, "confirm", 20))]
        if at[keys[2]]["error"] > min(at[keys[0]]["error"], at[keys[1]]["error"])
    ]
    header = [
        *("task", "error before", "20 random", "20 chosen"),
        *("effects before", "20 random", "20 chosen"),
    ]
    return [
        "Tasks on which 20 chosen trials were worse than none or than random ones:",
        table(header, lines),
    ]


def mean(these: Sequence[Row], key: str) -> float:
    return float(np.mean([row[key] for row in these]))
