"""What a model of the pool is: its hyperparameters and how it is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from hyperlens.cash.models.model_hyperparameters import Hyperparameter

Task = Literal["classification", "regression"]
Make = Callable[[Mapping[str, Any], int], Any]  # from settings and a seed to an estimator


@dataclass(frozen=True)
class Model:
    """`make` builds the scikit-learn estimator of its settings and a seed.

    `scaled` models see columns of mean 0 and variance 1. `starts` are settings worth a try from the
    start beside the defaults: what its library takes by default, and what practice is.
    """

    name: str
    hyperparameters: tuple[Hyperparameter, ...]
    make: Make
    scaled: bool = False
    starts: tuple[Mapping[str, Any], ...] = ()

    def build(self, configuration: Mapping[str, Any], seed: int) -> Any:
        """The estimator of a configuration of the pool's space."""
        settings = {}
        for h in self.hyperparameters:
            value = configuration.get(f"{self.name}:{h.name}")
            if value is not None:  # else inactive
                settings[h.name] = value if h.setting is None else h.setting(value)
        return self.make(settings, seed)


def estimator(name: str, *, seeded: bool = True, **fixed: Any) -> Make:
    """Makes a class of scikit-learn's or of ours, imported when it is built."""

    def make(settings: Mapping[str, Any], seed: int) -> Any:
        from sklearn import discriminant_analysis, ensemble, linear_model, naive_bayes

        from hyperlens.cash.models import estimators

        rooms = (ensemble, linear_model, naive_bayes, discriminant_analysis, estimators)
        kind = next(getattr(room, name) for room in rooms if hasattr(room, name))
        return kind(**settings, **fixed, **({"random_state": seed} if seeded else {}))

    return make


# What is tried first beside the defaults

GENTLE = {"n_estimators": 300, "learning_rate": 0.05, "subsample": 0.7, "colsample_bytree": 0.7}
BOOSTING_STARTS: tuple[Mapping[str, Any], ...] = ({"learning_rate": 0.3}, GENTLE)
GRADIENT_STARTS: tuple[Mapping[str, Any], ...] = (
    {"max_features": "all"},
    {"max_features": "all", "n_estimators": 200, "max_depth": 5, "subsample": 0.7},
)
