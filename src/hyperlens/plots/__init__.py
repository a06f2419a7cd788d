"""Records as Plotly figures. Nothing is computed here: a figure shows the numbers of its record."""

from __future__ import annotations

from functools import singledispatch

from plotly.graph_objects import Figure

from hyperlens.explain.effects import Effect
from hyperlens.explain.fanova import Importance
from hyperlens.explain.overview import Overview
from hyperlens.plots.effect import draw_effect
from hyperlens.plots.importance import draw_importance
from hyperlens.plots.overview import draw_overview


@singledispatch
def draw(record: object) -> Figure:
    """The figure of a record; what it shows depends on the record's type."""
    raise TypeError(
        f"There is no plot for {type(record).__name__}; "
        "an Overview, an Importance or an Effect can be drawn."
    )


draw.register(Overview, draw_overview)
draw.register(Importance, draw_importance)
draw.register(Effect, draw_effect)

__all__ = ["draw"]
