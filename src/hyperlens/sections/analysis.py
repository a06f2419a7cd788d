"""Everything a report says about a run, computed once.

The command line, the JSON file and the HTML file all show this; a JSON file is read back, so that its
report can be drawn again without the run and without computing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from hyperlens import __version__
from hyperlens.errors import SourceError
from hyperlens.plain import as_json, plain
from hyperlens.record import record_of
from hyperlens.runs.history import History
from hyperlens.sections.choices import Choices
from hyperlens.sections.explanation import Explanation, Part, Progress
from hyperlens.sections.plan import PLAN

if TYPE_CHECKING:
    from hyperlens.sections.cards.card import Card

T = TypeVar("T")


@dataclass(frozen=True)
class Analysis:
    """The records of a whole explanation by the names of their parts, how they were chosen, and by which
    version of Hyperlens they were computed."""

    records: Mapping[str, Any]
    choices: Choices
    version: str

    def __getitem__(self, part: Part[T]) -> T:
        record: T = self.records[part.name]
        return record

    @property
    def cards(self) -> tuple[Card, ...]:
        """All cards of the report. A result that is unavailable is a card that says why."""
        return tuple(card for section in PLAN for card in section.cards(self))

    def to_dict(self) -> dict[str, Any]:
        """By section and record: content["importance"]["interactions"]."""
        content = {s.id: {p.name: _plain(self[p]) for p in s.parts} for s in PLAN}
        head = {"hyperlens": self.version, "choices": plain(self.choices)}
        return head | {id: records for id, records in content.items() if records}

    def to_json(self) -> str:
        return as_json(self.to_dict())

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Analysis:
        """The analysis that `to_dict` wrote."""
        records = {p.name: _restored(content[s.id][p.name]) for s in PLAN for p in s.parts}
        return cls(records, Choices.from_dict(content["choices"]), str(content["hyperlens"]))

    @classmethod
    def from_json(cls, text: str, source: str = "This text") -> Analysis:
        try:
            return cls.from_dict(json.loads(text))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as problem:
            raise SourceError(
                f"{source} is not an analysis that this version of Hyperlens has saved; write one with "
                "hyperlens explain RUN --json FILE."
            ) from problem


def analyse(
    history: History,
    choices: Choices | None = None,
    *,
    beside: Mapping[str, History] | None = None,
    progress: Progress = lambda what, done: None,
) -> Analysis:
    """Compute all records of the report. What fails is said in its place; the rest still comes.

    `beside` are runs to show beside this one, by their names.
    """
    choices = choices or Choices()
    parts = [part for section in PLAN for part in section.parts]
    runs = {history.source or "this run": history, **beside} if beside else None
    seconds = sum(part.seconds for part in parts)
    explanation = Explanation(history, choices, runs, progress, seconds)
    return Analysis({part.name: explanation[part] for part in parts}, choices, __version__)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return None if value is None else value.to_dict()


def _restored(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_restored(one) for one in value)
    return None if value is None else record_of(value)
