"""Eleven regressors with the counts of Sarigiannis et al. 2020, table 3: weights mean the same as there.

Where a classifier has no counterpart for numbers (naive Bayes, discriminant analysis) a ridge
regression on other features of the columns stands in. Targets are scaled to mean 0 and variance 1
before any of them is fitted, so ranges do not depend on the target's units.
"""

from hyperlens.cash.models import model_hyperparameters as hp
from hyperlens.cash.models.boosted import GRADIENT_STARTS, cat, extreme, light
from hyperlens.cash.models.model import Model

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

REGRESSORS = (
    Model(
        "RandomForestRegressor",
        (hp.BOOTSTRAP, PART, hp.LEAVES, hp.TREES, hp.DEPTH, hp.SPLIT, hp.LEAF, hp.WIDE),
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
        "elastic_net",
        scaled=True,
        starts=({"squares": True},),
    ),
    extreme("XGBRegressor", "boosted_regressor"),
    Model(
        "GradientBoostingRegressor",
        (
            hp.choice("loss", ("squared_error", "huber"), "Huber's is less moved by outliers."),
            *hp.GRADIENT,
        ),
        starts=GRADIENT_STARTS,
    ),
    Model("AdaBoostRegressor", hp.ADA),
    Model(
        "AdditiveRidge",
        (
            hp.choice("keep", (True, False), "The columns beside their steps, or the steps alone."),
            hp.THRESHOLDS,
            ALPHA,
        ),
        "additive_ridge",
        scaled=True,
    ),
    Model("Ridge", (ALPHA,), scaled=True),
    Model(
        "ExtraTreesRegressor",
        (hp.BOOTSTRAP, hp.FEATURES, hp.LEAVES, GROWN, hp.TREES, hp.SPLIT, hp.LEAF, hp.PURITY),
        starts=({"max_features": "all"},),
    ),
    Model("KNeighborsRegressor", hp.NEAR, "NearestRegressor", scaled=True),
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
        "kernel_ridge",
        scaled=True,
    ),
    Model("QuadraticRidge", (ALPHA,), "quadratic_ridge", scaled=True),
)
FURTHER = (  # not of the paper; members of a search by the clock where they are installed
    light("LGBMRegressor", "light_regressor"),
    cat("CatBoostRegressor", "cat_regressor"),
    Model("MLPRegressor", hp.NETWORK, "neural_regressor", scaled=True, starts=({"layers": "2"},)),
)
