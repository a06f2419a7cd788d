"""Which column of a table is what: parameters, costs, facts on a trial, or nothing of interest.

Headers that tools write say it themselves: `params.lr` and `metrics.loss` (MLflow), `params_lr` and
`value` (Optuna), `param_C` and `mean_test_score` (scikit-learn), `config/lr` (Ray Tune),
`metric:loss (minimize)` with `config:lr` (AMLTK) or `param:lr` (ours). Where a header says nothing, the
user must.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from hyperlens.errors import SourceError, listed
from hyperlens.importers.directions import measured
from hyperlens.importers.read_options import ReadOptions
from hyperlens.importers.tables.aside import left_aside
from hyperlens.importers.tables.details import KNOWN
from hyperlens.runs.history import Objective
from hyperlens.runs.limits import limits_of
from hyperlens.spaces.space import Space

_PARAMETERS = ("param:", "params.", "params/", "params_", "param_", "config/", "config.", "config:")
_METRICS = ("metrics.", "metrics/", "summary.", "summary/", "mean_test_")
_METRIC = re.compile(r"metric:(?P<name>.*?)(\s*\[[^\]]*\])?(\s*\((?P<to>maximize|minimize)\))?\s*")
_USUAL = ("cost", "loss", "objective", "value")
_ABOUT_RUNS = {
    *("name", "id", "user", "tags", "notes", "sweep", "created", "runtime", "updated", "group"),
    *("hostname", "host", "state", "status", "duration", "run id", "run_id", "experiment_id"),
    *("artifact_uri", "source type", "source name", "start time", "additional", "trial_id"),
    *("job type", "commit", "github", "gpu count", "gpu type", "command", "description"),
}
_WANDB = {"name", "state", "created", "runtime", "sweep", "user"}
_MLFLOW = {"run id", "start time", "duration", "source type", "user"}
_ASIDE = re.compile(
    r"(tags\.|user_attrs_|system_attrs_|split\d+_|std_|rank_test|mean_fit_time|mean_score_time|"
    r"mean_train_|unnamed: |_wandb|_step$|_runtime$|_timestamp$|params$|iter$)",
    re.IGNORECASE,
)
MOST_NAMED = 8  # columns that are still worth naming


@dataclass(frozen=True)
class Roles:
    """Columns by what they hold; `parameters`, `costs` and `limited` map a column to its name.

    `limited` are columns that limits ask for and that are neither parameters nor costs.
    """

    parameters: Mapping[str, str]
    costs: Mapping[str, Objective]
    directed: bool
    details: Mapping[str, str]
    limited: Mapping[str, str]
    ignored: Sequence[str]
    notes: Sequence[str]


def assign_roles(
    columns: Sequence[str],
    space: Space | None,
    options: ReadOptions,
    what: str,
    cells: Callable[[str], list[Any]],
) -> Roles:
    """What each column is, by the header, the space, and what the user says.

    `cells` are the values of a column: results hold numbers alone.
    """
    notes: list[str] = []
    costs, directed = _costs(columns, space, options, what, notes)
    rest = [c for c in columns if c not in costs]
    limited = _limited(rest, options)
    aside: list[tuple[str, list[str]]] = []
    if space is None:
        free = rest if options.parameters else [c for c in rest if c not in limited]
        if not options.parameters:
            aside = left_aside(free, cells)
        parameters = _without_space(free, options, what, notes, aside)
    else:
        parameters, missing = _columns_of(space.names, rest)
        if missing:
            raise SourceError(
                f"The table has no columns for the parameters {listed(missing)}; add them or correct "
                f"the names in the space (the columns are {listed(columns)})."
            )
    taken = {*parameters, *(c for c in rest if space is not None and c in space.constants)}
    limited = {c: name for c, name in limited.items() if c not in taken}
    details = _details([c for c in rest if c not in taken])
    known = {*taken, *details.values(), *limited, *(c for _, found in aside for c in found)}
    ignored = [c for c in rest if c not in known]
    return Roles(parameters, costs, directed, details, limited, ignored, notes)


def _limited(rest: Sequence[str], options: ReadOptions) -> dict[str, str]:
    """Columns that the user's limits ask for, by name with or without the prefix of a metric."""
    names = {name for limit in limits_of(options.constraints) for name in limit.condition.names}
    ways = {f"{prefix}{name}": name for name in names for prefix in ("", *_METRICS)}
    return {column: ways[column] for column in rest if column in ways}


def _costs(
    columns: Sequence[str], space: Space | None, options: ReadOptions, what: str, notes: list[str]
) -> tuple[dict[str, Objective], bool]:
    """Columns of costs, the chosen first, and whether their directions are told."""
    declared = {c: m for c in columns if (m := _METRIC.fullmatch(c))}
    if options.objectives:
        costs = {_named(name, columns, declared): name for name in options.objectives}
        if clash := [name for c, name in costs.items() if space is not None and c in space.names]:
            raise SourceError(
                f"'{clash[0]}' is a parameter of the space; name another column for the objective with "
                "--objective COLUMN (objective= in Python)."
            )
    elif declared:
        costs = {}
    else:
        column = _single(columns, space, what, notes)
        costs = {column: column}
    if costs.keys() <= declared.keys():
        costs |= {c: m["name"] for c, m in declared.items() if c not in costs}
    scores = all(c.startswith("mean_test_") for c in costs)  # scikit-learn's are to be large
    to = {c: declared[c]["to"] if c in declared else None for c in costs}
    objectives = {c: Objective(n, scores or to[c] == "maximize") for c, n in costs.items()}
    return objectives, scores or all(to.values())


