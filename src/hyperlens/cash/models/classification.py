"""The eleven classifiers of Sarigiannis et al. 2020, table 3, with as many hyperparameters of each kind.

The paper gives the numbers, not the names; those below are the ones that change what a model predicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperlens.cash.models import model_hyperparameters as hp
from hyperlens.cash.models.model import BOOSTING_STARTS, GRADIENT_STARTS, Model, estimator

CRITERION = hp.choice("criterion", ("gini", "entropy"), "Entropy is the log loss of a leaf.")
WEIGHT = hp.choice(
    "class_weight",
    ("none", "balanced"),
    "Balanced lifts rare classes.",
    setting=hp.none_for("none"),
)
L1 = hp.real(
    "l1_ratio", 0.0, 1.0, 0.5, "Part of the penalty that is L1.", when=("penalty", "elastic net")
)
SMOOTHING = hp.real(
    "var_smoothing",
    1e-10,
    1.0,
    1e-9,
    "Part of the largest variance that is added to all.",
    log=True,
)
SHRINKAGE = hp.real(
    "shrinkage", 0.0, 1.0, 0.1, "From the full to a diagonal covariance.", when=("solver", "lsqr")
)
RANK = hp.real(
    "tol",
    1e-6,
    0.1,
    1e-4,
    "Directions with less variance are left out.",
    log=True,
    when=("solver", "svd"),
)
REGULAR = hp.real(
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
        (CRITERION, hp.BOOTSTRAP, WEIGHT, hp.TREES, hp.DEPTH, hp.SPLIT, hp.LEAF, hp.WIDE),
        estimator("RandomForestClassifier", n_jobs=1),
    ),
    Model(
        "LogisticRegression",
        (
            hp.choice("penalty", ("ridge", "elastic net"), "A mixed penalty leaves columns out."),
            hp.choice("fit_intercept", (True, False), "Without it all classes are equally likely."),
            WEIGHT,
            hp.choice("squares", (False, True), "Squared columns bend the boundary."),
            hp.real("C", 1e-4, 1e3, 1.0, "Inverse strength of the penalty.", log=True),
            L1,
        ),
        _logistic_regression,
        scaled=True,
        starts=({"squares": True},),
    ),
    Model("XGBoost", hp.BOOSTING, _xgboost, starts=BOOSTING_STARTS),
    Model(
        "GradientBoostingClassifier",
        (
            hp.choice(
                "init", ("prior", "zero"), "Where boosting starts.", setting=hp.none_for("prior")
            ),
            *hp.GRADIENT,
        ),
        estimator("GradientBoostingClassifier"),
        starts=GRADIENT_STARTS,
    ),
    Model("AdaBoostClassifier", hp.ADA, estimator("AdaBoostClassifier")),
    Model(
        "BernoulliNB",
        (
            hp.choice("fit_prior", (True, False), "Learnt or equal class priors."),
            hp.THRESHOLDS,
            hp.real("alpha", 1e-2, 100.0, 1.0, "Pseudo-counts.", log=True),
        ),
        _bernoulli,
    ),
    Model(
        "GaussianNB",
        (SMOOTHING,),
        estimator("GaussianNB", seeded=False),
        scaled=True,
    ),
    Model(
        "ExtraTreesClassifier",
        (CRITERION, hp.BOOTSTRAP, WEIGHT, hp.FEATURES, hp.TREES, hp.SPLIT, hp.LEAF, hp.PURITY),
        estimator("ExtraTreesClassifier", n_jobs=1),
        starts=({"max_features": "all"},),
    ),
    Model(
        "KNeighborsClassifier",
        hp.NEAR,
        estimator("NearestClassifier", seeded=False),
        scaled=True,
    ),
    Model(
        "LinearDiscriminantAnalysis",
        (
            hp.choice("solver", ("lsqr", "svd"), "With a shrunk covariance, or with its rank cut."),
            hp.integer("components", 1, 100, 100, "Principal components to look at.", log=True),
            SHRINKAGE,
            RANK,
        ),
        _linear_discriminant,
        scaled=True,
    ),
    Model(
        "QuadraticDiscriminantAnalysis",
        (REGULAR,),
        estimator("QuadraticDiscriminantAnalysis", seeded=False),
        scaled=True,
    ),
)
