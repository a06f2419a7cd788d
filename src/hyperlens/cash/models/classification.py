"""The eleven classifiers of Sarigiannis et al.'s table 3, each with as many hyperparameters of each kind as there.

Sarigiannis et al. 2020 gives the numbers, not the names; those below are the ones that change what a model predicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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

CRITERION = choice("criterion", ("gini", "entropy"), "Entropy is the log loss of a leaf.")
WEIGHT = choice("class_weight", ("none", "balanced"), "Balanced lifts rare classes.")


def _weight(values: Mapping[str, Any]) -> str | None:
    return None if values["class_weight"] == "none" else "balanced"


def _random_forest(values: Mapping[str, Any], seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(
        **{**values, "class_weight": _weight(values)}, random_state=seed, n_jobs=1
    )


def _extra_trees(values: Mapping[str, Any], seed: int) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    settled = {**values, "class_weight": _weight(values), "max_features": columns(values)}
    return ExtraTreesClassifier(**settled, random_state=seed, n_jobs=1)


def _logistic_regression(values: Mapping[str, Any], seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    from hyperlens.cash.models.estimators import Squares

    mixed = values["penalty"] == "elastic net"
    model = LogisticRegression(
        C=values["C"],
        l1_ratio=values["l1_ratio"] if mixed else 0.0,
        solver="saga" if mixed else "lbfgs",
        tol=1e-3 if mixed else 1e-4,
        max_iter=5000,
        fit_intercept=values["fit_intercept"],
        class_weight=_weight(values),
        random_state=seed,
    )
    return make_pipeline(Squares(), model) if values["squares"] else model


def _xgboost(values: Mapping[str, Any], seed: int) -> Any:
    from hyperlens.cash.models.estimators import BoostedClassifier

    return BoostedClassifier({**values, "random_state": seed, "n_jobs": 1})


def _gradient_boosting(values: Mapping[str, Any], seed: int) -> Any:
    from sklearn.ensemble import GradientBoostingClassifier

    settled = {
        **values,
        "init": None if values["init"] == "prior" else "zero",
        "max_features": columns(values),
        "max_leaf_nodes": limit(values, "max_leaf_nodes"),
    }
    return GradientBoostingClassifier(**settled, random_state=seed)


def _ada_boost(values: Mapping[str, Any], seed: int) -> Any:
    from sklearn.ensemble import AdaBoostClassifier

    return AdaBoostClassifier(**values, random_state=seed)


def _bernoulli(values: Mapping[str, Any], seed: int) -> Any:
    from sklearn.naive_bayes import BernoulliNB
    from sklearn.pipeline import make_pipeline

    from hyperlens.cash.models.estimators import Thresholds

    model = BernoulliNB(alpha=values["alpha"], fit_prior=values["fit_prior"], binarize=None)
    return make_pipeline(Thresholds(values["thresholds"]), model)


def _gaussian(values: Mapping[str, Any], seed: int) -> Any:
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB(**values)


def _neighbours(values: Mapping[str, Any], seed: int) -> Any:
    from hyperlens.cash.models.estimators import NearestClassifier

    return NearestClassifier(values["n_neighbors"], values["weights"], values["metric"])


def _linear_discriminant(values: Mapping[str, Any], seed: int) -> Any:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.pipeline import make_pipeline

    from hyperlens.cash.models.estimators import Components

    chosen = {name: values[name] for name in ("shrinkage", "tol") if name in values}
    model = LinearDiscriminantAnalysis(solver=values["solver"], **chosen)
    return make_pipeline(Components(values["components"]), model)


def _quadratic_discriminant(values: Mapping[str, Any], seed: int) -> Any:
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    return QuadraticDiscriminantAnalysis(**values)


BOOSTING = (
    choice("grow_policy", ("depthwise", "lossguide"), "Level by level, or the best leaf first."),
    choice("tree_method", ("hist", "approx"), "Bins once, or anew for every tree."),
    integer("n_estimators", 10, 300, 100, "Time grows with the trees, use fades.", log=True),
    integer("max_depth", 1, 12, 6, "Boosted trees are shallow."),
    integer("max_bin", 16, 512, 256, "Coarse bins smooth.", log=True),
    RATE,
    real("min_child_weight", 0.1, 30.0, 1.0, "Weight of rows that a leaf needs.", log=True),
    ROWS,
    real("colsample_bytree", 0.2, 1.0, 1.0, "Part of the columns for each tree."),
    real("reg_alpha", 1e-6, 10.0, 1e-6, "L1 penalty of leaves.", log=True),
    real("reg_lambda", 1e-3, 100.0, 1.0, "L2 penalty of leaves.", log=True),
)
WIDE = real("max_features", 0.05, 1.0, 0.3, "Part of the columns that a split may choose from.")
NEAR = (
    choice("weights", ("uniform", "distance"), "Near neighbours may count more."),
    choice("metric", ("euclidean", "manhattan"), "Manhattan is less moved by one column."),
    integer("n_neighbors", 1, 100, 5, "From the nearest row to a local average.", log=True),
)
ADA = (
    integer("n_estimators", 10, 200, 50, "Time grows with the stumps, use fades.", log=True),
    real("learning_rate", 0.01, 2.0, 1.0, "Smaller steps need more stumps.", log=True),
)

CLASSIFIERS = (
    Model(
        "RandomForestClassifier",
        (CRITERION, BOOTSTRAP, WEIGHT, TREES, DEPTH, SPLIT, LEAF, WIDE),
        _random_forest,
    ),
    Model(
        "LogisticRegression",
        (
            choice("penalty", ("ridge", "elastic net"), "A mixed penalty leaves columns out."),
            choice("fit_intercept", (True, False), "Without it all classes are equally likely."),
            WEIGHT,
            choice("squares", (False, True), "Squared columns bend the boundary."),
            real("C", 1e-4, 1e3, 1.0, "Inverse strength of the penalty.", log=True),
            real(
                "l1_ratio",
                0.0,
                1.0,
                0.5,
                "Part of the penalty that is L1.",
                when=("penalty", "elastic net"),
            ),
        ),
        _logistic_regression,
        scaled=True,
        starts=({"squares": True},),
    ),
    Model("XGBoost", BOOSTING, _xgboost, starts=BOOSTING_STARTS),
    Model(
        "GradientBoostingClassifier",
        (
            choice("init", ("prior", "zero"), "Where boosting starts."),
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
    Model("AdaBoostClassifier", ADA, _ada_boost),
    Model(
        "BernoulliNB",
        (
            choice("fit_prior", (True, False), "Learnt or equal class priors."),
            integer("thresholds", 1, 16, 4, "Quantiles at which each column is cut."),
            real("alpha", 1e-2, 100.0, 1.0, "Pseudo-counts.", log=True),
        ),
        _bernoulli,
    ),
    Model(
        "GaussianNB",
        (
            real(
                "var_smoothing",
                1e-10,
                1.0,
                1e-9,
                "Part of the largest variance that is added to all.",
                log=True,
            ),
        ),
        _gaussian,
        scaled=True,
    ),
    Model(
        "ExtraTreesClassifier",
        (CRITERION, BOOTSTRAP, WEIGHT, FEATURES, TREES, SPLIT, LEAF, PURITY),
        _extra_trees,
        starts=({"max_features": "all"},),
    ),
    Model("KNeighborsClassifier", NEAR, _neighbours, scaled=True),
    Model(
        "LinearDiscriminantAnalysis",
        (
            choice("solver", ("lsqr", "svd"), "With a shrunk covariance, or with its rank cut."),
            integer("components", 1, 100, 100, "Principal components to look at.", log=True),
            real(
                "shrinkage",
                0.0,
                1.0,
                0.1,
                "From the full to a diagonal covariance.",
                when=("solver", "lsqr"),
            ),
            real(
                "tol",
                1e-6,
                0.1,
                1e-4,
                "Directions with less variance are left out.",
                log=True,
                when=("solver", "svd"),
            ),
        ),
        _linear_discriminant,
        scaled=True,
    ),
    Model(
        "QuadraticDiscriminantAnalysis",
        (
            real(
                "reg_param",
                1e-3,
                1.0,
                0.1,
                "From each class's covariance to the identity.",
                log=True,
            ),
        ),
        _quadratic_discriminant,
        scaled=True,
    ),
)
