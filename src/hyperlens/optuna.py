"""Our optimiser as a sampler of Optuna's: `hl.optuna.SMBOSampler`, one changed line in a study;
`hl.optuna.ModelSampler`, which draws models by the size of their spaces; and `hl.optuna.StopCallback`,
which ends a study when more trials would gain too little.

The sampler keeps no state: before every trial it tells a new optimiser what the study holds, so it
works with `n_jobs`, with many processes on one storage, and on a study that was run otherwise.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.samplers import BaseSampler, RandomSampler
from optuna.search_space import IntersectionSearchSpace
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from hyperlens.errors import SpaceError, listed
from hyperlens.importers.optuna.parameter_ranges import parameter_of
from hyperlens.importers.optuna.study import from_study
from hyperlens.importers.read_options import ReadOptions
from hyperlens.optimize.models.optuna_sampler import ModelSampler
from hyperlens.optimize.optimizers.smbo import SMBO
from hyperlens.optimize.running.minimize import built
from hyperlens.optimize.running.stopping import Stop
from hyperlens.optimize.storage.distributions import plain
from hyperlens.proposal import EXCESS, PROPOSAL, SPACE, STOPPED, VALUES
from hyperlens.runs.stopped import Stopped
from hyperlens.spaces.parameter import Parameter
from hyperlens.spaces.space import GivenSpace, Space, as_space
from hyperlens.surrogates.outlook.prospect import AHEAD, Search

__all__ = ["ModelSampler", "SMBOSampler", "StopCallback"]

ONE_OBJECTIVE = ("tau", "acquisition", "explain")  # options that several objectives have no use for
KNOWN = ("first", "prior", "learn_from")  # options that belong to a space
MEASURED = (TrialState.COMPLETE, TrialState.PRUNED)  # whose constraints are kept
ANY = Space.of([Parameter("any", "float")])  # stands for a space that is not known yet
STARTUP = 10  # random trials before the space can be inferred from them


class SMBOSampler(BaseSampler):
    """Sequential model-based optimisation for an Optuna study of one objective or several.

    With `space`, whole configurations are proposed, conditional parameters too, and each
    `suggest_*` call is answered from them. Without, the parameters that all trials share are tuned
    after ten random trials. What is not in the space is drawn at random. `options` are SMBO's: tau,
    acquisition, surrogate, initial, nugget, refine, and with a space first, prior, learn_from.

    `constraints_func` is as with Optuna's own samplers: it is given a finished trial and returns numbers
    that must not be above 0. Constraints that trials set themselves are kept too.
    """

    def __init__(
        self,
        space: GivenSpace | None = None,
        *,
        seed: int = 0,
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
        **options: Any,
    ) -> None:
        self.constraints_func = constraints_func
        self.space = None if space is None else as_space(space)
        self.seed, self.options = seed, options
        known = [name for name in KNOWN if options.get(name)]
        if (
            self.space is None and known
        ):  # it begins with random trials, and would never come to them
            raise SpaceError(
                f"SMBOSampler has {listed(known)} and no space to which that could belong; give the "
                "space first, SMBOSampler(space, ...)."
            )
        built("smbo", self.space or ANY, 1, seed, options)  # refuses bad options now
        self._random = RandomSampler(seed=seed)
        self._intersection = IntersectionSearchSpace()
        self._proposed: dict[int, tuple[Space, dict[str, Any]]] = {}  # by trial, while it runs
        self._lock = Lock()

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Nothing: every parameter is served one by one, so that a contradiction can be explained."""
        return {}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Propose the whole configuration of this trial."""
        given = [name for name in ONE_OBJECTIVE if self.options.get(name)]
        if len(study.directions) > 1 and given:
            raise SpaceError(
                f"SMBOSampler has {listed(given)} for one objective, and this study has "
                f"{len(study.directions)}; leave {'it' if len(given) == 1 else 'them'} out."
            )
        with self._lock:
            space = self.space or self._inferred(study)
            if space is not None and "fixed_params" not in trial.system_attrs:
                self._proposed[trial.number] = (space, self._ask(study, trial, space))
        return {}

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """The proposed value of one parameter; a random one if it is not in the space."""
        space, values = self._proposed.get(trial.number, (None, {}))
        if space is not None and param_name in space.constants:
            return _checked_constant(param_name, space.constants[param_name], param_distribution)
        if space is None or param_name not in space.names:
            return self._random.sample_independent(study, trial, param_name, param_distribution)
        if param_name not in values:
            raise SpaceError(
                f"Parameter '{param_name}' is suggested in a trial in which the space's conditions "
                f"({space.conditions[param_name]}) make it inactive; suggest it only then, or "
                "correct the space."
            )
        return _checked(space[param_name], values[param_name], param_distribution)

    def after_trial(
        self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        self._proposed.pop(trial.number, None)
        if self.constraints_func is not None and state in MEASURED:
            excess = [float(e) for e in self.constraints_func(trial)]
            study._storage.set_trial_system_attr(trial._trial_id, EXCESS, excess)

    def reseed_rng(self) -> None:
        self._random.reseed_rng()

    def _ask(self, study: Study, trial: FrozenTrial, space: Space) -> dict[str, Any]:
        """Tell a new optimiser all trials, ask it, and write down what it thought."""
        if self.space is not None and SPACE not in study.user_attrs:
            study.set_user_attr(SPACE, json.loads(space.to_json()))
        optimizer = SMBO(space, seed=self.seed, **self.options)
        learned, awaited = [], []
        others = [t for t in study.get_trials(deepcopy=False) if t.number != trial.number]
        ended = [t for t in others if t.state.is_finished()]
        told = Told.of(study, ended)
        for t in sorted(ended, key=lambda t: (t.datetime_complete, t.number)):
            values = _configuration(space, t.params)
            if values is not None:
                optimizer.tell(values, told.costs(t), excess=told.excess(t))
                learned.append(t.number)
        for t in others:
            values = _configuration(space, {**t.system_attrs.get(VALUES, {}), **t.params})
            if t.state is TrialState.RUNNING and values is not None:
                optimizer.expect(values)
                awaited.append(t.number)
        candidate = optimizer.ask(number=trial.number)
        parameters = space.names if self.space is None else ()
        proposal = candidate.recorded(learned, awaited, optimizer.name)
        several = len(study.directions) if len(study.directions) > 1 and proposal.beside else 0
        names = (
            tuple(study.metric_names or [f"value_{k}" for k in range(several)]) if several else ()
        )
        proposal = replace(proposal, parameters=parameters, objectives=names)
        storage, trial_id = study._storage, trial._trial_id
        storage.set_trial_user_attr(trial_id, PROPOSAL, proposal.to_dict())
        values = {name: plain(value) for name, value in candidate.values.items()}
        storage.set_trial_system_attr(trial_id, VALUES, values)
        return dict(candidate.values)

    def _inferred(self, study: Study) -> Space | None:
        """The space of what all trials share, in the order of their first appearance."""
        finished = [t for t in study.get_trials(deepcopy=False) if t.state.is_finished()]
        if len(finished) < STARTUP:
            return None
        shared = self._intersection.calculate(study)
        order = [name for t in finished for name in t.params]
        parameters = []
        for name in dict.fromkeys(order):
            if name in shared:
                values = [t.params[name] for t in finished if name in t.params]
                parameter = parameter_of(name, [shared[name]], values, notes=[])
                if isinstance(parameter, Parameter):
                    parameters.append(parameter)
        return Space.of(parameters) if parameters else None


class StopCallback:
    """Ends a study of one objective when its next trials are expected to gain less than the standard
    error of a cost: `study.optimize(f, callbacks=[StopCallback()])`.

    `error` is that error; None takes the noise that a surrogate finds. Without `space` it is that of
    the study's trials. `search` says how the study goes on. Why it stopped is kept with the study; one
    that had stopped ends again after the next trial.
    """

    def __init__(
        self,
        error: float | None = None,
        *,
        ahead: int = AHEAD,
        space: GivenSpace | None = None,
        search: Search = "model",
        seed: int = 0,
    ) -> None:
        self.stop = Stop(error, ahead)
        self.space = None if space is None else as_space(space)
        self.search: Search = search
        self.seed = seed

    def __call__(self, study: Study, trial: FrozenTrial) -> None:
        if len(study.directions) != 1:
            raise SpaceError(
                f"StopCallback judges one objective, and this study has {len(study.directions)}; "
                "leave it out."
            )
        why = Stopped.from_dict(study.user_attrs.get(STOPPED)) or self._decided(study)
        if why is not None:
            study.set_user_attr(STOPPED, why.to_dict())
            study.stop()

    def _decided(self, study: Study) -> Stopped | None:
        """Whether it is time to decide, and what is decided."""
        complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        if self.stop.due(len(complete)) != len(complete):
            return None
        history = from_study(study, ReadOptions(space=self.space))
        data = history.data()
        return self.stop.decide(history.space, data.X, data.y, self.search, self.seed)


@dataclass(frozen=True)
class Told:
    """How trials of a study are told: minimised costs, and by how much constraints are exceeded."""

    signs: tuple[float, ...]
    worst: tuple[float, ...]  # of each objective, which a pruned trial counts as
    limits: tuple[str, ...]

    @staticmethod
    def of(study: Study, ended: Sequence[FrozenTrial]) -> "Told":
        up = StudyDirection.MAXIMIZE
        signs = np.array([-1.0 if way == up else 1.0 for way in study.directions])
        complete = [t for t in ended if t.state is TrialState.COMPLETE and t.values]
        costs = signs * np.array([t.values for t in complete]).reshape(-1, len(signs))
        worst = costs.max(axis=0, initial=-np.inf, where=np.isfinite(costs))
        worst = np.where(np.isfinite(worst), worst, np.nan)
        names = dict.fromkeys(name for t in complete for name in t.constraints)
        return Told(tuple(signs.tolist()), tuple(worst.tolist()), tuple(names))

    def costs(self, trial: FrozenTrial) -> tuple[float, ...]:
        if trial.state is TrialState.PRUNED:
            return self.worst
        if trial.state is not TrialState.COMPLETE or trial.values is None:
            return (math.nan,) * len(self.signs)
        return tuple(s * float(v) for s, v in zip(self.signs, trial.values, strict=True))

    def excess(self, trial: FrozenTrial) -> tuple[float, ...]:
        return tuple(float(trial.constraints.get(name, math.nan)) for name in self.limits)


def _configuration(space: Space, params: Mapping[str, Any]) -> dict[str, Any] | None:
    """The part of a trial that the space knows; None if that is no configuration of it."""
    values = {name: params[name] for name in space.names if name in params}
    try:
        misfits = space.misfits(space.encode([values]))
    except SpaceError:
        return None
    return None if len(misfits) else values


def _checked(parameter: Parameter, value: Any, suggested: BaseDistribution) -> Any:
    """The value, if the objective asks for what the space says."""
    if isinstance(suggested, CategoricalDistribution):
        same = parameter.choices and {*map(plain, parameter.choices)} <= {*suggested.choices}
        answer: Any = plain(value)
    else:
        assert isinstance(suggested, (FloatDistribution, IntDistribution))
        ends = parameter.choices or (parameter.lower, parameter.upper)
        whole = parameter.kind == "integer" or all(type(c) is int for c in parameter.choices)
        same = (
            parameter.numeric
            and suggested.low <= min(ends)
            and max(ends) <= suggested.high
            and (whole or isinstance(suggested, FloatDistribution))
            and _on_grid(suggested, value)
        )
        answer = value
    if not same:
        raise SpaceError(
            f"Parameter '{parameter.name}' is suggested as {suggested}, but the space has "
            f"{_described(parameter)}; make the two agree."
        )
    return answer


def _checked_constant(name: str, value: Any, suggested: BaseDistribution) -> Any:
    if suggested._contains(suggested.to_internal_repr(value)):
        return value
    raise SpaceError(
        f"Parameter '{name}' is suggested as {suggested}, but in the space it is always {value!r}; "
        "make the two agree."
    )


def _on_grid(suggested: FloatDistribution | IntDistribution, value: Any) -> bool:
    if not suggested.step:
        return True
    steps = (value - suggested.low) / suggested.step
    return bool(abs(steps - round(steps)) < 1e-8)


def _described(parameter: Parameter) -> str:
    if parameter.choices:
        return f"the choices {listed(parameter.choices)}"
    return f"a {parameter.kind} from {parameter.lower:g} to {parameter.upper:g}"
