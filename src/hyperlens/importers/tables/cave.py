"""CAVE: a folder with `runhistory.csv`, as its users wrote it for runs of any configurator.

One evaluation a row: cost, perhaps time, seed, status, budget and instance, and either a `config_id` of
`configurations.csv` beside it or the parameters themselves. The space is `configspace.json` or `.pcs`;
costs are minimised. Runs that SMAC itself left are read from their `runhistory.json`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hyperlens.errors import SourceError
from hyperlens.importers.files import inside
from hyperlens.importers.read_options import ReadOptions
from hyperlens.importers.tables.frames import csv_frame
from hyperlens.importers.tables.table import beside, from_rows
from hyperlens.runs.history import History

if TYPE_CHECKING:
    from pandas import DataFrame

_RUNS, _CONFIGURATIONS = "runhistory.csv", "configurations.csv"
_KEY = "config_id"


def recognised(folder: Path) -> bool:
    return inside(folder, _RUNS) is not None


def read(folder: Path, options: ReadOptions) -> History:
    path = folder / _RUNS
    frame = _stripped(csv_frame(path, f"The table '{path}'")).rename(
        columns={"instance_id": "instance"}
    )
    if "time" in frame.columns and "time" not in options.objectives:
        frame = frame.drop(columns="time")  # how long an evaluation took
    if _KEY in frame.columns and (configurations := inside(folder, _CONFIGURATIONS)) is not None:
        frame = _joined(frame, configurations)
    if not options.objectives:
        options = replace(options, objective="cost")
    if options.direction("cost", first=True) is None:
        options = replace(options, maximize={"cost": False})
    return from_rows(
        frame, beside(folder, options), f"CAVE run {folder.name}", f"The table '{path}'"
    )


def _joined(runs: DataFrame, path: Path) -> DataFrame:
    """Each evaluation with the values of its configuration."""
    configurations = _stripped(csv_frame(path, f"The table '{path}'"))
    configurations = configurations.rename(columns={"CONFIG_ID": _KEY})
    if _KEY not in configurations.columns or configurations[_KEY].duplicated().any():
        raise SourceError(
            f"The table '{path}' does not name each configuration once in CONFIG_ID; correct it."
        )
    unknown = ~runs[_KEY].isin(configurations[_KEY])
    if unknown.any():
        raise SourceError(
            f"'{runs[_KEY][unknown].iloc[0]}' is no CONFIG_ID of '{path}'; add this configuration."
        )
    return runs.merge(configurations, on=_KEY, how="left")


def _stripped(frame: DataFrame) -> DataFrame:
    """Names and cells without the blanks that CAVE takes away."""
    frame = frame.set_axis([str(name).strip() for name in frame.columns], axis=1)
    return frame.apply(lambda cells: cells.str.strip())
