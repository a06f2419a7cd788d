"""Everything a report says about a run, computed once.

The command line, the JSON file and the HTML file all show this one record.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.effects.effect import Effect, effect
from hyperlens.explain.effects.regions import Regions, regions
from hyperlens.explain.importance.ablation import Ablation, ablation
from hyperlens.explain.importance.importance import Importance, importance
from hyperlens.explain.importance.interactions import Interactions, interactions
from hyperlens.explain.importance.local_importance import LocalImportance, local_importance
from hyperlens.explain.models.fitting import Fitted, SurrogateName, fit, leader
from hyperlens.explain.proposals.path import ProposalPath, path
from hyperlens.explain.run.bias import Bias, bias
from hyperlens.explain.run.compare_runs import RunComparison, compare_runs
from hyperlens.explain.run.footprint import Footprint, footprint
from hyperlens.explain.run.overview import Overview, overview
from hyperlens.explain.run.spending import Spending, spending
from hyperlens.explain.run.timeline import Timeline, timeline
from hyperlens.explain.run.trials import Trials, trials
from hyperlens.plain import as_json, plain
from hyperlens.record import Record
from hyperlens.runs.history import History
from hyperlens.surrogates.quality import Quality

if TYPE_CHECKING:
    import pandas as pd

MOST_EFFECTS = 12  # cards of single parameters, the most important ones
MOST_PAIRS = 3  # cards of pairs, the strongest interactions
PAIR_SHARE = 0.005  # an interaction below this share gets no card
PAIR_GRID = 15  # points along each side of a pair's grid
MOST_REGIONS = 3  # cards of regions, of the most important parameters
REGION_SPLITS = 5
MOST_PROPOSALS = 60  # explained, evenly over the run
MANY_TRIALS = 500  # beyond, one card of regions

Progress = Callable[[str, float], None]  # what is being done, how much is done (0 to 1)


@dataclass(frozen=True)
class Unavailable(Record):
    """A result that could not be computed, and the sentence that says why."""

    what: str
    why: str
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        return self.why

    @property
    def frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame({"what": [self.what], "why": [self.why]})


@dataclass(frozen=True)
class Analysis:
    """The records of a whole explanation, most important parameter first."""

    overview: Overview
    trials: Trials
    timeline: Timeline | Unavailable
    footprint: Footprint | Unavailable
    spending: Spending | Unavailable
    qualities: tuple[Quality, ...]
    importance: Importance | Unavailable
    effects: tuple[Effect | Unavailable, ...]
    regions: tuple[Regions | Unavailable, ...]
    pairs: tuple[Effect | Unavailable, ...]
    interactions: Interactions | Unavailable
    ablation: Ablation | Unavailable
    local: LocalImportance | Unavailable
    bias: Bias | Unavailable
    proposals: (
        ProposalPath | Unavailable | None
    )  # None where no proposal was recorded and none asked for
    beside: RunComparison | Unavailable | None
    warnings: tuple[str, ...]
    version: str
    seed: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "hyperlens": self.version,
            "seed": self.seed,
            "overview": self.overview.to_dict(),
            "trials": self.trials.to_dict(),
            "timeline": self.timeline.to_dict(),
            "footprint": self.footprint.to_dict(),
            "spending": self.spending.to_dict(),
            "qualities": plain(self.qualities),
            "importance": self.importance.to_dict(),
            "effects": [e.to_dict() for e in self.effects],
            "regions": [r.to_dict() for r in self.regions],
            "pairs": [e.to_dict() for e in self.pairs],
            "interactions": self.interactions.to_dict(),
            "ablation": self.ablation.to_dict(),
            "local": self.local.to_dict(),
            "bias": self.bias.to_dict(),
            "proposals": None if self.proposals is None else self.proposals.to_dict(),
            "beside": None if self.beside is None else self.beside.to_dict(),
            "warnings": list(self.warnings),
        }

    def to_json(self) -> str:
        return as_json(self.to_dict())


def analyse(
    history: History,
    *,
    objective: str | None = None,
    seed: int = 0,
    level: float | None = 0.9,
    others: Mapping[str, History] | None = None,
    most_regions: int = MOST_REGIONS,
    proposals: bool | None = False,
    progress: Progress = lambda what, done: None,
) -> Analysis:
    """Compute all records of the report. What fails is said in its place; the rest still comes.

    `others` are runs to show beside this one, by their names. `most_regions` is for how many
    parameters regions are grown at the most. Proposals are explained where the run recorded them,
    or where `proposals` asks for it; None leaves them out.
    """
    from hyperlens import __version__

    seen = overview(history, objective)
    warnings: list[str] = []
    progress("fitting the forest", 0.05)
    fits = {
        "forest": attempt(
            "random forest", lambda: fit(history, "forest", seed=seed, objective=objective)
        )
    }
    progress("importance and its intervals", 0.15)
    shares = attempt(
        "importance",
        lambda: importance(history, level=level, seed=seed, objective=objective),
    )
    progress("fitting the Gaussian process", 0.4)
    fits["gp"] = attempt(
        "Gaussian process", lambda: fit(history, "gp", seed=seed, objective=objective)
    )
    fitted = {name: f for name, f in fits.items() if isinstance(f, Fitted)}
    warnings += [f.why for f in fits.values() if isinstance(f, Unavailable)]
    warnings += [note for f in fitted.values() for note in f.notes]
    led: SurrogateName = "forest"
    if len(fitted) == 2:
        led = leader(fitted["gp"], fitted["forest"]).name
    names, pairs = _chosen(history, shares)
    effects: list[Effect | Unavailable] = []
    for k, subject in enumerate([*names, *pairs]):
        progress(f"effect of {' and '.join(subject)}", 0.6 + 0.2 * k / (len(names) + len(pairs)))
        effects.append(_effect(history, subject, led, seed, objective))
    many = len(seen.cost) > MANY_TRIALS
    parts: list[Regions | Unavailable] = []
    for (name,) in names[: min(_region_cards(history, led, many), most_regions)]:
        progress(f"regions of {name}", 0.8 + 0.1 * len(parts) / MOST_REGIONS)
        parts.append(_regions(history, name, led, seed, objective))
    progress("interactions", 0.9)
    together = attempt(
        "interactions",
        lambda: interactions(
            history,
            surrogate=led,
            level=level,
            effects=0,  # pairs have cards of their own
            seed=seed,
            objective=objective,
        ),
    )
    progress("what makes the best good", 0.93)
    walked, near = around_the_best(history, led, seed, objective)
    progress("where the search looked", 0.95)
    looked = attempt("where the search looked", lambda: bias(history, seed=seed))
    progress("why trials were proposed", 0.97)
    reasons = None if proposals is None else explained(history, objective, seed, proposals)
    if len(names) < len(history.space):
        left = len(history.space) - len(names)
        warnings.append(f"Effects of the {left} least important parameters are not shown.")
    weights = totals(shares) if isinstance(shares, Importance) else None
    return Analysis(
        overview=seen,
        trials=trials(history, objective),
        timeline=attempt("timeline", lambda: timeline(history)),
        footprint=attempt(
            "map of configurations",
            lambda: footprint(history, weights, seed=seed, objective=objective),
        ),
        spending=attempt("models and budgets", lambda: spending(history, objective)),
        qualities=tuple(f.quality for f in fitted.values()),
        importance=shares,
        effects=tuple(effects[: len(names)]),
        regions=tuple(parts),
        pairs=tuple(effects[len(names) :]),
        interactions=together,
        ablation=walked,
        local=near,
        bias=looked,
        proposals=reasons,
        beside=_beside(history, others or {}, objective),
        warnings=tuple(warnings),
        version=__version__,
        seed=seed,
    )


def around_the_best(
    history: History, surrogate: SurrogateName, seed: int, objective: str | None
) -> tuple[Ablation | Unavailable, LocalImportance | Unavailable]:
    """The way from the default to the best trial, and what matters around that one."""
    how: Any = {"surrogate": surrogate, "seed": seed, "objective": objective}
    return (
        attempt("from the default to the best", lambda: ablation(history, **how)),
        attempt("around the best", lambda: local_importance(history, **how)),
    )


def attempt(what: str, compute: Callable[[], Any]) -> Any:
    """What is computed, or why it could not be."""
    try:
        return compute()
    except AnalysisError as problem:
        return Unavailable(what, str(problem))


def totals(record: Importance) -> dict[str, float]:
    """Share of each parameter, alone and together with others."""
    found: dict[str, float] = {}
    for names, share in zip(record.parameters, record.share.tolist(), strict=True):
        for name in names:
            found[name] = found.get(name, 0.0) + (0.0 if math.isnan(share) else share)
    return found


def explained(
    history: History, objective: str | None, seed: int, asked: bool = False
) -> ProposalPath | Unavailable | None:
    """The path of the recorded proposals, or of all where it is asked for; of many, some."""
    numbers = [t.number for t in history.trials if t.proposal and t.proposal.by_surrogate]
    if not numbers and not asked:
        return None
    if not numbers:  # each surrogate is fitted anew, so fewer
        numbers = [t.number for t in history.trials][4 * len(history.space) :]
    most = MOST_PROPOSALS
    if len(numbers) > most:
        steps = np.linspace(0, len(numbers) - 1, most).round().astype(int)
        numbers = [numbers[k] for k in steps]
    found: ProposalPath | Unavailable = attempt(
        "why trials were proposed",
        lambda: path(history, trials=numbers, seed=seed, objective=objective),
    )
    return found


def _beside(
    history: History, others: Mapping[str, History], objective: str | None
) -> RunComparison | Unavailable | None:
    if not others:
        return None
    runs = {history.source or "this run": history, **others}
    found: RunComparison | Unavailable = attempt(
        "comparison of runs", lambda: compare_runs(runs, objective)
    )
    return found


def _chosen(
    history: History, shares: Importance | Unavailable
) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Which parameters and which pairs get a card, most important first."""
    if isinstance(shares, Unavailable) or np.isnan(shares.share).all():
        return [(name,) for name in history.space.names[:MOST_EFFECTS]], []
    singles: list[tuple[str, ...]] = []
    pairs: list[tuple[str, ...]] = []
    for parameters, share in zip(shares.parameters, shares.share, strict=True):
        if len(parameters) == 1:
            singles.append(parameters)
        elif share >= PAIR_SHARE:
            pairs.append(parameters)
    return singles[:MOST_EFFECTS], pairs[:MOST_PAIRS]


def _effect(
    history: History,
    subject: tuple[str, ...],
    surrogate: SurrogateName,
    seed: int,
    objective: str | None,
) -> Effect | Unavailable:
    grid = 20 if len(subject) == 1 else PAIR_GRID
    found: Effect | Unavailable = attempt(
        "effect of " + " and ".join(subject),
        lambda: effect(
            history, subject, surrogate=surrogate, grid=grid, seed=seed, objective=objective
        ),
    )
    return found


def _region_cards(history: History, surrogate: SurrogateName, many: bool) -> int:
    """For how many parameters regions are shown; a forest's take long, and so do many trials'."""
    if len(history.space) < 2:
        return 0
    return 1 if many or surrogate == "forest" else MOST_REGIONS


def _regions(
    history: History, name: str, surrogate: SurrogateName, seed: int, objective: str | None
) -> Regions | Unavailable:
    found: Regions | Unavailable = attempt(
        f"regions of {name}",
        lambda: regions(
            history,
            name,
            splits=REGION_SPLITS,
            surrogate=surrogate,
            seed=seed,
            objective=objective,
        ),
    )
    return found
