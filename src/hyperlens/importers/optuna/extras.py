"""What `convert` keeps with an Optuna study beside what Optuna itself can hold.

Each trial carries it in the attribute of our optimisers' proposals, under one key: its number and
state, seed, instance, budget, times, costs, and the proposal that it had.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hyperlens.importers.optuna.stored_study import StoredTrial
from hyperlens.importers.values import Json, as_dict, as_list
from hyperlens.proposal import PROPOSAL, Proposal
from hyperlens.runs.curve import Curve
from hyperlens.runs.history import History, Objective, State, Trial
from hyperlens.spaces.space import Space

KEY = "converted"
FACTS = ("number", "budget", "seed", "instance", "started", "ended", "proposer", "reason")


def extras(trial: Trial) -> dict[str, Any]:
    """What is to be stored with a trial."""
    facts = {name: getattr(trial, name) for name in FACTS}
    costs = [cost if math.isfinite(cost) else str(cost) for cost in trial.costs]
    proposal = trial.proposal and trial.proposal.to_dict()
    facts |= {"state": str(trial.state), "costs": costs, "proposal": proposal}
    if trial.curve is not None and not is_intermediate(trial.curve):
        facts["curve"] = trial.curve.to_dict()
    return facts


def is_intermediate(curve: Curve) -> bool:
    """Can Optuna hold it itself? It has whole steps, and one value at each."""
    return curve.values.shape[1] == 1 and bool((curve.steps == np.rint(curve.steps)).all())


def restore(history: History, trials: Sequence[StoredTrial]) -> History:
    """The run as it was before it was converted; any other as it is."""
    facts = [as_dict(as_dict(trial.attributes.get(PROPOSAL)).get(KEY)) for trial in trials]
    if not facts or not all(facts):
        return history
    run = as_dict(facts[0].get("run"))
    try:
        order = _order(history.objectives, run)
        restored = [_trial(t, known, order) for t, known in zip(history.trials, facts, strict=True)]
    except (KeyError, TypeError, ValueError, IndexError):
        return history
    space = Space(history.space.configspace, [str(text) for text in run.get("inferred", [])])
    source = str(run.get("source", history.source))
    notes = tuple(str(note) for note in run.get("notes", []))
    return replace(history, space=space, trials=tuple(restored), source=source, notes=notes)


def _order(objectives: Sequence[Objective], run: Json) -> list[int]:
    """Positions of the objectives among the costs, which are stored in the run's own order."""
    known = as_list(run.get("objectives"))
    if sorted(known) != sorted(o.name for o in objectives):
        return list(range(len(objectives)))
    return [known.index(o.name) for o in objectives]


def _trial(trial: Trial, facts: Json, order: Sequence[int]) -> Trial:
    costs = [float(facts["costs"][k]) for k in order]
    curve = Curve.from_dict(facts.get("curve"))
    return replace(
        trial,
        **{name: facts[name] for name in FACTS},
        state=State(facts["state"]),
        costs=tuple(costs),
        proposal=Proposal.from_dict(facts["proposal"]),
        curve=curve and curve.ordered(order) if "curve" in facts else trial.curve,
    )
