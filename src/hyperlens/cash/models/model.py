"""What a model of the pool is: its hyperparameters and how it is built."""

from collections.abc import Mapping
from dataclasses import dataclass
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
    default, and what practice is.
    """

    name: str
    hyperparameters: tuple[Hyperparameter, ...]
    maker: str = ""
    scaled: bool = False
    starts: tuple[Mapping[str, Any], ...] = ()

    def build(self, configuration: Mapping[str, Any], seed: int) -> Any:
        """The estimator of a configuration of the pool's space, imported now."""
        from sklearn import discriminant_analysis, ensemble, linear_model, naive_bayes

        from hyperlens.cash.models import estimators

        settings: dict[str, Any] = {}
        for h in self.hyperparameters:
            value = configuration.get(f"{self.name}:{h.name}")
            if value is not None:  # else inactive
                settings[h.name] = value if h.setting is None else h.setting(value)
        name = self.maker or self.name
        rooms = (estimators, ensemble, linear_model, naive_bayes, discriminant_analysis)
        make = next(getattr(room, name) for room in rooms if hasattr(room, name))
        always = {"random_state": seed, "n_jobs": 1}
        settings |= {k: always[k] for k in always.keys() & signature(make).parameters.keys()}
        return make(**settings)


# What is tried first beside the defaults

GENTLE = {"n_estimators": 300, "learning_rate": 0.05, "subsample": 0.7, "colsample_bytree": 0.7}
BOOSTING_STARTS: tuple[Mapping[str, Any], ...] = ({"learning_rate": 0.3}, GENTLE)
GRADIENT_STARTS: tuple[Mapping[str, Any], ...] = (
    {"max_features": "all"},
    {"max_features": "all", "n_estimators": 200, "max_depth": 5, "subsample": 0.7},
)
