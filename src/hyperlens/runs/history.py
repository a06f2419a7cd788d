"""What a tuning run left behind: trials, objectives, and the arrays that analyses work on."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

import numpy as np

from hyperlens.errors import AnalysisError, listed
from hyperlens.notebook import view
from hyperlens.proposal import Proposal
from hyperlens.runs.curve import Curve
from hyperlens.runs.diverging.divergence import divergence
from hyperlens.runs.diverging.tail import Tail, find_tail
from hyperlens.runs.search_plan import SearchPlan
from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray
from hyperlens.spaces.space import Space
from hyperlens.tables import from_frame
from hyperlens.words import agreeing, beside, counted, first_few, number, printable

MOST_SHOWN = 6  # values of a trial in a line
MOST_NUMBER = 2**63 - 1  # of a trial


class State(StrEnum):
    """How a trial ended."""

    COMPLETE = "complete"
    PRUNED = "pruned"
    FAILED = "failed"
    RUNNING = "running"


@dataclass(frozen=True, repr=False)
class Objective:
    """A measured quantity and its direction."""

    name: str
    maximize: bool = False

    def __repr__(self) -> str:
        return printable(f"<Objective {self.name}: {self.direction}>")

    @property
    def direction(self) -> str:
        return "maximised" if self.maximize else "minimised"

    @property
    def sign(self) -> float:
        """What a cost is multiplied by to be minimised, and by to be shown again."""
        return -1.0 if self.maximize else 1.0


@dataclass(frozen=True, repr=False)
class Trial:
    """One evaluation. `costs` are as the user measured them, one per objective, nan if unknown.

    `excess` says of each limit of the run by how much it was exceeded: not above 0 keeps it, nan is
    unknown. `curve` is what it measured on its way, where that is known.
    """

    number: int
    values: Mapping[str, Any]
    costs: tuple[float, ...]
    state: State = State.COMPLETE
    budget: float | None = None
    seed: int | None = None
    instance: str | None = None
    started: float | None = None  # seconds since 1970
    ended: float | None = None
    proposer: str | None = None
    reason: str | None = None  # why it failed or was pruned
    proposal: Proposal | None = None  # what an optimiser of ours recorded with it
    excess: tuple[float, ...] = ()
    curve: Curve | None = None

    @property
    def feasible(self) -> bool:
        """Whether it keeps every limit; one that is unknown is not kept."""
        return all(e <= 0 for e in self.excess)

    def __repr__(self) -> str:
        costs = ", ".join(map(number, self.costs))
        values = first_few([f"{n} {number(v)}" for n, v in self.values.items()], MOST_SHOWN)
        budget = "" if self.budget is None else f", budget {number(self.budget)}"
        return printable(f"<Trial {self.number}: {costs} ({self.state}{budget}) at {values}>")

    @property
    def spans(self) -> tuple[tuple[float, float], ...]:
        """Starts and ends of its evaluations: one, or one for each rung of a race; none if unknown."""
        if self.proposal is not None and self.proposal.spans:
            return self.proposal.spans
        if self.started is None or self.ended is None:
            return ()
        return ((self.started, max(self.started, self.ended)),)

    @property
    def seconds(self) -> float:
        """How long its evaluations took together; nan if unknown."""
        return sum(end - start for start, end in self.spans) if self.spans else math.nan


@dataclass(frozen=True)
class Data:
    """Arrays for one objective: vectors X (n, d), minimised costs y (n,), trial positions (n,)."""

    X: FloatArray
    y: FloatArray
    rows: IntArray

    @property
    def unvaried(self) -> BoolArray:
        """Which columns hold fewer than two different values."""
        absent = np.isnan(self.X)
        lowest = np.where(absent, np.inf, self.X).min(axis=0)
        highest = np.where(absent, -np.inf, self.X).max(axis=0)
        return np.asarray(lowest >= highest)


@dataclass(frozen=True, repr=False)
class History:
    """A run: its space, what was measured, all trials in order, and what the reader noticed.

    `analysed` are the states whose trials are learnt from, if their cost is finite and not diverged;
    `keep_tail` lets diverged ones count like all others. Pruned trials and lower budgets are evidence
    where that is sound unless `largest_only`. `plan` is that of a search over models. `limits` names
    what a trial must keep to be of use, as in "latency < 20"; each trial has an `excess` for each.
    `memory` keeps what was computed from it, so that asking twice costs once.
    """

    space: Space
    objectives: tuple[Objective, ...]
    trials: tuple[Trial, ...]
    source: str = ""
    notes: tuple[str, ...] = ()
    analysed: frozenset[State] = frozenset({State.COMPLETE})
    keep_tail: bool = False
    largest_only: bool = False
    plan: SearchPlan | None = None
    limits: tuple[str, ...] = ()
    vectors: FloatArray = field(init=False, repr=False, compare=False)
    memory: dict[Hashable, Any] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        if not self.objectives:
            raise AnalysisError("This run has no objective; name the column that holds the cost.")
        for trial in self.trials:
            if not -MOST_NUMBER <= trial.number <= MOST_NUMBER:
                raise AnalysisError(
                    f"A trial has the number {trial.number}, beyond {MOST_NUMBER}; number them anew."
                )
            if len(trial.costs) != len(self.objectives):
                raise AnalysisError(
                    f"Trial {trial.number} has {len(trial.costs)} costs for "
                    f"{len(self.objectives)} objectives; give one cost for each objective."
                )
            if len(trial.excess) != len(self.limits):
                raise AnalysisError(
                    f"Trial {trial.number} says of {len(trial.excess)} limits whether it keeps them and "
                    f"the run has {len(self.limits)}; give one excess for each limit."
                )
            if trial.curve is not None and trial.curve.values.shape[1] != len(self.objectives):
                raise AnalysisError(
                    f"The curve of trial {trial.number} has {trial.curve.values.shape[1]} values a step "
                    f"for {len(self.objectives)} objectives; give one for each objective."
                )
        object.__setattr__(self, "vectors", self.space.encode([t.values for t in self.trials]))

    def __repr__(self) -> str:
        source = f" of {self.source}" if self.source else ""
        return printable(f"<History{source}: {self.sentence}>")

    @property
    def sentence(self) -> str:
        """What was run and what came of it, for people."""
        space = counted(len(self.space), "parameter")
        parts = [f"{counted(len(self.trials), 'trial')} of {space} ({self._states()})"]
        for objective in self.objectives:
            best = f"{objective.name} {objective.direction}"
            with suppress(AnalysisError):  # nothing is complete
                trial = self.best(objective.name)
                cost = trial.costs[self.objectives.index(objective)]
                shown = beside(self.data(objective.name).y)(cost)
                best += f", best {shown} in trial {trial.number}"
            parts.append(best)
        return f"{'; '.join(parts)}."

    def _repr_html_(self) -> str:
        """What a notebook shows of it: its space beside the best configuration, and what is noted."""
        frame = self.space.frame
        with suppress(AnalysisError):  # nothing is complete
            best = {**self.space.constants, **self.best().values}
            frame["best"] = [number(best[n]) if n in best else None for n in frame["parameter"]]
        title, table = self.source or "History", from_frame(frame)
        return view(title, self.sentence, [table], self.warnings())

    def _states(self) -> str:
        return ", ".join(f"{self.count(s)} {s}" for s in State if self.count(s)) or "none yet"

    def objective(self, name: str | None = None) -> Objective:
        """An objective by its name; the first if none is named."""
        names = [o.name for o in self.objectives]
        if name is not None and name not in names:
            raise AnalysisError(f"There is no objective '{name}'; choose one of {listed(names)}.")
        return self.objectives[0 if name is None else names.index(name)]

    def count(self, state: State) -> int:
        return sum(t.state is state for t in self.trials)

    def shown(self, cost: float, objective: str | None = None) -> float:
        """A minimised cost in the user's own direction."""
        return -cost if self.objective(objective).maximize else cost

    def data(self, objective: str | None = None, budget: float | None = None) -> Data:
        """Vectors and minimised costs of the complete trials with a finite cost, at one budget; those
        that diverged are left out.

        Where every such trial has a budget and none is asked for, it is the largest.
        """
        key = ("data", self.objective(objective).name, budget)
        if key not in self.memory:
            self.memory[key] = self._at_budget(self._complete(objective), budget)
        data: Data = self.memory[key]
        return data

    def _at_budget(self, complete: Data, budget: float | None) -> Data:
        budgets = [self.trials[i].budget for i in complete.rows]
        levels = sorted({b for b in budgets if b is not None})
        if budget is None:
            if None in budgets or len(levels) < 2:
                return complete
            budget = levels[-1]
        elif budget not in levels:
            known = listed(f"{b:g}" for b in levels)
            remedy = f"choose one of {known}" if levels else "leave it out"
            raise AnalysisError(f"No complete trial has the budget {budget:g}; {remedy}.")
        keep = np.array([b == budget for b in budgets])
        return Data(complete.X[keep], complete.y[keep], complete.rows[keep])

    def _complete(self, name: str | None) -> Data:
        objective = self.objective(name)
        sign = objective.sign
        costs = sign * self.measured(objective)
        known = self.is_analysed & np.isfinite(costs)
        if not self.keep_tail:
            known &= ~self.diverged(name)
        rows = np.flatnonzero(known)
        if len(rows) == 0:
            raise AnalysisError(self._why_nothing(objective))
        X = self.vectors if len(rows) == len(self.trials) else self.vectors[rows]
        return Data(X, costs[rows], rows)

    def measured(self, objective: Objective) -> FloatArray:
        """What all trials measured of an objective, (trials,)."""
        k = self.objectives.index(objective)
        return np.array([t.costs[k] for t in self.trials], dtype=float)

    def diverged(self, objective: str | None = None) -> BoolArray:
        """Which trials have a cost far above all others, with nothing in between, (trials,)."""
        rows, tail = self._tail(self.objective(objective))
        diverged = np.zeros(len(self.trials), dtype=bool)
        if tail is not None:
            diverged[rows] = tail.inside
        return diverged

    def divergence(self, objective: str | None = None) -> str | None:
        """How many trials diverged, how far and where, in a sentence; None where none did."""
        chosen = self.objective(objective)
        rows, tail = self._tail(chosen)
        return None if tail is None else divergence(self, chosen, tail, rows)

    def _tail(self, objective: Objective) -> tuple[IntArray, Tail | None]:
        """Positions of all trials that left a cost at any budget, and the tail of these."""
        key = ("tail", objective.name)
        if key not in self.memory:
            costs = objective.sign * self.measured(objective)
            ended = np.array([t.state is State.PRUNED for t in self.trials], dtype=bool)
            rows = np.flatnonzero((self.is_analysed | ended) & np.isfinite(costs))
            self.memory[key] = rows, find_tail(costs[rows])
        found: tuple[IntArray, Tail | None] = self.memory[key]
        return found

    @property
    def feasible(self) -> BoolArray:
        """Which trials keep every limit, (trials,)."""
        return np.array([t.feasible for t in self.trials], dtype=bool)

    @property
    def exceeded(self) -> FloatArray:
        """How far each trial is from keeping all limits, (trials,): the sum over limits of what is above
        them, each in units of its mean over the trials that exceed it; inf where that is not known."""
        excess = np.array([t.excess for t in self.trials], dtype=float)
        above = np.maximum(excess.reshape(len(self.trials), len(self.limits)), 0.0)
        known = np.where(np.isfinite(above), above, 0.0)
        unit = known.sum(axis=0) / np.maximum((known > 0).sum(axis=0), 1)
        total = (above / np.where(unit > 0, unit, 1.0)).sum(axis=1)
        return np.where(np.isnan(total), np.inf, total)

    @property
    def budgets(self) -> tuple[float, ...]:
        """Budgets that trials were given, rising. Where a complete trial has none, what pruned ones have
        is the step at which they were stopped, and no budget."""
        every = all(t.budget is not None for t in self.trials if t.state is State.COMPLETE)
        given = (t.budget for t in self.trials if every or t.state is State.COMPLETE)
        return tuple(sorted({budget for budget in given if budget is not None}))

    @property
    def is_analysed(self) -> BoolArray:
        """Which trials are in a state that is learnt from, (trials,)."""
        return np.array([t.state in self.analysed for t in self.trials], dtype=bool)

    def _why_nothing(self, objective: Objective) -> str:
        if not self.trials:
            return "This run has no trials; run some before explaining it."
        reasons = Counter(t.reason for t in self.trials if t.reason and t.state is State.FAILED)
        remedy = "let some trials finish before explaining them"
        if reasons:
            remedy = f"mend first what most of them failed of: {reasons.most_common(1)[0][0]}"
        return (
            f"None of the {len(self.trials)} trials ({self._states()}) is complete with a finite "
            f"'{objective.name}'; {remedy}."
        )

    def limited(self, objective: str | None = None) -> str | None:
        """How many analysed trials exceed the limits, and what follows from it; None without limits."""
        if not self.limits:
            return None
        data = self.data(objective)
        kept, limits = self.feasible[data.rows], " and ".join(self.limits)
        if kept.all():
            return f"All {counted(len(kept), 'analysed trial')} keep {limits}."
        if not kept.any():
            return (
                f"None of {counted(len(kept), 'analysed trial')} keeps {limits}; called the best is the "
                "one that exceeds it least."
            )
        broken = int((~kept).sum())
        what = limits if len(self.limits) == 1 else f"a limit ({limits})"
        return (
            f"{broken} of {counted(len(kept), 'analysed trial')} "
            f"{'exceeds' if broken == 1 else 'exceed'} {what}: the best is of the others, and "
            "surrogates learn from all."
        )

    def warnings(self, objective: str | None = None, *, every: bool = False) -> list[str]:
        """What was left out and why, in plain words; `every` objective is shown, or one of them."""
        measure = self.objective(objective)
        warnings = [*self.notes, *self.space.inferred]
        one = objective is None and not every
        if others := [o.name for o in self.objectives if one and o != measure]:
            warnings.append(
                f"This run has {len(self.objectives)} objectives; shown is '{measure.name}', choose "
                f"{listed(others)} with --objective NAME (objective= in Python)."
            )
        for state in (State.FAILED, State.PRUNED, State.RUNNING):
            if n := self.count(state):
                what = _COUNT[state] if state in self.analysed else _LEFT[state]
                warnings.append(f"{n} of {len(self.trials)} trials {agreeing(n, what)}.")
        finite = np.isfinite(self.measured(measure))
        with suppress(AnalysisError):  # nothing is complete
            warnings += filter(None, (self.limited(objective),))
        if diverged := self.divergence(objective):
            warnings.append(diverged)
        apart = np.zeros_like(finite) if self.keep_tail else self.diverged(objective)
        complete = int((self.is_analysed & finite & ~apart).sum())
        if complete and (used := len(self.data(objective).rows)) < complete:
            budget = self.trials[int(self.data(objective).rows[0])].budget
            warnings.append(
                f"{used} of {complete} complete trials have the largest budget, {budget:g}: best and "
                "trace are of these."
            )
        if strange := int((self.is_analysed & ~finite).sum()):
            warnings.append(
                f"{strange} of {len(self.trials)} trials ended with a '{measure.name}' that is not a "
                f"finite number and {agreeing(strange, 'were')} left out."
            )
        return warnings

    def select(
        self,
        *,
        states: Iterable[str] | None = None,
        budget: float | Literal["largest"] | None = None,
        where: str | None = None,
        last: int | None = None,
        weights: Mapping[str, float] | None = None,
        hypervolume: bool = False,
        keep_tail: bool = False,
    ) -> History:
        """A part of this run as a run of its own; see hyperlens.runs.selection.Selection."""
        from hyperlens.runs.selection import Selection  # it lies above; this is its one door

        return Selection(states, budget, where, last, weights, hypervolume, keep_tail).of(self)

    def best(self, objective: str | None = None, budget: float | None = None) -> Trial:
        """The best complete trial that keeps all limits; the earliest of equals. Where none keeps them
        it is the one that exceeds them least."""
        data = self.data(objective, budget)
        return self.trials[int(data.rows[self.best_row(data)])]

    def best_row(self, data: Data) -> int:
        """The row of the best among these."""
        if not self.limits:
            return int(np.argmin(data.y))
        kept = self.feasible[data.rows]
        if kept.any():
            return int(np.argmin(np.where(kept, data.y, np.inf)))
        return int(np.lexsort((data.y, self.exceeded[data.rows]))[0])

    def trace(self, objective: str | None = None) -> FloatArray:
        """Best cost so far in the user's direction, one per analysed trial, in trial order.

        Trials that exceed a limit are passed over, nan before the first that keeps them; unless all do.
        """
        data = self.data(objective)
        kept = self.feasible[data.rows]
        best = np.minimum.accumulate(np.where(kept | ~kept.any(), data.y, np.inf))
        best[np.isinf(best)] = np.nan
        return -best if self.objective(objective).maximize else best


_LEFT = {
    State.FAILED: "failed and were left out",
    State.PRUNED: "were pruned before they had a final cost: best and trace are of the others",
    State.RUNNING: "are still running and were left out",
}
_COUNT = {
    State.FAILED: "failed and count with the cost that they left",
    State.PRUNED: "were pruned and count with the cost at which they were stopped",
    State.RUNNING: "are still running and count with their latest cost",
}
