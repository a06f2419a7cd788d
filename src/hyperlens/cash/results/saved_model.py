"""A trained pipeline in a form that can be read without running code (skops), and how it is read.

What is read holds nothing but types of the pool: each is named here, and a file with any other is
refused.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hyperlens.errors import SourceError, listed

SAFE = "model.skops"
NO_SKOPS = (
    "The model '{}' is read by skops, which needs the extra 'safe'; install it with 'pip install "
    "hyperlens[safe]', or run predict.py beside it, which reads the joblib file and runs what it holds."
)
OWN = "hyperlens.cash"
KNOWN = frozenset(
    [
        f"{OWN}.data.column_kinds.Column",
        f"{OWN}.data.column_kinds.Columns",
        *(
            f"{OWN}.models.estimators.{name}"
            for name in (
                *("Components", "KernelFeatures", "NearestClassifier"),
                *("NearestRegressor", "Thresholds", "_above", "_with_squares"),
            )
        ),
        f"{OWN}.models.boosters.BoostedClassifier",
        f"{OWN}.models.boosters.BoostedRegressor",
        f"{OWN}.models.category_means.CategoryMeans",
        f"{OWN}.models.preprocessing.Encoder",
        f"{OWN}.models.text_columns.TextNumbers",
        f"{OWN}.search.refit.MeanClassifier",
        f"{OWN}.search.refit.MeanRegressor",
        f"{OWN}.search.stacking.StackedClassifier",
        f"{OWN}.search.stacking.StackedRegressor",
        "numpy.dtype",
        *(
            f"sklearn.metrics._dist_metrics.{kind}Distance{bits}"
            for kind in ("Euclidean", "Manhattan")
            for bits in (32, 64)
        ),
        *("sklearn.neighbors._kd_tree.KDTree", "sklearn.neighbors._ball_tree.BallTree"),
        "sklearn.tree._tree.Tree",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        *("collections.OrderedDict", "lightgbm.basic.Booster", "lightgbm.sklearn.LGBMClassifier"),
        *("lightgbm.sklearn.LGBMRegressor", "catboost.core.CatBoostClassifier"),
        "catboost.core.CatBoostRegressor",
        *("xgboost.core.Booster", "xgboost.sklearn.XGBClassifier", "xgboost.sklearn.XGBRegressor"),
    ]
)


def can_be_safe() -> bool:
    return find_spec("skops") is not None


def write_safe(path: Path, model: Any) -> None:
    from skops.io import dump

    dump(model, path)


def read_safe(folder: str | Path) -> Any:
    """The pipeline in a folder, if it holds nothing but what the pool is made of."""
    path = Path(folder) / SAFE
    if not path.is_file():
        raise SourceError(
            f"There is no '{SAFE}' in '{folder}'; make the model with the extra 'safe' installed, or "
            "run predict.py there, which reads the joblib file and runs what it holds."
        )
    if not can_be_safe():
        raise SourceError(NO_SKOPS.format(path))
    from skops.io import get_untrusted_types, load

    try:
        kinds = set(get_untrusted_types(file=path))
        if others := sorted(kinds - KNOWN):
            raise SourceError(
                f"The model '{path}' holds {listed(others)}, which no model of the pool has; read it by "
                "yourself if you trust where it came from."
            )
        return load(path, trusted=sorted(kinds))
    except SourceError:
        raise
    except Exception as problem:  # whatever a damaged archive or another version raises
        reason = " ".join(f"{type(problem).__name__}: {problem}".split())[:200]
        raise SourceError(
            f"The model '{path}' cannot be read ({reason}); use the versions that its card names."
        ) from problem
