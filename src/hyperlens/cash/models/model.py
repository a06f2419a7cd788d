"""What a model of the pool is: its hyperparameters, each with its reason, and how it is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from hyperlens.spaces.parameter import Kind, Parameter

Task = Literal["classification", "regression"]


@dataclass(frozen=True)
class Hyperparameter:
    """A range or a set of choices, and `why` it is so.

    `when` names another hyperparameter of the model and the value that this one needs it to have.
    """

    name: str
    kind: Kind
    why: str
    lower: float = 0.0
    upper: float = 1.0
    log: bool = False
    choices: tuple[Any, ...] = ()
    default: Any = None
    when: tuple[str, Any] | None = None

    def parameter(self, model: str) -> Parameter:
        """As a parameter of the pool's space, under the model's name."""
        return Parameter(
            f"{model}:{self.name}",
            self.kind,
            self.lower,
            self.upper,
            self.log,
            self.choices,
            self.default,
        )


@dataclass(frozen=True)
class Model:
    """`build` makes the scikit-learn estimator of chosen values and a seed.

    `scaled` models see columns of mean 0 and variance 1. `starts` are settings worth a try from the
    start beside the defaults: what its library takes by default, and what practice is.
    """

    name: str
    hyperparameters: tuple[Hyperparameter, ...]
    build: Callable[[Mapping[str, Any], int], Any]
    scaled: bool = False
    starts: tuple[Mapping[str, Any], ...] = ()


def integer(
    name: str, lower: int, upper: int, default: int, why: str, *, log: bool = False
) -> Hyperparameter:
    return Hyperparameter(name, "integer", why, lower, upper, log, default=default)


def real(
    name: str,
    lower: float,
    upper: float,
    default: float,
    why: str,
    *,
    log: bool = False,
    when: tuple[str, Any] | None = None,
) -> Hyperparameter:
    return Hyperparameter(name, "float", why, lower, upper, log, default=default, when=when)


def choice(
    name: str, choices: tuple[Any, ...], why: str, *, when: tuple[str, Any] | None = None
) -> Hyperparameter:
    """The first choice is the default."""
    return Hyperparameter(name, "categorical", why, choices=choices, default=choices[0], when=when)


TREES = integer("n_estimators", 10, 200, 100, "Time grows with the trees, use fades.", log=True)
DEPTH = integer("max_depth", 1, 20, 12, "From stumps to trees that are nearly fully grown.")
SPLIT = integer("min_samples_split", 2, 20, 2, "Fewer splits of small nodes smooth the trees.")
LEAF = integer("min_samples_leaf", 1, 20, 1, "Large leaves temper probabilities.", log=True)
BOOTSTRAP = choice("bootstrap", (True, False), "Resampled rows make trees differ.")
LEAVES = choice("max_leaf_nodes", ("all", "16", "64", "256"), "Best-first growth up to a size.")
FEATURES = choice("max_features", ("sqrt", "log2", "all"), "Columns that a split may choose from.")
PURITY = real(
    "min_impurity_decrease", 1e-7, 1e-2, 1e-7, "Splits that gain less are left out.", log=True
)
RATE = real("learning_rate", 0.01, 0.5, 0.1, "Smaller steps need more trees.", log=True)
ROWS = real("subsample", 0.3, 1.0, 1.0, "Part of the rows for each tree.")

GENTLE = {"n_estimators": 300, "learning_rate": 0.05, "subsample": 0.7, "colsample_bytree": 0.7}
BOOSTING_STARTS: tuple[Mapping[str, Any], ...] = ({"learning_rate": 0.3}, GENTLE)
GRADIENT_STARTS: tuple[Mapping[str, Any], ...] = (
    {"max_features": "all"},
    {"max_features": "all", "n_estimators": 200, "max_depth": 5, "subsample": 0.7},
)


def limit(values: Mapping[str, Any], name: str) -> int | None:
    """A size that is a choice, None for "all"."""
    return None if values[name] == "all" else int(values[name])


def columns(values: Mapping[str, Any]) -> str | None:
    """`max_features` as scikit-learn calls it."""
    return None if values["max_features"] == "all" else str(values["max_features"])
