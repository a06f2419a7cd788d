"""Options that choose what of a run is analysed, the same for every command that explains.

A command that takes `chosen: Chosen` and is marked `@choosing` has all of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hyperlens.errors import AnalysisError, SourceError

if TYPE_CHECKING:
    from hyperlens.runs.history import History

HYPERVOLUME = "hypervolume"


@dataclass(frozen=True)
class Chosen:
    """What was chosen, as it was typed."""

    budget: str | None = None
    states: str | None = None
    where: str | None = None
    last: int | None = None
    weights: str | None = None
    columns: str | None = None


NOTHING = Chosen()
_OPTIONS: dict[str, Any] = {
    "budget": Annotated[
        str | None,
        typer.Option(help="One budget, or 'all': lower ones used too where that is sound."),
    ],
    "states": Annotated[
        str | None, typer.Option(help="States of trials to use, such as 'complete,pruned'.")
    ],
    "where": Annotated[
        str | None, typer.Option(help="Only trials for which this holds: \"model == 'svm'\".")
    ],
    "last": Annotated[int | None, typer.Option(min=1, help="Only the last so many trials.")],
    "weights": Annotated[
        str | None, typer.Option(help="Several objectives as one: 'error=1,time=0.1'.")
    ],
    "columns": Annotated[
        str | None,
        typer.Option("--parameters", help="Columns of a table that are parameters: 'lr,depth'."),
    ],
}


def choosing(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options above; it gets them as its argument `chosen`."""
    signature = inspect.signature(command, eval_str=True)
    own = [p for p in signature.parameters.values() if p.name != "chosen"]
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in _OPTIONS.items()
    ]

    @wraps(command)
    def run(**given: Any) -> None:
        chosen = Chosen(**{name: given.pop(name) for name in _OPTIONS})
        command(chosen=chosen, **given)

    run.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
    return run


def read_chosen(
    source: str,
    study: str | None,
    space: str | None,
    cost: str | None,
    maximize: bool | None,
    chosen: Chosen,
) -> History:
    """Read a run, and of it what was chosen."""
    from hyperlens import importers

    weights = _weights(chosen.weights)
    names: list[str] | None = [cost] if cost is not None else None
    larger: bool | list[str] | None = maximize
    if weights:
        if cost is not None:
            raise SourceError("Weights name the objectives; leave out --objective or --weights.")
        names = list(weights)
        if any(weight < 0 for weight in weights.values()):
            larger = [name for name, weight in weights.items() if weight < 0]
            weights = {name: abs(weight) for name, weight in weights.items()}
    hypervolume = cost == HYPERVOLUME
    parameters = [name.strip() for name in (chosen.columns or "").split(",") if name.strip()]
    history = importers.read(
        source, study, space, None if hypervolume else names, larger, parameters or None
    )
    if hypervolume and any(o.name == HYPERVOLUME for o in history.objectives):
        history = importers.read(source, study, space, names, larger, parameters or None)
        hypervolume = False
    return _selected(history, chosen, weights, hypervolume)


def _selected(
    history: History, chosen: Chosen, weights: dict[str, float], hypervolume: bool
) -> History:
    everything = chosen.budget is not None and chosen.budget.strip().lower() == "all"
    asked = (chosen.states, chosen.where, chosen.last)
    if any(option is not None for option in asked) or weights or hypervolume or chosen.budget:
        history = history.select(
            states=None if chosen.states is None else chosen.states.split(","),
            budget=None if chosen.budget is None or everything else _number(chosen.budget),
            where=chosen.where,
            last=chosen.last,
            weights=weights or None,
            hypervolume=hypervolume,
        )
    if everything:
        from hyperlens.explain.models.fidelity import all_budgets

        history = all_budgets(history)
    return history


def _number(budget: str) -> float:
    try:
        return float(budget)
    except ValueError:
        raise AnalysisError(
            f"A budget of '{budget}' is not understood; give a number or 'all'."
        ) from None


def _weights(text: str | None) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in (text or "").split(",") if text else ():
        name, equals, weight = part.rpartition("=")
        try:
            found[name.strip()] = float(weight)
        except ValueError:
            equals = ""
        if not equals:
            raise AnalysisError(
                f"The weight '{part.strip()}' is not understood; write --weights 'error=1,time=0.1'."
            )
    return found
