"""The trials that would settle a question about a run, and how sure the answer would be after them.

Each trial is the configuration that lowers the variance of what is asked about most, given those before
it (surrogates/outlook/gain.py: exact, since the variance after an observation does not depend on what
is observed). Moosbauer et al. 2022 choose such trials by sampling; the additive process has them in
closed form. What is expected of them is the average over costs that may come
(surrogates/outlook/foresight.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.confirm import confirm_words as words
from hyperlens.explain.confirm.about import About, Kind, about_of
from hyperlens.explain.confirm.choosing import Chosen, choose, effects_of, exact, inside, rivals
from hyperlens.explain.confirm.sought import Sought
from hyperlens.explain.models.fitting import Fitted, fit
from hyperlens.explain.models.verdict import PLENTY, Verdict, judge, of_surrogate
from hyperlens.explain.next.failing import failing_notes
from hyperlens.explain.run.trials import Tick, ticks
from hyperlens.proposal import PROPOSAL, Proposal
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.quality import FEWEST, Quality
from hyperlens.surrogates.threads import one_thread
from hyperlens.tables import Column, Table, between, ends, table
from hyperlens.words import counted, number, percent, setting, tenths

MOST_TRIALS = 200


@dataclass(frozen=True)
class Confirm(Record):
    """Trials to run and what they are expected to settle.

    `configurations` are the trials, the most telling first, with the space's constants; inactive
    parameters are left out.

    `about` is what was asked. `rows` are the numbers that are to be surer: shares of the variance
    ("effect", "importance"), the mean cost of a region, or by how much the best is better than its
    rivals; `low` and `high` bound each now, `expected_low` and `expected_high` after the trials, on
    average over what may come of them. `left` is the part of the variance of what is asked about that
    is left after each trial. `places` and `known` are vectors of the trials to run and of those that
    are known, nan where a parameter is inactive.
    """

    objective: str
    kind: Kind
    about: tuple[str, ...]
    parameters: tuple[str, ...]
    configurations: tuple[Mapping[str, Any], ...]
    left: FloatArray
    rows: tuple[str, ...]
    value: FloatArray
    low: FloatArray
    high: FloatArray
    expected_low: FloatArray
    expected_high: FloatArray
    level: float
    repeats: int
    places: FloatArray
    known: FloatArray
    ticks: tuple[tuple[Tick, ...], ...]
    trials: int
    seed: int
    quality: Quality
    verdict: Verdict
    notes: tuple[str, ...] = ()

    @property
    def values(self) -> dict[str, tuple[Any, ...]]:
        """What each parameter is in each trial, None where it is inactive."""
        return {name: tuple(c.get(name) for c in self.configurations) for name in self.parameters}

    @property
    def mark(self) -> dict[str, Any]:
        """User attributes of an Optuna trial by which such a trial is known again."""
        return {PROPOSAL: Proposal("confirm", about=", ".join(self.about)).to_dict()}

    @property
    def sentence(self) -> str:
        """By how much the trials would narrow the widest of the intervals that are asked about."""
        return words.sentence(self)

    @property
    def in_shares(self) -> bool:
        """Are the rows shares of the variance, and not costs?"""
        return self.kind in ("effect", "importance")

    @property
    def settles(self) -> bool:
        """Is it expected that the trials narrow the intervals noticeably?"""
        now, then = words.widths(self)
        return then <= words.SETTLED * now

    @property
    def widest(self) -> int:
        """The row that is least sure now; of leads one that may be either way, if there is any."""
        width = self.high - self.low
        either = (self.low <= 0) & (self.high >= 0)
        if self.kind == "best" and either.any():
            width = np.where(either, width, -np.inf)
        return int(np.argmax(width))

    @property
    def tables(self) -> tuple[Table, ...]:
        """What is expected, and the trials."""
        form = tenths if self.in_shares else number
        title = f"{percent(self.level)} interval"
        expected = table(
            Column(words.ROWS[self.kind], self.rows),
            Column("now", self.value, form, "The estimate from the trials so far."),
            Column(title, ends(self.low, self.high), between(form), words.NOW),
            Column(
                "expected then",
                ends(self.expected_low, self.expected_high),
                between(form),
                words.THEN,
            ),
        )
        columns = (Column(name, values, setting) for name, values in self.values.items())
        order = Column("trial", [str(k + 1) for k in range(len(self.left))])
        return expected, table(order, *columns, Column("left", self.left, tenths, words.LEFT))

    def _columns(self) -> dict[str, Any]:
        values = {f"{n} value" if n == "left" else n: cells for n, cells in self.values.items()}
        return {**values, "left": self.left}


@of_a_run
def confirm(
    history: History,
    about: str | Sequence[str] = "importance",
    trials: int = 20,
    *,
    level: float = 0.9,
    seed: int = 0,
    objective: str | None = None,
) -> Confirm:
    """The trials that would settle a question, so many of them.

    `about` is a parameter, or a list of them: their effects; "importance": those of all parameters;
    a condition such as "lr < 0.01": the cost in that region; or "best": whether the best trial is
    better than its rivals, which are then tried again.
    """
    question = about_of(history, about)
    if not 1 <= trials <= MOST_TRIALS:
        raise AnalysisError(
            f"{counted(trials, 'trial')} cannot be chosen at once; ask for 1 to {MOST_TRIALS}."
        )
    if not 0 < level < 1:
        raise AnalysisError(f"An interval of {level} is not a level; choose one between 0 and 1.")
    fitted = fit(history, "additive", seed=seed, objective=objective)
    _check(history, fitted, question)
    with one_thread():
        chosen = choose(history, fitted, question, trials, seed, objective)
        sought = Sought.of(history, fitted, question, objective, seed)
        found = sought.expected(history, fitted, chosen.vectors, level, seed, objective)
    space = history.space
    return Confirm(
        objective=history.objective(objective).name,
        kind=question.kind,
        about=question.asked,
        parameters=space.names,
        configurations=tuple(map(space.whole, space.decode(chosen.vectors))),
        left=chosen.left,
        rows=sought.names,
        value=found.value,
        low=found.low,
        high=found.high,
        expected_low=found.expected_low,
        expected_high=found.expected_high,
        level=level,
        repeats=chosen.repeats,
        places=chosen.vectors,
        known=fitted.training.X.view(),
        ticks=tuple(ticks(p) for p in space.parameters),
        trials=len(fitted.training.y),
        seed=seed,
        quality=fitted.quality,
        verdict=judge([of_surrogate(fitted.quality)]),
        notes=(
            *_notes(fitted, question, chosen, trials),
            *failing_notes(history, objective, seed),
        ),
    )


def _check(history: History, fitted: Fitted, about: About) -> None:
    """Refuse what no trial can be chosen for yet."""
    model, count = fitted.model, len(fitted.training.y)
    assert isinstance(model, Additive)
    at_random = "run some at random first"
    if count < FEWEST:
        few = f"{counted(count, 'trial')} {'is' if count == 1 else 'are'} too few"
        raise AnalysisError(f"{few} to say which others would settle anything; {at_random}.")
    if not model.sets:
        raise AnalysisError(
            f"All {count} costs are equal, so nothing says which trials would settle anything; "
            f"{at_random}."
        )
    if fitted.quality.verdict == "do not trust":
        remedy = of_surrogate(fitted.quality).remedy if count >= PLENTY else at_random
        raise AnalysisError(
            f"The {fitted.quality.surrogate} predicts next to nothing of trials it has not seen (R2 "
            f"{fitted.quality.r2:.2f}), so it cannot say which would settle anything; {remedy}."
        )
    if about.kind in ("effect", "importance"):
        _check_effects(history, model, about)
    if about.kind == "region":
        assert about.condition is not None
        if not len(inside(history.space, about.condition, 0, 16)):
            raise AnalysisError(
                f"No configuration of this space has {about.text}; choose less strictly."
            )
    if about.kind == "best" and len(rivals(fitted)) < 2:
        raise AnalysisError(
            "Only one configuration was tried, so it has no rival; run others before asking whether "
            "it is best."
        )


def _check_effects(history: History, model: Additive, about: About) -> None:
    known = {history.space.names[j] for (j,) in effects_of(model, history.space, about)}
    for name in about.parameters if about.kind == "effect" else ():
        if name not in known:
            raise AnalysisError(
                f"'{name}' can have one value alone where it is active, so it has no effect to "
                "settle; name another parameter."
            )


def _notes(fitted: Fitted, about: About, chosen: Chosen, trials: int) -> tuple[str, ...]:
    notes = list(fitted.notes)
    found = len(chosen.vectors)
    if found < trials:
        untried = f"Only {counted(found, 'configuration')}"
        notes.append(f"{untried} could be chosen: this space has no more that are untried.")
    if chosen.repeats:
        notes.append(
            f"{counted(chosen.repeats, 'trial')} {'repeats' if chosen.repeats == 1 else 'repeat'} "
            "configurations that were tried; if your objective has no noise, leave repeats out."
        )
    elif about.kind == "best" and exact(fitted.training.X, fitted.training.y):
        notes.append("Repeated configurations had the same cost again, so none is repeated.")
    if not math.isfinite(float(chosen.left[-1])):
        notes.append("How much they settle is not known.")
    return tuple(notes)
