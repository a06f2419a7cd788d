"""What a model of the pool is: its hyperparameters and how it is built."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from inspect import signature
from typing import Any, Literal

from hyperlens.cash.models.model_hyperparameters import Hyperparameter

Task = Literal["classification", "regression"]


@dataclass(frozen=True)
class Model:
    """One row of the pool.

    `maker` is what builds it, if that is not called like the model: a class or a function of
    `estimators`, or a class of scikit-learn. `scaled` models see columns of mean 0 and variance 1.
    `starts` are settings worth a try from the start beside the defaults: what its library takes by
    default, and what practice is. Where trees are `grown` one after the other, a search that stops
    them early has no `n_estimators`, and `cheap` is what it begins with instead of the defaults.
    `package` is what must be installed for it.
    """

    name: str
    hyperparameters: tuple[Hyperparameter, ...]
    maker: str = ""
    scaled: bool = False
    starts: tuple[Mapping[str, Any], ...] = ()
    grown: bool = False
    cheap: Mapping[str, Any] = field(default_factory=dict)
    package: str = ""

    @property
    def trees(self) -> str:
        """The name of its number of trees in the pool's space."""
        return f"{self.name}:n_estimators"

    @property
    def installed(self) -> bool:
        return not self.package or find_spec(self.package) is not None

    def build(self, configuration: Mapping[str, Any], seed: int) -> Any:
        """The estimator of a configuration of the pool's space, imported now."""
        from sklearn import discriminant_analysis, ensemble, linear_model, naive_bayes

        from hyperlens.cash.models import boosters, estimators

        settings: dict[str, Any] = {}
        if self.grown and self.trees in configuration:  # found by early stopping
            settings["n_estimators"] = configuration[self.trees]
        for h in self.hyperparameters:
            value = configuration.get(f"{self.name}:{h.name}")
            if value is not None:  # else inactive
                settings[h.name] = value if h.setting is None else h.setting(value)
        name = self.maker or self.name
        rooms = (estimators, boosters, ensemble, linear_model, naive_bayes, discriminant_analysis)
        make = next(getattr(room, name) for room in rooms if hasattr(room, name))
        always = {"random_state": seed, "n_jobs": 1}
        settings |= {k: always[k] for k in always.keys() & signature(make).parameters.keys()}
        return make(**settings)
