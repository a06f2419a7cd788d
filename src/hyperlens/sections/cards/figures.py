"""From records to what cards are made of: figures as plain JSON, cards of what is unavailable."""

import json
from typing import Any

from plotly.graph_objects import Figure

from hyperlens.plots import draw
from hyperlens.record import Record, as_csv
from hyperlens.sections.cards.card import Card
from hyperlens.sections.explanation import Unavailable

DIGITS = 7  # of a number in a figure
MOST_CSV = 1_000_000  # letters of the table that a card offers: a page stays one that can be sent
SOME_ROWS = 1000


def figure_of(record: Record) -> dict[str, Any]:
    """The record's own figure."""
    return as_plain(draw(record))


def as_plain(drawn: Figure) -> dict[str, Any]:
    """A figure as plain JSON values, what is not finite as None, numbers with the digits that can be
    seen."""
    figure: dict[str, Any] = json.loads(drawn.to_json(), parse_float=_seen)
    return figure


def _seen(number: str) -> float:
    return float(f"{float(number):.{DIGITS}g}")


def card_of(record: Record, id: str, title: str, *how: str, **other: Any) -> Card:
    """All that a record says, draws and tabulates; what stands in `other` takes its place."""
    if isinstance(record, Unavailable):
        return unavailable(record, id, title)
    if "figure" not in other:
        other["figure"] = figure_of(record)
    if "table" not in other:
        other["table"] = record.tables[0]
    own: dict[str, Any] = {
        "lead": record.lead,
        "csv": small_csv(record),
        "verdict": getattr(record, "verdict", None),
        "notes": tuple(note for note in record.notes if note not in record.lead),
    }
    return Card(id=id, title=title, how=how, **own | other)


def small_csv(record: Record) -> str | None:
    """The table as CSV; None where it is too large to be offered, which some of its rows tell."""
    frame = record.spelled_frame
    if len(frame) > SOME_ROWS:
        some = len(as_csv(frame.iloc[:SOME_ROWS].copy())) / SOME_ROWS * len(frame)
        if some > 2 * MOST_CSV:
            return None
    csv = record.to_csv()
    return csv if len(csv) <= MOST_CSV else None


def unavailable(record: Unavailable, id: str, title: str | None = None) -> Card:
    """A card that says why it has nothing to show."""
    return Card(id=id, title=title or record.what, problem=record.why)


def numbered(kind: str, parameters: tuple[str, ...], names: tuple[str, ...]) -> str:
    """The id of a card of some parameters, by their places in the space: the same in report and live
    page, however many of them are shown."""
    places = (str(names.index(p) + 1) if p in names else "0" for p in parameters)
    return "-".join((kind, *places))
