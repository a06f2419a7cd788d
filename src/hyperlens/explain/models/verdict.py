"""May what is shown be believed? A verdict on one result, not on the run, by rules that all share.

Cross-validation asks how well a surrogate predicts where the search looked; what is shown is about
the whole space. So how well it predicts is one ground among others, and the worst ground decides:

    do not trust   fewer than 10 trials prove nothing
                   R2 below 0.3: the surrogate has learnt too little to be explained
                   an interval of the largest share over 0.6 wide leaves open what matters
                   an effect of which fewer than 5 trials are, a region without a trial
    caution        R2 below 0.7, or a band that does not hold: large effects only
                   more than half of the configurations left out, or their costs predicted
                   a level with fewer than 5 trials, or so few in 0.3 of a range: guessed there
                   an interval of the largest share, or of H, over 0.3 wide
                   a second opinion that gives the first effect less than half of its own first
                   a band wider than the whole effect, a change smaller than its uncertainty
                   a region with fewer than 5 trials

What is not to be trusted is called not known, or a guess, wherever it is said in words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from hyperlens.explain.models.fitting import Fitted
from hyperlens.explain.models.support import FEW, Sparse, sparse
from hyperlens.explain.models.training import Training
from hyperlens.explain.run.failures import outcomes
from hyperlens.runs.history import History, State
from hyperlens.spaces.cube import FloatArray
from hyperlens.spaces.points import different
from hyperlens.surrogates.quality import FAIR_R2, FEWEST, GOOD_R2, Quality, Word
from hyperlens.words import counted, decimals, number, percent, tenths

MOST_LEFT_OUT = 0.5
WIDE, TOO_WIDE = 0.3, 0.6  # an interval of a share
ENOUGH = 20  # trials that are asked for in one part of a range, at the most
PLENTY = 500  # trials: where so many tell nothing, twice as many will not
WORDS: tuple[Word, ...] = ("trust", "caution", "do not trust")
SAID = {
    "trust": "This can be trusted",
    "caution": "Read this with caution",
    "do not trust": "Do not trust this",
}


@dataclass(frozen=True)
class Ground:
    """What speaks for or against a result, and what would help."""

    word: Word
    reason: str
    remedy: str = ""


@dataclass(frozen=True)
class Verdict:
    """The decisive ground in a sentence; `besides` are the reasons of all others against the result."""

    word: Word
    reason: str
    remedy: str
    besides: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        remedy = f" {_capital(self.remedy)}." if self.remedy else ""
        return f"{SAID[self.word]}: {self.reason}.{remedy}"

    @property
    def known(self) -> bool:
        """May anything be said of what is shown?"""
        return self.word != "do not trust"


def judge(grounds: Iterable[Ground | None]) -> Verdict:
    """The first of the worst grounds decides."""
    present = [ground for ground in grounds if ground is not None]
    worst = max(present, key=lambda ground: WORDS.index(ground.word))
    others = (g.reason for g in present if g is not worst and g.word != "trust")
    return Verdict(worst.word, worst.reason, worst.remedy, tuple(others))


def grounds(history: History, fitted: Fitted, columns: Iterable[int]) -> tuple[Ground, ...]:
    """What every result about these parameters rests on: surrogate, trials learnt from, support."""
    data = fitted.training
    if fitted.quality.trials < FEWEST:  # wherever they lie
        return (of_surrogate(fitted.quality),)
    found = (
        of_surrogate(fitted.quality),
        _left_out(history, data),
        *_supports(sparse(history.space, data.X, columns, failed_vectors(history))),
    )
    return tuple(ground for ground in found if ground is not None)


def of_surrogate(quality: Quality) -> Ground:
    """How well the surrogate predicts trials that it has not seen."""
    name, trials = quality.surrogate, quality.trials
    r2 = f"R2 {decimals(quality.r2)}"
    if quality.verdict == "trust":
        return Ground("trust", f"the {name} predicts trials it has not seen, {r2}")
    if quality.verdict == "caution":
        if not quality.folds:
            reason = "the given surrogate was not fitted here, so how well it predicts is not known"
            return Ground("caution", reason)
        if quality.r2 >= GOOD_R2:
            held = tenths(quality.coverage)
            return Ground("caution", f"the 95 % band of the {name} holds {held} of unseen trials")
        return Ground(
            "caution",
            f"the {name} predicts trials it has not seen only roughly, {r2}",
            f"run about {trials} more trials before acting on small effects",
        )
    if trials < FEWEST:
        verb = "proves" if trials == 1 else "prove"
        reason = f"{counted(trials, 'trial')} {verb} nothing"
        remedy = f"run at least {FEWEST} before acting on this"
    elif quality.folds < 2:
        reason, remedy = f"all {trials} trials are of one configuration", "run others too"
    elif math.isnan(quality.r2):
        reason, remedy = f"all {trials} costs are equal", "run trials with other costs"
    else:
        reason = f"the {name} predicts next to nothing of trials it has not seen, {r2}"
        remedy = f"run at least twice the {trials} trials there are, before acting on this"
        if trials >= PLENTY:
            remedy = (
                "repeat some configurations to see what is noise, and look for what else differs"
            )
    return Ground("do not trust", reason, remedy)


def _left_out(history: History, data: Training) -> Ground | None:
    """How many configurations that ended are not learnt from, or with a cost that none measured."""
    tried, kept = _tried_and_kept(history, data)
    if kept < MOST_LEFT_OUT * tried:
        reason = f"{kept} of {tried} configurations were learnt from, the others were left out"
        return Ground("caution", reason, "let more trials end with a cost")
    predicted = int((~data.measured).sum())
    if predicted > MOST_LEFT_OUT * len(data.y):
        reason = (
            f"{predicted} of {len(data.y)} costs are predicted from pruned trials or lower budgets"
        )
        return Ground("caution", reason, "let more trials run to the end")
    return None


def _tried_and_kept(history: History, data: Training) -> tuple[int, int]:
    """How many different configurations ended, and how many are learnt from; the same for every answer
    from the same data, so that they are counted once."""
    last: tuple[Training, tuple[int, int]] | None = history.memory.get("tried and kept")
    if last is None or last[0] is not data:
        ended = [t.state is not State.RUNNING for t in history.trials]
        tried = different(history.vectors if all(ended) else history.vectors[ended])
        last = data, (tried, different(data.X))
        history.memory["tried and kept"] = last
    return last[1]


def failed_vectors(history: History) -> FloatArray:
    """Vectors of the trials that failed, in any way and of any objective, looked for once."""
    found: FloatArray | None = history.memory.get("failed")
    if found is None:
        ways = [way for o in history.objectives for way in outcomes(history, o.name)[0].values()]
        found = history.memory["failed"] = history.vectors[np.any(ways, axis=0)]
    return found


def _supports(places: Iterable[Sparse]) -> Iterable[Ground]:
    for place in places:
        if place.failed >= max(FEW, place.trials):
            reason = f"{_hardly(place)}, and {counted(place.failed, 'more trial')} failed there"
            remedy = f"mend what fails where {place.where}, or leave that out of the space"
            yield Ground("caution", reason, remedy)
            continue
        wanted = max(FEW, math.ceil(place.part * place.of)) - place.trials
        yield Ground(
            "caution",
            _hardly(place),
            f"run {counted(min(max(wanted, 1), ENOUGH), 'more trial')} where {place.where}",
        )


def _hardly(place: Sparse) -> str:
    """How few trials lie there, and of how many."""
    among = counted(place.of, "trial")
    if place.seldom:
        return f"{place.where} in {f'only {place.trials}' if place.trials else 'none'} of {among}"
    if place.active:
        among = f"the {among} in which {place.active} is active"
    count = f"only {place.trials}" if place.trials else "none"
    part = f", {percent(place.part)} of its {place.of_what}" if place.part < 1 else ""
    return f"{count} of {among} {'lies' if place.trials < 2 else 'lie'} where {place.where}{part}"


def of_share(name: str, low: float, high: float) -> Ground | None:
    """How wide the interval of the largest share is."""
    if not high - low > WIDE:
        return None
    return Ground(
        "do not trust" if high - low > TOO_WIDE else "caution",
        f"the share of {name} may be anything from {tenths(low)} to {tenths(high)}",
        f"run {ENOUGH} more trials where they tell most, see 'hyperlens confirm'",
    )


def of_second_opinion(
    names: tuple[str, ...], secondary: FloatArray, quality: Quality | None
) -> Ground | None:
    """Does the other surrogate give the first effect at least half of what it gives its own first?"""
    if quality is None or not quality.r2 >= FAIR_R2 or not len(names):
        return None
    own = int(np.argmax(np.nan_to_num(secondary)))
    if not secondary[0] < secondary[own] / 2:
        return None
    return Ground(
        "caution",
        f"the {quality.surrogate} puts {names[own]} first with {tenths(float(secondary[own]))} and "
        f"gives {names[0]} {tenths(float(secondary[0]))}",
        f"run {ENOUGH} trials at random, to see which of the two is right",
    )


def of_band(width: float, change: float, what: str = "the mean changes by") -> Ground | None:
    """Is what is shown larger than how unsure it is?"""
    if not width > change > 0:
        return None
    return Ground(
        "caution",
        f"{what} {number(change, 2)} in all and its band is {number(width, 2)} wide",
        "run more trials before choosing a value by it",
    )


def of_one_value(name: str) -> Ground:
    """That nothing was tried which its effect could be told from."""
    reason = f"{name} has one value in all analysed trials"
    return Ground("do not trust", reason, f"run trials with other values of {name}")


def of_trials(name: str, trials: int) -> Ground | None:
    """Are there trials in which it is active?"""
    if trials >= FEW:
        return None
    verb = "are" if " and " in name else "is"
    reason = f"{name} {verb} active in {counted(trials, 'trial') if trials else 'no trial'}"
    return Ground("do not trust", reason, f"run {counted(FEW - trials, 'more trial')} with it")


def of_region(rule: str, trials: int) -> Ground | None:
    """Were there trials in the region that is spoken of?"""
    if trials >= FEW:
        return None
    return Ground(
        "caution" if trials else "do not trust",
        f"the region where {rule} holds {counted(trials, 'trial') if trials else 'no trial'}",
        f"run {counted(FEW - trials, 'trial')} there",
    )


def guessed(verdict: Verdict, sentence: str) -> str:
    """A sentence on a result, called a guess where it is not to be trusted."""
    if verdict.known:
        return sentence
    return f"Not known, only a guess: {sentence[0].lower()}{sentence[1:]}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
