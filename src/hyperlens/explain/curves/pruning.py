"""Which trials were stopped, where each stood then, and what stopping them probably lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.curves.paths import STEP, Paths
from hyperlens.explain.curves.unseen_ends import FEWEST, unseen_ends
from hyperlens.record import Record
from hyperlens.runs.history import History
from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray
from hyperlens.tables import Column, Table, between, ends, table
from hyperlens.words import counted, number, percent, tenths

MOST_STOPS = 32  # different steps at which ends are told from
MOST_TRIALS = 2000  # kept, the most promising first
NONE = 0.05  # trials lost on average, below which none is said
MOST_LIKELY = 0.99  # a probability beyond is not told from certainty
MOSTLY = 0.95  # of the stopped trials were worse than the median: a median rule explains them
STOOD = "Its place among the trials before it that had reached the same step, the best being 1."
TRIAL = "The number of the trial that was stopped."
VALUE = "What it reported last, at that step."
MEDIAN = "The median at that step of those of them that went on to the end."
EXPECTED = (
    "Where it would have ended, learnt from those that went on, and with the doubt that they leave."
)
CHANCE = "How likely it would have measured better than the best trial."


@dataclass(frozen=True)
class Pruning(Record):
    """Trials that were stopped before the end, those first that most likely would have been best.

    One entry a trial: the `step` of its last report and the `value` there; its `rank` among the `of`
    trials, itself included, that had reached that step before it, and the `median` there of those of
    them that finished; where it was
    `expected` to end, between `low` and `high`, and the `chance` that it would have beaten the best; nan
    where that cannot be told. `count` trials were stopped; of `judged` with a median `worse` were worse
    than it. Of the stopped, `lost` (from `lost_low` to `lost_high`) would have beaten
    the best, with probability `chance_any` at least one. Where one trial was `asked` about, it is alone.
    """

    objective: str
    maximize: bool
    axis: str
    noun: str
    word: str
    count: int
    trials: int
    trial: IntArray
    step: FloatArray
    value: FloatArray
    rank: IntArray
    of: IntArray
    median: FloatArray
    expected: FloatArray
    low: FloatArray
    high: FloatArray
    chance: FloatArray
    judged: int
    worse: int
    told: int
    finished: int
    best: float
    best_trial: int | None
    lost: float
    lost_low: float
    lost_high: float
    chance_any: float
    level: float
    seed: int
    notes: tuple[str, ...] = ()
    asked: int | None = None

    @property
    def sentence(self) -> str:
        """How many were stopped, and whether one of them would have been best; or why the one that is
        asked about was."""
        if self.asked is not None:
            return self.why(self.asked)
        stopped = (
            f"{self.count} of {counted(self.trials, self.noun)} {_were(self.count)} {self.word}"
        )
        if self.best_trial is None:
            return f"{stopped}, and none reached the end, so nothing says what that cost."
        if not self.told:
            went_on = counted(self.finished, self.noun)
            if self.finished < FEWEST:
                why = f"from {went_on} that went on, where it takes {FEWEST}"
            else:
                why = f"as fewer than {FEWEST} of the {went_on} that went on were measured there"
            return f"{stopped}; whether one would have beaten the best cannot be told {why}."
        if self.lost < NONE and not self.lost_high:
            return (
                f"{stopped}; of {self.told} whose end can be predicted probably none would have beaten "
                f"the best, {number(self.best)}."
            )
        ends = f"{percent(self.level)} interval {self.lost_low:.0f} to {self.lost_high:.0f}"
        likely = min(self.chance_any, MOST_LIKELY)
        chance = f"{'above' if self.chance_any > MOST_LIKELY else 'of'} {percent(likely)}"
        return (
            f"{stopped}; of {self.told} whose end can be predicted {self.lost:.1f} would have beaten "
            f"the best, {number(self.best)}, on average ({ends}), at least one with a probability "
            f"{chance}."
        )

    @property
    def rule(self) -> str:
        """What the stopped trials had in common."""
        if not self.judged:
            return ""
        told = (
            f"Of the {self.judged} that finished ones can be compared with, {self.worse} "
            f"{_were(self.worse)} worse than the median of these at the same {self.axis}"
        )
        median = self.axis == "step" and self.worse >= MOSTLY * self.judged
        return f"{told}, as a median rule has it." if median else f"{told}."

    @property
    def lead(self) -> tuple[str, ...]:
        if self.asked is not None:
            return (self.sentence,)
        likeliest = self.why(int(self.trial[0])) if self.told else ""
        return tuple(filter(None, (self.sentence, self.rule, likeliest)))

    def only(self, trial: int) -> Pruning:
        """The same of one stopped trial: its sentence says why it was."""
        row = np.array([self._row(trial)])
        names = ("step", "value", "rank", "of", "median", "expected", "low", "high", "chance")
        mine = {name: getattr(self, name)[row] for name in ("trial", *names)}
        return replace(self, asked=trial, **mine)

    def why(self, trial: int) -> str:
        """Why this one was stopped: at which step, where it stood, and where it would have ended."""
        k = self._row(trial)
        told = (
            f"Trial {trial} was {self.word} at {self.axis} {number(float(self.step[k]))} with a "
            f"{self.objective} of {number(float(self.value[k]))}: "
        )
        if self.of[k] < 2:
            told += "no other had come that far by then."
        else:
            told += f"place {self.rank[k]} of the {self.of[k]} that had come that far by then"
            if np.isfinite(self.median[k]):
                side = "worse" if self._worse()[k] else "not worse"
                told += f", {side} than {number(float(self.median[k]))}, the median of the finished ones"
            told += "."
        if np.isfinite(self.expected[k]):
            reach = f"{number(float(self.low[k]))} to {number(float(self.high[k]))}"
            told += (
                f" It would have ended at about {number(float(self.expected[k]))} "
                f"({percent(self.level)} interval {reach}), better than the best with a probability of "
                f"{percent(float(self.chance[k]))}."
            )
        return told

    def _row(self, trial: int) -> int:
        at = np.flatnonzero(self.trial == trial)
        if not len(at):
            raise AnalysisError(
                f"Trial {trial} is not among the {len(self.trial)} {self.word} trials; choose one of "
                f"them, such as {int(self.trial[0])}."
            )
        return int(at[0])

    def _worse(self) -> BoolArray:
        """Which were worse than the median of those that finished."""
        sign = -1.0 if self.maximize else 1.0
        return np.asarray(sign * (self.value - self.median) > 0)

    @property
    def tables(self) -> tuple[Table, ...]:
        places = [f"{r} of {n}" for r, n in zip(self.rank, self.of, strict=True)]
        known = bool(np.isfinite(self.expected).any())
        return (
            table(
                Column("trial", self.trial, number, TRIAL),
                Column(self.axis, self.step, number, STEP),
                Column("value there", self.value, number, VALUE),
                Column("place", places, str, STOOD),
                Column("median", self.median, number, MEDIAN, wide=True),
                Column("expected end", self.expected, number, EXPECTED) if known else None,
                Column(
                    f"{percent(self.level)} interval",
                    ends(self.low, self.high),
                    between(number),
                    EXPECTED,
                    wide=True,
                )
                if known
                else None,
                Column("chance to be best", self.chance, tenths, CHANCE) if known else None,
            ),
        )

    def _columns(self) -> dict[str, Any]:
        names = (
            "trial",
            "step",
            "value",
            "rank",
            "of",
            "median",
            "expected",
            "low",
            "high",
            "chance",
        )
        return self._fields(*names)


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def pruning(
    history: History, found: Paths, objective: str | None, level: float, seed: int
) -> Pruning | None:
    """What is known of the stopped trials; None where none was."""
    halted = np.flatnonzero(found.halted)
    if not len(halted):
        return None
    chosen = history.objective(objective)
    k, sign = history.objectives.index(chosen), chosen.sign
    finished = np.isfinite(found.final)
    best = np.nan if found.best is None else sign * history.trials[found.best].costs[k]
    told, drawn = _ends(found, seed)
    columns = _standing(history, found, halted)
    columns |= dict.fromkeys(("expected", "low", "high", "chance"), np.full(len(halted), np.nan))
    if len(told):
        at = np.searchsorted(halted, told)
        sides = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
        low, high = sides if not chosen.maximize else -sides[::-1]
        for name, known in (
            ("expected", sign * drawn.mean(axis=0)),
            ("low", low),
            ("high", high),
            ("chance", (drawn < best).mean(axis=0)),
        ):
            columns[name] = columns[name].copy()
            columns[name][at] = known
    better = (drawn < best).sum(axis=1) if len(told) else np.array([np.nan])
    sides = np.quantile(better, [(1 - level) / 2, (1 + level) / 2])
    columns["value"] = sign * found.latest[halted]
    columns["median"] = sign * columns["median"]
    judged = np.isfinite(columns["median"])
    worse = sign * (columns["value"] - columns["median"]) > 0
    hopes = np.nan_to_num(columns["chance"], nan=-1.0)
    order = np.lexsort((columns["trial"], sign * columns["value"], -hopes))[:MOST_TRIALS]
    pruned = all(found.ends[i] == "pruned" for i in halted.tolist())
    return Pruning(
        objective=chosen.name,
        maximize=chosen.maximize,
        axis=found.axis,
        noun=found.noun,
        word="pruned" if pruned else "stopped early",
        count=len(halted),
        trials=len(found.rows),
        **{name: values[order] for name, values in columns.items()},
        judged=int(judged.sum()),
        worse=int((worse & judged).sum()),
        told=len(told),
        finished=int(finished.sum()),
        best=sign * best,
        best_trial=None if found.best is None else history.trials[found.best].number,
        lost=float(better.mean()),
        lost_low=float(sides[0]),
        lost_high=float(sides[1]),
        chance_any=float((better > 0).mean()) if len(told) else float("nan"),
        level=level,
        seed=seed,
        notes=(*_by_whom(history, found, halted), *((SLOW,) if len(told) else ())),
    )


SLOW = (
    "Ends are learnt from those that went on: what none of them shows, such as a slow start that is "
    "made up later, is not known of the others either. In runs whose ends are known so many were lost "
    "as was said, on average, and intervals of that held; in which run, and by which trial, could "
    "hardly be told."
)


def _by_whom(history: History, found: Paths, halted: IntArray) -> tuple[str, ...]:
    """Who stopped them, as far as the run says why."""
    if found.axis != "step":
        return ()
    trials = [history.trials[found.rows[i]] for i in halted.tolist()]
    known = Counter(trial.reason for trial in trials if trial.reason)
    if not known:
        return ("Which pruner stopped them is not recorded with the run.",)
    reason, times = known.most_common(1)[0]
    whom = "all" if times == len(trials) else f"{times} of {len(trials)}"
    return (f"Why {whom} were stopped, as the run says: {reason.rstrip('.')}.",)


def _ends(found: Paths, seed: int) -> tuple[IntArray, FloatArray]:
    """Which stopped curves an end can be told of, and draws of it, from the steps of the stops."""
    stops = np.searchsorted(found.steps, found.last[found.halted], side="right") - 1
    columns = np.unique(stops)
    if len(columns) > MOST_STOPS:
        shares = np.linspace(0, 1, MOST_STOPS)
        columns = np.unique(np.quantile(stops, shares, method="lower"))
    return unseen_ends(found.values[:, columns], found.final, found.halted, seed)


def _standing(history: History, found: Paths, halted: IntArray) -> dict[str, Any]:
    """Where each stopped trial stood among those before it at the step of its last report; of
    configurations among all others, for their trials do not tell which came first."""
    number = np.array([history.trials[row].number for row in found.rows.tolist()])
    column = np.searchsorted(found.steps, found.last, side="right") - 1
    rank, of = np.ones(len(halted), dtype=np.int64), np.ones(len(halted), dtype=np.int64)
    median = np.full(len(halted), np.nan)
    for k, i in enumerate(halted.tolist()):
        there = np.isfinite(found.values[:, column[i]])
        there &= number < number[i] if found.noun == "trial" else number != number[i]
        others = found.values[there, column[i]]
        finished = found.values[there & np.isfinite(found.final), column[i]]
        rank[k], of[k] = 1 + int((others < found.latest[i]).sum()), 1 + len(others)
        if len(finished):
            median[k] = float(np.median(finished))
    step = found.last[halted]
    return {"trial": number[halted], "step": step, "rank": rank, "of": of, "median": median}
