"""Records as Plotly figures. Nothing is computed here: a figure shows the numbers of its record."""

from __future__ import annotations

from functools import singledispatch

from plotly.graph_objects import Figure

from hyperlens.explain.bias import Bias
from hyperlens.explain.effects import Effect
from hyperlens.explain.fanova import Importance
from hyperlens.explain.interaction import Interactions
from hyperlens.explain.overview import Overview
from hyperlens.explain.regions import Regions
from hyperlens.explain.reliability import Reliability
from hyperlens.plots.bias import draw_bias
from hyperlens.plots.effect import draw_effect
from hyperlens.plots.importance import draw_importance
from hyperlens.plots.interaction import draw_interactions
from hyperlens.plots.overview import draw_overview
from hyperlens.plots.regions import draw_regions
from hyperlens.plots.reliability import draw_reliability


@singledispatch
def draw(record: object) -> Figure:
    """The figure of a record; what it shows depends on the record's type."""
    raise TypeError(
        f"There is no plot for {type(record).__name__}; "
        "an Overview, Importance, Interactions, Effect, Regions or Bias can be drawn."
    )


draw.register(Overview, draw_overview)
draw.register(Importance, draw_importance)
draw.register(Effect, draw_effect)
draw.register(Interactions, draw_interactions)
draw.register(Regions, draw_regions)
draw.register(Bias, draw_bias)
draw.register(Reliability, draw_reliability)

__all__ = ["draw"]
