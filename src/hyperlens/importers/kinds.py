"""What a file or a folder holds: which tool wrote it, and how it is read."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from hyperlens.errors import SourceError
from hyperlens.importers.files import load_json, start_of
from hyperlens.importers.optuna.journal import read_journal
from hyperlens.importers.optuna.study import from_file
from hyperlens.importers.packed import SPREADSHEET
from hyperlens.importers.raw_run import RawRun, as_history
from hyperlens.importers.read_options import ReadOptions
from hyperlens.importers.tables import amltk, cave, neutral_folder, table
from hyperlens.importers.tools import (
    ax,
    flaml,
    hpbandster,
    keras_tuner,
    neps,
    openbox,
    ray,
    sklearn,
    smac,
    syne_tune,
    vizier,
)
from hyperlens.runs.history import History

_SCHEMA = 2**17  # bytes at the start of a SQLite file, with the names of its tables
_OLD_WORKBOOK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson")
REMEDY = (
    "give a storage of Optuna, the folder or log of another tool as it was written, or a table as CSV, "
    "Parquet or JSON lines"
)
# tools that leave a folder, and what reads it
_FOLDERS: dict[str, Any] = {
    "SMAC": smac,
    "HpBandSter": hpbandster,
    "Ray Tune": ray,
    "Keras Tuner": keras_tuner,
    "Syne Tune": syne_tune,
    "NePS": neps,
}
_STRANGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError)
Result = TypeVar("Result")


@dataclass(frozen=True)
class Kind:
    """Which tool wrote a run, and what reads it; `certain` where no other table would look the same."""

    tool: str
    read: Callable[[ReadOptions], History]
    certain: bool = True


def folder_kind(folder: Path) -> Kind | None:
    """What a folder is by itself, if it is a run; not what lies in folders of it."""
    for name, tool in _FOLDERS.items():
        if tool.recognised(folder):
            return _of_tool(name, partial(tool.read, folder), folder)
    if neutral_folder.recognised(folder):
        return Kind("hyperlens", partial(neutral_folder.read, folder))
    if cave.recognised(folder):
        return Kind("CAVE", partial(cave.read, folder))
    if amltk.recognised(folder):
        return Kind("AMLTK", partial(amltk.read, folder))
    if table.recognised(folder):
        return Kind("table", partial(table.from_folder, folder))
    return None


def file_kind(path: Path) -> Kind | None:
    """What a file is, by its first bytes, by what its JSON holds, or by its name."""
    start = start_of(path)
    if start.startswith(_OLD_WORKBOOK):
        raise SourceError(SPREADSHEET.format(path))
    if start.startswith(b"SQLite format 3\0"):
        schema = start_of(path, _SCHEMA)
        if vizier.recognised(schema):
            return _of_tool("Vizier", partial(vizier.read, path), path, studies=True)
        known = b"trial_params" in schema or Path(f"{path}-wal").exists()
        return Kind(
            "Optuna", lambda options: guarded(partial(from_file, path, options), path), known
        )
    opening = start.lstrip().removeprefix(b"\xef\xbb\xbf")[:1]
    if opening == b"{" and b'"op_code"' in start:
        return Kind(
            "Optuna", lambda options: guarded(partial(from_file, path, options, read_journal), path)
        )
    if opening in (b"{", b"[") and (kind := _json_kind(path, start)) is not None:
        return kind
    if amltk.is_history(start):
        return Kind("AMLTK", partial(amltk.read_file, path))
    if (
        path.name.lower().endswith((*_TABLES, ".json"))
        or start.startswith(b"PAR1")
        or opening == b"{"
    ):
        return Kind("table", partial(table.from_file, path, start), certain=False)
    return None


def _json_kind(path: Path, start: bytes) -> Kind | None:
    """A run in one JSON file: of FLAML, SMAC, Ax, OpenBox, or a saved `cv_results_`."""
    if flaml.recognised(start):
        return _of_tool("FLAML", partial(flaml.read, path), path)
    if path.name == "runhistory.json":
        return _of_tool("SMAC", partial(smac.read, path.parent), path)
    if path.suffix.lower() != ".json":
        return None
    try:
        document = load_json(path)
    except SourceError:
        return None  # JSON lines, or nothing that can be read: the table's reader says which
    if ax.experiment_of(document) is not None:
        return _of_tool("Ax", partial(ax.read, path), path)
    if openbox.recognised(document):
        return _of_tool("OpenBox", partial(openbox.read, path), path)
    if sklearn.is_results(document) and isinstance(document["params"], list):
        return _of_tool("scikit-learn", partial(sklearn.from_results, document), path)
    return None


def _of_tool(
    tool: str, read: Callable[[ReadOptions], RawRun], path: Path, studies: bool = False
) -> Kind:
    """A run that a tool's reader hands over as it was written."""

    def history(options: ReadOptions) -> History:
        run = guarded(partial(read, options), path, tool)
        return as_history(run, replace(options, study=None) if studies else options)

    return Kind(tool, history)


def guarded(reader: Callable[[], Result], path: Path | str, tool: str = "Optuna") -> Result:
    """What a reader returns; content that no version of its tool writes is the user's to correct."""
    try:
        return reader()
    except _STRANGE as problem:
        raise SourceError(
            f"'{path}' holds something that {tool} does not write ({type(problem).__name__}); "
            "check that the run was saved completely, or export it as a table."
        ) from problem
