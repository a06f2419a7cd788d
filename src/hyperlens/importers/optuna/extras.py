"""What `convert` keeps with an Optuna study beside what Optuna itself can hold.

Each trial carries it in the attribute of our optimisers' proposals, under one key: its number and
state, seed, instance, budget, times, costs, and the proposal that it had.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hyperlens.importers.optuna.stored_study import StoredTrial
from hyperlens.proposal import PROPOSAL, Proposal
from hyperlens.runs.history import History, Objective, State, Trial
from hyperlens.spaces.space import Space

KEY = "converted"
FACTS = ("number", "budget", "seed", "instance", "started", "ended", "proposer", "reason")


def kept(trial: Trial) -> dict[str, Any]:
    """What is to be stored with a trial."""
    facts = {name: getattr(trial, name) for name in FACTS}
    costs = [cost if math.isfinite(cost) else str(cost) for cost in trial.costs]
    return facts | {
        "state": str(trial.state),
        "costs": costs,
        "proposal": trial.proposal and trial.proposal.to_dict(),
    }


def unconverted(history: History, trials: Sequence[StoredTrial]) -> History:
    """The run as it was before it was converted; any other as it is."""
    stored = [_kept(trial) for trial in trials]
    if not stored or any(facts is None for facts in stored):
        return history
    told = [facts for facts in stored if facts is not None]
    order = _order(history.objectives, told[0].get("run"))
    try:
        restored = [_trial(t, facts, order) for t, facts in zip(history.trials, told, strict=True)]
    except (KeyError, TypeError, ValueError, IndexError):
        return history
    run = told[0].get("run")
    run = run if isinstance(run, Mapping) else {}
    inferred = [str(sentence) for sentence in run.get("inferred", [])]
    notes = [str(note) for note in run.get("notes", [])]
    space = Space(history.space.configspace, inferred)
    source = str(run.get("source", history.source))
    return History(space, history.objectives, tuple(restored), source, tuple(notes))


def _kept(trial: StoredTrial) -> Mapping[str, Any] | None:
    proposal = trial.attributes.get(PROPOSAL)
    facts = proposal.get(KEY) if isinstance(proposal, Mapping) else None
    return facts if isinstance(facts, Mapping) else None


def _order(objectives: Sequence[Objective], run: Any) -> list[int]:
    """Positions of the objectives among the costs, which are stored in the run's own order."""
    names = run.get("objectives") if isinstance(run, Mapping) else None
    known = list(names) if isinstance(names, list) else []
    if sorted(known) != sorted(o.name for o in objectives):
        return list(range(len(objectives)))
    return [known.index(o.name) for o in objectives]


def _trial(trial: Trial, facts: Mapping[str, Any], order: Sequence[int]) -> Trial:
    costs = [float(facts["costs"][k]) for k in order]
    return replace(
        trial,
        **{name: facts[name] for name in FACTS},
        state=State(facts["state"]),
        costs=tuple(costs),
        proposal=Proposal.from_dict(facts["proposal"]),
    )
