"""Why a configuration was proposed: what each parameter did for the mean and for the uncertainty."""

from plotly.graph_objects import Figure

from hyperlens.explain.proposals.why import Why
from hyperlens.plots.parts.axes import parameter_rows
from hyperlens.plots.parts.colours import BLUE, INK, ORANGE
from hyperlens.plots.parts.marks import bars, dots, whiskers
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, short, small, unshown, value_text

MOST = 20  # parameters
EXPLOITS, EXPLORES = "mean (exploitation)", "uncertainty (exploration), times tau"
BOTH = "bound (both together)"
BOTH_MARK = {"symbol": "diamond", "size": 11, "color": INK, "line": {"width": 0}}


def draw(record: Why) -> Figure:
    """Each parameter's contribution to the bound, and its two parts: that of the mean, and that of
    the uncertainty times tau. Left is desirable; right where the objective is maximised."""
    values = [short(value_text(value), 20) for value in record.values[:MOST]]
    names, axis = parameter_rows(record.parameters[:MOST], values)
    fig = figure(
        150 + 54 * max(len(names), 2),
        xaxis={"title": {"text": _title(record)}, "zeroline": True, "zerolinecolor": INK},
        yaxis=axis,
        bargap=0.35,
    )
    worth = record.tau if record.maximize else -record.tau
    ends = (record.uncertainty_low, record.uncertainty_high)
    low, high = ends if worth >= 0 else ends[::-1]
    for name, colour, *numbers in (
        (EXPLOITS, BLUE, record.mean, record.mean_low, record.mean_high),
        (EXPLORES, ORANGE, worth * record.uncertainty, worth * low, worth * high),
    ):
        value, least, most = (part[:MOST] for part in numbers)
        sampled = whiskers(value, least, most) if (most > least).any() else None
        hover = f"<b>%{{y}}</b><br>{name} %{{x:.4g}}"
        fig.add_trace(bars(value, names, name, colour, hover, error_x=sampled))
    hover = "<b>%{y}</b><br>bound %{x:.4g}"
    sentences = [[safe(s)] for s in record.sentences[:MOST]]
    both = dots(record.bound[:MOST], names, BOTH, BOTH_MARK, hover, customdata=sentences)
    fig.add_trace(both)
    return fig


def _title(record: Why) -> str:
    """What is drawn; below it prediction, what it is compared with, and payout; of the score too,
    where that ranks."""
    better = "right" if record.maximize else "left"
    parts = {"bound": "bound"} | ({} if record.score is None else {"score": "ranked by the score"})
    payouts = "<br>".join(
        safe(
            f"{name} {record.actual[part]:.4g}, {record.compared_with} {record.average[part]:.4g}: "
            f"payout {record.payout[part]:.4g}"
        )
        for part, name in parts.items()
    )
    return (
        f"contribution to the bound of {safe(short(record.objective, 30))} ({better} is desirable)"
        + small(payouts)
        + unshown(len(record.parameters) - MOST, "parameter", " of less weight")
    )
