"""A short formula over the effect that it stands for, with the effect's band."""

from plotly.graph_objects import Figure, Scatter

from hyperlens.explain.formula.formula import Formula
from hyperlens.plots.parts.axes import number_axis
from hyperlens.plots.parts.colours import BAND, BLUE, GREY, VERMILLION
from hyperlens.plots.parts.marks import line
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import directed, safe, short

LONGEST = 60  # letters of a formula in the legend


def draw(record: Formula) -> Figure:
    """Mean and band of the effect; the formula dashed, grey where it does not fit."""
    x = list(record.values)
    fig = figure(
        360,
        xaxis={
            "title": {"text": safe(short(record.parameter, 40))},
            "showgrid": False,
            **number_axis(record.values, record.log),
        },
        yaxis={"title": {"text": directed(record.objective, record.maximize)}},
        showlegend=True,
    )
    edge = {"hoverinfo": "skip", "legendgroup": "band", "mode": "lines", "line": {"width": 0}}
    fig.add_trace(Scatter(x=x, y=record.low.tolist(), name="low", showlegend=False, **edge))
    band = {"name": f"{100 * record.level:.3g} % band", "fill": "tonexty", "fillcolor": BAND}
    fig.add_trace(Scatter(x=x, y=record.high.tolist(), **band, **edge))
    hover = f"{safe(short(record.parameter))} %{{x:.5g}}<br>effect %{{y:.5g}}"
    fig.add_trace(line(x, record.mean, "effect", BLUE, hover, 2.5, simplify=False))
    fits = record.chosen >= 0
    name = safe(short(record.text[0], LONGEST)) + ("" if fits else ", which does not fit")
    hover = f"{safe(short(record.parameter))} %{{x:.5g}}<br>formula %{{y:.5g}}"
    looks = {"dash": "dash", "simplify": False}
    if record.forms[0] == "step":
        looks["shape"] = "hvh"
    colour = VERMILLION if fits else GREY
    fig.add_trace(line(x, record.curve, name, colour, hover, 2, **looks))
    return fig
