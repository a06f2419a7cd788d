"""The sections of a report in their order; report, live page, terminal and JSON all show these.

A section is one file below `sections/` with two names: `PARTS`, the records it adds, and `cards`, which
turns records, its own and those of other sections, into what is shown. To add one, write the file and
name it here. The table holds texts alone, so that the live page's own process and the command line know
the sections without loading what computes them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hyperlens.sections.cards.card import Card
    from hyperlens.sections.explanation import Part, Records


@dataclass(frozen=True)
class Section:
    """Some cards below one title; neighbours may share it.

    `where` is its file. `quick` sections take about a second and fit no surrogate. `by` are the choices
    that change it, besides objective, level and seed.
    """

    id: str
    title: str
    where: str
    quick: bool = False
    by: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[Part[Any], ...]:
        """The records that this section adds to an analysis."""
        parts: tuple[Part[Any], ...] = self._file.PARTS
        return parts

    def cards(self, records: Records) -> tuple[Card, ...]:
        """What is shown of the records; a pure function of them."""
        cards = self._file.cards(records)
        return tuple(replace(card, section=self.title) for card in cards if card is not None)

    @property
    def holds(self) -> tuple[str, ...]:
        """The kinds of its cards: their ids without numbers of parameters."""
        return HOLDS.get(self.id, (self.id,))

    @property
    def _file(self) -> Any:
        return import_module(f"hyperlens.sections.{self.where}")


PLAN = (
    Section("summary", "Summary", "summary", by=("surrogate",)),
    Section("forecast", "What to do next", "next.forecast"),
    Section("advice", "What to do next", "next.advise"),
    Section("reach", "What to do next", "questions.reach", by=("surrogate",)),
    Section("confirm", "What to do next", "next.confirm"),
    Section("overview", "Overview", "run.overview", quick=True),
    Section("objectives", "Overview", "run.objectives", quick=True),
    Section("true_front", "Overview", "run.true_front"),
    Section("choice", "Overview", "questions.choice"),
    Section("winner", "Overview", "next.winner"),
    Section("feasibility", "Overview", "run.feasibility"),
    Section("failures", "Overview", "run.failures"),
    Section("curves", "Overview", "run.curves"),
    Section("footprint", "Overview", "run.footprint", by=("surrogate",)),
    Section("models", "Models", "run.models"),
    Section("importance", "Importance", "parameters.importance", by=("surrogate",)),
    Section("tradeoff", "Importance", "parameters.tradeoff"),
    Section("marginals", "Importance", "parameters.marginals", by=("surrogate",)),
    Section("interactions", "Importance", "parameters.interactions", by=("surrogate",)),
    Section("tunability", "Importance", "parameters.tunability", by=("surrogate",)),
    Section("top_importance", "Importance", "questions.top_importance"),
    Section("best", "Importance", "parameters.best", by=("surrogate",)),
    Section("effects_of", "Effects", "parameters.effects_of", by=("surrogate",)),
    Section("effects", "Effects", "parameters.effects", by=("surrogate", "parameter")),
    Section("formulas", "Effects", "questions.formulas", by=("surrogate",)),
    Section(
        "regions", "Effects", "parameters.regions", by=("surrogate", "parameter", "splits", "steps")
    ),
    Section("pairs", "Effects", "parameters.pairs", by=("surrogate", "parameter", "other")),
    Section("proposals", "Proposals", "run.proposals", by=("proposals", "trial")),
    Section("search", "Search", "run.search", quick=True),
    Section("comparison", "Comparison", "run.comparison", quick=True, by=("runs",)),
    Section("across", "Comparison", "questions.across", by=("runs",)),
    Section("trial", "Data", "trials.one_trial", quick=True),
    Section("data", "Data", "run.data", quick=True),
    Section("method", "Method", "method", by=("surrogate",)),
)

# of sections whose cards have other ids than their own
HOLDS = {
    "confirm": ("confirm", "confirmed"),
    "overview": ("trace", "timeline", "endings", "parallel", "spending"),
    "objectives": ("pareto",),
    "true_front": ("true-front",),
    "winner": ("luck",),
    "curves": ("curves", "pruning", "course"),
    "models": ("models", "winner"),
    "importance": ("importance", "heatmap"),
    "best": ("ablation", "local"),
    "effects_of": ("effects-of",),
    "effects": ("effect",),
    "pairs": ("pair",),
    "proposals": (
        *("why", "reasons", "desirability", "payouts", "predictions", "configurations"),
        "proposal-lines",
    ),
    "search": ("bias", "hindsight", "spending"),
}
