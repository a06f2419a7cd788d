"""The space to search next: ranges to widen or narrow, parameters to fix, scales, levels to drop.

Everything is read off functions drawn from the posterior of the additive process: where each is
lowest, and what it loses elsewhere (probes.py, changes.py); where a run has limits, lowest within them.
The advised space is valid, with its
conditions settled, and ready to use: as ConfigSpace's own JSON or YAML, or as Optuna's suggestions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from hyperlens.explain.models.verdict import Verdict, grounds, judge
from hyperlens.explain.next.changes import LEVEL, Action, Change, Workshop, proposals
from hyperlens.explain.next.failing import failing_notes
from hyperlens.explain.next.forecast import prospects
from hyperlens.explain.next.of_use import limit_notes, of_use, single_notes
from hyperlens.explain.next.probes import Probes
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.spaces.changed import changed
from hyperlens.spaces.cube import FloatArray
from hyperlens.spaces.parameter import Parameter
from hyperlens.spaces.space import Space
from hyperlens.spaces.suggestions import suggestions
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.quality import Quality
from hyperlens.surrogates.threads import one_thread
from hyperlens.tables import Column, Table, between, ends, table
from hyperlens.words import counted, first_few, number, percent, tenths

TOLERATED = 0.1  # of what is left to gain: less is no reason to drop a level or to widen a range
DONE: dict[Action, str] = {
    "fix": "fix {name} at {after}",
    "drop": "leave {name} only {after}",
    "log": "search {name} by its logarithm",
    "widen": "widen {name} to {after}",
    "narrow": "narrow {name} to {after}",
}
PROBABILITY = "How probable it is that the best lies where the change says."
COST = (
    "What the best of the space may lose by it, at the most: others could make up for some of it."
)
MOST_NAMES = 4
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Advice(Record):
    """One row for each change, and the space that comes of them; `kept` stay as they are.

    `cost`, `low` and `high` are what all that is fixed may cost together; less than `tolerance` is no
    reason to drop a level or to widen a range. `space` is the one to search next. For a picture, `rows`
    are all parameters, each with its old axis from 0 to 1: where its new range starts and ends on it,
    and the quantiles QUANTILES of the places at which drawn functions are lowest, (rows, 5).
    """

    objective: str
    maximize: bool
    trials: int
    parameters: tuple[str, ...]
    actions: tuple[Action, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    probability: FloatArray
    costs: FloatArray
    costs_low: FloatArray
    costs_high: FloatArray
    reasons: tuple[str, ...]
    kept: tuple[str, ...]
    cost: float
    low: float
    high: float
    tolerance: float
    level: float
    rows: tuple[str, ...]
    start: FloatArray
    end: FloatArray
    places: FloatArray
    seed: int
    quality: Quality
    verdict: Verdict
    notes: tuple[str, ...]
    space: Space = field(repr=False, compare=False)

    @property
    def suggestions(self) -> str:
        """The same as a Python function of Optuna's `suggest_*` calls."""
        return suggestions(self.space)

    def save(self, path: str | Path) -> None:
        """Write the space: ConfigSpace's YAML or JSON, or Python code for Optuna, by the ending."""
        Path(path).write_text(self.written(str(path)), encoding="utf-8")

    def written(self, path: str) -> str:
        """The text of a file of this name."""
        lower = path.lower()
        if lower.endswith(".py"):
            return self.suggestions
        return self.space.to_yaml() if lower.endswith((".yaml", ".yml")) else self.space.to_json()

    @property
    def sentence(self) -> str:
        if not self.verdict.known:
            return (
                f"Keep the space as it is: {self.verdict.reason}, so nothing says what to change."
            )
        if not self.parameters:
            return (
                "Keep the space as it is: nothing can be cut from it safely, and no end of a range "
                "holds the best back."
            )
        parts = []
        for action, words in DONE.items():
            verb, said = words.split(maxsplit=1)
            each = [
                said.format(name=name, after=after.replace(", ", " and "))
                for name, after, a in zip(self.parameters, self.after, self.actions, strict=True)
                if a == action
            ]
            if each:
                parts.append(f"{verb} {first_few(each, MOST_NAMES)}")
        return f"Search a changed space next: {'; '.join(parts)}."

    @property
    def reading(self) -> str:
        """What it may cost, and what stays."""
        said = []
        if "fix" in self.actions and self.high <= 0:
            said.append("What is fixed costs nothing: no drawn function is lower elsewhere.")
        elif "fix" in self.actions:
            said.append(
                f"What is fixed costs {number(self.cost, 2)} of {self.objective} together "
                f"({percent(self.level)} interval {number(self.low, 2)} to {number(self.high, 2)})."
            )
        if self.kept and self.parameters:
            said.append(f"As they are: {first_few(list(self.kept), MOST_NAMES)}.")
        return " ".join(said)

    @property
    def lead(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.sentence, self.reading)))

    @property
    def tables(self) -> tuple[Table, ...]:
        small = between(lambda x: number(x, 2))
        fixed = [action == "fix" for action in self.actions]
        costs = [
            pair if yes else (math.nan, math.nan)
            for pair, yes in zip(ends(self.costs_low, self.costs_high), fixed, strict=True)
        ]
        return (
            table(
                Column("parameter", self.parameters),
                Column("action", self.actions),
                Column("from", self.before),
                Column("to", self.after),
                Column("probability", self.probability, tenths, PROBABILITY),
                Column(f"cost, {percent(self.level)} interval", costs, small, COST),
                Column("because", self.reasons, wide=True),
            ),
        )

    @property
    def titled_notes(self) -> dict[str, tuple[str, ...]]:
        """Reasons, where a table has no room for them."""
        both = zip(self.parameters, self.reasons, strict=True)
        because = tuple(f"{name}: {reason}." for name, reason in both)
        return {"Because": because} if because else {}

    def _columns(self) -> dict[str, Any]:
        return {
            "parameter": self.parameters,
            "action": self.actions,
            "from": self.before,
            "to": self.after,
            "probability": self.probability,
            "cost": self.costs,
            "cost_low": self.costs_low,
            "cost_high": self.costs_high,
            "reason": self.reasons,
        }


