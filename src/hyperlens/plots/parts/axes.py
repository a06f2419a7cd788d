"""Axes of categories, of parameters and of numbers, and the bar of a colour scale."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from hyperlens.plots.parts.colours import GREY, GRID
from hyperlens.plots.parts.texts import safe, short

FEW_TICKS: dict[str, Any] = {"nticks": 4, "tickangle": 0}  # numbers side by side on a narrow page


def tick_axis(places: Iterable[Any], texts: Iterable[str]) -> dict[str, Any]:
    """Ticks at these places, with these texts."""
    return {"tickmode": "array", "tickvals": list(places), "ticktext": list(texts)}


def category_axis(names: Sequence[str], ticks: Sequence[str], down: bool = False) -> dict[str, Any]:
    """An axis of categories in the given order, even where their names look like numbers."""
    ends = [-0.5, len(names) - 0.5]
    order = {"type": "category", "categoryorder": "array", "categoryarray": list(names)}
    ends = ends[::-1] if down else ends
    return {"range": ends, **order, **tick_axis(names, ticks), "showgrid": False}


def parameter_rows(
    parameters: Sequence[str], below: Sequence[str] | None = None
) -> tuple[list[str], dict[str, Any]]:
    """Names that are different even where they look alike, and their axis downwards; below each tick
    stands a grey text."""
    names = [f"{k} {safe(name)}" for k, name in enumerate(parameters)]
    ticks = [safe(short(name)) for name in parameters]
    if below is not None:
        grey = [f" <br><span style='color:{GREY}'>{safe(text)} </span>" for text in below]
        ticks = [tick + text for tick, text in zip(ticks, grey, strict=True)]
    return names, category_axis(names, ticks, down=True)


def number_axis(values: Sequence[float], log: bool) -> dict[str, Any]:
    """An axis of numbers: ticks at each decade of a logarithm, never between whole numbers."""
    if not log:
        whole = all(isinstance(v, int) for v in values) and max(values) - min(values) <= 10
        return {"type": "linear", "dtick": 1} if whole else {"type": "linear"}
    decades = math.log10(max(values) / min(values))
    if decades < 2:
        ticks = _round_numbers(min(values), max(values))
        few = {"nticks": 6} if len(ticks) < 2 else tick_axis(ticks, [f"{tick:g}" for tick in ticks])
        return {"type": "log", **few}
    powers = decades > 3
    return {
        "type": "log",
        "dtick": max(1, round(decades / 6)),
        "exponentformat": "power" if powers else "none",
        "tickfont": {"size": 10 if powers else 12},  # Plotly draws powers a quarter larger
        "tickangle": 0,
        "minor": {"ticks": "outside", "ticklen": 3, "dtick": "D1", "tickcolor": GRID},
    }


def _round_numbers(low: float, high: float) -> list[float]:
    """1, 2 and 5 times the powers of ten between two numbers."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    numbers = [m * 10.0**k for k in powers for m in (1, 2, 5)]
    return [number for number in numbers if low <= number <= high]


def colour_bar(title: str, **more: Any) -> dict[str, Any]:
    text = {"text": title, "side": "right", "font": {"size": 13}}
    return {"title": text, "thickness": 12, "outlinewidth": 0, **more}
