"""Eleven regressors with the counts of Sarigiannis et al.'s table 3, so that weights mean the same for both tasks.

Where a classifier has no counterpart for numbers (naive Bayes, discriminant analysis) a ridge
regression on other features of the columns stands in. Targets are scaled to mean 0 and variance 1
before any of them is fitted, so ranges do not depend on the target's units.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperlens.cash.models.classification import ADA, BOOSTING, NEAR, WIDE
from hyperlens.cash.models.model import (
    BOOSTING_STARTS,
    BOOTSTRAP,
    DEPTH,
    FEATURES,
    GRADIENT_STARTS,
    LEAF,
    LEAVES,
    PURITY,
    RATE,
    ROWS,
    SPLIT,
    TREES,
    Model,
    choice,
    columns,
    integer,
    limit,
    real,
)

ALPHA = real("alpha", 1e-3, 1e4, 1.0, "Strength of the penalty.", log=True)


def _random_forest(values: Mapping[str, Any], seed: int) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    rows = float(values["max_samples"]) if "max_samples" in values else None
    settled = {**values, "max_leaf_nodes": limit(values, "max_leaf_nodes"), "max_samples": rows}
    return RandomForestRegressor(**settled, random_state=seed, n_jobs=1)


def _elastic_net(values: Mapping[str, Any], seed: int) -> Any:
    from sklearn.linear_model import ElasticNet
    from sklearn.pipeline import make_pipeline

    from hyperlens.cash.models.estimators import Squares

    settled = {name: value for name, value in values.items() if name != "squares"}
    model = ElasticNet(**settled, max_iter=20000, tol=1e-3, random_state=seed)
    return make_pipeline(Squares(), model) if values["squares"] else model


def _xgboost(values: Mapping[str, Any], seed: int) -> Any:
    from hyperlens.cash.models.estimators import xgboost

    return xgboost().XGBRegressor(**values, random_state=seed, n_jobs=1)


def _gradient_boosting(values: Mapping[str, Any], seed: int) -> Any:
    from sklearn.ensemble import GradientBoostingRegressor

    settled = {
        **values,
        "max_features": columns(values),
        "max_leaf_nodes": limit(values, "max_leaf_nodes"),
    }
    return GradientBoostingRegressor(**settled, random_state=seed)


def _ada_boost(values: Mapping[str, Any], seed: int) -> Any:
    from sklearn.ensemble import AdaBoostRegressor

    return AdaBoostRegressor(**values, random_state=seed)


def _additive(values: Mapping[str, Any], seed: int) -> Any:
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    from hyperlens.cash.models.estimators import Thresholds

    return make_pipeline(Thresholds(values["thresholds"], values["keep"]), Ridge(values["alpha"]))


def _ridge(values: Mapping[str, Any], seed: int) -> Any:
    from sklearn.linear_model import Ridge

    return Ridge(**values)


def _extra_trees(values: Mapping[str, Any], seed: int) -> Any:
    from sklearn.ensemble import ExtraTreesRegressor

    settled = {
        **values,
        "max_features": columns(values),
        "max_leaf_nodes": limit(values, "max_leaf_nodes"),
        "max_depth": limit(values, "max_depth"),
    }
    return ExtraTreesRegressor(**settled, random_state=seed, n_jobs=1)


def _neighbours(values: Mapping[str, Any], seed: int) -> Any:
    from hyperlens.cash.models.estimators import NearestRegressor

    return NearestRegressor(values["n_neighbors"], values["weights"], values["metric"])


def _kernel(values: Mapping[str, Any], seed: int) -> Any:
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    from hyperlens.cash.models.estimators import KernelFeatures

    features = KernelFeatures(values["kernel"], values["components"], values["gamma"], seed)
    return make_pipeline(features, Ridge(values["alpha"]))


def _quadratic(values: Mapping[str, Any], seed: int) -> Any:
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    from hyperlens.cash.models.estimators import KernelFeatures

    return make_pipeline(KernelFeatures("polynomial", 200, 1.0, seed), Ridge(values["alpha"]))


REGRESSORS = (
    Model(
        "RandomForestRegressor",
        (
            BOOTSTRAP,
            choice(
                "max_samples",
                ("1.0", "0.7", "0.4"),
                "Part of the rows in each resample.",
                when=("bootstrap", True),
            ),
            LEAVES,
            TREES,
            DEPTH,
            SPLIT,
            LEAF,
            WIDE,
        ),
        _random_forest,
    ),
    Model(
        "ElasticNet",
        (
            choice("fit_intercept", (True, False), "Without it the mean row has the mean target."),
            choice("selection", ("cyclic", "random"), "Order in which coefficients are updated."),
            choice("positive", (False, True), "Only columns that raise the target."),
            choice("squares", (False, True), "Squared columns bend the surface."),
            real("alpha", 1e-4, 1.0, 0.01, "Strength of the penalty.", log=True),
            real("l1_ratio", 0.05, 1.0, 0.5, "Part of the penalty that is L1."),
        ),
        _elastic_net,
        scaled=True,
        starts=({"squares": True},),
    ),
    Model("XGBRegressor", BOOSTING, _xgboost, starts=BOOSTING_STARTS),
    Model(
        "GradientBoostingRegressor",
        (
            choice("loss", ("squared_error", "huber"), "Huber's is less moved by outliers."),
            FEATURES,
            LEAVES,
            TREES,
            integer("max_depth", 1, 10, 3, "Boosted trees are shallow."),
            SPLIT,
            LEAF,
            RATE,
            ROWS,
            PURITY,
        ),
        _gradient_boosting,
        starts=GRADIENT_STARTS,
    ),
    Model("AdaBoostRegressor", ADA, _ada_boost),
    Model(
        "AdditiveRidge",
        (
            choice("keep", (True, False), "The columns beside their steps, or the steps alone."),
            integer("thresholds", 1, 16, 4, "Quantiles at which each column is cut."),
            ALPHA,
        ),
        _additive,
        scaled=True,
    ),
    Model("Ridge", (ALPHA,), _ridge, scaled=True),
    Model(
        "ExtraTreesRegressor",
        (
            BOOTSTRAP,
            FEATURES,
            LEAVES,
            choice("max_depth", ("all", "8", "16"), "Trees that are fully grown, or not."),
            TREES,
            SPLIT,
            LEAF,
            PURITY,
        ),
        _extra_trees,
        starts=({"max_features": "all"},),
    ),
    Model("KNeighborsRegressor", NEAR, _neighbours, scaled=True),
    Model(
        "KernelRidge",
        (
            choice("kernel", ("rbf", "laplacian"), "Smooth, or with edges."),
            integer("components", 20, 300, 100, "Landmarks of the kernel.", log=True),
            real("gamma", 0.01, 10.0, 1.0, "Inverse width, over the number of columns.", log=True),
            ALPHA,
        ),
        _kernel,
        scaled=True,
    ),
    Model("QuadraticRidge", (ALPHA,), _quadratic, scaled=True),
)