@of_a_run
def advise(history: History, *, seed: int = 0, objective: str | None = None) -> Advice:
    """The space to search next, with the evidence for each change.

    Nothing is cut that may hold the best with more than a small probability, and only what surely has
    next to nothing of the variance among the good is fixed.

    >>> import hyperlens as hl
    >>> space = [hl.Parameter("x", "float", 0.0, 1.0), hl.Parameter("y", "float", 1.0, 2.0)]
    >>> run = hl.minimize(lambda c: -c["y"], space, "random", trials=30)
    >>> found = hl.advise(run)
    >>> found.actions[found.parameters.index("y")], found.space["y"].upper > 2
    ('widen', True)
    """
    fitted, known = prospects(history, seed=seed, objective=objective)
    assert isinstance(fitted.model, Additive)
    known_enough = judge(grounds(history, fitted, ())).known
    tolerance = TOLERATED * float(np.maximum(known.best - known.lowest, 0.0).mean())
    probes = Probes(fitted.model, history.space, known)
    with one_thread():
        shop = Workshop(probes, of_use(history, fitted.training), tolerance, seed)
        changes = proposals(shop) if known_enough else []
        together = fitted.model.widened * _fixed_together(probes, changes)
    low, high = np.quantile(together, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    best = history.best(objective).values
    space = changed(history.space, {c.parameter: _with_default(c.declared, best) for c in changes})
    names = tuple(c.parameter for c in changes)
    verdict = judge(grounds(history, fitted, map(history.space.column, names)))
    return Advice(
        objective=history.objective(objective).name,
        maximize=history.objective(objective).maximize,
        trials=len(fitted.training.y),
        **_told(changes),
        kept=tuple(n for n in space.names if n not in names),
        cost=float(together.mean()),
        low=float(low),
        high=float(high),
        tolerance=tolerance,
        level=LEVEL,
        rows=history.space.names,
        **_picture(history.space, {c.parameter: c.declared for c in changes}, probes),
        seed=seed,
        quality=fitted.quality,
        verdict=verdict,
        notes=(
            *fitted.notes,
            *_dropped(history.space, space),
            *single_notes(history, objective, cut=bool(changes)),
            *limit_notes(history),
            *failing_notes(history, objective, seed),
        ),
        space=space,
    )


def _told(changes: list[Change]) -> dict[str, Any]:
    """The rows of a record, column by column."""
    return {
        "parameters": tuple(c.parameter for c in changes),
        "actions": tuple(c.action for c in changes),
        "before": tuple(c.before for c in changes),
        "after": tuple(c.after for c in changes),
        "probability": np.array([c.probability for c in changes]),
        "costs": np.array([c.cost for c in changes]),
        "costs_low": np.array([c.low for c in changes]),
        "costs_high": np.array([c.high for c in changes]),
        "reasons": tuple(c.reason for c in changes),
    }


def _fixed_together(probes: Probes, changes: list[Change]) -> FloatArray:
    """What all numbers that are fixed cost each probed draw."""
    fixed = [(c.parameter, c.declared) for c in changes if isinstance(c.declared, tuple)]
    codes: dict[int, FloatArray | float] = {}
    for name, value in fixed:
        if probes.space[name].axis.ordered:
            codes[probes.space.column(name)] = float(probes.space[name].encode([value[0]])[0])
    return probes.losses(codes) if codes else np.zeros(1)


def _picture(space: Space, declared: dict[str, Any], probes: Probes) -> dict[str, Any]:
    """Where new ranges and the lowest places lie on the old axes; nan where categories have none."""
    spans = [_span(p, declared.get(p.name, p)) for p in space.parameters]
    places = [
        np.quantile(x, QUANTILES) if len(x) and p.axis.ordered else np.full(len(QUANTILES), np.nan)
        for p, x in zip(space.parameters, map(probes.places, range(len(space))), strict=True)
    ]
    start, end = np.array(spans).T
    return {"start": start, "end": end, "places": np.array(places)}


def _span(old: Parameter, new: Any) -> tuple[float, float]:
    if old.kind not in ("float", "integer"):
        kept = new if isinstance(new, tuple) else new.choices
        return (0.0, len(kept) / len(old.choices))
    a, b = (new[0], new[0]) if isinstance(new, tuple) else (new.lower, new.upper)
    scale = math.log if old.log else float
    low, high = scale(old.lower), scale(old.upper)
    return (scale(a) - low) / (high - low), (scale(b) - low) / (high - low)


def _with_default(declared: Any, best: Any) -> Any:
    """A changed parameter whose default is the best trial's value, where it has one inside."""
    if not isinstance(declared, Parameter):
        return declared
    value = best.get(declared.name)
    inside = (
        value in declared.choices
        if declared.choices
        else (value is not None and declared.lower <= value <= declared.upper)
    )
    return replace(declared, default=value) if inside else replace(declared, default=None)


def _dropped(old: Space, new: Space) -> tuple[str, ...]:
    """Which parameters can be active no more."""
    gone = [n for n in old.names if n not in new.names and n not in new.constants]
    if not gone:
        return ()
    verb = "is" if len(gone) == 1 else "are"
    return (
        f"{first_few(gone, MOST_NAMES)} {verb} left out: {counted(len(gone), 'parameter')} that no "
        "configuration of the new space uses.",
    )
