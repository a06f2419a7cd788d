"""Records as Plotly figures. Nothing is computed here: a figure shows the numbers of its record."""

from __future__ import annotations

from functools import singledispatch

from plotly.graph_objects import Figure

from hyperlens.cash.story import ModelSearch
from hyperlens.comparison import Comparison
from hyperlens.explain.ablation import Ablation
from hyperlens.explain.beside import Beside
from hyperlens.explain.bias import Bias
from hyperlens.explain.effects import Effect
from hyperlens.explain.fanova import Importance
from hyperlens.explain.footprint import Footprint
from hyperlens.explain.interaction import Interactions
from hyperlens.explain.local import LocalImportance
from hyperlens.explain.overview import Overview
from hyperlens.explain.path import Path
from hyperlens.explain.proposals import Why
from hyperlens.explain.regions import Regions
from hyperlens.explain.reliability import Reliability
from hyperlens.explain.spending import Spending
from hyperlens.explain.timeline import Timeline
from hyperlens.explain.trials import Trials
from hyperlens.explain.validation import Validation
from hyperlens.optimize.failure import FailureProbability
from hyperlens.plots.ablation import draw_ablation, draw_local
from hyperlens.plots.beside import draw_beside
from hyperlens.plots.bias import draw_bias
from hyperlens.plots.cash import draw_models
from hyperlens.plots.compare import draw_comparison
from hyperlens.plots.effect import draw_effect
from hyperlens.plots.failure import draw_failure
from hyperlens.plots.footprint import draw_footprint
from hyperlens.plots.importance import draw_importance
from hyperlens.plots.interaction import draw_interactions
from hyperlens.plots.overview import draw_overview
from hyperlens.plots.parallel import draw_parallel
from hyperlens.plots.path import draw_path
from hyperlens.plots.proposal import draw_why
from hyperlens.plots.regions import draw_regions
from hyperlens.plots.reliability import draw_reliability
from hyperlens.plots.spending import draw_spending
from hyperlens.plots.timeline import draw_timeline
from hyperlens.plots.validation import draw_validation


@singledispatch
def draw(record: object) -> Figure:
    """The figure of a record; what it shows depends on the record's type."""
    raise TypeError(
        f"There is no plot for {type(record).__name__}; its numbers are in .frame and .to_json()."
    )


draw.register(Overview, draw_overview)
draw.register(Importance, draw_importance)
draw.register(Effect, draw_effect)
draw.register(Interactions, draw_interactions)
draw.register(Regions, draw_regions)
draw.register(Bias, draw_bias)
draw.register(Comparison, draw_comparison)
draw.register(ModelSearch, draw_models)
draw.register(FailureProbability, draw_failure)
draw.register(Reliability, draw_reliability)
draw.register(Validation, draw_validation)
draw.register(Timeline, draw_timeline)
draw.register(Trials, draw_parallel)
draw.register(Footprint, draw_footprint)
draw.register(Spending, draw_spending)
draw.register(Beside, draw_beside)
draw.register(Why, draw_why)
draw.register(Path, draw_path)
draw.register(Ablation, draw_ablation)
draw.register(LocalImportance, draw_local)

__all__ = ["draw"]
