"""The eleven classifiers of Sarigiannis et al. 2020, table 3, with as many hyperparameters of each kind.

The paper gives the numbers, not the names; those below are the ones that change what a model predicts.
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

CRITERION = choice("criterion", ("gini", "entropy"), "Entropy is the log loss of a leaf.")
WEIGHT = choice(
    "class_weight", ("none", "balanced"), "Balanced lifts rare classes.", setting=none_for("none")
)
L1 = real(
    "l1_ratio", 0.0, 1.0, 0.5, "Part of the penalty that is L1.", when=("penalty", "elastic net")
)
SMOOTHING = real(
    "var_smoothing",
    1e-10,
    1.0,
    1e-9,
    "Part of the largest variance that is added to all.",
    log=True,
)
SHRINKAGE = real(
    "shrinkage", 0.0, 1.0, 0.1, "From the full to a diagonal covariance.", when=("solver", "lsqr")
)
RANK = real(
    "tol",
    1e-6,
    0.1,
    1e-4,
    "Directions with less variance are left out.",
    log=True,
    when=("solver", "svd"),
)
REGULAR = real(
    "reg_param", 1e-3, 1.0, 0.1, "From each class's covariance to the identity.", log=True
)


def _logistic_regression(settings: Mapping[str, Any], seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    from hyperlens.cash.models.estimators import Squares

    mixed = settings["penalty"] == "elastic net"
    model = LogisticRegression(
        C=settings["C"],
        l1_ratio=settings["l1_ratio"] if mixed else 0.0,
        solver="saga" if mixed else "lbfgs",
        tol=1e-3 if mixed else 1e-4,
        max_iter=5000,
        fit_intercept=settings["fit_intercept"],
        class_weight=settings["class_weight"],
        random_state=seed,
    )
    return make_pipeline(Squares(), model) if settings["squares"] else model


def _xgboost(settings: Mapping[str, Any], seed: int) -> Any:
    from hyperlens.cash.models.estimators import BoostedClassifier

    return BoostedClassifier({**settings, "random_state": seed, "n_jobs": 1})


def _bernoulli(settings: Mapping[str, Any], seed: int) -> Any:
    from sklearn.naive_bayes import BernoulliNB
    from sklearn.pipeline import make_pipeline

    from hyperlens.cash.models.estimators import Thresholds

    model = BernoulliNB(alpha=settings["alpha"], fit_prior=settings["fit_prior"], binarize=None)
    return make_pipeline(Thresholds(settings["thresholds"]), model)


def _linear_discriminant(settings: Mapping[str, Any], seed: int) -> Any:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.pipeline import make_pipeline

    from hyperlens.cash.models.estimators import Components

    own = {name: value for name, value in settings.items() if name != "components"}
    return make_pipeline(Components(settings["components"]), LinearDiscriminantAnalysis(**own))


CLASSIFIERS = (
    Model(
        "RandomForestClassifier",
        (CRITERION, BOOTSTRAP, WEIGHT, TREES, DEPTH, SPLIT, LEAF, WIDE),
        estimator("sklearn.ensemble.RandomForestClassifier", n_jobs=1),
    ),
    Model(
        "LogisticRegression",
        (
            choice("penalty", ("ridge", "elastic net"), "A mixed penalty leaves columns out."),
            choice("fit_intercept", (True, False), "Without it all classes are equally likely."),
            WEIGHT,
            choice("squares", (False, True), "Squared columns bend the boundary."),
            real("C", 1e-4, 1e3, 1.0, "Inverse strength of the penalty.", log=True),
            L1,
        ),
        _logistic_regression,
        scaled=True,
        starts=({"squares": True},),
    ),
    Model("XGBoost", BOOSTING, _xgboost, starts=BOOSTING_STARTS),
    Model(
        "GradientBoostingClassifier",
        (
            choice("init", ("prior", "zero"), "Where boosting starts.", setting=none_for("prior")),
            *GRADIENT,
        ),
        estimator("sklearn.ensemble.GradientBoostingClassifier"),
        starts=GRADIENT_STARTS,
    ),
    Model("AdaBoostClassifier", ADA, estimator("sklearn.ensemble.AdaBoostClassifier")),
    Model(
        "BernoulliNB",
        (
            choice("fit_prior", (True, False), "Learnt or equal class priors."),
            THRESHOLDS,
            real("alpha", 1e-2, 100.0, 1.0, "Pseudo-counts.", log=True),
        ),
        _bernoulli,
    ),
    Model(
        "GaussianNB",
        (SMOOTHING,),
        estimator("sklearn.naive_bayes.GaussianNB", seeded=False),
        scaled=True,
    ),
    Model(
        "ExtraTreesClassifier",
        (CRITERION, BOOTSTRAP, WEIGHT, FEATURES, TREES, SPLIT, LEAF, PURITY),
        estimator("sklearn.ensemble.ExtraTreesClassifier", n_jobs=1),
        starts=({"max_features": "all"},),
    ),
    Model(
        "KNeighborsClassifier",
        NEAR,
        estimator("hyperlens.cash.models.estimators.NearestClassifier", seeded=False),
        scaled=True,
    ),
    Model(
        "LinearDiscriminantAnalysis",
        (
            choice("solver", ("lsqr", "svd"), "With a shrunk covariance, or with its rank cut."),
            integer("components", 1, 100, 100, "Principal components to look at.", log=True),
            SHRINKAGE,
            RANK,
        ),
        _linear_discriminant,
        scaled=True,
    ),
    Model(
        "QuadraticDiscriminantAnalysis",
        (REGULAR,),
        estimator("sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis", seeded=False),
        scaled=True,
    ),
)
