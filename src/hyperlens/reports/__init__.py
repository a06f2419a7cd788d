"""The report one hands over: an analysis as one HTML file."""

from __future__ import annotations

import errno
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


def check(path: str | Path) -> None:
    """Refuse a file that cannot be written, before anything long is computed for it."""
    path = Path(path).resolve()
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if _replaceable(path):
            with tempfile.TemporaryFile(dir=path.parent):
                pass
    except OSError as problem:
        raise _unwritable(path, problem) from problem


def write(path: str | Path, text: str) -> Path:
    """Write a file whole or not at all."""
    path = Path(path)
    try:
        _put(path.resolve(), text)
    except OSError as problem:
        raise _unwritable(path, problem) from problem
    return path


def _put(path: Path, text: str) -> None:
    if not _replaceable(path):
        path.write_text(text, encoding="utf-8")
        return
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".hyperlens.")
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


def _replaceable(path: Path) -> bool:
    """Not so a pipe or a device such as /dev/stdout, which must stay what it is."""
    return path.is_file() or not path.exists()


def _unwritable(path: Path, problem: OSError) -> SourceError:
    reason = problem.strerror or type(problem).__name__
    return SourceError(
        f"'{path}' cannot be written ({reason}); choose a file in a folder of yours."
    )
