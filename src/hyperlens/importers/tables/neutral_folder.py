"""The neutral form of a run, which `convert` writes: a folder of three files, or four.

    trials.csv         one trial a row: its facts, `metric:NAME (minimize)`, `param:NAME`
    configspace.json   the space, in ConfigSpace's own form
    run.json           where the run came from, its objectives and limits, what was noticed and
                       inferred, and the plan of a search over models
    curves.csv         where trials have learning curves: the row of the trial in trials.csv, from 0,
                       a step, and each metric there

By how much a trial exceeds a limit stands in `excess:LIMIT`.

An empty cell is what is unknown or not active. A choice is written as its text, or as JSON where
two choices have the same text. Numbers are written so that they are read back exactly. A text that a
spreadsheet would compute stands behind an apostrophe, and is read back without it.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hyperlens.errors import SourceError, SpaceError
from hyperlens.importers.files import inside, load_json, malformed
from hyperlens.importers.raw_run import RawRun, as_history
from hyperlens.importers.read_options import ReadOptions
from hyperlens.importers.values import as_dict, as_list, one_line
from hyperlens.proposal import Proposal
from hyperlens.runs.curve import Curve
from hyperlens.runs.history import History, Objective, State, Trial
from hyperlens.runs.search_plan import SearchPlan
from hyperlens.spaces.space import Space
from hyperlens.words import no_formula

TRIALS, SPACE, RUN, CURVES = "trials.csv", "configspace.json", "run.json", "curves.csv"
FORMAT = "hyperlens run 1"
FACTS = (  # in the order of Trial, which has values and costs after the number
    *("number", "state", "budget", "seed", "instance", "started", "ended", "proposer", "reason"),
    "proposal",
)
NUMBERS = ("budget", "started", "ended")
_READERS: dict[str, Callable[[str], Any]] = {  # of cells that are not empty; others are texts
    "number": int,
    "seed": int,
    "state": State,
    **dict.fromkeys(NUMBERS, float),
    "proposal": lambda cell: Proposal.from_dict(json.loads(cell)),
}


def metric_column(objective: Objective) -> str:
    return f"metric:{objective.name} ({'maximize' if objective.maximize else 'minimize'})"


def limit_column(limit: str) -> str:
    """By how much a trial exceeds a limit."""
    return f"excess:{limit}"


def parameter_column(name: str) -> str:
    return f"param:{name}"


def texts(choices: Sequence[Any]) -> list[str]:
    """How each choice is written: no two alike, none empty."""
    plain = [no_formula(str(choice)) for choice in choices]
    if len(set(plain)) == len(plain) and "" not in plain:
        return plain
    return [json.dumps(choice) for choice in choices]


def kept(text: str) -> str:
    """A fact that is a text, as it stands in a cell.

    >>> [kept(text) for text in ("=1+1", "'=1+1", "'s")]
    ["'=1+1", "''=1+1", "'s"]
    """
    bare = text.lstrip("'")
    return f"'{text}" if no_formula(bare) != bare else text


def _unkept(cell: str) -> str:
    """The text of which `kept` made this cell."""
    text = cell.removeprefix("'")
    return text if text != cell and kept(text) == cell else cell


def recognised(folder: Path) -> bool:
    if any(inside(folder, name) is None for name in (TRIALS, SPACE, RUN)):
        return False
    return as_dict(load_json(folder / RUN)).get("format") == FORMAT


def read(folder: Path, options: ReadOptions) -> History:
    """Read the folder; exactly what was written, unless something else is asked for."""
    description = load_json(folder / RUN)
    objectives = _objectives(description, folder)
    inferred = [str(sentence) for sentence in description.get("inferred", [])]
    space = Space(Space.load(folder / SPACE).configspace, inferred)
    source = str(description.get("source", folder.name))
    notes = [str(note) for note in description.get("notes", [])]
    plan = SearchPlan.from_dict(description.get("plan"))
    limits = tuple(str(limit) for limit in description.get("limits", []))
    try:
        trials = _trials(folder / TRIALS, space, objectives, limits)
        trials = _with_curves(trials, folder, objectives)
    except (ValueError, KeyError, OverflowError) as problem:
        raise SourceError(
            f"The file '{folder / TRIALS}' is not as 'hyperlens convert' writes it "
            f"({one_line(problem)}); convert the run again."
        ) from problem
    asked = (options.study, options.space, options.maximize, options.step) != (None,) * 4
    if not (asked or options.objectives or options.parameters or options.constraint):
        run = (space, tuple(objectives), tuple(trials), source, tuple(notes))
        return History(*run, plan=plan, limits=limits)
    raw = RawRun(source, objectives, trials, space, notes=notes, limits=limits)
    return replace(as_history(raw, options), plan=plan)


def _objectives(description: Any, folder: Path) -> list[Objective]:
    entries = as_list(description.get("objectives"))
    if not entries or not all(isinstance(entry, dict) for entry in entries):
        raise malformed(folder / RUN, "the objectives of a run")
    return [Objective(str(e.get("name")), bool(e.get("maximize"))) for e in entries]


def _trials(
    path: Path, space: Space, objectives: Sequence[Objective], limits: Sequence[str]
) -> list[Trial]:
    cells = _columns(path)

    def numbers(columns: list[str]) -> list[tuple[float, ...]]:
        """One tuple a trial."""
        read = [[math.nan if c == "" else float(c) for c in cells[name]] for name in columns]
        return list(zip(*read, strict=True)) if columns else [()] * len(cells["number"])

    costs = numbers([metric_column(o) for o in objectives])
    excess = numbers([limit_column(limit) for limit in limits])
    rows: list[dict[str, Any]] = [{} for _ in cells["number"]]
    for name in (*space.names, *space.constants):
        value = _reader(space, name)
        for row, cell in zip(rows, cells.get(parameter_column(name), ()), strict=False):
            if cell != "":
                row[name] = value(cell)
    number, *rest = ([_fact(name, cell) for cell in cells[name]] for name in FACTS)
    every = zip(number, rows, costs, *rest, excess, strict=True)
    return [Trial(*trial) for trial in every]


def _with_curves(trials: list[Trial], folder: Path, objectives: Sequence[Objective]) -> list[Trial]:
    if (path := inside(folder, CURVES)) is None:
        return trials
    cells = _columns(path)
    values = [[float(cell) for cell in cells[metric_column(o)]] for o in objectives]
    reports: dict[int, list[tuple[float, tuple[float, ...]]]] = {}
    rows = map(int, cells["row"])
    for row, step, *at in zip(rows, map(float, cells["step"]), *values, strict=True):
        reports.setdefault(row, []).append((step, tuple(at)))
    return [replace(t, curve=Curve.of(reports.get(k, ()))) for k, t in enumerate(trials)]


def _fact(name: str, cell: str) -> Any:
    return None if cell == "" and name != "state" else _READERS.get(name, _unkept)(cell)


def _columns(path: Path) -> dict[str, list[str]]:
    """Cells by column, all as text; any text, since names and reasons may be no valid Unicode."""
    import pandas

    try:
        frame = pandas.read_csv(
            path, header=None, dtype=object, na_filter=False, encoding_errors="surrogatepass"
        )
    except (pandas.errors.ParserError, pandas.errors.EmptyDataError) as problem:
        raise ValueError(one_line(problem)) from problem
    return {header: cells for header, *cells in (frame[k].tolist() for k in frame.columns)}


def _reader(space: Space, name: str) -> Callable[[str], Any]:
    """How cells of a parameter become values."""
    if name in space.constants:
        return json.loads
    parameter = space[name]
    if parameter.kind == "float":
        return float
    if parameter.kind == "integer":
        return lambda cell: int(cell) if cell.removeprefix("-").isdecimal() else float(cell)
    plain = {str(choice): choice for choice in parameter.choices}  # as they were written before
    known = plain | dict(zip(texts(parameter.choices), parameter.choices, strict=True))

    def choice(cell: str) -> Any:
        if cell not in known:
            raise SpaceError(
                f"Parameter '{name}' has the value {cell!r}, which is not among its choices; "
                "convert the run again."
            )
        return known[cell]

    return choice
