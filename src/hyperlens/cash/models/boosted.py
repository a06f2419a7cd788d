"""Boosted trees of the pool, alike for classes and numbers, with what a search tries first of them."""

from collections.abc import Mapping
from typing import Any

from hyperlens.cash.models import model_hyperparameters as hp
from hyperlens.cash.models.model import Model

Starts = tuple[Mapping[str, Any], ...]

GRADIENT_STARTS: Starts = (
    {"max_features": "all"},
    {"max_features": "all", "n_estimators": 200, "max_depth": 5, "subsample": 0.7},
)
_EXTREME_STARTS: Starts = (
    {"learning_rate": 0.3},
    {"n_estimators": 300, "learning_rate": 0.05, "subsample": 0.7, "colsample_bytree": 0.7},
)
_LIGHT_STARTS: Starts = (
    {},
    {"learning_rate": 0.04, "subsample": 0.7, "colsample_bytree": 0.7},
)
_EXTREME_CHEAP = {"max_depth": 4, "max_bin": 64, "learning_rate": 0.2}
_LIGHT_CHEAP = {"num_leaves": 8, "max_bin": 63, "learning_rate": 0.2, "min_child_samples": 10}


def extreme(name: str, maker: str) -> Model:
    """XGBoost's."""
    return Model(
        name,
        hp.BOOSTING,
        maker,
        starts=_EXTREME_STARTS,
        grown=True,
        cheap=_EXTREME_CHEAP,
        package="xgboost",
    )


def light(name: str, maker: str) -> Model:
    """LightGBM's."""
    return Model(
        name,
        hp.LIGHT,
        maker,
        starts=_LIGHT_STARTS,
        grown=True,
        cheap=_LIGHT_CHEAP,
        package="lightgbm",
    )


def cat(name: str, maker: str) -> Model:
    """CatBoost's."""
    return Model(name, hp.CAT, maker, grown=True, package="catboost")