def _named(name: str, columns: Sequence[str], declared: Mapping[str, re.Match[str]]) -> str:
    """The column of the cost that the user names."""
    if name in columns:
        return name
    for column in columns:
        metric = declared[column]["name"] if column in declared else None
        if name == metric or any(column == f"{prefix}{name}" for prefix in _METRICS):
            return column
    metrics = [match["name"] for column, match in declared.items() if column in columns]
    names = [*metrics, *_likely([c for c in columns if c not in declared])]
    near = get_close_matches(name.lower(), [n.lower() for n in names], 1, 0.7)
    meant = next((f" Did you mean '{n}'?" for n in names if [n.lower()] == near), "")
    raise SourceError(
        f"There is no column '{name}' for the objective; choose one of {listed(names)} "
        f"with --objective COLUMN (objective= in Python).{meant}"
    )


def _likely(columns: Sequence[str]) -> list[str]:
    """Columns, first those that are called like something that is measured."""
    return sorted(columns, key=lambda column: not (column.startswith(_METRICS) or measured(column)))


def _single(columns: Sequence[str], space: Space | None, what: str, notes: list[str]) -> str:
    """The one column that is a cost by its name."""
    free = [c for c in columns if space is None or c not in space.names]
    for possible in (
        [c for c in free if c.startswith("mean_test_")],
        [c for c in free if c.startswith(_METRICS)],
        [c for c in free if c.lower() in _USUAL],
    ):
        if len(possible) == 1:
            if not possible[0].startswith("mean_test_"):
                notes.append(
                    f"The column '{possible[0]}' is taken as the objective; name another "
                    "with --objective COLUMN (objective= in Python)."
                )
            return possible[0]
    raise SourceError(
        f"{what} does not say which column was optimised; name it with --objective COLUMN "
        f"(objective= in Python), one of {listed(_likely(free))}."
    )


def _columns_of(names: Sequence[str], rest: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The column of each parameter, by its name with or without a known prefix; names without one."""
    parameters = {}
    for name in names:
        ways = (f"{prefix}{name}" for prefix in ("", *_PARAMETERS))
        if column := next((way for way in ways if way in rest), None):
            parameters[column] = name
    known = set(parameters.values())
    return parameters, [name for name in names if name not in known]


def _without_space(
    rest: Sequence[str],
    options: ReadOptions,
    what: str,
    notes: list[str],
    aside: Sequence[tuple[str, Sequence[str]]],
) -> dict[str, str]:
    """The columns that the user names, that the header marks, or that nothing else explains."""
    if options.parameters:
        parameters, missing = _columns_of(options.parameters, rest)
        if missing:
            raise SourceError(
                f"{what} has no column '{missing[0]}' for a parameter; choose from {listed(rest)} "
                "with --parameters A,B (parameters= in Python)."
            )
        return parameters
    for prefix in _PARAMETERS:
        if marked := {c: c.removeprefix(prefix) for c in rest if c.startswith(prefix)}:
            return {c: name for c, name in marked.items() if name}
    lower = {c.lower() for c in rest}
    for tool, header in (("W&B", _WANDB), ("MLflow", _MLFLOW)):
        if len(lower & header) >= 3:
            raise SourceError(
                f"{what} is an export of {tool}, whose header does not tell parameters from "
                "results; name the parameters with --parameters A,B (parameters= in Python) or "
                "give the space with --space FILE (space= in Python)."
            )
    details = _details(rest).values()
    left = [
        c for c in rest if c not in details and c.lower() not in _ABOUT_RUNS and not _ASIDE.match(c)
    ]
    if not left:
        raise SourceError(
            f"{what} has no column that could be a parameter; name them with --parameters A,B "
            "(parameters= in Python)."
        )
    for sentence, columns in aside:
        found = [c for c in left if c in columns]
        if 0 < len(found) < len(left):
            left = [c for c in left if c not in found]
            notes.append(sentence.format(listed(found)))
    notes.append(
        f"Taken as parameters: {listed(left)}; name others with --parameters A,B (parameters= in "
        "Python)."
    )
    return {c: c for c in left}


def _details(rest: Sequence[str]) -> dict[str, str]:
    """The columns of well-known facts on trials, by their names in lower case."""
    lower = {column.lower(): column for column in reversed(rest)}
    columns = {name: [lower[a] for a in aliases if a in lower] for name, aliases in KNOWN.items()}
    return {name: known[0] for name, known in columns.items() if known}


def ignored_note(ignored: Sequence[str]) -> list[str]:
    if not 0 < len(ignored) <= MOST_NAMED:
        return []
    return [f"Columns that are neither parameters nor the cost were ignored: {listed(ignored)}."]
