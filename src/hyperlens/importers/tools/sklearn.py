"""scikit-learn: a fitted search (grid, random, halving), or its `cv_results_`.

Scores are to be large, whatever they measure. A candidate's cost is its mean over the folds; the
halving searches' resources are its budget. Grids and distributions of a search are its space.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hyperlens.errors import SourceError, listed
from hyperlens.importers.raw_run import RawRun
from hyperlens.importers.read_options import ReadOptions
from hyperlens.importers.values import scalar
from hyperlens.runs.history import Objective, State, Trial
from hyperlens.spaces.parameter import Parameter, is_number

_MEAN = "mean_test_"
_LOG = ("loguniform", "reciprocal")


def is_results(source: Any) -> bool:
    """Is it a `cv_results_`?"""
    known = isinstance(source, Mapping) and "params" in source
    return known and any(str(key).startswith(_MEAN) for key in source)


def from_search(search: Any, options: ReadOptions) -> RawRun:
    """Read a fitted search object."""
    results: Any = getattr(search, "cv_results_", None)
    if not is_results(results):
        raise SourceError(
            f"This {type(search).__name__} has not been fitted; call its fit before reading it."
        )
    run = from_results(results, options, type(search).__name__, getattr(search, "refit", None))
    grids = getattr(search, "param_distributions", None) or getattr(search, "param_grid", None)
    return replace(run, declared=_declared([grids] if isinstance(grids, Mapping) else grids or []))


def from_results(
    results: Mapping[str, Any],
    options: ReadOptions,
    what: str = "cv_results_",
    refit: Any = None,
) -> RawRun:
    """Read the dictionary of results."""
    params = list(results["params"])
    metrics = [str(key).removeprefix(_MEAN) for key in results if str(key).startswith(_MEAN)]
    first = [refit] if refit in metrics else []
    if len(metrics) > 1 and not options.objectives and not first:
        raise SourceError(
            f"This {what} has several scores, {listed(metrics)}; choose one with --objective NAME "
            "(objective= in Python)."
        )
    names = list(dict.fromkeys([*first, *metrics]))
    scores = [np.asarray(results[f"{_MEAN}{name}"], dtype=float) for name in names]
    if any(len(column) != len(params) for column in scores):
        raise SourceError(
            f"The scores of this {what} are not as many as its candidates; give it as it was fitted."
        )
    resources = results.get("n_resources")
    trials = []
    for k, values in enumerate(params):
        costs = tuple(float(column[k]) for column in scores)
        failed = math.isnan(costs[0])
        trials.append(
            Trial(
                k,
                {str(name): _value(value) for name, value in dict(values).items()},
                costs,
                State.FAILED if failed else State.COMPLETE,
                budget=None if resources is None else float(resources[k]),
                reason="its fit or its score failed" if failed else None,
            )
        )
    objectives = [Objective(name, maximize=True) for name in names]
    return RawRun(f"scikit-learn {what}", objectives, trials)


def _value(value: Any) -> Any:
    """A value as a scalar; an estimator or a tuple by its text."""
    value = value.item() if isinstance(value, np.generic) else value
    shown = scalar(value)
    return shown if shown is value else " ".join(shown.split())


def _declared(grids: Sequence[Mapping[str, Any]]) -> dict[str, Parameter]:
    """Parameters of all grids; one whose grids differ in kind is left to be inferred."""
    ranges: dict[str, list[Any]] = {}
    for grid in grids:
        for name, values in grid.items():
            ranges.setdefault(str(name), []).append(values)
    declared: dict[str, Parameter | None] = {}
    for name, parts in ranges.items():
        if not any(hasattr(part, "rvs") for part in parts):
            declared[name] = _choices(name, [_value(v) for part in parts for v in part])
        elif len(parts) == 1:
            declared[name] = _distribution(name, parts[0])
    return {name: parameter for name, parameter in declared.items() if parameter is not None}


def _choices(name: str, values: Sequence[Any]) -> Parameter | None:
    distinct = list({(type(v), v): v for v in values}.values())
    if len(distinct) < 2 or len({str(v) for v in distinct}) < len(distinct):
        return None
    if all(map(is_number, distinct)):
        ordered = tuple(sorted(set(distinct)))
        return Parameter(name, "ordinal", choices=ordered) if len(ordered) > 1 else None
    return Parameter(name, "categorical", choices=tuple(distinct))


def _distribution(name: str, frozen: Any) -> Parameter | None:
    """A distribution of SciPy with a finite range."""
    kind = getattr(getattr(frozen, "dist", None), "name", "")
    try:
        low, high = (float(end) for end in frozen.support())
    except (AttributeError, TypeError, ValueError):
        return None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        return None
    if kind in _LOG and low > 0:
        return Parameter(name, "float", low, high, log=True)
    if kind == "randint" or (hasattr(frozen, "pmf") and not hasattr(frozen, "pdf")):
        return Parameter(name, "integer", low, high)
    return Parameter(name, "float", low, high) if kind in ("uniform", "loguniform") else None
