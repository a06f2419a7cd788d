"""Whether what was known before a search was right: its configurations beside the even ones of the
initial design.

Two groups of results are compared by Mann and Whitney's test: the part of pairs in which the guessed
configuration is better, and how likely that is by chance. A trial that failed is worse than all others.
A prior that leads ends the design early, so that often too few trials are left to tell help from chance;
of a prior it is said too how far from the guess itself the best trial lies in the end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History, State, Trial
from hyperlens.spaces.cube import FloatArray, IntArray
from hyperlens.tables import Column, Table, table
from hyperlens.words import counted, number, percent

HERE = 0.005  # of an axis: as near is the same
SURE = 0.05  # probability of chance below which it is said
EVEN = "even"
WORDS = {
    "first": "What was tried first",
    "prior": "The prior",
    "earlier": "What earlier runs say",
}
NAMES = {"first": "tried first", "prior": "prior", "earlier": "earlier runs", EVEN: "even design"}
PAIRS = (
    "Pairs of one of these and an even configuration in which this one did better; ties count half."
)
CHANCE = "How often chance alone tells two groups as far apart (Mann and Whitney's test)."


@dataclass(frozen=True)
class Hindsight(Record):
    """Trials of the initial design, and of each kind of knowledge how it did beside the even ones.

    `origin` of a trial is "first", "prior", "earlier" or "even"; `result` is nan where it failed. Of
    each of `knowledge` there are `configurations`; `better` is the part of pairs that it wins and `p`
    how likely that is by chance, both nan where no configuration was even. Of what a prior guessed the
    best trial of all differs most in the parameter `farthest`, by `away` of its axis (1 of a category);
    nan where that is not known.
    """

    objective: str
    maximize: bool
    trial: IntArray
    origin: tuple[str, ...]
    result: FloatArray
    knowledge: tuple[str, ...]
    configurations: IntArray
    better: FloatArray
    p: FloatArray
    farthest: str = ""
    away: float = np.nan
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """Whether each kind of knowledge helped or misled."""
        return " ".join(self.lead)

    @property
    def lead(self) -> tuple[str, ...]:
        """One sentence or two for each kind, and where the search ended."""
        rows = zip(self.knowledge, self.configurations, self.better, self.p, strict=True)
        said = [
            self._said(kind, int(count), float(better), float(p)) for kind, count, better, p in rows
        ]
        return (*said, self._ended) if self._ended else tuple(said)

    @property
    def _ended(self) -> str:
        """How far the best trial of all lies from the guess."""
        if np.isnan(self.away):
            return ""
        if self.away < HERE:
            return "The best trial of the search is what was guessed."
        if self.away == 1.0:
            return f"The best trial of the search has another {self.farthest} than was guessed."
        return (
            f"The best trial of the search lies up to {percent(self.away)} of an axis "
            f"({self.farthest}) from what was guessed."
        )

    def verdict_of(self, kind: str) -> str:
        """ "helped", "misled", or "not known"."""
        at = self.knowledge.index(kind)
        if not self.p[at] < SURE:
            return "not known"
        return "helped" if self.better[at] > 0.5 else "misled"

    def median(self, kind: str) -> float:
        """The median result of a kind, or of the even ones; failures count as the worst."""
        own = self.result[[origin == kind for origin in self.origin]]
        bad = -np.inf if self.maximize else np.inf
        return float(np.median(np.where(np.isnan(own), bad, own))) if len(own) else np.nan

    @property
    def tables(self) -> tuple[Table, ...]:
        even = self.origin.count(EVEN)
        kinds = (*self.knowledge, EVEN) if even else self.knowledge
        return (
            table(
                Column("knowledge", [NAMES[kind] for kind in kinds]),
                Column("configurations", [self.origin.count(kind) for kind in kinds]),
                Column(f"median {self.objective}", [self.median(kind) for kind in kinds], number),
                Column("pairs won", np.r_[self.better, [np.nan] * bool(even)], _part, PAIRS),
                Column("p", np.r_[self.p, [np.nan] * bool(even)], number, CHANCE),
            ),
        )

    def _columns(self) -> dict[str, Any]:
        return self._fields("trial", "origin", "result")

    def _said(self, kind: str, count: int, better: float, p: float) -> str:
        words, even = WORDS[kind], self.origin.count(EVEN)
        if not even:
            return f"{words} cannot be judged: no configuration was even."
        whose = f"{'its' if kind == 'prior' else 'these'} {counted(count, 'configuration')}"
        if count == 1:
            whose = f"{'its' if kind == 'prior' else 'this'} configuration"
        evens = f"the {even} even ones" if even > 1 else "the even one"
        pairs = f"{whose} did better than {evens} in {number(100 * better)} % of the pairs"
        if p >= SURE:
            what = words[0].lower() + words[1:]
            chance = f"which may be chance (p {number(p)})"
            return f"Whether {what} helped is not known: {pairs}, {chance}."
        return f"{words} {self.verdict_of(kind)}: {pairs} (p {number(p)})."


def knew(history: History) -> bool:
    """Did the run begin with something that was known beforehand?"""
    return any(_origin(trial) not in (None, EVEN) for trial in history.trials)


@of_a_run
def hindsight(history: History, objective: str | None = None) -> Hindsight:
    """Whether the prior, the first configurations and the earlier runs that a search began with helped
    or misled: their trials beside the even ones of its initial design."""
    if not knew(history):
        raise AnalysisError(
            "This run began with nothing that was known beforehand; give prior, first or learn_from "
            "to hl.minimize."
        )
    measured = history.objective(objective)
    k = history.objectives.index(measured)
    design = [trial for trial in history.trials if _origin(trial) is not None]
    origin = tuple(str(_origin(trial)) for trial in design)
    ended = [t.state is State.COMPLETE and bool(np.isfinite(t.costs[k])) for t in design]
    result = np.array([t.costs[k] if e else np.nan for t, e in zip(design, ended, strict=True)])
    costs = {
        kind: np.array(
            [measured.sign * y for y, o in zip(result, origin, strict=True) if o == kind]
        )
        for kind in (*WORDS, EVEN)
    }
    knowledge = tuple(kind for kind in WORDS if len(costs[kind]))
    told = [_compared(costs[kind], costs[EVEN]) for kind in knowledge]
    farthest, away = _distance(history, design, objective)
    return Hindsight(
        objective=measured.name,
        maximize=measured.maximize,
        trial=np.array([trial.number for trial in design]),
        origin=origin,
        result=result,
        knowledge=knowledge,
        configurations=np.array([len(costs[kind]) for kind in knowledge]),
        better=np.array([better for better, _ in told]),
        p=np.array([p for _, p in told]),
        farthest=farthest,
        away=away,
        notes=_notes(len(ended) - sum(ended), len(design), [len(c) for c in costs.values()]),
    )


def _notes(failed: int, design: int, sizes: list[int]) -> tuple[str, ...]:
    """`sizes` of the kinds of knowledge, and last of the even ones."""
    notes = ["Help is judged by the initial design alone."]
    *guessed, even = sizes
    if even and all(2 / math.comb(n + even, n) >= SURE for n in guessed if n):
        notes.append(
            f"So few trials ({max(guessed)} beside {counted(even, 'even one')}) cannot tell help from "
            "chance, however they come out."
        )
    if failed:
        of_it = f"{failed} of the {counted(design, 'trial')} of the initial design failed"
        notes.append(f"{of_it}, which is worse than all others.")
    return tuple(notes)


def _distance(history: History, design: list[Trial], objective: str | None) -> tuple[str, float]:
    """The parameter in which the best trial is farthest from the guess itself, the first of a prior, and
    how far, in parts of its axis."""
    guess = next((trial for trial in design if _origin(trial) == "prior"), None)
    space = history.space
    if guess is None or not len(history.data(objective).y):
        return "", np.nan
    there, here = space.encode([guess.values, history.best(objective).values])
    categories = np.array([not axis.ordered for axis in space.cube.axes])
    apart = np.where(categories, there != here, np.abs(there - here))
    told = np.isin(space.names, guess.proposal.guessed if guess.proposal else ())
    apart[~told | np.isnan(there) | np.isnan(here)] = -1.0  # inactive ones are nan
    at = int(np.argmax(apart))
    return (space.names[at], float(apart[at])) if apart[at] >= 0 else ("", np.nan)


def _origin(trial: Trial) -> str | None:
    """What of the initial design a trial is; None if it is not of it."""
    if trial.proposal is None or trial.proposal.kind != "initial":
        return None
    about = trial.proposal.about
    return about if about in WORDS else EVEN


def _compared(guessed: FloatArray, even: FloatArray) -> tuple[float, float]:
    """Part of pairs in which the guessed cost is smaller, and how likely that is by chance."""
    from scipy.stats import mannwhitneyu, rankdata  # here, because scipy.stats takes long to import

    if not len(even):
        return np.nan, np.nan
    both = np.nan_to_num(np.r_[guessed, even], nan=np.inf, posinf=np.inf, neginf=-np.inf)
    ranks = rankdata(both)  # infinities are ranks too
    one, other = ranks[: len(guessed)], ranks[len(guessed) :]
    better = float(np.mean((one[:, None] < other) + 0.5 * (one[:, None] == other)))
    if len(set(ranks.tolist())) == 1:
        return better, 1.0
    return better, float(mannwhitneyu(one, other).pvalue)


def _part(share: float) -> str:
    return "–" if np.isnan(share) else percent(share)
