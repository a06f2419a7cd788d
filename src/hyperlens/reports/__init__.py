"""The report one hands over: an analysis as one HTML file."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hyperlens.errors import SourceError
from hyperlens.history import History
from hyperlens.reports.analysis import Analysis, analyse


def report(
    history: History, path: str | Path, *, objective: str | None = None, seed: int = 0
) -> Path:
    """Explain a run and write the report; returns where it is."""
    return write(path, page(analyse(history, objective=objective, seed=seed)))


def page(analysis: Analysis) -> str:
    """The report of an analysis as one HTML document."""
    from hyperlens.reports.cards import cards
    from hyperlens.reports.html import render

    return render(cards(analysis), f"Hyperlens: {analysis.overview.source or 'report'}")


def write(path: str | Path, text: str) -> Path:
    """Write a file whole or not at all."""
    path = Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            umask = os.umask(0)
            os.umask(umask)
            Path(name).chmod(0o666 & ~umask)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as problem:
        reason = problem.strerror or type(problem).__name__
        raise SourceError(
            f"'{path}' cannot be written ({reason}); choose a folder that exists and is yours."
        ) from problem
    return path
