"""Weighted sampling of models as a sampler of Optuna's: `hl.optuna.ModelSampler`
(Sarigiannis et al. 2020 Eq. 5).

The sampler keeps no state: what it draws depends on the seed, the trial's number and, where no space
is given, on the hyperparameters that earlier trials of each model had.
"""

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from hyperlens.errors import SpaceError
from hyperlens.optimize.models.model_sampling import ROOT, Sampling, model_weights
from hyperlens.spaces.space import GivenSpace, as_space

LARGEST_SEED = 2**32


class ModelSampler(BaseSampler):
    """Draws the model with a chance that doubles with each of its hyperparameters, the rest evenly.

    `root` is the parameter that chooses the model. With a `space` its hyperparameters are counted
    there; `sampling` may then also be "volume". Without one they are counted in the trials, and a
    model that was not tried yet comes first. `sampling` may be a weight for each model. `others`
    is the sampler of all parameters but the root, by default even.
    """

    def __init__(
        self,
        space: GivenSpace | None = None,
        sampling: Sampling = "weighted",
        root: str = ROOT,
        *,
        others: BaseSampler | None = None,
        seed: int = 0,
    ) -> None:
        self.root, self.sampling, self.others, self.seed = root, sampling, others, seed
        self._weights: dict[str, float] | None = None
        if space is not None:
            self._weights = model_weights(as_space(space), sampling, root)
        elif not isinstance(sampling, str):
            self._weights = {str(m): float(w) for m, w in sampling.items()}
        elif sampling not in ("weighted", "uniform"):
            raise SpaceError(
                f"Sampling '{sampling}' needs the space; give it, or choose 'weighted' or 'uniform'."
            )

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """What the sampler of the others wants to draw together, without the root."""
        if self.others is None:
            return {}
        together = self.others.infer_relative_search_space(study, trial)
        return {name: d for name, d in together.items() if name != self.root}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        if self.others is None or not search_space:
            return {}
        return self.others.sample_relative(study, trial, search_space)

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        if param_name == self.root:
            return self._model(study, trial, param_distribution)
        if self.others is not None:
            return self.others.sample_independent(study, trial, param_name, param_distribution)
        key = [self.seed, trial.number, zlib.crc32(param_name.encode())]
        seed = int(np.random.default_rng(key).integers(LARGEST_SEED))
        even = RandomSampler(seed=seed)
        return even.sample_independent(study, trial, param_name, param_distribution)

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        if self.others is not None:
            self.others.before_trial(study, trial)

    def after_trial(
        self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        if self.others is not None:
            self.others.after_trial(study, trial, state, values)

    def reseed_rng(self) -> None:
        if self.others is not None:
            self.others.reseed_rng()

    def _model(self, study: Study, trial: FrozenTrial, suggested: BaseDistribution) -> Any:
        if not isinstance(suggested, CategoricalDistribution):
            raise SpaceError(
                f"'{self.root}' is suggested as {suggested}, but the root of the models is a "
                "category; name another parameter as the root."
            )
        chances = self._chances(study, suggested.choices)
        rng = np.random.default_rng([self.seed, trial.number])
        return suggested.choices[int(rng.choice(len(chances), p=chances))]

    def _chances(self, study: Study, models: Sequence[Any]) -> Any:
        """The chance of each model, in their order."""
        if self._weights is not None:
            missing = [m for m in models if str(m) not in self._weights]
            if missing:
                raise SpaceError(
                    f"There is no weight for the model '{missing[0]}'; make the objective and the "
                    "space or weights agree."
                )
            parts = np.array([self._weights[str(m)] for m in models])
            if not parts.sum() > 0:
                raise SpaceError("All models have the weight 0; give one of them more.")
        elif self.sampling == "uniform":
            parts = np.ones(len(models))
        else:
            parts = self._counted(study, models)
        return parts / parts.sum()

    def _counted(self, study: Study, models: Sequence[Any]) -> Any:
        """2^N of the hyperparameters that only some models have; all to models never tried."""
        seen: dict[Any, set[str]] = {}
        for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
            if self.root in trial.params:
                seen.setdefault(trial.params[self.root], set()).update(trial.params)
        unseen = np.array([m not in seen for m in models], dtype=float)
        if unseen.any():
            return unseen
        shared = set.intersection(*(seen[m] for m in models))
        counts = np.array([len(seen[m] - shared) for m in models], dtype=float)
        return np.exp2(counts - counts.max())
