"""Eleven regressors with the counts of Sarigiannis et al. 2020, table 3: weights mean the same as there.

Where a classifier has no counterpart for numbers (naive Bayes, discriminant analysis) a ridge
regression on other features of the columns stands in. Targets are scaled to mean 0 and variance 1
before any of them is fitted, so ranges do not depend on the target's units.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperlens.cash.models.model import (
    ADA,
    BOOSTING,
    BOOSTING_STARTS,
    BOOTSTRAP,
    DEPTH,
    FEATURES,
    GRADIENT,
    GRADIENT_STARTS,
    LEAF,
    LEAVES,
    NEAR,
    PURITY,
    SPLIT,
    THRESHOLDS,
    TREES,
    WIDE,
    Model,
    choice,
    estimator,
    integer,
    none_for,
    real,
)

ALPHA = real("alpha", 1e-3, 1e4, 1.0, "Strength of the penalty.", log=True)
PART = choice(
    "max_samples",
    ("1.0", "0.7", "0.4"),
    "Part of the rows in each resample.",
    when=("bootstrap", True),
    setting=float,
)
GROWN = choice(
    "max_depth",
    ("all", "8", "16"),
    "Trees that are fully grown, or not.",
    setting=none_for("all", int),
)


def _elastic_net(settings: Mapping[str, Any], seed: int) -> Any:
    from sklearn.linear_model import ElasticNet
    from sklearn.pipeline import make_pipeline

    from hyperlens.cash.models.estimators import Squares

    own = {name: value for name, value in settings.items() if name != "squares"}
    model = ElasticNet(**own, max_iter=20000, tol=1e-3, random_state=seed)
    return make_pipeline(Squares(), model) if settings["squares"] else model


def _xgboost(settings: Mapping[str, Any], seed: int) -> Any:
    from hyperlens.cash.models.estimators import xgboost

    return xgboost().XGBRegressor(**settings, random_state=seed, n_jobs=1)


def _additive(settings: Mapping[str, Any], seed: int) -> Any:
    from hyperlens.cash.models.estimators import Thresholds

    return _ridge_on(Thresholds(settings["thresholds"], settings["keep"]), settings)


def _kernel(settings: Mapping[str, Any], seed: int) -> Any:
    from hyperlens.cash.models.estimators import KernelFeatures

    of_kernel = settings["kernel"], settings["components"], settings["gamma"]
    return _ridge_on(KernelFeatures(*of_kernel, seed), settings)


def _quadratic(settings: Mapping[str, Any], seed: int) -> Any:
    from hyperlens.cash.models.estimators import KernelFeatures

    return _ridge_on(KernelFeatures("polynomial", 200, 1.0, seed), settings)


def _ridge_on(features: Any, settings: Mapping[str, Any]) -> Any:
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    return make_pipeline(features, Ridge(settings["alpha"]))


REGRESSORS = (
    Model(
        "RandomForestRegressor",
        (BOOTSTRAP, PART, LEAVES, TREES, DEPTH, SPLIT, LEAF, WIDE),
        estimator("sklearn.ensemble.RandomForestRegressor", n_jobs=1),
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
            *GRADIENT,
        ),
        estimator("sklearn.ensemble.GradientBoostingRegressor"),
        starts=GRADIENT_STARTS,
    ),
    Model("AdaBoostRegressor", ADA, estimator("sklearn.ensemble.AdaBoostRegressor")),
    Model(
        "AdditiveRidge",
        (
            choice("keep", (True, False), "The columns beside their steps, or the steps alone."),
            THRESHOLDS,
            ALPHA,
        ),
        _additive,
        scaled=True,
    ),
    Model("Ridge", (ALPHA,), estimator("sklearn.linear_model.Ridge", seeded=False), scaled=True),
    Model(
        "ExtraTreesRegressor",
        (BOOTSTRAP, FEATURES, LEAVES, GROWN, TREES, SPLIT, LEAF, PURITY),
        estimator("sklearn.ensemble.ExtraTreesRegressor", n_jobs=1),
        starts=({"max_features": "all"},),
    ),
    Model(
        "KNeighborsRegressor",
        NEAR,
        estimator("hyperlens.cash.models.estimators.NearestRegressor", seeded=False),
        scaled=True,
    ),
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
