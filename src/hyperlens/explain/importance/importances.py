"""Both questions beside each other: what mattered over the whole space, and what among the good."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.explain.importance.importance import INTERVAL, SHARE, Importance, importance
from hyperlens.explain.importance.importance_words import column_title, where
from hyperlens.explain.importance.questions import LeadingQuestion, leading_question
from hyperlens.explain.models.verdict import Verdict
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.protocol import SurrogateKind
from hyperlens.surrogates.quality import Quality
from hyperlens.tables import Column, Table, between, ends, table
from hyperlens.words import counted, percent, rank, tenths

RANK = "Between which places this effect stays"


@dataclass(frozen=True)
class Importances(Record):
    """Importance over the whole space and among the good, and which of the two the run answers."""

    whole: Importance
    good: Importance
    question: LeadingQuestion

    @property
    def leading(self) -> Importance:
        """The answer that the run supports better."""
        return self.good if self.question.among == "good" else self.whole

    @property
    def other(self) -> Importance:
        """The answer to the other question."""
        return self.whole if self.question.among == "good" else self.good

    @property
    def beside(self) -> dict[str, FloatArray]:
        """Share, low and high of the other answer, in the order of the leading one's effects."""
        other = self.other
        at = {frozenset(names): k for k, names in enumerate(other.parameters)}
        rows = [at.get(frozenset(names), -1) for names in self.leading.parameters]
        columns = {"share": other.share, "low": other.low, "high": other.high}
        return {
            name: np.array([numbers[k] if k >= 0 else 0.0 for k in rows])
            for name, numbers in columns.items()
        }

    @property
    def objective(self) -> str:
        return self.whole.objective

    @property
    def verdict(self) -> Verdict:
        return self.leading.verdict

    @property
    def quality(self) -> Quality:
        return self.leading.quality

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.leading.notes, *self.other.notes)))

    @property
    def heading(self) -> str:
        return f"Importance for {self.objective}, from {counted(self.whole.trials, 'trial')}"

    @property
    def sentence(self) -> str:
        """The answer to the leading question."""
        return self.leading.sentence

    @property
    def lead(self) -> tuple[str, ...]:
        answered = (self.question.sentence,) if self.verdict.known else ()
        return self.sentence, *answered, self.leading.meaning

    @property
    def tables(self) -> tuple[Table, ...]:
        first, beside = self.leading, self.beside
        places = ends(first.rank_low, first.rank_high)
        columns = [
            Column("effect", first.names),
            *_answer(first, first.share, first.low, first.high),
            *_answer(self.other, beside["share"], beside["low"], beside["high"], wide=True),
            *first.where_active,
        ]
        if first.level is not None:
            place = Column("rank", places, lambda ends: rank(*ends), f"{RANK} {where(first)}.")
            columns.insert(3, place)
        if first.secondary_name is not None:
            meaning = f"The share that another surrogate gives {where(first)}: a second opinion."
            columns.append(
                Column(first.secondary_name, first.secondary, tenths, meaning, wide=True)
            )
        return (table(*columns),)

    def _columns(self) -> dict[str, Any]:
        """Each number over the whole space as in its own answer; those among the good are named so."""
        leading, beside = self.leading, self.beside
        own = {name: getattr(leading, name) for name in beside}
        good, whole = (own, beside) if leading is self.good else (beside, own)
        return (
            {"parameters": leading.parameters}
            | whole
            | {f"good_{name}": numbers for name, numbers in good.items()}
        )


def _answer(
    record: Importance, share: FloatArray, low: FloatArray, high: FloatArray, wide: bool = False
) -> list[Column]:
    """A share and its interval, for one of the questions; `wide`: no interval where room is scarce."""
    part = where(record)
    columns = [Column(f"share, {column_title(record)}", share, tenths, SHARE.format(part=part))]
    if record.level is not None:
        interval = f"{percent(record.level)} interval"
        columns.append(Column(interval, ends(low, high), between(tenths), INTERVAL, wide))
    return columns


@of_a_run
def importances(
    history: History,
    order: int = 2,
    *,
    quantile: float | None = None,
    level: float | None = 0.9,
    surrogate: SurrogateKind | None = None,
    trees: int = 64,
    seed: int = 0,
    objective: str | None = None,
    budget: float | None = None,
) -> Importances:
    """`importance` over the whole space and among the good, and which of the two leads.

    The question leads that the run answers better: the one with the narrower intervals, among the good
    only if the search has been there.
    """
    how: dict[str, Any] = {
        "level": level,
        "surrogate": surrogate,
        "trees": trees,
        "seed": seed,
        "objective": objective,
        "budget": budget,
    }
    whole = importance(history, order, **how)
    good = importance(history, order, among="good", quantile=quantile, **how)
    return Importances(whole, good, leading_question(whole, good))
