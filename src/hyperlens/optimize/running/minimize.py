"""Runs: an objective, a space, an optimiser, a storage and a place to evaluate, put together."""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from hyperlens.errors import AnalysisError, SourceError, SpaceError, listed
from hyperlens.optimize.optimizers.halving import Asynchronous, Halving, Hyperband
from hyperlens.optimize.optimizers.protocol import Optimizer, Racing
from hyperlens.optimize.optimizers.random_search import RandomSearch
from hyperlens.optimize.optimizers.smbo import SMBO
from hyperlens.optimize.running.engine import Engine, Here, Where, open_engine
from hyperlens.optimize.running.goal import Constraints, Goal, Measuring, Objectives, as_goal
from hyperlens.optimize.running.loop import Loop, Report, Setting
from hyperlens.optimize.running.stopping import Stop, as_stop
from hyperlens.optimize.running.trial_outcome import AtFull, Objective, fits, told_by
from hyperlens.optimize.storage.leases import BEAT
from hyperlens.optimize.storage.storages import Storage, file_of
from hyperlens.runs.history import History
from hyperlens.spaces.space import GivenSpace, Space, as_space

if TYPE_CHECKING:
    from hyperlens.optimize.storage.store import Store

DAMAGED = ("malformed", "not a database", "disk image", "Decode", "Invalid log format", "KeyError")

OptimizerName = Literal["smbo", "random", "halving", "hyperband", "asha"]
OPTIMIZERS: dict[str, Callable[..., Optimizer]] = {
    "smbo": SMBO,
    "random": RandomSearch,
    "halving": Halving,
    "hyperband": Hyperband,
    "asha": Asynchronous,
}


def minimize(
    f: Objective,
    space: GivenSpace,
    optimizer: str | Optimizer = "smbo",
    trials: int = 80,
    *,
    seed: int = 0,
    storage: Storage = None,
    workers: int | None = None,
    study: str = "hyperlens",
    timeout: float | None = None,
    time: float | None = None,
    stop: bool | float | Stop | None = None,
    engine: Where = None,
    scheduler: str | None = None,
    objectives: Objectives | None = None,
    constraints: Constraints | None = None,
    progress: Report | None = None,
    **options: Any,
) -> History:
    """Find the configuration of the smallest cost in so many trials.

    `f` is given a configuration, a dict of values, and returns its cost. If it raises, returns what
    is not a finite number, or takes longer than `timeout` seconds, that trial fails with its reason,
    and the run goes on.

    `storage` keeps the run: `sqlite:///run.db`, any database that Optuna knows, a journal's path;
    None keeps it in memory. Called again with the same storage and study, the run goes on where it
    was: finished trials count, one that was running is tried again. Several processes may run the
    same study at once and share its trials. After `time` seconds the run stops, to be gone on with.

    `stop=True` ends the run when the next 100 trials are expected to gain less than the standard error
    of a cost, which a surrogate estimates; `stop=0.01` gives that error, `hl.Stop` has more to choose.
    A run that stopped says so in its notes; called again without `stop` it goes on.

    With `objectives=["loss", "accuracy:max"]` `f` returns a number for each, or a dict, and the whole
    front is searched for (`hl.pareto`). `constraints` are texts such as "latency < 20" about what `f`
    returned, names of numbers that must not be above 0, or functions of it. What fails is avoided.

    "halving", "hyperband" and "asha" call `f` with a configuration and a budget, from a ninth
    (`min_budget`) to one (`max_budget`); `trials` then counts evaluations at full budget. A
    configuration is one trial: its costs at smaller budgets are intermediate values, and if it does
    not go on it is pruned. The other optimisers give such an `f` the full budget.

    One worker without a timeout calls `f` in this very process. With more, with a timeout, or with
    `engine="processes"`, trials run in processes of their own, and one that kills its process fails
    alone. `engine="dask"` with a scheduler's address or any Executor spreads them further. `options`
    are the optimiser's: with "smbo" also `prior={"lr": 1e-3}`, `first=[{"lr": 0.1}]` and
    `learn_from=[history]`, which is known beforehand.

    >>> from hyperlens import Parameter
    >>> run = minimize(lambda c: (c["x"] - 1) ** 2, [Parameter("x", "float", -5, 5)], trials=15)
    >>> round(run.best().values["x"], 1)
    1.0
    """
    space = as_space(space)
    search = built(optimizer, space, trials, seed, options)
    goal, ends = as_goal(objectives, constraints, False, name_of(f)), as_stop(stop)
    setting = Setting(space, search, trials, False, storage, study, time, None, ends, seed, goal)
    return run(f, setting, Place(workers, timeout, engine, scheduler), progress)


def maximize(
    f: Objective,
    space: GivenSpace,
    optimizer: str | Optimizer = "smbo",
    trials: int = 80,
    *,
    seed: int = 0,
    storage: Storage = None,
    workers: int | None = None,
    study: str = "hyperlens",
    timeout: float | None = None,
    time: float | None = None,
    stop: bool | float | Stop | None = None,
    engine: Where = None,
    scheduler: str | None = None,
    objectives: Objectives | None = None,
    constraints: Constraints | None = None,
    progress: Report | None = None,
    **options: Any,
) -> History:
    """Find the configuration of the largest value; all else as `minimize`."""
    space = as_space(space)
    search = built(optimizer, space, trials, seed, options)
    goal, ends = as_goal(objectives, constraints, True, name_of(f)), as_stop(stop)
    setting = Setting(space, search, trials, True, storage, study, time, None, ends, seed, goal)
    return run(f, setting, Place(workers, timeout, engine, scheduler), progress)


@dataclass(frozen=True)
class Place:
    """Where trials are evaluated; `files` are modules that a cluster must be sent."""

    workers: int | None = None
    timeout: float | None = None
    engine: Where = None
    scheduler: str | None = None
    files: tuple[str, ...] = ()


