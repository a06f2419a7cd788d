"""Reading the runs of other tools: `read(source)` recognises what it is given."""

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from hyperlens.errors import SourceError, listed
from hyperlens.importers.files import entries, load_json, start_of
from hyperlens.importers.optuna.journal import read_journal
from hyperlens.importers.optuna.study import from_file, from_study, from_url
from hyperlens.importers.raw_run import RawRun, as_history
from hyperlens.importers.read_options import Directions, ReadOptions
from hyperlens.importers.tables import neutral_folder, table
from hyperlens.importers.tools import ax, flaml, hpbandster, keras_tuner, ray, sklearn, smac
from hyperlens.runs.history import History
from hyperlens.runs.limits import with_limits
from hyperlens.spaces.space import GivenSpace

__all__ = ["read"]

_TABLES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".jsonl", ".ndjson")
_REMEDY = (
    "give the storage or folder of a run that docs/formats.md lists, or a table as CSV, Parquet or "
    "JSON lines"
)
_DATABASES = ("sqlite", "postgresql", "postgres", "mysql", "mariadb", "oracle", "mssql")
# tools that leave a folder, and what reads it
_FOLDERS = {"SMAC": smac, "HpBandSter": hpbandster, "Ray Tune": ray, "Keras Tuner": keras_tuner}
_STRANGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError)
Result = TypeVar("Result")


def read(
    source: Any,
    study: str | None = None,
    space: GivenSpace | None = None,
    objective: str | Sequence[str] | None = None,
    maximize: Directions | None = None,
    parameters: Sequence[str] | None = None,
    constraint: str | Sequence[str] | None = None,
    step: str | None = None,
) -> History:
    """Read a run into a History.

    `source` is an Optuna Study, a fitted search of scikit-learn, a DataFrame, a database address
    such as `sqlite:///demo.db`, or the path of a run: a file or the folder of a tool (see
    docs/formats.md). `space` replaces what the run says of its space; without either it is inferred
    from the values. `objective` chooses what was measured, one name or several, as in
    `["loss", "latency:min"]`, `maximize` its direction where the run records none (or the names of all
    objectives that are maximised); `constraint` is what a trial must keep to be of use, as in
    "latency < 20", one or several; `parameters` names the columns of a table that are parameters, `step`
    the column that holds the steps of learning curves, of which each has its own row; `study` names one
    of several studies. Nothing is written, and no pickle is opened.
    """
    options = ReadOptions(study, space, objective, maximize, parameters, constraint, step)
    return open_run(source, options)


def open_run(source: Any, options: ReadOptions) -> History:
    """Read a run as it was asked for."""
    if isinstance(source, History):
        return with_limits(source, options.constraints)
    if isinstance(source, str) and "://" in source:
        scheme = source.split("://")[0].split("+")[0].lower()
        if scheme not in _DATABASES:
            raise SourceError(
                f"Addresses that begin with '{scheme}://' cannot be read; give a database address "
                "such as sqlite:///demo.db, or a file."
            )
        where = source.split("@")[-1]  # without a password
        return _guarded(partial(from_url, source, options), where, "Optuna")
    if isinstance(source, (str, os.PathLike)):
        return _read_path(Path(source).expanduser(), options)
    if _is(source, "optuna.study", "Study"):
        return from_study(source, options)
    if _is(source, "pandas", "DataFrame"):
        return table.from_frame(source, options)
    if _is(source, "sklearn.model_selection._search", "BaseSearchCV"):
        return as_history(sklearn.from_search(source, options), options)
    if isinstance(source, dict) and sklearn.is_results(source):
        return as_history(sklearn.from_results(source, options), options)
    raise SourceError(
        f"A {type(source).__name__} cannot be read as a run; give an Optuna Study, a fitted search "
        "of scikit-learn, a DataFrame, or the path of a run."
    )


def _read_path(path: Path, options: ReadOptions) -> History:
    try:
        folder = path.is_dir()
    except (OSError, ValueError):  # a name that no file can have
        folder = False
    return _read_folder(path, options) if folder else _read_file(path, options)


