"""How likely a random search misses the best configuration, by its budget: uniform and weighted."""

from __future__ import annotations

from plotly.graph_objects import Figure

from hyperlens.optimize.models.failure_probability import FailureProbability
from hyperlens.plots.parts.marks import line
from hyperlens.plots.parts.style import BLUE, GREY, INK, figure, number_axis


def draw(record: FailureProbability) -> Figure:
    """Both curves of Sarigiannis et al.'s lemma 1, and the budget from which theorem 1 holds."""
    budget = record.budget.tolist()
    positive = [b for b in budget if b > 0]
    log = len(positive) == len(budget) and max(budget) > 20 * min(positive)
    fig = figure(
        360,
        xaxis={
            "title": {"text": "configurations drawn"},
            "showgrid": False,
            **number_axis([float(b) for b in budget], log),
        },
        yaxis={"title": {"text": "chance to miss the best"}, "range": [-0.02, 1.02]},
    )
    for name, y, colour, dash in (
        ("uniform over models", record.uniform, GREY, "dash"),
        ("weighted by size", record.weighted, BLUE, "solid"),
    ):
        mode = "lines+markers" if len(budget) < 10 else "lines"
        hover = f"{name}, %{{x}} drawn: %{{y:.4f}}"
        fig.add_trace(line(budget, y, name, colour, hover, 2.5, dash=dash, mode=mode))
    start = record.holds_from
    if start is not None and min(budget) < start <= max(budget):
        name = f"weighted is better from {start} on"
        fig.add_trace(line([start, start], [0, 1], name, INK, width=1, dash="dot"))
    return fig
