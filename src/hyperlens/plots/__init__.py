"""Records as Plotly figures. Nothing is computed here: a figure shows the numbers of its record.

A drawing stands where its record does: `run/overview.py` has the `draw` of the record that
`explain/run/overview.py` defines, `cash/model_search.py` that of `cash/results/model_search.py`.
Files with other names hold what figures share, or show a record once more in another way.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def draw(record: object) -> Figure:
    """The figure of a record; only the file that draws its type is loaded."""
    for kind in type(record).__mro__:
        match kind.__module__.split("."):
            case ["hyperlens", "explain", room, name] | ["hyperlens", room, *_, name]:
                try:
                    drawing = import_module(f"hyperlens.plots.{room}.{name}")
                except ModuleNotFoundError as problem:
                    if not str(problem.name).startswith("hyperlens.plots."):
                        raise
                else:
                    return drawing.draw(record)
    raise TypeError(
        f"There is no plot for {type(record).__name__}; its numbers are in .frame and .to_json()."
    )
