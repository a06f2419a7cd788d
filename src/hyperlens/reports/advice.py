"""What to do next, as far as the records say so: a few sentences, the most urgent first."""

from __future__ import annotations

import math

import numpy as np

from hyperlens.explain.effects import Effect
from hyperlens.explain.fanova import Importance
from hyperlens.explain.overview import Overview
from hyperlens.explain.trials import Trials
from hyperlens.reports.analysis import Analysis, totals
from hyperlens.reports.sentences import NEARLY, counted, number, percent

MOST = 4  # pieces of advice
WORTH = 0.05  # a share of the variance from which on a parameter is worth widening or trying
LITTLE = 0.01  # a parameter whose effects together have less may be left alone
MANY_FAILED = 0.1
STALLED = 0.5  # of the run without an improvement: it has probably converged


def what_next(analysis: Analysis) -> tuple[str, ...]:
    """At most MOST sentences; never none."""
    importance = analysis.importance
    total = totals(importance) if isinstance(importance, Importance) else {}
    effects = [e for e in analysis.effects if isinstance(e, Effect)]
    shares = [e for e in effects if total.get(e.parameters[0], 0.0) >= WORTH]
    found = [
        *_failures(analysis.trials),
        *_doubts(analysis),
        *_widen(shares),
        *_try(shares),
        *_fix(analysis, total),
        *_go_on(analysis.overview),
    ]
    return tuple(found[:MOST])


def _failures(record: Trials) -> list[str]:
    failed = record.states.get("failed", 0)
    if failed < MANY_FAILED * len(record.state):
        return []
    return [
        f"{failed} of {counted(len(record.state), 'trial')} failed: find out why before anything "
        "else, for the surrogates know nothing of where trials fail."
    ]


def _doubts(analysis: Analysis) -> list[str]:
    verdicts = {q.verdict for q in analysis.qualities}
    if "trust" in verdicts:
        return []
    if not verdicts:
        return ["Run more trials: there are too few to explain anything."]
    trials = max(q.trials for q in analysis.qualities)
    if verdicts == {"do not trust"}:
        return [
            f"Run more trials, at least twice the {trials} there are, before acting on importance or "
            "effects: neither surrogate predicts trials it has not seen."
        ]
    return [
        f"Run about {trials} more trials before acting on small effects: the surrogates predict "
        "unseen trials only roughly."
    ]


def _widen(effects: list[Effect]) -> list[str]:
    """Important parameters whose best expected and best measured values lie at the same end."""
    found = []
    for e in effects:
        if not e.numeric[0] or e.incumbent is None:
            continue
        values = list(e.values[0])
        best = int(np.nanargmax(e.mean) if e.maximize else np.nanargmin(e.mean))
        place = _position(values, e.incumbent[0], e.log[0])
        if best == len(values) - 1 and place > 1 - NEARLY:
            found.append(
                f"Widen the range of {e.parameters[0]} above {number(values[-1], 3)}: both the best "
                "trial and the surrogate's expectation lie at its upper end."
            )
        elif best == 0 and place < NEARLY:
            found.append(
                f"Widen the range of {e.parameters[0]} below {number(values[0], 3)}: both the best "
                "trial and the surrogate's expectation lie at its lower end."
            )
    return found


def _position(values: list[float], value: float, log: bool) -> float:
    """Where a value lies between the ends of a range, from 0 to 1."""
    low, high = min(values), max(values)
    if high <= low:
        return 0.5
    if log:
        return math.log(value / low) / math.log(high / low)
    return (value - low) / (high - low)


def _try(effects: list[Effect]) -> list[str]:
    """Important parameters that are expected to be best where no trial was."""
    for e in effects:
        best = int(np.nanargmax(e.mean) if e.maximize else np.nanargmin(e.mean))
        if e.support[best] == 0:
            value = number(e.values[0][best], 3)
            return [
                f"Try {e.parameters[0]} {'near' if e.numeric[0] else '='} {value}: the surrogate "
                "expects the best there, and no trial has tested it."
            ]
    return []


def _fix(analysis: Analysis, total: dict[str, float]) -> list[str]:
    """Parameters that hardly matter, if a surrogate may be trusted and some others do matter."""
    if not any(q.verdict == "trust" for q in analysis.qualities) or not total:
        return []
    if math.isnan(sum(total.values())) or max(total.values()) < WORTH:
        return []
    little = [name for name in analysis.overview.parameters if total.get(name, 0.0) < LITTLE]
    if not little:
        return []
    shown = ", ".join(little[:5]) + (f" and {len(little) - 5} more" if len(little) > 5 else "")
    return [
        f"In a next search, leave {shown} at {'its' if len(little) == 1 else 'their'} best "
        f"value{'s' * (len(little) > 1)}: {'it has' if len(little) == 1 else 'each has'} less than "
        f"{percent(LITTLE)} of the variance, alone and with others."
    ]


def _go_on(record: Overview) -> list[str]:
    count = len(record.cost)
    after = int((record.number > record.best_trial).sum())
    if count < 4 or after < STALLED * count:
        when = f"with {counted(after, 'trial')} to go" if after else "in the last trial"
        return [
            f"Go on with this search: its best came {when}, so more trials may still improve it."
        ]
    return [
        f"More of the same will bring little: the last {after} of {counted(count, 'trial')} brought "
        "no improvement. Change the space or the method, or stop."
    ]
