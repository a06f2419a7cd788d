"""Reading the runs of other tools: `read(source)` recognises what it is given."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from hyperlens.errors import SourceError
from hyperlens.history import History
from hyperlens.importers.given import GivenSpace

__all__ = ["read"]

_TABLES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
_REMEDY = (
    "give an Optuna storage (SQLite file, journal file or database address), a CSV or a "
    "Parquet table"
)


def read(
    source: Any,
    study: str | None = None,
    space: GivenSpace | None = None,
    objective: str | None = None,
    maximize: bool | None = None,
) -> History:
    """Read a run into a History.

    `source` is an Optuna Study, a DataFrame, a database address such as `sqlite:///demo.db`, or
    the path of a SQLite file, an Optuna journal, a CSV or a Parquet table. Tables need `space` and
    `objective`, the column of costs; `study` names one of several studies. Nothing is written,
    and no pickle is opened.
    """
    if isinstance(source, History):
        return source
    if isinstance(source, str) and "://" in source:
        from hyperlens.importers import optuna

        _check_address(source)
        return optuna.from_url(source, study, space, objective, maximize)
    if isinstance(source, (str, os.PathLike)):
        return _read_file(Path(source).expanduser(), study, space, objective, maximize)
    if _is(source, "optuna.study", "Study"):
        from hyperlens.importers import optuna

        return optuna.from_study(source, study, space, objective, maximize)
    if _is(source, "pandas", "DataFrame"):
        from hyperlens.importers import table

        _no_study(study, "A DataFrame")
        return table.from_frame(source, space, objective, maximize)
    raise SourceError(
        f"A {type(source).__name__} cannot be read as a run; give an Optuna Study, a DataFrame, "
        "or the path of a storage or table."
    )


def _read_file(
    path: Path,
    study: str | None,
    space: GivenSpace | None,
    objective: str | None,
    maximize: bool | None,
) -> History:
    start = _start(path)
    name = path.name.lower()
    if start.startswith(b"SQLite format 3\0"):
        from hyperlens.importers import optuna

        return optuna.from_file(path, study, space, objective, maximize)
    if start.lstrip().startswith(b"{") and b'"op_code"' in start:
        from hyperlens.importers import optuna

        return optuna.from_journal(path, study, space, objective, maximize)
    if name.endswith(_TABLES) or start.startswith(b"PAR1"):
        from hyperlens.importers import table

        _no_study(study, f"The table '{path}'")
        return table.from_file(path, space, objective, maximize)
    if not start:
        raise SourceError(f"The file '{path}' is empty; {_REMEDY}.")
    if name.endswith((".pkl", ".pickle", ".joblib")) or start.startswith(b"\x80"):
        raise SourceError(
            f"The file '{path}' is a pickle, which could run any code and is never opened; "
            "export the run as a CSV table."
        )
    raise SourceError(f"The file '{path}' is of no kind that can be read; {_REMEDY}.")


def _start(path: Path) -> bytes:
    """The first bytes of a file."""
    if path.is_dir():
        raise SourceError(f"'{path}' is a folder of no kind that can be read; {_REMEDY}.")
    try:
        with path.open("rb") as file:
            return file.read(4096)
    except FileNotFoundError:
        raise SourceError(f"There is no file '{path}'; check the path.") from None
    except OSError as problem:
        reason = problem.strerror or type(problem).__name__
        raise SourceError(
            f"The file '{path}' cannot be opened ({reason}); check the path and your rights."
        ) from problem


def _no_study(study: str | None, what: str) -> None:
    if study is not None:
        raise SourceError(f"{what} holds one run and no studies by name; leave out the study.")


def _check_address(address: str) -> None:
    scheme = address.split("://")[0].split("+")[0].lower()
    if scheme not in ("sqlite", "postgresql", "postgres", "mysql", "mariadb", "oracle", "mssql"):
        raise SourceError(
            f"Addresses that begin with '{scheme}://' cannot be read; give a database address "
            "such as sqlite:///demo.db, or a file."
        )


def _is(source: Any, module: str, name: str) -> bool:
    """Is it of a class of a package that is loaded anyway? Without loading that package."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(source, getattr(loaded, name))
