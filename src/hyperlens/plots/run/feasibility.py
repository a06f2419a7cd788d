"""How often trials exceed the limits, by the values of the parameters that it depends on most."""

from plotly.graph_objects import Figure

from hyperlens.explain.run.feasibility import Feasibility
from hyperlens.plots.run import failures


def draw(record: Feasibility) -> Figure:
    """As failures are drawn: a row for each value."""
    return failures.draw(record)
