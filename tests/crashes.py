"""Runs that are killed at a write to their storage, and what is left when they were gone on with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import optuna
from optuna.storages import BaseStorage

import hyperlens as hl
from hyperlens.proposal import TWIN

SPACE = [hl.Parameter("x", "float", 0.0, 1.0), hl.Parameter("k", "integer", 1, 1000)]
OPTIMIZERS: dict[str, dict[str, Any]] = {  # small runs that have all of their kinds of writes
    "smbo": {"trials": 4, "initial": 3},
    "random": {"trials": 4},
    "halving": {"trials": 2, "brackets": 2},
    "hyperband": {"trials": 4, "brackets": 2},
    "asha": {"trials": 3},
}
WRITES = (
    "create_new_study",
    "create_new_trial",
    "set_study_user_attr",
    "set_study_system_attr",
    "set_trial_state_values",
    "set_trial_intermediate_value",
    "set_trial_user_attr",
    "set_trial_system_attr",
)


class Killed(BaseException):
    """The process ends here."""


class Mortal:
    """A storage that dies with its process after so many writes; None never does."""

    def __init__(self, storage: BaseStorage, writes: int | None = None) -> None:
        self.storage, self.left, self.written = storage, writes, 0

    def _write(self, name: str, *given: Any, **named: Any) -> Any:
        if self.left == 0:
            raise Killed
        self.left = None if self.left is None else self.left - 1
        self.written += 1
        return getattr(self.storage, name)(*given, **named)


def mortal(storage: BaseStorage, writes: int | None = None) -> Any:
    """The same storage, which is given to `hl.minimize` as any other."""
    methods: dict[str, Any] = {
        name: (lambda self, *a, _name=name, **n: self._write(_name, *a, **n)) for name in WRITES
    }
    for name in dir(BaseStorage):
        if not name.startswith("__") and name not in WRITES and name != "_write":
            methods[name] = _passed_on(name)
    return type("MortalStorage", (Mortal, BaseStorage), methods)(storage, writes)


def _passed_on(name: str) -> Callable[..., Any]:
    return lambda self, *given, **named: getattr(self.storage, name)(*given, **named)


def cost(values: Mapping[str, Any], budget: float = 1.0) -> float:
    return float((values["x"] - 0.3) ** 2 + 0.01 * (values["k"] % 7) / budget)


def shape(history: hl.History) -> Counter[tuple[Any, ...]]:
    """What counts of a run, whatever the numbers and times of its trials."""
    return Counter(
        (t.state, t.budget, tuple(t.values.items()), t.costs, t.proposer) for t in history.trials
    )


def run(
    storage: Any,
    optimizer: str,
    objective: Callable[..., float] = cost,
    study: str = "hyperlens",
) -> hl.History:
    return hl.minimize(
        objective, SPACE, optimizer, seed=1, storage=storage, study=study, **OPTIMIZERS[optimizer]
    )


@dataclass(frozen=True)
class Aftermath:
    """What is wrong with a run that was killed and gone on with; nothing, one hopes."""

    lost: int  # trials that the whole run has and this one has not
    more: int
    unfinished: int
    repeated: int  # evaluations beyond those of the whole run, but for the one that was killed

    @property
    def sound(self) -> bool:
        return not (self.lost or self.more or self.unfinished or self.repeated)


def aftermath(
    whole: hl.History,
    storage: Any,
    optimizer: str,
    kills: tuple[int, ...],
    study: str = "hyperlens",
) -> Aftermath:
    """Kill a run after so many writes, again and again, then let it end."""
    evaluations = Counter[tuple[Any, ...]]()

    def counted(values: Mapping[str, Any], budget: float = 1.0) -> float:
        evaluations[(*values.values(), budget)] += 1
        return cost(values, budget)

    for writes in kills:
        try:
            run(mortal(storage, writes), optimizer, counted, study)
        except Killed:
            continue
    found = run(storage, optimizer, counted, study)
    wanted, had = shape(whole), shape(found)
    trials = optuna.load_study(study_name=study, storage=storage).trials
    open_trials = [t for t in trials if not t.state.is_finished() and TWIN not in t.user_attrs]
    again = sum(n - 1 for n in evaluations.values())
    return Aftermath(
        lost=(wanted - had).total(),
        more=(had - wanted).total(),
        unfinished=len(open_trials),
        repeated=max(0, again - len(kills)),
    )
