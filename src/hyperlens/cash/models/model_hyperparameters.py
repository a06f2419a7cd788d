"""Hyperparameters of models as data, each with its reason; those that models for both tasks have."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hyperlens.spaces.parameter import Kind, Parameter


@dataclass(frozen=True)
class Hyperparameter:
    """A range or a set of choices, and `why` it is so.

    `when` names another hyperparameter of the model and the value that this one needs it to have.
    `setting` makes of a choice what the estimator takes, where the two differ.
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
    setting: Callable[[Any], Any] | None = None

    def parameter(self, model: str) -> Parameter:
        """As a parameter of the pool's space, under the model's name."""
        name = f"{model}:{self.name}"
        return Parameter(
            name, self.kind, self.lower, self.upper, self.log, self.choices, self.default
        )


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
    name: str,
    choices: tuple[Any, ...],
    why: str,
    *,
    when: tuple[str, Any] | None = None,
    setting: Callable[[Any], Any] | None = None,
) -> Hyperparameter:
    """The first choice is the default."""
    return Hyperparameter(
        name, "categorical", why, choices=choices, default=choices[0], when=when, setting=setting
    )


def none_for(word: str, other: Callable[[Any], Any] = str) -> Callable[[Any], Any]:
    """A setting that is None for one choice."""
    return lambda value: None if value == word else other(value)


# Rows that several models have

TREES = integer("n_estimators", 10, 200, 100, "Time grows with the trees, use fades.", log=True)
DEPTH = integer("max_depth", 1, 20, 12, "From stumps to trees that are nearly fully grown.")
SHALLOW = integer("max_depth", 1, 10, 3, "Boosted trees are shallow.")
SPLIT = integer("min_samples_split", 2, 20, 2, "Fewer splits of small nodes smooth the trees.")
LEAF = integer("min_samples_leaf", 1, 20, 1, "Large leaves temper probabilities.", log=True)
BOOTSTRAP = choice("bootstrap", (True, False), "Resampled rows make trees differ.")
SIZES = ("all", "16", "64", "256")
LEAVES = choice(
    "max_leaf_nodes", SIZES, "Best-first growth up to a size.", setting=none_for("all", int)
)
COLUMNS = "Columns that a split may choose from."
FEATURES = choice("max_features", ("sqrt", "log2", "all"), COLUMNS, setting=none_for("all"))
WIDE = real("max_features", 0.05, 1.0, 0.3, "Part of the columns that a split may choose from.")
PURITY = real(
    "min_impurity_decrease", 1e-7, 1e-2, 1e-7, "Splits that gain less are left out.", log=True
)
RATE = real("learning_rate", 0.01, 0.5, 0.1, "Smaller steps need more trees.", log=True)
ROWS = real("subsample", 0.3, 1.0, 1.0, "Part of the rows for each tree.")
THRESHOLDS = integer("thresholds", 1, 16, 4, "Quantiles at which each column is cut.")
ADA = (
    integer("n_estimators", 10, 200, 50, "Time grows with the stumps, use fades.", log=True),
    real("learning_rate", 0.01, 2.0, 1.0, "Smaller steps need more stumps.", log=True),
)
NEAR = (
    choice("weights", ("uniform", "distance"), "Near neighbours may count more."),
    choice("metric", ("euclidean", "manhattan"), "Manhattan is less moved by one column."),
    integer("n_neighbors", 1, 100, 5, "From the nearest row to a local average.", log=True),
)
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
GRADIENT = (FEATURES, LEAVES, TREES, SHALLOW, SPLIT, LEAF, RATE, ROWS, PURITY)
LIGHT = (
    integer("n_estimators", 10, 300, 100, "Time grows with the trees, use fades.", log=True),
    integer("num_leaves", 3, 255, 31, "The best leaf is split first, up to so many.", log=True),
    integer("min_child_samples", 1, 100, 20, "Rows that a leaf needs.", log=True),
    integer("max_bin", 15, 511, 255, "Coarse bins smooth.", log=True),
    RATE,
    ROWS,
    real("colsample_bytree", 0.2, 1.0, 1.0, "Part of the columns for each tree."),
    real("reg_alpha", 1e-6, 10.0, 1e-6, "L1 penalty of leaves.", log=True),
    real("reg_lambda", 1e-6, 100.0, 1e-6, "L2 penalty of leaves.", log=True),
)
CAT = (
    integer("n_estimators", 10, 300, 100, "Time grows with the trees, use fades.", log=True),
    integer("depth", 2, 8, 6, "Trees ask the same question at a level, so they stay shallow."),
    RATE,
    ROWS,
    real("l2_leaf_reg", 0.1, 100.0, 3.0, "L2 penalty of leaves.", log=True),
    real("random_strength", 1e-2, 10.0, 1.0, "Noise in the choice of splits.", log=True),
)
KERNEL = (
    choice("kernel", ("rbf", "laplacian"), "Smooth, or with edges."),
    integer("components", 50, 500, 200, "Landmarks of the kernel.", log=True),
    real("gamma", 0.02, 10.0, 0.5, "Inverse width, over the number of columns.", log=True),
    real("C", 1e-2, 1e4, 10.0, "Inverse strength of the penalty.", log=True),
)
NETWORK = (
    choice("layers", ("1", "2"), "A second layer finds what only many columns tell together."),
    integer("units", 8, 128, 64, "Of a layer.", log=True),
    integer("epochs", 10, 100, 30, "Time grows with them; fewer smooth.", log=True),
    real("alpha", 1e-4, 10.0, 0.1, "L2 penalty of the weights.", log=True),
    real("learning_rate_init", 1e-3, 3e-2, 3e-3, "Of Adam.", log=True),
)
