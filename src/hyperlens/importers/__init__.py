"""Reading the runs of other tools: `read(source)` recognises what it is given."""

import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from hyperlens.errors import SourceError
from hyperlens.importers.files import start_of
from hyperlens.importers.finding import PICKLES, read_found
from hyperlens.importers.kinds import REMEDY, file_kind, folder_kind, guarded
from hyperlens.importers.optuna.study import from_study, from_url
from hyperlens.importers.packed import MOST_LAYERS, packing, unpacked, unpacked_files
from hyperlens.importers.raw_run import as_history
from hyperlens.importers.read_options import Directions, ReadOptions
from hyperlens.importers.tables import table
from hyperlens.importers.tools import sklearn
from hyperlens.importers.uncollected import uncollected
from hyperlens.runs.history import History
from hyperlens.runs.limits import with_limits
from hyperlens.spaces.space import GivenSpace

__all__ = ["read"]

_DATABASES = ("sqlite", "postgresql", "postgres", "mysql", "mariadb", "oracle", "mssql")


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
    such as `sqlite:///demo.db`, or the path of a run: a file or the folder of a
    tool. `space` replaces what the run says of its space; without either it is inferred
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
    with uncollected():
        return _opened(source, options)


def _opened(source: Any, options: ReadOptions) -> History:
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
        return guarded(partial(from_url, source, options), where)
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


def _read_path(path: Path, options: ReadOptions, layers: int = 0) -> History:
    try:
        folder = path.is_dir()
    except (OSError, ValueError):  # a name that no file can have
        folder = False
    if folder:
        if (kind := folder_kind(path)) is not None:
            return kind.read(options)
        with unpacked_files(path) as inner:
            if inner is not None and (kind := folder_kind(inner)) is not None:
                return kind.read(options)
        return read_found(path, options)
    if (how := packing(start_of(path))) is not None:
        if layers == MOST_LAYERS:
            raise SourceError(f"The file '{path}' is packed more than {layers} times; unpack it.")
        with unpacked(path, how) as inner:
            return _read_path(inner, options, layers + 1)
    kind = file_kind(path)
    return _refused(path) if kind is None else kind.read(options)


def _refused(path: Path) -> NoReturn:
    """Say why a file is no run."""
    start, name = start_of(path), path.name.lower()
    if not start:
        raise SourceError(f"The file '{path}' is empty; {REMEDY}.")
    if name.endswith(PICKLES) or start.startswith(b"\x80"):
        raise SourceError(
            f"The file '{path}' is a pickle, which could run any code and is never opened; "
            "export the run as a CSV table."
        )
    raise SourceError(f"The file '{path}' is of no kind that can be read; {REMEDY}.")


def _is(source: Any, module: str, name: str) -> bool:
    """Is it of a class of a package that is loaded anyway? Without loading that package."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(source, getattr(loaded, name))