def _read_file(path: Path, options: ReadOptions) -> History:
    start = start_of(path)
    name = path.name.lower()
    if start.startswith(b"SQLite format 3\0"):
        return _guarded(partial(from_file, path, options), path, "Optuna")
    opening = start.lstrip().removeprefix(b"\xef\xbb\xbf")[:1]
    if opening == b"{" and b'"op_code"' in start:
        return _guarded(partial(from_file, path, options, read_journal), path, "Optuna")
    if opening in (b"{", b"[") and (run := _read_json(path, start, options)) is not None:
        return as_history(run, options)
    if name.endswith((*_TABLES, ".json")) or start.startswith(b"PAR1") or opening == b"{":
        return table.from_file(path, start, options)
    if not start:
        raise SourceError(f"The file '{path}' is empty; {_REMEDY}.")
    if name.endswith((".pkl", ".pickle", ".joblib")) or start.startswith(b"\x80"):
        raise SourceError(
            f"The file '{path}' is a pickle, which could run any code and is never opened; "
            "export the run as a CSV table."
        )
    raise SourceError(f"The file '{path}' is of no kind that can be read; {_REMEDY}.")


def _read_json(path: Path, start: bytes, options: ReadOptions) -> RawRun | None:
    """A run in one JSON file: FLAML's log, an Ax experiment, a saved cv_results_, SMAC's history."""
    if flaml.recognised(start):
        return _guarded(partial(flaml.read, path, options), path, "FLAML")
    if path.name == "runhistory.json":
        return _guarded(partial(smac.read, path.parent, options), path, "SMAC")
    if path.suffix.lower() != ".json":
        return None
    try:
        document = load_json(path)
    except SourceError:
        return None  # JSON lines, or nothing that can be read: the table's reader says which
    if ax.experiment_of(document) is not None:
        return _guarded(partial(ax.read, path, options), path, "Ax")
    if sklearn.is_results(document) and isinstance(document["params"], list):
        return _guarded(partial(sklearn.from_results, document, options), path, "scikit-learn")
    return None


def _read_folder(folder: Path, options: ReadOptions) -> History:
    for name, tool in _FOLDERS.items():
        if tool.recognised(folder):
            return as_history(_guarded(partial(tool.read, folder, options), folder, name), options)
    if neutral_folder.recognised(folder):
        return neutral_folder.read(folder, options)
    if table.recognised(folder):
        return table.from_folder(folder, options)
    runs = _runs_below(folder)
    if len(runs) == 1:
        return _read_folder(runs[0], options)
    if runs:
        raise SourceError(
            f"The folder '{folder}' holds {len(runs)} runs; choose one of "
            f"{listed(p.relative_to(folder) for p in runs)}."
        )
    raise SourceError(f"'{folder}' is a folder of no kind that can be read; {_REMEDY}.")


def _runs_below(folder: Path, depth: int = 2) -> list[Path]:
    """Runs in folders of a folder, such as SMAC's `output/name/seed`."""
    runs: list[Path] = []
    for path in entries(folder):
        if not path.is_dir() or path.is_symlink():
            continue
        if any(kind.recognised(path) for kind in (table, *_FOLDERS.values())):
            runs.append(path)
        elif depth > 1:
            runs += _runs_below(path, depth - 1)
    return runs


def _guarded(reader: Callable[[], Result], path: Path | str, tool: str) -> Result:
    """What a reader returns; content that no version of its tool writes is the user's to correct."""
    try:
        return reader()
    except _STRANGE as problem:
        raise SourceError(
            f"'{path}' holds something that {tool} does not write ({type(problem).__name__}); "
            "check that the run was saved completely, or export it as a table."
        ) from problem


def _is(source: Any, module: str, name: str) -> bool:
    """Is it of a class of a package that is loaded anyway? Without loading that package."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(source, getattr(loaded, name))
