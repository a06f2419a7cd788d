"""The report one hands over: an analysis as one HTML file."""

import errno
import os
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hyperlens.errors import AnalysisError, SourceError
from hyperlens.runs.history import History
from hyperlens.sections.analysis import Analysis, analyse
from hyperlens.sections.choices import Choices


def report(
    run: History | str | Path,
    path: str | Path,
    *,
    beside: Mapping[str, History] | None = None,
    **choices: Any,
) -> Path:
    """Explain a run and write the report; returns where it is.

    `choices` are the fields of `hyperlens.sections.choices.Choices`: objective, surrogate, level, seed,
    parameter, trial and others. `beside` are other runs to compare with, by their names. Of an analysis
    that was saved as JSON, given by its file, the report is drawn again without computing.
    """
    if isinstance(run, History):
        return write(path, page(analyse(run, Choices(**choices), beside=beside)))
    return write(path, page(read_analysis(run)))


def read_analysis(path: str | Path) -> Analysis:
    """The analysis that a JSON file holds."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", None) or type(problem).__name__
        raise SourceError(f"'{path}' cannot be read ({reason}); check the path.") from problem
    return Analysis.from_json(text, f"'{path}'")


def page(analysis: Analysis) -> str:
    """The report of an analysis as one HTML document."""
    from hyperlens.reports.render import report_html
    from hyperlens.sections.run.overview import OVERVIEW

    return report_html(analysis.cards, analysis[OVERVIEW].source or "report")


def stills(analysis: Analysis, folder: str | Path) -> tuple[Path, ...]:
    """Every figure of the report as a PNG in a folder, which is made if need be; needs no browser."""
    from plotly.graph_objects import Figure

    from hyperlens.plots.stills.still import still

    folder = Path(folder)
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for card in analysis.cards:
            if card.figure is not None:
                path = folder / f"{card.id}.png"
                still(Figure(card.figure)).savefig(path)
                written.append(path)
    except OSError as problem:
        raise _unwritable(folder, problem) from problem
    return tuple(written)


def check_stills() -> None:
    """Refuse still pictures that cannot be made, before anything long is computed for them."""
    if find_spec("matplotlib") is None:
        from hyperlens.plots.stills.still import MISSING

        raise AnalysisError(MISSING)


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
