"""How a run went and where its trials lie, in plain words."""

from __future__ import annotations

import math

import numpy as np

from hyperlens.explain.run.compare_runs import RunComparison
from hyperlens.explain.run.footprint import Footprint
from hyperlens.explain.run.spending import Spending
from hyperlens.explain.run.timeline import Timeline
from hyperlens.explain.run.trials import Trials
from hyperlens.reports.sentences import counted, number, percent


def lasted(seconds: float) -> str:
    """A length of time for people.

    >>> lasted(90), lasted(7200), lasted(0.25)
    ('90 seconds', '2 hours', '0.25 seconds')
    """
    for least, unit, name in ((172800, 86400, "days"), (7200, 3600, "hours"), (120, 60, "minutes")):
        if seconds >= least:
            return f"{number(seconds / unit, 3)} {name}"
    return f"{number(float(seconds), 3)} seconds"


def when_it_ran(record: Timeline) -> str:
    """How long it took, how many trials ran at once, and how busy the machine was."""
    once = "one at a time" if record.lanes == 1 else f"up to {record.lanes} at once"
    text = f"The trials ran for {lasted(record.span)}, {once}"
    if math.isfinite(record.used):
        text += f"; {percent(record.used)} of that time was spent in trials"
    slowest = int(np.argmax(record.end - record.start))
    longest = float(record.end[slowest] - record.start[slowest])
    middle = float(np.median(record.end - record.start))
    return (
        f"{text}. A trial took {lasted(middle)} in the middle, the longest, trial "
        f"{record.number[slowest]}, {lasted(longest)}."
    )


def how_trials_ended(record: Trials) -> str:
    """How many ended in which state, and the most frequent reason."""
    total = len(record.state)
    parts = [f"{n} {state} ({percent(n / total)})" for state, n in record.states.items()]
    text = f"Of {counted(total, 'trial')}, {', '.join(parts)}."
    if record.reasons:
        reason, times = next(iter(record.reasons.items()))
        text += f" The most frequent reason given, {counted(times, 'time')}: {reason}"
    return text


def where_lines_go(record: Trials) -> str:
    """How to read parallel coordinates, and what the best have in common."""
    return (
        "Each line is an analysed trial and crosses a row at the value it had. Where the lines of the "
        "best bundle, the good configurations agree; where they spread, the parameter mattered less "
        "or was chosen freely." + _bundled(record)
    )


def _bundled(record: Trials) -> str:
    """The row in which the best trials lie closest together, compared with all."""
    known = np.flatnonzero(record.analysed)
    few = max(len(known) // 20, 5)
    if len(known) < 4 * few:
        return ""
    sign = -1.0 if record.maximize else 1.0
    best = known[np.argsort(sign * record.cost[known], kind="stable")[:few]]
    ratio = {}
    for j, name in enumerate(record.parameters):
        here, all_of = record.places[best, j], record.places[known, j]
        here, all_of = here[~np.isnan(here)], all_of[~np.isnan(all_of)]
        if len(here) == few and len(all_of) > 1 and all_of.std() > 0:
            ratio[name] = float(here.std() / all_of.std())
    if not ratio or min(ratio.values()) > 0.5:
        return ""
    closest = min(ratio, key=lambda name: ratio[name])
    return f" The {few} best trials agree most in {closest}."


def what_the_map_shows(record: Footprint) -> tuple[str, str]:
    """What was covered, and how faithful the map is."""
    weighted = len(set(record.weights.values())) > 1
    first = (
        "Each point is a configuration, bright where it was good; the small grey points are an even "
        "sample of the space. Where grey points have no trial near them, the search did not look."
    )
    second = (
        f"The map gets {percent(record.stress**2)} of the squared distances between configurations wrong"
        + (", in which each parameter counts by its share of the variance" if weighted else "")
        + (". Read it as a rough picture only." if record.stress > 0.3 else ".")
    )
    return first, second


def who_got_what(record: Spending) -> str:
    """Which model got most, which is best, and what larger budgets got."""
    sentences = []
    if record.choice is not None:
        got = record.trials.sum(axis=1)
        most = int(np.argmax(got))
        sentences.append(
            f"{record.choice} chooses among {len(record.models)} models; {record.models[most]} got "
            f"most, {got[most]} of {counted(int(got.sum()), 'trial')}."
        )
        worst = math.inf if not record.maximize else -math.inf
        reached = np.where(np.isnan(record.best), worst, record.best)
        best = (reached.max if record.maximize else reached.min)(axis=1)
        if np.isfinite(best).any():
            first = int(best.argmax() if record.maximize else best.argmin())
            sentences.append(
                f"The best {record.objective}, {number(float(best[first]))}, is of "
                f"{record.models[first]}."
            )
    if len(record.budgets) > 1:
        by = record.trials.sum(axis=0)
        low, high = record.budgets[0], record.budgets[-1]
        sentences.append(
            f"There are {len(record.budgets)} budgets from {low:g} to {high:g}: {by[0]} trials at "
            f"the smallest, {by[-1]} at the largest."
        )
    return " ".join(sentences)


def which_run_led(record: RunComparison) -> str:
    """The best after the same number of trials, and in the end."""
    first, second = record.order[:2]
    way = "highest" if record.maximize else "lowest"
    after = counted(record.common, "trial")
    tied = record.at_common[first] == record.at_common[second]
    fair = (
        f"After {after}, as many as each has, {record.runs[first]} "
        + ("shares" if tied else "has")
        + f" the {way} {record.objective}, {number(float(record.at_common[first]))}"
        + (
            "."
            if tied
            else f", before {record.runs[second]} with {number(float(record.at_common[second]))}."
        )
    )
    end = int(np.argmax(record.best) if record.maximize else np.argmin(record.best))
    if end != first and record.best[end] != record.best[first]:
        fair += (
            f" In the end {record.runs[end]} is ahead with {number(float(record.best[end]))}, after "
            f"{counted(len(record.trace[end]), 'trial')}."
        )
    return (
        f"{fair} One run of each is an anecdote: repeat them with other seeds, and compare with "
        "hyperlens compare."
    )
