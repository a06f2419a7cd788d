"""From records to what cards are made of: figures as plain JSON, numbers as texts."""

from __future__ import annotations

import json
from typing import Any

from plotly.graph_objects import Figure

from hyperlens import words as say
from hyperlens.plots import draw
from hyperlens.record import Record
from hyperlens.reports.analysis import Unavailable
from hyperlens.reports.card import Card


def figure_of(record: Record) -> dict[str, Any]:
    """The record's own figure."""
    return as_plain(draw(record))


def as_plain(drawn: Figure) -> dict[str, Any]:
    """A figure as plain JSON values, what is not finite as None."""
    figure: dict[str, Any] = json.loads(drawn.to_json())
    return figure


def unavailable(record: Unavailable, id: str, section: str, title: str | None = None) -> Card:
    """A card that says why it has nothing to show."""
    return Card(id=id, section=section, title=title or record.what, problem=record.why)


def share(part: float) -> str:
    """A share in a table, always to a tenth of a percent."""
    return say.tenths(part)


def two(x: float) -> str:
    return say.decimals(x)
