"""AMLTK: a history that its user wrote with `history.df().to_csv("history.csv")` or `to_parquet`.

Metrics with their directions, configurations, states, seeds and errors are columns that any table may
have. Trials that SMAC proposed carry seed, budget and instance in their names.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from hyperlens.importers.files import inside, start_of
from hyperlens.importers.read_options import ReadOptions
from hyperlens.importers.tables.frames import read_frame
from hyperlens.importers.tables.table import beside, from_rows
from hyperlens.runs.history import History

if TYPE_CHECKING:
    from pandas import DataFrame

_FILES = ("history.csv", "history.parquet")
_NAME = re.compile(
    r"config_id=\d+_seed=(?P<seed>\S*?)_budget=(?P<budget>\S*?)_instance=(?P<instance>.*)"
)


def is_history(start: bytes) -> bool:
    """Does a CSV begin with AMLTK's header?"""
    header = start.splitlines()[0] if start else b""
    return all(column in header for column in (b"status", b"metric:", b"config:"))


def recognised(folder: Path) -> bool:
    return _file(folder) is not None


def _file(folder: Path) -> Path | None:
    for name in _FILES:
        path = inside(folder, name)
        if path is not None and (name.endswith("parquet") or is_history(start_of(path, 2**16))):
            return path
    return None


def read(folder: Path, options: ReadOptions) -> History:
    """Read the history in a folder, with the space beside it if there is one."""
    path = _file(folder)
    assert path is not None
    return read_file(path, beside(folder, options))


def read_file(path: Path, options: ReadOptions) -> History:
    frame = _with_names(read_frame(path, start_of(path)))
    return from_rows(frame, options, f"AMLTK history {path.name}", f"The table '{path}'")


def _with_names(frame: DataFrame) -> DataFrame:
    """The frame with columns for what the names of all trials say."""
    if frame.index.name == "name":
        frame = frame.reset_index()
    if "name" not in frame.columns:
        return frame
    matches = [_NAME.fullmatch(str(cell)) for cell in frame["name"].tolist()]
    known = [m.groupdict() for m in matches if m is not None]
    if not known or len(known) < len(matches):
        return frame
    new = [key for key in _NAME.groupindex if key not in frame.columns]
    return frame.assign(**{key: [row[key] for row in known] for key in new})
