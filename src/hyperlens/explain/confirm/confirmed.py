"""What came of trials that were run to settle a question: as it was, as it was expected, as it is.

They are known by what is recorded with them: a proposal of the kind "confirm" that no search made; or,
where nothing is, as the last so many of a run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.confirm.about import About, Kind, about_of
from hyperlens.explain.confirm.confirm_words import ROWS, came_of_it
from hyperlens.explain.confirm.sought import Sought
from hyperlens.explain.models.fitting import Fitted, fit
from hyperlens.explain.models.verdict import Verdict, judge, of_surrogate
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History, Trial
from hyperlens.spaces.cube import FloatArray, IntArray
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.threads import one_thread
from hyperlens.tables import Column, Table, between, ends, table
from hyperlens.words import counted, number, percent, tenths

SEARCHES = ("smbo",)  # whose own trials for the explanation have no before and after


@dataclass(frozen=True)
class Confirmed(Record):
    """Intervals of the numbers that were asked about: before the trials, as they were expected after
    them by what was known before, and after them. `number` are those trials."""

    objective: str
    kind: Kind
    about: tuple[str, ...]
    number: IntArray
    rows: tuple[str, ...]
    before: FloatArray
    before_low: FloatArray
    before_high: FloatArray
    expected_low: FloatArray
    expected_high: FloatArray
    after: FloatArray
    after_low: FloatArray
    after_high: FloatArray
    level: float
    verdict: Verdict
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What the trials made of the widest interval, beside what was expected."""
        return came_of_it(self)

    @property
    def in_shares(self) -> bool:
        return self.kind in ("effect", "importance")

    @property
    def widest(self) -> int:
        """The row that was least sure."""
        return int(np.argmax(self.before_high - self.before_low))

    @property
    def tables(self) -> tuple[Table, ...]:
        form = tenths if self.in_shares else number
        level = percent(self.level)
        limits = (
            ("before", self.before_low, self.before_high, "From the trials before these."),
            (
                "expected",
                self.expected_low,
                self.expected_high,
                "As foreseen before they were run.",
            ),
            ("after", self.after_low, self.after_high, "From all trials."),
        )
        return (
            table(
                Column(ROWS[self.kind], self.rows),
                Column("now", self.after, form, "The estimate from all trials."),
                *(
                    Column(f"{level} interval {when}", ends(low, high), between(form), meaning)
                    for when, low, high, meaning in limits
                ),
            ),
        )

    def _columns(self) -> dict[str, Any]:
        return self._fields(
            "rows", "before", "before_low", "before_high", "expected_low", "expected_high", "after",
            "after_low", "after_high",
        )  # fmt: skip


def is_confirmation(trial: Trial) -> bool:
    """Was it run to settle a question, and not by a search that spends a part on explanations?"""
    proposal = trial.proposal
    return (
        proposal is not None and proposal.kind == "confirm" and proposal.optimizer not in SEARCHES
    )


def before_confirmation(history: History) -> History:
    """The run without the trials that settle a question."""
    return _without(history, {t.number for t in history.trials if is_confirmation(t)})


def _without(history: History, numbers: set[int]) -> History:
    return replace(history, trials=tuple(t for t in history.trials if t.number not in numbers))


@of_a_run
def confirmed(
    history: History,
    about: str | Sequence[str] | None = None,
    trials: int | None = None,
    *,
    level: float = 0.9,
    seed: int = 0,
    objective: str | None = None,
) -> Confirmed:
    """What the trials of a run that were run to settle a question have settled.

    A run that keeps which trials these are, and `about` what, is asked without either: one of `hyperlens
    tune --confirm`, or an Optuna study whose trials were enqueued from `hyperlens confirm --out`. Of
    any other they are its last `trials`.
    """
    marked = _marked(history, trials)
    rows = set(history.data(objective).rows.tolist()) if marked else set()
    done = [t for k, t in enumerate(history.trials) if k in rows and t.number in marked]
    if not done:
        state = "is complete yet" if marked else "was run to settle a question"
        raise AnalysisError(
            f"No trial of this run {state}; run those of 'hyperlens confirm', and name how many of the "
            "last they are (--trials, trials= in Python) where a run does not keep it."
        )
    asked = Counter(t.proposal.about or "importance" for t in done if t.proposal)
    searched = _without(history, marked)
    question = _question(searched, about, asked)
    earlier, now = (_fitted(part, seed, objective) for part in (searched, history))
    X = history.space.encode([t.values for t in done])
    with one_thread():
        sought = Sought.of(searched, earlier, question, objective, seed)
        before = sought.expected(searched, earlier, X, level, seed, objective)
        after = sought.expected(history, now, X[:0], level, seed, objective)
    return Confirmed(
        objective=history.objective(objective).name,
        kind=question.kind,
        about=question.asked,
        number=np.array([t.number for t in done]),
        rows=sought.names,
        before=before.value,
        before_low=before.low,
        before_high=before.high,
        expected_low=before.expected_low,
        expected_high=before.expected_high,
        after=after.value,
        after_low=after.low,
        after_high=after.high,
        level=level,
        verdict=judge([of_surrogate(now.quality)]),
        notes=_notes(len(marked), len(done), 1 if about else len(asked)),
    )


def _marked(history: History, trials: int | None) -> set[int]:
    """Numbers of the trials that were to settle something."""
    if trials is None:
        return {t.number for t in history.trials if is_confirmation(t)}
    if not 1 <= trials < len(history.trials):
        raise AnalysisError(
            f"The last {trials} of {counted(len(history.trials), 'trial')} have none before them to be "
            f"compared with; name 1 to {len(history.trials) - 1}."
        )
    return {t.number for t in history.trials[-trials:]}


def _question(searched: History, about: str | Sequence[str] | None, asked: Counter[str]) -> About:
    """What is asked, or else what most of the trials were run for."""
    if about:
        return about_of(searched, about)
    text = asked.most_common(1)[0][0] if asked else "importance"
    names = [part.strip() for part in text.split(",")]
    return about_of(searched, names if set(names) <= set(searched.space.names) else text)


def _fitted(history: History, seed: int, objective: str | None) -> Fitted:
    fitted = fit(history, "additive", seed=seed, objective=objective)
    assert isinstance(fitted.model, Additive)
    if not fitted.model.sets:
        raise AnalysisError(
            "All costs are equal, so nothing could be settled; run trials with other costs."
        )
    return fitted


def _notes(marked: int, done: int, questions: int) -> tuple[str, ...]:
    notes = []
    if done < marked:
        notes.append(f"{counted(marked - done, 'trial')} of {marked} left no cost to learn from.")
    if questions > 1:
        notes.append(f"The trials were run for {questions} questions; shown is the most frequent.")
    return tuple(notes)
