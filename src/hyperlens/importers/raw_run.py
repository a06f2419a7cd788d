"""What a reader found in a tool's files, and how it becomes a History.

A reader hands over trials with the values as they were written, the objectives, and the space if
the tool records one. Here the user's wishes are applied: another space, which objective comes
first, its direction.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hyperlens.errors import NoTrials, SourceError, SpaceError, listed
from hyperlens.importers.files import inside
from hyperlens.importers.read_options import ReadOptions, as_space, settle
from hyperlens.importers.spaces.inference import conclude
from hyperlens.runs.history import History, Objective, State, Trial
from hyperlens.spaces.parameter import Parameter
from hyperlens.spaces.space import Space

_LARGER = {
    *("acc", "accuracy", "auc", "auroc", "auprc", "bleu", "dice", "f1", "fbeta", "fps", "gain"),
    *("iou", "kappa", "likelihood", "map", "mcc", "miou", "mrr", "ndcg", "precision", "profit"),
    *("psnr", "r2", "recall", "return", "reward", "rouge", "score", "ssim", "throughput"),
}
_SMALLER = {
    *("brier", "cost", "distance", "err", "error", "fid", "latency", "loss", "mae", "mape", "mse"),
    *("neg", "negative", "nll", "perplexity", "regret", "rmse", "time", "wer"),
}


@dataclass
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


def space_beside(folder: Path, options: ReadOptions) -> Space | None:
    """The space that lies in a run's folder as ConfigSpace writes it, unless the user gives one."""
    path = inside(folder, "configspace.json") if options.space is None else None
    return Space.load(path) if path else None


def metrics_of(metrics: list[str], options: ReadOptions, doubt: str) -> list[str]:
    """The metrics to look at where a tool does not say what was optimised; `doubt` if that is open."""
    if options.objectives and set(options.objectives) <= set(metrics):
        return list(dict.fromkeys(options.objectives))
    if len(metrics) == 1 and not options.objectives:
        return metrics
    raise SourceError(doubt)


def as_history(found: RawRun, options: ReadOptions) -> History:
    """The run as the user asked for it."""
    if options.study is not None:
        raise SourceError(
            f"{found.source[:1].upper()}{found.source[1:]} holds one run and no studies by name; "
            "leave out the study."
        )
    if not found.trials:
        raise NoTrials(f"There are no trials in {found.source}; run some before reading it.")
    notes = list(found.notes)
    objectives, order = _ordered(found, options, notes)
    trials = [
        replace(t, values=dict(t.values), costs=tuple(t.costs[k] for k in order))
        for t in found.trials
    ]
    space, trials = _fitted(found, options, trials, notes)
    return History(space, tuple(objectives), tuple(trials), found.source, tuple(notes))


def _ordered(
    found: RawRun, options: ReadOptions, notes: list[str]
) -> tuple[list[Objective], list[int]]:
    """Objectives with the chosen ones first, in the direction that is known or was given."""
    names = [o.name for o in found.objectives]
    missing = [name for name in options.objectives if name not in names]
    if missing:
        raise SourceError(
            f"There is no objective {listed(missing)} in {found.source}; choose one of "
            f"{listed(names)} with --objective NAME (objective= in Python)."
        )
    order = [names.index(name) for name in options.objectives]
    order += [k for k in range(len(names)) if k not in order]
    objectives = [
        _directed(found, found.objectives[k], options, k == order[0], notes) for k in order
    ]
    return objectives, order


def _directed(
    found: RawRun, objective: Objective, options: ReadOptions, first: bool, notes: list[str]
) -> Objective:
    """An objective in the direction that the tool records, that the user gave, or minimised."""
    told = options.direction(objective.name, first)
    if not found.directed:
        if told is None:
            notes += direction(objective.name, options.lenient)
        return Objective(objective.name, bool(told))
    if told is not None and told != objective.maximize:
        does = "maximises" if objective.maximize else "minimises"
        raise SourceError(
            f"{found.source[:1].upper()}{found.source[1:]} {does} '{objective.name}'; leave out "
            "the direction, since the tool records it."
        )
    return objective


def direction(name: str, lenient: bool) -> list[str]:
    """What to say of an objective whose direction nothing tells; an error if its name doubts it.

    A loss, a cost or an error is minimised, which its name says.
    """
    words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+\d*|[A-Z]+\d*|\d+", name)}
    if words & _SMALLER or name.strip().startswith(("1 -", "1-", "-")):
        return []
    if not words & _LARGER:
        return [
            f"'{name}' is taken as minimised, since the run does not say; add --maximize "
            "(maximize=True in Python) if larger is better."
        ]
    sentence = (
        f"The run does not say whether '{name}' was minimised or maximised, and its name sounds like "
        "the latter; add --maximize or --minimize (maximize=True or False in Python)."
    )
    if not lenient:
        raise SourceError(sentence)
    return [sentence]


def _fitted(
    found: RawRun, options: ReadOptions, trials: list[Trial], notes: list[str]
) -> tuple[Space, list[Trial]]:
    """The space that applies, and the trials that fit it."""
    rows: list[dict[str, Any]] = [dict(t.values) for t in trials]
    finished = [t.state is not State.FAILED for t in trials]
    given = options.space is not None
    space = as_space(options.space) if options.space is not None else found.space
    if options.parameters and space is not None:
        raise SourceError(
            "The parameters are those of the space; leave out --parameters (parameters= in Python)."
        )
    if space is None:
        rows = [_chosen(row, options.parameters) for row in rows]
        if not any(finished):  # then their values say what there is to say
            finished = [True] * len(rows)
        space, remarks = conclude(rows, finished, found.declared)
        notes += remarks
        return space, [replace(t, values=row) for t, row in zip(trials, rows, strict=True)]
    known = {*space.names, *space.constants}
    seen = set().union(*rows)
    if unknown := sorted(seen - known):
        said = "The given space" if given else "The space that the run records"
        notes.append(f"{said} lacks {listed(unknown)}, which were left out.")
    if missing := [name for name in space.names if name not in seen]:
        if given or len(missing) == len(space):
            raise SourceError(
                f"No trial sets {listed(missing)} of the space; correct the names in the space."
            )
        notes.append(f"No trial ever sets {listed(missing)}, so nothing is said of these.")
    rows = [{name: row[name] for name in row if name in known} for row in rows]
    told = [i for i, done in enumerate(finished) if done]
    whole, remarks = settle(space, [rows[i] for i in told])
    notes += remarks
    kept = {told[i] for i in whole} | {i for i, done in enumerate(finished) if not done}
    fitted = [replace(trials[i], values=rows[i]) for i in sorted(kept)]
    if not fitted:
        raise SpaceError(
            "No trial sets all parameters that the space makes active; correct the space."
        )
    return space, fitted


def _chosen(row: dict[str, Any], parameters: tuple[str, ...]) -> dict[str, Any]:
    return {name: row[name] for name in row if name in parameters} if parameters else row
