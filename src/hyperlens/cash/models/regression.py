"""Eleven regressors with the counts of Sarigiannis et al. 2020, table 3: weights mean the same as there.

Where a classifier has no counterpart for numbers (naive Bayes, discriminant analysis) a ridge
regression on other features of the columns stands in. Targets are scaled to mean 0 and variance 1
before any of them is fitted, so ranges do not depend on the target's units.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperlens.cash.models import model_hyperparameters as hp
from hyperlens.cash.models.model import BOOSTING_STARTS, GRADIENT_STARTS, Model, estimator

ALPHA = hp.real("alpha", 1e-3, 1e4, 1.0, "Strength of the penalty.", log=True)
PART = hp.choice(
    "max_samples",
    ("1.0", "0.7", "0.4"),
    "Part of the rows in each resample.",
    when=("bootstrap", True),
    setting=float,
)
GROWN = hp.choice(
    "max_depth",
    ("all", "8", "16"),
    "Trees that are fully grown, or not.",
    setting=hp.none_for("all", int),
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
        (hp.BOOTSTRAP, PART, hp.LEAVES, hp.TREES, hp.DEPTH, hp.SPLIT, hp.LEAF, hp.WIDE),
        estimator("RandomForestRegressor", n_jobs=1),
    ),
    Model(
        "ElasticNet",
        (
            hp.choice(
                "fit_intercept", (True, False), "Without it the mean row has the mean target."
            ),
            hp.choice(
                "selection", ("cyclic", "random"), "Order in which coefficients are updated."
            ),
            hp.choice("positive", (False, True), "Only columns that raise the target."),
            hp.choice("squares", (False, True), "Squared columns bend the surface."),
            hp.real("alpha", 1e-4, 1.0, 0.01, "Strength of the penalty.", log=True),
            hp.real("l1_ratio", 0.05, 1.0, 0.5, "Part of the penalty that is L1."),
        ),
        _elastic_net,
        scaled=True,
        starts=({"squares": True},),
    ),
    Model("XGBRegressor", hp.BOOSTING, _xgboost, starts=BOOSTING_STARTS),
    Model(
        "GradientBoostingRegressor",
        (
            hp.choice("loss", ("squared_error", "huber"), "Huber's is less moved by outliers."),
            *hp.GRADIENT,
        ),
        estimator("GradientBoostingRegressor"),
        starts=GRADIENT_STARTS,
    ),
    Model("AdaBoostRegressor", hp.ADA, estimator("AdaBoostRegressor")),
    Model(
        "AdditiveRidge",
        (
            hp.choice("keep", (True, False), "The columns beside their steps, or the steps alone."),
            hp.THRESHOLDS,
            ALPHA,
        ),
        _additive,
        scaled=True,
    ),
    Model("Ridge", (ALPHA,), estimator("Ridge", seeded=False), scaled=True),
    Model(
        "ExtraTreesRegressor",
        (hp.BOOTSTRAP, hp.FEATURES, hp.LEAVES, GROWN, hp.TREES, hp.SPLIT, hp.LEAF, hp.PURITY),
        estimator("ExtraTreesRegressor", n_jobs=1),
        starts=({"max_features": "all"},),
    ),
    Model(
        "KNeighborsRegressor",
        hp.NEAR,
        estimator("NearestRegressor", seeded=False),
        scaled=True,
    ),
    Model(
        "KernelRidge",
        (
            hp.choice("kernel", ("rbf", "laplacian"), "Smooth, or with edges."),
            hp.integer("components", 20, 300, 100, "Landmarks of the kernel.", log=True),
            hp.real(
                "gamma", 0.01, 10.0, 1.0, "Inverse width, over the number of columns.", log=True
            ),
            ALPHA,
        ),
        _kernel,
        scaled=True,
    ),
    Model("QuadraticRidge", (ALPHA,), _quadratic, scaled=True),
)
