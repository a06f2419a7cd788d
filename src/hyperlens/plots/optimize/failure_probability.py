"""How likely a random search misses the best configuration, by its trials: uniform and weighted."""

from plotly.graph_objects import Figure

from hyperlens.optimize.models.failure_probability import FailureProbability
from hyperlens.plots.parts.axes import number_axis
from hyperlens.plots.parts.colours import BLUE, GREY, INK
from hyperlens.plots.parts.marks import line
from hyperlens.plots.parts.style import figure


def draw(record: FailureProbability) -> Figure:
    """Both curves of Sarigiannis et al.'s lemma 1, and from where on theorem 1 holds."""
    drawn = record.trials.tolist()
    positive = [n for n in drawn if n > 0]
    log = len(positive) == len(drawn) and max(drawn) > 20 * min(positive)
    fig = figure(
        360,
        xaxis={
            "title": {"text": "configurations drawn"},
            "showgrid": False,
            **number_axis([float(n) for n in drawn], log),
        },
        yaxis={"title": {"text": "chance to miss the best"}, "range": [-0.02, 1.02]},
    )
    for name, y, colour, dash in (
        ("uniform over models", record.uniform, GREY, "dash"),
        ("weighted by size", record.weighted, BLUE, "solid"),
    ):
        mode = "lines+markers" if len(drawn) < 10 else "lines"
        hover = f"{name}, %{{x}} drawn: %{{y:.4f}}"
        fig.add_trace(line(drawn, y, name, colour, hover, 2.5, dash=dash, mode=mode))
    start = record.holds_from
    if start is not None and min(drawn) < start <= max(drawn):
        name = f"weighted is better from {start} on"
        fig.add_trace(line([start, start], [0, 1], name, INK, width=1, dash="dot"))
    return fig
