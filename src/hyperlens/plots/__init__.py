"""Records as Plotly figures. Nothing is computed here: a figure shows the numbers of its record."""

from __future__ import annotations

from functools import singledispatch

from plotly.graph_objects import Figure

from hyperlens.cash.results.model_search import ModelSearch
from hyperlens.comparison import Comparison
from hyperlens.explain.effects.effect import Effect
from hyperlens.explain.effects.regions import Regions
from hyperlens.explain.effects.reliability import Reliability
from hyperlens.explain.importance.ablation import Ablation
from hyperlens.explain.importance.importance import Importance
from hyperlens.explain.importance.interactions import Interactions
from hyperlens.explain.importance.local_importance import LocalImportance
from hyperlens.explain.proposals.path import ProposalPath
from hyperlens.explain.proposals.why import Why
from hyperlens.explain.run.bias import Bias
from hyperlens.explain.run.compare_runs import RunComparison
from hyperlens.explain.run.footprint import Footprint
from hyperlens.explain.run.overview import Overview
from hyperlens.explain.run.spending import Spending
from hyperlens.explain.run.timeline import Timeline
from hyperlens.explain.run.trials import Trials
from hyperlens.explain.run.validation import Validation
from hyperlens.optimize.models.failure_probability import FailureProbability
from hyperlens.plots.effects.effect import draw_effect
from hyperlens.plots.effects.regions import draw_regions
from hyperlens.plots.effects.reliability import draw_reliability
from hyperlens.plots.importance.ablation import draw_ablation, draw_local
from hyperlens.plots.importance.importance import draw_importance
from hyperlens.plots.importance.interactions import draw_interactions
from hyperlens.plots.methods.compare import draw_comparison
from hyperlens.plots.methods.failure_probability import draw_failure
from hyperlens.plots.methods.model_search import draw_models
from hyperlens.plots.proposals.path import draw_path
from hyperlens.plots.proposals.why import draw_why
from hyperlens.plots.run.bias import draw_bias
from hyperlens.plots.run.compare_runs import draw_run_comparison
from hyperlens.plots.run.footprint import draw_footprint
from hyperlens.plots.run.overview import draw_overview
from hyperlens.plots.run.spending import draw_spending
from hyperlens.plots.run.timeline import draw_timeline
from hyperlens.plots.run.trials import draw_parallel
from hyperlens.plots.run.validation import draw_validation


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
draw.register(RunComparison, draw_run_comparison)
draw.register(Why, draw_why)
draw.register(ProposalPath, draw_path)
draw.register(Ablation, draw_ablation)
draw.register(LocalImportance, draw_local)

__all__ = ["draw"]
