"""From records to what cards are made of: figures as plain JSON, cards of what is unavailable."""

from __future__ import annotations

import json
from typing import Any

from plotly.graph_objects import Figure

from hyperlens.plots import draw
from hyperlens.record import Record
from hyperlens.sections.cards.card import Card
from hyperlens.sections.explanation import Unavailable


def figure_of(record: Record) -> dict[str, Any]:
    """The record's own figure."""
    return as_plain(draw(record))


def as_plain(drawn: Figure) -> dict[str, Any]:
    """A figure as plain JSON values, what is not finite as None."""
    figure: dict[str, Any] = json.loads(drawn.to_json())
    return figure


def unavailable(record: Unavailable, id: str, title: str | None = None) -> Card:
    """A card that says why it has nothing to show."""
    return Card(id=id, title=title or record.what, problem=record.why)


def numbered(kind: str, parameters: tuple[str, ...], names: tuple[str, ...]) -> str:
    """The id of a card of some parameters, by their places in the space: the same in report and live
    page, however many of them are shown."""
    places = (str(names.index(p) + 1) if p in names else "0" for p in parameters)
    return "-".join((kind, *places))
