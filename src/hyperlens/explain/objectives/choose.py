"""One trial of a run with several objectives, chosen by limits or named: what the limits cost, what the
next trials of the front trade, and why it is where it is."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.errors import AnalysisError, listed
from hyperlens.explain.models.verdict import Verdict
from hyperlens.explain.objectives.choice_words import exchange, reasons_said
from hyperlens.explain.objectives.pareto import ParetoFront, pareto
from hyperlens.explain.objectives.point_of_front import Reasons, Trade, beaten_by, reasons, trades
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.runs.selection import Selection
from hyperlens.runs.where import parse
from hyperlens.spaces.cube import FloatArray
from hyperlens.tables import Column, Table, table
from hyperlens.words import counted, number, setting, signed

_SIGNS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_LIMIT = re.compile(r"(.+)__(lt|le|gt|ge)")
ADDS = (
    "What this value adds to {what}: its Shapley value, against the average of the space, among all "
    "orders in which the values can be set."
)


@dataclass(frozen=True)
class Choice(Record):
    """The chosen trial beside the best of each objective over all trials.

    `prefer` is the objective that it is the best in among the trials within the limits; without one it
    is the knee of their front, or the trial that was `named`. `costs` are its own, `best` the best of
    each objective over all trials. `trades` are the next trials of the front, one for each objective
    that one of them has better; `beaten` is one that is better in all, if it is not on the front.
    `because` is what its values do to each objective, where that was asked for.
    """

    objectives: tuple[str, ...]
    maximize: tuple[bool, ...]
    where: str | None
    prefer: str | None
    trial: int
    values: dict[str, Any]
    costs: FloatArray
    best: FloatArray
    within: int  # trials within the limits
    trials: int
    notes: tuple[str, ...]
    named: bool = False
    trades: tuple[Trade, ...] = ()
    beaten: int | None = None
    parameters: tuple[str, ...] = ()
    because: Reasons | None = None

    @property
    def given_up(self) -> FloatArray:
        """How much worse than the best it is in each objective, (m,)."""
        with np.errstate(over="ignore"):
            return np.minimum(np.abs(self.costs - self.best), sys.float_info.max)

    @property
    def sentence(self) -> str:
        """Which trial, by what, and what the limit costs."""
        among = f"all {self.trials} trials" if self.trials > 1 else "the only trial"
        if self.where is not None:
            among = f"the {counted(self.within, 'trial')} of {self.trials} where {self.where}"
        costs = self._said(self.costs)
        if self.named:
            if self.beaten is None:
                return f"Trial {self.trial} is on the front of {among}: {costs}."
            return (
                f"Trial {self.trial} ({costs}) is not on the front of {among}: trial {self.beaten} is "
                "at least as good in all objectives, and better in one."
            )
        if self.prefer is None and not self.given_up.any():
            return f"Trial {self.trial} is the best of {among} in all objectives: {costs}."
        if self.prefer is None:
            return f"Trial {self.trial} is the knee of the front of {among}: {costs}."
        k = self.objectives.index(self.prefer)
        text = f"Trial {self.trial} has the best {self.prefer} of {among}: {costs}."
        if self.where is None:
            return text
        lost = float(self.given_up[k])
        if lost == 0:
            return f"{text} The limit costs nothing: no trial has a better {self.prefer}."
        return (
            f"{text} The limit costs {number(lost)}: without it the best {self.prefer} is "
            f"{number(float(self.best[k]))}."
        )

    @property
    def verdict(self) -> Verdict | None:
        """On why it is there, where that was asked for."""
        return None if self.because is None else self.because.verdict

    @property
    def lead(self) -> tuple[str, ...]:
        why = () if self.because is None else reasons_said(self, self.because)
        return tuple(filter(None, (self.sentence, exchange(self), *why)))

    def _said(self, costs: FloatArray) -> str:
        pairs = zip(self.objectives, costs.tolist(), strict=True)
        return ", ".join(f"{name} {number(cost)}" for name, cost in pairs)

    @property
    def tables(self) -> tuple[Table, ...]:
        """Its objectives, its configuration with what each value adds, and the next trials."""
        first = table(
            Column("objective", self.objectives),
            Column("chosen", self.costs, number),
            Column("best", self.best, number, "The best of this objective over all trials."),
            Column("given up", self.given_up, number, "How far the chosen trial is from that."),
        )
        names = self.parameters or tuple(self.values)
        values = Column("value", [self.values.get(name) for name in names], setting)
        added = () if self.because is None else self.because.contributions.T
        each = (
            Column(f"adds to {name}", own, signed, ADDS.format(what=name))
            for name, own in zip(self.objectives, added, strict=False)
        )
        tables = [first, table(Column("parameter", names), values, *each)]
        if self.trades:
            gains = np.array([trade.gain for trade in self.trades])
            what = "How much better this trial is in this objective; less than 0 is worse."
            tables.append(
                table(
                    Column("next on the front", [t.trial for t in self.trades], number),
                    Column("better in", [t.objective for t in self.trades]),
                    *(
                        Column(f"gain of {name}", gains[:, k], signed, what)
                        for k, name in enumerate(self.objectives)
                    ),
                )
            )
        return tuple(tables)

    def _columns(self) -> dict[str, Any]:
        return {
            "objective": self.objectives,
            "chosen": self.costs,
            "best": self.best,
            "given_up": self.given_up,
        }


@of_a_run
def choose(
    history: History,
    where: str | None = None,
    *,
    prefer: str | None = None,
    trial: int | None = None,
    why: bool = False,
    seed: int = 0,
    **limits: float,
) -> Choice:
    """The best trial within limits: `choose(history, "latency < 20")`, or `latency__lt=20`.

    It is the best in the objective `prefer`, else in the first one without a limit; where there is
    neither a limit nor a preference it is the knee of the front, or the `trial` that is named. `why`
    says what each of its values does to each objective, by additive Gaussian processes.
    """
    own = [_limit(name, value) for name, value in limits.items()]
    given = [] if where is None else [f"({where})" if own else where]
    text = " and ".join([*given, *own]) or None
    if trial is not None and (text is not None or prefer is not None):
        raise AnalysisError("A trial is named or chosen by limits; leave out one of the two.")
    part = history if text is None else Selection(where=text).of(history)
    if text is not None and prefer is None:
        limited = parse(text).names
        prefer = next((o.name for o in history.objectives if o.name not in limited), None)
    whole, found = pareto(history), pareto(part)
    k = None if prefer is None else history.objectives.index(history.objective(prefer))
    chosen = _named(found, trial) if trial is not None else found.knee
    chosen = chosen if k is None else _best_in(found, k)
    row = int(np.flatnonzero(found.number == chosen)[0])
    at = int(np.flatnonzero(whole.number == chosen)[0])
    place = next(i for i, t in enumerate(history.trials) if t.number == chosen)
    sign = np.array([o.sign for o in history.objectives])
    return Choice(
        objectives=whole.objectives,
        maximize=whole.maximize,
        where=text,
        prefer=prefer,
        trial=chosen,
        values=dict(history.trials[place].values),
        costs=found.costs[row],
        best=sign * (sign * whole.costs[whole.compared]).min(axis=0),
        within=len(found.compared),
        trials=len(whole.compared),
        notes=whole.notes,
        named=trial is not None,
        trades=() if (beaten := beaten_by(whole, at)) is not None else trades(whole, at),
        beaten=beaten,
        parameters=history.space.names,
        because=reasons(history, history.vectors[place], whole.costs.std(axis=0), seed)
        if why
        else None,
    )


def _named(found: ParetoFront, trial: int) -> int:
    if trial not in found.number:
        raise AnalysisError(
            f"Trial {trial} is not among the {counted(len(found.number), 'trial')} that measured all "
            "objectives; name one of these."
        )
    return trial


def _best_in(found: ParetoFront, k: int) -> int:
    """The trial of the front that is the best in one objective."""
    rows = found.members
    costs = found.costs[rows, k]
    return int(found.number[rows[np.argmax(costs) if found.maximize[k] else np.argmin(costs)]])


def _limit(name: str, value: float) -> str:
    """`latency__lt` and 20 as a condition."""
    match = _LIMIT.fullmatch(name)
    if match is None:
        ways = listed(f"{name}__{sign}" for sign in _SIGNS)
        raise AnalysisError(f"'{name}' is no limit; write {ways}, or a condition as text.")
    name = match[1] if match[1].isidentifier() else f"`{match[1]}`"
    return f"{name} {_SIGNS[match[2]]} {float(value):.17g}"
