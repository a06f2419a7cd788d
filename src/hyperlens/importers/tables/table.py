"""Tables: a DataFrame, a file, or a folder of `trials.csv` with its space, read into a History."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperlens.errors import SourceError, SpaceError
from hyperlens.importers.directions import directed
from hyperlens.importers.files import inside, start_of
from hyperlens.importers.read_options import ReadOptions, parameters_refused, settle
from hyperlens.importers.spaces.inference import MOST_NUMBER, conclude
from hyperlens.importers.tables.cells import bad_cost, numbers, typed, values
from hyperlens.importers.tables.columns import assign_roles, ignored_note
from hyperlens.importers.tables.details import read_details
from hyperlens.importers.tables.frames import check_names, read_frame
from hyperlens.importers.tables.spreadsheets import without_margins
from hyperlens.importers.tables.steps import find_steps
from hyperlens.importers.tables.wandb import unpacked
from hyperlens.runs.curve import Curve
from hyperlens.runs.history import History, State, Trial
from hyperlens.runs.limits import with_limits
from hyperlens.spaces.cube import BoolArray
from hyperlens.spaces.parameter import Kind, Parameter
from hyperlens.spaces.space import Space, as_space

if TYPE_CHECKING:
    from pandas import DataFrame

_FOLDER = "trials.csv"
_SPACES = ("configspace.json", "configspace.yaml", "configspace.csv", "configspace.pcs")
_FACTS = ("budget", "seed", "instance", "started", "ended", "proposer", "reason")  # as in Trial
Rows = list[dict[str, Any]]


def from_file(path: Path, start: bytes, options: ReadOptions) -> History:
    """Read a table out of a file."""
    frame = without_margins(read_frame(path, start))
    return from_rows(frame, options, f"table {path.name}", f"The table '{path}'")


def from_frame(frame: DataFrame, options: ReadOptions) -> History:
    """Read a DataFrame."""
    return from_rows(frame, options, "a DataFrame", "The DataFrame")


def recognised(folder: Path) -> bool:
    return inside(folder, _FOLDER) is not None


def from_folder(folder: Path, options: ReadOptions) -> History:
    """Read `trials.csv` with the space beside it."""
    path = folder / _FOLDER
    frame = read_frame(path, start_of(path))
    source, what = f"table {folder.name}/{_FOLDER}", f"The table '{path}'"
    return from_rows(frame, beside(folder, options), source, what)


def beside(folder: Path, options: ReadOptions) -> ReadOptions:
    """The options with the space that lies in a folder, unless the user says what is searched."""
    if options.space is None and not options.parameters:
        for name in _SPACES:
            if path := inside(folder, name):
                space = _listed_space(path) if name.endswith("csv") else Space.load(path)
                return replace(options, space=space)
    return options


def _listed_space(path: Path) -> Space:
    """A space as a table of its own: one parameter a row, choices in `item_0`, `item_1`, ..."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        parameters = [_listed_parameter(row) for row in rows]
    except (csv.Error, AttributeError, KeyError, OSError, TypeError, ValueError) as problem:
        raise SpaceError(
            f"The file '{path}' is not a table of parameters (name, type, lower, upper, log, item_0 "
            "...); correct it, or give the space with --space FILE (space= in Python)."
        ) from problem
    varying = [p for p in parameters if isinstance(p, Parameter)]
    constants = dict(p for p in parameters if isinstance(p, tuple))
    return Space.of(varying, constants=constants)


def _listed_parameter(row: dict[str, str]) -> Parameter | tuple[str, Any]:
    name, kind = row["name"], row["type"].strip().lower()
    if kind in ("categorical", "ordinal", "constant"):
        items = {c: v for c, v in row.items() if c and c.startswith("item_") and v != ""}
        choices = tuple(v for _, v in sorted(items.items(), key=lambda i: int(i[0][5:])))
        if len(choices) < 2:
            return name, choices[0] if choices else row["default"]
        ordered = kind == "ordinal" or row.get("ordered", "").strip().lower() == "true"
        return Parameter(name, "ordinal" if ordered else "categorical", choices=choices)
    sort: Kind = "integer" if kind.startswith("int") else "float"
    log = row.get("log", "").strip().lower() == "true"
    low, high = float(row["lower"]), float(row["upper"])
    if max(abs(low), abs(high)) > MOST_NUMBER:
        raise ValueError("too large a bound")
    return Parameter(name, sort, low, high, log)


def from_rows(frame: DataFrame, options: ReadOptions, source: str, what: str) -> History:
    """Read one trial a row; `what` names the table in sentences."""
    if options.study is not None:
        raise SourceError(f"{what} holds one run and no studies by name; leave out the study.")
    frame = unpacked(frame)
    columns = [str(name) for name in frame.columns]
    check_names(columns, what)
    frame = frame.set_axis(columns, axis=1)
    space = None if options.space is None else as_space(options.space)
    if space is not None and options.parameters:
        raise parameters_refused()

    def cells(column: str) -> list[Any]:
        return typed(frame[column])[1]

    roles = assign_roles(columns, space, options, what, cells)
    if len(frame) == 0:
        raise SourceError(f"{what} has no rows; give one row for each trial.")
    notes = list(frame.attrs.get("notes", ()))
    steps = find_steps(frame, roles, space, options, what)
    if steps is not None:
        others = [c for c in columns if c != steps.column]
        roles = assign_roles(others, space, options, what, cells)
        notes += steps.notes
    notes += roles.notes
    costs = [numbers(frame[column], column, bad_cost) for column in roles.costs]
    curves: list[Curve | None] = [None] * len(frame)
    if steps is not None:
        curves = steps.curves(costs)
        frame = frame.iloc[steps.ends]
        costs = [[column[i] for i in steps.ends] for column in costs]
    details, used, remarks = read_details(frame, roles.details)
    states = details.get("state", [State.COMPLETE] * len(frame))
    if space is None:
        rows = _cells(frame, roles.parameters, lambda cells, _: typed(cells))
        space, more = conclude(rows, [s is not State.FAILED for s in states])
        whole = list(range(len(frame)))
    else:
        parameters = space
        rows = _cells(frame, roles.parameters, lambda cells, name: values(cells, parameters[name]))
        whole, more = settle(space, rows, [True] * len(rows))
    unused = [c for c in roles.details.values() if c not in used]
    notes += [*more, *ignored_note([*roles.ignored, *unused]), *remarks]
    objectives = [
        directed(objective, roles.directed, options, k == 0, notes, what)
        for k, objective in enumerate(roles.costs.values())
    ]
    facts = [details.get(name, [None] * len(frame)) for name in _FACTS]
    every = zip(details["number"], rows, zip(*costs, strict=True), states, *facts, strict=True)
    trials = [replace(Trial(*t), curve=curve) for t, curve in zip(every, curves, strict=True)]
    kept = tuple(trials[i] for i in whole)
    history = History(space, tuple(objectives), kept, source, tuple(notes))
    known = _cells(frame, roles.limited, lambda cells, _: typed(cells))
    return with_limits(history, options.constraints, [known[i] for i in whole])


def _cells(
    frame: DataFrame,
    columns: Mapping[str, str],
    read: Callable[[Any, str], tuple[BoolArray, list[Any]]],
) -> Rows:
    """Values by trial and name, out of some columns."""
    rows: Rows = [{} for _ in range(len(frame))]
    for column, name in columns.items():
        present, cells = read(frame[column], name)
        for i, value in zip(np.flatnonzero(present).tolist(), cells, strict=True):
            rows[i][name] = value
    return rows
