"""A search over models seen from one of them: its trials, on its own hyperparameters."""

from dataclasses import replace
from typing import Any

from hyperlens.cash.results.model_search import model_of
from hyperlens.errors import AnalysisError
from hyperlens.optimize.models.model_sampling import ROOT, own_hyperparameters
from hyperlens.runs.history import History
from hyperlens.spaces.clauses import Clauses
from hyperlens.spaces.space import Space


def one_model(history: History, model: str) -> History:
    """The trials of one model as a run on the parameters that it can have."""
    space = history.space
    of_each = own_hyperparameters(space)
    own = set(of_each[model])
    others = {name for names in of_each.values() for name in names} - own
    names = [name for name in space.names if name != ROOT and name not in others]
    if not names:
        raise AnalysisError(f"{model} has no hyperparameters that could matter.")
    clauses: dict[str, Clauses] = {}
    for name in names:
        open_ones = [
            tuple(atom for atom in clause if atom[0] != ROOT)
            for clause in space.clauses.get(name, ())
            if all(_holds(atom, model) for atom in clause if atom[0] == ROOT)
        ]
        if open_ones and all(open_ones):  # an empty one is always fulfilled
            clauses[name] = tuple(open_ones)
    constants = {**space.constants, ROOT: model}
    trials = tuple(
        replace(t, values={k: v for k, v in t.values.items() if k in names})
        for t in history.trials
        if model_of(t, space) == model
    )
    narrowed = Space.of([space[name] for name in names], clauses, constants, space.inferred)
    return replace(history, space=narrowed, trials=trials)


def _holds(atom: tuple[str, str, Any], model: str) -> bool:
    """Does this model fulfil a condition on the root?"""
    _, comparison, value = atom
    if comparison == "in":
        return model in map(str, value)
    return (str(value) == model) == (comparison == "equal")