def built(
    optimizer: str | Optimizer, space: Space, trials: int, seed: int, options: dict[str, Any]
) -> Optimizer:
    """An optimiser by its name, with options that it knows; a race is told how many trials it has."""
    if not isinstance(optimizer, str):
        if options:
            raise SpaceError(
                f"The optimiser was given ready; set {listed(options)} when it is built."
            )
        return optimizer
    if optimizer not in OPTIMIZERS:
        raise SpaceError(
            f"There is no optimiser '{optimizer}'; choose one of {listed(OPTIMIZERS)}."
        )
    build = OPTIMIZERS[optimizer]
    parameters = inspect.signature(build).parameters
    known = [name for name in parameters if name not in ("space", "seed", "trials")]
    unknown = [name for name in options if name not in known]
    if unknown:
        remedy = f"choose among {listed(known, 20)}" if known else "leave them out"
        raise SpaceError(f"The optimiser '{optimizer}' has no option {listed(unknown)}; {remedy}.")
    total = {"trials": trials} if "trials" in parameters else {}
    return build(space, seed=seed, **(total | options))


def run(f: Objective, setting: Setting, place: Place, progress: Report | None = None) -> History:
    """Run until the study holds the trials that are wanted; its history."""
    from optuna.exceptions import StorageInternalError

    from hyperlens.optimize.storage.store import Store

    if setting.trials < 1:
        raise AnalysisError(f"A run of {setting.trials} trials is none; ask for at least 1.")
    if setting.stop is not None and isinstance(setting.optimizer, Racing):
        raise AnalysisError(
            f"'{setting.optimizer.name}' gives its trials their budgets and ends by itself; leave out "
            "stop, or use 'smbo' or 'random'."
        )
    f, name = _suited(f, setting.optimizer), name_of(f)
    if setting.goal is not None:
        _refuse(setting.goal, setting)
        f = Measuring(f, setting.goal)
    where = open_engine(f, place.engine, place.workers, place.timeout, place.scheduler, place.files)
    try:
        try:
            store = Store(
                setting.storage,
                setting.space,
                setting.study,
                setting.maximize,
                name,
                setting.plan,
                setting.goal,
            )
        except StorageInternalError as problem:
            raise _failed(setting.storage, problem) from problem
        try:
            with _signs_of_life(store, where):
                Loop(setting, store, where, progress).go()
            return store.history()
        except StorageInternalError as problem:
            raise _failed(setting.storage, problem) from problem
        finally:
            store.close()
    finally:
        where.close()


def _failed(storage: Storage, problem: Exception) -> SourceError:
    """What became of the storage, as far as that can be seen, and what to do."""
    cause = problem.__cause__ or problem
    file, said = file_of(storage), told_by(getattr(cause, "orig", None) or cause)
    where = "The storage" if file is None else f"The storage '{file.name}'"
    if file is not None and (not file.exists() or (_replaced(said) and os.access(file, os.W_OK))):
        return SourceError(
            f"{where} was removed or replaced while the run wrote to it, so what it held is lost here; "
            "bring back a copy, or begin the run anew."
        )
    if any(sign in said for sign in DAMAGED):
        return SourceError(
            f"{where} is damaged ({said}); bring back a copy, or choose another storage."
        )
    return SourceError(
        f"{where} failed ({said}); what was written is kept: when it answers again, give the same "
        "command again."
    )


def _replaced(said: str) -> bool:
    """Does SQLite write to a file that is not there any more?"""
    return "no such table" in said or "readonly database" in said


def _suited(f: Objective, optimizer: Optimizer) -> Objective:
    """The objective as this optimiser calls it; one that wants a budget is given all of it by an
    optimiser that has none to give."""
    if isinstance(optimizer, Racing):
        if not fits(f, 2):
            raise AnalysisError(
                f"'{optimizer.name}' calls the objective with a configuration and a budget; give "
                "it a second argument, or use 'smbo' or 'random'."
            )
        return f
    return AtFull(f) if not fits(f, 1) and fits(f, 2) else f


def _refuse(goal: Goal, setting: Setting) -> None:
    """What cannot be done with several objectives or constraints."""
    what = "several objectives" if goal.several else "constraints"
    if not (goal.several or goal.limits):
        return
    optimizer = setting.optimizer
    if isinstance(optimizer, Racing):
        raise AnalysisError(
            f"'{optimizer.name}' compares configurations by one cost and knows no {what}; use 'smbo' or "
            "'random'."
        )
    if "excess" not in inspect.signature(optimizer.tell).parameters:
        raise AnalysisError(
            f"The given optimiser cannot be told of {what}; use 'smbo' or 'random', or give its tell "
            "the argument excess."
        )
    if setting.stop is not None:
        raise AnalysisError(f"stop judges one cost and knows no {what}; leave it out.")
    if isinstance(optimizer, SMBO) and goal.several:
        if optimizer.acquisition is not None:
            raise AnalysisError(
                "Several objectives are searched by the expected hypervolume improvement; leave out "
                "acquisition and tau."
            )
        if optimizer.explain:
            raise AnalysisError("explain settles the effects on one objective; leave it out.")


@contextmanager
def _signs_of_life(store: Store, where: Engine) -> Iterator[None]:
    """While the objective holds this process, a thread shows that it lives."""
    if not isinstance(where, Here):
        yield
        return
    stop = threading.Event()

    def beat() -> None:
        while not stop.wait(BEAT):
            store.beat()

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def name_of(f: Objective) -> str:
    """What the objective measures, by its name; "cost" where it has none."""
    name = getattr(f, "__name__", "cost")
    return name if name.isidentifier() else "cost"
