"""A run as a tool's files hold it, and how it becomes a History.

A reader hands over trials with the values as they were written, the objectives, and the space if
the tool records one. Here the user's wishes are applied: another space, which objective comes
first, its direction.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from hyperlens.errors import NoTrials, SourceError, SpaceError, listed
from hyperlens.importers.directions import directed
from hyperlens.importers.files import inside
from hyperlens.importers.read_options import ReadOptions, parameters_refused, settle, step_refused
from hyperlens.importers.spaces.inference import conclude
from hyperlens.importers.values import Json
from hyperlens.runs.history import History, Objective, State, Trial
from hyperlens.runs.limits import with_limits
from hyperlens.spaces.parameter import Parameter
from hyperlens.spaces.space import Space, as_space


@dataclass(frozen=True)
class RawRun:
    """A run as a tool wrote it.

    `space` is what the tool records; `declared` are parameters whose conditions it does not
    record. `directed` says whether the tool records the directions of the objectives.
    """

    source: str
    objectives: list[Objective]
    trials: list[Trial]
    space: Space | None = None
    declared: Mapping[str, Parameter] = field(default_factory=dict)
    directed: bool = True
    notes: list[str] = field(default_factory=list)
    limits: Sequence[str] = ()


def space_beside(folder: Path, options: ReadOptions) -> Space | None:
    """The space that lies in a run's folder as ConfigSpace writes it, unless the user gives one.

    Older runs have it as PCS, of which dialects exist that nobody reads any more: then it is inferred.
    """
    if options.space is not None:
        return None
    if (path := inside(folder, "configspace.json")) is not None:
        return Space.load(path)
    if (path := inside(folder, "configspace.pcs")) is not None:
        with suppress(SpaceError):
            return Space.load(path)
    return None


def metrics_of(metrics: Sequence[str], options: ReadOptions, doubt: str) -> list[str]:
    """The metrics to look at where a tool does not say what was optimised; `doubt` if that is open."""
    if options.objectives and set(options.objectives) <= set(metrics):
        return list(dict.fromkeys(options.objectives))
    if len(metrics) == 1 and not options.objectives:
        return list(metrics)
    raise SourceError(doubt)


def as_history(run: RawRun, options: ReadOptions) -> History:
    """The run as the user asked for it."""
    if options.study is not None:
        raise SourceError(
            f"{run.source[:1].upper()}{run.source[1:]} holds one run and no studies by name; "
            "leave out the study."
        )
    if options.step is not None:
        raise step_refused(run.source)
    if not run.trials:
        raise NoTrials(f"There are no trials in {run.source}; run some before reading it.")
    notes = list(run.notes)
    order = _order(run, options)
    objectives = tuple(
        directed(run.objectives[k], run.directed, options, k == order[0], notes, run.source)
        for k in order
    )
    trials = [
        replace(
            t,
            costs=tuple(t.costs[k] for k in order),
            curve=t.curve and t.curve.ordered(order),
        )
        for t in run.trials
    ]
    on_space = _inferred if options.space is None and run.space is None else _fitted
    space, trials = on_space(run, trials, options, notes)
    limits = tuple(run.limits)
    history = History(space, objectives, tuple(trials), run.source, tuple(notes), limits=limits)
    return with_limits(history, options.constraints)


def _order(run: RawRun, options: ReadOptions) -> list[int]:
    """Positions of the objectives that are read."""
    names = [o.name for o in run.objectives]
    if unknown := [name for name in options.objectives if name not in names]:
        raise SourceError(
            f"There is no objective {listed(unknown)} in {run.source}; choose one of "
            f"{listed(names)} with --objective NAME (objective= in Python)."
        )
    return chosen_first(names, options)


def chosen_first(names: Sequence[str], options: ReadOptions) -> list[int]:
    """Positions of known objectives: the chosen one before the others, or several chosen ones alone."""
    first = [names.index(name) for name in dict.fromkeys(options.objectives)]
    return first if len(first) > 1 else first + [k for k in range(len(names)) if k not in first]


def _inferred(
    run: RawRun, trials: list[Trial], options: ReadOptions, notes: list[str]
) -> tuple[Space, list[Trial]]:
    """The space that the values suggest, and the trials on it."""
    rows: list[Json] = [dict(t.values) for t in trials]
    if options.parameters:
        rows = [{n: v for n, v in row.items() if n in options.parameters} for row in rows]
    finished = [t.state is not State.FAILED for t in trials]
    if not any(finished):  # then their values say what there is to say
        finished = [True] * len(rows)
    space, remarks = conclude(rows, finished, run.declared)
    notes += remarks
    return space, [replace(t, values=row) for t, row in zip(trials, rows, strict=True)]


def _fitted(
    run: RawRun, trials: list[Trial], options: ReadOptions, notes: list[str]
) -> tuple[Space, list[Trial]]:
    """The space that is given or recorded, and the trials that fit it."""
    if options.parameters:
        raise parameters_refused()
    space = run.space if options.space is None else as_space(options.space)
    assert space is not None
    known = {*space.names, *space.constants}
    names = set().union(*(t.values for t in trials))
    if unknown := sorted(names - known):
        what = "The space that the run records" if options.space is None else "The given space"
        notes.append(f"{what} lacks {listed(unknown)}, which were left out.")
    if missing := [name for name in space.names if name not in names]:
        if options.space is not None or len(missing) == len(space):
            raise SourceError(
                f"No trial sets {listed(missing)} of the space; correct the names in the space."
            )
        notes.append(f"No trial ever sets {listed(missing)}, so nothing is said of these.")
    rows = [{name: v for name, v in t.values.items() if name in known} for t in trials]
    whole, remarks = settle(space, rows, [t.state is not State.FAILED for t in trials])
    notes += remarks
    if not whole:
        raise SpaceError(
            "No trial sets all parameters that the space makes active; correct the space."
        )
    return space, [replace(trials[i], values=rows[i]) for i in whole]
