"""What an assistant may ask of runs, as plain values: the records that everybody else gets.

Requests name a run by its key alone, never by a path, as those of the live page do: only what the
server was started on can be read, and nothing can be written. What is wrong with a question is one
sentence. Answers are cut where they grow too long for a conversation.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

import hyperlens as hl
from hyperlens.dashboard.catalogue import Run, Source, key_of
from hyperlens.dashboard.reader import Reader
from hyperlens.errors import AnalysisError
from hyperlens.plain import plain
from hyperlens.record import Record
from hyperlens.runs.history import History

MOST_RUNS = 200  # in one list
MOST_ROWS = 60  # of one answer
MOST_TEXT = 300  # characters of a name or a question


class Answers:
    """Answers on the runs of some sources, one at a time."""

    def __init__(self, sources: tuple[Source, ...]) -> None:
        self._reader, self._one = Reader(sources), Lock()

    def list_runs(self, contains: str = "") -> dict[str, Any]:
        """All runs by their keys, with how many trials each has; `contains` narrows them by title."""
        with self._one:
            known = self._known()
        wanted = {k: run for k, run in known.items() if contains.lower() in run.title.lower()}
        runs = [{"run": k, "title": r.title, **(r.size or {})} for k, r in wanted.items()]
        return {"runs": plain(runs[:MOST_RUNS]), "left_out": max(len(runs) - MOST_RUNS, 0)}

    def summary(self, run: str) -> dict[str, Any]:
        """What a run is: trials, best, space and objectives."""
        return self._told(run, lambda h, _: hl.overview(h))

    def importance(self, run: str, objective: str | None = None) -> dict[str, Any]:
        """Which parameters the variance of the cost comes from, with intervals and a verdict."""
        return self._told(run, lambda h, o: hl.importance(h, objective=o), objective)

    def top_importance(self, run: str, objective: str | None = None) -> dict[str, Any]:
        """Which parameters tell the best tenth from the rest, over the space and in the trials."""
        return self._told(run, lambda h, o: hl.top_importance(h, objective=o), objective)

    def effect(self, run: str, parameter: str, objective: str | None = None) -> dict[str, Any]:
        """How the cost depends on a parameter, with a band."""
        name = _short(parameter)
        return self._told(run, lambda h, o: hl.effect(h, name, ice=0, objective=o), objective)

    def tunability(self, run: str, objective: str | None = None) -> dict[str, Any]:
        """What there is to gain by tuning each parameter against the default."""
        return self._told(run, lambda h, o: hl.tunability(h, objective=o), objective)

    def why(
        self, run: str, trial: int | None = None, objective: str | None = None
    ) -> dict[str, Any]:
        """Why a trial was proposed, parameter by parameter; the best one if none is named."""
        return self._told(run, lambda h, o: hl.why(h, trial=trial, objective=o), objective)

    def advise(self, run: str, objective: str | None = None) -> dict[str, Any]:
        """The space to search next, with the evidence for each change."""
        return self._told(run, lambda h, o: hl.advise(h, objective=o), objective)

    def reach(
        self, run: str, cost: float, trial: int | None = None, objective: str | None = None
    ) -> dict[str, Any]:
        """The smallest change of a trial, or of the best, that would reach a cost."""
        start: Any = "best" if trial is None else trial
        return self._told(run, lambda h, o: hl.reach(h, start, cost, objective=o), objective)

    def _known(self) -> dict[str, Run]:
        return {key_of(self._reader.sources[r.source], r): r for r in self._reader.runs()}

    def _told(
        self,
        key: str,
        question: Callable[[History, str | None], Record],
        objective: str | None = None,
    ) -> dict[str, Any]:
        with self._one:
            run = self._known().get(_short(key))
            if run is None:
                raise AnalysisError(
                    f"There is no run '{_short(key)}'; take the key of a run from list_runs."
                )
            name = None if objective is None else _short(objective)
            return as_answer(question(self._reader.read(run).history, name))


def as_answer(record: Record) -> dict[str, Any]:
    """What a record says, its verdict, notes and rows."""
    tables = [
        {
            "columns": list(shown.columns),
            "rows": [list(row) for row in shown.rows[:MOST_ROWS]],
            "left_out": max(len(shown.rows) - MOST_ROWS, 0) + shown.more,
        }
        for shown in record.tables
    ]
    verdict = getattr(record, "verdict", None)
    return {
        "heading": record.heading,
        "sentence": " ".join(record.lead),
        "verdict": None if verdict is None else verdict.sentence,
        "tables": tables,
        "notes": list(record.notes),
    }


def _short(text: str) -> str:
    if len(text) > MOST_TEXT:
        raise AnalysisError(f"A name of {len(text)} characters is none of this run; shorten it.")
    return text
