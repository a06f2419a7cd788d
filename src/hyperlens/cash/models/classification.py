"""The eleven classifiers of Sarigiannis et al. 2020, table 3, with as many hyperparameters of each kind.

The paper gives the numbers, not the names; those below are the ones that change what a model predicts.
"""

from hyperlens.cash.models import model_hyperparameters as hp
from hyperlens.cash.models.boosted import GRADIENT_STARTS, cat, extreme, light
from hyperlens.cash.models.model import Model

CRITERION = hp.choice("criterion", ("gini", "entropy"), "Entropy is the log loss of a leaf.")
WEIGHT = hp.choice(
    "class_weight",
    ("none", "balanced"),
    "Balanced lifts rare classes.",
    setting=hp.none_for("none"),
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
LITTLE = "Directions with less variance are left out."
RANK = hp.real("tol", 1e-6, 0.1, 1e-4, LITTLE, log=True, when=("solver", "svd"))
REGULAR = hp.real(
    "reg_param", 1e-3, 1.0, 0.1, "From each class's covariance to the identity.", log=True
)

CLASSIFIERS = (
    Model(
        "RandomForestClassifier",
        (CRITERION, hp.BOOTSTRAP, WEIGHT, hp.TREES, hp.DEPTH, hp.SPLIT, hp.LEAF, hp.WIDE),
    ),
    Model(
        "LogisticRegression",
        (
            hp.choice("penalty", ("ridge", "elastic net"), "A mixed penalty leaves columns out."),
            hp.choice("fit_intercept", (True, False), "Without it all classes are equally likely."),
            WEIGHT,
            hp.choice("squares", (False, True), "Squared columns bend the boundary."),
            hp.real("C", 1e-4, 1e3, 1.0, "Inverse strength of the penalty.", log=True),
            hp.real(
                "l1_ratio",
                0.0,
                1.0,
                0.5,
                "Part of the penalty that is L1.",
                when=("penalty", "elastic net"),
            ),
        ),
        "logistic_regression",
        scaled=True,
        starts=({"squares": True},),
    ),
    extreme("XGBoost", "boosted_classifier"),
    Model(
        "GradientBoostingClassifier",
        (
            hp.choice(
                "init", ("prior", "zero"), "Where boosting starts.", setting=hp.none_for("prior")
            ),
            *hp.GRADIENT,
        ),
        starts=GRADIENT_STARTS,
    ),
    Model("AdaBoostClassifier", hp.ADA),
    Model(
        "BernoulliNB",
        (
            hp.choice("fit_prior", (True, False), "Learnt or equal class priors."),
            hp.THRESHOLDS,
            hp.real("alpha", 1e-2, 100.0, 1.0, "Pseudo-counts.", log=True),
        ),
        "bernoulli_bayes",
    ),
    Model("GaussianNB", (SMOOTHING,), scaled=True),
    Model(
        "ExtraTreesClassifier",
        (CRITERION, hp.BOOTSTRAP, WEIGHT, hp.FEATURES, hp.TREES, hp.SPLIT, hp.LEAF, hp.PURITY),
        starts=({"max_features": "all"},),
    ),
    Model("KNeighborsClassifier", hp.NEAR, "NearestClassifier", scaled=True),
    Model(
        "LinearDiscriminantAnalysis",
        (
            hp.choice("solver", ("lsqr", "svd"), "With a shrunk covariance, or with its rank cut."),
            hp.integer("components", 1, 100, 100, "Principal components to look at.", log=True),
            SHRINKAGE,
            RANK,
        ),
        "linear_discriminant",
        scaled=True,
    ),
    Model("QuadraticDiscriminantAnalysis", (REGULAR,), scaled=True),
)
FURTHER = (  # not of the paper; members of a search by the clock where they are installed
    light("LGBMClassifier", "light_classifier"),
    cat("CatBoostClassifier", "cat_classifier"),
    Model(
        "KernelLogistic",
        hp.KERNEL,
        "kernel_logistic",
        scaled=True,
        starts=({"gamma": 0.2, "C": 100.0}, {"kernel": "laplacian", "C": 30.0}),
    ),
    Model(
        "MLPClassifier",
        hp.NETWORK,
        "neural_classifier",
        scaled=True,
        starts=({"layers": "2"}, {"alpha": 1.0}),
    ),
)
